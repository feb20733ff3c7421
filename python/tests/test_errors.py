"""Which exception is raised for what, and what it carries."""

import gzip
import os
import pickle

import numpy as np
import pandas as pd
import parsimon
import pytest


def fitted():
    X = np.random.default_rng(0).normal(size=(50, 4))
    return parsimon.FTRLClassifier().fit(X, X[:, 0] > 0)


@pytest.mark.parametrize(
    "use",
    [
        parsimon.load,
        lambda path: parsimon.FTRLClassifier().learn_file(path),
        lambda path: parsimon.FTRLClassifier().learn_file(path, classes=[0, 1]),
        lambda path: parsimon.FTRLRegressor().learn_file(path),
        lambda path: fitted().predict_file(path),
    ],
)
def test_a_missing_file(use, tmp_path):
    path = tmp_path / "nowhere.csv"
    with pytest.raises(FileNotFoundError, match="nowhere.csv") as caught:
        use(path)
    assert caught.value.filename == str(path) and caught.value.errno == 2


def test_a_folder_instead_of_a_file(tmp_path):
    for use in (parsimon.load, parsimon.FTRLClassifier().learn_file, fitted().save, fitted().save_checkpoint):
        with pytest.raises(IsADirectoryError) as caught:
            use(tmp_path)
        assert caught.value.filename == str(tmp_path)


def test_a_folder_that_is_not_there(tmp_path):
    for use in (fitted().save, fitted().save_checkpoint):
        with pytest.raises(FileNotFoundError):
            use(tmp_path / "nowhere" / "model.psm")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path):
    path = tmp_path / "secret.svm"
    path.write_text("1 1:1\n")
    path.chmod(0)
    for use in (parsimon.load, parsimon.FTRLRegressor().learn_file):
        with pytest.raises(PermissionError):
            use(path)


def test_a_file_that_is_none_of_ours_or_damaged(tmp_path):
    (tmp_path / "text").write_text("hello, world")
    with pytest.raises(ValueError, match="not a parsimon model or checkpoint"):
        parsimon.load(tmp_path / "text")
    fitted().save_checkpoint(tmp_path / "whole.psc")
    (tmp_path / "cut.psc").write_bytes((tmp_path / "whole.psc").read_bytes()[:-9])
    with pytest.raises(ValueError, match="damaged or cut short"):
        parsimon.load(tmp_path / "cut.psc")
    whole = gzip.compress(b"1 1:1\n-1 2:1\n" * 1000)
    (tmp_path / "cut.svm.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"cut\.svm\.gz"):
        parsimon.FTRLClassifier().learn_file(tmp_path / "cut.svm.gz")


def test_a_bad_row_of_a_text_file_has_its_place(tmp_path):
    path = tmp_path / "bad.svm"
    path.write_text("1 1:1\n-1 2:rubbish\n")
    with pytest.raises(parsimon.BadRowError, match=r"bad\.svm:2:6: ") as caught:
        parsimon.FTRLClassifier().learn_file(path, classes=[-1, 1])
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.row, error.column, error.field, error.path, error.token) == (2, 6, None, str(path), "rubbish")


def test_a_bad_row_of_a_table_has_its_column(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("y,age\n1,30\n2,40\n")
    with pytest.raises(parsimon.BadRowError) as caught:
        parsimon.FTRLClassifier().learn_file(path, classes=[0, 1])
    error = caught.value
    assert (error.row, error.column, error.field, error.path, error.token) == (3, 1, "y", str(path), "2")
    frame = pd.DataFrame({"y": [0, 1, 1], "age": [1.0, np.inf, 2.0]})
    with pytest.raises(parsimon.BadRowError) as caught:
        parsimon.FTRLClassifier().learn_arrow(frame, label="y")
    error = caught.value
    assert (error.row, error.column, error.field, error.path) == (2, None, "age", None)


def test_a_bad_row_of_an_array_has_its_place():
    X, y = np.ones((3, 2)), np.array([0, 1, 0])
    X[2, 1] = np.nan
    for use in (lambda: parsimon.FTRLClassifier().fit(X, y), lambda: parsimon.FTRLClassifier().fit(X[:2], y[:2]).predict(X)):
        with pytest.raises(parsimon.BadRowError) as caught:
            use()
        assert (caught.value.row, caught.value.column, caught.value.path) == (2, 1, None)
    with pytest.raises(parsimon.BadRowError, match="at row 1") as caught:
        parsimon.FTRLRegressor(loss="poisson").fit(X[:2], [1.0, -1.0])
    assert caught.value.row == 1


def test_a_bad_row_of_a_list_has_its_place():
    rows = [{"a": 1.0}, {"a": float("inf")}]
    for use in (lambda: parsimon.FTRLClassifier().learn_many(rows, [0, 1]), lambda: fitted_by_name().predict_many(rows)):
        with pytest.raises(parsimon.BadRowError) as caught:
            use()
        assert (caught.value.row, caught.value.field) == (1, "a")


def fitted_by_name():
    return parsimon.FTRLClassifier().learn_one({"a": 1.0}, 1)


def test_what_runs_away_has_its_row():
    model = parsimon.LMSRegressor(rate=1.0)
    X = np.full((4000, 1), 1e3)
    with pytest.raises(parsimon.DivergedError, match="diverged") as caught:
        model.partial_fit(X, np.ones(4000))
    error = caught.value
    assert isinstance(error, ArithmeticError) and isinstance(error, ValueError)
    assert 1 < error.row < 4000 and f"at row {error.row}" in str(error)


def test_settings_and_types():
    X, y = np.ones((2, 1)), [0, 1]
    with pytest.raises(ValueError, match="l1"):
        parsimon.FTRLClassifier(l1=-1).fit(X, y)
    with pytest.raises(ValueError, match="no column"):
        parsimon.FTRLClassifier().learn_arrow(pd.DataFrame({"a": [1.0], "b": [2.0]}), label="y")
    with pytest.raises(TypeError):
        parsimon.load(7)
    with pytest.raises(TypeError):
        parsimon.FTRLClassifier().learn_file(7)
    with pytest.raises(TypeError):
        parsimon.FTRLClassifier().learn_one({"a": object()}, 1)


def test_errors_survive_a_pickle():
    bad = parsimon.BadRowError("words", row=3, column=4, field="age", path="a.csv", token="x")
    for error in (bad, parsimon.DivergedError("words", row=3)):
        twin = pickle.loads(pickle.dumps(error))
        assert type(twin) is type(error) and twin.__dict__ == error.__dict__ and str(twin) == "words"


def test_a_learner_beyond_the_budget_is_a_memory_error():
    before = parsimon.memory_budget()
    parsimon.set_memory_budget("64MB")
    try:
        assert parsimon.memory_budget() == 64_000_000
        rows = np.ones((4, 3))
        with pytest.raises(MemoryError, match="4294967295 features needs .* the budget is 64 MB"):
            parsimon.PAPAClassifier(dimension=2**32 - 1).partial_fit(rows, [0, 1, 0, 1], classes=[0, 1])
        parsimon.PAPAClassifier(dimension=10).partial_fit(rows, [0, 1, 0, 1], classes=[0, 1])
    finally:
        parsimon.set_memory_budget(before)
    for bad in ["4 apples", "-1", 0]:
        with pytest.raises(ValueError):
            parsimon.set_memory_budget(bad)
