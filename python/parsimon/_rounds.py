"""What trainers on every engine share: the settings, the rounds, and what is left at the end."""

from __future__ import annotations

import json
import logging
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from . import _parsimon, _worker
from ._errors import warn_all
from ._settings import CLASS_LOSSES, _plain
from ._worker import Columns, Turn, Winner

_log = logging.getLogger("parsimon")

#: Labels of more kinds than this are taken for numbers by mistake.
MOST_CLASSES = 10_000

#: Rows on which the settings of ``auto`` are chosen. The driver learns them while the workers wait.
RACE_ROWS = 100_000

#: Merges of an epoch where none are asked for: few below so many rows, where a job takes longer than the learning in it.
MANY_ROWS, FEW_MERGES, MANY_MERGES = 1_000_000, 4, 16

#: Beyond this spread of the labels over the partitions ``scaled`` loses more than ``damped`` (``record/cluster.md``).
MOST_SPREAD = 0.25

#: Rows a second that one machine learns at least, the race of ``auto`` included (``record/spark.md``).
ONE_MACHINE = 100_000

#: Rows times classes times passes, at most, where several passes are made without being asked for; and the rows below which nothing is decided.
MOST_VISITS, FEW_ROWS = 1_000_000, 60

#: Settings that follow from the data and do not tell two trainings apart.
_FOUND = ("algorithm", "classes", "multiclass", "dimension")


@dataclass(frozen=True)
class Seen:
    """What a scan of the labels has found."""

    rows: int
    #: Partitions that have rows, each of which is a worker.
    partitions: int
    #: Where labels are classes.
    labels: frozenset[Any] = frozenset()
    #: How much the shares of the labels differ between partitions: 0 where they are the same, 1 where no two labels share a partition.
    spread: float = 0.0

    @classmethod
    def of(cls, counts: Sequence[tuple[int, Mapping[Any, int]]]) -> Seen:
        """From the rows and the number of each label, partition by partition."""
        counts = [(rows, labels) for rows, labels in counts if rows]
        total: Counter[Any] = Counter()
        for _, labels in counts:
            total.update(labels)
        rows = sum(n for n, _ in counts)
        # Cramer's V, squared.
        squares = sum(k * k / (n * total[label]) for n, labels in counts for label, k in labels.items())
        most = min(len(total), len(counts)) - 1
        spread = (squares - 1.0) / most if most > 0 else 0.0
        return cls(rows, len(counts), frozenset(total), spread)


@dataclass(frozen=True)
class Round:
    """One round of a training: where it stands, and what the state is after it."""

    epoch: int
    turn: int
    rows: int
    loss: float | None
    nonzeros: int


@dataclass(frozen=True)
class Fitted:
    """What a training leaves behind: the state, from which training can go on, and the model in it.

    ``winner`` is the setting that a race on a sample has chosen (``auto``); ``None`` where the method was named.
    """

    state: bytes
    columns: Columns
    history: list[Round] = field(default_factory=list)
    winner: Winner | None = None

    @classmethod
    def of_state(cls, state: bytes, columns: Columns) -> Fitted:
        """A state that was saved; its labels are those of ``columns`` if there are any, else they are read off the state."""
        if not columns.classes:
            columns = replace(columns, classes=_labels_of(_parsimon.Learner.from_checkpoint(state).classes))
        return cls(state, columns)

    @property
    def learner(self) -> Any:
        """The state as a native learner."""
        return _parsimon.Learner.from_checkpoint(self.state)

    @property
    def schema(self) -> dict[str, Any] | None:
        """The kinds of the columns, where rows are read as a table."""
        found = self.learner.schema
        return None if found is None else dict(json.loads(found))

    @property
    def nonzeros(self) -> int:
        """Weights that are not zero."""
        return int(self.learner.nonzeros)

    @property
    def rows(self) -> int:
        """Rows learned, over all epochs."""
        return int(self.learner.rows)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, as the program does and ``parsimon.load`` reads."""
        self.learner.save_model(path)

    def model(self) -> bytes:
        """The bytes of a model file."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.psm")
            self.save(path)
            with open(path, "rb") as file:
                return file.read()

    def score(self, batch: pa.RecordBatch) -> Scores:
        """Scores of the rows of a batch."""
        return score(self.model(), batch, self.columns)


def _labels_of(texts: Sequence[str]) -> tuple[Any, ...]:
    """Labels from their texts in a state: whole numbers, numbers, or the texts themselves."""
    for kind in (int, float):
        try:
            found = tuple(kind(text) for text in texts)
        except ValueError:
            continue
        if [str(label) for label in found] == list(texts):
            return found
    return tuple(texts)


@dataclass(frozen=True)
class Scores:
    """Of every row: a margin per class (one for two classes), what is predicted, and probabilities where there are any.

    ``places`` are the positions of the predicted labels among the classes; ``None`` where numbers are predicted.
    """

    margins: np.ndarray[Any, Any]
    predictions: pa.Array
    probabilities: np.ndarray[Any, Any] | None
    places: np.ndarray[Any, Any] | None = None


@lru_cache(maxsize=4)
def _loaded(model: bytes) -> tuple[Any, dict[str, Any]]:
    loaded = _parsimon.Model.from_bytes(model)
    return loaded, json.loads(loaded.settings)


def loss_of(model: bytes) -> str:
    """The name of the loss that a model was trained with."""
    return str(_loaded(model)[1]["loss"])


def score(
    model: bytes, batch: pa.RecordBatch, columns: Columns, thresholds: Sequence[float] | None = None
) -> Scores:
    """Scores by a model file's bytes; engine-free, and kept open between batches.

    With ``thresholds``, one per class, the class with the largest ratio of probability to threshold is predicted.
    """
    native, settings = _loaded(model)
    margins = _worker.margins(native, batch, columns)
    loss = settings["loss"]
    if columns.classes:
        probabilities = _probabilities(margins, loss) if loss in ("logistic", "softmax") else None
        if thresholds is not None and probabilities is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                # As Spark has it: a class whose threshold is 0 is predicted wherever its probability is not 0.
                ratios = np.where(probabilities > 0, probabilities / np.asarray(thresholds), 0.0)
            places = ratios.argmax(axis=1)
        else:
            places = (margins[:, 0] > 0).astype(np.int64) if margins.shape[1] == 1 else margins.argmax(axis=1)
        places = np.minimum(places, len(columns.classes) - 1)
        return Scores(margins, pa.array(list(columns.classes)).take(pa.array(places)), probabilities, places)
    numbers = _parsimon.link(loss, margins[:, 0])
    return Scores(margins, pa.array(numbers), None)


def _probabilities(margins: np.ndarray[Any, Any], loss: str) -> np.ndarray[Any, Any]:
    if loss == "softmax" and margins.shape[1] > 1:
        together: np.ndarray[Any, Any] = _parsimon.link("softmax", margins)
        return together
    p = _parsimon.link("logistic", margins)
    if p.shape[1] == 1:
        return np.column_stack([1.0 - p[:, 0], p[:, 0]])
    total = p.sum(axis=1, keepdims=True)
    shares: np.ndarray[Any, Any] = np.where(total > 0, p / np.where(total > 0, total, 1.0), 1.0 / p.shape[1])
    return shares


class Rounds:
    """Settings of a training in rounds, whatever engine runs them.

    Parameters
    ----------
    algorithm : str
        ``auto``, or a method that can be merged, by its name; the others are refused with the reason. ``auto`` is FTRL-Proximal on
        normalized rows: the driver first learns the first rows of the first partitions (up to 100,000, in their order) with many rates
        and penalties side by side, and the one that wins is then trained on all rows by the workers. The winner is in
        ``Fitted.winner``, and is logged (logger ``parsimon``, level ``INFO``; a ``WARNING`` if it is a constant). The same rows in the
        same partitions choose the same setting. Rows sorted by their labels are no sample: shuffle them.
    epochs : int
        How often every row is learned.
    merges : int or None
        How often in an epoch the workers' states are made into one. More merges are closer to one sequential pass and cost one job
        each. ``None``: 4 below a million rows and 16 from there on; 1 where all rows are in one partition.
    features, table, label, weight : column names
        See :class:`parsimon._worker.Columns`. With ``features=None`` all columns, or those of ``table``, are read by their kinds, which
        the first 10,000 rows show, as those of a CSV or Parquet file are; what was found is in ``Fitted.schema`` and is logged.
    classes : sequence or None
        The labels in their order; found by a scan if absent. Regression has none. Without ``classes`` and without a ``loss``, labels that
        are more than two numbers are learned as numbers, with the squared loss, as in a file.
    combine : "scaled", "damped", "sum" or "mean"
        With ``scaled`` a worker counts each of its rows as one row of every worker, and the sums of gradients are averaged: closest to one
        sequential pass where every partition has rows of all kinds. It is for the logistic loss and methods with AdaGrad's metric; others, and
        partitions with very different labels, are combined as with ``damped``. ``sum`` adds up what the workers added to the sums of gradients (methods that keep weights average
        them anyway); ``damped`` does, but for what several workers have corrected alike; ``mean`` averages everything.
    precision : "f64" or "f32"
    fit_intercept : bool
    slices : int or None
        In how many parts, by feature, deltas are merged. Does not change the result; ``None`` leaves it to the engine.
    **settings
        Of the method: ``l1``, ``rate``, ``loss``, ``normalize``, ... For ``auto``, a ``rate`` or ``l1`` that is given is kept, and the
        race chooses the other.
    """

    def __init__(
        self,
        algorithm: str = "auto",
        *,
        epochs: int = 1,
        merges: int | None = None,
        features: str | tuple[str, ...] | list[str] | None = "features",
        table: Iterable[str] = (),
        label: str = "label",
        weight: str | None = None,
        classes: Iterable[Any] | None = None,
        combine: str = "scaled",
        precision: str = "f64",
        fit_intercept: bool = True,
        slices: int | None = None,
        **settings: Any,
    ) -> None:
        for name, value in (("epochs", epochs), ("merges", merges), ("slices", slices)):
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        if combine not in ("scaled", "damped", "sum", "mean"):
            raise ValueError(f"combine must be scaled, damped, sum or mean, got {combine}")
        super().__init__()
        self.epochs, self.merges = epochs, merges
        self.features = features if features is None or isinstance(features, str) else tuple(features)
        self.table = tuple(table)
        self.label, self.weight = label, weight
        self.classes = None if classes is None else tuple(classes)
        self.combine, self.precision, self.fit_intercept = combine, precision, fit_intercept
        self.slices = slices
        self.spec = {"algorithm": algorithm, **{name: _plain(value) for name, value in settings.items()}}
        # Errors in the settings are raised here, before a cluster is at work.
        self.settings = json.loads(_parsimon.resolve(json.dumps(self.spec))[0])
        if not self.learns_classes:
            self.classes = ()
        weights = self.spec.get("class_weight")
        classes = self.classes or (tuple(weights) if isinstance(weights, dict) else ())
        leader = _worker.race(self.spec, [], self.columns(classes), precision=precision, bias=fit_intercept)
        spec = self.spec if leader is None else leader.settings
        _worker.start(spec, precision=precision, bias=fit_intercept, classes=classes)

    @property
    def learns_classes(self) -> bool:
        """Whether labels are classes, by the loss."""
        return self.settings["loss"] in CLASS_LOSSES

    def columns(self, classes: Iterable[Any]) -> Columns:
        """Which columns are read."""
        return Columns(self.features, self.label, self.weight, tuple(classes), self.table)

    def for_labels(self, seen: Seen, initial: Fitted | None) -> Rounds:
        """The training with the loss that the labels ask for, where none was named: that of ``initial``, or the squared loss for numbers."""
        if "loss" in self.spec or self.classes is not None:
            return self
        if initial is not None:
            loss = json.loads(initial.learner.settings)["loss"]
        elif self.learns_classes and are_numbers(seen.labels):
            loss = "squared"
            _log.warning(
                "the labels are numbers, and are learned as numbers, with the squared loss; "
                "for classes pass loss='logistic', or name them with classes=[...]"
            )
        else:
            return self
        if loss == self.settings["loss"]:
            return self
        found = copy(self)
        found.spec = {**self.spec, "loss": loss}
        found.settings = json.loads(_parsimon.resolve(json.dumps(found.spec))[0])
        if not found.learns_classes:
            found.classes = ()
        return found

    def _classes(self, seen: Seen, initial: Fitted | None) -> tuple[Any, ...]:
        if initial is not None:
            known = initial.columns.classes
            if self.classes is not None and tuple(map(str, self.classes)) != tuple(map(str, known)):
                raise ValueError(f"the initial model has the classes {list(known)}, not {list(self.classes)}")
            return known
        if self.classes is not None:
            return self.classes
        return sorted_classes(seen.labels)

    def _merges(self, seen: Seen) -> int:
        if self.merges is not None:
            return self.merges
        if seen.partitions <= 1:
            return 1
        return MANY_MERGES if seen.rows >= MANY_ROWS else FEW_MERGES

    def _combine(self, seen: Seen) -> str:
        if self.combine != "scaled":
            return self.combine
        if seen.spread > MOST_SPREAD:
            _log.warning(
                "the partitions have very different labels, and are combined as with combine='damped'; "
                "shuffle the rows before they are cut into partitions to come closer to one pass"
            )
            return "damped"
        return f"scaled:{seen.partitions}" if seen.partitions > 1 else "damped"

    def _race(
        self, columns: Columns, sample: Callable[[int], Iterable[pa.RecordBatch]], table: _parsimon.Table | None
    ) -> Winner | None:
        """The race of ``auto``, in this process; ``None`` where there is nothing to choose."""
        rows = _worker.first_rows(sample(RACE_ROWS), RACE_ROWS)
        winner = _worker.race(self.spec, rows, columns, precision=self.precision, bias=self.fit_intercept, table=table)
        if winner is None:
            return None
        _log.info("auto: the race on the first %d rows chose %s", winner.rows, winner)
        if winner.is_constant:
            _log.warning("auto: on the first %d rows no setting was better than a constant prediction", winner.rows)
        return winner

    def _check_continues(self, initial: Fitted) -> None:
        """Refuses a state that was trained with other settings than those wanted now."""
        found = json.loads(initial.learner.settings)
        # What auto has chosen stands; whatever else was passed must be what the state has.
        wanted = self.spec if self.spec["algorithm"] == "auto" else self.settings
        if self.spec["algorithm"] not in ("auto", found["algorithm"]):
            raise ValueError(
                f"the initial model was trained by {found['algorithm']}, not by {self.spec['algorithm']}; "
                "continue with the same method, or train without initial"
            )
        for name, value in wanted.items():
            if name not in _FOUND and name in found and found[name] != value:
                raise ValueError(
                    f"the initial model was trained with {name}={found[name]}, not {name}={value}; "
                    "continue with the same settings, or train without initial"
                )
        bias, precision = initial.learner.frame
        if (bias, precision) != (self.fit_intercept, self.precision):
            raise ValueError(
                f"the initial model was trained with fit_intercept={bias} and precision={precision}; continue with the same"
            )
        learned, wanted_features = (columns.features or columns.table or None for columns in (initial.columns, self.columns(())))
        if learned != wanted_features:
            raise ValueError(
                f"the initial model learned the features {learned}, not {wanted_features}; continue with the same columns"
            )

    def run(
        self,
        sample: Callable[[Columns, int], Iterable[pa.RecordBatch]],
        turn: Callable[[Columns, bytes, Turn], Iterable[bytes]],
        *,
        seen: Seen,
        initial: Fitted | None = None,
    ) -> Fitted:
        """The race, where settings are to be chosen, and all rounds.

        ``sample(columns, n)`` gives at least the first ``n`` rows, in the order of the partitions; it is read only where there is
        something to choose. ``turn(columns, state, t)`` runs a round and gives the merged slices, none if there was no row. ``seen`` is what a
        scan of the labels has found. Training goes on from ``initial``.
        """
        began = time.monotonic()
        columns = self.columns(self._classes(seen, initial))
        if initial is not None:
            self._check_continues(initial)
            state, winner = initial.state, initial.winner
        else:
            state, winner = self._begin(columns, lambda most: sample(columns, most))
        before = _worker.rows_learned(state)
        history = []
        for epoch in range(self.epochs):
            for t, part in enumerate(_worker.turns(self._merges(seen), self._combine(seen))):
                slices = iter(turn(columns, state, part))
                first = next(slices, None)
                if first is not None:
                    state = _worker.absorb(state, chain([first], slices))
                learner = _parsimon.Learner.from_checkpoint(state)
                history.append(Round(epoch, t, learner.rows, learner.progressive_loss, learner.nonzeros))
        if seen.partitions > 1:
            _compare_with_one_machine(history[-1].rows - before, time.monotonic() - began)
        return Fitted(state, columns, history, winner)

    def alone(self, batches: Sequence[pa.RecordBatch], *, seen: Seen) -> Fitted | None:
        """A training in this process, with ``auto``: curves, pairs and passes are decided as for a file of these rows, in their order.

        ``None`` where a method is named, and for features that are no table where one pass is as good as several: :meth:`run` is then for them.
        """
        if self.spec["algorithm"] != "auto" or not batches:
            return None
        columns = self.columns(self._classes(seen, None))
        learn = self._table_alone if columns.features is None else self._matrix_alone
        learner = learn(batches, columns)
        if learner is None:
            return None
        state = learner.checkpoint()
        _parsimon.check_mergeable(state)
        winner = Winner(json.loads(learner.chosen), seen.rows, learner.progressive_loss)
        _log.info("auto: %d rows were learned %d times, with %s", seen.rows, learner.rows // max(1, seen.rows), winner)
        for line in learner.columns_in_words:
            _log.info("%s", line)
        return Fitted(state, columns, [Round(0, 0, learner.rows, learner.progressive_loss, learner.nonzeros)], winner)

    def _table_alone(self, batches: Sequence[pa.RecordBatch], columns: Columns) -> Any:
        spec, names = _worker.complete(self.spec, columns.classes)
        rows = pa.Table.from_batches(batches)
        frame = {"precision": self.precision, "bias": self.fit_intercept, "classes": names or None}

        def learned(spec: dict[str, Any], passes: int | None, schema: str | None) -> Any:
            table = _worker.table_of(rows, columns, schema=schema)
            learner, notices, trouble, _ = _parsimon.Learner.train(json.dumps(spec), table, passes=passes, **frame)
            if trouble is not None:
                raise trouble
            if schema is None:
                warn_all(notices)
            return learner

        learner = learned(spec, None, None)
        if learner.chosen != learner.settings:
            # A race has learners beside the winner, which cannot be merged: the winner alone learns the rows as they were read.
            learner = learned(json.loads(learner.chosen), 1, learner.schema)
        return learner

    def _matrix_alone(self, batches: Sequence[pa.RecordBatch], columns: Columns) -> Any:
        rows = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
        learner = _worker.learner(self.spec, self.precision, self.fit_intercept, columns.classes)
        if rows.num_rows < FEW_ROWS or rows.num_rows * max(1, len(columns.classes)) > MOST_VISITS // 2:
            return None
        learner.fit(_worker.matrix(rows, columns), _worker.labels(rows, columns), _worker.weights(rows, columns), None, 0)
        if learner.chosen != learner.settings:
            return None
        warn_all(learner.take_warnings())
        return learner

    def _begin(
        self, columns: Columns, sample: Callable[[int], Iterable[pa.RecordBatch]]
    ) -> tuple[bytes, Winner | None]:
        # Not a row is read where none is needed.
        table = _worker.as_table(sample(_worker.SCHEMA_ROWS), columns) if columns.features is None else None
        winner = self._race(columns, sample, table)
        spec = self.spec if winner is None else winner.settings
        state = _worker.start(spec, precision=self.precision, bias=self.fit_intercept, classes=columns.classes, table=table)
        for line in _parsimon.Learner.from_checkpoint(state).columns_in_words:
            _log.info("%s", line)
        return state, winner


def _compare_with_one_machine(rows: int, seconds: float) -> None:
    alone = rows / ONE_MACHINE
    if seconds > alone:
        _log.info(
            "training %d rows on the cluster took %.1f s; one machine takes less than %.1f s: "
            "parsimon train FILE, or ParsimonClassifier().learn_file(path)",
            rows,
            seconds,
            max(alone, 0.1),
        )


def are_numbers(labels: frozenset[Any]) -> bool:
    """Whether labels are more than two numbers."""
    if len(labels) <= 2:
        return False
    if None in labels:
        raise ValueError("there are rows without a label; leave them out")
    return all(isinstance(label, (int, float)) and not isinstance(label, bool) for label in labels)


def sorted_classes(found: Iterable[Any]) -> tuple[Any, ...]:
    """Labels in their order, or a word on why they are no classes."""
    found = set(found)
    if None in found:
        raise ValueError("there are rows without a label; leave them out")
    classes = tuple(sorted(found))
    if len(classes) > MOST_CLASSES:
        raise ValueError(f"there are more than {MOST_CLASSES} labels; for numbers choose a loss such as squared")
    if len(classes) < 2:
        raise ValueError(f"labels of at least two classes are wanted, found {list(classes)}")
    return classes
