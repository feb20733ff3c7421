"""What a training on Spark leaves behind."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.ml import Model
from pyspark.ml.functions import array_to_vector
from pyspark.ml.util import DefaultParamsReader, DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf

from .._rounds import Fitted, Round, loss_of, score
from .._worker import Columns, Winner
from .files import Folder
from .jobs import refuse_connect
from .params import ColumnParams

_SCORED = "parsimon_scored"
_MODEL, _STATE = "model.psm", "state.ckpt"


class SparkModel(Model, ColumnParams, MLWritable, MLReadable["SparkModel"]):
    """What :class:`SparkTrainer` leaves behind; a Spark ML model.

    ``transform`` adds the column ``prediction`` (double); for classes also ``rawPrediction`` (vector of margins) and, for the logistic
    loss, ``probability`` (vector). A prediction is the label where labels are numbers, else its position in ``labels``, as
    ``IndexToString`` takes it. Saved, it is a folder with two files of ours: ``model.psm``, which the program and ``parsimon.load`` read,
    and ``state.ckpt``, from which training can go on.
    """

    def __init__(self, fitted: Fitted) -> None:
        super().__init__()
        self.fitted = fitted

    @cached_property
    def model_bytes(self) -> bytes:
        """The bytes of a model file."""
        return self.fitted.model()

    @property
    def history(self) -> list[Round]:
        """What stood after every merge."""
        return self.fitted.history

    @property
    def winner(self) -> Winner | None:
        """The setting that a race has chosen; ``None`` where the method was named."""
        return self.fitted.winner

    @property
    def labels(self) -> list[Any]:
        """The labels in the order of ``rawPrediction`` and ``probability``; empty where numbers are predicted."""
        return list(self.fitted.columns.classes)

    @property
    def numClasses(self) -> int:
        """The number of labels."""
        return len(self.labels)

    @property
    def nonzeros(self) -> int:
        """Weights that are not zero."""
        return self.fitted.nonzeros

    def _check_thresholds(self, has_probabilities: bool) -> tuple[float, ...] | None:
        if not self.isDefined("thresholds"):
            return None
        found = tuple(self.getOrDefault("thresholds"))
        if not has_probabilities:
            raise ValueError("thresholds are for models with probabilities: train classes with the logistic loss or softmax")
        if len(found) != len(self.labels):
            raise ValueError(f"thresholds has {len(found)} numbers; there are {len(self.labels)} labels")
        if min(found) < 0 or sum(t == 0 for t in found) > 1:
            raise ValueError(f"thresholds must be at least 0, and at most one of them 0, got {list(found)}")
        return found

    def _transform(self, dataset: DataFrame) -> DataFrame:
        refuse_connect(dataset)
        columns = replace(self.read_columns(table=self.are_table(dataset)), label=None, weight=None, classes=self.fitted.columns.classes)
        # Of a table, columns that were not learned are passed over.
        names = columns.names() or dataset.columns
        of_classes = bool(columns.classes)
        has_probabilities = of_classes and loss_of(self.model_bytes) in ("logistic", "softmax")
        thresholds = self._check_thresholds(has_probabilities)
        values = _values(columns.classes)
        shared = dataset.sparkSession.sparkContext.broadcast(self.model_bytes)

        @arrow_udf("prediction double, raw array<double>, probability array<double>")  # type: ignore[call-overload,untyped-decorator]
        def scored(*data: pa.Array) -> pa.Array:
            batch = pa.RecordBatch.from_arrays(list(data), names=names)
            scores = score(shared.value, batch, columns, thresholds)
            numbers = scores.predictions if scores.places is None else pa.array(values[scores.places])
            raw = scores.margins if scores.margins.shape[1] > 1 else np.column_stack([-scores.margins, scores.margins])
            parts = [numbers, _lists(raw), _lists(raw if scores.probabilities is None else scores.probabilities)]
            return pa.StructArray.from_arrays(parts, names=["prediction", "raw", "probability"])

        found = dataset.withColumn(_SCORED, scored(*[F.col(name) for name in names]))
        written = [("predictionCol", F.col(f"{_SCORED}.prediction"))]
        if of_classes:
            written.append(("rawPredictionCol", array_to_vector(F.col(f"{_SCORED}.raw"))))
        if has_probabilities:
            written.append(("probabilityCol", array_to_vector(F.col(f"{_SCORED}.probability"))))
        for param, column in written:
            # An empty name leaves a column out, as in all of Spark ML.
            if name := self.getOrDefault(param):
                found = found.withColumn(name, column)
        return found.drop(_SCORED)

    def write(self) -> MLWriter:
        """For ``save`` and for pipelines."""
        return _Writer(self)

    @classmethod
    def read(cls) -> MLReader[SparkModel]:
        """For ``load`` and for pipelines."""
        return _Reader()


def _values(classes: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """Predictions as numbers: labels that are numbers, else positions."""
    if all(isinstance(label, (int, float)) for label in classes):
        return np.array(classes, dtype=np.float64)
    return np.arange(len(classes), dtype=np.float64)


def _lists(rows: np.ndarray[Any, Any]) -> pa.Array:
    n, width = rows.shape
    ends = pa.array(np.arange(0, (n + 1) * width, width), pa.int32())
    return pa.ListArray.from_arrays(ends, pa.array(rows.reshape(-1)))


class _Writer(MLWriter):
    def __init__(self, instance: SparkModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        fitted = self.instance.fitted
        about = {
            "labels": self.instance.labels,
            "history": [asdict(round_) for round_ in fitted.history],
            "winner": None if fitted.winner is None else asdict(fitted.winner),
        }
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sparkSession, extraMetadata=about)
        folder = Folder(self.sparkSession, path)
        folder.write(_MODEL, self.instance.model_bytes)
        folder.write(_STATE, fitted.state)


class _Reader(MLReader[SparkModel]):
    def load(self, path: str) -> SparkModel:
        about = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        state = Folder(self.sparkSession, path).read(_STATE)
        model = SparkModel(Fitted(state, Columns()))
        model._resetUid(about["uid"])
        DefaultParamsReader.getAndSetParams(model, about)
        winner = None if about["winner"] is None else Winner(**about["winner"])
        history = [Round(**round_) for round_ in about["history"]]
        is_table = model.fitted.schema is not None
        model.fitted = Fitted(state, model.read_columns(tuple(about["labels"]), table=is_table), history, winner)
        return model
