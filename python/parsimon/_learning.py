"""Learning: data sets, streams, rows as dictionaries, tables."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _parsimon
from ._arrays import Arrays, _native, _rows_of
from ._columns import report, roles
from ._errors import warn_all
from ._frames import checked_labels, free_name, has_words, refuse_missing, row_count, taken, with_column, without_index
from ._progress import bar
from ._settings import BITS, _can_stream
from ._typing import Floats

if TYPE_CHECKING:
    from typing_extensions import Self


#: The passes of ``fit`` where none are asked for and nothing chooses them.
USUAL_PASSES = 10

#: Fewer rows decide nothing.
FEW_ROWS = 60


def checked_passes(passes: Any) -> int:
    """The passes that a caller asks for."""
    if isinstance(passes, bool) or not isinstance(passes, (int, np.integer)) or passes < 1:
        raise ValueError(f"passes must be a whole number >= 1, got {passes!r}")
    return int(passes)


class Learning(Arrays):
    """An estimator that learns."""

    #: The passes of the last ``fit``.
    n_iter_: int

    def _build(self, columns: int | None, rows: int | None, classes: list[str], bits: int | None = None) -> Any:
        spec = self._complete(classes)
        return _parsimon.Learner(spec, classes=classes, dimension=columns, rows=rows, bits=bits, **self._frame())

    def _adopt(self, learner: Any) -> None:
        self._learner, self.n_iter_, self._sparse = learner, 1, False
        self.__dict__.pop("_stale", None)

    def _goes_on(self) -> bool:
        """Whether ``fit`` begins with what was learned before."""
        if not self.warm_start or not hasattr(self, "_learner"):
            return False
        if not _can_stream(self):
            raise ValueError("warm_start needs a schedule that does not depend on the number of rows; fit without it")
        self._must_learn()
        return True

    def _fit(self, X: Any, codes: Floats, weights: Floats | None, classes: list[str], progress: bool, goes_on: bool) -> None:
        passes = self._passes()
        rows = X.shape[0] if weights is None else _rows_of(weights)
        learner = self._learner if goes_on else self._build(X.shape[1], rows * (passes or USUAL_PASSES), classes)
        seed = self._seed() if self.shuffle else None
        with bar(progress or bool(self.verbose), None if passes is None else X.shape[0] * passes) as tick:
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
        warn_all(learner.take_warnings())

    def _passes(self) -> int | None:
        """The passes of ``fit``; ``None`` where rows that are held out decide."""
        passes = self.passes
        if passes is None:
            return None if self._chooses_passes() else USUAL_PASSES
        return checked_passes(passes)

    def _chooses_passes(self) -> bool:
        """Whether rows that are held out decide the passes: of the default method, where the order of the rows may change."""
        return bool(self.shuffle) and self._spec()["algorithm"] == "auto"

    def _learn(self, learner: Any, X: Any, codes: Floats, weights: Floats | None) -> None:
        try:
            learner.learn(_native(X), codes, weights)
        except KeyboardInterrupt:
            # The rows before are learned, and the model is as good as any.
            if not hasattr(self, "_learner"):
                self._adopt(learner)
            raise
        if not hasattr(self, "_learner"):
            self._adopt(learner)
        warn_all(learner.take_warnings())

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

    def partial_fit_stream(self, chunks: Iterable[Any], *, progress: bool = False, **given: Any) -> Self:
        """Learns chunks from an iterator or generator, one after the other, as ``partial_fit`` and ``learn_arrow`` do.

        A chunk is a tuple ``(X, y)`` or ``(X, y, sample_weight)`` for ``partial_fit``, or an Arrow table, record batch or data frame for
        ``learn_arrow``; keywords are passed on (``classes``, or ``label`` and others). Any cut of a stream into chunks gives the same
        model bit for bit. The chunks before one that is refused, or before Ctrl-C, are learned; an error names the chunk, counted from 0.

        >>> import numpy as np
        >>> from parsimon import FTRLClassifier
        >>> rng = np.random.default_rng(0)
        >>> def chunks():
        ...     for _ in range(10):
        ...         X = rng.normal(size=(100, 5))
        ...         yield X, X[:, 0] > 0
        >>> FTRLClassifier().partial_fit_stream(chunks(), classes=[False, True]).n_rows_
        1000
        """
        if hasattr(chunks, "shape") or isinstance(chunks, (str, bytes, dict)):
            raise TypeError(f"partial_fit_stream takes an iterator of chunks, got {type(chunks).__name__}; pass one chunk to partial_fit")
        with bar(progress, None) as tick:
            for place, chunk in enumerate(chunks):
                before = self.n_rows_ if hasattr(self, "_learner") else 0
                try:
                    self._learn_chunk(chunk, given)
                except (ValueError, TypeError) as error:
                    error.args = (f"chunk {place}: {error.args[0] if error.args else ''}", *error.args[1:])
                    raise
                if tick is not None:
                    tick(self.n_rows_ - before, self.progressive_loss_)
        if hasattr(self, "_learner"):
            warn_all(self._must_learn().take_warnings(True))
        return self

    def _learn_chunk(self, chunk: Any, given: dict[str, Any]) -> None:
        if not isinstance(chunk, (tuple, list)):
            self.learn_arrow(chunk, **given)  # type: ignore[attr-defined]
            return
        if len(chunk) not in (2, 3):
            raise ValueError(f"a chunk is (X, y) or (X, y, sample_weight), got {len(chunk)} parts")
        weights = {"sample_weight": chunk[2]} if len(chunk) == 3 else {}
        self.partial_fit(chunk[0], chunk[1], **weights, **given)  # type: ignore[attr-defined]

    # One row at a time.

    def _row(self, x: dict[Any, Any]) -> dict[Any, Any]:
        """A row of a learner that knows columns: names become ids."""
        places = getattr(self, "_places", None)
        if places is None:
            # A learner that knows features by name takes them as they are.
            is_named = getattr(self.__dict__.get("_learner"), "bits", None) is not None
            names = None if is_named else getattr(self, "feature_names_in_", None)
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

    def _margins_many(self, X: Any) -> Floats:
        check_is_fitted(self)
        return self._learner.margins_many(self._placed(_named(X)))

    def _placed(self, rows: Any) -> Any:
        """The rows of ``_named`` as the learner takes them."""
        if not isinstance(rows, tuple):
            return [self._row(x) for x in rows]
        names, values = rows
        return list(self._row(dict.fromkeys(names))), values

    # Tables that the native readers read.

    def _learn_table(
        self, table: Any, given: dict[str, Any], classes: Any, passes: int | None, progress: bool, *, may_shuffle: bool = True
    ) -> Self:
        passes = None if passes is None else checked_passes(passes)
        if hasattr(self, "_learner"):
            learner = self._must_learn()
            with bar(progress, None) as tick:
                learner.learn_table(table, passes or 1, tick)
            warn_all(learner.take_warnings())
            return self
        with self._unchanged_if_refused():
            texts = None
            if self._needs_classes():
                labels = table.survey(json.dumps(self._spec()), True)[0] if classes is None else None
                texts = self._table_classes(labels, classes)
            spec = self._complete(texts or [])
            # The default method learns rows again in random order where their order misleads; a method that is named learns them as they come.
            may_shuffle = may_shuffle and self._chooses_passes()
            if passes is None and not self._chooses_passes():
                passes = 1
            with bar(progress, None) as tick:
                trained = _parsimon.Learner.train(
                    spec, table, classes=texts, passes=passes, may_shuffle=may_shuffle, tick=tick, **self._frame()
                )
            learner, notices, trouble, made = trained
            # Rows before a bad one, or before Ctrl-C, are learned.
            if learner is not None:
                self._adopt(learner)
                self.n_iter_ = made
            elif trouble is not None:
                warn_all(notices)
                raise trouble
        report(learner, given)
        warn_all(notices)
        if trouble is not None:
            raise trouble
        return self

    # Frames with texts.

    def _learn_frame(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, whole: bool, progress: bool = False) -> Self:
        """Learns a frame that has columns of texts or categories: a ``whole`` data set from the beginning, or a piece of a stream."""
        values = checked_labels(X, y)
        named = free_name(X, getattr(y, "name", None))
        frame = with_column(without_index(X), named, self._frame_labels(values))
        given: dict[str, Any] = {"label": named}
        weights = self._weights_of_set(sample_weight, X) if whole else self._weights_of(sample_weight, X)
        if weights is not None:
            given["weight"] = free_name(frame, "weight")
            frame = with_column(frame, given["weight"], weights)
        if whole and self.shuffle:
            frame = taken(frame, np.random.default_rng(self._seed()).permutation(row_count(X)))
        columns = roles(**given)
        with self._unchanged_if_refused():
            goes_on = not whole or self._goes_on()
            if not goes_on:
                for name in ("_learner", "_stale", "n_features_in_", "feature_names_in_"):
                    self.__dict__.pop(name, None)
            passes = self._passes() if whole else 1
            if passes is None and (goes_on or row_count(X) < FEW_ROWS):
                passes = USUAL_PASSES
            table = _parsimon.Table.arrow(frame, columns)
            self._learn_table(table, columns, classes, passes, progress or bool(self.verbose), may_shuffle=False)
            if whole and passes is not None:
                self.n_iter_ = passes
            if hasattr(X, "columns"):
                self.feature_names_in_ = np.array([str(name) for name in X.columns], dtype=object)
                self.n_features_in_ = len(self.feature_names_in_)
        return self

    def _frame_labels(self, values: Any) -> Any:
        return np.ascontiguousarray(values, dtype=np.float64)

    def _frame_margins(self, X: Any) -> Floats | None:
        """The margins of a frame, where the model knows its columns by name."""
        learner = getattr(self, "_learner", None)
        if learner is None or not hasattr(X, "__arrow_c_stream__") or learner.bits is None or learner.schema is None:
            return None
        refuse_missing(X, json.loads(learner.schema))
        return self._table_margins(_parsimon.Table.arrow(without_index(X), roles()))

    def _margins(self, X: Any) -> Floats:
        found = self._frame_margins(X)
        if found is not None:
            return found
        if has_words(X):
            raise ValueError("the model learned numbers without texts; predict rows with the columns that it learned")
        return super()._margins(X)

    def _needs_classes(self) -> bool:
        """Whether labels are classes."""
        return False

    def _table_classes(self, labels: list[str] | None, classes: Any) -> list[str]:
        return []

    @property
    def schema_(self) -> dict[str, Any] | None:
        """The kinds of the columns of the table that was learned, its label and its weight; ``None`` where it was no table."""
        check_is_fitted(self)
        found = self._learner.schema
        return None if found is None else json.loads(found)

    def _table_margins(self, table: Any) -> Floats:
        check_is_fitted(self)
        return self._learner.margins_table(table)


def _named(X: Any) -> Any:
    """A list of dictionaries; of a pandas frame of numbers the names of its columns and an array, which costs no dictionary per row."""
    if type(X).__module__.partition(".")[0] == "pandas" and hasattr(X, "dtypes"):
        kinds = [getattr(dtype, "kind", "O") if isinstance(dtype, np.dtype) else "O" for dtype in X.dtypes]
        if kinds and all(kind in "fiub" for kind in kinds) and X.columns.is_unique:
            return (list(X.columns), np.ascontiguousarray(X.to_numpy(dtype=np.float64))) if len(X) else []
    return _dicts(X)


def _dicts(X: Any) -> list[dict[Any, Any]]:
    if hasattr(X, "to_dicts"):
        return X.to_dicts()
    if hasattr(X, "to_dict"):
        return X.to_dict(orient="records")
    return list(X)
