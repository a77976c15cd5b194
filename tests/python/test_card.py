"""The card of a model: what it says, when it is in the file, and that hostile ones are refused."""

import json
import pickle
import struct
import subprocess
import sys

import binfm
import numpy as np
import polars as pl
import pytest
from reader import File

MAX_CARD = 2**20


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    columns = {"size": rng.normal(size=300), "kind": rng.choice(["a", "b"], 300), "same": np.ones(300)}
    columns["size"][:50] = np.nan
    return pl.DataFrame(columns), rng.integers(0, 2, 300)


@pytest.fixture(scope="module")
def model(table):
    return binfm.train(*table, m=3, epochs=4, early_stopping=True, seed=5)


def test_the_card_says_where_a_model_comes_from(model):
    card = model.card
    assert list(card) == ["binfm", "rows", "columns", "settings", "best_epoch", "metrics"]
    assert (card["binfm"], card["rows"], card["best_epoch"]) == (binfm.__version__, 300, model.best_epoch)
    assert card["columns"] == [
        {"name": "size", "type": "number", "cells": model.features[0].cells, "missing": True},
        {"name": "kind", "type": "text", "categories": 2},
        {"name": "same", "type": "unused"},
    ]
    assert (card["settings"]["m"], card["settings"]["seed"], card["settings"]["epochs"]) == (3, 5, 4)
    assert card["metrics"] == {k: v for k, v in model.history[model.best_epoch - 1].items() if k != "epoch"}
    assert set(card["metrics"]) == {"loss", "val_loss"}


def test_wide_tables_are_counted_by_type():
    X = np.random.default_rng(0).normal(size=(50, 1001))
    X[:, 7] = 1
    assert binfm.train(X, np.arange(50) % 2, m=1, epochs=1).card["columns"] == {"number": 1000, "unused": 1}


def test_by_default_files_have_no_card(model, tmp_path):
    """The size of a file is that of its model, and `max_bytes` holds."""
    model.save(tmp_path / "m.binfm")
    assert (tmp_path / "m.binfm").stat().st_size == model.nbytes
    assert "card" not in model.size_report()
    assert binfm.load(tmp_path / "m.binfm").card is None


def test_a_saved_card_stays_until_it_is_left_out(model, tmp_path):
    model.save(tmp_path / "m.binfm", card=True)
    loaded = binfm.load(tmp_path / "m.binfm")
    assert loaded.card == json.loads(json.dumps(model.card))
    assert loaded.nbytes == (tmp_path / "m.binfm").stat().st_size
    assert loaded.size_report()["card"] == loaded.nbytes - model.nbytes
    assert binfm.Model.from_bytes(loaded.to_bytes()).card == loaded.card
    assert pickle.loads(pickle.dumps(loaded)).card == loaded.card
    assert pickle.loads(pickle.dumps(model)).card == model.card
    assert loaded.to_bytes(card=False) == model.to_bytes()
    assert loaded == model, "what it says makes no difference"
    assert hash(loaded) == hash(model)


def test_texts_and_entries_are_added(model):
    with_text = binfm.Model.from_bytes(model.to_bytes(card="für Züge"))
    assert with_text.card == {**json.loads(json.dumps(model.card)), "text": "für Züge"}
    both = binfm.Model.from_bytes(with_text.to_bytes(card={"date": "2026-01-02", "rows": 7}))
    assert (both.card["text"], both.card["date"], both.card["rows"]) == ("für Züge", "2026-01-02", 7)
    assert File(both.to_bytes()).card == both.card, "as docs/file-format.md describes it"


def test_the_same_training_gives_the_same_card(table):
    first, second = (binfm.train(*table, m=3, n_jobs=n, epochs=2).to_bytes(card="twice") for n in (1, 2))
    assert first == second


def test_a_device_never_gets_a_card(model, tmp_path):
    loaded = binfm.Model.from_bytes(model.to_bytes(card="secret of the pump"))
    loaded.export_c(tmp_path / "with.h")
    model.export_c(tmp_path / "without.h")
    assert (tmp_path / "with.h").read_bytes() == (tmp_path / "without.h").read_bytes()


def test_wrong_cards_are_refused(model):
    bare = binfm.Model.from_bytes(model.to_bytes())
    with pytest.raises(ValueError, match=r"^card must be a text or a dict for a model that has none, got True$"):
        bare.to_bytes(card=True)
    with pytest.raises(TypeError, match=r"^card must be True, False, a text or a dict, got int$"):
        bare.to_bytes(card=3)
    with pytest.raises(TypeError, match=r"^card must have text as keys$"):
        bare.to_bytes(card={1: 2})
    for wrong in ({"a": np.array([1])}, {"a": float("nan")}, {"a": {1, 2}}):
        with pytest.raises(ValueError, match=r"^card must hold only what JSON can: "):
            bare.to_bytes(card=wrong)
    with pytest.raises(ValueError, match=r"^card must have at most 1048576 bytes, got \d+ bytes of JSON$"):
        bare.to_bytes(card="x" * MAX_CARD)
    deep = []
    for _ in range(20):
        deep = [deep]
    with pytest.raises(ValueError, match=r"^card must be a JSON object, nested at most 16 deep, got"):
        bare.to_bytes(card={"a": deep})


@pytest.mark.parametrize(
    "card",
    [b"", b"[]", b"null", b" {}", b"{} ", b"{'a':1}", b'{"a":1,}', b'{"a":NaN}', b'{"a":"\\ud800"}', b'{"a":"\n"}',
     b'{"a":' + b"[" * 16 + b"]" * 16 + b"}", b'{"a":' + b"9" * 65 + b"}", b'{"a":"' + b"x" * MAX_CARD + b'"}',
     b'{"a":"\xff"}'],
    ids=lambda card: repr(card[:20]),
)  # fmt: skip
def test_hostile_cards_are_refused(model, card):
    with pytest.raises(binfm.ModelFormatError, match=r"card|UTF-8"):
        binfm.Model.from_bytes(with_card(model, card))
    valid = binfm.Model.from_bytes(with_card(model, b'{"a": [1, 2.5e3, "\\u00e9"]}'))
    assert valid.card == {"a": [1, 2500.0, "é"]}


def with_card(model, card):
    """Return the file of a model with a card of any bytes."""
    count, rest = b"", len(card)
    while rest >= 128:
        count, rest = count + bytes([rest & 127 | 128]), rest >> 7
    body = bytearray(model.to_bytes()[:-4] + count + bytes([rest]) + card)
    body[5] |= 16
    body[6:10] = struct.pack("<I", len(body) + 4)
    return bytes(body) + struct.pack("<I", crc32c(body))


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_inspect_and_the_page_show_the_card(model, tmp_path):
    model.save(tmp_path / "m.binfm", card="<b>bold</b> claims")
    command = [sys.executable, "-m", "binfm", "inspect", tmp_path / "m.binfm", "--html", tmp_path / "page.html"]
    shown = subprocess.run(command, capture_output=True, check=True).stdout.decode()
    assert "card text        <b>bold</b> claims" in shown
    assert "card columns     number 1, text 1, unused 1" in shown
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;bold&lt;/b&gt; claims" in page
    assert "<b>bold" not in page
    as_json = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)
    assert as_json["card"]["text"] == "<b>bold</b> claims"


def test_the_command_line_saves_less_or_more(table, tmp_path):
    X, y = table
    X.with_columns(y=np.where(y, "yes, very much", "no")).write_csv(tmp_path / "t.csv")

    def train(*options):
        command = [sys.executable, "-m", "binfm", "train", "t.csv", "--target", "y", "-o", "m.binfm", "--m", "3"]
        subprocess.run([*command, "--epochs", "1", *options], cwd=tmp_path, check=True, capture_output=True)
        return binfm.load(tmp_path / "m.binfm")

    plain = train()
    assert (plain.feature_names, list(plain.classes)) == (("size", "kind", "same"), ["no", "yes, very much"])
    assert train("--card").card["rows"] == 300
    assert train("--card", "mine").card["text"] == "mine"
    bare = train("--no-names", "--no-labels")
    assert (bare.feature_names, list(bare.classes)) == (None, [0, 1])
    assert bare.to_bytes() == plain.to_bytes(names=False, labels=False)


def test_a_budget_can_be_that_of_the_device(table):
    limit = 90
    sizes = {}
    for target in ("file", "device"):
        found = binfm.train(*table, max_bytes=limit, target=target, epochs=1, polish=0)
        sizes[target] = found.nbytes, len(found.to_bytes(names=False, labels=False))
        assert found.search.chosen["nbytes"] <= limit
    assert sizes["file"][0] <= limit < sizes["device"][0]
    assert sizes["device"][1] <= limit
    with pytest.raises(ValueError, match=r"^target must be 'file' or 'device', got 'disk'$"):
        binfm.train(*table, target="disk")
