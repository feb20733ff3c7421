"""Estimators of classes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _parsimon
from ._base import _labels, _Parsimon
from ._columns import ColumnRoles, paths, roles
from ._errors import BadRowError
from ._frames import checked_labels, has_words
from ._learning import _named
from ._settings import AS_NUMBERS, CLASS_LOSSES, _can_stream, _has_probabilities, _scores_poorly, _text
from ._typing import Floats, Labels, available_if

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class Classifier(ClassifierMixin, _Parsimon):
    """The base of the classifiers: two classes with one set of weights, more with one set per class.

    More than two classes are learned together by softmax where the loss is ``softmax``, the default of ``ParsimonClassifier``; by any
    other loss each is learned against all others (one-vs-all), the default of the classes that are named for a method.

    Methods that learn numbers learn two classes as -1 and 1.
    """

    _losses = CLASS_LOSSES + AS_NUMBERS
    #: The classes, in order.
    classes_: Labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = _scores_poorly(self)
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, progress: bool = False) -> Self:
        """Learns the data set from the beginning, in ``passes`` passes.

        Where ``passes`` is ``None``, the default method decides by rows that are held out how many passes to make over small data, and with
        which settings; it makes one over large data (rows times classes above 500,000), and 10 over fewer than 60 rows. ``n_iter_`` has the number.

        With ``shuffle`` the order depends on the rows and ``random_state`` only: a permutation of the rows gives the same model bit
        for bit, a row of weight 3 is a row three times, one of weight 0 is no row. Without, rows are learned as they stand. With
        ``warm_start`` learning goes on from the weights of the last call, with the classes that these know.

        ``X`` may be a frame of pandas or polars, or an Arrow table, with columns of texts or categories: these are read as
        :meth:`learn_arrow` reads them, and ``random_state`` alone sets the order.

        >>> import pandas as pd
        >>> from parsimon import ParsimonClassifier
        >>> people = pd.DataFrame({"age": [30, 41, 22, 58] * 50, "city": ["Rome", "Oslo", "Rome", "Oslo"] * 50})
        >>> model = ParsimonClassifier().fit(people, ["yes", "no", "yes", "no"] * 50)
        >>> model.predict(people[:2]).tolist()
        ['yes', 'no']
        """
        if has_words(X):
            labels = checked_labels(X, y)
            check_classification_targets(labels)
            return self._learn_frame(X, y, np.unique(labels), sample_weight, whole=True, progress=progress)
        with self._unchanged_if_refused():
            goes_on = self._goes_on()
            X, y = self._rows_and_labels(X, y, reset=not goes_on)
            check_classification_targets(y)
            weights = self._weights_of_set(sample_weight, X)
            kept = y if weights is None else y[weights > 0]
            if not goes_on:
                self._set_classes(np.unique(kept))
            if weights is not None and len(kept) < len(y):
                # Rows of weight 0 are not there, whatever their class.
                y = np.where(weights > 0, y, self.classes_[0])
            self._fit(X, self._codes(y), weights, self._texts(), progress, goes_on)
        return self

    @available_if(_can_stream)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learns the rows in their order, once. Any cut of a stream into calls gives the same model bit for bit."""
        if has_words(X):
            if classes is None and not hasattr(self, "_learner"):
                raise ValueError("classes must be passed on the first call to partial_fit")
            return self._learn_frame(X, y, classes, sample_weight, whole=False)
        if not hasattr(self, "_learner"):
            with self._unchanged_if_refused():
                self._first_fit(X, y, classes, sample_weight)
            return self
        X, y = self._rows_and_labels(X, y, reset=False)
        if classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ValueError(f"classes={classes!r} is not the same as on the last call to partial_fit, {self.classes_!r}")
        self._learn(self._must_learn(), X, self._codes(y), self._weights_of(sample_weight, X))
        return self

    def _first_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        X, y = self._rows_and_labels(X, y, reset=True)
        # PERF: integers are classes; for other labels all values are looked at.
        if y.dtype.kind not in "iub":
            check_classification_targets(y)
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit")
        self._set_classes(np.unique(classes))
        learner = self._build(X.shape[1], None, self._texts())
        self._learn(learner, X, self._codes(y), self._weights_of(sample_weight, X))

    def _set_classes(self, classes: Labels) -> None:
        if len(classes) < 2:
            raise ValueError(f"{type(self).__name__} needs at least two classes, and the data has {len(classes)} class")
        self.classes_ = classes
        self.__dict__.pop("_code_of", None)

    def _texts(self) -> list[str]:
        return [_text(label) for label in self.classes_.tolist()]

    def _frame_labels(self, values: Any) -> Any:
        return np.array([_text(label) for label in values.tolist()], dtype=object)

    def _needs_classes(self) -> bool:
        return True

    def _table_classes(self, labels: list[str] | None, classes: Any) -> list[str]:
        self._set_classes(np.unique(classes) if labels is None else _labels(labels))
        return self._texts()

    def learn_file(
        self,
        path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        format: str | None = None,
        classes: Any = None,
        passes: int | None = None,
        progress: bool = False,
        **columns: Unpack[ColumnRoles],
    ) -> Self:
        """Learns files of any format the program reads: Parquet, Arrow, CSV, JSON lines, svmlight, VW; compressed or not.

        The columns of a table have kinds, found from their types and first rows: see ``schema_`` afterwards, or :func:`parsimon.schema` before.
        The keywords ``label``, ``weight``, ``numbers``, ``categories``, ``texts``, ``ignore``, ``keep`` and ``schema`` change what is found, as the
        flags of the program do; ``bits`` is the logarithm of the number of slots for names. A label that was guessed, and columns that
        are left out, are reported in a warning. The classes are found by a scan, unless they are passed. Rows before a bad one are learned.

        The model is that of the program, byte for byte, and so is what is noticed: a :class:`ParsimonWarning` reports a feature that may contain
        the label, a model that is no better than a constant, a column whose later cells need a wider kind, rows that were skipped. Where the
        order of the rows misleads, the default method learns them again in random order, unless ``shuffle`` is off.

        Without ``passes`` the default method makes several passes over small data where rows that are held out are predicted better, and
        other methods make one. ``n_iter_`` has the number.
        """
        given = roles(format, **columns)
        return self._learn_table(_parsimon.Table.files(paths(path), given), given, classes, passes, progress)

    def learn_arrow(
        self,
        data: Any,
        *,
        classes: Any = None,
        passes: int | None = None,
        progress: bool = False,
        **columns: Unpack[ColumnRoles],
    ) -> Self:
        """Learns an Arrow table, record batch or reader, or a frame that offers itself as one, without a copy of its buffers; or a list of dicts.

        Columns are read as those of a file: see :meth:`learn_file`. A bad value is refused before the first row is learned.
        """
        given = roles(**columns)
        return self._learn_table(_parsimon.Table.arrow(data, given), given, classes, passes, progress)

    def predict_file(self, path: Any, *, format: str | None = None) -> Labels:
        """The class of every row of a file, which is read as the rows learned were."""
        return self._predicted(self._table_margins(_parsimon.Table.files(paths(path), roles(format))))

    def predict_arrow(self, data: Any) -> Labels:
        """The class of every row of an Arrow table or record batch."""
        return self._predicted(self._table_margins(_parsimon.Table.arrow(data, roles())))

    @available_if(_has_probabilities)
    def predict_proba_file(self, path: Any, *, format: str | None = None) -> Floats:
        """The probability of every class, for every row of a file."""
        return self._probabilities(self._table_margins(_parsimon.Table.files(paths(path), roles(format))))

    @available_if(_has_probabilities)
    def predict_proba_arrow(self, data: Any) -> Floats:
        """The probability of every class, for every row of an Arrow table or record batch."""
        return self._probabilities(self._table_margins(_parsimon.Table.arrow(data, roles())))

    def _codes(self, y: Labels) -> Floats:
        if len(y) == 1:
            # PERF: one row at a time is a habit, and an array is a long way round.
            return np.array([self._code(y.item())])
        classes = self.classes_
        if len(classes) == 2:
            # PERF: two comparisons take less time than a search.
            second = y == classes[1]
            known = second | (y == classes[0])
            places = second
        else:
            places = np.searchsorted(classes, y)
            known = classes[np.minimum(places, len(classes) - 1)] == y
        if not np.all(known):
            row = int(np.argmin(known))
            raise BadRowError(f"y has the class {y[row]!r} at row {row}, which is not among the classes {classes!r}", row=row)
        return places * 2.0 - 1.0 if len(classes) == 2 else places.astype(np.float64)

    def decision_function(self, X: Any) -> Floats:
        """The margins: one per row, positive for the second class, or one per row and class."""
        margins = self._margins(X)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def predict(self, X: Any) -> Labels:
        """The class of every row."""
        return self._predicted(self._margins(X))

    def _calibrated(self, margins: Floats) -> Floats:
        # Only model files have a calibration; `parsimon calibrate` fits it.
        if getattr(self._learner, "calibration", None) is None:
            return margins
        return self._learner.log_odds(np.ascontiguousarray(margins[:, 0])).reshape(-1, 1)

    def _probabilities(self, margins: Floats) -> Floats:
        return _probabilities(self._calibrated(margins), self._loss(margins))

    def _loss(self, margins: Floats) -> str:
        # One margin is log odds, whatever the loss that it was calibrated from.
        return "logistic" if margins.shape[1] == 1 else self._learner.loss

    def _predicted(self, margins: Floats) -> Labels:
        margins = self._calibrated(margins)
        places = (margins[:, 0] > 0).astype(np.intp) if margins.shape[1] == 1 else margins.argmax(axis=1)
        return self.classes_[places]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Floats:
        """The probability of every class; of several, by softmax, or of one-vs-all models scaled to sum to one."""
        return self._probabilities(self._margins(X))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Floats:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0, classes: Any = None) -> Self:
        """Learns one row, a dictionary of features: names, or ids.

        The classes are those passed here or to ``partial_fit``; else False and True for a bool, -1 and 1 if the first label is -1, 0 and 1.
        """
        learner = self.__dict__.get("_learner")
        if learner is None or self._stale:
            if self._stale:
                self._refuse_changed()
            with self._unchanged_if_refused():
                self._set_classes(np.unique(classes) if classes is not None else _guessed(y))
                learner = self._start_rows(x, self._texts())
                learner.learn_one(self._row(x), self._code(y), w)
                self._adopt(learner)
            return self
        try:
            code = self._code_of[y]
        except (AttributeError, KeyError, TypeError):
            code = self._code(y)
        # PERF: names of columns are looked up only where there are columns.
        learner.learn_one(x if self.__dict__.get("_places") == {} else self._row(x), code, w)
        return self

    def learn_many(self, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Self:
        """Learns a list of dictionaries, or a data frame; the same as ``learn_one`` in a loop, bit for bit."""
        rows, y = _named(X), np.asarray(y)
        if not rows:
            return self
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        with self._unchanged_if_refused():
            first = not hasattr(self, "_learner")
            if first:
                self._set_classes(np.unique(classes) if classes is not None else _guessed(y[0]))
            learner = self._start_rows(rows[0], self._texts()) if first else self._must_learn()
            learner.learn_many(self._placed(rows), self._codes(y), weights)
            if first:
                self._adopt(learner)
        return self

    def _code(self, y: Any) -> float:
        codes = getattr(self, "_code_of", None)
        if codes is None:
            values = (-1.0, 1.0) if len(self.classes_) == 2 else map(float, range(len(self.classes_)))
            self._code_of = codes = dict(zip(self.classes_.tolist(), values))
        try:
            return codes[y]
        except (KeyError, TypeError):
            raise ValueError(f"y is {y!r}, which is not among the classes {self.classes_!r}") from None

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The class of one row."""
        margins = self._margins_one(x)
        place = int(margins[0] > 0) if len(margins) == 1 else int(np.argmax(margins))
        return self.classes_[place].item() if hasattr(self.classes_[place], "item") else self.classes_[place]

    def _margins_one(self, x: dict[Any, Any]) -> list[float]:
        learner = self.__dict__.get("_learner")
        if learner is None:
            check_is_fitted(self)
        # PERF: names of columns are looked up only where there are columns.
        margins = learner.margins_one(x if self.__dict__.get("_places") == {} else self._row(x))
        if type(learner) is _parsimon.Learner or learner.calibration is None:
            return margins
        return self._calibrated(np.array([margins]))[0].tolist()

    def predict_many(self, X: Any) -> Labels:
        """The class of every row of a list of dictionaries, or of a data frame."""
        return self._predicted(self._margins_many(X))

    @available_if(_has_probabilities)
    def predict_proba_many(self, X: Any) -> Floats:
        """The probability of every class, for every row of a list of dictionaries or of a data frame."""
        return self._probabilities(self._margins_many(X))

    @available_if(_has_probabilities)
    def predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """The probability of every class of one row."""
        own = self.__dict__
        learner, codes = own.get("_learner"), own.get("_code_of")
        if type(learner) is _parsimon.Learner and codes is not None and len(codes) == 2:
            # PERF: the same numbers as below, without arrays.
            return learner.probabilities_one(x if own.get("_places") == {} else self._row(x), *codes)
        # These are calibrated, if the model is.
        margins = np.array([self._margins_one(x)])
        return dict(zip(self.classes_.tolist(), _probabilities(margins, self._loss(margins))[0].tolist()))

    @property
    def coef_(self) -> Floats:
        """The weights, one row per class, or one row for two classes; a CSR matrix after ``sparsify``.

        They are in the units of the data: ``X @ coef_.T + intercept_`` is the decision function. A model that standardizes columns
        (``normalize``, the default of the bare estimator, on dense data) clips cells at 4 standard deviations, which weights cannot
        express: a :class:`parsimon.ClippingWarning` says so.
        """
        return self._coef()

    @property
    def intercept_(self) -> Floats:
        """The biases."""
        return np.array([bias for bias, _, _ in self._heads()])


def _probabilities(margins: Floats, loss: str) -> Floats:
    """The probability of every class from margins under a loss."""
    if loss == "softmax" and margins.shape[1] > 1:
        return _parsimon.link("softmax", margins)
    positive = _parsimon.link("logistic", margins)
    if margins.shape[1] == 1:
        return np.hstack([_parsimon.link("logistic", -margins), positive])
    total = positive.sum(axis=1, keepdims=True)
    return np.where(total > 0, positive / np.where(total > 0, total, 1), 1 / margins.shape[1])


def _guessed(y: Any) -> Labels:
    if isinstance(y, (bool, np.bool_)):
        return np.array([False, True])
    if not isinstance(y, (int, float, np.number)) or y not in (-1, 0, 1):
        raise ValueError(f"classes must be passed with the first row: {y!r} is neither a bool nor -1, 0 or 1")
    return np.array([-1, 1]) if y == -1 else np.array([0, 1])
