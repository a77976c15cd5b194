"""Effects, interactions and explanations against the formula, pair by pair."""

import math
from itertools import product

import binfm
import numpy as np
import oracle
import pytest
from scipy import sparse

NAMES = ["binary", "text labels", "text categories", "sparse", "regression", "four bits", "additive"]


def samples_of(table, n):
    """Return the first n samples of a table, each as a list of values."""
    return (table[:n].toarray() if sparse.issparse(table) else table[:n]).tolist()


def with_outputs(array, model):
    """Return an array with an axis of outputs, which models of a single output omit."""
    return np.asarray(array)[None] if np.ndim(model.alpha) == 0 else np.asarray(array)


def small(seed=0, **parameters):
    """Return a model of three features (one text, one with NaN) and its table."""
    rng = np.random.default_rng(seed)
    X = np.empty((400, 3), object)
    X[:, 0] = rng.normal(size=400)
    X[:, 1] = np.where(rng.random(400) < 0.2, np.nan, rng.normal(size=400))
    X[:, 2] = rng.choice(["a", "b", "c"], 400, p=[0.6, 0.3, 0.1])
    y = (X[:, 0] > 0) ^ (X[:, 2] == "a")
    settings = {"m": 5, "b": 5, "tilings": 2, "epochs": 3, **parameters}
    return binfm.train(X, y, categorical=[2], **settings), X


def all_combinations(model):
    """Return a sample for each combination of cells, with those cells."""
    values = []
    for feature in model.features:
        if feature.kind == "categorical":
            inside = list(feature.categories)
        else:
            edges = feature.edges.tolist()
            inside = [edges[0] - 1, *edges]
        values.append([*inside, *([np.nan] if feature.missing_row is not None else [])])
    each = [list(enumerate(v)) for v in values]
    return [([c for c, _ in combination], [v for _, v in combination]) for combination in product(*each)]


@pytest.mark.parametrize("name", NAMES)
def test_contributions_add_up_to_the_score_exactly(models, name):
    model, table = models[name]
    rows = samples_of(table, 20)
    integers, exponent = oracle.integer_scores(model, rows)
    scores = with_outputs(model.decision_function(table[:20]).T, model).reshape(-1, 20)
    for i, row in enumerate(rows):
        why = model.explain(row)
        assert why.unit == math.ldexp(1.0, -exponent - 1)
        units = with_outputs(why.units, model)
        assert [int(u) for u in units] == [2 * whole for whole in integers[i]]
        assert (with_outputs(why.score, model) == scores[:, i]).all()
        whole = with_outputs(why.contributions, model).sum(axis=-1) + with_outputs(why.bias, model)
        assert whole.tolist() == units.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_parts_match_the_formula(models, name):
    """Own parts and pairs from the ±1 arrays, one pair of active rows at a time."""
    model, table = models[name]
    fields, scales = oracle.header(model.to_bytes())
    w, V = with_outputs(model.w, model).astype(int), with_outputs(model.V, model).astype(int)
    for row in samples_of(table, 3):
        active = oracle.active_rows(model, row)
        why = model.explain(row)
        runs = [active[i : i + model.tilings] for i in range(0, len(active), model.tilings)]
        assert [model.features[j].rows.start <= run[0] < model.features[j].rows.stop for j, run in
                zip(why.indices, runs, strict=True)] == [True] * len(runs)  # fmt: skip
        parts = with_outputs(why.parts, model)
        for k, (_, a, c) in enumerate(scales):
            a, c = a << fields["shift_a"], c << fields["shift_c"]
            for f, left in enumerate(runs):
                inside = sum(int(V[k, r] @ V[k, s]) for r in left for s in left if r < s)
                assert parts[k, f, f] == 2 * (a * int(w[k, left].sum()) + c * inside)
                for g, right in enumerate(runs):
                    if f != g:
                        assert parts[k, f, g] == c * sum(int(V[k, r] @ V[k, s]) for r in left for s in right)


def test_own_parts_and_pairs_add_up_to_every_score():
    """bias + Σ own + Σ pairs is the score of every combination of cells, missing values included."""
    model, X = small()
    effects, pairs = model.effects(X), model.interactions()
    tables = {(i, j): pairs.cells(i, j).pairs for i in range(3) for j in range(i)}
    assert len(all_combinations(model)) == np.prod([len(effect.cells) for effect in effects])
    for cells, values in all_combinations(model):
        own = sum(int(effects[j].own[c]) for j, c in enumerate(cells))
        both = sum(int(tables[i, j][cells[i], cells[j]]) for i, j in tables)
        assert (effects.bias + own + both) * effects.unit == model.score_row(values)


@pytest.mark.parametrize("given", [True, False])
def test_effects_and_interactions_are_the_functional_anova(given):
    """Main effects and interactions are conditional means over the product of the cells' frequencies."""
    model, X = small(seed=1)
    effects, pairs = model.effects(X if given else None), model.interactions(X if given else None)
    weights = [effect.weight for effect in effects]
    assert all(w.sum() == pytest.approx(1) for w in weights)
    if not given:
        assert all((w == w[0]).all() for w in weights)
    combinations = all_combinations(model)
    shape = [len(w) for w in weights]
    scores = np.array([model.score_row(values) for _, values in combinations]).reshape(shape)
    joint = np.einsum("i,j,k->ijk", *weights)
    mean = (joint * scores).sum()
    assert effects.mean == pytest.approx(mean)
    main = []
    for j in range(3):
        others = tuple(set(range(3)) - {j})
        conditional = (joint * scores).sum(axis=others) / joint.sum(axis=others)
        main.append(conditional - mean)
        assert effects[j].effect == pytest.approx(main[j])
        assert effects[j].strength == pytest.approx(np.sqrt(weights[j] @ main[j] ** 2))
    for i, j in [(0, 1), (0, 2), (1, 2)]:
        rest = 3 - i - j
        both = np.tensordot(scores, weights[rest], axes=(rest, 0)) - mean - main[i][:, None] - main[j]
        assert pairs.cells(i, j).effect == pytest.approx(both)
        assert pairs.strength[i, j] == pytest.approx(np.sqrt(weights[i] @ both**2 @ weights[j]))
    variance = (joint * (scores - mean) ** 2).sum()
    interaction = (pairs.strength**2).sum() / 2
    assert (effects.strength**2).sum() + interaction == pytest.approx(variance)
    assert pairs.share == pytest.approx(interaction / variance)


def test_shapley_values_match_the_definition():
    """Averaged over all orders in which features are revealed, with the others drawn from their cells."""
    model, X = small(seed=2)
    weights = [effect.weight for effect in model.effects(X)]
    combinations = all_combinations(model)
    scores = np.array([model.score_row(values) for _, values in combinations])
    scores = scores.reshape([len(w) for w in weights])
    cells, row = combinations[7]
    why = model.explain(row, X)

    def value(known):
        left = scores
        for j in (2, 1, 0):
            left = left.take(cells[j], axis=j) if j in known else np.tensordot(left, weights[j], axes=(j, 0))
        return float(left)

    for j in range(3):
        others = [[], *([g] for g in range(3) if g != j), [g for g in range(3) if g != j]]
        shares = [1 / 3, 1 / 6, 1 / 6, 1 / 3]
        expected = sum(s * (value([*o, j]) - value(o)) for s, o in zip(shares, others, strict=True))
        assert why.shapley[j] == pytest.approx(expected)
    assert why.mean + why.shapley.sum() + why.absent_shapley == pytest.approx(why.score)


@pytest.mark.parametrize("name", NAMES)
def test_the_mean_and_shapley_values_add_up_to_the_score(models, name):
    model, table = models[name]
    for row in samples_of(table, 5):
        for why in (model.explain(row), model.explain(row, table)):
            total = why.mean + why.shapley.sum(axis=-1) + why.absent_shapley
            assert total == pytest.approx(np.asarray(why.score))


def test_an_absent_value_contributes_nothing():
    model, X = small()
    why = model.explain([0.3, 0.1, "never seen"], X)
    assert why.names == ("x0", "x1")
    assert why.absent_shapley != 0
    assert model.effects(X)[2].absent == pytest.approx(-(model.effects(X)[2].weight @ raw_effects(model, X, 2)))


def raw_effects(model, X, j):
    """Return the main effects of a feature before they are centred: 0 for an absent value."""
    effect = model.effects(X)[j]
    return effect.effect - effect.absent


def test_frequencies_match_the_table(models):
    model, table = models["sparse"]
    effects = model.effects(table)
    stored = np.diff(table.tocsc().indptr) / table.shape[0]
    for j, effect in enumerate(effects):
        assert effect.weight.sum() == pytest.approx(stored[j])
        assert effect.absent_weight == pytest.approx(1 - stored[j])
    dense, X = models["binary"]
    cells = [oracle.cell(dense.features[2], value) for value in X[:, 2]]
    share = np.bincount(cells, minlength=dense.features[2].cells) / len(X)
    assert dense.effects(X)[2].weight == pytest.approx(share)


def test_cells_have_readable_names():
    model, X = small()
    effects = model.effects(X)
    edges = model.features[0].edges
    assert effects[0].cells[0] == f"< {edges[0]:.3g}"
    assert effects[0].cells[1] == f"{edges[0]:.3g} to {edges[1]:.3g}"
    assert effects[0].cells[-1] == f"≥ {edges[-1]:.3g}"
    assert effects[0].bounds[1] == (edges[0], edges[1])
    assert effects[1].cells[-1] == "missing"
    assert effects[2].cells == ("a", "b", "c")
    assert model.explain([0.0, None, "b"]).cells[1:] == ("missing", "b")
    close = binfm.train(np.repeat(np.linspace(1, 1.001, 6), 20)[:, None], np.arange(120) % 2, b=6, tilings=1)
    assert len(set(close.effects()[0].cells)) == close.features[0].cells


@pytest.mark.parametrize("name", ["binary", "text labels", "sparse", "four bits", "additive"])
def test_records_match_the_arrays(models, name):
    model, table = models[name]
    effects, pairs = model.effects(), model.interactions()
    records = effects.to_records()
    assert len(records) == sum(len(effect.cells) for effect in effects) * len(effects.classes)
    assert all(("class" in record) == (len(effects.classes) > 1) for record in records)
    first = effects[0]
    assert [r["own"] for r in first.to_records()] == np.ravel(first.own).tolist()
    assert effects.to_dict()[first.name]["effect"] == first.effect.tolist()
    d = len(pairs.names)
    assert len(pairs.to_records()) == d * (d - 1) // 2 * len(pairs.classes)
    strongest = pairs.to_records()[: len(pairs.classes)]
    assert strongest[0]["strength"] == pytest.approx(np.ravel(next(iter(pairs.to_dict().values())))[0])
    cells = pairs.cells(0, 1)
    assert [r["pairs"] for r in cells.to_records()] == np.ravel(cells.pairs).tolist()
    why = model.explain(samples_of(table, 1)[0])
    assert [r["contribution"] for r in why.to_records()] == np.ravel(why.contributions).tolist()


@pytest.mark.parametrize("name", NAMES)
def test_results_print_as_tables(models, name):
    model, table = models[name]
    effects, pairs, why = model.effects(table), model.interactions(), model.explain(samples_of(table, 1)[0])
    assert effects.names[effects.order()[0]] in str(effects)
    assert "strength" in str(pairs)
    assert f"{np.max(why.score):+.4g}" in str(why)
    for text in (str(effects), str(effects[0]), str(pairs), str(pairs.cells(0, 1)), str(why)):
        head, *lines = text.splitlines()
        assert lines
        assert not any(line != line.rstrip() for line in [head, *lines])


def test_integers_of_more_than_64_bits_are_exact(monkeypatch):
    """The path for wide integers gives the same results as the other one."""
    from binfm.reading import _parts

    model, X = small()
    before = model.explain(X[0]), model.effects()[0], model.interactions().cells(0, 2)
    monkeypatch.setattr(_parts, "SAFE", 1)
    after = model.explain(X[0]), model.effects()[0], model.interactions().cells(0, 2)
    assert after[0].contributions.dtype == object
    assert after[0].units == before[0].units
    assert (after[1].own == before[1].own).all()
    assert after[1].effect == pytest.approx(before[1].effect)
    assert (after[2].pairs == before[2].pairs).all()


def test_results_use_column_names():
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    X = polars.DataFrame({"hour": rng.uniform(0, 24, 300), "day": rng.choice(["weekday", "weekend"], 300)})
    model = binfm.train(X, (X["hour"] > 12) ^ (X["day"] == "weekend"), m=4, epochs=3)
    assert model.effects(X).names == ("hour", "day")
    assert model.effects(X)["day"].cells == ("weekday", "weekend")
    assert model.interactions().cells("hour", "day").names == ("hour", "day")
    assert model.explain(X[5]).score == model.explain(X.row(5)).score == model.decision_function(X)[5]


def test_pairs_of_chosen_features_are_the_same():
    model, _ = small()
    everything, some = model.interactions(), model.interactions(features=[2, "x0"])
    assert some.names == ("x2", "x0")
    assert some.strength[0, 1] == pytest.approx(everything.strength[2, 0])


def test_constant_columns_have_no_effect():
    X = np.random.default_rng(0).normal(size=(200, 3))
    X[:, 1] = 4
    model = binfm.train(X, X[:, 0] > 0, m=3, epochs=2)
    effects = model.effects(X)
    assert effects[1].kind == "unused"
    assert effects[1].cells == ()
    assert effects.order() in ([0, 2], [2, 0])
    assert model.interactions().names == ("x0", "x2")
    assert model.explain(X[0]).names == ("x0", "x2")
    alone = binfm.train(np.ones((50, 2)), np.arange(50) % 2, epochs=1)
    assert alone.interactions().strength.shape == (0, 0)
    assert alone.explain([1, 1]).units * alone.effects().unit == alone.bias
    assert str(alone.effects())
    assert str(alone.interactions())


def test_reading_many_features_only_visits_stored_values():
    """A table of 20,000 columns is read without building a matrix of their pairs."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((3000, 20_000), density=0.002, format="csr", rng=rng)
    X.data[:] = 1
    model = binfm.train(X, np.arange(3000) % 2, m=4, epochs=1, regularization=0)
    assert len(model.effects(X).order()) == sum(feature.kind != "unused" for feature in model.features)
    why = model.explain(X[[5]])
    assert len(why.names) == X[[5]].nnz
    assert why.score == model.decision_function(X[[5]])[0]
    with pytest.raises(ValueError, match=r"features must name at most 2000 columns at once, got \d+"):
        model.interactions()
    assert model.interactions(features=range(50)).strength.shape == (50, 50)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m, X: m.explain(X[:2]), ValueError, "row must be one sample, got 2"),
        (lambda m, X: m.explain([1.0]), ValueError, "must have 5 features, as in training, got 1"),
        (lambda m, X: m.effects(X[:0]), ValueError, "X must have at least one sample, got none"),
        (lambda m, X: m.effects(X[:, :2]), ValueError, "must have 5 features, as in training, got 2"),
        (lambda m, X: m.effects()["age"], KeyError, "feature must be one of x0, x1.*, got 'age'"),
        (lambda m, X: m.effects()[5], IndexError, "feature must be from 0 to 4, got 5"),
        (lambda m, X: m.interactions(features=[1, "x1"]), ValueError, "features must be different ones, got one twice"),
        (lambda m, X: m.interactions().cells(1, 1), ValueError, "features must be two different ones, got x1 twice"),
    ],
)
def test_errors_are_sentences(binary, numbers, call, error, words):
    with pytest.raises(error, match=words):
        call(binary, numbers[0])
