"""Many settings in one pass: ``tune`` varies the settings of one method, ``compare`` sets methods side by side."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from sklearn.base import clone

from . import _parsimon
from ._base import _RENAMED, _native, _Parsimon, _plain, _rows_of
from ._classifier import Classifier
from ._progress import bar


@dataclass
class Trial:
    """One setting and how it did. ``loss`` is the average loss of predictions made before learning each row."""

    params: dict[str, Any]
    loss: float | None
    nonzeros: int
    rows: int
    stopped: str | None
    curve: list[dict[str, Any]] = field(repr=False)
    coef: Any = field(repr=False, default=None)


@dataclass
class Trials:
    """What ``tune`` and ``compare`` found; the best trial first."""

    trials: list[Trial]
    best_estimator: Any
    loss: str

    @property
    def best_params(self) -> dict[str, Any]:
        """The settings of the best trial."""
        return self.trials[0].params

    @property
    def best_loss(self) -> float | None:
        """Its progressive loss."""
        return self.trials[0].loss

    def to_pandas(self) -> Any:
        """The trials as a data frame."""
        import pandas as pd

        return pd.DataFrame(
            [{**t.params, self.loss: t.loss, "nonzeros": t.nonzeros, "rows": t.rows, "stopped": t.stopped} for t in self.trials]
        )

    def __str__(self) -> str:
        head = [*self._names(), self.loss, "nonzeros", ""]
        lines = [head] + [self._cells(trial) for trial in self.trials]
        widths = [max(len(line[k]) for line in lines) for k in range(len(head))]
        return "\n".join("  ".join(cell.rjust(w) for cell, w in zip(line, widths)).rstrip() for line in lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(n)}</th>" for n in [*self._names(), self.loss, "nonzeros", ""])
        cells = ("".join(f"<td>{escape(c)}</td>" for c in self._cells(t)) for t in self.trials)
        return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"

    def _names(self) -> list[str]:
        return list(dict.fromkeys(name for trial in self.trials for name in trial.params))

    def _cells(self, trial: Trial) -> list[str]:
        loss = "" if trial.loss is None else f"{trial.loss:.6f}"
        return [str(trial.params.get(n, "")) for n in self._names()] + [loss, f"{trial.nonzeros:,}", trial.stopped or ""]


def tune(
    estimator: _Parsimon,
    X: Any,
    y: Any,
    grid: Mapping[str, Any],
    *,
    sample_weight: Any = None,
    passes: int = 1,
    give_up: bool = False,
    threads: int = 1,
    progress: bool = False,
) -> Trials:
    """Learns every point of a grid of settings in one pass over the rows and keeps each one's progressive loss.

    The values of a setting are a list, or a range as the program has it: ``"1e-4..1:5"`` is five values evenly in the logarithm.
    Rows come in the order of ``fit``. With ``give_up`` settings that fall far behind stop early. The best estimator is
    fitted anew with the settings found.

    >>> import numpy as np
    >>> from parsimon import FTRLClassifier, tune
    >>> X = np.random.default_rng(0).normal(size=(500, 10))
    >>> found = tune(FTRLClassifier(passes=1), X, X[:, 0] > 0, {"l1": [0.0, 1.0, 1000.0]})
    >>> [trial.params for trial in found.trials][-1]
    {'l1': 1000.0}
    >>> found.best_estimator.score(X, X[:, 0] > 0) > 0.9
    True
    """
    own = {name: estimator._own_name(name) for name in grid}
    names = {name: _RENAMED.get(ours, ours) for name, ours in own.items()}
    unknown = [name for name in grid if own[name] not in estimator._settings]
    if unknown:
        raise ValueError(f"{type(estimator).__name__} has no setting {unknown[0]!r}; it has {', '.join(estimator._settings)}")
    candidates: list[dict[str, Any]] = [{}]
    for name, values in grid.items():
        listed = _values(estimator, names[name], values)
        candidates = [{**candidate, name: value} for candidate in candidates for value in listed]
    estimators = [clone(estimator).set_params(**candidate) for candidate in candidates]
    return _contest(estimators, candidates, X, y, sample_weight, passes, give_up, threads, progress)


def compare(
    estimators: Iterable[_Parsimon] | Mapping[str, _Parsimon],
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    passes: int = 1,
    threads: int = 1,
    progress: bool = False,
) -> Trials:
    """Sets estimators side by side on the same rows in the same order, by their progressive loss.

    All must be classifiers or all regressors, with the same loss: losses of other kinds cannot be compared.

    >>> import numpy as np
    >>> from parsimon import FTRLClassifier, RDAClassifier, compare
    >>> X = np.random.default_rng(0).normal(size=(500, 10))
    >>> found = compare([FTRLClassifier(), RDAClassifier()], X, X[:, 0] > 0)
    >>> sorted(trial.params["estimator"] for trial in found.trials)
    ['FTRLClassifier', 'RDAClassifier']
    """
    if isinstance(estimators, Mapping):
        names, models = list(estimators), list(estimators.values())
    else:
        models = list(estimators)
        names = [type(model).__name__ for model in models]
        if len(set(names)) < len(names):
            names = [f"{name} {k + 1}" for k, name in enumerate(names)]
    if not models:
        raise ValueError("there is nothing to compare")
    losses = dict.fromkeys(str(model._resolved()[0]["loss"]) for model in models)
    if len(losses) > 1:
        raise ValueError(f"losses of different kinds cannot be compared: {', '.join(losses)}")
    frames = [model._frame() for model in models]
    if any(frame != frames[0] for frame in frames):
        raise ValueError("all must have the same precision, and all a bias or none")
    params = [{"estimator": name} for name in names]
    return _contest([clone(m) for m in models], params, X, y, sample_weight, passes, False, threads, progress)


def _values(estimator: _Parsimon, name: str, values: Any) -> list[Any]:
    if not isinstance(values, str):
        return [_plain(value) for value in values]
    spec = {"algorithm": estimator._algorithm or estimator.algorithm}
    return [json.loads(text)[name] for text in _parsimon.expand(json.dumps(spec), [f"{name}={values}"])]


def _contest(
    estimators: list[Any],
    params: list[dict[str, Any]],
    X: Any,
    y: Any,
    sample_weight: Any,
    passes: int,
    give_up: bool,
    threads: int,
    progress: bool,
) -> Trials:
    if not isinstance(passes, int) or passes < 1:
        raise ValueError(f"passes must be a whole number >= 1, got {passes!r}")
    judge = clone(estimators[0])
    rows, labels = judge._rows_and_labels(X, y, reset=True)
    weights = judge._weights_of(sample_weight, rows)
    if isinstance(judge, Classifier):
        judge._set_classes(np.unique(labels))
        codes, texts = judge._codes(labels), judge._texts()
    else:
        codes, texts = np.ascontiguousarray(labels, dtype=np.float64), []
    count = rows.shape[0] if weights is None else _rows_of(weights)
    specs = [e._complete(texts) for e in estimators]
    found = {"classes": texts, "dimension": rows.shape[1], "rows": count * passes}
    sweep = _parsimon.Sweep(specs, threads=threads, give_up=give_up, **found, **judge._frame())
    with bar(progress, rows.shape[0] * passes) as tick:
        sweep.learn(_native(rows), codes, weights, passes, judge._seed() if judge.shuffle else None, tick)
    trials = []
    for k, (standing, own) in enumerate(zip(json.loads(sweep.standings()), params)):
        heads = sweep.weights(k)
        coef = None if heads is None else _dense(heads, rows.shape[1])
        trials.append(
            Trial(own, standing["loss"], standing["nonzeros"], standing["rows"], standing["stopped"], standing["curve"]["points"], coef)
        )
    # Those that stopped come last; equals in the order given.
    order = sorted(range(len(trials)), key=lambda k: (trials[k].stopped is not None, _or_infinite(trials[k].loss)))
    if trials[order[0]].stopped is not None:
        raise ValueError(f"no setting could learn: {trials[order[0]].stopped}")
    best = estimators[order[0]].fit(X, y, sample_weight)
    return Trials([trials[k] for k in order], best, json.loads(sweep.standings())[0]["curve"]["loss"])


def _or_infinite(loss: float | None) -> float:
    return float("inf") if loss is None else loss


def _dense(heads: list[Any], columns: int) -> np.ndarray:
    coef = np.zeros((len(heads), columns))
    for row, (_, ids, weights) in zip(coef, heads):
        row[ids.astype(np.int64) - 1] = weights
    return coef
