"""The Params of trainer and model: columns as in all of Spark ML, and a Param for every setting of our methods."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasRawPredictionCol,
    HasThresholds,
    HasWeightCol,
)

from .. import _parsimon
from .._worker import Columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Settings that are Params of another name, or follow from the data.
_NOT_PARAMS = ("multiclass", "classes", "dimension")

#: The only element of ``featuresCols`` where all columns are read by their kinds.
ALL = "*"


def _names(value: Any) -> list[str]:
    """Names of columns; one name may stand alone."""
    return TypeConverters.toListString([value] if isinstance(value, str) else value)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _converter(setting: dict[str, Any]) -> Callable[[Any], Any]:
    must_be = setting["must_be"]
    if must_be.startswith("true or false"):
        return TypeConverters.toBoolean
    if must_be.startswith("a whole number"):
        return TypeConverters.toInt
    if setting["words"] and must_be.startswith("one of"):
        return TypeConverters.toString
    if must_be.startswith(("a finite number", "a number")) and "each class" not in must_be:
        return TypeConverters.toFloat
    return TypeConverters.identity


def _found() -> dict[str, Param[Any]]:
    """A Param for every setting, from the registry of methods."""
    by_name: dict[str, list[dict[str, Any]]] = {}
    for method in json.loads(_parsimon.registry()):
        for setting in method["settings"]:
            by_name.setdefault(setting["name"], []).append(setting)
    params = {}
    for name, settings in by_name.items():
        if name in _NOT_PARAMS:
            continue
        kinds = {_converter(setting) for setting in settings}
        # What is a word for one method and a number for another is checked when the trainer is built.
        kind = kinds.pop() if len(kinds) == 1 else TypeConverters.identity
        about = f"{settings[0]['about']}; {settings[0]['must_be']}"
        params[_camel(name)] = Param(Params._dummy(), _camel(name), about, typeConverter=kind)
    return params


#: The Params of settings, and the settings' names.
SETTINGS = _found()
NAMES = {_camel(s["name"]): s["name"] for m in json.loads(_parsimon.registry()) for s in m["settings"]}


def with_accessors(cls: type[Any]) -> type[Any]:
    """Gives a class ``setX`` and ``getX`` for every Param that has none."""
    for name in dir(cls):
        if isinstance(getattr(cls, name), Param):
            title = name[0].upper() + name[1:]
            if not hasattr(cls, f"set{title}"):
                setattr(cls, f"set{title}", _setter(name))
            if not hasattr(cls, f"get{title}"):
                setattr(cls, f"get{title}", _getter(name))
    return cls


def _setter(name: str) -> Callable[[Any, Any], Any]:
    def set_it(self: Any, value: Any) -> Any:
        return self._set(**{name: value})

    set_it.__doc__ = f"Sets ``{name}``."
    return set_it


def _getter(name: str) -> Callable[[Any], Any]:
    def get_it(self: Any) -> Any:
        return self.getOrDefault(name)

    get_it.__doc__ = f"The value of ``{name}``."
    return get_it


class ColumnParams(
    HasFeaturesCol, HasLabelCol, HasWeightCol, HasPredictionCol, HasRawPredictionCol, HasProbabilityCol, HasThresholds
):
    """What trainer and model have in common: which columns are read and written."""

    featuresCols: Param[list[str]] = Param(
        Params._dummy(),
        "featuresCols",
        "several columns instead of featuresCol: two of lists, indices and values; or columns of any type, read by their kinds; "
        'or "*", all columns but those of label, weight and predictions',
        typeConverter=_names,
    )

    def read_columns(self, classes: tuple[Any, ...] = (), *, table: bool = True) -> Columns:
        """The columns in the form that workers take. Several columns are those of a table unless they are lists."""
        features: str | tuple[str, ...] | None = self.getOrDefault("featuresCol")
        named: tuple[str, ...] = ()
        if self.isDefined("featuresCols"):
            several = tuple(self.getOrDefault("featuresCols"))
            features, named = (None, () if several == (ALL,) else several) if table else (several, ())
        weight = self.getOrDefault("weightCol") if self.isDefined("weightCol") else None
        return Columns(features, self.getOrDefault("labelCol"), weight or None, classes, named)

    def are_table(self, dataset: DataFrame) -> bool:
        """Whether the columns of features are read by their kinds: they are not two lists of indices and values."""
        if not self.isDefined("featuresCols"):
            return False
        several = self.getOrDefault("featuresCols")
        if several == [ALL]:
            return True
        types = dict(dataset.dtypes)
        missing = [name for name in several if name not in types]
        if missing:
            raise KeyError(f"there is no column {missing[0]}; the columns are {', '.join(dataset.columns)}")
        return not (len(several) == 2 and all(types[name].startswith("array") for name in several))

    def written_columns(self) -> set[str]:
        """The columns that a model writes, which are never features."""
        return {self.getOrDefault(name) for name in ("predictionCol", "rawPredictionCol", "probabilityCol")}


class TrainerParams(ColumnParams):
    """The Params of a training."""

    if TYPE_CHECKING:
        # The Params of settings and all setters and getters are made below.
        def __getattr__(self, name: str) -> Any: ...

    algorithm: Param[str] = Param(
        Params._dummy(),
        "algorithm",
        "auto (a race on the first rows chooses rate and l1), or the name of a method that can be merged",
        typeConverter=TypeConverters.toString,
    )
    epochs: Param[int] = Param(
        Params._dummy(), "epochs", "how often every row is learned", typeConverter=TypeConverters.toInt
    )
    merges: Param[int] = Param(
        Params._dummy(),
        "merges",
        "merges of an epoch, one job each; if unset 4 below a million rows and 16 from there on",
        typeConverter=TypeConverters.toInt,
    )
    partitions: Param[int] = Param(
        Params._dummy(),
        "partitions",
        "number of partitions to cut the frame into first; if unset those of the frame, put together as minRows has it",
        typeConverter=TypeConverters.toInt,
    )
    minRows: Param[int] = Param(
        Params._dummy(),
        "minRows",
        "least rows of a worker, on average: neighbouring partitions are put together until they have so many; unless partitions is set",
        typeConverter=TypeConverters.toInt,
    )
    classes: Param[list[Any]] = Param(
        Params._dummy(),
        "classes",
        "the labels in their order; found by a scan if unset",
        typeConverter=TypeConverters.toList,
    )
    combine: Param[str] = Param(
        Params._dummy(), "combine", "scaled, damped, sum or mean", typeConverter=TypeConverters.toString
    )
    precision: Param[str] = Param(
        Params._dummy(), "precision", "of the state, f64 or f32", typeConverter=TypeConverters.toString
    )
    fitIntercept: Param[bool] = Param(
        Params._dummy(),
        "fitIntercept",
        "whether there is a bias, which is never penalized",
        typeConverter=TypeConverters.toBoolean,
    )
    shuffle: Param[bool] = Param(
        Params._dummy(),
        "shuffle",
        "whether rows are learned in a random order, which seed and the contents of the rows fix; if not, in the order of the partitions",
        typeConverter=TypeConverters.toBoolean,
    )
    seed: Param[int] = Param(Params._dummy(), "seed", "of the random order", typeConverter=TypeConverters.toInt)
    slices: Param[int] = Param(
        Params._dummy(),
        "slices",
        "parts, by feature, in which tasks merge deltas; if unset, or 1, the driver merges them while states are small",
        typeConverter=TypeConverters.toInt,
    )


for _name, _param in SETTINGS.items():
    setattr(TrainerParams, _name, _param)
with_accessors(TrainerParams)
with_accessors(ColumnParams)
