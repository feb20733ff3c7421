"""Together with the rest of scikit-learn, and with data frames."""

import os
import pickle
import subprocess

import numpy as np
import pandas as pd
import parsimon
import pytest
import scipy.sparse as sp
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction import DictVectorizer, FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pl = pytest.importorskip("polars")


def rows(n=600, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ np.linspace(-1, 1, d) > 0).astype(int)


def test_pipelines_and_searches():
    X, y = rows()
    pipeline = make_pipeline(StandardScaler(), parsimon.ParsimonClassifier())
    grid = {"parsimonclassifier__algorithm": ["ftrl", "rda", "fobos"], "parsimonclassifier__l1": [0.0, 0.01]}
    search = GridSearchCV(pipeline, grid, cv=3, n_jobs=1).fit(X, y)
    assert search.best_score_ > 0.9 and len(search.cv_results_["params"]) == 6
    assert cross_val_score(parsimon.RDARegressor(), X, X[:, 0], cv=3).mean() > 0.5
    # Processes of their own: estimators travel as pickles.
    assert cross_val_score(parsimon.FTRLClassifier(), X, y, cv=2, n_jobs=2).mean() > 0.9


@pytest.mark.parametrize(
    "vectorizer, dicts", [(HashingVectorizer(n_features=2**18), False), (FeatureHasher(2**18), True), (DictVectorizer(), True)]
)
def test_vectorizers(vectorizer, dicts):
    texts = ["good film", "bad film", "good day", "bad day"] * 10
    data = [dict.fromkeys(t.split(), 1) for t in texts] if dicts else texts
    model = make_pipeline(vectorizer, parsimon.FTRLClassifier()).fit(data, [1, 0] * 20)
    assert model.score(data, [1, 0] * 20) == 1.0
    assert sp.issparse(model[0].transform(data)) and model[1].n_features_in_ == model[0].transform(data).shape[1]


def test_other_estimators_take_ours():
    X, y = rows()
    y3 = y + (X[:, 0] > 1)
    assert CalibratedClassifierCV(parsimon.FTRLClassifier(loss="hinge"), cv=2).fit(X, y).score(X, y) > 0.9
    assert OneVsRestClassifier(parsimon.FTRLClassifier()).fit(X, y3).score(X, y3) > 0.7
    assert is_classifier(parsimon.FTRLClassifier()) and is_regressor(parsimon.CSGDRegressor())


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda X, columns: pl.DataFrame(X, schema=columns)], ids=["pandas", "polars"])
def test_frames_have_names(frame):
    X, y = rows()
    names = [f"c{j}" for j in range(12)]
    model = parsimon.FTRLClassifier().fit(frame(X, columns=names), y)
    assert model.feature_names_in_.tolist() == names
    assert np.array_equal(model.coef_, parsimon.FTRLClassifier().fit(X, y).coef_)
    assert model.top_weights(1)[0][0] in ("c0", "c11")
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame(X, columns=names[::-1]))
    assert model.predict_one(dict(zip(names, X[0].tolist()))) == model.predict(frame(X[:1], columns=names))[0]


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1], [3, 7], ["a", "b", "c"], [0, 1, 5]])
def test_classes_are_the_users(labels):
    X, y = rows()
    y = np.array(labels)[(y + (X[:, 0] > 1)) % len(labels)]
    model = parsimon.FTRLClassifier().fit(X, y)
    assert model.classes_.tolist() == labels and set(model.predict(X)) <= set(labels)
    assert model.predict(X).dtype == np.array(labels).dtype
    proba = model.predict_proba(X)
    assert proba.shape == (600, len(labels)) and np.allclose(proba.sum(axis=1), 1)
    assert np.allclose(np.exp(model.predict_log_proba(X)), proba)
    assert model.decision_function(X).shape == ((600,) if len(labels) == 2 else (600, 3))
    assert model.predict_one({j + 1: v for j, v in enumerate(X[0].tolist())}) == model.predict(X[:1])[0]


def test_losses_without_probabilities_have_none():
    X, y = rows()
    hinge = parsimon.FTRLClassifier(loss="hinge").fit(X, y)
    assert not hasattr(hinge, "predict_proba") and not hasattr(hinge, "predict_proba_one")
    assert hasattr(parsimon.FTRLClassifier(), "predict_proba")


def test_a_clone_knows_nothing_and_a_pickle_everything():
    X, y = rows()
    model = parsimon.FTRLClassifier(l1=0.5, passes=2).fit(X, y)
    assert clone(model).get_params() == model.get_params() and not hasattr(clone(model), "classes_")
    back = pickle.loads(pickle.dumps(model.sparsify()))
    assert sp.issparse(back.coef_) and (back.coef_ != model.coef_).nnz == 0
    assert back.n_iter_ == 2 and np.array_equal(back.predict_proba(X), model.predict_proba(X))


def test_a_loaded_model_is_pickled_too(tmp_path):
    X, y = rows()
    parsimon.FTRLClassifier().fit(X, y).save(tmp_path / "m.psm")
    model = parsimon.load(tmp_path / "m.psm")
    back = pickle.loads(pickle.dumps(model))
    assert np.array_equal(back.predict(X), model.predict(X))
    back.save(tmp_path / "n.psm")
    assert (tmp_path / "n.psm").read_bytes() == (tmp_path / "m.psm").read_bytes()


def test_logistic_regression_and_ours_find_the_same_direction():
    X, y = rows(4000)
    ours, theirs = parsimon.FTRLClassifier(passes=20).fit(X, y).coef_[0], LogisticRegression().fit(X, y).coef_[0]
    assert ours @ theirs / np.linalg.norm(ours) / np.linalg.norm(theirs) > 0.99


PROGRAM = os.environ.get("PARSIMON_PROGRAM")


@pytest.mark.skipif(PROGRAM is None, reason="PARSIMON_PROGRAM does not name the program")
def test_model_files_are_shared_with_the_program(tmp_path):
    X, y = rows()
    lines = [f"{2 * label - 1} " + " ".join(f"{j + 1}:{float(v)!r}" for j, v in enumerate(x)) for x, label in zip(X, y)]
    (tmp_path / "x.svm").write_text("\n".join(lines) + "\n")
    parsimon.FTRLClassifier(l1=0.5).fit(X, 2 * y - 1).save(tmp_path / "ours.psm")
    said = run("predict", "ours.psm", "x.svm", at=tmp_path)
    ours = parsimon.load(tmp_path / "ours.psm").predict_proba(X)[:, 1]
    assert np.allclose([float(line) for line in said.split()], ours, atol=1e-6)
    # And the other way round: the same stream, the same model.
    run("train", "x.svm", "-o", "theirs.psm", "-a", "ftrl", "--l1", "0.5", at=tmp_path)
    theirs = parsimon.load(tmp_path / "theirs.psm")
    mine = parsimon.FTRLClassifier(l1=0.5, precision=theirs.precision).partial_fit(X, 2 * y - 1, classes=[-1, 1])
    assert np.array_equal(theirs.coef_, mine.coef_) and np.array_equal(theirs.predict_proba(X), mine.predict_proba(X))


def run(*arguments, at):
    return subprocess.run([PROGRAM, *arguments], cwd=at, capture_output=True, text=True, check=True).stdout
