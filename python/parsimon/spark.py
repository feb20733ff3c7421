"""Training on Spark: every task is a pure function from a state and Arrow batches to a delta.

A round is one Spark job without barriers: the state is broadcast, ``mapInArrow`` learns every partition from it, the deltas are merged
slice by slice in the order of the partitions, and the driver adds the sums to its one state. Retried and speculative tasks give the same
bytes as the first attempt and change nothing, provided that a partition computed again has the same rows in the same order: true of files,
and of what was sorted; not of a shuffle without an order. See ``docs/cluster.md`` for how close this comes to one machine.

Without a method's name the driver first chooses rate and l1 by a race on the first 100,000 rows (``auto``), which runs no more partitions than
have them.

>>> from parsimon.spark import SparkTrainer                                      # doctest: +SKIP
>>> trainer = SparkTrainer(rounds_per_epoch=16)                                  # doctest: +SKIP
>>> model = trainer.fit(spark.read.parquet("clicks.parquet"))                    # doctest: +SKIP
>>> print(model.winner)                                                          # doctest: +SKIP
ftrl, normalize=True, rate=0.7, beta=0, l1=0.3
>>> model.transform(test).select("prediction", "probability")                    # doctest: +SKIP
>>> model.fitted.save("clicks.psm")                                              # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.ml import Estimator, Model
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import ArrayType, DataType, DoubleType, StructField, StructType

from . import _parsimon, _worker
from ._rounds import MOST_CLASSES, Fitted, Rounds, Scores, score, sorted_classes
from ._worker import Columns, Winner

__all__ = ["SparkModel", "SparkTrainer"]

#: The position of a row in its partition is in the lower bits of Spark's ids.
_POSITION = (1 << 33) - 1
_ROW = "parsimon_row"


class SparkTrainer(Rounds, Estimator[Any]):
    """Trains one model on a Spark frame or a Parquet path; a Spark ML estimator.

    Without ``algorithm`` the method is ``auto``: a race on the driver chooses rate and l1 on the first rows, and the winner is distributed.

    Parameters
    ----------
    algorithm, epochs, rounds_per_epoch, features, label, weight, classes, combine, precision, fit_intercept, slices, block, **settings
        As for every engine, see :class:`parsimon._rounds.Rounds`.
    partitions : int or None
        Cuts the frame into so many partitions first; as it is if absent. One partition is one worker of a round.

    Examples
    --------
    >>> from pyspark.ml import Pipeline                                          # doctest: +SKIP
    >>> Pipeline(stages=[hasher, SparkTrainer("rda", l1=1e-4)]).fit(frame)       # doctest: +SKIP
    """

    def __init__(self, algorithm: str = "auto", *, partitions: int | None = None, **settings: Any) -> None:
        if partitions is not None and partitions < 1:
            raise ValueError(f"partitions must be at least 1, got {partitions}")
        super().__init__(algorithm, **settings)
        self.partitions = partitions

    def fit(self, dataset: DataFrame | str | os.PathLike[str], params: Any = None) -> Any:
        """Learns a frame, or the Parquet files at a path."""
        if isinstance(dataset, (str, os.PathLike)):
            dataset = _session().read.parquet(os.fspath(dataset))
        return super().fit(dataset, params)

    def _fit(self, dataset: DataFrame) -> SparkModel:
        if self.partitions is not None:
            dataset = dataset.repartition(self.partitions)
        columns = self._columns(self._classes_of(dataset))
        names = columns.names()
        rows = dataset if names is None else dataset.select(*[F.col(name) for name in names])
        fitted = self._run(
            columns, lambda most: _sample(rows, most), lambda state, turn: self._turn(rows, columns, state, turn)
        )
        return SparkModel(fitted)

    def _classes_of(self, dataset: DataFrame) -> tuple[Any, ...]:
        if self.classes is not None:
            return self.classes
        found = dataset.select(self.label).distinct().limit(MOST_CLASSES + 1).collect()
        labels = [row[0] for row in found]
        if None in labels:
            raise ValueError(f"column {self.label} has rows without a label; leave them out")
        return sorted_classes(labels)

    def _turn(self, rows: DataFrame, columns: Columns, state: bytes, turn: int) -> Iterable[bytes]:
        if self.rounds_per_epoch > 1:
            # PERF: rows of other rounds are left out before they become Arrow batches.
            position = F.col(_ROW).bitwiseAND(F.lit(_POSITION))
            own = F.floor(position / F.lit(self.block)) % F.lit(self.rounds_per_epoch) == F.lit(turn)
            rows = rows.withColumn(_ROW, F.monotonically_increasing_id()).where(own).drop(_ROW)
        shared = rows.sparkSession.sparkContext.broadcast(state)
        task = _learning(shared, columns, self.combine, self.slices)
        deltas = rows.mapInArrow(task, "slice int, worker int, delta binary")
        by_slice = deltas.repartition(self.slices, "slice").groupBy("slice")
        try:
            merged = by_slice.applyInArrow(_merging, "slice int, delta binary").collect()
        finally:
            shared.destroy()
        return (bytes(row["delta"]) for row in sorted(merged, key=lambda row: row["slice"]))


def _session() -> SparkSession:
    session = SparkSession.getActiveSession()
    if session is None:
        raise RuntimeError("there is no Spark session; make one with SparkSession.builder.getOrCreate()")
    return session


def _sample(rows: DataFrame, most: int) -> Iterator[pa.RecordBatch]:
    """The first rows in the order of the partitions; later partitions are run only if the rows of the earlier ones are not enough."""
    # A limit of Spark's collects the rows in the order in which tasks end.
    heads = rows.mapInArrow(_heads(most), "rows binary").rdd
    # One partition, then four, then sixteen: few jobs, and little that is not needed.
    start, size, partitions = 0, 1, heads.getNumPartitions()
    while start < partitions and most > 0:
        wanted = range(start, min(start + size, partitions))
        for head in heads.context.runJob(heads, list, wanted):
            for batch in pa.ipc.open_stream(bytes(head["rows"])):
                yield batch
                most -= batch.num_rows
        start, size = wanted.stop, 4 * size


def _heads(most: int) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in _worker.first_rows(batches, most):
            if batch.num_rows:
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, batch.schema) as stream:
                    stream.write_batch(batch)
                yield pa.record_batch({"rows": pa.array([sink.getvalue().to_pybytes()], pa.binary())})

    return task


def _learning(
    shared: Any, columns: Columns, combine: str, slices: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        worker = context.partitionId() if context is not None else 0
        first = next((batch for batch in batches if batch.num_rows), None)
        if first is None:
            return

        def all_batches() -> Iterator[pa.RecordBatch]:
            yield first
            yield from batches

        deltas = _worker.learn_sliced(shared.value, all_batches(), columns, combine=combine, slices=slices)
        for number, delta in enumerate(deltas):
            yield pa.record_batch(
                {
                    "slice": pa.array([number], pa.int32()),
                    "worker": pa.array([worker], pa.int32()),
                    "delta": pa.array([delta], pa.binary()),
                }
            )

    return task


def _merging(deltas: pa.Table) -> pa.Table:
    ordered = deltas.sort_by("worker")
    merged = _worker.merge_slice(ordered.column("delta").to_pylist())
    number = ordered.column("slice")[0].as_py()
    return pa.table({"slice": pa.array([number], pa.int32()), "delta": pa.array([merged], pa.binary())})


class SparkModel(Model, MLWritable, MLReadable["SparkModel"]):
    """What :class:`SparkTrainer` leaves behind; a Spark ML model.

    ``transform`` adds the columns ``prediction``, ``margins`` and, for the logistic loss, ``probability``. Saved, it is a folder with our model
    file ``model.psm`` in it, which the program and ``parsimon.load`` read.
    """

    def __init__(self, fitted: Fitted | None = None, *, model: bytes | None = None, columns: Columns | None = None) -> None:
        super().__init__()
        self.fitted = fitted
        if fitted is not None:
            model, columns = fitted.model(), fitted.columns
        if model is None or columns is None:
            raise ValueError("a fitted state, or a model file's bytes and its columns")
        self.model_bytes, self.columns = model, columns

    @property
    def history(self) -> list[Any]:
        """What stood after every round; empty for a model that was loaded."""
        return [] if self.fitted is None else self.fitted.history

    @property
    def winner(self) -> Winner | None:
        """The setting that a race has chosen; ``None`` where the method was named, and for a model that was loaded."""
        return None if self.fitted is None else self.fitted.winner

    @property
    def nonzeros(self) -> int:
        """Weights that are not zero."""
        return int(_parsimon.Model.from_bytes(self.model_bytes).nonzeros)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        columns = replace(self.columns, label=None, weight=None)
        # Of a table, columns that were not learned are passed over.
        names = columns.names() or dataset.columns
        label = _label_type(self.columns.classes)
        logistic = '"loss":"logistic"' in _parsimon.Model.from_bytes(self.model_bytes).settings.replace(" ", "")
        fields = [StructField("prediction", label), StructField("margins", ArrayType(DoubleType()))]
        if logistic and self.columns.classes:
            fields.append(StructField("probability", ArrayType(DoubleType())))
        shared = dataset.sparkSession.sparkContext.broadcast(self.model_bytes)

        @arrow_udf(returnType=StructType(fields))  # type: ignore[call-overload,untyped-decorator]
        def scored(*data: pa.Array) -> pa.Array:
            batch = pa.RecordBatch.from_arrays(list(data), names=names)
            return _struct(score(shared.value, batch, columns_with_classes))

        columns_with_classes = replace(columns, classes=self.columns.classes)
        found = dataset.withColumn("parsimon_scored", scored(*[F.col(name) for name in names]))
        for field in fields:
            found = found.withColumn(field.name, F.col(f"parsimon_scored.{field.name}"))
        return found.drop("parsimon_scored")

    def write(self) -> MLWriter:
        """For ``save`` and for pipelines."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[SparkModel]:
        """For ``load`` and for pipelines."""
        return _Reader()


def _struct(scores: Scores) -> pa.Array:
    def lists(rows: Any) -> pa.Array:
        n, width = rows.shape
        ends = pa.array(range(0, (n + 1) * width, width), pa.int32())
        return pa.ListArray.from_arrays(ends, pa.array(rows.reshape(-1)))

    parts = {"prediction": scores.predictions, "margins": lists(scores.margins)}
    if scores.probabilities is not None:
        parts["probability"] = lists(scores.probabilities)
    return pa.StructArray.from_arrays(list(parts.values()), names=list(parts))


def _label_type(classes: tuple[Any, ...]) -> DataType:
    """The type of predictions: that of the labels, numbers where there are no classes."""
    from pyspark.sql.pandas.types import from_arrow_type

    return DoubleType() if not classes else from_arrow_type(pa.array(list(classes)).type)


class _Writer(MLWriter):
    def __init__(self, instance: SparkModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        columns = self.instance.columns
        features = list(columns.features) if isinstance(columns.features, tuple) else columns.features
        about = {"columns": {**vars(columns), "features": features, "classes": list(columns.classes)}}
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sparkSession, extraMetadata=about)
        target, hadoop = _hadoop(self.sparkSession, path)
        stream = target.getFileSystem(hadoop).create(target, True)
        try:
            stream.write(bytearray(self.instance.model_bytes))
        finally:
            stream.close()


class _Reader(MLReader[SparkModel]):
    def load(self, path: str) -> SparkModel:
        about = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        columns = dict(about["columns"])
        features = columns["features"]
        columns["features"] = tuple(features) if isinstance(features, list) else features
        columns["classes"] = tuple(columns["classes"])
        target, hadoop = _hadoop(self.sparkSession, path)
        stream = target.getFileSystem(hadoop).open(target)
        try:
            model = bytes(stream.readAllBytes())
        finally:
            stream.close()
        loaded = SparkModel(model=model, columns=Columns(**columns))
        loaded._resetUid(about["uid"])
        return loaded


def _hadoop(session: SparkSession, path: str) -> tuple[Any, Any]:
    """The model file's place, on whatever file system the path names, and the configuration to reach it."""
    jvm: Any = session.sparkContext._jvm
    target = jvm.org.apache.hadoop.fs.Path(path, "model.psm")
    return target, session.sparkContext._jsc.hadoopConfiguration()
