"""What all estimators share: settings, arrays, learning, weights."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _parsimon
from ._columns import report
from ._errors import BadRowError
from ._html import summary
from ._progress import bar

if TYPE_CHECKING:
    from typing_extensions import Self

CLASS_LOSSES = ("logistic", "hinge", "squared-hinge", "halfspace")
#: Losses of numbers that a classifier may have: its two classes are learned as -1 and 1.
AS_NUMBERS = ("squared", "projection")
NUMBER_LOSSES = ("squared", "huber", "quantile", "poisson", "projection")
#: Names are hashed into 2**22 slots, as the program does.
BITS = 22
#: Losses by their names in scikit-learn and River.
_ELSEWHERE = {
    "log_loss": "logistic",
    "log": "logistic",
    "squared_error": "squared",
    "squared_loss": "squared",
    "squared_hinge": "squared-hinge",
}
_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
#: scikit-learn takes a parameter called alpha for a strength; where any method may be named, ours is called otherwise.
_RENAMED = {"metric_alpha": "alpha"}
_OURS = {name: ours for ours, name in _RENAMED.items()}


_FRAME = ("precision", "fit_intercept")


def _equal(a: Any, b: Any) -> bool:
    """Whether two values of a setting are the same one."""
    return a is b or _plain(a) == _plain(b)


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
    if isinstance(value, dict):
        return {_text(_plain(label)): _plain(item) for label, item in value.items()}
    return value


def _text(label: Any) -> str:
    """A label as the program and its files have it: truth is 1."""
    return str(int(label) if isinstance(label, bool) else label)


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
    own = estimator.__dict__
    # PERF: asked at every call of predict_proba_one, and only these have a say.
    key = (estimator._algorithm or own["algorithm"], own.get("loss"), estimator._losses)
    try:
        loss = _RESOLVED_LOSS[key]
    except (KeyError, TypeError):
        loss = estimator._resolved()[0]["loss"]
        if isinstance(key[1], (str, type(None))):
            _RESOLVED_LOSS[key] = loss
    if loss == "logistic" or getattr(own.get("_learner"), "calibration", None) is not None:
        return True
    raise AttributeError(f"probabilities need the logistic loss, not {loss}")


_RESOLVED_LOSS: dict[Any, str] = {}


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
    #: Settings that were changed after learning, with what they were.
    _stale: ClassVar[dict[str, Any]] = {}

    # Settings.

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if "_learner" in own and (name in self._settings or name in _FRAME) and name in own:
            learned_with = self._stale.get(name, own[name])
            stale = {other: before for other, before in self._stale.items() if other != name}
            if not _equal(learned_with, value):
                stale[name] = learned_with
            own["_stale"] = stale
        super().__setattr__(name, value)

    def _refuse_changed(self) -> None:
        changed = ", ".join(f"{name} was {before!r} and is {getattr(self, name)!r}" for name, before in self._stale.items())
        raise ValueError(f"settings were changed after learning: {changed}. Call fit, or set them back, or learn with a clone")

    def _spec(self) -> dict[str, Any]:
        name = self._algorithm or self.algorithm
        spec = {"algorithm": name}
        for setting in self._settings:
            value = _plain(getattr(self, setting))
            if setting == "loss" and value in _ELSEWHERE:
                raise ValueError(f"loss={value!r} is called {_ELSEWHERE[value]!r} here")
            if value is not None:
                spec[_RENAMED.get(setting, setting)] = value
        if "loss" not in spec:
            loss = self._default_loss(name)
            if loss is not None:
                spec["loss"] = loss
        return spec

    def _own_name(self, name: str, algorithm: str | None = None) -> str:
        """The name of a setting here, which may be given by the papers' name: ``eta`` is the rate, ``lambda1`` is l1."""
        if name in self.get_params(deep=False):
            return name
        setting = _parsimon.setting_name(self._algorithm or algorithm or self.algorithm, name)
        return _OURS.get(setting, setting)

    def set_params(self, **params: Any) -> Self:
        """Sets settings, by their names here or by the papers': ``eta`` is the rate, ``lambda1`` is l1."""
        own = {self._own_name(name, params.get("algorithm")): value for name, value in params.items()}
        if len(own) < len(params):
            raise ValueError(f"a setting is given twice, by two of its names: {', '.join(params)}")
        super().set_params(**own)
        return self

    def _default_loss(self, name: str) -> str | None:
        words = _loss_words().get(name, ())
        return next((word for word in self._losses if word in words), None)

    def _resolved(self) -> tuple[dict[str, Any], bool, bool]:
        """The settings after defaults, and whether the number of features and of rows is still to be found."""
        text, needs_dimension, needs_rows = _parsimon.resolve(json.dumps(self._spec()))
        return json.loads(text), needs_dimension, needs_rows

    def _complete(self, classes: list[str]) -> str:
        """The spec of a learner for these classes."""
        spec = self._spec()
        self._check_loss(self._resolved()[0])
        if len(classes) > 2:
            spec["multiclass"], spec["classes"] = True, classes
        return json.dumps(spec)

    def _frame(self) -> dict[str, Any]:
        return {"precision": self.precision, "bias": bool(getattr(self, "fit_intercept", False))}

    def _build(self, columns: int | None, rows: int | None, classes: list[str], bits: int | None = None) -> Any:
        spec = self._complete(classes)
        return _parsimon.Learner(spec, classes=classes, dimension=columns, rows=rows, bits=bits, **self._frame())

    def _adopt(self, learner: Any) -> None:
        self._learner, self.n_iter_, self._sparse = learner, 1, False
        self.__dict__.pop("_stale", None)

    def _check_loss(self, settings: dict[str, Any]) -> None:
        loss, name = settings["loss"], settings["algorithm"]
        if loss not in self._losses:
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
        if weights is not None and not (weights >= 0).all():
            row = int(np.argmin(weights >= 0))
            raise BadRowError(f"sample_weight must be a finite number >= 0, got {weights[row]} at row {row}", row=row)
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
        rows = X.shape[0] if weights is None else _rows_of(weights)
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
        if self._stale:
            self._refuse_changed()
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

    def _learn_table(self, table: Any, given: dict[str, Any], classes: Any, passes: int, progress: bool) -> Self:
        if hasattr(self, "_learner"):
            learner = self._must_learn()
            with bar(progress, None) as tick:
                learner.learn_table(table, passes, tick)
            return self
        trouble: BaseException | None = None
        with self._unchanged_if_refused():
            learner = self._learner_for(table, classes, passes)
            report(learner, given)
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
        labels, dimension, rows = table.survey(json.dumps(self._spec()), self._needs_labels(classes))
        texts = self._table_classes(labels, classes)
        rounds = None if rows is None else rows * passes
        spec = self._complete(texts)
        return _parsimon.Learner.for_table(
            spec, table, classes=texts, dimension=dimension, rows=rounds, **self._frame()
        )

    def _needs_labels(self, classes: Any) -> bool:
        return False

    def _table_classes(self, labels: list[str] | None, classes: Any) -> list[str]:
        return []

    @property
    def schema_(self) -> dict[str, Any] | None:
        """The kinds of the columns of the table that was learned, its label and its weight; ``None`` where it was no table."""
        check_is_fitted(self)
        found = self._learner.schema
        return None if found is None else json.loads(found)

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


def _rows_of(weights: np.ndarray) -> int:
    """A weight of 3 is a row three times, also when rows are counted. Weights that are no such counts are refused later."""
    most = 2.0**53
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(weights.sum())
    return round(min(max(total, 0.0), most)) if total == total else len(weights)


def _dicts(X: Any) -> list[dict[Any, Any]]:
    if hasattr(X, "to_dicts"):
        return X.to_dicts()
    if hasattr(X, "to_dict"):
        return X.to_dict(orient="records")
    return list(X)


def _labels(texts: list[str]) -> np.ndarray:
    for kind in (int, float):
        try:
            return np.array([kind(text) for text in texts])
        except ValueError:
            pass
    return np.array(texts)
