"""Learning in several places, without an engine: pure functions from bytes and Arrow batches to bytes.

A round has three steps, and every engine that can carry bytes can run it:

1. every worker gets the same ``state`` and different rows, and gives a delta: ``delta = learn(state, batches, columns)``;
2. the deltas are added up in a fixed order;
3. the sum is added to the state: ``state = merge(state, deltas)``.

``learn`` is a pure function: the same state and the same rows in the same order give the same bytes, on any machine
and however often. A task that is retried or run twice changes nothing.

>>> import pyarrow as pa
>>> from parsimon import _worker as worker
>>> rows = pa.record_batch({"indices": [[0], [1], [0, 1]] * 20, "values": [[1.0], [1.0], [1.0, -1.0]] * 20, "label": [1, 0, 1] * 20})
>>> columns = worker.Columns(features=("indices", "values"), label="label", classes=(0, 1))
>>> state = worker.start({"algorithm": "ftrl", "l1": 0.1}, classes=columns.classes)
>>> deltas = [worker.learn(state, [rows], columns) for _ in range(2)]
>>> state = worker.merge(state, deltas)
>>> worker.rows_learned(state)
120
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from . import _parsimon
from ._columns import roles
from ._errors import warn_all
from ._settings import _text

#: Rows from which the kinds of columns are found, as in files.
SCHEMA_ROWS = 10_001
#: Rows that stay together in a round: few, so that small partitions have rows in every round.
BLOCK = 4
#: So many rounds of an epoch, or more, grow from one to the next.
MANY_TURNS = 8
#: More columns than any feature has a number.
_ANY_COLUMN = 2**32 - 2
#: The penalty of the constant in a race; the largest of the others is 3.
_NO_WEIGHT = 1e30


@dataclass(frozen=True)
class Columns:
    """Which columns of a batch are what.

    Parameters
    ----------
    features : str, tuple of str, or None
        One column: a Spark vector, a struct ``(indices, values)`` of two lists, or a list of numbers. Two columns of lists: indices and
        values. Any number of numeric columns: one feature each. Indices are counted from 0, as columns of a matrix are. ``None``: columns of
        any type, read as a table in a file is (:func:`parsimon.schema`).
    table : tuple of str
        The columns of a table that are features; empty for all. Columns that are named are read even if they are constant.
    label, weight : str or None
    classes : tuple
        The labels in their order; empty where labels are numbers to be learned.
    """

    features: str | tuple[str, ...] | None = "features"
    label: str | None = "label"
    weight: str | None = None
    classes: tuple[Any, ...] = ()
    table: tuple[str, ...] = ()

    def names(self) -> list[str] | None:
        """All columns that are read; ``None`` where all may be."""
        if self.features is None and not self.table:
            return None
        named = self.features or self.table
        features = [named] if isinstance(named, str) else list(named)
        return features + [name for name in (self.label, self.weight) if name is not None]


def complete(spec: Mapping[str, Any], classes: Sequence[Any]) -> tuple[dict[str, Any], list[str]]:
    """The spec of a learner for these classes, and their names."""
    spec, names = dict(spec), [_text(c) for c in classes]
    if len(names) > 2:
        spec.update(multiclass=True, classes=names)
    return spec, names


def learner(
    spec: Mapping[str, Any], precision: str, bias: bool, classes: Sequence[Any], table: _parsimon.Table | None = None
) -> _parsimon.Learner:
    """A learner at the origin; for rows like those of a table, if there is one."""
    spec, names = complete(spec, classes)
    if table is not None:
        return _parsimon.Learner.for_table(json.dumps(spec), table, precision=precision, bias=bias, classes=names)
    return _parsimon.Learner(json.dumps(spec), precision=precision, bias=bias, classes=names)


def start(
    spec: Mapping[str, Any],
    *,
    precision: str = "f64",
    bias: bool = True,
    classes: Sequence[Any] = (),
    table: _parsimon.Table | None = None,
) -> bytes:
    """The state at the origin, for rows like those of ``table`` if that is given. Methods that cannot be merged are refused with the reason."""
    state = learner(spec, precision, bias, classes, table).checkpoint()
    _parsimon.check_mergeable(state)
    return state


@dataclass(frozen=True)
class Winner:
    """What a race of settings on a sample of the rows has chosen.

    Attributes
    ----------
    settings : dict
        Of one method, which can be merged: ``ftrl`` with its rate and l1, on normalized rows.
    rows : int
        Rows in the sample that were learned.
    loss : float or None
        The progressive loss of the race on the sample.
    """

    settings: dict[str, Any]
    rows: int
    loss: float | None

    @property
    def is_constant(self) -> bool:
        """Whether no setting was better than predicting a constant."""
        return float(self.settings.get("l1", 0.0)) >= _NO_WEIGHT

    def __str__(self) -> str:
        shown = "".join(f", {name}={self.settings[name]:g}" for name in ("rate", "beta", "l1"))
        return f"{self.settings['algorithm']}, normalize=True{shown}"


def race(
    spec: Mapping[str, Any],
    batches: Iterable[pa.RecordBatch],
    columns: Columns,
    *,
    precision: str = "f64",
    bias: bool = True,
    table: _parsimon.Table | None = None,
) -> Winner | None:
    """Learns a sample with a spec that chooses among settings (``auto``), and gives the setting it has chosen.

    ``None`` where the spec leaves nothing to choose; no row is then learned.
    """
    racer = learner(spec, precision, bias, columns.classes, table)
    if racer.chosen == racer.settings:
        return None
    found: set[float] = set()
    for batch in batches:
        if batch.num_rows:
            y = labels(batch, columns)
            found.update(np.unique(y).tolist() if columns.classes else ())
            _learn(racer, batch, columns)
    # What the program notices of its first rows, the driver notices of the sample.
    warn_all(racer.take_warnings(True))
    if len(found) == 1:
        only = found.pop()
        label = columns.classes[int(only > 0) if len(columns.classes) <= 2 else int(only)]
        raise ValueError(
            f"the first {racer.rows} rows, on which the settings are chosen, all have the label {label}; shuffle the rows, or name "
            "a method and its settings, for example ftrl with normalize=True"
        )
    return Winner(json.loads(racer.chosen), racer.rows, racer.progressive_loss)


def as_table(batches: Iterable[pa.RecordBatch], columns: Columns) -> _parsimon.Table:
    """The first rows as a table whose columns have kinds."""
    return table_of(pa.Table.from_batches(first_rows(batches, SCHEMA_ROWS)), columns)


def table_of(rows: pa.Table, columns: Columns, schema: str | None = None) -> _parsimon.Table:
    """Rows as a table whose columns have kinds: those that are found, or those of ``schema``, which is JSON."""
    keep = ["all"] if columns.table else []
    kinds = None if schema is None else json.loads(schema)
    return _parsimon.Table.arrow(rows, roles(label=columns.label, weight=columns.weight, keep=[] if schema else keep, schema=kinds))


def _learn(learner: _parsimon.Learner, batch: pa.RecordBatch, columns: Columns) -> None:
    if columns.features is None:
        learner.learn_table(_parsimon.Table.arrow(batch, roles()))
    else:
        learner.learn(matrix(batch, columns), labels(batch, columns), weights(batch, columns))


def margins(native: Any, batch: pa.RecordBatch, columns: Columns) -> np.ndarray[Any, Any]:
    """The margins of a native learner or model."""
    if columns.features is None:
        return native.margins_table(_parsimon.Table.arrow(batch, roles()))
    return native.margins(matrix(batch, columns))


def first_rows(batches: Iterable[pa.RecordBatch], most: int) -> Iterator[pa.RecordBatch]:
    """The first rows of a partition, at most so many."""
    for batch in batches:
        if most <= 0:
            return
        yield batch.slice(0, most)
        most -= batch.num_rows


def learn(
    state: bytes, batches: Iterable[pa.RecordBatch], columns: Columns | None = None, *, combine: str = "damped"
) -> bytes:
    """What a worker adds to ``state`` by learning ``batches`` in their order: the bytes of a delta."""
    return learn_sliced(state, batches, columns, combine=combine)[0]


def learn_sliced(
    state: bytes,
    batches: Iterable[pa.RecordBatch],
    columns: Columns | None = None,
    *,
    combine: str = "damped",
    slices: int = 1,
) -> list[bytes]:
    """The same in slices by feature, to be merged apart from each other.

    ``combine`` is ``damped``, ``sum``, ``mean``, or ``scaled:N`` where there are ``N`` workers.
    """
    columns = columns or Columns()
    learner = _parsimon.Learner.from_checkpoint(state)
    learner.count_rows_for(combine)
    # A worker that fails begins again from the state.
    learner.forgo_undo()
    for batch in batches:
        if batch.num_rows:
            _learn(learner, batch, columns)
    return _parsimon.delta(state, learner.checkpoint(), combine, slices)


def merge(state: bytes, deltas: Sequence[bytes]) -> bytes:
    """The state with the deltas of all workers; their order fixes the bits."""
    return _parsimon.absorb(state, [_parsimon.merge_deltas(list(deltas))])


def merge_slice(deltas: Sequence[bytes]) -> bytes:
    """The deltas of one slice added up: neighbours first, then their sums, and so on."""
    return _parsimon.merge_deltas(list(deltas))


def absorb(state: bytes, slices: Iterable[bytes]) -> bytes:
    """The state with every merged slice added; they are asked for one at a time."""
    return _parsimon.absorb(state, slices)


def rows_learned(state: bytes) -> int:
    """Rows in a state, of all workers."""
    return int(_parsimon.Learner.from_checkpoint(state).rows)


@dataclass(frozen=True)
class Turn:
    """Which rows of a partition a round learns: of its blocks of :data:`BLOCK` rows in every cycle of ``period``, those from ``low`` to ``high``."""

    low: int
    high: int
    period: int
    #: How the deltas of the round are combined, as :func:`learn_sliced` takes it.
    combine: str = "damped"

    def take(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows of a partition that are learned in this round, in their order."""
        seen = 0
        for batch in batches:
            place = np.arange(seen, seen + batch.num_rows) // BLOCK % self.period
            seen += batch.num_rows
            yield batch.filter(pa.array((self.low <= place) & (place < self.high)))


def turns(merges: int, combine: str = "damped") -> list[Turn]:
    """The rounds of an epoch: together they have every row once, and each has rows from all over its partition.

    Many rounds grow: the first ones have few rows, since what workers learn from a state that knows nothing is nearly the same for all of them
    (``record/spark.md``). Few rounds are even.
    """
    sizes = range(1, merges + 1) if merges >= MANY_TURNS else [1] * merges
    ends = list(accumulate(sizes))
    return [Turn(end - size, end, ends[-1], combine) for size, end in zip(sizes, ends, strict=True)]


# Arrow to arrays.


def _flat(column: pa.Array, name: str) -> pa.Array:
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if column.null_count:
        row = int(np.flatnonzero(np.asarray(column.is_null()))[0])
        raise ValueError(f"column {name} has no value at row {row} of a batch; fill it or leave the row out")
    return column


def _numbers(column: pa.Array, name: str) -> np.ndarray[Any, Any]:
    column = _flat(column, name)
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type) or pa.types.is_boolean(column.type)):
        raise TypeError(f"column {name} is of type {column.type}; numbers are wanted")
    return np.ascontiguousarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _parts(column: pa.Array, name: str) -> tuple[np.ndarray[Any, Any], pa.Array]:
    """The ends of the lists and everything in them."""
    if not _is_list(column.type):
        raise TypeError(f"column {name} is of type {column.type}; a list is wanted")
    column = _flat(column, name)
    lengths = np.asarray(pc.list_value_length(column).to_numpy(zero_copy_only=False), dtype=np.int64)
    ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    return ends, column.flatten()


def _pair(indices: pa.Array, values: pa.Array, name: str) -> tuple[Any, ...]:
    ends, ids = _parts(indices, name)
    value_ends, data = _parts(values, name)
    if not np.array_equal(ends, value_ends):
        row = int(np.flatnonzero(ends != value_ends)[0]) - 1
        raise ValueError(f"column {name} has another number of indices than of values at row {row} of a batch")
    if not pa.types.is_integer(ids.type):
        raise TypeError(f"column {name} has indices of type {ids.type}; whole numbers are wanted")
    ids = np.ascontiguousarray(_flat(ids, name).cast(pa.int64()).to_numpy())
    return ends, ids, _numbers(data, name), _ANY_COLUMN


def _dense(values: pa.Array, name: str) -> tuple[Any, ...]:
    ends, data = _parts(values, name)
    ids = np.arange(ends[-1], dtype=np.int64) - np.repeat(ends[:-1], np.diff(ends))
    return ends, ids, _numbers(data, name), _ANY_COLUMN


def _vector(column: pa.StructArray, name: str) -> tuple[Any, ...]:
    """A Spark vector: sparse rows have indices, dense ones have none."""
    sparse = np.asarray(column.field("type")) == 0
    if sparse.all():
        return _pair(column.field("indices"), column.field("values"), name)
    if not sparse.any():
        return _dense(column.field("values"), name)
    # Both in one column: dense rows get the indices they do without.
    lengths = pc.list_value_length(column.field("values")).to_pylist()
    given = column.field("indices").to_pylist()
    indices = [ids if s else list(range(n)) for s, ids, n in zip(sparse, given, lengths, strict=True)]
    return _pair(pa.array(indices, type=pa.list_(pa.int32())), column.field("values"), name)


def matrix(batch: pa.RecordBatch, columns: Columns) -> Any:
    """The features of a batch as the native module takes them: numeric columns side by side, or a CSR matrix."""
    names = columns.features or ()
    if isinstance(names, str):
        names = (names,)
    missing = [name for name in names if name not in batch.schema.names]
    if missing:
        raise KeyError(f"there is no column {missing[0]}; the columns are {', '.join(batch.schema.names)}")
    data = [batch.column(name) for name in names]
    if len(names) == 2 and _is_list(data[0].type):
        return _pair(data[0], data[1], names[0])
    if len(names) > 1 or not (_is_list(data[0].type) or pa.types.is_struct(data[0].type)):
        return np.column_stack([_numbers(column, name) for column, name in zip(data, names, strict=True)])
    column, name = _flat(data[0], names[0]), names[0]
    if _is_list(column.type):
        return _dense(column, name)
    fields = {field.name for field in column.type}
    if {"type", "indices", "values"} <= fields:
        return _vector(column, name)
    if {"indices", "values"} <= fields:
        return _pair(column.field("indices"), column.field("values"), name)
    parts = [_numbers(column.field(field.name), f"{name}.{field.name}") for field in column.type]
    return np.column_stack(parts)


def labels(batch: pa.RecordBatch, columns: Columns) -> np.ndarray[Any, Any]:
    """Labels as a learner takes them: numbers, -1 and 1 for two classes, positions for several."""
    if columns.label is None:
        raise ValueError("rows without labels cannot be learned; name the label's column")
    column = _flat(batch.column(columns.label), columns.label)
    if not columns.classes:
        return _numbers(column, columns.label)
    known = pa.array(list(columns.classes))
    if known.type != column.type:
        column = column.cast(known.type)
    places = pc.index_in(column, value_set=known)
    if places.null_count:
        row = int(np.flatnonzero(np.asarray(places.is_null()))[0])
        told = ", ".join(str(c) for c in columns.classes)
        raise ValueError(f"the label {column[row].as_py()} is not one of the classes {told}")
    y: np.ndarray[Any, Any] = places.to_numpy(zero_copy_only=False).astype(np.float64)
    return 2.0 * y - 1.0 if len(columns.classes) <= 2 else y


def label_counts(column: pa.Array) -> dict[Any, int]:
    """How many rows have each label."""
    return {pair["values"]: pair["counts"] for pair in pc.value_counts(column).to_pylist()}


def weights(batch: pa.RecordBatch, columns: Columns) -> np.ndarray[Any, Any] | None:
    """What the rows weigh, if there is a column for it."""
    return None if columns.weight is None else _numbers(batch.column(columns.weight), columns.weight)
