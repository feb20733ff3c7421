"""What all estimators share: settings, arrays, learning, weights, files."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _parsimon
from ._html import summary
from ._progress import bar

if TYPE_CHECKING:
    from typing_extensions import Self

CLASS_LOSSES = ("logistic", "hinge", "squared-hinge", "halfspace")
NUMBER_LOSSES = ("squared", "huber", "quantile", "poisson", "projection")
#: Names are hashed into 2**22 slots, as the program does.
BITS = 22
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
#: scikit-learn takes a parameter called alpha for a strength; where any method may be named, ours is called otherwise.
_RENAMED = {"metric_alpha": "alpha"}


def _plain(value: Any) -> Any:
    """A setting as JSON has it; JSON has no infinity."""
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, float) and math.isinf(value) and value > 0:
        return "inf"
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _native(X: Any) -> Any:
    """The arrays of a validated matrix, as the native module takes them: no copy."""
    if not sp.issparse(X):
        return X
    indptr, indices = X.indptr, X.indices
    if indptr.dtype != indices.dtype:
        indptr, indices = indptr.astype(np.int64), indices.astype(np.int64)
    return indptr, indices, X.data, X.shape[1]


def _revive(checkpoint: bytes) -> Any:
    """A learner from the bytes in a pickle."""
    return _parsimon.Learner.from_checkpoint(checkpoint)


def _revive_model(model: bytes) -> Any:
    """A model from the bytes in a pickle."""
    return _parsimon.Model.from_bytes(model)


def _paths(path: Any) -> list[str]:
    if isinstance(path, (str, os.PathLike)):
        return [os.fspath(path)]
    return [os.fspath(one) for one in path]


def _can_stream(estimator: _Parsimon) -> bool:
    """A two-phase schedule must know its switch, which only a whole data set tells."""
    # PERF: asked at every call of partial_fit, and only three settings have a say.
    own = estimator.__dict__
    key = (estimator._algorithm or own["algorithm"], own.get("schedule"), own.get("switch") is None)
    try:
        return _STREAMS[key]
    except KeyError:
        pass
    except TypeError:
        return True
    try:
        _STREAMS[key] = able = not estimator._resolved()[2]
    except ValueError:
        return True
    return able


_STREAMS: dict[Any, bool] = {}


def _has_weights(estimator: _Parsimon) -> bool:
    """A model over a dictionary of rows has no weights."""
    return not (estimator._algorithm or estimator.algorithm).startswith("multikernel")


def _has_probabilities(estimator: _Parsimon) -> bool:
    loss = estimator._resolved()[0]["loss"]
    if loss != "logistic":
        raise AttributeError(f"probabilities need the logistic loss, not {loss}")
    return True


class _Parsimon(BaseEstimator):
    _algorithm: ClassVar[str | None] = None
    _settings: ClassVar[tuple[str, ...]] = ()
    _losses: ClassVar[tuple[str, ...]] = ()
    # Every estimator has these; the generated classes take them.
    algorithm: str
    passes: int
    shuffle: bool
    random_state: Any
    precision: str

    # Settings.

    def _spec(self) -> dict[str, Any]:
        name = self._algorithm or self.algorithm
        spec = {"algorithm": name}
        for setting in self._settings:
            value = _plain(getattr(self, setting))
            if value is not None:
                spec[_RENAMED.get(setting, setting)] = value
        if "loss" not in spec:
            loss = self._default_loss(name)
            if loss is not None:
                spec["loss"] = loss
        return spec

    def _default_loss(self, name: str) -> str | None:
        words = _loss_words().get(name, ())
        return next((word for word in self._losses if word in words), None)

    def _resolved(self) -> tuple[dict[str, Any], bool, bool]:
        """The settings after defaults, and whether dimension and switch are still to be said."""
        text, wants_dimension, wants_switch = _parsimon.resolve(json.dumps(self._spec()))
        return json.loads(text), wants_dimension, wants_switch

    def _complete(self, columns: int | None, rows: int | None, classes: list[str]) -> str:
        """The spec with what only the data tell."""
        spec = self._spec()
        settings, wants_dimension, wants_switch = self._resolved()
        self._check_loss(settings)
        if wants_dimension and columns is not None:
            spec["dimension"] = columns
        if wants_switch and rows is not None:
            spec["switch"] = max(1, rows // 2)
        if len(classes) > 2:
            spec["multiclass"], spec["classes"] = True, classes
        return json.dumps(spec)

    def _frame(self) -> dict[str, Any]:
        return {"precision": self.precision, "bias": bool(getattr(self, "fit_intercept", False))}

    def _build(self, columns: int | None, rows: int | None, classes: list[str], bits: int | None = None) -> Any:
        spec = self._complete(columns, rows, classes)
        return _parsimon.Learner(spec, classes=classes, bits=bits, **self._frame())

    def _adopt(self, learner: Any) -> None:
        self._learner, self.n_iter_, self._sparse = learner, 1, False

    def _check_loss(self, settings: dict[str, Any]) -> None:
        loss, name = settings["loss"], settings["algorithm"]
        if loss not in self._losses and not (self._losses is CLASS_LOSSES and name.endswith("adaline")):
            raise ValueError(f"{type(self).__name__} has no loss {loss!r} with {name}; it has {', '.join(self._losses)}")
        if self._losses is NUMBER_LOSSES and name.endswith("adaline"):
            raise ValueError(f"{name} is for classes: use a classifier")

    # Arrays.

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
        return validate_data(self, X, reset=reset, **_CHECKS)

    def _rows_and_labels(self, X: Any, y: Any, *, reset: bool) -> tuple[Any, np.ndarray]:
        if not reset and self._is_ready(X):
            y = np.asarray(y)
            if y.ndim == 1 and y.shape[0] == X.shape[0] and y.dtype.kind in "fiub":
                return X, y
        self._refuse_named(reset)
        X, y = validate_data(self, X, y, reset=reset, y_numeric=self._losses is NUMBER_LOSSES, **_CHECKS)
        return X, y

    def _refuse_named(self, reset: bool) -> None:
        if reset:
            # The columns may be others now.
            self.__dict__.pop("_places", None)
        learner = None if reset else getattr(self, "_learner", None)
        if learner is not None and learner.bits is not None:
            raise ValueError("the model knows features by name: use learn_one, learn_many, predict_one, predict_many")

    def _weights_of_set(self, sample_weight: Any, X: Any) -> np.ndarray | None:
        """The weights of a whole data set, which must not be empty; a piece of a stream may."""
        weights = self._weights_of(sample_weight, X)
        if weights is not None and not weights.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")
        return weights

    def _weights_of(self, sample_weight: Any, X: Any) -> np.ndarray | None:
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

    def _margins(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._learner.margins(_native(self._rows(X)))

    # Learning.

    def _fit(self, X: Any, codes: np.ndarray, weights: np.ndarray | None, classes: list[str], progress: bool) -> None:
        passes = self._passes()
        # A weight of 3 is a row three times, also when rows are counted.
        rows = X.shape[0] if weights is None else round(float(weights.sum()))
        learner = self._build(X.shape[1], rows * passes, classes)
        seed = self._seed() if self.shuffle else None
        with bar(progress, X.shape[0] * passes) as tick:
            try:
                done, trouble = learner.fit(_native(X), codes, weights, passes, seed, tick)
            except KeyboardInterrupt:
                # What was learned is a model like any other.
                self._adopt(learner)
                raise
        self._adopt(learner)
        self.n_iter_ = done
        if trouble is not None:
            warnings.warn(f"{trouble}; the model is the one of the {self.n_iter_} passes before", ConvergenceWarning, stacklevel=3)
            self.n_iter_ = max(1, self.n_iter_)

    def _passes(self) -> int:
        passes = self.passes
        if isinstance(passes, bool) or not isinstance(passes, (int, np.integer)) or passes < 1:
            raise ValueError(f"passes must be a whole number >= 1, got {passes!r}")
        return int(passes)

    def _learn(self, learner: Any, X: Any, codes: np.ndarray, weights: np.ndarray | None) -> None:
        try:
            learner.learn(_native(X), codes, weights)
        except KeyboardInterrupt:
            # The rows before are learned, and the model is as good as any.
            if not hasattr(self, "_learner"):
                self._adopt(learner)
            raise
        if not hasattr(self, "_learner"):
            self._adopt(learner)

    @contextmanager
    def _unchanged_if_refused(self) -> Iterator[None]:
        """Whatever is refused leaves the estimator as it was, with the model it had."""
        before = dict(self.__dict__)
        try:
            yield
        except Exception:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _seed(self) -> int:
        # Nothing here is random unless asked for.
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, (int, np.integer)):
            if not 0 <= self.random_state < 2**64:
                raise ValueError(f"random_state must be from 0 to 2**64 - 1, got {self.random_state}")
            return int(self.random_state)
        return int(self.random_state.randint(2**31 - 1))

    def _must_learn(self) -> Any:
        if isinstance(self._learner, _parsimon.Model):
            raise ValueError("a model file holds what prediction needs and cannot learn; resume from a checkpoint")
        return self._learner

    # One row at a time.

    def _row(self, x: dict[Any, Any]) -> dict[Any, Any]:
        """A row of a learner that knows columns: names become ids."""
        places = getattr(self, "_places", None)
        if places is None:
            names = getattr(self, "feature_names_in_", None)
            places = {} if names is None else {name: j + 1 for j, name in enumerate(names)}
            self._places = places
        if not places:
            return x
        try:
            return {places[name]: value for name, value in x.items()}
        except KeyError as unknown:
            raise ValueError(f"there is no feature {unknown} among the columns learned from") from None

    def _start_rows(self, x: dict[Any, Any], classes: list[str]) -> Any:
        bits = None if any(isinstance(key, (int, np.integer)) for key in x) else BITS
        learner = self._build(None, None, classes, bits)
        if bits is None:
            self._places = {}
        return learner

    def _margins_many(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._learner.margins_many([self._row(x) for x in _dicts(X)])

    # Tables that the native readers read.

    def _learn_table(self, table: Any, classes: Any, passes: int, progress: bool) -> Self:
        if hasattr(self, "_learner"):
            learner = self._must_learn()
            with bar(progress, None) as tick:
                learner.learn_table(table, passes, tick)
            return self
        trouble: BaseException | None = None
        with self._unchanged_if_refused():
            learner = self._learner_for(table, classes, passes)
            try:
                with bar(progress, None) as tick:
                    learner.learn_table(table, passes, tick)
            except (Exception, KeyboardInterrupt) as error:
                # Rows before a bad one, or before Ctrl-C, are learned.
                if learner.rows == 0:
                    raise
                trouble = error
            self._adopt(learner)
        if trouble is not None:
            raise trouble
        return self

    def _learner_for(self, table: Any, classes: Any, passes: int) -> Any:
        texts = self._table_classes(table, classes)
        _, wants_dimension, wants_switch = self._resolved()
        rows, largest = table.survey() if wants_dimension or wants_switch else (0, 0)
        bits = table.bits() if wants_dimension else None
        spec = self._complete(largest if bits is None else 2**bits, rows * passes, texts)
        return _parsimon.Learner.for_table(spec, table, classes=texts, **self._frame())

    def _table_classes(self, table: Any, classes: Any) -> list[str]:
        return []

    def _table_margins(self, table: Any) -> np.ndarray:
        check_is_fitted(self)
        return self._learner.margins_table(table)

    # Weights.

    def _heads(self) -> list[Any]:
        check_is_fitted(self)
        heads = self._learner.weights()
        if heads is None:
            raise AttributeError("a model over a dictionary of rows has no weights")
        return heads

    def _coef(self) -> Any:
        heads = self._heads()
        bits = self._learner.bits
        shift = 1 if bits is None else 0
        largest = max((int(ids[-1]) for _, ids, _ in heads if len(ids)), default=0)
        # Rows as dictionaries may bring ids beyond the columns.
        width = 2**bits if bits is not None else max(getattr(self, "n_features_in_", 0), largest)
        columns = np.concatenate([ids.astype(np.int64) - shift for _, ids, _ in heads])
        values = np.concatenate([weights for _, _, weights in heads])
        indptr = np.cumsum([0] + [len(ids) for _, ids, _ in heads])
        if len(columns) and columns.min() < 0:
            raise AttributeError("the model has a weight for feature id 0, which is no column")
        matrix = sp.csr_matrix((values, columns, indptr), shape=(len(heads), width))
        return matrix if getattr(self, "_sparse", False) else matrix.toarray()

    @available_if(_has_weights)
    def sparsify(self) -> Self:
        """Makes ``coef_`` a SciPy CSR matrix."""
        check_is_fitted(self)
        self._sparse = True
        return self

    @available_if(_has_weights)
    def densify(self) -> Self:
        """Makes ``coef_`` an array again."""
        check_is_fitted(self)
        self._sparse = False
        return self

    @property
    def nonzeros_(self) -> int:
        """The weights that are not zero."""
        check_is_fitted(self)
        return self._learner.nonzeros

    @property
    def progressive_loss_(self) -> float | None:
        """The average loss of the predictions made before learning each row."""
        check_is_fitted(self)
        return self._learner.progressive_loss

    @property
    def settings_(self) -> dict[str, Any]:
        """The settings after defaults."""
        check_is_fitted(self)
        return json.loads(self._learner.settings)

    @property
    def learning_curve_(self) -> list[dict[str, Any]]:
        """What was reported while learning: rows, average loss, loss since the last report, nonzeros."""
        check_is_fitted(self)
        return json.loads(self._must_learn().curve)["points"]

    def top_weights(self, count: int = 20, class_index: int = 0) -> list[tuple[str, float]]:
        """The features with the largest weights by magnitude, named as far as names are known.

        >>> from parsimon import FTRLClassifier
        >>> model = FTRLClassifier().learn_many([{"good": 1}, {"bad": 1}] * 50, [1, 0] * 50)
        >>> [name for name, weight in model.top_weights(2)]
        ['bad', 'good']
        """
        _, ids, weights = self._heads()[class_index]
        # Equal weights in the order of their ids.
        order = np.lexsort((ids, -np.abs(weights)))[:count]
        chosen = [int(ids[k]) for k in order]
        columns = getattr(self, "feature_names_in_", None)
        names = self._learner.names(chosen)
        if self._learner.bits is None:
            places = [str(j - 1) if columns is None or j > len(columns) else str(columns[j - 1]) for j in chosen]
        else:
            places = [f"#{j}" for j in chosen]
        return [(name or place, float(weights[k])) for name, place, k in zip(names, places, order)]

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._summary()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = super()._repr_mimebundle_(**kwargs)
        if "text/html" in shown:
            shown["text/html"] += self._summary()
        return shown

    def _summary(self) -> str:
        return summary(self) if hasattr(self, "_learner") else ""

    # Files.

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, which the program reads too. Column ``j`` is the feature ``j + 1``."""
        check_is_fitted(self)
        if isinstance(self._learner, _parsimon.Model):
            self._learner.save(os.fspath(path))
        else:
            self._named().save_model(os.fspath(path))

    def save_checkpoint(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint, from which learning goes on bit for bit."""
        check_is_fitted(self)
        self._named().save_checkpoint(os.fspath(path))

    def _named(self) -> Any:
        learner = self._must_learn()
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            learner.name_columns([str(name) for name in names])
        return learner

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _scores_poorly(estimator: _Parsimon) -> bool:
    """Follow the leader without a regularizer runs to and fro: it is there to be studied."""
    return (estimator._algorithm or estimator.algorithm) == "ftl"


_CHECKS: dict[str, Any] = {
    "accept_sparse": "csr",
    "accept_large_sparse": True,
    "dtype": [np.float64, np.float32],
    "order": "C",
    # NaN and infinity are found on the other side, with their place.
    "ensure_all_finite": False,
}


def _loss_words() -> dict[str, tuple[str, ...]]:
    global _WORDS
    if _WORDS is None:
        rows = json.loads(_parsimon.registry())
        _WORDS = {row["name"]: next(tuple(s["words"]) for s in row["settings"] if s["name"] == "loss") for row in rows}
    return _WORDS


_WORDS: dict[str, tuple[str, ...]] | None = None


class Classifier(ClassifierMixin, _Parsimon):
    """The base of the classifiers: two classes with one set of weights, more with one set per class (one-vs-all)."""

    _losses = CLASS_LOSSES

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = _scores_poorly(self)
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, progress: bool = False) -> Self:
        """Learns the data set from the beginning, in ``passes`` passes.

        With ``shuffle`` the order depends on the rows and ``random_state`` only: a permutation of the rows gives the same model bit
        for bit, a row of weight 3 is a row three times, one of weight 0 is no row. Without, rows are learned as they stand.
        """
        with self._unchanged_if_refused():
            X, y = self._rows_and_labels(X, y, reset=True)
            check_classification_targets(y)
            weights = self._weights_of_set(sample_weight, X)
            kept = y if weights is None else y[weights > 0]
            self._set_classes(np.unique(kept))
            if weights is not None and len(kept) < len(y):
                # Rows of weight 0 are not there, whatever their class.
                y = np.where(weights > 0, y, self.classes_[0])
            self._fit(X, self._codes(y), weights, self._texts(), progress)
        return self

    @available_if(_can_stream)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learns the rows in their order, once. Any cut of a stream into calls gives the same model bit for bit."""
        if not hasattr(self, "_learner"):
            with self._unchanged_if_refused():
                self._first_fit(X, y, classes, sample_weight)
            return self
        X, y = self._rows_and_labels(X, y, reset=False)
        if classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ValueError(f"classes={classes!r} is not the same as on the last call to partial_fit, {self.classes_!r}")
        self._must_learn().learn(_native(X), self._codes(y), self._weights_of(sample_weight, X))
        return self

    def _first_fit(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        X, y = self._rows_and_labels(X, y, reset=True)
        check_classification_targets(y)
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit")
        self._set_classes(np.unique(classes))
        learner = self._build(X.shape[1], None, self._texts())
        self._learn(learner, X, self._codes(y), self._weights_of(sample_weight, X))

    def _set_classes(self, classes: np.ndarray) -> None:
        if len(classes) < 2:
            raise ValueError(f"{type(self).__name__} needs at least two classes, and the data has {len(classes)} class")
        self.classes_ = classes
        self.__dict__.pop("_code_of", None)

    def _texts(self) -> list[str]:
        # Truth is 1 in the program and its files.
        return [str(int(label) if isinstance(label, bool) else label) for label in self.classes_.tolist()]

    def _table_classes(self, table: Any, classes: Any) -> list[str]:
        self._set_classes(np.unique(classes) if classes is not None else _labels(table.labels()))
        return self._texts()

    def learn_file(
        self,
        path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        label: str | None = None,
        weight: str | None = None,
        ignore: Sequence[str] = (),
        text: Sequence[str] = (),
        format: str | None = None,
        bits: int | None = None,
        classes: Any = None,
        passes: int = 1,
        progress: bool = False,
    ) -> Self:
        """Learns files of any format the program reads: Parquet, Arrow, CSV, JSON lines, svmlight, VW; compressed or not.

        ``label`` and ``weight`` name columns, ``ignore`` columns that are no features, ``text`` columns whose numbers are categories.
        Names are hashed into ``2**bits`` slots. The classes are found by a scan, unless they are passed. Rows before a bad one are learned.
        """
        roles = _roles(label, weight, ignore, text, bits, format)
        return self._learn_table(_parsimon.Table.files(_paths(path), roles), classes, passes, progress)

    def learn_arrow(
        self,
        data: Any,
        *,
        label: str | None = None,
        weight: str | None = None,
        ignore: Sequence[str] = (),
        text: Sequence[str] = (),
        bits: int | None = None,
        classes: Any = None,
        passes: int = 1,
        progress: bool = False,
    ) -> Self:
        """Learns an Arrow table, record batch or reader, or a frame that offers itself as one, without a copy of its buffers.

        Columns are read as those of a file: see :meth:`learn_file`. A bad value is refused before the first row is learned.
        """
        roles = _roles(label, weight, ignore, text, bits, None)
        return self._learn_table(_parsimon.Table.arrow(data, roles), classes, passes, progress)

    def predict_file(self, path: Any, *, format: str | None = None) -> np.ndarray:
        """The class of every row of a file, which is read as the rows learned were."""
        return self._predicted(self._table_margins(_parsimon.Table.files(_paths(path), _roles(format=format))))

    def predict_arrow(self, data: Any) -> np.ndarray:
        """The class of every row of an Arrow table or record batch."""
        return self._predicted(self._table_margins(_parsimon.Table.arrow(data, _roles())))

    @available_if(_has_probabilities)
    def predict_proba_file(self, path: Any, *, format: str | None = None) -> np.ndarray:
        """The probability of every class, for every row of a file."""
        return _probabilities(self._table_margins(_parsimon.Table.files(_paths(path), _roles(format=format))))

    @available_if(_has_probabilities)
    def predict_proba_arrow(self, data: Any) -> np.ndarray:
        """The probability of every class, for every row of an Arrow table or record batch."""
        return _probabilities(self._table_margins(_parsimon.Table.arrow(data, _roles())))

    def _codes(self, y: np.ndarray) -> np.ndarray:
        if len(y) == 1:
            # PERF: one row at a time is a habit, and an array is a long way round.
            return np.array([self._code(y.item())])
        classes = self.classes_
        places = np.searchsorted(classes, y)
        known = classes[np.minimum(places, len(classes) - 1)] == y
        if not np.all(known):
            raise ValueError(f"y has the class {np.asarray(y)[~known][0]!r}, which is not among the classes {classes!r}")
        return places * 2.0 - 1.0 if len(classes) == 2 else places.astype(np.float64)

    def decision_function(self, X: Any) -> np.ndarray:
        """The margins: one per row, positive for the second class, or one per row and class."""
        margins = self._margins(X)
        return margins[:, 0] if margins.shape[1] == 1 else margins

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row."""
        return self._predicted(self._margins(X))

    def _predicted(self, margins: np.ndarray) -> np.ndarray:
        places = (margins[:, 0] > 0).astype(np.intp) if margins.shape[1] == 1 else margins.argmax(axis=1)
        return self.classes_[places]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class; of several, one-vs-all and scaled to sum to one."""
        return _probabilities(self._margins(X))

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0, classes: Any = None) -> Self:
        """Learns one row, a dictionary of features: names, or ids.

        The classes are those passed here or to ``partial_fit``; else False and True for a bool, -1 and 1 if the first label is -1, 0 and 1.
        """
        learner = getattr(self, "_learner", None)
        if learner is None:
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
        rows, y = _dicts(X), np.asarray(y)
        if not rows:
            return self
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        with self._unchanged_if_refused():
            first = not hasattr(self, "_learner")
            if first:
                self._set_classes(np.unique(classes) if classes is not None else _guessed(y[0]))
            learner = self._start_rows(rows[0], self._texts()) if first else self._must_learn()
            learner.learn_many([self._row(x) for x in rows], self._codes(y), weights)
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
        check_is_fitted(self)
        margins = self._learner.margins_one(self._row(x))
        place = int(margins[0] > 0) if len(margins) == 1 else int(np.argmax(margins))
        return self.classes_[place].item() if hasattr(self.classes_[place], "item") else self.classes_[place]

    def predict_many(self, X: Any) -> np.ndarray:
        """The class of every row of a list of dictionaries, or of a data frame."""
        return self._predicted(self._margins_many(X))

    @available_if(_has_probabilities)
    def predict_proba_many(self, X: Any) -> np.ndarray:
        """The probability of every class, for every row of a list of dictionaries or of a data frame."""
        return _probabilities(self._margins_many(X))

    @available_if(_has_probabilities)
    def predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """The probability of every class of one row."""
        check_is_fitted(self)
        margins = np.array([self._learner.margins_one(self._row(x))])
        return dict(zip(self.classes_.tolist(), _probabilities(margins)[0].tolist()))

    @property
    def coef_(self) -> Any:
        """The weights, one row per class, or one row for two classes."""
        return self._coef()

    @property
    def intercept_(self) -> np.ndarray:
        """The biases."""
        return np.array([bias for bias, _, _ in self._heads()])


def _probabilities(margins: np.ndarray) -> np.ndarray:
    from scipy.special import expit

    positive = expit(margins)
    if margins.shape[1] == 1:
        return np.hstack([expit(-margins), positive])
    total = positive.sum(axis=1, keepdims=True)
    return np.where(total > 0, positive / np.where(total > 0, total, 1), 1 / margins.shape[1])


def _roles(
    label: str | None = None,
    weight: str | None = None,
    ignore: Sequence[str] = (),
    text: Sequence[str] = (),
    bits: int | None = None,
    format: str | None = None,
) -> dict[str, Any]:
    return {"label": label, "weight": weight, "ignore": list(ignore), "text": list(text), "bits": bits, "format": format}


def _guessed(y: Any) -> np.ndarray:
    if isinstance(y, (bool, np.bool_)):
        return np.array([False, True])
    if not isinstance(y, (int, float, np.number)) or y not in (-1, 0, 1):
        raise ValueError(f"classes must be passed with the first row: {y!r} is neither a bool nor -1, 0 or 1")
    return np.array([-1, 1]) if y == -1 else np.array([0, 1])


def _dicts(X: Any) -> list[dict[Any, Any]]:
    if hasattr(X, "to_dicts"):
        return X.to_dicts()
    if hasattr(X, "to_dict"):
        return X.to_dict(orient="records")
    return list(X)


class Regressor(RegressorMixin, _Parsimon):
    """The base of the regressors."""

    _losses = NUMBER_LOSSES

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = _scores_poorly(self)
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, progress: bool = False) -> Self:
        """Learns the data set from the beginning, in ``passes`` passes; the order is that of :meth:`Classifier.fit`."""
        with self._unchanged_if_refused():
            X, y = self._rows_and_labels(X, y, reset=True)
            weights = self._weights_of_set(sample_weight, X)
            self._fit(X, np.ascontiguousarray(y, dtype=np.float64), weights, [], progress)
        return self

    @available_if(_can_stream)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns the rows in their order, once. Any cut of a stream into calls gives the same model bit for bit."""
        if not hasattr(self, "_learner"):
            with self._unchanged_if_refused():
                X, y = self._rows_and_labels(X, y, reset=True)
                learner = self._build(X.shape[1], None, [])
                self._learn(learner, X, np.ascontiguousarray(y, dtype=np.float64), self._weights_of(sample_weight, X))
            return self
        X, y = self._rows_and_labels(X, y, reset=False)
        y = np.ascontiguousarray(y, dtype=np.float64)
        self._must_learn().learn(_native(X), y, self._weights_of(sample_weight, X))
        return self

    def learn_file(
        self,
        path: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        label: str | None = None,
        weight: str | None = None,
        ignore: Sequence[str] = (),
        text: Sequence[str] = (),
        format: str | None = None,
        bits: int | None = None,
        passes: int = 1,
        progress: bool = False,
    ) -> Self:
        """Learns files of any format the program reads; as :meth:`Classifier.learn_file`."""
        roles = _roles(label, weight, ignore, text, bits, format)
        return self._learn_table(_parsimon.Table.files(_paths(path), roles), None, passes, progress)

    def learn_arrow(
        self,
        data: Any,
        *,
        label: str | None = None,
        weight: str | None = None,
        ignore: Sequence[str] = (),
        text: Sequence[str] = (),
        bits: int | None = None,
        passes: int = 1,
        progress: bool = False,
    ) -> Self:
        """Learns an Arrow table, record batch, reader or frame; as :meth:`Classifier.learn_arrow`."""
        roles = _roles(label, weight, ignore, text, bits, None)
        return self._learn_table(_parsimon.Table.arrow(data, roles), None, passes, progress)

    def predict_file(self, path: Any, *, format: str | None = None) -> np.ndarray:
        """The number of every row of a file, which is read as the rows learned were."""
        return self._mean(self._table_margins(_parsimon.Table.files(_paths(path), _roles(format=format)))[:, 0])

    def predict_arrow(self, data: Any) -> np.ndarray:
        """The number of every row of an Arrow table or record batch."""
        return self._mean(self._table_margins(_parsimon.Table.arrow(data, _roles()))[:, 0])

    def predict(self, X: Any) -> np.ndarray:
        """The number of every row."""
        return self._mean(self._margins(X)[:, 0])

    def _mean(self, margins: Any) -> Any:
        if self.settings_["loss"] == "poisson":
            return np.exp(np.minimum(margins, 700.0))
        return margins

    def learn_one(self, x: dict[Any, Any], y: float, w: float = 1.0) -> Self:
        """Learns one row, a dictionary of features: names, or ids."""
        learner = getattr(self, "_learner", None)
        if learner is None:
            with self._unchanged_if_refused():
                learner = self._start_rows(x, [])
                learner.learn_one(self._row(x), y, w)
                self._adopt(learner)
            return self
        learner.learn_one(x if self.__dict__.get("_places") == {} else self._row(x), y, w)
        return self

    def learn_many(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns a list of dictionaries, or a data frame; the same as ``learn_one`` in a loop, bit for bit."""
        rows = _dicts(X)
        if not rows:
            return self
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        with self._unchanged_if_refused():
            first = not hasattr(self, "_learner")
            learner = self._start_rows(rows[0], []) if first else self._must_learn()
            learner.learn_many([self._row(x) for x in rows], np.asarray(y, dtype=np.float64), weights)
            if first:
                self._adopt(learner)
        return self

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The number of one row."""
        check_is_fitted(self)
        return float(self._mean(self._learner.margins_one(self._row(x))[0]))

    def predict_many(self, X: Any) -> np.ndarray:
        """The number of every row of a list of dictionaries, or of a data frame."""
        return np.asarray(self._mean(self._margins_many(X)[:, 0]))

    @property
    def coef_(self) -> Any:
        """The weights."""
        coef = self._coef()
        return coef if sp.issparse(coef) else coef[0]

    @property
    def intercept_(self) -> float:
        """The bias."""
        return self._heads()[0][0]


def load(path: str | os.PathLike[str]) -> Any:
    """Reads a model file, which predicts, or a checkpoint, which learns on; the program's or ours."""
    from . import _named

    path = os.fspath(path)
    native: _parsimon.Learner | _parsimon.Model
    try:
        native = _parsimon.Learner.resume(path)
    except ValueError as error:
        if "is a model, not a checkpoint" not in str(error):
            raise
        native = _parsimon.Model.load(path)
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


def _labels(texts: list[str]) -> np.ndarray:
    for kind in (int, float):
        try:
            return np.array([kind(text) for text in texts])
        except ValueError:
            pass
    return np.array(texts)
