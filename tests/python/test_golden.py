"""Files of every version load forever, are rewritten byte for byte, and give scores identical to the bit."""

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
    """Return the path of a file, its samples and their scores."""
    lines = [line.split("\t\t") for line in request.param.with_suffix(".tsv").read_text().splitlines()]
    samples, scores = ([side.split("\t") for side in sides] for sides in zip(*lines, strict=True))
    return request.param, np.array(samples, np.float32), np.array(scores, np.float64)


def test_every_kept_case_has_a_file():
    assert {path.stem for path in PATHS} >= set(FILES)
    assert len(list(GOLDEN.glob("*/*.tsv"))) == len(PATHS) > 10


@pytest.mark.parametrize("name", CASES)
def test_training_gives_the_committed_bytes(name):
    hashes = json.loads((GOLDEN / "hashes.json").read_text())
    assert set(hashes) == set(CASES)
    assert hashlib.sha256(CASES[name]().to_bytes()).hexdigest() == hashes[name]


def test_loading_and_saving_reproduces_the_file(golden, tmp_path):
    path = golden[0]
    model = binfm.load(path)
    assert model.to_bytes() == path.read_bytes()
    model.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


def test_scores_are_identical_to_the_bit(golden):
    path, samples, scores = golden
    model = binfm.load(path)
    X = table(model, samples)
    assert np.reshape(model.decision_function(X), scores.shape).tobytes() == scores.tobytes()
    for i in range(len(samples)):
        assert np.reshape(model.score_row(X[i]), -1).tobytes() == scores[i].tobytes()
    if not model._vocabularies:
        assert (
            np.reshape(model.decision_function(sparse.csr_array(samples)), scores.shape).tobytes() == scores.tobytes()
        )


def test_a_reader_written_from_the_page_gives_the_same_scores(golden):
    path, samples, scores = golden
    file = File(path.read_bytes())
    read = np.array([file.scores(sample.tolist()) for sample in samples])
    if file.method == "bfm":
        assert read.tobytes() == scores.tobytes()
    else:
        np.testing.assert_allclose(read, scores, rtol=1e-4, atol=1e-4 * np.abs(scores).max())
