"""Arrays: what is checked before they are handed over, and how."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted, validate_data

from ._errors import BadRowError
from ._settings import NUMBER_LOSSES, Settings
from ._typing import Floats, Labels

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_CHECKS: dict[str, Any] = {
    "accept_sparse": "csr",
    "accept_large_sparse": True,
    "dtype": [np.float64, np.float32],
    "order": "C",
    # NaN and infinity are found on the other side, with their place.
    "ensure_all_finite": False,
}


class FrameCells(np.ndarray):
    """The cells of a frame of numbers, where NaN is a missing cell."""


def _cells_of(X: Any, cells: Any) -> Any:
    """The validated cells of X, marked if X is a frame."""
    is_frame = hasattr(X, "__arrow_c_stream__") or hasattr(X, "iloc")
    return cells.view(FrameCells) if is_frame and isinstance(cells, np.ndarray) else cells


def _native(X: Any) -> Any:
    """The arrays of a validated matrix, as the native module takes them: no copy."""
    if isinstance(X, FrameCells):
        return (np.ascontiguousarray(X.view(np.ndarray)),)
    if not sp.issparse(X):
        return X
    indptr, indices = X.indptr, X.indices
    if indptr.dtype != indices.dtype:
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    return indptr, indices, X.data, X.shape[1]


def _rows_of(weights: Floats) -> int:
    """A weight of 3 is a row three times, also when rows are counted. Weights that are no such counts are refused later."""
    most = 2.0**53
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(weights.sum())
    return round(min(max(total, 0.0), most)) if total == total else len(weights)


class Arrays(Settings):
    """An estimator that takes arrays."""

    #: The number of columns, where arrays were learned.
    n_features_in_: int
    #: The names of the columns, where these have names.
    feature_names_in_: Labels
    _learner: Any

    def _is_ready(self, X: Any) -> bool:
        """Whether X can be handed over as it is; what it holds is looked at on the other side."""
        columns = getattr(self, "n_features_in_", None)
        if columns is None or hasattr(self, "feature_names_in_"):
            return False
        if type(X) is np.ndarray:
            good = X.ndim == 2 and X.flags.c_contiguous
        else:
            good = sp.issparse(X) and X.format == "csr" and X.ndim == 2
        return bool(good and X.dtype in _FLOATS and X.shape[1] == columns and X.shape[0] > 0)

    def _rows(self, X: Any, *, reset: bool = False) -> Any:
        if not reset and self._is_ready(X):
            return X
        self._refuse_named(reset)
        return _cells_of(X, validate_data(self, X, reset=reset, **_CHECKS))

    def _rows_and_labels(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, Labels]:
        if not reset and self._is_ready(X):
            y = np.asarray(y)
            if y.ndim == 1 and y.shape[0] == X.shape[0] and y.dtype.kind in "fiub":
                return X, y
        self._refuse_named(reset)
        cells, y = validate_data(self, X, y, reset=reset, y_numeric=self._losses is NUMBER_LOSSES, **_CHECKS)
        return _cells_of(X, cells), y

    def _refuse_named(self, reset: bool) -> None:
        if reset:
            # The columns may be others now.
            self.__dict__.pop("_places", None)
        learner = None if reset else getattr(self, "_learner", None)
        if learner is not None and learner.bits is not None:
            raise ValueError("the model knows features by name: pass a frame with these columns, or use learn_one, learn_many, predict_one, predict_many")

    def _weights_of_set(self, sample_weight: Any, X: Any) -> Floats | None:
        """The weights of a whole data set, which must not be empty; a piece of a stream may."""
        weights = self._weights_of(sample_weight, X)
        if weights is not None and not (weights >= 0).all():
            row = int(np.argmin(weights >= 0))
            raise BadRowError(f"sample_weight must be a finite number >= 0, got {weights[row]} at row {row}", row=row)
        if weights is not None and not weights.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")
        return weights

    def _weights_of(self, sample_weight: Any, X: Any) -> Floats | None:
        if sample_weight is None:
            return None
        weights = np.ascontiguousarray(sample_weight, dtype=np.float64)
        if weights.ndim == 0 or np.isscalar(sample_weight):
            weights = np.full(X.shape[0], float(sample_weight))
        if weights.ndim != 1:
            raise ValueError("sample_weight must be a number or have one dimension")
        if weights.shape[0] != X.shape[0]:
            raise ValueError(f"sample_weight has {weights.shape[0]} entries, and there are {X.shape[0]} rows")
        # Whether they are numbers and not negative is seen on the other side.
        return weights

    def _margins(self, X: Any) -> Floats:
        check_is_fitted(self)
        return self._learner.margins(_native(self._rows(X)))
