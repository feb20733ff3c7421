"""Models from files."""

from __future__ import annotations

import errno
import json
import os
from typing import TYPE_CHECKING, TypeVar, overload

from . import _parsimon
from ._base import _labels, _Parsimon
from ._settings import NUMBER_LOSSES

if TYPE_CHECKING:
    from ._named import ParsimonClassifier, ParsimonRegressor

_Kind = TypeVar("_Kind", bound=_Parsimon)


@overload
def load(path: str | os.PathLike[str]) -> ParsimonClassifier | ParsimonRegressor: ...


@overload
def load(path: str | os.PathLike[str], kind: type[_Kind]) -> _Kind: ...


def load(path: str | os.PathLike[str], kind: type[_Parsimon] | None = None) -> _Parsimon:
    """Reads a model file, which predicts, or a checkpoint, which learns on; the program's or ours.

    The estimator is a ``ParsimonClassifier`` or a ``ParsimonRegressor``. With ``kind``, one of these two classes, a file of the other kind is refused.
    """
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
    estimator: ParsimonClassifier | ParsimonRegressor = _named.ParsimonRegressor() if numbers else _named.ParsimonClassifier()
    estimator.set_params(**settings, fit_intercept=bias, precision=precision)
    if isinstance(estimator, _named.ParsimonClassifier):
        estimator.classes_ = _labels(texts or ["-1", "1"])
    estimator._learner, estimator._sparse, estimator.n_iter_ = native, False, 1
    if kind is not None and not isinstance(estimator, kind):
        raise TypeError(f"{path} is a model for {type(estimator).__name__}, not for {kind.__name__}")
    return estimator
