import copy
import json
import pickle

import numpy as np
import pandas as pd
import parsimon
import pytest
import scipy.sparse as sp
from parsimon import _parsimon
from sklearn.datasets import make_classification
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

CLASSIFIERS = [getattr(parsimon, n) for n in parsimon.__all__ if n.endswith("Classifier") and not n.startswith("Parsimon")]
REGRESSORS = [getattr(parsimon, n) for n in parsimon.__all__ if n.endswith("Regressor") and not n.startswith("Parsimon")]
STREAMING = [c for c in CLASSIFIERS + REGRESSORS if hasattr(c(), "partial_fit")]


def rows(n=300, d=20, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4)
    y = (X @ rng.normal(size=d) > 0).astype(int)
    return X, y


def state(estimator):
    """Everything the learner knows but how it was fed."""
    return estimator._learner.checkpoint()


def weights(estimator):
    heads = estimator._learner.weights()
    if heads is None:
        return estimator._learner.margins(rows(50)[0]).tobytes()
    return b"".join(np.float64(b).tobytes() + i.tobytes() + w.tobytes() for b, i, w in heads)


@pytest.mark.parametrize("make", STREAMING, ids=lambda c: c.__name__)
@pytest.mark.parametrize("cut", [1, 7, 64])
def test_any_chunking_gives_the_same_bits(make, cut):
    X, y = rows()
    whole, cut_up = make(), make()
    classes = {"classes": [0, 1]} if make in CLASSIFIERS else {}
    whole.partial_fit(X, y, **classes)
    for i in range(0, len(X), cut):
        cut_up.partial_fit(X[i : i + cut], y[i : i + cut], **classes)
    assert state(whole) == state(cut_up)


@pytest.mark.parametrize("make", [parsimon.FTRLClassifier, parsimon.AutoClassifier], ids=lambda c: c.__name__)
def test_a_half_life_follows_a_stream_that_drifts(make):
    X, y = rows(4000)
    y[2000:] = 1 - y[2000:]
    late = slice(2500, None)
    scores = []
    for half_life in [None, 100]:
        model = make(half_life=half_life).partial_fit(X[:2500], y[:2500], classes=[0, 1])
        scores.append(model.score(X[late], y[late]))
    assert scores[1] > max(0.8, scores[0]), scores
    with pytest.raises(ValueError, match="half_life"):
        make(half_life=0).partial_fit(X, y, classes=[0, 1])


def test_weights_go_with_their_rows():
    X, y = rows()
    weights_of = np.random.default_rng(0).integers(0, 3, 300).astype(float)
    weights_of[100:120] = 0.0
    whole = parsimon.FOBOSClassifier(l1=0.01).partial_fit(X, y, classes=[0, 1], sample_weight=weights_of)
    cut = parsimon.FOBOSClassifier(l1=0.01)
    for i in range(0, 300, 20):
        cut.partial_fit(X[i : i + 20], y[i : i + 20], classes=[0, 1], sample_weight=weights_of[i : i + 20])
    assert state(whole) == state(cut)
    assert weights(whole) != weights(parsimon.FOBOSClassifier(l1=0.01).partial_fit(X, y, classes=[0, 1]))
    # To fit, a weight is how often the row is there.
    many = np.repeat(np.arange(300), weights_of.astype(int))
    a, b = parsimon.FOBOSClassifier().fit(X, y, weights_of), parsimon.FOBOSClassifier().fit(X[many], y[many])
    assert weights(a) == weights(b)


@pytest.mark.parametrize("layout", ["csr32", "csr64", "csc", "float32", "fortran", "unsorted", "matrix", "zeros", "twice"])
def test_the_layout_of_the_rows_does_not_matter(layout):
    X, y = rows()
    X = X.astype(np.float32).astype(np.float64)
    reference = parsimon.FTRLClassifier(l1=0.1).fit(X, y)
    S = sp.csr_array(X)
    if layout == "csr64":
        S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    if layout == "unsorted":
        for i in range(S.shape[0]):
            a, b = S.indptr[i], S.indptr[i + 1]
            S.indices[a:b], S.data[a:b] = S.indices[a:b][::-1].copy(), S.data[a:b][::-1].copy()
        S.has_sorted_indices = False
    if layout == "zeros":
        S = sp.csr_array((X.ravel(), np.tile(np.arange(20), 300), np.arange(0, 6001, 20)), X.shape)
    if layout == "twice":
        # Two halves of every entry: SciPy means their sum.
        S = sp.csr_array((np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), S.indptr * 2), X.shape)
    other = {
        "zeros": S, "twice": S, "csr32": S, "csr64": S, "unsorted": S, "csc": sp.csc_array(X), "float32": X.astype(np.float32),
        "fortran": np.asfortranarray(X), "matrix": sp.csr_matrix(X),
    }[layout]
    assert weights(parsimon.FTRLClassifier(l1=0.1).fit(other, y)) == weights(reference)


def test_arrays_are_not_copied():
    learner = _parsimon.Learner(json.dumps({"algorithm": "ftrl"}))
    X = sp.csr_array(rows(50, 10)[0])
    parts = parsimon._arrays._native(X)
    assert parts[2] is X.data and parts[1] is X.indices and parts[0] is X.indptr
    for array in parts[:3]:
        array.flags.writeable = False
    learner.learn(parts, np.ones(50))


def test_the_order_of_rows_does_not_matter_to_fit():
    X, y = rows()
    order = np.random.default_rng(1).permutation(len(X))
    a = parsimon.FOBOSClassifier(l1=0.01).fit(X, y)
    assert weights(a) == weights(parsimon.FOBOSClassifier(l1=0.01).fit(X[order], y[order]))
    assert weights(a) != weights(parsimon.FOBOSClassifier(l1=0.01, random_state=1).fit(X, y))


def test_without_shuffle_fit_is_partial_fit_again_and_again():
    X, y = rows()
    fitted = parsimon.RDAClassifier(passes=3, shuffle=False).fit(X, y)
    streamed = parsimon.RDAClassifier()
    for _ in range(3):
        streamed.partial_fit(X, y, classes=[0, 1])
    assert weights(fitted) == weights(streamed)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("bad, word", [(np.nan, "NaN"), (np.inf, "inf"), (-np.inf, "inf")])
def test_a_bad_value_has_a_place_and_changes_nothing(make, bad, word):
    X, y = rows()
    model = parsimon.FTRLClassifier().partial_fit(X, y, classes=[0, 1])
    before = state(model)
    X = X.copy()
    X[250, 13] = bad
    with pytest.raises(ValueError, match=f"{word}.* at row 250, column 13"):
        model.partial_fit(make(X), y)
    assert state(model) == before
    with pytest.raises(ValueError, match="row 250, column 13"):
        model.predict(make(X))


@pytest.mark.parametrize("how", ["fit", "partial_fit", "learn_one", "learn_many"])
def test_what_is_refused_leaves_no_trace(how):
    X, y = rows()
    bad = X.copy()
    bad[7, 2] = np.nan
    rows_of = {
        "fit": lambda m: m.fit(bad[:, :9], y + 3),
        "partial_fit": lambda m: m.partial_fit(bad, y, classes=[0, 1]),
        "learn_one": lambda m: m.learn_one({"a": np.inf}, 1),
        "learn_many": lambda m: m.learn_many([{"a": 1.0}, {"a": np.inf}], [1, 0]),
    }
    fresh = parsimon.FTRLClassifier()
    before = dict(fresh.__dict__)
    with pytest.raises(ValueError, match="NaN|infinity"):
        rows_of[how](fresh)
    assert fresh.__dict__ == before
    if how == "fit":
        known = parsimon.FTRLClassifier().fit(X, y)
        before, predicted = state(known), known.predict(X)
        with pytest.raises(ValueError, match="row 7, column 2"):
            rows_of[how](known)
        assert state(known) == before and np.array_equal(known.predict(X), predicted)


def test_an_unknown_class_and_a_bad_weight_change_nothing():
    X, y = rows()
    model = parsimon.FTRLClassifier().partial_fit(X, y, classes=[0, 1])
    before = state(model)
    with pytest.raises(ValueError, match="the class .*7"):
        model.partial_fit(X, np.where(np.arange(len(y)) == 5, 7, y))
    for w in (-1.0, np.nan):
        with pytest.raises(ValueError):
            model.partial_fit(X, y, sample_weight=np.full(len(y), w))
    assert state(model) == before


@pytest.mark.parametrize("make", CLASSIFIERS + REGRESSORS, ids=lambda c: c.__name__)
def test_pickled_it_goes_on_with_the_same_bits(make):
    X, y = rows()
    a = make().fit(X, y)
    b = pickle.loads(pickle.dumps(a))
    assert state(a) == state(b) == state(copy.deepcopy(a))
    if make in STREAMING:
        assert state(a.partial_fit(X, y)) == state(b.partial_fit(X, y))


def test_a_damaged_pickle_is_refused():
    X, y = rows()
    blob = parsimon.FTRLClassifier().fit(X, y)._learner.checkpoint()
    with pytest.raises(ValueError, match="checksum"):
        _parsimon.Learner.from_checkpoint(blob[:100] + bytes([blob[100] ^ 1]) + blob[101:])


def test_several_classes_are_one_against_all():
    X, y = make_classification(400, 20, n_informative=8, n_classes=3, random_state=0)
    model = parsimon.FTRLClassifier(shuffle=False, passes=1).fit(X, y)
    assert model.coef_.shape == (3, 20) and model.intercept_.shape == (3,)
    for k in range(3):
        alone = parsimon.FTRLClassifier(shuffle=False, passes=1).fit(X, y == k)
        assert np.array_equal(alone.coef_[0], model.coef_[k])
    assert np.allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, y) > 0.6


def test_sparse_weights():
    X, y = rows()
    model = parsimon.FTRLClassifier(l1=5.0).fit(X, y)
    dense = model.coef_
    assert 0 < model.nonzeros_ == np.count_nonzero(dense) < 20
    assert sp.issparse(model.sparsify().coef_) and np.array_equal(model.coef_.toarray(), dense)
    assert np.allclose(model.decision_function(X), X @ dense[0] + model.intercept_[0])


def test_learn_many_is_learn_one_in_a_loop():
    rng = np.random.default_rng(0)
    X = [{"age": float(a), "city": str(c)} for a, c in zip(rng.normal(size=100), rng.choice(["Paris", "Rome"], 100))]
    y = [x["city"] == "Rome" for x in X]
    loop = parsimon.FTRLClassifier()
    for x, label in zip(X, y):
        loop.learn_one(x, label)
    many = parsimon.FTRLClassifier().learn_many(X, y)
    frame = parsimon.FTRLClassifier().learn_many(pd.DataFrame(X), y)
    assert state(loop) == state(many) == state(frame)
    assert loop.predict_one({"age": 0.0, "city": "Rome"}) is True
    assert loop.predict_many(X).tolist() == loop.predict_many(pd.DataFrame(X)).tolist() == [loop.predict_one(x) for x in X]
    assert loop.predict_proba_many(X)[3, 1] == loop.predict_proba_one(X[3])[True]
    assert loop.predict_proba_one({"city": "Rome"})[True] > 0.6
    # More than a chunk.
    loop, many = parsimon.FTRLRegressor(), parsimon.FTRLRegressor().learn_many(X * 15, range(1500))
    for x, label in zip(X * 15, range(1500)):
        loop.learn_one(x, label)
    assert state(loop) == state(many)
    assert np.array_equal(many.predict_many(X), [many.predict_one(x) for x in X])


@pytest.mark.parametrize("algorithm", ["ftrl", "auto"])
def test_a_frame_of_numbers_is_learned_as_its_dictionaries(algorithm):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({"a": rng.normal(size=300), "n": rng.integers(0, 9, 300), "b": rng.normal(size=300) > 0, "f": rng.normal(size=300).astype("float32")})
    frame.loc[::7, "a"] = np.nan
    y = (rng.normal(size=300) + frame.n > 4).astype(int)
    rows = frame.to_dict(orient="records")
    by_frame, by_rows = (parsimon.ParsimonClassifier(algorithm).learn_many(X, y) for X in (frame, rows))
    assert state(by_frame) == state(by_rows)
    np.testing.assert_array_equal(by_frame.predict_proba_many(frame), by_rows.predict_proba_many(rows))
    for x, label in zip(rows, y):
        by_frame.learn_one(x, label)
    assert state(by_frame) == state(by_rows.learn_many(frame, y))
    assert not hasattr(parsimon.ParsimonClassifier(algorithm).learn_many(frame[:0], []), "classes_")
    known = frame[["a", "f"]].fillna(0.0)
    columns = parsimon.ParsimonClassifier(algorithm).fit(known, y)
    np.testing.assert_array_equal(columns.predict_many(known[["f", "a"]]), columns.predict(known))
    # A row by name is one of the array, also where the learner centers its columns; columns that are not named are zero.
    one, array = copy.deepcopy(columns), copy.deepcopy(columns)
    for x in known.to_dict(orient="records")[:40]:
        one.learn_one(x, 1)
    array.partial_fit(known[:40], np.ones(40))
    assert state(one) == state(array)
    assert one.predict_proba_one({"f": 2.0})[1] == pytest.approx(array.predict_proba(pd.DataFrame({"a": [0.0], "f": [2.0]}))[0, 1], rel=1e-12)
    np.testing.assert_allclose(one.predict_proba_many(known.to_dict(orient="records")), array.predict_proba(known), rtol=1e-12)
    with pytest.raises(ValueError, match="infinity or too large"):
        by_frame.learn_many(frame.assign(a=np.inf), y)


def test_rows_by_name_after_a_frame():
    X, y = rows()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(20)])
    a, b = (parsimon.FTRLClassifier(passes=1, shuffle=False).fit(frame, y) for _ in range(2))
    a.partial_fit(frame[:3], y[:3])
    for x, label in zip(frame[:3].to_dict(orient="records"), y):
        b.learn_one(x, int(label))
    assert state(a) == state(b)
    assert a.predict_one(frame.iloc[5].to_dict()) == a.predict(frame[5:6])[0]


def test_ids_beyond_the_columns_widen_the_weights():
    X, y = rows()
    model = parsimon.FTRLClassifier(l1=0).fit(X, y).learn_one({50: 1.0}, 1)
    assert model.coef_.shape == (1, 50) and model.coef_[0, 49] != 0


def test_fitted_again_it_knows_the_new_columns_and_classes():
    X, y = rows()
    model = parsimon.FTRLClassifier(passes=1, shuffle=False)
    for names, labels in ((list("abcdefghijklmnopqrst"), [0, 1]), (list("tsrqponmlkjihgfedcba"), [5, 7])):
        frame = pd.DataFrame(X, columns=names)
        model.fit(frame, np.array(labels)[y])
        twin = parsimon.FTRLClassifier(passes=1, shuffle=False).fit(frame, np.array(labels)[y])
        model.learn_one(frame.iloc[0].to_dict(), labels[y[0]])
        twin.partial_fit(frame[:1], np.array(labels)[y[:1]])
        assert state(model) == state(twin)
        assert model.predict_many(frame).tolist() == twin.predict(frame).tolist()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_label_of_one_row_changes_nothing(bad):
    model = parsimon.FTRLRegressor().learn_one({"a": 1.0}, 2.0)
    before = state(model)
    with pytest.raises(ValueError, match="y must be a finite number"):
        model.learn_one({"a": 1.0, "new": 1.0}, bad)
    with pytest.raises(ValueError, match="at row 1"):
        model.learn_many([{"a": 1.0}, {"b": 2.0}], [1.0, bad])
    with pytest.raises(ValueError, match="sample_weight"):
        model.learn_one({"a": 1.0}, 1.0, bad)
    with pytest.raises(ValueError, match="finite number >= 0, got -1"):
        parsimon.FTRLRegressor(loss="poisson").learn_one({"a": 1.0}, -1)
    assert state(model) == before


def test_a_bad_value_in_a_dictionary_changes_nothing():
    model = parsimon.FTRLRegressor().learn_one({"a": 1.0}, 2.0)
    before = state(model)
    for x in ({"b": 1.0, "a": float("inf")}, {"a": object()}, {3: 1.0}):
        with pytest.raises((ValueError, TypeError)):
            model.learn_one(x, 1.0)
        with pytest.raises((ValueError, TypeError)):
            model.learn_many([{"a": 1.0}, x], [1.0, 1.0])
    assert state(model) == before


@pytest.mark.parametrize("make", [parsimon.FTRLClassifier, parsimon.ParsimonClassifier, parsimon.RDARegressor, parsimon.MultiKernelPDARegressor])
def test_files(make, tmp_path):
    X, y = rows()
    model = make().fit(X, y)
    model.save(tmp_path / "m.psm")
    model.save_checkpoint(tmp_path / "m.psc")
    read, resumed = parsimon.load(tmp_path / "m.psm"), parsimon.load(tmp_path / "m.psc")
    assert np.array_equal(model.predict(X), resumed.predict(X))
    assert np.array_equal(model.predict(X), read.predict(X))
    assert state(model.partial_fit(X, y)) == state(resumed.partial_fit(X, y))
    with pytest.raises(ValueError, match="cannot learn"):
        read.partial_fit(X, y)


def test_settings_are_checked_with_words():
    X, y = rows()
    with pytest.raises(ValueError, match="l1 must be a finite number >= 0, got -1"):
        parsimon.FTRLClassifier(l1=-1).fit(X, y)
    with pytest.raises(ValueError, match='rda has no setting "delta"'):
        parsimon.ParsimonClassifier("rda", delta=1.0).fit(X, y)
    with pytest.raises(ValueError, match="no loss 'poisson'"):
        parsimon.ParsimonClassifier("rda", loss="poisson").fit(X, y)


def test_what_runs_away_is_told():
    X, y = rows()
    with pytest.warns(Warning, match="diverged"):
        model = parsimon.LMSRegressor(rate=1.0, passes=50).fit(X * 1e3, y)
    assert np.isfinite(model.predict(X)).all()


def test_with_the_rest_of_scikit_learn():
    X, y = rows()
    search = GridSearchCV(parsimon.ParsimonClassifier(), {"algorithm": ["ftrl", "rda"], "l1": [0.0, 0.1]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.7
    texts = ["good film", "bad film", "good day", "bad day"] * 10
    labels = [1, 0] * 20
    dicts = [dict.fromkeys(t.split(), 1) for t in texts]
    for features, data in ((HashingVectorizer(), texts), (FeatureHasher(), dicts), (DictVectorizer(), dicts)):
        assert make_pipeline(features, parsimon.FTRLClassifier()).fit(data, labels).score(data, labels) == 1.0


@pytest.mark.parametrize("make", [parsimon.FTRLClassifier, parsimon.RDAClassifier, parsimon.FOBOSClassifier])
def test_weights_stay_inside_their_bounds(make):
    X, y = rows()
    free = make().fit(X, y).coef_
    assert free.min() < 0 < free.max()
    assert make(penalty="nonnegative").fit(X, y).coef_.min() == 0.0
    boxed = make(penalty="box", lower=-0.01, upper=0.02).fit(X, y).coef_
    assert -0.01 <= boxed.min() and boxed.max() <= 0.02 and boxed.max() > 0


def test_methods_that_learn_numbers_learn_two_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.where(X[:, 0] > 0, "yes", "no")
    for model in (parsimon.LMSClassifier(rate=0.05), parsimon.RLSClassifier(), parsimon.ParsimonClassifier("pnlms")):
        model.fit(X, y)
        assert list(model.classes_) == ["no", "yes"]
        assert model.score(X, y) > 0.9
    with pytest.raises(ValueError, match="has no loss"):
        parsimon.ParsimonClassifier("ftrl", loss="poisson").fit(X, y)


def test_a_model_of_two_classes_as_numbers_is_a_classifier_again(tmp_path):
    X = np.array([[1.0, 0.0], [0.0, 1.0]] * 50)
    y = np.array(["no", "yes"] * 50)
    model = parsimon.LMSClassifier(rate=0.05).fit(X, y)
    model.save(tmp_path / "m.psm")
    again = parsimon.load(tmp_path / "m.psm")
    assert list(again.predict(X[:2])) == ["no", "yes"]


def test_class_weights():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 3))
    y = (X[:, 0] + rng.normal(size=2000) > 2).astype(int)
    found = lambda **given: parsimon.ParsimonClassifier("sgd", **given).fit(X, y).predict(X)[y == 1].mean()
    assert found(class_weight="balanced") > found()
    assert found(class_weight={0: 1, 1: 20}) > found()
    by_weight = parsimon.ParsimonClassifier("sgd", shuffle=False, passes=1).fit(X, y, sample_weight=np.where(y == 1, 20.0, 1.0))
    by_class = parsimon.ParsimonClassifier("sgd", shuffle=False, passes=1, class_weight={1: 20}).fit(X, y)
    assert np.array_equal(by_weight.coef_, by_class.coef_)
    with pytest.raises(ValueError, match="no class"):
        parsimon.ParsimonClassifier("sgd", class_weight={7: 1}).fit(X, y)
    booleans = parsimon.ParsimonClassifier("sgd", class_weight={True: 20}, shuffle=False, passes=1).fit(X, y == 1)
    assert np.array_equal(booleans.coef_, by_class.coef_)


def test_balanced_weights_are_the_same_in_any_cut():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] > 1).astype(int)
    whole = parsimon.FTRLClassifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1])
    parts = parsimon.FTRLClassifier(class_weight="balanced")
    for start in range(0, 400, 37):
        parts.partial_fit(X[start : start + 37], y[start : start + 37], classes=[0, 1])
    assert np.array_equal(whole.coef_, parts.coef_)


def test_a_penalty_that_is_passed_stands_alone():
    X = np.array([[1.0, 0.0], [0.0, 1.0]] * 20)
    y = np.array([0, 1] * 20)
    assert parsimon.RDAClassifier().fit(X, y).settings_["l1"] > 0
    assert parsimon.RDAClassifier(l2=0.1).fit(X, y).settings_["l1"] == 0
    assert parsimon.RDAClassifier(l1=0).fit(X, y).settings_["l1"] == 0


def test_load_takes_the_kind_that_is_expected(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 3))
    path = tmp_path / "numbers.psm"
    parsimon.FTRLRegressor().fit(X, X[:, 0]).save(path)
    assert isinstance(parsimon.load(path), parsimon.ParsimonRegressor)
    assert isinstance(parsimon.load(path, parsimon.ParsimonRegressor), parsimon.ParsimonRegressor)
    with pytest.raises(TypeError, match="is a model for ParsimonRegressor, not for ParsimonClassifier"):
        parsimon.load(path, parsimon.ParsimonClassifier)
