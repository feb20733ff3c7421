"""What runs on executors: the scan of the labels, the sample of a race, the jobs of merges, and scoring."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .. import _worker
from .._rounds import MOST_CLASSES, Seen
from .._worker import BLOCK, Columns, Turn

#: The position of a row in its partition is in the lower bits of Spark's ids.
_POSITION = (1 << 33) - 1
_ROW = "parsimon_row"

#: The place of a row in the random order.
_ORDER = "parsimon_order"

#: Bytes of rows that the driver collects to learn them itself.
COLLECTED_BYTES = 256 << 20

#: The driver merges deltas itself while the state is not larger than this: a second stage takes longer.
DRIVER_BYTES = 2 << 20
#: Parts in which tasks merge them otherwise.
SLICES = 4

_Task = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def refuse_connect(what: Any) -> None:
    """Refuses frames and sessions of Spark Connect, which has no SparkContext."""
    if type(what).__module__.startswith("pyspark.sql.connect"):
        raise TypeError(
            "parsimon.spark does not work with Spark Connect, which has no SparkContext to broadcast a state with; "
            "use a classic session: SparkSession.builder.master(...).getOrCreate(), or spark-submit"
        )


def scan(rows: DataFrame, label: str, *, classes: bool) -> tuple[Seen, int]:
    """Counts rows and partitions, and the labels where they are classes: one job over one column."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        count, found = 0, Counter[Any]()
        for batch in batches:
            count += batch.num_rows
            if classes and len(found) <= MOST_CLASSES:
                found.update(_worker.label_counts(batch.column(0)))
        yield pa.record_batch({"rows": pa.array([count], pa.int64()), "labels": pa.array([pickle.dumps(found)], pa.binary())})

    parts = rows.select(label).mapInArrow(task, "rows long, labels binary").collect()
    return Seen.of([(part["rows"], pickle.loads(part["labels"])) for part in parts]), len(parts)


def with_order(rows: DataFrame, seed: int) -> DataFrame:
    """Gives every row a place in a random order, which depends on its contents alone: executors may read partitions in any order."""
    hashed = [F.col(f"`{field.name}`") for field in rows.schema.fields if field.dataType.typeName() != "map"]
    return rows.withColumn(_ORDER, F.xxhash64(F.lit(seed), *hashed))


def dealt(rows: DataFrame, partitions: int) -> DataFrame:
    """Cuts rows that have an order into partitions anew, at random."""
    return rows.repartition(partitions, _ORDER)


def _in_order(rows: DataFrame) -> DataFrame:
    return rows.sortWithinPartitions(_ORDER).drop(_ORDER) if _ORDER in rows.columns else rows


def collect(rows: DataFrame) -> list[pa.RecordBatch] | None:
    """All rows, in their order; ``None`` if they are too large for the driver."""
    share = COLLECTED_BYTES // max(1, rows.rdd.getNumPartitions())

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        found, size = [], 0
        for batch in batches:
            size += batch.nbytes
            if size > share:
                found = [None]
                break
            if batch.num_rows:
                found.append(_to_bytes(batch))
        yield pa.record_batch({"rows": pa.array(found, pa.binary())})

    parts = [row["rows"] for row in rows.mapInArrow(task, "rows binary").collect()]
    if None in parts:
        return None
    batches = [batch for part in parts for batch in pa.ipc.open_stream(bytes(part))]
    if not batches or _ORDER not in rows.columns:
        return batches
    table = pa.Table.from_batches(batches)
    order = pc.sort_indices(table, sort_keys=[(_ORDER, "ascending")])
    return table.drop_columns([_ORDER]).take(order).combine_chunks().to_batches(max_chunksize=10_000)


def _to_bytes(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def sample(rows: DataFrame, most: int) -> Iterator[pa.RecordBatch]:
    """The first rows in the order of the partitions; later partitions are run only if the rows of the earlier ones are not enough."""
    # A limit of Spark's collects the rows in the order in which tasks end.
    heads = _in_order(rows).mapInArrow(_heads(most), "rows binary").rdd
    # One partition, then four, then sixteen: few jobs, and little that is not needed.
    start, size, partitions = 0, 1, heads.getNumPartitions()
    while start < partitions and most > 0:
        wanted = range(start, min(start + size, partitions))
        for head in heads.context.runJob(heads, list, wanted):
            for batch in pa.ipc.open_stream(bytes(head["rows"])):
                yield batch
                most -= batch.num_rows
        start, size = wanted.stop, 4 * size


def _heads(most: int) -> _Task:
    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in _worker.first_rows(batches, most):
            if batch.num_rows:
                yield pa.record_batch({"rows": pa.array([_to_bytes(batch)], pa.binary())})

    return task


def merge(rows: DataFrame, columns: Columns, state: bytes, turn: Turn, *, slices: int | None) -> Iterable[bytes]:
    """One round as one job: partitions learn, and their deltas are merged by the driver, or, where they are large, by tasks, slice by slice."""
    if slices is None:
        slices = 1 if len(state) <= DRIVER_BYTES else SLICES
    if turn.period > 1:
        # PERF: rows of other rounds are left out before they are sorted and become Arrow batches.
        if _ORDER in rows.columns:
            place = F.pmod(F.xxhash64(F.col(_ORDER)), F.lit(turn.period))
        else:
            rows = rows.withColumn(_ROW, F.monotonically_increasing_id())
            place = F.floor(F.col(_ROW).bitwiseAND(F.lit(_POSITION)) / F.lit(BLOCK)) % F.lit(turn.period)
        rows = rows.where((place >= F.lit(turn.low)) & (place < F.lit(turn.high))).drop(_ROW)
    rows = _in_order(rows)
    shared = rows.sparkSession.sparkContext.broadcast(state)
    deltas = rows.mapInArrow(learning(shared, columns, turn.combine, slices), "slice int, worker int, delta binary")
    try:
        if slices == 1:
            found = [_keyed(row) for row in deltas.collect()]
            merged = dict(_merging(found))
        else:
            # A shuffle of frames is a job by itself where Spark plans adaptively; one of plain data is a stage.
            merged = dict(deltas.rdd.map(_keyed).partitionBy(slices, _itself).mapPartitions(_merging).collect())
    finally:
        shared.destroy()
    return (merged[number] for number in sorted(merged))


def learning(shared: Any, columns: Columns, combine: str, slices: int) -> _Task:
    """The task of a partition."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        worker = context.partitionId() if context is not None else 0
        first = next((batch for batch in batches if batch.num_rows), None)
        if first is None:
            return
        deltas = _worker.learn_sliced(shared.value, chain([first], batches), columns, combine=combine, slices=slices)
        for number, delta in enumerate(deltas):
            yield pa.record_batch(
                {
                    "slice": pa.array([number], pa.int32()),
                    "worker": pa.array([worker], pa.int32()),
                    "delta": pa.array([delta], pa.binary()),
                }
            )

    return task


def _keyed(row: Any) -> tuple[int, tuple[int, bytes]]:
    return row["slice"], (row["worker"], bytes(row["delta"]))


def _itself(number: int) -> int:
    return number


def _merging(deltas: Iterable[tuple[int, tuple[int, bytes]]]) -> Iterator[tuple[int, bytes]]:
    by_slice: dict[int, list[tuple[int, bytes]]] = {}
    for number, delta in deltas:
        by_slice.setdefault(number, []).append(delta)
    for number, found in by_slice.items():
        yield number, _worker.merge_slice([delta for _, delta in sorted(found)])
