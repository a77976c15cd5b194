"""Training that can go on: `partial_fit` and `warm_start`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from binfm import _core
from binfm._checks import same_length, whole
from binfm._inputs import rows_of, table_for, weights
from binfm._labels import REGRESSION, class_numbers, regression_target
from binfm._problem import Problem
from binfm._progress import Progress
from binfm._tables import is_table, read
from binfm.model import Model
from binfm.training import DEFAULTS, early_stop, evaluation, prepare

if TYPE_CHECKING:
    from binfm._inputs import Settings
    from binfm._progress import Callback

MAY_CHANGE = frozenset(
    {"epochs", "early_stopping", "validation_fraction", "patience", "n_jobs", "progress", "callback"}
)
"""Parameters that may be others in a later call: they say how long to go on, not what is learned."""


class Trainer:
    """Encoder, proxies and optimizer between two calls, and what is needed to read further rows.

    Bins and categories are those of the first rows, and so are the units of targets and weights.
    """

    def __init__(self, X: Any, y: Any, parameters: dict[str, Any], **more: Any) -> None:
        kept = {name: value for name, value in parameters.items() if name not in ("progress", "callback")}
        self._given = parameters
        self._first: Problem | None
        self._first, self._settings, _ = prepare(X, y, **kept, **more)
        problem = self._first
        self._labels, self._vocabularies, self._names = problem.labels, problem.vocabularies, problem.names
        self._unused: frozenset[int] = frozenset()
        self._core = _core.Trainer(
            problem.table, problem.target, problem.weight, problem.labels, problem.vocabularies, problem.names,
            self._settings,
        )  # fmt: skip

    def start(self) -> Model:
        """Train on the rows it was made with, as `train` does."""
        return self._go_on(self._made_with(), self._settings, False)

    def go_on(self, X: Any, y: Any, weight: Any, eval_set: Any, parameters: dict[str, Any]) -> Model:
        """Train for as many epochs more; the learning rate decays on."""
        self._check(parameters)
        problem = self._problem(X, y, weight, eval_set)
        early, holdout = early_stop(
            parameters["early_stopping"],
            parameters["validation_fraction"],
            problem.valid is not None,
            len(problem.target),
        )
        epochs = DEFAULTS["epochs"] if parameters["epochs"] is None else parameters["epochs"]
        course = replace(
            self._settings,
            epochs=whole("epochs", epochs),
            patience=whole("patience", parameters["patience"]),
            early_stopping=early,
            holdout=holdout,
            n_jobs=parameters["n_jobs"],
        )
        return self._go_on(problem, course, False)

    def take(self, X: Any, y: Any, weight: Any, parameters: dict[str, Any]) -> Model:
        """Make one pass over rows, at the learning rate of the first; None for X means those it was made with."""
        self._check(parameters)
        problem = self._made_with() if X is None else self._problem(X, y, weight, None)
        once = replace(self._settings, epochs=1, early_stopping=False, holdout=0.0, n_jobs=parameters["n_jobs"])
        return self._go_on(problem, once, True)

    def _go_on(self, problem: Problem, settings: Settings, steady: bool) -> Model:
        progress, callback = self._given["progress"] and not steady, self._given["callback"]
        with Progress(progress, settings.epochs, "epoch") as bar:
            told: Callback | None = bar.wrap(callback)
            core, history, best = self._core.go_on(
                problem.table, problem.target, problem.weight, problem.valid, settings, steady, told
            )
        model = Model._of(core, history, best)
        self._unused = frozenset(model._unused())
        return model

    def _made_with(self) -> Problem:
        problem, self._first = self._first, None
        assert problem is not None, "the first rows are used once"
        return problem

    def _problem(self, X: Any, y: Any, weight: Any, eval_set: Any) -> Problem:
        """Return further rows, read as the first ones were."""
        X = read(X) if is_table(X) else X
        table = table_for(X, self._vocabularies, lambda: self._unused, self._names)
        regression = self._labels is REGRESSION
        target = regression_target(y, "y") if regression else class_numbers(y, self._labels, "y")
        same_length("X", rows_of(table), "y", len(target))
        weight = weights(weight, "sample_weight", len(target))
        valid = evaluation(eval_set, self._labels, self._vocabularies, self._names)
        return Problem(table, target, weight, self._labels, self._vocabularies, self._names, valid)

    def _check(self, parameters: dict[str, Any]) -> None:
        for name, value in parameters.items():
            if name not in MAY_CHANGE and value is not self._given[name] and value != self._given[name]:
                raise ValueError(f"{name}: got {value!r}; accepted is {self._given[name]!r}, as training began with it")
        self._given = parameters
