"""tune, compare, filters, plots, pages of notebooks, examples in docstrings."""

import copy
import doctest
import pickle

import numpy as np
import parsimon
import parsimon._filter
import parsimon._learning
import parsimon._named
import parsimon._tune
import parsimon._weights
import parsimon.plot
import pytest
from sklearn.base import clone
from sklearn.utils import estimator_html_repr


def rows(n=2000, d=10, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n) > 0).astype(int)


# tune and compare


def test_every_trial_is_what_it_would_be_alone():
    X, y = rows()
    found = parsimon.tune(parsimon.FTRLClassifier(passes=1), X, y, {"l1": [0.0, 1.0, 30.0], "rate": [0.05, 0.5]})
    assert len(found.trials) == 6
    for trial in found.trials:
        alone = parsimon.FTRLClassifier(passes=1, **trial.params).fit(X, y)
        assert trial.loss == alone.progressive_loss_
        assert np.array_equal(trial.coef, alone.coef_)
        assert trial.nonzeros == alone.nonzeros_
    losses = [trial.loss for trial in found.trials]
    assert losses == sorted(losses)
    assert found.best_estimator.get_params()["rate"] == found.best_params["rate"]


def test_ranges_are_those_of_the_program():
    X, y = rows(200)
    found = parsimon.tune(parsimon.ParsimonClassifier("rda"), X, y, {"l1": "1e-4..1:5"})
    assert sorted(t.params["l1"] for t in found.trials) == [1e-4, 1e-3, 1e-2, 1e-1, 1.0]


def test_the_papers_names_are_known():
    X, y = rows(200)
    found = parsimon.tune(parsimon.FTRLClassifier(passes=1), X, y, {"lambda": "0.1..10:3", "alpha": [0.05, 0.5]})
    assert sorted({t.params["lambda"] for t in found.trials}) == [0.1, 1.0, 10.0]
    best = found.best_estimator.get_params()
    assert (best["l1"], best["rate"]) == (found.best_params["lambda"], found.best_params["alpha"])
    assert parsimon.ParsimonClassifier("rda").set_params(eta=0.3, lambda1=2.0).get_params()["rate"] == 0.3
    # Where a method has a setting of that name, it is that setting.
    pda = parsimon.ParsimonRegressor("pda").set_params(alpha=0.25)
    assert pda.get_params()["metric_alpha"] == 0.25
    with pytest.raises(ValueError, match="given twice"):
        parsimon.FTRLClassifier().set_params(rate=0.1, eta=0.2)


def test_classes_and_weights_count():
    X, y = rows(300)
    y3 = y + (X[:, 2] > 1)
    found = parsimon.tune(parsimon.FTRLClassifier(passes=1), X, y3, {"l1": [0.0, 1.0]}, sample_weight=np.full(300, 2.0))
    alone = parsimon.FTRLClassifier(passes=1, **found.best_params).fit(X, y3, np.full(300, 2.0))
    assert found.best_loss == alone.progressive_loss_ and found.loss == "error"


def test_methods_are_compared_on_the_same_rows():
    X, y = rows()
    found = parsimon.compare({"a": parsimon.FTRLClassifier(passes=1), "b": parsimon.RDAClassifier(passes=1, l1=0.01)}, X, y)
    for trial in found.trials:
        make = parsimon.FTRLClassifier if trial.params["estimator"] == "a" else lambda **k: parsimon.RDAClassifier(l1=0.01, **k)
        assert trial.loss == make(passes=1).fit(X, y).progressive_loss_
    assert "estimator" in str(found) and "<table>" in found._repr_html_()
    assert list(found.to_pandas()["estimator"]) == [t.params["estimator"] for t in found.trials]


def test_what_cannot_be_compared_or_varied_is_told():
    X, y = rows(100)
    with pytest.raises(ValueError, match="losses of different kinds"):
        parsimon.compare([parsimon.FTRLClassifier(), parsimon.FTRLClassifier(loss="hinge")], X, y)
    with pytest.raises(ValueError, match="no setting 'l3'"):
        parsimon.tune(parsimon.FTRLClassifier(), X, y, {"l3": [1]})
    with pytest.raises(ValueError, match="l1 must be"):
        parsimon.tune(parsimon.FTRLClassifier(), X, y, {"l1": [-1.0]})
    with pytest.raises(ValueError, match="nothing to compare"):
        parsimon.compare([], X, y)


def test_one_that_runs_away_comes_last():
    X, y = rows()
    found = parsimon.tune(parsimon.LMSRegressor(passes=1), X * 100, y.astype(float), {"rate": [10.0, 1e-6]})
    assert found.best_params == {"rate": 1e-6} and "diverged" in found.trials[1].stopped


# Filters


def signals(n=4000):
    x = np.random.default_rng(0).normal(size=n)
    return x, np.convolve(x, [0.5, 0.0, -0.25, 0.1])[:n]


FILTERS = ["lms", "nlms", "apa", "papa", "pnlms", "ipnlms", "apfbs", "pda", "rls"]


@pytest.mark.parametrize("algorithm", FILTERS)
def test_a_filter_finds_the_system(algorithm):
    x, d = signals()
    settings = {"lms": {"rate": 0.02}, "apfbs": {"l1": 1e-4}, "pda": {"l1": 1e-3}}.get(algorithm)
    e, w = parsimon.AdaptiveFilter(algorithm, taps=8, settings=settings).run(x, d)
    assert e.shape == d.shape and np.mean(e[-500:] ** 2) < 1e-3 * np.mean(d**2)
    assert np.allclose(w[:4], [0.5, 0.0, -0.25, 0.1], atol=0.02)


@pytest.mark.parametrize("algorithm", FILTERS)
def test_blocks_and_pickles_change_no_bit(algorithm):
    x, d = signals(1000)
    whole, _ = parsimon.AdaptiveFilter(algorithm, taps=8).run(x, d)
    cut, parts = parsimon.AdaptiveFilter(algorithm, taps=8), []
    for i in range(0, 1000, 77):
        parts.append(cut.partial(x[i : i + 77], d[i : i + 77]))
        cut = pickle.loads(pickle.dumps(cut)) if i % 2 else copy.deepcopy(cut)
    assert np.array_equal(np.concatenate(parts), whole)


def test_nlms_is_its_formula():
    x, d = signals(300)
    w, line, errors = np.zeros(4), np.zeros(4), []
    for now, wanted in zip(x, d):
        line = np.concatenate([[now], line[:-1]])
        e = wanted - w @ line
        w = w + 0.5 * e * line / (line @ line + 1e-5)
        errors.append(e)
    e, found = parsimon.AdaptiveFilter("nlms", taps=4, settings={"rate": 0.5, "delta": 1e-5}).run(x, d)
    assert np.allclose(e, errors, atol=1e-10) and np.allclose(found, w, atol=1e-10)


def test_a_bad_sample_changes_nothing():
    x, d = signals(100)
    model = parsimon.AdaptiveFilter(taps=4)
    model.partial(x, d)
    before = model.weights_.tobytes()
    with pytest.raises(ValueError, match="d is no number at sample 7"):
        model.partial(x, np.where(np.arange(100) == 7, np.nan, d))
    with pytest.raises(ValueError, match="x has 100 samples and d 99"):
        model.partial(x, d[:-1])
    assert model.weights_.tobytes() == before
    with pytest.raises(ValueError, match="does not filter signals"):
        parsimon.AdaptiveFilter("ftrl").run(x, d)
    assert clone(model).get_params() == model.get_params() and not hasattr(clone(model), "weights_")


def test_what_cannot_be_is_refused_when_a_filter_is_made():
    for arguments, settings in ((["nlsm"], None), (["ftrl"], None), (["nlms"], {"raet": 0.5}), (["nlms"], {"rate": -1})):
        with pytest.raises(ValueError):
            parsimon.AdaptiveFilter(*arguments, settings=settings)


# Pictures and pages


def test_plots():
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    X, y = rows()
    found = parsimon.tune(parsimon.FTRLClassifier(passes=1), X, y, {"l1": [0.0, 1.0, 10.0, 100.0]})
    lines = parsimon.plot_path(found).get_lines()
    path = {line.get_label(): line.get_ydata() for line in lines}
    assert len(path["0"]) == 4 and path["0"][0] > path["0"][-1]
    curve = parsimon.plot_learning_curve(found).get_lines()
    assert len(curve) == 4 and curve[0].get_xdata()[-1] == 2000
    model = found.best_estimator
    assert parsimon.plot_learning_curve(model).get_lines()[0].get_ydata()[-1] == model.progressive_loss_
    bars = parsimon.plot_weights(model, count=3).patches
    assert [bar.get_width() for bar in bars] == [w for _, w in model.top_weights(3)]
    with pytest.raises(ValueError, match="two values of 'rate'"):
        parsimon.plot_path(found, "rate")
    plt.close("all")


def test_the_page_of_a_notebook():
    X, y = rows()
    model = parsimon.FTRLClassifier()
    assert "parsimon-weights" not in model._repr_html_()
    model.fit(X, y)
    page = model._repr_html_()
    assert "20,000" in page and "progressive loss" in page and "parsimon-weights" in page
    assert model._repr_mimebundle_()["text/html"].count("parsimon-weights") == page.count("parsimon-weights") == 1
    assert "FTRLClassifier" in estimator_html_repr(model)
    named = parsimon.FTRLClassifier().learn_many([{"<b>": 1}, {"a": 1}] * 9, [1, 0] * 9)
    assert "&lt;b&gt;" in named._repr_html_() and "<td><b>" not in named._repr_html_()
    kernel = parsimon.MultiKernelPDARegressor(passes=1).fit(X[:50], y[:50])
    assert "nonzeros" in kernel._repr_html_() and not hasattr(kernel, "coef_")


@pytest.mark.parametrize("module", [parsimon._classifier, parsimon._files, parsimon._filter, parsimon._learning, parsimon._named, parsimon._regressor, parsimon._tune, parsimon._weights, parsimon.plot], ids=lambda m: m.__name__)
def test_examples_in_docstrings(module):
    assert doctest.testmod(module).failed == 0
