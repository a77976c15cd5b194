"""LightGBM without a budget: 100 rounds of 31 leaves, its defaults. The reference for small models."""

from __future__ import annotations

from pareto import sizes
from pareto.ladder import classes_of
from pareto.problem import UNLIMITED, Problem
from pareto.store import Point
from pareto.systems.lightgbm import FIXED, Splits, train

ROUNDS = 100


def measure(problem: Problem) -> dict[int, Point | None]:
    booster = train(FIXED, problem.X, problem.y, problem.classes, ROUNDS)
    size = Splits(booster).bytes(booster.current_iteration(), sizes.threshold_bits(problem.X))
    accuracy = problem.test_accuracy(classes_of(booster.predict(problem.X_test, raw_score=True)))
    return {UNLIMITED: Point(accuracy, size, {"file": len(booster.model_to_string().encode())})}
