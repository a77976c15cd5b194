"""Files of every version load for ever, are written again byte for byte, and score the same bits."""

import hashlib
import json
import sys
from pathlib import Path

import binfm
import numpy as np
import pytest
from reader import File
from scipy import sparse

GOLDEN = Path(__file__).parents[1] / "golden"
sys.path.insert(0, str(GOLDEN))

from cases import CASES, FILES, table  # noqa: E402

PATHS = sorted(GOLDEN.glob("*/*.binfm"))


@pytest.fixture(params=PATHS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def golden(request):
    """Return a file, its rows and their scores."""
    lines = [line.split("\t\t") for line in request.param.with_suffix(".tsv").read_text().splitlines()]
    rows, scores = ([side.split("\t") for side in sides] for sides in zip(*lines, strict=True))
    return request.param, np.array(rows, np.float32), np.array(scores, np.float64)


def test_every_kept_case_has_a_file():
    assert {path.stem for path in PATHS} >= set(FILES)
    assert len(list(GOLDEN.glob("*/*.tsv"))) == len(PATHS) > 10


@pytest.mark.parametrize("name", CASES)
def test_training_gives_the_committed_bytes(name):
    hashes = json.loads((GOLDEN / "hashes.json").read_text())
    assert set(hashes) == set(CASES)
    assert hashlib.sha256(CASES[name]().to_bytes()).hexdigest() == hashes[name]


def test_it_loads_and_is_written_again_as_it_was(golden, tmp_path):
    path = golden[0]
    model = binfm.load(path)
    assert model.to_bytes() == path.read_bytes()
    model.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_it_scores_the_same_bits(golden):
    path, rows, scores = golden
    model = binfm.load(path)
    X = table(model, rows)
    assert np.reshape(model.decision_function(X), scores.shape).tobytes() == scores.tobytes()
    for i in range(len(rows)):
        assert np.reshape(model.score_row(X[i]), -1).tobytes() == scores[i].tobytes()
    if not model._vocabularies:
        assert np.reshape(model.decision_function(sparse.csr_array(rows)), scores.shape).tobytes() == scores.tobytes()


def test_a_reader_written_from_the_page_scores_the_same_bits(golden):
    path, rows, scores = golden
    file = File(path.read_bytes())
    read = np.array([file.scores(row.tolist()) for row in rows])
    if file.method == "bfm":
        assert read.tobytes() == scores.tobytes()
    else:
        np.testing.assert_allclose(read, scores, rtol=1e-4, atol=1e-4 * np.abs(scores).max())
