"""Number of passes of ``fit`` and ``learn_file`` by default."""

import numpy as np
import pandas as pd
import parsimon
import pytest
from parsimon import ParsimonClassifier, ParsimonRegressor


def rows(count, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(count, 6))
    y = (X @ [3.0, -2.0, 1.0, 1.0, -1.0, 2.0] + 0.5 * random.normal(size=count) > 0).astype(int)
    return X, y


def test_few_rows_are_learned_as_often_as_pays():
    X, y = rows(400)
    model = ParsimonClassifier().fit(X, y)
    assert model.n_iter_ > 1
    assert model.n_rows_ == model.n_iter_ * len(X)
    Z, z = rows(4000, 1)
    once = ParsimonClassifier(passes=1).fit(X, y)
    assert once.n_iter_ == 1

    def loss(estimator):
        return -np.mean(np.log(estimator.predict_proba(Z)[np.arange(len(z)), z]))

    assert loss(model) < loss(once)
    # It learns on.
    model.partial_fit(Z, z)
    assert model.n_rows_ > len(Z)


def test_the_decision_depends_on_the_set_of_rows():
    X, y = rows(300)
    model = ParsimonClassifier().fit(X, y)
    order = np.random.default_rng(3).permutation(300)
    again = ParsimonClassifier().fit(X[order], y[order])
    assert again.n_iter_ == model.n_iter_
    assert np.array_equal(again.coef_, model.coef_)
    twice = ParsimonClassifier().fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    weighted = ParsimonClassifier().fit(X, y, sample_weight=np.full(300, 2.0))
    assert np.array_equal(twice.coef_, weighted.coef_)


@pytest.mark.parametrize(
    ("estimator", "passes"),
    [
        (ParsimonClassifier(passes=4), 4),
        (ParsimonClassifier(shuffle=False), 10),
        (ParsimonClassifier("ftrl"), 10),
        (ParsimonClassifier(half_life=300), 10),
        (parsimon.FTRLClassifier(), 10),
    ],
)
def test_what_is_asked_for_is_done(estimator, passes):
    X, y = rows(200)
    assert estimator.fit(X, y).n_iter_ == passes


def test_too_few_rows_decide_nothing():
    X, y = rows(40)
    assert ParsimonClassifier().fit(X, y).n_iter_ == 10
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "yes", "no")})
    assert ParsimonClassifier().fit(frame, y).n_iter_ == 10


def test_frames_and_files_are_learned_as_often_as_pays(tmp_path):
    X, y = rows(400)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(g=np.where(X[:, 1] > 0, "yes", "no"))
    assert ParsimonClassifier().fit(frame, y).n_iter_ > 1
    frame.assign(y=y).to_csv(tmp_path / "rows.csv", index=False)
    assert ParsimonClassifier().learn_file(tmp_path / "rows.csv", label="y").n_iter_ > 1
    assert ParsimonClassifier().learn_file(tmp_path / "rows.csv", label="y", passes=1).n_iter_ == 1
    assert ParsimonClassifier("ftrl").learn_file(tmp_path / "rows.csv", label="y").n_iter_ == 1
    with pytest.raises(ValueError, match="passes must be a whole number >= 1"):
        ParsimonClassifier().learn_file(tmp_path / "rows.csv", label="y", passes=0)


def test_numbers_are_learned_as_often_as_pays():
    X, _ = rows(300)
    target = X @ [3.0, -2.0, 1.0, 1.0, -1.0, 2.0]
    model = ParsimonRegressor().fit(X, target)
    assert model.n_iter_ > 1
    assert model.score(X, target) > ParsimonRegressor(passes=1).fit(X, target).score(X, target)
