"""Adaptive filters over signals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from . import _parsimon
from ._base import _plain


def _revive_filter(spec: str, taps: int, relative: float, state: bytes) -> Any:
    """A filter from what is in a pickle."""
    filter = _parsimon.Filter(spec, taps, relative)
    filter.restore(state)
    return filter


class AdaptiveFilter(BaseEstimator):
    """A filter that hears a reference signal ``x`` and learns to predict the observed one ``d``.

    The last ``taps`` samples of ``x`` are the regressor. Signals are no tables of rows, so this is no estimator of ``fit`` and
    ``predict``: it has :meth:`run` and :meth:`partial`; parameters, ``clone`` and pickling are as everywhere.

    Parameters
    ----------
    algorithm
        one of lms, nlms, apa, papa, pnlms, ipnlms, apfbs, pda, rls
    taps
        the number of coefficients
    relative
        added to the normalizer as a share of the usual energy of a regressor; speech wants 0.01
    settings
        a dictionary of the method's own settings, such as ``{"rate": 0.5}``

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import AdaptiveFilter
    >>> x = np.random.default_rng(0).normal(size=2000)
    >>> d = 0.5 * x - 0.25 * np.concatenate([[0], x[:-1]])
    >>> e, w = AdaptiveFilter("nlms", taps=4).run(x, d)
    >>> np.abs(w - [0.5, -0.25, 0, 0]).max() < 1e-6
    True
    """

    def __init__(self, algorithm: str = "nlms", *, taps: int = 32, relative: float = 0.0, settings: dict[str, Any] | None = None):
        self.algorithm = algorithm
        self.taps = taps
        self.relative = relative
        self.settings = settings

    def run(self, x: Any, d: Any) -> tuple[np.ndarray, np.ndarray]:
        """Filters from the beginning: the error signal ``d - prediction``, and the weights at the end, the newest sample's first."""
        self._filter = self._build()
        return self.partial(x, d), self.weights_

    def partial(self, x: Any, d: Any) -> np.ndarray:
        """Filters on: the error signal of this block. Any cut of the signals into blocks gives the same bits."""
        if not hasattr(self, "_filter"):
            self._filter = self._build()
        return self._filter.push(_signal("x", x), _signal("d", d))

    @property
    def weights_(self) -> np.ndarray:
        """The coefficients, the newest sample's first."""
        return self._started().weights

    @property
    def resets_(self) -> int:
        """How often the filter ran away and began again from zero."""
        return self._started().resets

    def _started(self) -> Any:
        if not hasattr(self, "_filter"):
            raise AttributeError("the filter has heard nothing yet: use run or partial")
        return self._filter

    def _build(self) -> Any:
        spec = {"algorithm": self.algorithm}
        spec.update({name: _plain(value) for name, value in (self.settings or {}).items()})
        return _parsimon.Filter(json.dumps(spec), int(self.taps), float(self.relative))


def _signal(name: str, samples: Any) -> np.ndarray:
    samples = np.ascontiguousarray(samples, dtype=np.float64)
    if samples.ndim != 1:
        raise ValueError(f"{name} must be one signal, an array of one dimension, got {samples.ndim}")
    return samples
