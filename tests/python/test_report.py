"""The HTML report: what it contains, that it is self-contained, and how a browser renders it."""

import re
import shutil
import subprocess
from html import escape
from html.parser import HTMLParser

import binfm
import numpy as np
import pytest
from binfm.reading import html_report
from matplotlib import image

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
VOID = {"meta", "br", "line", "rect", "path", "circle"}


class Nesting(HTMLParser):
    """Checks that elements are properly nested, and collects tags and links."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.links = [], set(), []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name in ("src", "href", "xlink:href", "action")]
        if tag not in VOID - {"rect", "circle"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def hostile():
    """Return a model whose categories and classes are HTML."""
    rng = np.random.default_rng(0)
    X = np.empty((300, 3), object)
    X[:, 0] = rng.choice(["<script>alert(1)</script>", "a & b", '"><img src=x>'], 300)
    X[:, 1] = np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300))
    X[:, 2] = rng.normal(size=300)
    names = np.where(X[:, 2].astype(float) > 0, "<b>up</b>", np.where(X[:, 0] == "a & b", "side", "down"))
    return binfm.train(X, names, categorical=[0], m=4, epochs=3)


@pytest.mark.parametrize(
    "name", ["binary", "text labels", "text categories", "sparse", "regression", "four bits", "additive"]
)
def test_the_page_is_well_formed_and_self_contained(models, name):
    model, table = models[name]
    for X in (None, table):
        page = html_report(model, X)
        found = Nesting(page)
        assert found.links == []
        assert "http" not in page
        assert "@import" not in page
        assert "url(" not in page
        assert not found.tags & {"script", "link", "img", "iframe"}
        assert f"{model.nbytes:,}" in page


def test_names_are_escaped(hostile):
    page = html_report(hostile, title="<i>mine</i>")
    found = Nesting(page)
    assert not found.tags & {"script", "img"}
    assert "<script" not in page
    assert "<img" not in page
    assert "<b>up" not in page
    assert "&lt;i&gt;mine" in page


def test_numbers_match_the_model(binary):
    page = html_report(binary)
    report = binary.size_report()
    rows = re.findall(r"<tr><td>(\w+)</td><td>([\d,]+)</td><td>[\d.]+ %</td>", page)
    assert {part: int(size.replace(",", "")) for part, size in rows} == {**report, "all": binary.nbytes}
    strongest = binary.interactions()
    i, j = strongest.order(1)[0]
    value = f"{strongest.strength[i, j]:.4g}"
    names = {f"x{i} × x{j}", f"x{j} × x{i}"}
    assert any(f"<td>{pair}</td><td>{value}</td>" in page for pair in names)
    effect = binary.effects()[0]
    assert f"<td>{escape(effect.cells[0])}</td><td>{int(effect.own[0]):,}</td><td>{effect.effect[0]:+.4g}</td>" in page


def test_models_with_few_and_many_features():
    alone = binfm.train(np.ones((50, 2)), np.arange(50) % 2, epochs=1)
    assert "Fewer than two features" in html_report(alone)
    X = np.random.default_rng(0).normal(size=(200, 70))
    page = html_report(binfm.train(X, X[:, 0] > 0, m=3, epochs=1))
    Nesting(page)
    assert "46 more features, weaker than these, are not drawn" in page
    assert "10 more features" in page


def browse(page, folder, *arguments):
    """Run Chromium on a page, without network access, and return its output."""
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8")
    common = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
              f"--user-data-dir={folder / 'profile'}", "--host-resolver-rules=MAP * ~NOTFOUND"]  # fmt: skip
    result = subprocess.run([*common, *arguments, path.as_uri()], capture_output=True, timeout=120, cwd=folder)
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout.decode()


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize(("scheme", "background", "line"), [(1, 0xFFFFFF, 0x0072B2), (0, 0x14171B, 0x56B4E9)])
def test_a_browser_draws_it_light_and_dark(hostile, tmp_path, scheme, background, line):
    screenshot = tmp_path / "page.png"
    color_scheme = f"--blink-settings=preferredColorScheme={scheme}"
    browse(html_report(hostile), tmp_path, color_scheme, "--window-size=1000,2200", f"--screenshot={screenshot}")
    pixels = (image.imread(screenshot)[:, :, :3] * 255).round().astype(int) @ [0x10000, 0x100, 1]
    assert pixels[0, 0] == background
    assert np.count_nonzero(pixels == line) > 500


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
@pytest.mark.parametrize("width", [520, 1400])
def test_nothing_is_cut_off(hostile, tmp_path, width):
    """No text extends beyond its chart, and the page does not scroll sideways."""
    probe = """<script>
const out = [...document.querySelectorAll("svg text")].filter(t => {
  const a = t.getBoundingClientRect(), b = t.ownerSVGElement.getBoundingClientRect();
  return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1; });
const sideways = document.documentElement.scrollWidth - innerWidth;
document.title = [sideways, out.length, document.querySelectorAll("svg").length,
  ...out.map(t => t.textContent)].join("|");
</script></body>"""
    page = html_report(hostile).replace("</body>", probe)
    dom = browse(page, tmp_path, f"--window-size={width},1200", "--dump-dom")
    sideways, cut, pictures, *texts = re.search("<title>(.*?)</title>", dom)[1].split("|")
    assert int(pictures) >= 5
    assert int(sideways) <= 0
    assert int(cut) == 0, texts
