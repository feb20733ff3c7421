"""The parts of a fitted estimator that predict, as exports carry them."""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _parsimon
from ._base import _Parsimon
from ._classifier import Classifier

#: Most cells of the tables of pairs.
_MOST_PAIRS = 50_000_000


class Exported:
    """An estimator as tables: what becomes of a row, biases, and how margins become predictions.

    Exactly one of ``matrix`` and ``frame`` is there.
    """

    def __init__(self, model: Any, what: str):
        if not isinstance(model, _Parsimon):
            raise TypeError(f"{what} takes an estimator of parsimon, got {type(model).__name__}; export the transformers of a pipeline by themselves")
        check_is_fitted(model)
        native = model._learner
        if native.bits is not None and native.schema is None:
            raise ValueError(f"{what} needs features that are columns of a matrix or of a frame, and the model knows features by hashed names")
        if getattr(native, "calibration", None) is not None:
            raise ValueError(f"{what} does not export calibrated models")
        exact = native.exact_weights()
        if exact is None:
            raise ValueError(f"{what} does not export models over a dictionary of rows")
        heads, columns, reach, limits = exact
        self.biases = np.array([bias for bias, _, _ in heads])
        #: How many standard deviations a cell counts at most; None if cells are taken as they are.
        self.reach = reach if columns else None
        self.matrix = self.frame = None
        if native.bits is None:
            self.matrix = _matrix(model, what, heads, columns)
        else:
            self.frame = _frame(native, what, heads, columns)
        #: The range of margins, if they are clipped.
        self.limits = limits if limits is not None and np.isfinite(limits).all() else None
        self.is_classifier = isinstance(model, Classifier)
        self.is_of_counts = not self.is_classifier and native.is_of_counts
        loss = native.loss
        self.has_probabilities = self.is_classifier and loss in ("logistic", "softmax")
        #: Whether the probabilities of several classes are those of softmax; else those of one-vs-all models, scaled to sum to one.
        self.is_softmax = loss == "softmax"
        self.classes = model.classes_ if self.is_classifier else None
        self.precision = model._frame()["precision"]

    @property
    def heads(self) -> int:
        return len(self.biases)


class Matrix(NamedTuple):
    """Weights of the columns of a matrix, one row per head, with the mean and the deviation of each column."""

    weights: np.ndarray
    means: np.ndarray
    deviations: np.ndarray

    @property
    def width(self) -> int:
        return self.weights.shape[1]


def _matrix(model: Any, what: str, heads: list[Any], columns: list[tuple[int, float, float]]) -> Matrix:
    largest = max((int(ids[-1]) for _, ids, _ in heads if len(ids)), default=0)
    # Rows as dictionaries may bring ids beyond the columns.
    width = max(getattr(model, "n_features_in_", 0), largest, *(place for place, _, _ in columns), 0)
    if width == 0:
        raise ValueError(f"{what} needs a model with columns")
    weights = np.zeros((len(heads), width))
    for k, (_, ids, values) in enumerate(heads):
        if len(ids) and ids[0] == 0:
            raise ValueError(f"{what} needs features that are columns of a matrix, and the model has a weight for feature id 0")
        weights[k, ids.astype(np.int64) - 1] = values
    means, deviations = np.zeros(width), np.ones(width)
    for place, mean, deviation in columns:
        # A column whose cells were all equal has no weight: any scale will do.
        if deviation > 0:
            means[place - 1], deviations[place - 1] = mean, deviation
    return Matrix(weights, means, deviations)


class Number(NamedTuple):
    """A number column of a frame: its weights per head, and those of the knots of its curve."""

    name: str
    mean: float
    deviation: float
    weights: np.ndarray
    knots: np.ndarray
    #: One row per knot.
    hats: np.ndarray


class Words(NamedTuple):
    """A column of categories: the values that have a weight, in order, and one row of weights for each."""

    name: str
    values: list[str]
    weights: np.ndarray


class Side(NamedTuple):
    """A column of a pair: bins of a number column, or the values of a column of categories."""

    #: The place among the number columns or among those of categories.
    place: int
    #: Where bins begin; None for categories.
    cuts: np.ndarray | None
    count: int


class Pair(NamedTuple):
    """Two columns whose values together have weights: ``table[a, b, head]``."""

    first: Side
    second: Side
    table: np.ndarray


class Frame(NamedTuple):
    """Weights of the columns of a frame."""

    numbers: list[Number]
    words: list[Words]
    pairs: list[Pair]
    #: Numbers that stand for a missing cell, beside NaN.
    missing: list[float]


class _Weights:
    """Weights by the names of features."""

    def __init__(self, native: Any, heads: list[Any]):
        self.bits = native.bits
        self.used = np.unique(np.concatenate([ids for _, ids, _ in heads]))
        self.heads = len(heads)
        # The last row is that of all features without a weight.
        self.rows = np.zeros((len(self.used) + 1, len(heads)))
        for k, (_, ids, values) in enumerate(heads):
            self.rows[np.searchsorted(self.used, ids), k] = values
        self.names = [(slot, name) for slot, name in native.all_names() if self._is_used(slot)]
        named = {slot for slot, _ in self.names}
        self.unnamed = len(self.used) - len(named)

    def _is_used(self, slot: int) -> bool:
        place = np.searchsorted(self.used, slot)
        return bool(place < len(self.used) and self.used[place] == slot)

    def of_slots(self, slots: list[int]) -> np.ndarray:
        """One row of weights for each slot."""
        asked = np.asarray(slots, dtype=np.int64).reshape(-1)
        places = np.minimum(np.searchsorted(self.used, asked), max(len(self.used) - 1, 0))
        known = self.used[places] == asked if len(self.used) else np.zeros(len(asked), bool)
        return self.rows[np.where(known, places, len(self.used))]

    def of(self, names: list[str]) -> np.ndarray:
        """One row of weights for each name."""
        return self.of_slots(_parsimon.slots(names, self.bits))

    def of_pairs(self, name: str, others: list[str]) -> np.ndarray:
        """One row of weights for each pair of a name with another."""
        return self.of_slots(_parsimon.pair_slots(name, others, self.bits))

    def values(self, column: str) -> list[str]:
        """The values of a column of categories that may have a weight, alone or in a pair, in the order of their bytes."""
        start, found = f"{column}=", set()
        for _, name in self.names:
            # A pair is written a*b, and values may have stars: every cut is tried, and what is no value has no weight.
            cuts = [0, *(k + 1 for k, letter in enumerate(name) if letter == "*"), len(name) + 1]
            for i, begin in enumerate(cuts[:-1]):
                if name.startswith(start, begin):
                    found.update(name[begin + len(start) : end - 1] for end in cuts[i + 1 :] if end - 1 >= begin + len(start))
        return sorted(found, key=lambda value: value.encode())


def _frame(native: Any, what: str, heads: list[Any], columns: list[tuple[int, float, float]]) -> Frame:
    schema = json.loads(native.schema)
    if native.has_interactions:
        raise ValueError(f"{what} does not export products of namespaces (interactions)")
    weights = _Weights(native, heads)
    if weights.unnamed:
        raise ValueError(f"{what} needs the names of features, and {weights.unnamed} features with a weight have none")
    roles = (schema.get("label"), schema.get("weight"))
    learned = [column for column in schema["columns"] if column["name"] not in roles]
    for column in learned:
        _refuse_words(what, column, weights)
    moments = {slot: (mean, deviation) for slot, mean, deviation in columns}
    numbers = [_number(column, weights, moments) for column in learned if column["kind"] == "number"]
    of_words = [column["name"] for column in learned if column["kind"] in ("category", "boolean")]
    named = {name: weights.values(name) for name in of_words}
    cuts = {column["name"]: column.get("cuts", []) for column in learned}
    sides, tables = [], []
    for a, b in schema.get("pairs", []):
        names = [[f"{c}={value}" for value in named[c]] if c in named else _parsimon.bin_names(c, cuts[c]) for c in (a, b)]
        if len(names[0]) * len(names[1]) * len(heads) > _MOST_PAIRS:
            raise ValueError(f"{what} does not export pairs of so many values: {a} has {len(names[0])} and {b} {len(names[1])}")
        sides.append((a, b))
        tables.append(np.array([weights.of_pairs(name, names[1]) for name in names[0]]).reshape(len(names[0]), len(names[1]), len(heads)))
    rows = {name: weights.of([f"{name}={value}" for value in values]) for name, values in named.items()}
    # Values without a weight, alone or in a pair, take no room.
    kept = {name: found.any(axis=1) for name, found in rows.items()}
    for both, table in zip(sides, tables):
        for axis, c in enumerate(both):
            if c in kept:
                kept[c] |= table.any(axis=(1 - axis, 2))
    words = [Words(name, [named[name][k] for k in np.flatnonzero(kept[name])], rows[name][kept[name]]) for name in of_words]
    places = {number.name: k for k, number in enumerate(numbers)}
    pairs = []
    for both, table in zip(sides, tables):
        for axis, c in enumerate(both):
            table = table.compress(kept[c], axis) if c in kept else table
        found = [
            Side(of_words.index(c), None, n) if c in kept else Side(places[c], np.array(cuts[c], dtype=float), n)
            for c, n in zip(both, table.shape)
        ]
        pairs.append(Pair(found[0], found[1], table))
    return Frame(numbers, words, pairs, _missing_numbers(schema.get("missing") or []))


def _refuse_words(what: str, column: dict[str, Any], weights: _Weights) -> None:
    """Refuses columns that become features by rules that another program does not have."""
    name, kind = column["name"], column["kind"]
    reasons = {
        "text": "the words of a text are found by the letters of Unicode",
        "time": "dates and times are read by their form",
    }
    if kind in reasons:
        starts = (name, f"{name}^")
        used = [feature for _, feature in weights.names if feature == starts[0] or feature.startswith(starts[1])]
        if used:
            raise ValueError(f"{what} does not export column {name!r}, which is a {kind}: {reasons[kind]}; leave it out with ignore=[{name!r}]")


def _number(column: dict[str, Any], weights: _Weights, moments: dict[int, tuple[float, float]]) -> Number:
    name, knots = column["name"], column.get("knots", [])
    # A curve has two knots or more.
    knots = knots if len(knots) > 1 else []
    (slot,) = _parsimon.slots([name], weights.bits)
    mean, deviation = moments.get(slot, (0.0, 0.0))
    if not deviation > 0:
        mean, deviation = 0.0, 1.0
    hats = weights.of(_parsimon.knot_names(name, knots))
    return Number(name, mean, deviation, weights.of_slots([slot])[0], np.array(knots, dtype=float), hats)


def _missing_numbers(texts: list[str]) -> list[float]:
    found = []
    for text in texts:
        try:
            value = float(text)
        except ValueError:
            continue
        if math.isfinite(value):
            found.append(value)
    return found
