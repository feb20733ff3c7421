"""What a new user tries: warm starts, streams of chunks, weights with names, pipelines, and errors with their places."""

import warnings

import numpy as np
import pandas as pd
import parsimon
import pytest
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler


def rows(n=400, columns=6, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, columns))
    return X, (X[:, 0] - X[:, 1] > 0).astype(int)


# Warm starts and streams.


def test_warm_start_goes_on():
    X, y = rows()
    warm = parsimon.FTRLClassifier(passes=1, shuffle=False, warm_start=True).fit(X[:200], y[:200])
    warm.fit(X[200:], y[200:])
    whole = parsimon.FTRLClassifier().partial_fit(X, y, classes=[0, 1])
    assert np.array_equal(warm.coef_, whole.coef_) and warm.n_rows_ == 400
    cold = parsimon.FTRLClassifier(passes=1, shuffle=False).fit(X[:200], y[:200]).fit(X[200:], y[200:])
    assert cold.n_rows_ == 200


def test_a_warm_start_keeps_the_classes_and_columns():
    X, y = rows()
    warm = parsimon.FTRLClassifier(warm_start=True).fit(X, y)
    before = warm.coef_.copy()
    with pytest.raises(parsimon.BadRowError, match="the class .*7.* at row 3, which is not among") as caught:
        warm.fit(X, np.where(np.arange(400) == 3, 7, y))
    assert caught.value.row == 3
    with pytest.raises(ValueError, match="5 features"):
        warm.fit(X[:, :5], y)
    assert np.array_equal(warm.coef_, before) and warm.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="changed after learning"):
        warm.set_params(rate=0.7).fit(X, y)


def test_a_warm_start_of_numbers():
    X, _ = rows()
    warm = parsimon.FTRLRegressor(passes=1, shuffle=False, warm_start=True)
    for part in np.split(X, 4):
        warm.fit(part, part[:, 0])
    assert np.array_equal(warm.coef_, parsimon.FTRLRegressor().partial_fit(X, X[:, 0]).coef_)


def test_verbose_shows_progress(capsys):
    X, y = rows()
    parsimon.FTRLClassifier(verbose=1).fit(X, y)
    assert "rows" in capsys.readouterr().err
    parsimon.FTRLClassifier().fit(X, y)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("size", [1, 7, 400])
def test_a_stream_of_chunks_is_the_whole(size):
    X, y = rows()
    weights = np.linspace(0.5, 2.0, 400)
    chunks = ((X[i : i + size], y[i : i + size], weights[i : i + size]) for i in range(0, 400, size))
    streamed = parsimon.FTRLClassifier().partial_fit_stream(chunks, classes=[0, 1])
    whole = parsimon.FTRLClassifier().partial_fit(X, y, classes=[0, 1], sample_weight=weights)
    assert np.array_equal(streamed.coef_, whole.coef_)


def test_a_stream_of_frames_and_of_sparse_matrices():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    parts = (frame[i : i + 100] for i in range(0, 400, 100))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        streamed = parsimon.FTRLClassifier().partial_fit_stream(parts, classes=[0, 1], label="y")
        whole = parsimon.FTRLClassifier().learn_arrow(frame, classes=[0, 1], label="y")
    assert streamed.n_rows_ == 400 and streamed.nonzeros_ == whole.nonzeros_
    assert np.array_equal(streamed.predict_arrow(frame), whole.predict_arrow(frame))
    sparse = ((sp.csr_matrix(X[i : i + 100]), y[i : i + 100]) for i in range(0, 400, 100))
    dense = parsimon.FTRLClassifier().partial_fit(X, y, classes=[0, 1])
    assert np.array_equal(parsimon.FTRLClassifier().partial_fit_stream(sparse, classes=[0, 1]).coef_, dense.coef_)


def test_progress_of_a_stream(capsys):
    X, y = rows()
    parsimon.FTRLClassifier().partial_fit_stream(((X, y) for _ in range(3)), classes=[0, 1], progress=True)
    assert "rows" in capsys.readouterr().err


def test_a_bad_chunk_is_named_and_those_before_are_learned():
    X, y = rows()
    bad = X.copy()
    bad[5, 2] = np.nan
    model = parsimon.FTRLClassifier()
    with pytest.raises(parsimon.BadRowError, match="chunk 1: X contains NaN at row 5, column 2") as caught:
        model.partial_fit_stream([(X, y), (bad, y)], classes=[0, 1])
    assert (caught.value.row, caught.value.column) == (5, 2) and model.n_rows_ == 400
    with pytest.raises(ValueError, match="chunk 0: a chunk is .* got 1 parts"):
        model.partial_fit_stream([(X,)])
    for wrong in (X, "file.csv", {"a": 1}):
        with pytest.raises(TypeError, match="iterator of chunks"):
            model.partial_fit_stream(wrong)
    with pytest.raises(ValueError, match="chunk 0: classes must be passed"):
        parsimon.FTRLClassifier().partial_fit_stream([(X, y)])


# Weights with names.


def test_weights_with_names():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    two = parsimon.FTRLClassifier().fit(frame, y)
    found = two.named_coef_
    assert isinstance(found, pd.Series) and found.index.tolist() == list("abcdef")
    assert np.array_equal(found.to_numpy(), two.coef_[0])
    assert parsimon.FTRLClassifier().fit(X, y).named_coef_.index.tolist() == list("012345")
    three = parsimon.FTRLClassifier().fit(frame, np.digitize(X[:, 0], [-0.5, 0.5]))
    found = three.named_coef_
    assert found.columns.tolist() == [0, 1, 2] and np.array_equal(found.to_numpy().T, three.coef_)
    assert np.array_equal(parsimon.FTRLRegressor().fit(frame, X[:, 0]).named_coef_.to_numpy(), parsimon.FTRLRegressor().fit(X, X[:, 0]).coef_)


def test_weights_with_hashed_names():
    model = parsimon.FTRLClassifier(l1=0.1).learn_many([{"good": 1.0, "some": 0.0}, {"bad": 1.0}] * 50, [1, 0] * 50)
    found = model.named_coef_
    assert sorted(found.index) == ["bad", "good"] and found["good"] > 0 > found["bad"]
    assert dict(model.top_weights(2)) == pytest.approx(found.to_dict())


# Probabilities.


def test_probabilities_of_one_row_are_those_of_the_batch():
    X, y = rows(columns=4)
    model = parsimon.FTRLClassifier().partial_fit(X, y, classes=[0, 1])
    batch = model.predict_proba(X)
    for row, expected in zip(X, batch):
        found = model.predict_proba_one({j + 1: float(v) for j, v in enumerate(row)})
        assert list(found) == [0, 1]
        assert list(found.values()) == pytest.approx(expected.tolist(), rel=1e-15)
    huge = parsimon.FTRLClassifier(l1=0.0, rate=100.0).learn_many([{1: 1e6}, {1: -1e6}] * 50, [1, 0] * 50)
    assert huge.predict_proba_one({1: 1e9}) == {0: 0.0, 1: 1.0}
    assert np.allclose(model.predict_log_proba(X), np.log(batch))


def test_rows_out_of_order_are_scored_as_rows_in_order():
    X, y = rows(columns=50)
    X[np.abs(X) < 0.8] = 0.0
    for precision in ("f64", "f32"):
        model = parsimon.FTRLClassifier(precision=precision, l1=0.0).partial_fit(X, y, classes=[0, 1])
        expected = model.decision_function(X)
        csr = sp.csr_matrix(X)
        explicit = sp.csr_matrix(X)
        explicit.data[::7] = 0.0
        shuffled = csr.copy()
        for i in range(400):
            part = slice(shuffled.indptr[i], shuffled.indptr[i + 1])
            shuffled.indices[part], shuffled.data[part] = csr.indices[part][::-1], csr.data[part][::-1]
        shuffled.has_sorted_indices = False
        assert np.array_equal(model.decision_function(csr), expected)
        assert np.array_equal(model.decision_function(shuffled), expected)
        assert np.array_equal(model.decision_function(explicit), model.decision_function(explicit.toarray()))
        # One row after the other, where weights are not laid out.
        single = [model.decision_function(csr[i : i + 1])[0] for i in range(400)]
        assert np.array_equal(single, expected)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e101])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_bad_values_are_found_when_predicting(value, form):
    X, y = rows()
    # The weight of the column is zero: no margin would show it.
    model = parsimon.FTRLClassifier(l1=1e9).partial_fit(X, y, classes=[0, 1])
    bad = X.copy()
    bad[17, 3] = value
    with pytest.raises(parsimon.BadRowError) as caught:
        model.predict(form(bad))
    assert (caught.value.row, caught.value.column) == (17, 3)


def test_an_index_beyond_the_columns_is_found_when_predicting():
    X, y = rows()
    model = parsimon.FTRLClassifier().partial_fit(X, y, classes=[0, 1])
    for wrong in (6, -1):
        csr = sp.csr_matrix(X)
        csr.indices[5 if wrong > 0 else 0] = wrong
        with pytest.raises(ValueError, match="not below 6 columns"):
            model.predict(csr)


# Pipelines in tune and compare.


def test_tune_takes_pipelines():
    X, y = rows()
    X = X * 100.0 + 7.0
    found = parsimon.tune(make_pipeline(StandardScaler(), parsimon.FTRLClassifier(passes=1)), X, y, {"l1": [0.1, 1.0, 1e6]})
    assert found.trials[-1].params == {"l1": 1e6} and found.best_estimator.score(X, y) > 0.9
    assert found.best_estimator[-1].l1 == found.best_params["l1"]
    long = parsimon.tune(make_pipeline(StandardScaler(), parsimon.FTRLClassifier(passes=1)), X, y, {"ftrlclassifier__l1": [0.1, 1.0, 1e6]}, n_jobs=-1)
    assert [t.loss for t in long.trials] == [t.loss for t in found.trials]
    plain = parsimon.tune(parsimon.FTRLClassifier(passes=1), StandardScaler().fit_transform(X), y, {"l1": [0.1, 1.0, 1e6]})
    assert [t.loss for t in plain.trials] == [t.loss for t in found.trials]
    weighted = parsimon.tune(make_pipeline(parsimon.FTRLClassifier()), X, y, {"l1": [0.1]}, sample_weight=np.ones(400))
    assert len(weighted.trials) == 1


def test_what_tune_and_compare_refuse():
    X, y = rows()
    with pytest.raises(TypeError, match="tune takes estimators of parsimon .* got SGDClassifier"):
        parsimon.tune(make_pipeline(StandardScaler(), SGDClassifier()), X, y, {"l1": [1.0]})
    with pytest.raises(TypeError, match="compare takes estimators of parsimon .* got SGDClassifier"):
        parsimon.compare([SGDClassifier()], X, y)
    with pytest.raises(ValueError, match="is no setting of the last step, 'ftrlclassifier'"):
        parsimon.tune(make_pipeline(StandardScaler(), parsimon.FTRLClassifier()), X, y, {"standardscaler__with_mean": [True]})
    with pytest.raises(ValueError, match="two names of one number"):
        parsimon.tune(parsimon.FTRLClassifier(), X, y, {"l1": [1.0]}, threads=2, n_jobs=2)
    with pytest.raises(ValueError, match="n_jobs must be"):
        parsimon.tune(parsimon.FTRLClassifier(), X, y, {"l1": [1.0]}, n_jobs=0)


def test_compare_takes_pipelines():
    X, y = rows()
    scaled = make_pipeline(StandardScaler(), parsimon.FTRLClassifier())
    other = make_pipeline(MaxAbsScaler(), parsimon.RDAClassifier())
    found = parsimon.compare({"plain": parsimon.FTRLClassifier(), "scaled": scaled, "other": other}, X * 50.0, y)
    assert {t.params["estimator"] for t in found.trials} == {"plain", "scaled", "other"}
    assert found.best_estimator.score(X * 50.0, y) > 0.8
    names = [t.params["estimator"] for t in parsimon.compare([scaled, parsimon.FTRLClassifier()], X, y).trials]
    assert sorted(names) == ["FTRLClassifier 1", "FTRLClassifier 2"]


# Errors with their places.


def test_a_bad_row_of_a_list_is_named():
    good = [{"a": 1.0}, {"a": 2.0}]
    for bad, words, kind in (
        ({"a": np.inf}, "row 2: the value of 'a' is infinity", parsimon.BadRowError),
        ({"a": [1]}, "row 2: the value of 'a' must be a number", TypeError),
        ({3: 1.0}, "row 2: features are named here", TypeError),
    ):
        model = parsimon.FTRLClassifier()
        with pytest.raises(kind, match=words) as caught:
            model.learn_many([*good, bad], [0, 1, 0])
        if kind is parsimon.BadRowError:
            assert caught.value.row == 2
        with pytest.raises(kind, match=words):
            model.learn_many(good, [0, 1]).predict_many([*good, bad])
    with pytest.raises(parsimon.BadRowError, match="at row 1") as caught:
        parsimon.FTRLRegressor().learn_many(good, [1.0, np.nan])
    assert caught.value.row == 1
    with pytest.raises(parsimon.BadRowError, match="nan.* at row 1, which is not among") as caught:
        parsimon.FTRLClassifier().learn_many(good, [1.0, np.nan])
    assert caught.value.row == 1


def test_a_method_with_a_matrix_and_a_table(tmp_path):
    path = tmp_path / "numbers.csv"
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.normal(size=50), "b": rng.normal(size=50), "y": rng.normal(size=50)}).to_csv(path, index=False)
    # The matrix is as large as the columns are many, not as the slots of hashed names.
    model = parsimon.RLSRegressor().learn_file(path, label="y")
    assert model.n_rows_ == 50 and model.settings_["dimension"] == 2 and sorted(model.named_coef_.index) == ["a", "b"]


def test_a_label_that_was_guessed_is_reported(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("age,bought\n" + "30,1\n20,0\n" * 20)
    with pytest.warns(UserWarning, match="bought"):
        parsimon.FTRLClassifier().learn_file(path)


@pytest.mark.parametrize(
    ("name", "words"),
    [("C", "l1 or l2"), ("alpha", "l1 or l2"), ("max_iter", "set passes"), ("n_jobs", "one thread"), ("tol", "passes"), ("raet", "did you mean rate")],
)
def test_habits_of_constructors_are_answered(name, words):
    for estimator in (parsimon.ParsimonClassifier, parsimon.FTRLRegressor):
        with pytest.raises(TypeError, match=f"has no setting '{name}': .*{words}"):
            estimator(**{name: 1.0})
        with pytest.raises(ValueError, match=f"has no setting '{name}': .*{words}"):
            estimator().set_params(**{name: 1.0})


def test_lr_is_the_rate():
    with pytest.raises(TypeError, match="has no setting 'lr': .*set rate"):
        parsimon.FTRLRegressor(lr=1.0)
    assert parsimon.FTRLRegressor().set_params(lr=0.25).rate == 0.25


def test_a_search_over_alpha_does_not_set_the_rate():
    from sklearn.model_selection import GridSearchCV

    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    with pytest.raises(ValueError, match="the learning rate is rate"):
        GridSearchCV(parsimon.FTRLClassifier(), {"alpha": [0.1, 1.0]}).fit(X, y)


def test_frames_with_texts_have_names():
    frame = pd.DataFrame({"age": [30.0, 41.0, 22.0, 58.0] * 50, "city": ["Rome", "Oslo", "Rome", "Oslo"] * 50})
    model = parsimon.ParsimonClassifier().fit(frame, ["yes", "no", "yes", "no"] * 50)
    assert model.feature_names_in_.tolist() == ["age", "city"] and model.n_features_in_ == 2
    names = model.get_feature_names_out().tolist()
    # A column with a curve has a weight for each knot, age~30.
    assert {name.partition("~")[0] for name in names} <= {"age", "city=Rome", "city=Oslo"} and len(names) == model.coef_.shape[1] > 0
    assert model.named_coef_.index.tolist() == names
    assert np.array_equal(model.named_coef_.to_numpy(), model.coef_[0])
    assert model.predict_one({"age": 30.0, "city": "Rome"}) in ("yes", "no")
    numbers = parsimon.FTRLClassifier().fit(frame[["age"]], [0, 1] * 100)
    assert numbers.get_feature_names_out().tolist() == ["age"]
