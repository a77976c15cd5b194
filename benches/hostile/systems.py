"""Packages that write model files, and how each trains, saves, loads and predicts."""

from __future__ import annotations

import importlib
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Table = NDArray[Any]


def problem() -> tuple[Table, Table]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 8)).astype(np.float32)
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


@dataclass(frozen=True)
class System:
    """A package and one of its file formats."""

    name: str
    package: str
    suffix: str
    write: Callable[[Path], None]
    """Train a model of a few kilobytes and save it."""
    predict: Callable[[Path, Table], Table]
    """Load a file and predict."""
    repair: Callable[[bytes], bytes] | None = None
    """What an attacker would do after the damage, so that the checksum matches."""

    def is_installed(self) -> bool:
        try:
            importlib.import_module(self.package)
        except ImportError:
            return False
        return True

    def title(self) -> str:
        name, _, form = self.name.partition(", ")
        title = f"{name} {importlib.import_module(self.package).__version__}"
        return f"{title}, {form}" if form else title


def _binfm_write(path: Path) -> None:
    import binfm

    binfm.train(*problem(), m=64, b=40, epochs=3).save(path)


def _binfm_predict(path: Path, X: Table) -> Table:
    import binfm

    return binfm.load(path).decision_function(X, n_jobs=1)


def _binfm_repair(blob: bytes) -> bytes:
    """Repair length and checksum."""
    body = bytearray(blob[:-4])
    body[6:10] = struct.pack("<I", len(blob))
    crc = 0xFFFFFFFF
    for byte in body:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return bytes(body) + struct.pack("<I", crc ^ 0xFFFFFFFF)


def _xgboost_write(path: Path) -> None:
    import xgboost

    X, y = problem()
    settings = {"objective": "binary:logistic", "max_depth": 3, "nthread": 1}
    xgboost.train(settings, xgboost.DMatrix(X, y), 8).save_model(path)


def _xgboost_predict(path: Path, X: Table) -> Table:
    import xgboost

    booster = xgboost.Booster({"nthread": 1})
    booster.load_model(path)
    return booster.predict(xgboost.DMatrix(X), output_margin=True)


def _lightgbm_write(path: Path) -> None:
    import lightgbm

    X, y = problem()
    settings = {"objective": "binary", "num_leaves": 8, "num_threads": 1, "verbose": -1}
    lightgbm.train(settings, lightgbm.Dataset(X, y), 8).save_model(path)


def _lightgbm_predict(path: Path, X: Table) -> Table:
    import lightgbm

    return np.asarray(lightgbm.Booster(model_file=path).predict(X, raw_score=True, num_threads=1))


def _hessboost_write(path: Path) -> None:
    import hessboost

    X, y = problem()
    settings = {"objective": "binary:logistic", "max_depth": 4, "nthread": 1}
    booster = hessboost.train(settings, hessboost.DMatrix(X, label=y), 60, verbose_eval=False)
    path.write_bytes(bytes(booster.to_compact().save_raw()))


def _hessboost_predict(path: Path, X: Table) -> Table:
    import hessboost

    return np.asarray(hessboost.CompactModel(path.read_bytes()).predict(X, output_margin=True))


SYSTEMS = (
    System("binfm", "binfm", "binfm", _binfm_write, _binfm_predict),
    System("binfm, checksum repaired", "binfm", "binfm", _binfm_write, _binfm_predict, _binfm_repair),
    System("XGBoost, UBJSON", "xgboost", "ubj", _xgboost_write, _xgboost_predict),
    System("XGBoost, JSON", "xgboost", "json", _xgboost_write, _xgboost_predict),
    System("LightGBM, text", "lightgbm", "txt", _lightgbm_write, _lightgbm_predict),
    System("hessboost, compact", "hessboost", "bin", _hessboost_write, _hessboost_predict),
)
