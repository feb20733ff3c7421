"""Frames with texts in fit, partial_fit and predict."""

import numpy as np
import pandas as pd
import pytest
from parsimon import BadRowError, FTRLClassifier, FTRLRegressor, ParsimonClassifier, ParsimonRegressor
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
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


def test_columns_are_selected_by_their_weights():
    X, y, _ = people()
    numbers = pd.DataFrame({"age": (X["age"] - 48) / 10, "noise": np.random.default_rng(0).normal(size=len(X))})
    chosen = SelectFromModel(FTRLClassifier(l1=20.0)).fit(numbers, y)
    assert chosen.get_feature_names_out().tolist() == ["age"]


# Missing cells of frames of numbers.


def gaps(rows=500, seed=4):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"far": random.normal(100, 20, rows), "near": random.normal(size=rows), "whole": random.integers(0, 9, rows)})
    score = (frame["far"] - 100) / 20 - frame["near"] + 0.1 * frame["whole"]
    for k, name in enumerate(frame.columns):
        frame[name] = frame[name].where(random.random(rows) > 0.1 * (k + 1))
    return frame, score.to_numpy()


@pytest.mark.parametrize("estimator", [ParsimonRegressor(), FTRLRegressor(), ParsimonRegressor(precision="f32")], ids=["bare", "named", "short"])
def test_nan_in_a_frame_of_numbers_is_missing(estimator):
    frame, score = gaps()
    model = clone(estimator).fit(frame, score)
    found = model.predict(frame)
    assert np.isfinite(found).all() and model.score(frame, score) > 0.3
    # A row predicts the same alone, from another library, with nulls, and as rows as dictionaries of the cells that are there.
    assert np.array_equal(model.predict(frame[17:18]), found[17:18])
    for other in (pl.from_pandas(frame), frame.convert_dtypes(), frame.set_index(pd.Index(np.arange(500) * 3))):
        assert np.array_equal(clone(estimator).fit(other, score).predict(other), found)
    # Where nothing is missing, a frame is its array.
    whole = frame.fillna(1.0)
    assert np.array_equal(clone(estimator).fit(whole, score).predict(whole), clone(estimator).fit(whole.to_numpy(), score).predict(whole.to_numpy()))


def test_a_stream_with_gaps_is_that_of_the_table():
    frame, score = gaps()
    for estimator in (ParsimonRegressor(), FTRLRegressor()):
        model, table = clone(estimator), clone(estimator)
        for begin in range(0, 500, 70):
            model.partial_fit(frame[begin : begin + 70], score[begin : begin + 70])
        assert np.array_equal(model.predict(frame), clone(estimator).partial_fit(frame, score).predict(frame))
        table.learn_arrow(frame.assign(y=score), label="y", curves="none", pairs="none", passes=1)
        np.testing.assert_allclose(model.predict(frame), table.predict_arrow(frame), rtol=1e-9, atol=1e-9)


def test_missing_is_not_zero_where_columns_are_standardized():
    frame, score = gaps()
    model = ParsimonRegressor().fit(frame, score)
    one = pd.DataFrame({"far": [np.nan, 0.0, 100.0], "near": 0.0, "whole": 4.0})
    missing, zero, mean = model.predict(one)
    assert abs(missing - mean) < 0.2 < abs(zero - mean)
    # Rows that differ in nothing else are two rows, in any order.
    twice = pd.DataFrame({"a": [np.nan, 0.0, 1.0] * 40})
    labels = [5.0, -5.0, 1.0] * 40
    back = ParsimonRegressor().fit(twice[::-1], labels[::-1])
    assert ParsimonRegressor().fit(twice, labels)._learner.checkpoint() == back._learner.checkpoint()


def test_infinities_in_frames_and_nan_in_arrays_are_refused():
    frame, score = gaps()
    with pytest.raises(BadRowError, match=r"X contains infinity \(inf\) at row 3, column 0"):
        ParsimonRegressor().fit(frame.assign(far=np.where(np.arange(500) == 3, np.inf, frame["far"])), score)
    with pytest.raises(BadRowError, match="X contains NaN"):
        ParsimonRegressor().fit(frame.to_numpy(), score)
    model = ParsimonRegressor().fit(frame.fillna(0.0), score)
    assert np.isfinite(model.predict(frame)).all()
