"""`model.export_c` writes a portable header with a self-test."""

import json
import re
import struct
import time

import binfm
import blobs
import numpy as np
import polars as pl
import pytest
from binfm.export import c as export
from blobs import NUMERIC, Feature, File
from machines import FIRMWARE, INCLUDE, STRICT, TARGETS, require, run

MAIN = """
#include "model.h"
#include <stdio.h>
int main(void) { printf("%d %s %u", (int)gesture_selftest(), GESTURE_ID, GESTURE_CLASSES); return 0; }
"""


def compile_and_run(folder, compiler="gcc", *options):
    """Compile and run a program that includes model.h; return the words it prints."""
    require(compiler)
    (folder / "main.c").write_text(MAIN)
    run([compiler, "-std=c99", *STRICT, *options, folder / "main.c", "-o", folder / "main"])
    return run([folder / "main"]).decode().split()


@pytest.mark.parametrize("name", ["binary", "classes", "labels", "regression", "sparse", "text"])
@pytest.mark.parametrize("runtime", [False, True], ids=["included", "embedded"])
def test_self_test_of_exported_model_passes(trained, tmp_path, name, runtime):
    model, _ = trained[name]
    model.export_c(tmp_path / "model.h", name="gesture", runtime=runtime)
    status, _, classes = compile_and_run(tmp_path, "gcc", *([] if runtime else [f"-I{INCLUDE}"]))
    assert int(status) == 0
    assert int(classes) == (0 if model.classes is None else len(model.classes))


def test_changed_model_fails_its_self_test(trained, tmp_path):
    """The checksum detects a damaged byte; the scores detect a valid but different model."""
    model, _ = trained["binary"]
    model.export_c(tmp_path / "model.h", name="gesture")
    text = (tmp_path / "model.h").read_text()
    blob = model.to_bytes(labels=False)
    damaged = bytearray(blob)
    damaged[27] ^= 16  # the bias
    for other, status in ((bytes(damaged), 4), (blobs.with_checksum(damaged[:-4]), 7)):
        (tmp_path / "model.h").write_text(text.replace(listing(blob), listing(other)))
        assert compile_and_run(tmp_path, "gcc", f"-I{INCLUDE}")[0] == str(status)


def listing(blob):
    return "\n".join(export._array("gesture_model", "GESTURE_BYTES", blob))


def test_export_is_deterministic(trained, tmp_path):
    for model, _ in trained.values():
        for path in ("a.h", "b.h"):
            binfm.Model.from_bytes(model.to_bytes()).export_c(tmp_path / path, name="gesture")
        assert (tmp_path / "a.h").read_bytes() == (tmp_path / "b.h").read_bytes()


def test_header_contains_the_model(trained, tmp_path):
    model, _ = trained["classes"]
    model.export_c(tmp_path / "model.h", name="gesture")
    text = (tmp_path / "model.h").read_text("ascii")
    array = re.search(r"gesture_model\[GESTURE_BYTES\] BINFM_FLASH = \{([^}]*)\}", text)[1]
    assert bytes(int(byte) for byte in array.replace("\n", "").rstrip(",").split(",")) == model.to_bytes(labels=False)
    assert f"#define GESTURE_BYTES {len(model.to_bytes(labels=False))}u" in text
    assert f"#define GESTURE_FEATURES {model.n_features}u" in text


def test_comment_describes_x(trained, tmp_path):
    model, _ = trained["text"]
    model.export_c(tmp_path / "model.h")
    text = (tmp_path / "model.h").read_text("ascii")
    head = text[: text.index("*/")]
    for line in ("0  number", "1  number, ", "NaN is a value", '0 "green *\\/"', "one of -500 3 70000", "4  not used"):
        assert line in head
    assert text.count("*/") == text.count("/*"), "a category must not end the comment"


def test_names_are_constants(tmp_path):
    """Features and text labels by name: a program that uses them compiles, and they are positions."""
    names = ["temperature °C", "Temperature c", "größe", "日本", "x*/y", "3rd", "int", "a" * 200, "a" * 201, "x y"]
    X = pl.DataFrame(np.random.default_rng(0).normal(size=(200, len(names))), schema=names)
    labels = np.array(["on time", "late!", "lost"])[np.arange(200) % 3]
    binfm.train(X, labels, m=2, epochs=1).export_c(tmp_path / "model.h", name="gesture")
    text = (tmp_path / "model.h").read_text("ascii")
    for j, name in enumerate(names[:7]):
        assert f"{j}  {json.dumps(name)}: number".replace("/", "\\/") in text
    features = re.findall(r"^#define GESTURE_FEATURE_(\w+) (\d+)u$", text, re.MULTILINE)
    assert [int(position) for _, position in features] == list(range(len(names)))
    words = [word for word, _ in features]
    assert words[:7] == ["TEMPERATURE_C_0", "TEMPERATURE_C_1", "GROSSE", "3", "X_Y_4", "3RD", "INT"]
    assert words[9] == "X_Y_9"
    assert len(set(words)) == len(names)
    assert "#define GESTURE_CLASS_LATE 0u\n#define GESTURE_CLASS_LOST 1u\n#define GESTURE_CLASS_ON_TIME 2u" in text
    compile_and_run(tmp_path, "gcc", f"-I{INCLUDE}")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["a", "a_2", "A"], ["A_0", "A_2__1", "A_2__2"]),
        (["", "1", "!"], ["0", "1", "2"]),
        (["", "0", "!"], ["0__0", "0__1", "2"]),
        (["a b", "c"], ["A_B", "C"]),
    ],
)
def test_names_that_collide_get_their_position(names, words):
    assert export.identifiers(names) == words


def test_export_leaves_the_old_file_if_it_fails(trained, tmp_path):
    """The new file replaces the old one when it is complete; nothing else is left behind."""
    path = tmp_path / "model.h"
    path.write_text("old")
    with pytest.raises(ValueError, match="name must be"):
        trained["binary"][0].export_c(path, name="1")
    assert path.read_text() == "old"
    link = tmp_path / "link.h"
    link.symlink_to(path)
    trained["binary"][0].export_c(link)
    assert link.is_symlink()
    assert path.read_text().startswith("/*")
    assert {entry.name for entry in tmp_path.iterdir()} == {"model.h", "link.h"}


def test_self_test_covers_every_kind_of_cell(trained):
    """Over the samples, each feature takes NaN, an unknown category or a value on an edge, and several cells."""
    for model, _ in trained.values():
        values = export.self_test(model)
        outputs = 1 if model.classes is None or len(model.classes) == 2 else len(model.classes)
        x_bytes = 4 * model.n_features
        size = x_bytes + 8 * outputs
        assert len(values) == export.TEST_ROWS * size
        samples = np.array([np.frombuffer(values[at : at + x_bytes], "<f4") for at in range(0, len(values), size)])
        assert np.isnan(samples).any(axis=0).all()
        for column, feature in zip(samples.T, model.features, strict=True):
            if feature.kind == "numeric" and len(feature.edges):
                cells = {int(np.sum(x >= feature.edges)) for x in column if not np.isnan(x)}
                assert {0, len(feature.edges)} <= cells
                assert set(column) & set(feature.edges), "a value on an edge"
            if feature.kind == "categorical":
                known = feature.categories
                known = range(len(known)) if isinstance(known[0], str) else known
                assert set(column) & set(known)
                assert {x for x in column if not np.isnan(x)} - set(known), "an unknown category"
            assert np.signbit(column[column == 0]).any() or feature.kind == "categorical", "-0.0"
        scores = {struct.unpack_from("<q", values, at + x_bytes)[0] for at in range(0, len(values), size)}
        assert len(scores) > 3, "the samples have different scores"


@pytest.mark.parametrize("name", ["", "1a", "a b", "a-b", "größe", "int", "binfm", "BinfmX", "_x", "a\n", "x;"])
def test_name_must_be_an_identifier(trained, tmp_path, name):
    with pytest.raises(ValueError, match=r"(?s)^name must be a C identifier .*, got .*$"):
        trained["binary"][0].export_c(tmp_path / "model.h", name=name)
    assert list(tmp_path.iterdir()) == []


def test_wrong_types_are_reported_by_name(trained, tmp_path):
    model, _ = trained["binary"]
    with pytest.raises(TypeError, match=r"^name must be .*, got NoneType"):
        model.export_c(tmp_path / "model.h", name=None)
    with pytest.raises(TypeError, match=r"^runtime must be True or False, got 'yes'"):
        model.export_c(tmp_path / "model.h", runtime="yes")
    with pytest.raises(TypeError, match=r"^path must be a path, got NoneType"):
        model.export_c(None)
    with pytest.raises(FileNotFoundError):
        model.export_c(tmp_path / "no" / "model.h")


def test_models_beyond_the_limits_are_not_exported(tmp_path):
    model = binfm.Model.from_bytes(File((Feature(NUMERIC),) * 512, m=1, tilings=128).blob())
    with pytest.raises(ValueError, match=r"^model must have at most 65535 rows .* for the C runtime, got 65536$"):
        model.export_c(tmp_path / "model.h")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="65536"):
        model.size_report("avr")


def test_large_model_compiles_within_a_second(tmp_path):
    require("gcc")
    rng = np.random.default_rng(0)
    file = File(tuple(Feature(NUMERIC, blobs.random_edges(rng, 60, 4)) for _ in range(100)), m=250)
    binfm.Model.from_bytes(file.blob(rng)).export_c(tmp_path / "model.h", name="gesture", runtime=True)
    assert (tmp_path / "model.h").stat().st_size > 500_000
    (tmp_path / "main.c").write_text('#include "model.h"\nint main(void) { return (int)gesture_selftest(); }\n')
    start = time.process_time()
    run(["gcc", "-std=c99", "-Os", *STRICT, tmp_path / "main.c", "-o", tmp_path / "main"])
    assert time.process_time() - start < 1
    run([tmp_path / "main"])


@pytest.mark.device
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("model", ["binary", "labels", "text"])
def test_self_test_passes_on_devices(trained, tmp_path, name, model):
    """The firmware prints the status of its self-test."""
    target = TARGETS[name]
    trained[model][0].export_c(tmp_path / "model.h", name="gesture")
    main = tmp_path / "main.c"
    main.write_text(
        '#include "model.h"\n#include "io.h"\n'
        "int main(void) { put_byte((uint8_t)gesture_selftest()); finish(); return 0; }\n"
    )
    machine = "avr.c" if name == "avr" else "semihosting.c"
    elf = target.compile(tmp_path, [main, machine], "self.elf", f"-I{tmp_path}", f"-I{FIRMWARE}")
    (tmp_path / "input").write_bytes(b"\0")
    target.emulate(tmp_path, elf, False)
    assert (tmp_path / "output").read_bytes() == b"\0"
