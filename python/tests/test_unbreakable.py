"""Odd values from other libraries, and calls that fail: always an exception of the right kind, and the estimator of before."""

import ctypes
import pickle

import numpy as np
import pandas as pd
import parsimon
import pyarrow as pa
import pytest
from parsimon import _parsimon
from scipy import sparse


class Offers:
    """Something with one of Arrow's methods."""

    def __init__(self, method, value):
        self.__dict__[method] = lambda requested_schema=None: value


def capsule(name):
    """A capsule of some name, around memory that is all zeros."""
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
    memory = ctypes.create_string_buffer(256)
    text = ctypes.create_string_buffer(name.encode())
    capsule.kept.append((memory, text))
    return new(ctypes.addressof(memory), ctypes.addressof(text), None)


capsule.kept = []


def learn(data):
    return parsimon.FTRLClassifier().learn_arrow(data, label="y")


@pytest.mark.parametrize("value", [None, 7, "arrow_array_stream", (1, 2), object()])
def test_a_stream_that_is_no_capsule(value):
    with pytest.raises(TypeError, match="__arrow_c_stream__ must return a capsule named arrow_array_stream"):
        learn(Offers("__arrow_c_stream__", value))


@pytest.mark.parametrize("value", [None, 7, (), (1,), (1, 2, 3)])
def test_an_array_that_is_no_pair(value):
    with pytest.raises(TypeError, match="two capsules"):
        learn(Offers("__arrow_c_array__", value))


def test_an_array_of_no_capsules():
    with pytest.raises(TypeError, match="a capsule named arrow_schema, got int"):
        learn(Offers("__arrow_c_array__", (1, 2)))
    with pytest.raises(TypeError, match="a capsule named arrow_array, got NoneType"):
        learn(Offers("__arrow_c_array__", (capsule("arrow_schema"), None)))


def test_capsules_of_another_name():
    with pytest.raises(ValueError, match="has another name"):
        learn(Offers("__arrow_c_stream__", capsule("arrow_schema")))
    with pytest.raises(ValueError, match="has another name"):
        learn(Offers("__arrow_c_array__", (capsule("arrow_array"), capsule("arrow_schema"))))


def test_capsules_that_were_never_filled():
    for data in (
        Offers("__arrow_c_stream__", capsule("arrow_array_stream")),
        Offers("__arrow_c_array__", (capsule("arrow_schema"), capsule("arrow_array"))),
    ):
        with pytest.raises(ValueError, match="the Arrow data is broken"):
            learn(data)


def test_capsules_that_are_used_twice():
    table = pa.table({"y": [0, 1], "a": [1.0, 2.0]})
    stream = Offers("__arrow_c_stream__", table.__arrow_c_stream__())
    learn(stream)
    with pytest.raises(ValueError, match="the Arrow data is broken"):
        learn(stream)
    batch = Offers("__arrow_c_array__", table.to_batches()[0].__arrow_c_array__())
    learn(batch)
    with pytest.raises(ValueError, match="the Arrow data is broken"):
        learn(batch)


def test_arrays_that_are_no_record_batches():
    with pytest.raises(TypeError, match="a record batch is wanted, not an array of Int64"):
        learn(Offers("__arrow_c_array__", pa.array([1, 2]).__arrow_c_array__()))
    rows = pa.array([{"y": 1, "a": 1.0}, None], pa.struct([("y", pa.int64()), ("a", pa.float64())]))
    with pytest.raises(ValueError, match="1 rows are"):
        learn(Offers("__arrow_c_array__", rows.__arrow_c_array__()))


class Grumpy:
    @property
    def __arrow_c_stream__(self):
        raise KeyError("not today")


def test_what_another_library_raises_is_passed_on():
    with pytest.raises(KeyError, match="not today"):
        learn(Grumpy())


X = np.random.default_rng(3).normal(size=(6, 3))
Y = np.array([0, 1, 0, 1, 1, 0])


@pytest.mark.parametrize("bad", [np.inf, -np.inf, np.nan, -1.0])
def test_weights_that_are_no_weights(bad):
    weights = np.ones(6)
    weights[4] = bad
    rows = [{"a": float(x)} for x in X[:, 0]]
    fitted = parsimon.FTRLClassifier().fit(X, Y)
    uses = [
        lambda: parsimon.FTRLClassifier().fit(X, Y, sample_weight=weights),
        lambda: parsimon.ParsimonClassifier().fit(sparse.csr_matrix(X), Y, sample_weight=weights),
        lambda: parsimon.FTRLRegressor().fit(X, Y, sample_weight=weights),
        lambda: fitted.partial_fit(X, Y, sample_weight=weights),
        lambda: parsimon.FTRLClassifier().learn_many(rows, Y, sample_weight=weights),
    ]
    for use in uses:
        with pytest.raises(parsimon.BadRowError, match="sample_weight must be a finite number >= 0") as caught:
            use()
        assert caught.value.row == 4
    with pytest.raises(ValueError, match="sample_weight must be a finite number >= 0"):
        parsimon.FTRLClassifier().learn_one({"a": 1.0}, 1, w=bad)
    with pytest.raises(ValueError):
        parsimon.tune(parsimon.FTRLClassifier(), X, Y, {"l1": [0, 1]}, sample_weight=weights)


def test_weights_whose_sum_is_infinite():
    weights = np.full(6, 1.5e308)
    model = parsimon.FTRLRegressor()
    try:
        model.fit(X, Y, sample_weight=weights)
    except ValueError:
        return
    assert np.isfinite(model.predict(X)).all()


def diverging(n):
    return np.full((n, 1), 1e3), np.ones(n)


def same(model, before):
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_partial_fit_that_diverges_leaves_the_estimator_as_it_was(precision):
    model = parsimon.LMSRegressor(rate=0.5, precision=precision)
    good = np.array([[0.5], [0.25], [1.0]])
    model.partial_fit(good, [1.0, 0.5, 2.0])
    twin = pickle.loads(pickle.dumps(model))
    for n in (60, 4000, 100_000):
        before = pickle.dumps(model)
        with pytest.raises(parsimon.DivergedError):
            model.partial_fit(*diverging(n))
        same(model, before)
    # It learns on as if nothing had happened.
    for estimator in (model, twin):
        estimator.partial_fit(good, [1.0, 0.5, 2.0])
    assert model.predict(good).tolist() == twin.predict(good).tolist()
    assert np.isfinite(model.coef_).all()


def test_a_first_partial_fit_that_diverges_leaves_nothing():
    model = parsimon.LMSRegressor(rate=1.0)
    before = dict(model.__dict__)
    with pytest.raises(parsimon.DivergedError):
        model.partial_fit(*diverging(4000))
    assert model.__dict__ == before


def test_rows_as_dictionaries_that_diverge_leave_the_estimator_as_it_was():
    model = parsimon.SGDRegressor(rate=1.0, schedule="constant")
    model.learn_one({"a": 0.5}, 1.0)
    before = pickle.dumps(model)
    with pytest.raises(parsimon.DivergedError):
        model.learn_many([{"a": 1e3, "new": 1.0}] * 4000, np.ones(4000))
    same(model, before)
    learned = 0
    with pytest.raises(parsimon.DivergedError):
        for _ in range(4000):
            before = pickle.dumps(model) if learned % 16 == 0 or learned > 40 else None
            model.learn_one({"a": 1e3}, 1.0)
            learned += 1
    assert learned > 0
    if before is not None:
        same(model, before)


def test_tables_that_diverge_leave_the_estimator_as_it_was(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:0.5\n2 2:0.25\n" * 10)
    model = parsimon.SGDRegressor(rate=1.0, schedule="constant").learn_file(path)
    before = pickle.dumps(model)
    path.write_text("1 1:1000 3:1\n" * 4000)
    for passes in (1, 3):
        with pytest.raises(parsimon.DivergedError):
            model.learn_file(path, passes=passes)
        same(model, before)
    # Columns of numbers are standardized: only the rate can make it diverge.
    frame = pd.DataFrame({"y": np.arange(20.0), "a": np.full(20, 0.5)})
    model = parsimon.SGDRegressor(rate=1e3, schedule="constant").learn_arrow(frame, label="y")
    before = pickle.dumps(model)
    wild = np.random.default_rng(1).normal(size=4000)
    with pytest.raises(parsimon.DivergedError):
        model.learn_arrow(pd.DataFrame({"y": wild, "a": wild}), label="y")
    same(model, before)


def test_many_small_calls_then_one_that_diverges():
    rng = np.random.default_rng(0)
    model = parsimon.LMSRegressor(rate=0.01)
    for _ in range(3000):
        x = rng.normal(size=(5, 20))
        model.partial_fit(x, x[:, 0])
    before = pickle.dumps(model)
    with pytest.raises(parsimon.DivergedError):
        model.partial_fit(np.full((3000, 20), 1e4), np.ones(3000))
    same(model, before)


def test_a_panic_is_an_exception():
    with pytest.raises(RuntimeError, match="internal error, please report it: words"):
        _parsimon._panic("words")
    assert _parsimon._panic("") is None
