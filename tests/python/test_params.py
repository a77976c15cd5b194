"""A parameter has one home, `binfm.params`; every other list of parameters agrees with it."""

import argparse
import inspect

import binfm
import numpy as np
import pytest
from binfm import BinFMClassifier, BinFMRegressor, _core
from binfm.cli import train as command
from binfm.cli._main import parser
from binfm.params import CHOSEN, CORE, DEFAULTS, MAX_B, PARAMETERS, Params, Schedule

DATA = {"X", "y", "sample_weight", "eval_set"}
ESTIMATOR_ONLY = {"random_state", "warm_start"}
OF_NUMBERS, OF_CLASSES = {"quantile", "delta"}, {"class_weight"}
"""Parameters that only estimators have, and those that one of the two lacks."""
DECIDED = {"early_stopping", "holdout", "regularization", *CHOSEN}
"""Parameters that Python derives from the data and passes to the core."""


def signature(function):
    return {name: parameter for name, parameter in inspect.signature(function).parameters.items() if name != "self"}


def test_the_core_has_the_same_parameters():
    core = {name: (default, constraint) for name, default, constraint, _ in _core.parameters()}
    assert set(core) == set(CORE)
    here = {name: (DEFAULTS[name], PARAMETERS[name].constraint) for name in CORE if name not in DECIDED}
    assert here == {name: both for name, both in core.items() if name not in DECIDED}
    assert all(core[name][0] == Params().resolve(0, False).core()[name] for name in DECIDED)


def test_the_core_has_the_same_largest_b():
    assert PARAMETERS["b"].constraint.endswith(f" to {MAX_B}")


def test_the_core_describes_each_parameter_in_one_line():
    for name, _, constraint, doc in _core.parameters():
        assert doc, name
        assert constraint, name
        assert "\n" not in doc


@pytest.mark.parametrize("function", [binfm.train, BinFMClassifier.__init__, BinFMRegressor.__init__])
def test_signatures_agree(function):
    given = signature(function)
    names = [name for name in given if name not in DATA | ESTIMATOR_ONLY]
    missing = set(PARAMETERS) - set(names)
    assert names == [name for name in PARAMETERS if name not in missing], "in the same order"
    assert missing <= {"seed"} | OF_NUMBERS | OF_CLASSES
    for name in names:
        default = "squared" if (name, function) == ("loss", BinFMRegressor.__init__) else None
        assert given[name].default == (default if PARAMETERS[name].searched else DEFAULTS[name]), name
        assert given[name].kind is inspect.Parameter.KEYWORD_ONLY


def test_estimators_lack_only_parameters_they_rename_or_fix():
    assert set(signature(binfm.train)) == DATA | set(PARAMETERS)
    assert set(signature(BinFMClassifier)) == ESTIMATOR_ONLY | (set(PARAMETERS) - {"seed"} - OF_NUMBERS)
    assert set(signature(BinFMRegressor)) == ESTIMATOR_ONLY | (set(PARAMETERS) - {"seed"} - OF_CLASSES)


def test_the_search_chooses_parameters_that_default_to_none():
    searched = {name for name, spec in PARAMETERS.items() if spec.searched}
    assert searched == {
        "m", "w_bits", "b", "tilings", "binning", "loss", "epochs", "learning_rate", "dropout", "ensemble", "polish",
    }  # fmt: skip
    assert Params.of({}).free == searched
    assert Params.of({"m": 3, "epochs": None}).free == searched - {"m"}


@pytest.mark.parametrize("thing", [binfm.train, BinFMClassifier, BinFMRegressor])
def test_docstrings_describe_each_parameter_once(thing):
    doc = inspect.getdoc(thing)
    section = doc[doc.index("Parameters\n---") : doc.index("Examples\n---")]
    for name in signature(thing):
        assert section.count(f"\n{name} : ") == 1, name
        if name in PARAMETERS:
            assert " ".join(PARAMETERS[name].doc.split()) in " ".join(section.split())
    assert "{parameters}" not in doc


def flags():
    """Return the options of `binfm train` by the parameter they set."""
    commands = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    return {action.dest: action for action in commands.choices["train"]._actions}


def test_the_command_line_has_each_parameter():
    found = flags()
    for name, spec in PARAMETERS.items():
        if name in command.NOT_FLAGS:
            means_something_else = name == "progress" or getattr(found.get(name), "metavar", None) == "COLUMN"
            assert name not in found or means_something_else, "--target is a column, --progress a word"
            continue
        action = found[name]
        assert action.help, name
        assert action.default is argparse.SUPPRESS, "only what is given is passed on"
        if spec.choices:
            assert set(action.choices) == set(spec.choices)
        elif name == "regularization":
            assert [action.type("auto"), action.type("3")] == ["auto", 3.0]
        elif isinstance(DEFAULTS[name], int | float) and not isinstance(DEFAULTS[name], bool):
            assert action.type is type(DEFAULTS[name])


def test_defaults_are_accepted_and_schedules_follow():
    params = Params.of({})
    assert params.core() == Params().core()
    assert {name: getattr(params, name) for name in PARAMETERS} == DEFAULTS
    assert params.resolve(10_000, False).schedule() == Schedule(20, False, 5, 0.0, False)
    assert params.resolve(10_000, True).schedule(steady=True) == Schedule(20, True, 5, 0.0, True)
    plain = Params.of({"regularization": 0})
    assert plain.resolve(9_999, False).schedule() == Schedule(30, False, 5, 0.0, False)
    assert plain.resolve(10_000, False).schedule() == Schedule(30, True, 5, 0.1, False)
    assert not Params.of({"max_bytes": 99}).resolve(10_000, False).early_stopping, "the search chooses the epochs"
    assert Params.of({"max_bytes": 99}).resolve(10, True).early_stopping


def test_numpy_scalars_are_converted():
    given = {"m": np.int16(5), "learning_rate": np.float32(0.5), "scaling": np.True_, "max_bytes": np.int64(900)}
    params = Params.of({**given, "min_count": 3})
    assert [type(getattr(params, name)) for name in (*given, "min_count")] == [int, float, bool, int, float]


@pytest.mark.parametrize(
    ("name", "value"), [("m", -1), ("w_bits", 9), ("b", 1), ("epochs", 0), ("polish", -1), ("learning_rate", -1)]
)
def test_messages_state_the_constraint(name, value):
    with pytest.raises(ValueError, match=f"^{name} must be {PARAMETERS[name].constraint}, got {value}$"):
        Params.of({name: value})


def test_given_parameters_only_need_to_match_those_that_are_not_searched():
    """A search may choose b, tilings and m to match the given parameters."""
    Params.of({"max_bytes": 999, "tilings": 70})
    Params.of({"max_bytes": 999, "b": 2})
    Params.of({"max_bytes": 999, "ensemble": 7})
    for given in ({"tilings": 70}, {"b": 2}, {"ensemble": 7}):
        with pytest.raises(ValueError, match="must be"):
            Params.of(given)
    with pytest.raises(ValueError, match=r"^ensemble must be"):
        Params.of({"max_bytes": 999, "ensemble": 0})
    with pytest.raises(TypeError, match=r"^ensemble must be"):
        Params.of({"max_bytes": 999, "ensemble": "two"})
