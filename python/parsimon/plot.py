"""Pictures of models, with matplotlib, which is needed only here. Every function draws into ``ax`` and returns it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._base import _Parsimon
from ._tune import Trials

__all__ = ["plot_learning_curve", "plot_path", "plot_weights"]


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plots need matplotlib: pip install matplotlib") from None
    return plt.subplots()[1]


def plot_path(trials: Trials, setting: str = "l1", *, class_index: int = 0, most: int = 20, ax: Any = None) -> Any:
    """The weights over the values of a setting that ``tune`` varied: a regularization path.

    Only the ``most`` features with the largest weights anywhere on the path are drawn.
    """
    known = [t for t in trials.trials if setting in t.params and t.coef is not None]
    known.sort(key=lambda t: t.params[setting])
    if len(known) < 2:
        raise ValueError(f"a path needs two values of {setting!r}, and {len(known)} were tried")
    ax = _axes(ax)
    values = np.array([t.params[setting] for t in known], dtype=float)
    coefs = np.array([t.coef[class_index] for t in known])
    for j in np.argsort(-np.abs(coefs).max(axis=0), kind="stable")[:most]:
        if coefs[:, j].any():
            ax.plot(values, coefs[:, j], label=str(j))
    # Zero has no logarithm: near it the axis is linear.
    if (values > 0).any():
        ax.set_xscale("symlog" if values.min() <= 0 else "log", **({"linthresh": values[values > 0].min()} if values.min() <= 0 else {}))
    ax.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    ax.set(xlabel=setting, ylabel="weight")
    return ax


def plot_learning_curve(models: _Parsimon | Trials | Mapping[str, _Parsimon], *, recent: bool = False, ax: Any = None) -> Any:
    """The progressive loss over the rows learned: of one estimator, of several by name, or of the trials of ``tune`` and ``compare``.

    With ``recent`` the loss since the report before, which shows how a learner does now.
    """
    if isinstance(models, Trials):
        curves = {", ".join(f"{k}={v}" for k, v in t.params.items()): t.curve for t in models.trials}
    elif isinstance(models, Mapping):
        curves = {name: model.learning_curve_ for name, model in models.items()}
    else:
        curves = {type(models).__name__: models.learning_curve_}
    ax = _axes(ax)
    for name, points in curves.items():
        loss = [point["since_last" if recent else "average"] for point in points]
        ax.plot([point["rows"] for point in points], [np.nan if v is None else v for v in loss], label=name)
    ax.set(xscale="log", xlabel="rows", ylabel="progressive loss")
    ax.legend()
    return ax


def plot_weights(model: _Parsimon, *, count: int = 20, class_index: int = 0, ax: Any = None) -> Any:
    """The largest weights by magnitude, as bars with their names."""
    weights = model.top_weights(count, class_index)
    ax = _axes(ax)
    places = np.arange(len(weights))
    ax.barh(places, [w for _, w in weights], color=["#2b6cb0" if w > 0 else "#c05621" for _, w in weights])
    ax.set_yticks(places, [name for name, _ in weights])
    ax.invert_yaxis()
    ax.axvline(0, color="0.5", linewidth=0.8)
    ax.set(xlabel="weight")
    return ax
