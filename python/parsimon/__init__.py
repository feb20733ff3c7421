"""Sparse online learning: every method of the literature, exact, lazy and fast.

Estimators follow scikit-learn. Column ``j`` of a matrix is the feature ``j + 1`` of the program, so that svmlight files counted from 1
and model files mean the same on both sides.
"""

from . import _named
from ._c import to_c
from ._client import Client, ServiceError
from ._columns import schema
from ._echo import EchoCanceller, EchoStatus
from ._errors import BadRowError, ClippingWarning, DivergedError, ParsimonWarning
from ._files import load
from ._filter import AdaptiveFilter
from ._named import *
from ._onnx import register_onnx_converters, to_onnx
from ._parsimon import __version__, memory_budget, set_memory_budget
from ._tune import Trial, Trials, compare, tune
from .plot import plot_learning_curve, plot_path, plot_weights

__all__ = [
    "AdaptiveFilter",
    "BadRowError",
    "ClippingWarning",
    "Client",
    "DivergedError",
    "EchoCanceller",
    "EchoStatus",
    "ParsimonWarning",
    "ServiceError",
    "Trial",
    "Trials",
    "__version__",
    "compare",
    "load",
    "memory_budget",
    "plot_learning_curve",
    "plot_path",
    "plot_weights",
    "register_onnx_converters",
    "schema",
    "set_memory_budget",
    "to_c",
    "to_onnx",
    "tune",
    *_named.__all__,
]
