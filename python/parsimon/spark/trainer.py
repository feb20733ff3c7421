"""The estimator."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from pyspark.ml import Estimator
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from .._rounds import Fitted, Rounds
from . import jobs
from .model import SparkModel
from .params import NAMES, SETTINGS, TrainerParams
from .stream import StreamTrainer


class SparkTrainer(Estimator[SparkModel], TrainerParams, DefaultParamsWritable, DefaultParamsReadable["SparkTrainer"]):
    """Trains one model on a Spark frame or a Parquet path; a Spark ML estimator.

    Every argument is a Param, with a setter and a getter, and can be in a grid: ``ParamGridBuilder().addGrid(trainer.l1, [0.1, 1])``.
    Without ``algorithm`` the method is ``auto``: a race on the driver chooses rate and l1 on the first rows, and the winner is distributed.

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
        Several columns instead of ``featuresCol``: two of lists, indices and values; or numeric columns, one feature each; or ``["*"]``, all
        columns, read by their kinds as those of a CSV file are.
    **settings
        Of the method, in Spark's spelling: ``l1``, ``rate``, ``loss``, ``classWeight``, ... ``explainParams()`` lists them.

    Examples
    --------
    >>> from pyspark.ml import Pipeline                                          # doctest: +SKIP
    >>> Pipeline(stages=[hasher, SparkTrainer("rda", l1=1e-4)]).fit(frame)       # doctest: +SKIP
    """

    def __init__(self, algorithm: str | None = None, **params: Any) -> None:
        super().__init__()
        self._setDefault(algorithm="auto", epochs=1, combine="scaled", precision="f64", fitIntercept=True, minRows=50_000)
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

    def _rounds(self) -> Rounds:
        """The training that the Params describe."""
        partitions = self._given("partitions")
        for name, value in (("partitions", partitions), ("minRows", self.getOrDefault("minRows"))):
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        columns = self.read_columns()
        settings = {NAMES[name]: self.getOrDefault(name) for name in SETTINGS if self.isDefined(name)}
        return Rounds(
            self.getOrDefault("algorithm"),
            epochs=self.getOrDefault("epochs"),
            merges=self._given("merges"),
            features=columns.features,
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
        rounds = self._rounds()
        partitions = self._given("partitions")
        if partitions is not None:
            dataset = dataset.repartition(partitions)
        names = rounds.columns(()).names()
        rows = dataset if names is None else dataset.select(*[F.col(name) for name in names])
        seen, found = jobs.scan(rows, rounds.label, classes=rounds.learns_classes)
        if may_be_empty and not seen.rows:
            return initial
        most = max(1, seen.rows // self.getOrDefault("minRows"))
        if partitions is None and found > most:
            rows, seen = rows.coalesce(most), replace(seen, partitions=min(seen.partitions, most))
        return rounds.run(
            lambda columns, most: jobs.sample(rows, most),
            lambda columns, state, turn: jobs.merge(rows, columns, state, turn, slices=rounds.slices),
            seen=seen,
            initial=initial,
        )

    def foreach_batch(self, state_dir: str | os.PathLike[str], *, keep: int = 2) -> StreamTrainer:
        """A function for ``writeStream.foreachBatch`` of Structured Streaming, which keeps its states in a folder.

        The state after a batch is a file named by the batch's id, written before the call returns; the last ``keep`` of them are kept. Pass
        ``classes``, unless the first batch has all labels. Not for Spark Connect.
        """
        session = SparkSession.getActiveSession()
        if session is not None:
            jobs.refuse_connect(session)
        return StreamTrainer(self, state_dir, keep)


def _session() -> SparkSession:
    session = SparkSession.getActiveSession()
    if session is None:
        raise RuntimeError("there is no Spark session; make one with SparkSession.builder.getOrCreate()")
    return session
