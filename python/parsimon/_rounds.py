"""What trainers on every engine share: the settings, the rounds, and what is left at the end."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from . import _parsimon, _worker
from ._base import CLASS_LOSSES, _plain
from ._worker import Columns, Winner

_log = logging.getLogger("parsimon")

#: Labels of more kinds than this are taken for numbers by mistake.
MOST_CLASSES = 10_000

#: Rows on which the settings of ``auto`` are chosen. The driver learns them while the workers wait.
RACE_ROWS = 100_000


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


@dataclass(frozen=True)
class Scores:
    """Of every row: a margin per class (one for two classes), what is predicted, and probabilities where there are any."""

    margins: np.ndarray[Any, Any]
    predictions: pa.Array
    probabilities: np.ndarray[Any, Any] | None


@lru_cache(maxsize=4)
def _loaded(model: bytes) -> tuple[Any, dict[str, Any]]:
    loaded = _parsimon.Model.from_bytes(model)
    return loaded, json.loads(loaded.settings)


def score(model: bytes, batch: pa.RecordBatch, columns: Columns) -> Scores:
    """Scores by a model file's bytes; engine-free, and kept open between batches."""
    native, settings = _loaded(model)
    margins = _worker.margins(native, batch, columns)
    loss = settings["loss"]
    if columns.classes:
        one = margins.shape[1] == 1
        places = (margins[:, 0] > 0).astype(np.int64) if one else margins.argmax(axis=1)
        known = pa.array(list(columns.classes))
        predictions = known.take(pa.array(np.minimum(places, len(columns.classes) - 1)))
        return Scores(margins, predictions, _probabilities(margins) if loss == "logistic" else None)
    numbers = np.exp(margins[:, 0]) if loss == "poisson" else margins[:, 0]
    return Scores(margins, pa.array(numbers), None)


def _probabilities(margins: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    # NUMERICS: of both signs only the exponential that cannot overflow is taken.
    small = np.exp(-np.abs(margins))
    p = np.where(margins >= 0, 1.0, small) / (1.0 + small)
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
    rounds_per_epoch : int
        How often in an epoch the workers' states are made into one. More rounds are closer to one sequential pass and cost one broadcast
        and one merge each.
    features, label, weight : column names
        See :class:`parsimon._worker.Columns`. With ``features=None`` all columns are read by their kinds, which the first 10,000 rows
        show, as those of a CSV or Parquet file are; what was found is in ``Fitted.schema`` and is logged.
    classes : sequence or None
        The labels in their order; found by a scan if absent. Regression has none.
    combine : "damped", "sum" or "mean"
        ``sum`` adds up what the workers added to the sums of gradients (methods that keep weights average them anyway); ``damped`` does, but
        for what several workers have corrected alike; ``mean`` averages everything.
    precision : "f64" or "f32"
    fit_intercept : bool
    slices : int
        In how many parts, by feature, deltas are merged.
    block : int
        Of a partition's blocks of so many rows, every ``rounds_per_epoch``-th is learned in a round.
    **settings
        Of the method: ``l1``, ``rate``, ``loss``, ``normalize``, ... For ``auto``, a ``rate`` or ``l1`` that is given is kept, and the
        race chooses the other.
    """

    def __init__(
        self,
        algorithm: str = "auto",
        *,
        epochs: int = 1,
        rounds_per_epoch: int = 1,
        features: str | tuple[str, ...] | list[str] | None = "features",
        label: str = "label",
        weight: str | None = None,
        classes: Iterable[Any] | None = None,
        combine: str = "damped",
        precision: str = "f64",
        fit_intercept: bool = True,
        slices: int = 4,
        block: int = 1024,
        **settings: Any,
    ) -> None:
        for name, value in (("epochs", epochs), ("rounds_per_epoch", rounds_per_epoch), ("slices", slices), ("block", block)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        if combine not in ("damped", "sum", "mean"):
            raise ValueError(f"combine must be damped, sum or mean, got {combine}")
        super().__init__()
        self.epochs, self.rounds_per_epoch = epochs, rounds_per_epoch
        self.features = features if features is None or isinstance(features, str) else tuple(features)
        self.label, self.weight = label, weight
        self.classes = None if classes is None else tuple(classes)
        self.combine, self.precision, self.fit_intercept = combine, precision, fit_intercept
        self.slices, self.block = slices, block
        self.spec = {"algorithm": algorithm, **{name: _plain(value) for name, value in settings.items()}}
        # Errors in the settings are raised here, before a cluster is at work.
        self.settings = json.loads(_parsimon.resolve(json.dumps(self.spec))[0])
        if not self.learns_classes:
            self.classes = ()
        leader = _worker.race(self.spec, [], self._columns(()), precision=precision, bias=fit_intercept)
        spec = self.spec if leader is None else leader.settings
        _worker.start(spec, precision=precision, bias=fit_intercept)

    @property
    def learns_classes(self) -> bool:
        """Whether labels are classes, by the loss."""
        return self.settings["loss"] in CLASS_LOSSES

    def _columns(self, classes: Iterable[Any]) -> Columns:
        return Columns(self.features, self.label, self.weight, tuple(classes))

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

    def _run(
        self,
        columns: Columns,
        sample: Callable[[int], Iterable[pa.RecordBatch]],
        turn: Callable[[bytes, int], Iterable[bytes]],
    ) -> Fitted:
        """The race, where settings are to be chosen, and all rounds.

        ``sample(n)`` gives at least the first ``n`` rows, in the order of the partitions; it is read only where there is something to choose.
        ``turn(state, t)`` runs round ``t`` of an epoch and gives the merged slices, none if there was no row.
        """
        bias = self.fit_intercept
        # Not a row is read where none is needed.
        table = _worker.as_table(sample(_worker.SCHEMA_ROWS), columns) if columns.features is None else None
        winner = self._race(columns, sample, table)
        spec = self.spec if winner is None else winner.settings
        state = _worker.start(spec, precision=self.precision, bias=bias, classes=columns.classes, table=table)
        for line in _parsimon.Learner.from_checkpoint(state).columns_in_words:
            _log.info("%s", line)
        history = []
        for epoch in range(self.epochs):
            for t in range(self.rounds_per_epoch):
                slices = iter(turn(state, t))
                first = next(slices, None)
                if first is not None:
                    state = _worker.absorb(state, _chained(first, slices))
                learner = _parsimon.Learner.from_checkpoint(state)
                history.append(Round(epoch, t, learner.rows, learner.progressive_loss, learner.nonzeros))
        return Fitted(state, columns, history, winner)


def _chained(first: bytes, rest: Iterable[bytes]) -> Iterable[bytes]:
    yield first
    yield from rest


def sorted_classes(found: Iterable[Any]) -> tuple[Any, ...]:
    """Labels in their order, or a word on why they are no classes."""
    classes = tuple(sorted(found))
    if len(classes) > MOST_CLASSES:
        raise ValueError(f"there are more than {MOST_CLASSES} labels; for numbers choose a loss such as squared")
    if len(classes) < 2:
        raise ValueError(f"labels of at least two classes are wanted, found {list(classes)}")
    return classes
