"""One row at a time, weights laid out, and settings changed on the way."""

import json

import numpy as np
import parsimon
import pytest
import scipy.sparse as sp

RNG = np.random.default_rng(7)
DENSE = RNG.normal(size=(300, 12)) * (RNG.random((300, 12)) < 0.7)
Y = (DENSE[:, 0] + 0.3 * RNG.normal(size=300) > 0).astype(int)
METHODS = [row["name"] for row in json.loads(parsimon._parsimon.registry())]


@pytest.mark.parametrize("precision", ["f64", "f32"])
@pytest.mark.parametrize("algorithm", METHODS)
def test_laid_out_weights_predict_what_the_state_predicts(algorithm, precision):
    model = parsimon.ParsimonClassifier(algorithm, precision=precision)
    X = sp.csr_matrix(DENSE)
    try:
        model.partial_fit(X, Y, classes=[0, 1])
    except (AttributeError, ValueError) as error:
        pytest.skip(f"{algorithm} does not learn this stream: {error}")
    # One row has too few entries to lay the weights out.
    one_by_one = np.concatenate([model.decision_function(X[i]) for i in range(40)])
    assert np.array_equal(model.decision_function(X)[:40], one_by_one)
    # Learning makes them out of date.
    model.partial_fit(X[:100], 1 - Y[:100])
    again = np.concatenate([model.decision_function(X[i]) for i in range(40)])
    assert not np.array_equal(again, one_by_one)
    assert np.array_equal(model.decision_function(X)[:40], again)


@pytest.mark.parametrize("algorithm", ["ftrl", "rda"])
def test_rows_that_are_not_in_order(algorithm):
    model = parsimon.ParsimonClassifier(algorithm).partial_fit(sp.csr_matrix(DENSE), Y, classes=[0, 1])
    plain = model.decision_function(sp.csr_matrix(DENSE))
    X = sp.csr_matrix(DENSE)
    # The entries of every row the other way round, with a zero that is spelled out and an entry in two parts.
    rows = [X[i] for i in range(X.shape[0])]
    indices, data, indptr = [], [], [0]
    for row in rows:
        indices += [*row.indices[::-1], 11, *row.indices[:1]]
        data += [*row.data[::-1], 0.0, *(0.0 for _ in row.indices[:1])]
        indptr.append(len(indices))
    other = sp.csr_matrix((np.array(data), np.array(indices), np.array(indptr)), shape=X.shape)
    assert np.array_equal(model.decision_function(other), plain)
    assert np.array_equal(model.decision_function(DENSE), plain)
    for bad in (np.nan, np.inf):
        worse = X.copy()
        worse.data[-1] = bad
        with pytest.raises(ValueError, match="row 2"):
            model.decision_function(worse)


def rows_of(kind):
    rng = np.random.default_rng(3)
    names = [f"f{j}" for j in range(9)]
    for i in range(200):
        values = [float(v) for v in rng.normal(size=9)]
        if kind == "fixed":
            yield dict(zip(names, values))
        elif kind == "fresh":
            yield {f"f{j}": v for j, v in enumerate(values)}
        elif kind == "texts":
            yield {"city": f"c{i % 5}", "n": i % 3, "gone": None if i % 2 else 1.0, "nan": float("nan") if i % 3 else 2.0}
        else:
            yield {f"w{rng.integers(30)}": 1.0 for _ in range(6)}


@pytest.mark.parametrize("kind", ["fixed", "fresh", "texts", "words"])
def test_keys_that_are_remembered_change_nothing(kind):
    rows = list(rows_of(kind))
    labels = [bool(i % 3) for i in range(len(rows))]
    streamed, at_once = parsimon.FTRLClassifier(), parsimon.FTRLClassifier()
    for x, y in zip(rows, labels):
        if hasattr(streamed, "_learner"):
            streamed.predict_proba_one(x)
        streamed.learn_one(x, y)
    at_once.learn_many([dict(list(x.items())) for x in rows], np.array(labels))
    assert streamed._learner.checkpoint() == at_once._learner.checkpoint()
    assert streamed.top_weights() == at_once.top_weights()
    x = rows[-1]
    both = streamed.predict_proba_many([x])[0].tolist()
    assert list(streamed.predict_proba_one(x).values()) == both


def test_a_refused_row_leaves_no_names_behind():
    model = parsimon.FTRLClassifier(l1=0.0).learn_one({"a": 1.0}, True)
    for _ in range(2):
        with pytest.raises(ValueError, match="b"):
            model.learn_one({"a": 1.0, "b": float("inf")}, True)
    assert [name for name, _ in model.top_weights()] == ["a"]


def test_settings_that_are_changed_after_learning_are_not_ignored():
    model = parsimon.FTRLClassifier(l1=0.1).partial_fit(DENSE, Y, classes=[0, 1])
    model.set_params(l1=0.2)
    for learn in (
        lambda: model.partial_fit(DENSE, Y),
        lambda: model.learn_one({1: 1.0}, 1),
        lambda: model.learn_many([{1: 1.0}], [1]),
    ):
        with pytest.raises(ValueError, match=r"l1 was 0\.1 and is 0\.2"):
            learn()
    assert model.predict(DENSE).shape == (300,)
    model.set_params(l1=0.1).partial_fit(DENSE, Y)
    assert model.set_params(l1=0.2).fit(DENSE, Y).settings_["l1"] == 0.2
    model.partial_fit(DENSE, Y)


def test_names_of_others_are_answered():
    with pytest.raises(ValueError, match="is called 'logistic' here"):
        parsimon.FTRLClassifier(loss="log_loss").fit(DENSE, Y)
    with pytest.raises(FileNotFoundError):
        parsimon.load("no-such-file.psm")
    with pytest.raises(parsimon.BadRowError, match="row 0"):
        parsimon.FTRLClassifier().fit(DENSE, Y, sample_weight=np.full(300, -1.0))


def test_river_takes_any_labels():
    pytest.importorskip("river")
    from parsimon.river import Classifier

    rows = [{"x": float(i % 3)} for i in range(300)]
    named = Classifier("ftrl", classes=["a", "b", "c"], rate=0.5)
    grown = Classifier("ftrl", rate=0.5)
    for x in rows:
        for model in (named, grown):
            model.learn_one({f"x={x['x']}": 1.0}, "abc"[int(x["x"])], w=2.0)
    for model in (named, grown):
        assert [model.predict_one({f"x={v}.0": 1.0}) for v in range(3)] == ["a", "b", "c"]
        assert sum(model.predict_proba_one({"x=1.0": 1.0}).values()) == pytest.approx(1)
        with pytest.raises(TypeError, match="nothing else"):
            model.predict_one({"x=1.0": 1.0}, kind=1)
    with pytest.raises(ValueError, match="another kind"):
        grown.learn_one({"x": 1.0}, True)
