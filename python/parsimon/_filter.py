"""Adaptive filters over signals."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import _parsimon
from ._regressor import Regressor
from ._settings import _plain
from ._typing import Floats


def _revive_filter(spec: str, taps: int, relative: float, state: bytes) -> Any:
    """A filter from what is in a pickle."""
    filter = _parsimon.Filter(spec, taps, relative)
    filter.restore(state)
    return filter


class AdaptiveFilter(Regressor):
    """A filter that hears a reference signal ``x`` and learns to predict the observed one ``d``.

    :meth:`run` and :meth:`partial` take signals: the last ``taps`` samples of ``x`` are the regressor. The method does not know who brings
    its regressors, so ``fit``, ``partial_fit`` and ``predict`` are there too, for regressors that are the rows of a matrix; the two do not share what they
    have learned.

    Parameters
    ----------
    algorithm
        one of lms, nlms, apa, papa, pnlms, ipnlms, apfbs, pda, rls
    taps
        the number of coefficients, for signals
    relative
        added to the normalizer as a share of the usual energy of a regressor, for signals; speech wants 0.01
    settings
        a dictionary of the method's own settings, such as ``{"rate": 0.5}``
    passes, shuffle, random_state, fit_intercept, precision
        for rows, as everywhere

    Examples
    --------
    >>> import numpy as np
    >>> from parsimon import AdaptiveFilter
    >>> x = np.random.default_rng(0).normal(size=2000)
    >>> d = 0.5 * x - 0.25 * np.concatenate([[0], x[:-1]])
    >>> e, w = AdaptiveFilter("nlms", taps=4).run(x, d)
    >>> np.allclose(w, [0.5, -0.25, 0, 0], atol=1e-6)
    True
    """

    def __init__(
        self,
        algorithm: str = "nlms",
        *,
        taps: int = 32,
        relative: float = 0.0,
        settings: dict[str, Any] | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = False,
        precision: str = "f64",
    ) -> None:
        self.algorithm = algorithm
        self.taps = taps
        self.relative = relative
        self.settings = settings
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision
        # Misspelt names and impossible settings are refused here rather than by the first samples. Values of other types
        # are kept, as scikit-learn wants it, and refused when the filter runs.
        if isinstance(algorithm, str) and (settings is None or isinstance(settings, dict)):
            self._at_rest()

    def _spec(self) -> dict[str, Any]:
        return {"algorithm": self.algorithm, **{name: _plain(value) for name, value in (self.settings or {}).items()}}

    def run(self, x: Any, d: Any) -> tuple[Floats, Floats]:
        """Filters from the beginning: the error signal ``d - prediction``, and the weights at the end, the newest sample's first."""
        self._filter = self._at_rest()
        return self.partial(x, d), self.weights_

    def partial(self, x: Any, d: Any) -> Floats:
        """Filters on: the error signal of this block. Any cut of the signals into blocks gives the same bits."""
        if not hasattr(self, "_filter"):
            self._filter = self._at_rest()
        return self._filter.push(_signal("x", x), _signal("d", d))

    @property
    def weights_(self) -> Floats:
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

    def _at_rest(self) -> Any:
        return _parsimon.Filter(json.dumps(self._spec()), int(self.taps), float(self.relative))


def _signal(name: str, samples: Any) -> Floats:
    samples = np.ascontiguousarray(samples, dtype=np.float64)
    if samples.ndim != 1:
        raise ValueError(f"{name} must be one signal, an array of one dimension, got {samples.ndim}")
    return samples
