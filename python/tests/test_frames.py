"""Frames with texts in fit, partial_fit and predict."""

import numpy as np
import pandas as pd
import pytest
from parsimon import FTRLClassifier, ParsimonClassifier, ParsimonRegressor
from sklearn.model_selection import cross_val_score

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


def people(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 80, rows),
            "city": rng.choice(["Rome", "Oslo", "Lima"], rows),
            "joined": pd.Categorical(rng.choice(["2020", "2021"], rows)),
        }
    )
    score = (frame["age"] - 48) / 10 + 2.0 * (frame["city"] == "Oslo") - 0.7
    return frame, np.where(score + rng.normal(size=rows) > 0, "yes", "no"), score.to_numpy()


def test_a_frame_with_texts_is_learned_as_it_is():
    X, y, _ = people()
    model = ParsimonClassifier().fit(X, y)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.score(X, y) > 0.8
    assert model.predict_proba(X).shape == (600, 2)
    weights = model.named_coef_
    assert any("Oslo" in str(name) for name in weights.index)
    # The index of a frame means nothing, and neither does the library it is from.
    other = X.set_index(pd.Index(np.arange(600) * 7))
    for again in (other, pl.from_pandas(X), pa.Table.from_pandas(X, preserve_index=False)):
        assert np.array_equal(ParsimonClassifier().fit(again, y).decision_function(again), model.decision_function(X))
    assert cross_val_score(ParsimonClassifier(passes=2), X, y, cv=3).min() > 0.7


def test_classes_keep_their_type_and_numbers_are_predicted():
    X, y, score = people()
    assert ParsimonClassifier().fit(X, y == "yes").predict(X[:3]).dtype == bool
    assert ParsimonClassifier().fit(X, (y == "yes").astype(int)).classes_.tolist() == [0, 1]
    assert ParsimonRegressor().fit(X, score).score(X, score) > 0.9


def test_weights_order_and_streams():
    X, y, _ = people()
    weights = np.where(y == "yes", 5.0, 1.0)
    plain, weighted = FTRLClassifier(l1=0.1).fit(X, y), FTRLClassifier(l1=0.1).fit(X, y, sample_weight=weights)
    assert (weighted.predict(X) == "yes").mean() > (plain.predict(X) == "yes").mean()
    ordered = FTRLClassifier(shuffle=False, passes=1).fit(X, y)
    stream = FTRLClassifier()
    for begin in range(0, 600, 150):
        stream.partial_fit(X[begin : begin + 150], y[begin : begin + 150], classes=["no", "yes"])
    assert np.array_equal(stream.decision_function(X), ordered.decision_function(X))


def test_what_does_not_fit_is_refused():
    X, y, _ = people()
    with pytest.raises(ValueError, match="y has 5 labels, and the frame has 600 rows"):
        ParsimonClassifier().fit(X, y[:5])
    with pytest.raises(ValueError, match="classes must be passed"):
        FTRLClassifier().partial_fit(X, y)
    numbers = ParsimonClassifier().fit(X[["age"]], y)
    with pytest.raises(ValueError, match="learned numbers without texts"):
        numbers.predict(X)
    model = ParsimonClassifier().fit(X, y)
    with pytest.raises(ValueError, match="city"):
        model.predict(X.drop(columns="city"))
    with pytest.raises(ValueError, match="knows features by name"):
        model.predict(np.zeros((2, 3)))
    # A call that is refused leaves the model.
    with pytest.raises(ValueError, match="y has"):
        model.fit(X, y[:5])
    assert model.score(X, y) > 0.8
