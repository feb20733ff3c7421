"""A user's program, for the type checker only: never run."""

from pathlib import Path
from typing import Any

import numpy as np
import parsimon
from numpy.typing import NDArray
from typing_extensions import assert_type


def learn(X: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    model = parsimon.FTRLClassifier(l1=0.1, passes=2, shuffle=False).fit(X, y, progress=True)
    model.learn_one({"age": 3.0, "city": "Rome"}, 1).learn_many([{"age": 1.0}], [0])
    probabilities: dict[object, float] = {}
    probabilities.update(model.predict_proba_one({"age": 2.0}))
    model.save(Path("model.psm"))
    names: list[tuple[str, float]] = model.top_weights(5)
    weights: NDArray[np.float64] = model.predict(X)
    return float(weights.mean()) + sum(weight for _, weight in names)


def choose(X: NDArray[np.float64], y: NDArray[np.float64]) -> dict[str, object]:
    found = parsimon.tune(parsimon.CSGDRegressor(), X, y, {"rate": "0.01..1:3"}, progress=False)
    parsimon.plot_path(found, "rate")
    best: float | None = found.best_loss
    assert best is not None
    return found.best_params


def hear(x: NDArray[np.float64], d: NDArray[np.float64]) -> NDArray[np.float64]:
    filter = parsimon.AdaptiveFilter("nlms", taps=16, settings={"rate": 0.5})
    error, weights = filter.run(x, d)
    return error[: len(weights)]


def serve(rows: list[dict[str, object]]) -> float:
    with parsimon.Client("http://127.0.0.1:8080/v1/models/m", token="t", timeout=5) as client:
        one: dict[str, object] = client.score(rows[0], explain=True)
        several: list[dict[str, object]] = client.score(rows)
        client.learn(rows, ack="visible")
        try:
            client.label({"id": "r1", "label": 1})
        except parsimon.ServiceError as error:
            return float(error.status + (error.row or 0))
        return float(len(several) + len(one))


def results_of_classes(X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
    # An expression of type Any fails assert_type.
    model = parsimon.FTRLClassifier().partial_fit(X, y, classes=[0, 1])
    assert_type(model, parsimon.FTRLClassifier)
    assert_type(model.coef_, NDArray[np.float64])
    assert_type(model.intercept_, NDArray[np.float64])
    assert_type(model.classes_, NDArray[Any])
    assert_type(model.n_iter_, int)
    assert_type(model.n_features_in_, int)
    assert_type(model.nonzeros_, int)
    assert_type(model.n_rows_, int)
    assert_type(model.progressive_loss_, float | None)
    assert_type(model.predict(X), NDArray[Any])
    assert_type(model.decision_function(X), NDArray[np.float64])
    assert_type(model.predict_proba(X), NDArray[np.float64])
    assert_type(model.predict_log_proba(X), NDArray[np.float64])
    assert_type(model.predict_proba_one({"age": 1.0}), dict[Any, float])
    assert_type(model.predict_proba_many([{"age": 1.0}]), NDArray[np.float64])
    assert_type(model.predict_proba_file("test.csv"), NDArray[np.float64])
    assert_type(model.sparsify(), parsimon.FTRLClassifier)
    assert_type(model.learn_file("train.csv"), parsimon.FTRLClassifier)
    assert_type(model.partial_fit_stream([(X, y)]), parsimon.FTRLClassifier)


def results_of_numbers(X: NDArray[np.float64], y: NDArray[np.float64]) -> None:
    model = parsimon.FTRLRegressor().partial_fit(X, y)
    assert_type(model, parsimon.FTRLRegressor)
    assert_type(model.coef_, NDArray[np.float64])
    assert_type(model.intercept_, float)
    assert_type(model.predict(X), NDArray[np.float64])
    assert_type(model.predict_one({"age": 1.0}), float)
    assert_type(model.predict_arrow(X), NDArray[np.float64])


def results_of_files() -> None:
    either = parsimon.load("model.psm")
    assert_type(either, parsimon.ParsimonClassifier | parsimon.ParsimonRegressor)
    assert_type(either.coef_, NDArray[np.float64])
    one = parsimon.load("model.psm", parsimon.ParsimonClassifier)
    assert_type(one, parsimon.ParsimonClassifier)
    assert_type(one.predict_proba(np.zeros((1, 2))), NDArray[np.float64])


def results_of_filters(x: NDArray[np.float64]) -> None:
    filter = parsimon.AdaptiveFilter("nlms", taps=16)
    assert_type(filter.partial(x, x), NDArray[np.float64])
    assert_type(filter.weights_, NDArray[np.float64])
