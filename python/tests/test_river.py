"""River's own checks, on the wrapper."""

import pytest

river = pytest.importorskip("river")

import doctest

import parsimon.river
from river import checks, datasets

MODELS = [
    parsimon.river.Classifier(),
    parsimon.river.Classifier("rda", l1=0.01),
    parsimon.river.Regressor(),
    parsimon.river.Regressor("adagrad-rda"),
]


def the_checks():
    for model in MODELS:
        for check in checks.yield_checks(model):
            yield pytest.param(model, check, id=f"{type(model).__name__}-{model.algorithm}-{check.__name__}")


@pytest.mark.parametrize("model, check", list(the_checks()))
def test_river_check(model, check):
    check(model.clone())


def test_no_check_is_skipped():
    assert not any(model._unit_test_skips() for model in MODELS)


def test_the_wrapper_learns_what_the_estimator_learns():
    wrapped, alone = parsimon.river.Classifier("ftrl", l1=0.1), parsimon.FTRLClassifier(l1=0.1)
    for x, y in datasets.Phishing().take(300):
        wrapped.learn_one(x, y)
        alone.learn_one(x, y)
    assert wrapped._model._learner.checkpoint() == alone._learner.checkpoint()


def test_examples():
    assert doctest.testmod(parsimon.river).failed == 0
