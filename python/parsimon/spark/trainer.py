"""The estimator."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.ml import Estimator
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from .. import _worker
from .._rounds import MOST_SPREAD, Fitted, Rounds, Seen
from .._worker import Columns, Turn
from . import jobs
from .model import SparkModel
from .params import NAMES, SETTINGS, TrainerParams
from .stream import StreamTrainer


_log = logging.getLogger("parsimon")

#: Rows that are learned on the driver if they are small enough to be collected (``record/spark.md``).
DRIVER_ROWS = 1_000_000


class SparkTrainer(Estimator[SparkModel], TrainerParams, DefaultParamsWritable, DefaultParamsReadable["SparkTrainer"]):
    """Trains one model on a Spark frame or a Parquet path; a Spark ML estimator.

    Every argument is a Param, with a setter and a getter, and can be in a grid: ``ParamGridBuilder().addGrid(trainer.l1, [0.1, 1])``.
    Without ``algorithm`` the method is ``auto``: a race on the driver chooses rate and l1 on the first rows, and the winner is distributed. Rows that
    are few enough for the driver are learned there as a file is: rows that are held out decide on curves and pairs of columns and on several
    passes, unless ``epochs`` is set, ``shuffle`` is off, or training goes on from a model.

    Parameters
    ----------
    algorithm, epochs, merges, classes, combine, precision, fitIntercept, slices
        As for every engine, see :class:`parsimon._rounds.Rounds`.
    partitions : int
        Cuts the frame into so many partitions first, by a shuffle. One partition is one worker. If unset, the partitions are those of the
        frame, of which neighbours are put together until there are ``minRows`` rows for each.
    minRows : int
        Rows that a worker has at least, on average. A task costs as much as learning many rows, and fewer workers are closer to one
        sequential pass.
    featuresCol, labelCol, weightCol, predictionCol, rawPredictionCol, probabilityCol, thresholds
        As in all of Spark ML. Labels may also be texts.
    featuresCols : list of str
        Several columns instead of ``featuresCol``: two of lists, indices and values; or columns of any type, read by their kinds as those of
        a pandas frame or a CSV file are, nulls as missing values; or ``"*"``, all columns but those of label, weight and predictions.
    shuffle, seed : bool, int
        Rows are learned in a random order that ``seed`` and the contents of the rows fix, however they are cut into partitions: frames of Spark
        are often sorted without notice (``randomSplit`` sorts each partition). With ``shuffle=False`` in the order of the partitions.
    **settings
        Of the method, in Spark's spelling: ``l1``, ``rate``, ``loss``, ``classWeight``, ... ``explainParams()`` lists them.

    Examples
    --------
    >>> from pyspark.ml import Pipeline                                          # doctest: +SKIP
    >>> Pipeline(stages=[hasher, SparkTrainer("rda", l1=1e-4)]).fit(frame)       # doctest: +SKIP
    """

    def __init__(self, algorithm: str | None = None, **params: Any) -> None:
        super().__init__()
        self._setDefault(algorithm="auto", epochs=1, combine="scaled", precision="f64", fitIntercept=True, minRows=50_000, shuffle=True, seed=0)
        self.setParams(algorithm=algorithm, **params)

    def setParams(self, **params: Any) -> SparkTrainer:
        """Sets several Params; those that are ``None`` stay as they are. What does not go together is refused."""
        unknown = [name for name in params if not self.hasParam(name)]
        if unknown:
            raise TypeError(f"SparkTrainer has no Param {unknown[0]}; explainParams() lists them")
        self._set(**{name: value for name, value in params.items() if value is not None})
        # Errors in the settings are raised here, before a cluster is at work.
        self._rounds()
        return self

    def _given(self, name: str) -> Any:
        return self.getOrDefault(name) if self.isDefined(name) else None

    def _rounds(self, *, table: bool = True) -> Rounds:
        """The training that the Params describe, of rows that are read as a table or not."""
        partitions = self._given("partitions")
        for name, value in (("partitions", partitions), ("minRows", self.getOrDefault("minRows"))):
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        columns = self.read_columns(table=table)
        settings = {NAMES[name]: self.getOrDefault(name) for name in SETTINGS if self.isDefined(name)}
        return Rounds(
            self.getOrDefault("algorithm"),
            epochs=self.getOrDefault("epochs"),
            merges=self._given("merges"),
            features=columns.features,
            table=columns.table,
            label=str(columns.label),
            weight=columns.weight,
            classes=self._given("classes"),
            combine=self.getOrDefault("combine"),
            precision=self.getOrDefault("precision"),
            fit_intercept=self.getOrDefault("fitIntercept"),
            slices=self._given("slices"),
            **settings,
        )

    def fit(
        self,
        dataset: DataFrame | str | os.PathLike[str],
        params: Any = None,
        *,
        initial: SparkModel | Fitted | None = None,
    ) -> Any:
        """Learns a frame, or the Parquet files at a path; from ``initial`` on, if a model is given, with the settings it was trained with."""
        if isinstance(dataset, (str, os.PathLike)):
            dataset = _session().read.parquet(os.fspath(dataset))
        jobs.refuse_connect(dataset)
        if initial is None:
            return super().fit(dataset, params)
        if isinstance(params, (list, tuple)):
            raise ValueError("initial is for one fit; pass one map of Params, not a list")
        trainer = self.copy(params) if params else self
        start = initial.fitted if isinstance(initial, SparkModel) else initial
        fitted = trainer._learn(dataset, start)
        return trainer._model(fitted)

    def _fit(self, dataset: DataFrame) -> SparkModel:
        return self._model(self._learn(dataset, None))

    def _model(self, fitted: Fitted) -> SparkModel:
        model = SparkModel(fitted)
        model._resetUid(self.uid)
        return self._copyValues(model)

    def _learn(self, dataset: DataFrame, initial: Fitted | None, *, may_be_empty: bool = False) -> Any:
        """The state after all rounds; ``None`` without a row and without a state to go on from, where that may be."""
        rounds = self._rounds(table=self.are_table(dataset))
        partitions = self._given("partitions")
        if partitions is not None:
            dataset = dataset.repartition(partitions)
        names = rounds.columns(()).names()
        if names is None:
            written = self.written_columns()
            names = [name for name in dataset.columns if name not in written]
        rows = dataset.select(*[F.col(f"`{name}`") for name in names])
        seen, found = jobs.scan(rows, rounds.label, classes=rounds.learns_classes)
        if may_be_empty and not seen.rows:
            return initial
        rounds = rounds.for_labels(seen, initial)
        if not rounds.learns_classes:
            # Partitions of numbers are not compared by the shares of each.
            seen = replace(seen, spread=0.0)
        if self.getOrDefault("shuffle"):
            rows = jobs.with_order(rows, self.getOrDefault("seed"))
        if self._may_be_small(seen.rows):
            batches = jobs.collect(rows)
            if batches is not None:
                _log.info("%d rows are few: they are learned on the driver, which takes less time than jobs", seen.rows)
                are_open = initial is None and self.getOrDefault("shuffle") and not self.isSet("epochs")
                fitted = rounds.alone(batches, seen=seen) if are_open else None
                return fitted or _on_the_driver(rounds, batches, seen, initial)
        most = max(1, seen.rows // self.getOrDefault("minRows"))
        workers = min(found, most) if partitions is None else partitions
        if self.getOrDefault("shuffle") and seen.spread > MOST_SPREAD:
            _log.info("the partitions have very different labels: the rows are cut into partitions anew, at random")
            rows, seen = jobs.dealt(rows, workers), replace(seen, partitions=workers, spread=0.0)
        elif workers < found:
            rows, seen = rows.coalesce(workers), replace(seen, partitions=min(seen.partitions, workers))
        return rounds.run(
            lambda columns, most: jobs.sample(rows, most),
            lambda columns, state, turn: jobs.merge(rows, columns, state, turn, slices=rounds.slices),
            seen=seen,
            initial=initial,
        )

    def _may_be_small(self, rows: int) -> bool:
        """Whether rows are learned on the driver if they fit: nothing about jobs was asked for."""
        asked = ("partitions", "minRows", "merges", "slices")
        return rows <= DRIVER_ROWS and not any(self.isSet(name) for name in asked)

    def foreach_batch(self, state_dir: str | os.PathLike[str], *, keep: int = 2) -> StreamTrainer:
        """A function for ``writeStream.foreachBatch`` of Structured Streaming, which keeps its states in a folder.

        The state after a batch is a file named by the batch's id, written before the call returns; the last ``keep`` of them are kept. Pass
        ``classes``, unless the first batch has all labels. Not for Spark Connect.
        """
        session = SparkSession.getActiveSession()
        if session is not None:
            jobs.refuse_connect(session)
        return StreamTrainer(self, state_dir, keep)


def _on_the_driver(rounds: Rounds, batches: list[pa.RecordBatch], seen: Seen, initial: Fitted | None) -> Fitted:
    """A training of one worker, in this process."""

    def turn(columns: Columns, state: bytes, part: Turn) -> list[bytes]:
        return _worker.learn_sliced(state, part.take(batches), columns, combine=part.combine)

    return rounds.run(lambda columns, most: batches, turn, seen=replace(seen, partitions=1, spread=0.0), initial=initial)


def _session() -> SparkSession:
    session = SparkSession.getActiveSession()
    if session is None:
        raise RuntimeError("there is no Spark session; make one with SparkSession.builder.getOrCreate()")
    return session
