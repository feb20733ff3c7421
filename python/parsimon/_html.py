"""What a notebook shows of a model that has learned: below scikit-learn's diagram, what came of it."""

from __future__ import annotations

from html import escape
from typing import Any

_SHOWN = 10


def summary(estimator: Any) -> str:
    """A small table and the largest weights, as bars."""
    native = estimator._learner
    loss = native.progressive_loss
    facts = [
        ("algorithm", estimator.settings_["algorithm"]),
        ("rows learned", f"{native.rows:,}"),
        ("nonzeros", f"{native.nonzeros:,}"),
        ("progressive loss", "" if loss is None else f"{loss:.6g} ({estimator.settings_['loss']})"),
    ]
    rows = "".join(f"<tr><th style='text-align:left'>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in facts)
    return f"<table class='parsimon'>{rows}</table>{_bars(estimator)}"


def _bars(estimator: Any) -> str:
    try:
        weights = estimator.top_weights(_SHOWN)
    except AttributeError:
        return ""
    if not weights:
        return ""
    largest = max(abs(weight) for _, weight in weights)
    bars = ""
    for name, weight in weights:
        color = "#2b6cb0" if weight > 0 else "#c05621"
        width = 120 * abs(weight) / largest
        bar = f"<div style='width:{width:.0f}px;height:0.8em;background:{color}'></div>"
        bars += f"<tr><td>{escape(name)}</td><td style='text-align:right'>{weight:.4g}</td><td>{bar}</td></tr>"
    return f"<table class='parsimon-weights'>{bars}</table>"
