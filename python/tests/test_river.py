"""River's own checks, on the wrapper."""

import pytest

river = pytest.importorskip("river")

import copy
import doctest
import pickle

import numpy as np
import parsimon.river
from parsimon.river import Classifier
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


def test_copies_and_pickles_learn_by_themselves():
    rows = [({"a": 1.0, "b": float(k % 5)}, k % 2 == 0) for k in range(40)]
    model = Classifier("ftrl", rate=0.5)
    for x, y in rows:
        model.predict_proba_one(x)
        model.learn_one(x, y)
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    before = model.predict_proba_one(rows[3][0])
    for other in copies:
        assert other.predict_proba_one(rows[3][0]) == before
        for x, _ in rows:
            other.learn_one(x, True)
        assert other.predict_proba_one(rows[3][0])[True] > before[True]
        # Both ways to the learner are one learner.
        assert other._model.predict_proba_one(rows[3][0]) == other.predict_proba_one(rows[3][0])
    assert model.predict_proba_one(rows[3][0]) == before


def test_keys_of_the_same_letters_are_the_same_features():
    once = ["".join(["k", str(j)]) for j in range(6)]
    values = np.random.default_rng(0).normal(size=(50, 6))
    same, fresh = Classifier("ftrl"), Classifier("ftrl")
    for k, row in enumerate(values):
        # The order of the keys changes now and then, and values are missing.
        names = once if k % 7 else once[::-1]
        value = [None if (k + j) % 11 == 0 else float(v) for j, v in enumerate(row)]
        same.learn_one(dict(zip(names, value)), k % 3 == 0)
        again = {"".join(list(name)): v for name, v in zip(names, value)}
        fresh.predict_proba_one(again)
        fresh.learn_one(again, k % 3 == 0)
    assert same._model.top_weights(6) == fresh._model.top_weights(6)
    assert len(same._model.top_weights(20)) > 0
