"""The parameters of training. Each has one home: a field of :class:`Params`.

Docstrings, the flags of ``binfm train`` and what the core receives are derived from these fields. The signatures of
:func:`binfm.train` and of the estimators are written out, as editors and scikit-learn need them; tests compare them,
and the core's own list, with this module.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from inspect import cleandoc
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from binfm import _core
from binfm._checks import number, one_of, whole
from binfm.attributes import OF_NUMBERS

if TYPE_CHECKING:
    from binfm.metrics import Measure

HOLDOUT_FROM = 10_000
"""Samples from which `early_stopping="auto"` holds some out; below that they are worth more in training."""
QUIET: dict[str, Any] = {"epochs": 20, "learning_rate": 0.03, "w_bits": 8}
"""Defaults where weights are pulled towards silence."""
QUIET_REGRESSION: dict[str, Any] = {"b": 64, "binning": "tails"}
"""For regression besides: straight lines need many cells, and long tails cells of their own."""
MAX_B = 65_000
"""The largest `b` the core accepts."""


class Schedule(NamedTuple):
    """How long to train in one call; read by the core."""

    epochs: int
    early_stopping: bool
    patience: int
    holdout: float
    steady: bool
    """Whether the learning rate stays as it is instead of decaying."""
    scores: bool = False
    """Whether the scores of held-out samples are wanted after each epoch."""


class Spec(NamedTuple):
    """What is known about a parameter besides its name, type and default."""

    constraint: str
    """What a value must be, in the words of error messages."""
    doc: str
    """One line."""
    more: str = ""
    """The rest of the description."""
    type: str = ""
    """The type as the documentation shows it, where that is not the type of the field."""
    choices: tuple[str, ...] = ()
    core: bool = True
    """Whether the core reads and checks it; the others are checked here."""
    searched: bool = False
    """Whether the search of `max_bytes` may choose it. In signatures such parameters default to None."""
    resumable: bool = False
    """Whether it may change between two calls with `warm_start`: it says how long to train, not what is learned."""


def _parameter(default: Any, constraint: str, doc: str, more: str = "", **facts: Any) -> Any:
    return field(default=default, metadata={"spec": Spec(constraint, doc, more, **facts)})


def _choice(default: str, choices: tuple[str, ...], doc: str, more: str = "", **facts: Any) -> Any:
    quoted = [f"'{choice}'" for choice in choices]
    constraint = f"{', '.join(quoted[:-1])} or {quoted[-1]}"
    return _parameter(default, constraint, doc, more, choices=choices, **facts)


@dataclass(frozen=True, eq=False)
class Params:
    """The parameters of one training."""

    m: int = _parameter(
        32,
        "a whole number from 0 to 65535",
        "Number of factors: one bit each in every parameter row.",
        "With 0 the model has no interactions: a generalized additive model.",
        searched=True,
    )
    w_bits: int = _parameter(
        1,
        "a whole number from 1 to 8",
        "Number of bits of each w, the linear weight of a parameter row.",
        "With 1, w is a sign; with B bits, an odd whole number up to 2^B - 1. It is then learned as a real number and "
        "rounded once, when training ends. By default 8 where weights are pulled towards silence, and otherwise 1.",
        searched=True,
    )
    b: int = _parameter(
        20,
        "a whole number from 2 to 65000",
        "Maximum number of parameter rows per numeric feature.",
        searched=True,
    )
    tilings: int = _parameter(
        4,
        "a whole number from 1 to 255",
        "Number of shifted tilings, which is how many rows a present feature activates.",
        "Below `b`; 1 is the method of the paper.",
        searched=True,
    )
    binning: str = _choice(
        "quantile",
        ("quantile", "uniform", "supervised", "tails"),
        "Where to cut numeric features into bins.",
        'At quantiles, at equal widths, where the target changes, or in between quantiles and widths; "supervised" is '
        'better if `b` is small, and "tails" for regression.',
        searched=True,
    )
    loss: str = _choice(
        "logistic",
        ("logistic", "hinge", "squared_hinge", "squared", "softmax", "poisson", "quantile", "huber"),
        "Loss to minimize.",
        '"softmax" trains the outputs of three or more classes together, which is better for tiny models. The others '
        'after "squared_hinge" are for numbers: "squared" predicts their mean, and so does "huber" with less regard to '
        'outliers; "quantile" predicts a quantile of them; "poisson" is for counts and other numbers that are never '
        "negative, and the score is the logarithm of the prediction.",
        searched=True,
    )
    quantile: float = _parameter(
        0.5,
        "a number between 0 and 1",
        'Share of the targets that should lie below the prediction, if `loss` is "quantile".',
        "0.5 predicts the median.",
    )
    delta: float = _parameter(
        0.5,
        "a finite number above 0",
        'Error from which on the loss "huber" grows linearly instead of with the square.',
        "It is in units of the spread of y: the mean distance from the median, times 1.25, which is the standard "
        "deviation of a normal distribution.",
    )
    method: str = _choice(
        "bfm",
        ("bfm", "sefm", "dfm", "fm"),
        "Which factorization machine to train.",
        '"bfm" is the binarized one. "sefm" has bins and float weights; "fm" has raw values and float weights; "dfm" '
        "has raw values, float w and one-bit factors. The last two have no bins: they ignore `b`, `tilings` and "
        "`binning`, standardize numbers and treat NaN as the mean.",
    )
    scaling: bool = _parameter(
        True, "True or False", "Learn the scales alpha and beta.", "If False, both are fixed at 1."
    )
    optimizer: str = _choice("adagrad", ("adagrad", "sgd"), "Optimizer of the real-valued proxies behind the bits.")
    epochs: int = _parameter(
        30,
        "a whole number from 1 to 1000000",
        "Maximum number of passes over the data.",
        searched=True,
        resumable=True,
    )
    learning_rate: float = _parameter(0.015, "a finite number above 0", "Step size of the first epoch.", searched=True)
    batch_size: int | None = _parameter(
        None,
        "None or a whole number from 1 to 1048576",
        "Number of samples between two steps of the weights.",
        "By default it follows from the numbers of samples and classes; 1 is the algorithm of the paper.",
    )
    shards: int | None = _parameter(
        None,
        "None or a whole number from 1 to 1000",
        "Number of parts of the samples that learn separately and are averaged after each epoch.",
        "They run in parallel. By default it follows from the data; the model depends on it, but not on `n_jobs`.",
    )
    regularization: float | str = _parameter(
        "auto",
        "'auto' or a finite number of at least 0",
        "How strongly weights are pulled towards silence.",
        'A weight that has learned little then says little, which noisy and small data and regression need. "auto" '
        "chooses it on held-out samples, and with it whether pairs of features help at all, how finely to cut features "
        "if neither `b` nor `tilings` is given, and which features to leave out where there are too many for the "
        "samples. A number, of which 30 is a usual one, saves that time. With 0, every factor is as loud as any other, "
        "as in the paper. A number excludes `dropout`, `ensemble`, `polish`, `max_bytes`, `tilings=1` and `w_bits=1`; "
        '"auto" is 0 with them, and in `partial_fit`.',
        type='float or "auto"',
    )
    lambda_w: float = _parameter(0.0, "a finite number of at least 0", "Regularization strength of the linear term.")
    lambda_v: float = _parameter(0.0, "a finite number of at least 0", "Regularization strength of the factors.")
    dropout: float = _parameter(
        0.0,
        "a number from 0 to below 1",
        "Share of the features to drop at random at each visit of a sample.",
        "Regularizes models of several kilobytes and more.",
        searched=True,
    )
    ensemble: int = _parameter(
        1,
        "a whole number from 1 to 65535",
        "Number of models to train from different inits and join into one.",
        "Each gets its share of the factors, so it must divide `m`, and the file does not grow. Steadier for models of "
        "several kilobytes and more.",
        searched=True,
    )
    polish: int = _parameter(
        0,
        "a whole number from 0 to 1000000",
        "Number of passes over all signs after training, flipping each one that lowers the training loss.",
        "For models of a few hundred bytes to a few kilobytes, which have no sign to waste.",
        searched=True,
    )
    categorical: Any = _parameter(  # noqa: RUF009
        None,
        "a list of column numbers or names, or a boolean mask",
        "Columns whose values are categories.",
        "Text and category columns of a table need no mention.",
        type="list of column numbers or names, or boolean mask",
        core=False,
    )
    min_count: float = _parameter(
        1.0, "a finite number", "Categories that occur less often are ignored.", "Sample weights count."
    )
    early_stopping: Any = _parameter(  # noqa: RUF009
        "auto",
        "True, False or 'auto'",
        "Stop once the loss on held-out samples no longer falls, and return the best epoch.",
        'The samples are those of `eval_set` or else some of X. "auto" does so given an `eval_set` or an '
        "`eval_metric`, or from 10,000 samples on.",
        type='bool or "auto"',
        resumable=True,
    )
    validation_fraction: float = _parameter(
        0.1,
        "a number between 0 and 1",
        "Share of the samples of X to hold out for early stopping.",
        core=False,
        resumable=True,
    )
    patience: int = _parameter(
        5,
        "a whole number from 1 to 1000000",
        "Number of epochs without improvement before training stops.",
        resumable=True,
    )
    eval_metric: Any = _parameter(  # noqa: RUF009
        None,
        "the name of a metric, a binfm.Metric, a function, or a list of these",
        "Metric of the held-out samples to record after each epoch, and to stop early by.",
        '"auc", "average_precision", "log_loss", "accuracy", "error", "balanced_accuracy" or "f1" for classes, "rmse", '
        '"mse", "mae" or "r2" for regression, the name of one of scikit-learn\'s scorers, a function of y and scores '
        "whose name ends in _score, _loss or _error, or a binfm.Metric. The first of several decides.",
        type="str, Metric, callable or list",
        core=False,
        resumable=True,
    )
    max_bytes: int | None = _parameter(
        None,
        "a whole number",
        "Maximum size of the saved file in bytes; cross-validation then chooses what is not given.",
        "It chooses those of m, b, tilings, binning, loss, epochs, learning_rate, dropout, ensemble and polish that "
        "are not given, and the features to leave out; `model.search` lists what was tried. Early stopping, if "
        '"auto", then needs an `eval_set`.',
        core=False,
    )
    scoring: Any = _parameter(  # noqa: RUF009
        None,
        "the name of a metric, a binfm.Metric or a function",
        "Metric to choose by within `max_bytes`, given as for `eval_metric`.",
        "By default classes are compared by error rate and log loss together, or by log loss alone where the rarest "
        "has less than a quarter of the samples of the most frequent one, and regressions by squared error.",
        type="str, Metric or callable",
        core=False,
        resumable=True,
    )
    target: str = _choice(
        "file",
        ("file", "device"),
        "What `max_bytes` counts: the saved file, or what a device has of it.",
        "A device has neither column names nor class labels.",
        core=False,
    )
    class_weight: Any = _parameter(  # noqa: RUF009
        None,
        "None, 'balanced' or a dict of weights by class label",
        "Weights of the classes, which sample weights are multiplied by.",
        '"balanced" gives all classes the same total; labels that a dict does not have weigh 1.',
        type='dict or "balanced"',
        core=False,
        resumable=True,
    )
    seed: int = _parameter(
        0,
        "a whole number from 0 to 2**63 - 1",
        "Seed of all random choices.",
        "The same data, parameters and seed give the same bytes on any machine.",
    )
    n_jobs: int | None = _parameter(
        None,
        "None, -1 (all cores), -2 (all but one) and so on, or 1 to 4096",
        "Number of threads, by default all cores.",
        "-1 means all cores, -2 all but one, and so on. The result does not depend on it.",
        core=False,
        resumable=True,
    )
    progress: Any = _parameter(  # noqa: RUF009
        False,
        "True, False or a function of a record",
        "Show a progress bar if tqdm is installed, or call a function.",
        "The function gets a dict with task, unit, done, total, seconds and seconds_left, the last of which may be "
        "None, and the losses of an epoch.",
        type="bool or callable",
        core=False,
        resumable=True,
    )
    callback: Any = _parameter(  # noqa: RUF009
        None,
        "a function of epoch and record",
        "Called as callback(epoch, record) after each epoch.",
        "Training stops if it returns True. If it has parameters named `y` and `scores`, it also gets those of the "
        "held-out samples.",
        type="callable",
        core=False,
        resumable=True,
    )

    # Not for users
    holdout: float = 0.0
    """Share of the samples to hold out; follows from the parameters above once the data is known."""
    leave_out: tuple[int, ...] = ()
    """Columns the model does without; chosen by the search, or on held-out samples where there are many."""
    linear_strength: float | None = None
    """How strongly the linear term is pulled towards straight lines; chosen on held-out samples."""
    loudness: float = 1.0
    """How loud pairs are in a regression; chosen on held-out samples."""
    levels: bool = False
    """Whether factors are learned as numbers, and rounded to what the signs of a cell can say."""
    rare_visits: float = 50.0
    """Visits below which a cell is pulled mostly for being rare, if there are levels."""
    coarseness: float = 1.2
    """Distance between two levels, in root mean squares of the numbers that they stand for."""
    free: frozenset[str] = frozenset()
    """Parameters left as None, which the search may choose."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Params:
        """Check the parameters among some arguments; those left as None get their default and are `free`."""
        free = frozenset(name for name, spec in PARAMETERS.items() if spec.searched and given.get(name) is None)
        values = {name: given[name] for name in PARAMETERS if name in given and name not in free}
        params = cls(**values, free=free)
        params._check()
        return replace(params, **{name: _plain(name, value) for name, value in values.items()})

    def replace(self, **changes: Any) -> Params:
        """Return the parameters with some changes."""
        return replace(self, **changes)

    def core(self) -> dict[str, Any]:
        """Return the values the core reads; `resolve` comes first."""
        return {name: getattr(self, name) for name in CORE}

    def schedule(self, *, steady: bool = False, scores: bool = False) -> Schedule:
        """Return how long to train; `resolve` comes first."""
        return Schedule(self.epochs, self.early_stopping, self.patience, self.holdout, steady, scores)

    def measures(self) -> tuple[Measure, ...]:
        """Return the metrics of `eval_metric`."""
        if self.eval_metric is None:
            return ()
        from binfm.metrics import measures_of

        return measures_of(self.eval_metric, "eval_metric", self.loss)

    def measure(self) -> Measure | None:
        """Return the metric of `scoring`, if there is one."""
        if self.scoring is None:
            return None
        from binfm.metrics import measure_of

        return measure_of(self.scoring, "scoring", None if "loss" in self.free else self.loss)

    def resolve(self, samples: int, has_valid: bool) -> Params:
        """Settle early stopping, now that the number of samples and whether there is an `eval_set` are known."""
        settled = self.settled()
        early = self.early_stopping
        if early == "auto":  # a search chooses the number of epochs itself, and quiet weights do not overfit
            many = samples >= HOLDOUT_FROM and not settled.is_quiet
            early = has_valid or ((many or self.eval_metric is not None) and not self.searching)
        if self.eval_metric is not None and not (early or has_valid):
            raise ValueError("eval_metric needs held-out samples: pass an eval_set or early_stopping=True")
        holdout = self.validation_fraction if early and not has_valid else 0.0
        return replace(settled, early_stopping=bool(early), holdout=float(holdout))

    def settled(self) -> Params:
        """Return the parameters with the defaults of those left as None."""
        if self.searching or not self.is_quiet:
            return replace(self, regularization=0.0) if self.regularization == "auto" else self
        values = {**QUIET, **(QUIET_REGRESSION if self.is_regression else {})}
        return replace(self, **{name: value for name, value in values.items() if name in self.free})

    def chosen(self, dataset: Any) -> Params:
        """Return the parameters with a regularization, and perhaps finer bins, chosen on samples held out in turn."""
        if self.regularization != "auto" or not self.is_quiet:
            return self
        finer = {"b", "tilings"} <= self.free and not self.is_regression
        return replace(self, **_core.choose(dataset, self.core(), self.leave_out, finer, self.n_jobs))

    def check_resumes(self, first: Params) -> None:
        """Refuse parameters with which training cannot resume that began with others."""
        for name, spec in PARAMETERS.items():
            before, now = getattr(first, name), getattr(self, name)
            if not spec.resumable and now is not before and now != before:
                raise ValueError(f"{name} must be {before!r}, as when training began, got {now!r}")

    @property
    def searching(self) -> bool:
        """Whether the free parameters are to be chosen within a size limit."""
        return self.max_bytes is not None

    @property
    def is_quiet(self) -> bool:
        """Whether weights are pulled towards silence."""
        plain = (self.method, self.optimizer, self.dropout, self.ensemble, self.polish)
        can_rest = self.tilings > 1 and self.scaling and (self.w_bits > 1 or "w_bits" in self.free)
        return plain == ("bfm", "adagrad", 0.0, 1, 0) and self.regularization != 0 and can_rest

    @property
    def is_regression(self) -> bool:
        """Whether the target is a number."""
        return self.loss in OF_NUMBERS

    def _check(self) -> None:
        if self.early_stopping not in ("auto", True, False):
            raise ValueError(_message("early_stopping", self.early_stopping))
        if not 0 < number("validation_fraction", self.validation_fraction) < 1:
            raise ValueError(_message("validation_fraction", self.validation_fraction))
        self.measures()
        if self.measure() is not None and not self.searching:
            raise ValueError(f"scoring must be None without max_bytes, got {self.scoring!r}")
        if self.callback is not None and not callable(self.callback):
            raise TypeError(_message("callback", type(self.callback)))
        if self.class_weight is not None and self.is_regression:
            raise ValueError(f"class_weight must be None for regression, got {self.class_weight!r}")
        one_of("target", self.target, PARAMETERS["target"].choices)
        if self.n_jobs is not None:
            _core.threads(whole("n_jobs", self.n_jobs))
        if self.max_bytes is not None:
            whole("max_bytes", self.max_bytes)
            one_of("method", self.method, ("bfm",), " with max_bytes")
            if self.regularization not in ("auto", 0):
                raise ValueError(f"regularization must be 0 or 'auto' with max_bytes, got {self.regularization!r}")
        checked = self._compatible() if self.searching else self
        _core.check_params(checked.replace(eval_metric=None).resolve(0, False).core())

    def _compatible(self) -> Params:
        """Return the parameters with free ones that go with those given, as the search will choose them."""
        values: dict[str, Any] = {"tilings": 1, "b": MAX_B, "m": self.ensemble if _counts(self.ensemble) else self.m}
        return replace(self, **{name: value for name, value in values.items() if name in self.free})


PARAMETERS: dict[str, Spec] = {each.name: each.metadata["spec"] for each in fields(Params) if "spec" in each.metadata}
"""The parameters by name, in the order of signatures."""
CHOSEN = ("linear_strength", "loudness", "levels", "rare_visits", "coarseness")
"""Parameters of the core that are chosen on held-out samples only."""
CORE = (*(name for name, spec in PARAMETERS.items() if spec.core), "holdout", *CHOSEN)
"""What the core reads."""
DEFAULTS: dict[str, Any] = {each.name: each.default for each in fields(Params) if each.name in PARAMETERS}
TYPES: dict[str, str] = {
    each.name: PARAMETERS[each.name].type or str(each.type).removesuffix(" | None")
    for each in fields(Params)
    if each.name in PARAMETERS
}
"""Names of types, as the documentation shows them."""


def _plain(name: str, value: Any) -> Any:
    """Return Python's own number for one of numpy's."""
    convert: Any = {"int": index, "float": float, "bool": bool}.get(TYPES[name])
    return value if value is None or convert is None else convert(value)


def _message(name: str, given: Any) -> str:
    shown = given.__name__ if isinstance(given, type) else repr(given)
    return f"{name} must be {PARAMETERS[name].constraint}, got {shown}"


Thing = TypeVar("Thing", bound=Callable[..., Any])


def documented(*left_out: str) -> Callable[[Thing], Thing]:
    """Return a decorator that puts the parameters in place of ``{parameters}`` in a docstring, except some."""

    def document(thing: Thing) -> Thing:
        if thing.__doc__:  # there is none under -OO
            entries = "\n".join(_entry(name) for name in PARAMETERS if name not in left_out)
            thing.__doc__ = cleandoc(thing.__doc__).replace("{parameters}", entries)
        return thing

    return document


def _entry(name: str) -> str:
    """Return a parameter as numpydoc has it."""
    spec, default = PARAMETERS[name], DEFAULTS[name]
    kind = "{" + ", ".join(f'"{choice}"' for choice in spec.choices) + "}" if spec.choices else TYPES[name]
    shown = "optional" if default is None else f"default {default!r}".replace("'", '"')
    limits = f" Must be {spec.constraint}." if spec.core and TYPES[name] in ("int", "float") else ""
    text = textwrap.fill(f"{spec.doc} {spec.more}".rstrip() + limits, 116)
    return f"{name} : {kind}, {shown}\n{textwrap.indent(text, '    ')}"


def _counts(value: Any) -> bool:
    """Return whether a value is a whole number from 1; what else it must be is for the core to say."""
    try:
        return index(value) >= 1
    except TypeError:
        return False
