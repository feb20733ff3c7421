"""Estimators of numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from . import _parsimon
from ._base import _Parsimon
from ._columns import ColumnRoles, paths, roles
from ._frames import has_words
from ._learning import _named
from ._settings import NUMBER_LOSSES, _can_stream, _scores_poorly
from ._typing import Floats, available_if

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class Regressor(RegressorMixin, _Parsimon):
    """The base of the regressors."""

    _losses = NUMBER_LOSSES

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = _scores_poorly(self)
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, progress: bool = False) -> Self:
        """Learns the data set from the beginning, in ``passes`` passes; the order is that of :meth:`Classifier.fit`.

        ``X`` may be a frame with columns of texts or categories, as there.
        """
        if has_words(X):
            return self._learn_frame(X, y, None, sample_weight, whole=True, progress=progress)
        with self._unchanged_if_refused():
            goes_on = self._goes_on()
            X, y = self._rows_and_labels(X, y, reset=not goes_on)
            weights = self._weights_of_set(sample_weight, X)
            self._fit(X, np.ascontiguousarray(y, dtype=np.float64), weights, [], progress, goes_on)
        return self

    @available_if(_can_stream)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns the rows in their order, once. Any cut of a stream into calls gives the same model bit for bit."""
        if has_words(X):
            return self._learn_frame(X, y, None, sample_weight, whole=False)
        if not hasattr(self, "_learner"):
            with self._unchanged_if_refused():
                X, y = self._rows_and_labels(X, y, reset=True)
                learner = self._build(X.shape[1], None, [])
                self._learn(learner, X, np.ascontiguousarray(y, dtype=np.float64), self._weights_of(sample_weight, X))
            return self
        X, y = self._rows_and_labels(X, y, reset=False)
        y = np.ascontiguousarray(y, dtype=np.float64)
        self._learn(self._must_learn(), X, y, self._weights_of(sample_weight, X))
        return self

    def learn_file(
        self,
        path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        format: str | None = None,
        passes: int | None = None,
        progress: bool = False,
        **columns: Unpack[ColumnRoles],
    ) -> Self:
        """Learns files of any format the program reads; as :meth:`Classifier.learn_file`."""
        given = roles(format, **columns)
        return self._learn_table(_parsimon.Table.files(paths(path), given), given, None, passes, progress)

    def learn_arrow(
        self,
        data: Any,
        *,
        passes: int | None = None,
        progress: bool = False,
        **columns: Unpack[ColumnRoles],
    ) -> Self:
        """Learns an Arrow table, record batch, reader or frame; as :meth:`Classifier.learn_arrow`."""
        given = roles(**columns)
        return self._learn_table(_parsimon.Table.arrow(data, given), given, None, passes, progress)

    def predict_file(self, path: Any, *, format: str | None = None) -> Floats:
        """The number of every row of a file, which is read as the rows learned were."""
        return self._mean(self._table_margins(_parsimon.Table.files(paths(path), roles(format)))[:, 0])

    def predict_arrow(self, data: Any) -> Floats:
        """The number of every row of an Arrow table or record batch."""
        return self._mean(self._table_margins(_parsimon.Table.arrow(data, roles()))[:, 0])

    def predict(self, X: Any) -> Floats:
        """The number of every row."""
        return self._mean(self._margins(X)[:, 0])

    def _mean(self, margins: Any) -> Any:
        return _parsimon.link("poisson", margins) if self._learner.is_of_counts else margins

    def learn_one(self, x: dict[Any, Any], y: float, w: float = 1.0) -> Self:
        """Learns one row, a dictionary of features: names, or ids."""
        learner = self.__dict__.get("_learner")
        if learner is None or self._stale:
            if self._stale:
                self._refuse_changed()
            with self._unchanged_if_refused():
                learner = self._start_rows(x, [])
                learner.learn_one(self._row(x), y, w)
                self._adopt(learner)
            return self
        learner.learn_one(x if self.__dict__.get("_places") == {} else self._row(x), y, w)
        return self

    def learn_many(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns a list of dictionaries, or a data frame; the same as ``learn_one`` in a loop, bit for bit."""
        rows = _named(X)
        if not rows:
            return self
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        with self._unchanged_if_refused():
            first = not hasattr(self, "_learner")
            learner = self._start_rows(rows[0], []) if first else self._must_learn()
            learner.learn_many(self._placed(rows), np.asarray(y, dtype=np.float64), weights)
            if first:
                self._adopt(learner)
        return self

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The number of one row."""
        learner = self.__dict__.get("_learner")
        if learner is None:
            check_is_fitted(self)
        return float(self._mean(learner.margins_one(x if self.__dict__.get("_places") == {} else self._row(x))[0]))

    def predict_many(self, X: Any) -> Floats:
        """The number of every row of a list of dictionaries, or of a data frame."""
        return np.asarray(self._mean(self._margins_many(X)[:, 0]))

    @property
    def coef_(self) -> Floats:
        """The weights in the units of the data; a CSR matrix after ``sparsify``.

        A model that standardizes columns clips cells at 4 standard deviations, and predictions to the range of the labels learned
        unless ``no_clip_predictions`` is set. Weights cannot express this: a :class:`parsimon.ClippingWarning` says so.
        """
        coef = self._coef()
        return coef if sp.issparse(coef) else coef[0]

    @property
    def intercept_(self) -> float:
        """The bias."""
        return float(self._heads()[0][0])
