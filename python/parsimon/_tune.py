"""Many settings in one pass: ``tune`` varies the settings of one method, ``compare`` sets methods side by side."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from . import _parsimon
from ._arrays import _native, _rows_of
from ._base import _Parsimon
from ._classifier import Classifier
from ._progress import bar
from ._settings import _RENAMED, _plain

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline


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
    estimator: _Parsimon | Pipeline,
    X: Any,
    y: Any,
    grid: Mapping[str, Any],
    *,
    sample_weight: Any = None,
    passes: int = 1,
    give_up: bool = False,
    threads: int = 1,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Trials:
    """Learns every point of a grid of settings in one pass over the rows and keeps each one's progressive loss.

    The values of a setting are a list, or a range as the program has it: ``"1e-4..1:5"`` is five values evenly in the logarithm.
    Rows come in the order of ``fit``. With ``give_up`` settings that fall far behind stop early. The best estimator is
    fitted anew with the settings found.

    A pipeline that ends with one of our estimators is tuned by the settings of that step, with or without the name of the step
    (``l1`` or ``ftrlclassifier__l1``). Its transformers are fitted once, to all rows. ``n_jobs`` is another name of ``threads``, with -1
    for all processors; the result does not depend on it.

    >>> import numpy as np
    >>> from parsimon import FTRLClassifier, tune
    >>> X = np.random.default_rng(0).normal(size=(500, 10))
    >>> found = tune(FTRLClassifier(passes=1), X, X[:, 0] > 0, {"l1": [0.0, 1.0, 1000.0]})
    >>> [trial.params for trial in found.trials][-1]
    {'l1': 1000.0}
    >>> found.best_estimator.score(X, X[:, 0] > 0) > 0.9
    True
    """
    before, step, last = _parts(estimator, "tune")
    grid = {_of_step(name, step): values for name, values in grid.items()}
    own = {name: last._own_name(name) for name in grid}
    names = {name: _RENAMED.get(ours, ours) for name, ours in own.items()}
    unknown = [name for name in grid if own[name] not in last._settings]
    if unknown:
        raise ValueError(f"{type(last).__name__} has no setting {unknown[0]!r}; it has {', '.join(last._settings)}")
    candidates: list[dict[str, Any]] = [{}]
    for name, values in grid.items():
        listed = _values(last, names[name], values)
        candidates = [{**candidate, name: value} for candidate in candidates for value in listed]
    estimators = [clone(last).set_params(**{last._own_name(name, candidate.get('algorithm')): value for name, value in candidate.items()}) for candidate in candidates]
    rows = X if before is None else clone(before).fit_transform(X, y)
    trials, loss = _contest(estimators, candidates, rows, y, sample_weight, passes, give_up, _threads(threads, n_jobs), progress)
    order = _ranked(trials)
    found = estimators[order[0]] if step is None else _with_last(clone(estimator), estimators[order[0]])
    return Trials([trials[k] for k in order], _refitted(found, step, X, y, sample_weight), loss)


def compare(
    estimators: Iterable[_Parsimon | Pipeline] | Mapping[str, _Parsimon | Pipeline],
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    passes: int = 1,
    threads: int = 1,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Trials:
    """Sets estimators side by side on the same rows in the same order, by their progressive loss.

    All must be classifiers or all regressors, with the same loss: losses of other kinds cannot be compared. A pipeline that ends with one
    of our estimators learns the rows that its transformers make, fitted once to all rows, and their order is that of ``fit`` for these rows.

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
        names = [type(_parts(model, "compare")[2]).__name__ for model in models]
        if len(set(names)) < len(names):
            names = [f"{name} {k + 1}" for k, name in enumerate(names)]
    if not models:
        raise ValueError("there is nothing to compare")
    parts = [_parts(model, "compare") for model in models]
    losses = dict.fromkeys(str(last._resolved()[0]["loss"]) for _, _, last in parts)
    if len(losses) > 1:
        raise ValueError(f"losses of different kinds cannot be compared: {', '.join(losses)}")
    frames = [last._frame() for _, _, last in parts]
    if any(frame != frames[0] for frame in frames):
        raise ValueError("all must have the same precision, and all a bias or none")
    trials: dict[int, Trial] = {}
    loss = ""
    # Those without transformers share the pass over the rows.
    plain = [k for k, (before, _, _) in enumerate(parts) if before is None]
    for group in [plain, *([k] for k in range(len(models)) if k not in plain)]:
        if not group:
            continue
        before = parts[group[0]][0]
        rows = X if before is None else clone(before).fit_transform(X, y)
        params = [{"estimator": names[k]} for k in group]
        lasts = [clone(parts[k][2]) for k in group]
        found, loss = _contest(lasts, params, rows, y, sample_weight, passes, False, _threads(threads, n_jobs), progress)
        trials.update(zip(group, found))
    every = [trials[k] for k in range(len(models))]
    order = _ranked(every)
    best = _refitted(clone(models[order[0]]), parts[order[0]][1], X, y, sample_weight)
    return Trials([every[k] for k in order], best, loss)


def _parts(estimator: Any, what: str) -> tuple[Pipeline | None, str | None, _Parsimon]:
    """The transformers of a pipeline, the name of its last step, and the last step; an estimator of ours is a last step alone."""
    from sklearn.pipeline import Pipeline

    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        before = estimator[:-1] if len(estimator.steps) > 1 else None
    else:
        step, last, before = None, estimator, None
    if not isinstance(last, _Parsimon):
        raise TypeError(f"{what} takes estimators of parsimon and pipelines that end with one, got {type(last).__name__}")
    return before, step, last


def _of_step(name: str, step: str | None) -> str:
    """The name of a setting without the name of the last step of a pipeline."""
    prefix, separator, setting = name.partition("__")
    if step is None or not separator:
        return name
    if prefix != step:
        raise ValueError(f"{name!r} is no setting of the last step, {step!r}; tune varies that step only, GridSearchCV the others")
    return setting


def _with_last(pipeline: Pipeline, last: Any) -> Pipeline:
    pipeline.steps[-1] = (pipeline.steps[-1][0], last)
    return pipeline


def _refitted(estimator: Any, step: str | None, X: Any, y: Any, sample_weight: Any) -> Any:
    if step is None:
        return estimator.fit(X, y, sample_weight)
    weights = {} if sample_weight is None else {f"{step}__sample_weight": sample_weight}
    return estimator.fit(X, y, **weights)


def _threads(threads: int, n_jobs: int | None) -> int:
    if n_jobs is None:
        return threads
    if threads != 1:
        raise ValueError("threads and n_jobs are two names of one number: pass one of them")
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0:
        raise ValueError(f"n_jobs must be a whole number other than 0, got {n_jobs!r}")
    # As joblib has it: -1 is all processors, -2 all but one.
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def _ranked(trials: list[Trial]) -> list[int]:
    """The places of the trials, the best first. Those that stopped come last; equals in the order given."""
    order = sorted(range(len(trials)), key=lambda k: (trials[k].stopped is not None, _or_infinite(trials[k].loss)))
    if trials[order[0]].stopped is not None:
        raise ValueError(f"no setting could learn: {trials[order[0]].stopped}")
    return order


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
) -> tuple[list[Trial], str]:
    """The trials in the order given, and the name of their loss."""
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
    return trials, json.loads(sweep.standings())[0]["curve"]["loss"]


def _or_infinite(loss: float | None) -> float:
    return float("inf") if loss is None else loss


def _dense(heads: list[Any], columns: int) -> np.ndarray:
    coef = np.zeros((len(heads), columns))
    for row, (_, ids, weights) in zip(coef, heads):
        row[ids.astype(np.int64) - 1] = weights
    return coef
