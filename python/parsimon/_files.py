"""Models from files."""

from __future__ import annotations

import errno
import json
import os
from typing import Any

from . import _parsimon
from ._base import NUMBER_LOSSES, _labels


def load(path: str | os.PathLike[str]) -> Any:
    """Reads a model file, which predicts, or a checkpoint, which learns on; the program's or ours."""
    from . import _named

    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    native = _parsimon.load(path)
    settings = json.loads(native.settings)
    for name in ("multiclass", "classes"):
        settings.pop(name, None)
    bias, precision = native.frame
    texts = native.classes
    numbers = settings["loss"] in NUMBER_LOSSES and not settings["algorithm"].endswith("adaline") and not texts
    estimator = _named.ParsimonRegressor() if numbers else _named.ParsimonClassifier()
    estimator.set_params(**settings, fit_intercept=bias, precision=precision)
    if not numbers:
        estimator.classes_ = _labels(texts or ["-1", "1"])
    estimator._learner, estimator._sparse, estimator.n_iter_ = native, False, 1
    return estimator
