"""A user's program, for the type checker only: never run."""

from pathlib import Path

import numpy as np
import parsimon
from numpy.typing import NDArray


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
