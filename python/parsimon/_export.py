"""Linear models for other programs: ONNX, and a header of C."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._base import _Parsimon
from ._classifier import Classifier

class _Linear:
    """What is exported: weights per head and column, biases, and how margins become predictions."""

    def __init__(self, model: Any, what: str):
        if not isinstance(model, _Parsimon):
            raise TypeError(f"{what} takes an estimator of parsimon, got {type(model).__name__}; export the transformers of a pipeline by themselves")
        check_is_fitted(model)
        native = model._learner
        if native.bits is not None:
            raise ValueError(f"{what} needs features that are columns of a matrix, and the model knows features by hashed names")
        if getattr(native, "calibration", None) is not None:
            raise ValueError(f"{what} does not export calibrated models")
        self.is_classifier = isinstance(model, Classifier)
        exact = native.exact_weights()
        if exact is None:
            raise ValueError(f"{what} does not export models over a dictionary of rows")
        heads, columns, reach, limits = exact
        largest = max((int(ids[-1]) for _, ids, _ in heads if len(ids)), default=0)
        width = max(getattr(model, "n_features_in_", 0), largest)
        if width == 0:
            raise ValueError(f"{what} needs a model with columns")
        self.biases = np.array([bias for bias, _, _ in heads])
        self.weights = np.zeros((len(heads), width))
        for k, (_, ids, values) in enumerate(heads):
            if len(ids) and ids[0] == 0:
                raise ValueError(f"{what} needs features that are columns of a matrix, and the model has a weight for feature id 0")
            self.weights[k, ids.astype(np.int64) - 1] = values
        #: Means and deviations of columns that are standardized, and how many deviations a cell counts at most; None if cells are taken as they are.
        self.scales = _scales(columns, width, reach) if columns else None
        #: The range of margins, if they are clipped.
        self.limits = limits if limits is not None and np.isfinite(limits).all() else None
        self.is_of_counts = not self.is_classifier and native.is_of_counts
        loss = native.loss
        self.has_probabilities = self.is_classifier and loss in ("logistic", "softmax")
        #: Whether the probabilities of several classes are those of softmax; else those of one-vs-all models, scaled to sum to one.
        self.is_softmax = loss == "softmax"
        self.classes = model.classes_ if self.is_classifier else None
        self.precision = model._frame()["precision"]


def _scales(columns: list[tuple[int, float, float]], width: int, reach: float) -> tuple[Any, Any, float]:
    means, deviations = np.zeros(width), np.ones(width)
    for place, mean, deviation in columns:
        # A column whose cells were all equal has no weight: any scale will do.
        if deviation > 0:
            means[place - 1], deviations[place - 1] = mean, deviation
    return means, deviations, reach


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None, *, dtype: Any = None) -> Any:
    """A linear model over the columns of a matrix as an ONNX model; needs the package ``onnx``.

    The input ``X`` has one row per example, in ``dtype``: float64, or float32, the default for a model of that precision. The outputs are
    ``label`` and, for the logistic loss and softmax, ``probabilities`` of a classifier, ``prediction`` of a regressor, and ``margins``. The model is written
    to ``path`` if it is given, and returned. Columns that the model standardizes are standardized and clipped in the graph, and clipped
    predictions are clipped. Results agree up to rounding, because sums run in another order.
    """
    try:
        from onnx import TensorProto, checker, helper, numpy_helper, save_model
    except ImportError:
        raise ImportError("to_onnx needs the package onnx: pip install onnx") from None
    linear = _Linear(model, "to_onnx")
    kind = np.dtype(dtype if dtype is not None else ("float32" if linear.precision == "f32" else "float64"))
    if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype must be float64 or float32, got {kind}")
    number = TensorProto.DOUBLE if kind == np.float64 else TensorProto.FLOAT
    nodes, constants = [], []

    def constant(name: str, value: np.ndarray) -> str:
        constants.append(numpy_helper.from_array(value, name))
        return name

    def node(operation: str, inputs: list[str], output: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(operation, inputs, [output], **attributes))
        return output

    cells = "X"
    if linear.scales is not None:
        means, deviations, reach = linear.scales
        # In double precision: the mean of a column may be far larger than its deviation.
        wide = node("Cast", ["X"], "wide", to=TensorProto.DOUBLE)
        centered = node("Sub", [wide, constant("means", means)], "centered")
        scaled = node("Div", [centered, constant("deviations", deviations)], "scaled")
        clipped = node("Clip", [scaled, constant("lowest_cell", np.array(-reach)), constant("highest_cell", np.array(reach))], "clipped")
        cells = node("Cast", [clipped], "cells", to=number)
    product = node("MatMul", [cells, constant("weights", linear.weights.T.astype(kind))], "product")
    margins = node("Add", [product, constant("biases", linear.biases.astype(kind))], "margins" if linear.limits is None else "unclipped")
    if linear.limits is not None:
        low, high = (np.array(limit, kind) for limit in linear.limits)
        margins = node("Clip", [margins, constant("lowest", low), constant("highest", high)], "margins")
    heads = linear.weights.shape[0]
    outputs = [helper.make_tensor_value_info("margins", number, [None, heads])]
    if linear.is_classifier:
        if heads == 1:
            above = node("Greater", [margins, constant("zero", np.zeros((), kind))], "above")
            whole = node("Cast", [above], "whole", to=TensorProto.INT64)
            place = node("Squeeze", [whole, constant("last", np.array([1]))], "place")
        else:
            place = node("ArgMax", [margins], "place", axis=1, keepdims=0)
        classes = _onnx_classes(linear.classes)
        node("Gather", [constant("classes", classes), place], "label", axis=0)
        label = TensorProto.STRING if classes.dtype.kind in "OU" else TensorProto.DOUBLE if classes.dtype.kind == "f" else TensorProto.INT64
        outputs.insert(0, helper.make_tensor_value_info("label", label, [None]))
        if linear.has_probabilities:
            if heads == 1:
                negative = node("Neg", [margins], "negative")
                first, second = node("Sigmoid", [negative], "first"), node("Sigmoid", [margins], "second")
                node("Concat", [first, second], "probabilities", axis=1)
            elif linear.is_softmax:
                node("Softmax", [margins], "probabilities", axis=1)
            else:
                each = node("Sigmoid", [margins], "each")
                total = node("ReduceSum", [each, constant("classes_axis", np.array([1]))], "total", keepdims=1)
                node("Div", [each, total], "probabilities")
            outputs.insert(1, helper.make_tensor_value_info("probabilities", number, [None, len(linear.classes)]))
    else:
        column = node("Squeeze", [margins, constant("last", np.array([1]))], "column")
        node("Exp" if linear.is_of_counts else "Identity", [column], "prediction")
        outputs.insert(0, helper.make_tensor_value_info("prediction", number, [None]))
    inputs = [helper.make_tensor_value_info("X", number, [None, linear.weights.shape[1]])]
    graph = helper.make_graph(nodes, "parsimon", inputs, outputs, constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="parsimon")
    checker.check_model(made)
    if path is not None:
        save_model(made, os.fspath(path))
    return made


def _onnx_classes(classes: np.ndarray) -> np.ndarray:
    if classes.dtype.kind in "iub":
        return classes.astype(np.int64)
    if classes.dtype.kind == "f":
        return classes.astype(np.float64)
    return np.array([str(label) for label in classes.tolist()], dtype=object)


def to_c(model: Any, path: str | os.PathLike[str] | None = None, *, name: str = "model") -> str:
    """A linear model over the columns of a matrix as one header of plain C99, which needs nothing but ``math.h``.

    The header has ``NAME_columns``, ``NAME_heads``, ``NAME_margin(x, head)`` for a row ``x`` of ``NAME_columns`` numbers, and, by the kind of the
    model, ``NAME_class(x)`` (the position of the class), ``NAME_probability(x, class)`` or ``NAME_predict(x)``. Weights that are zero take no
    room. Columns that the model standardizes are standardized and clipped in the function, and clipped predictions are clipped. The text is
    written to ``path`` if it is given, and returned.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"name must be a name of C, got {name!r}")
    linear = _Linear(model, "to_c")
    heads, columns = np.nonzero(linear.weights)
    values = linear.weights[heads, columns]
    starts = np.searchsorted(heads, np.arange(linear.weights.shape[0] + 1))
    guard = f"PARSIMON_{name.upper()}_H"
    lines = [
        "/* Written by parsimon.to_c. A row is an array of numbers, one per column. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "#include <math.h>",
        "",
        f"enum {{ {name}_columns = {linear.weights.shape[1]}, {name}_heads = {linear.weights.shape[0]} }};",
        f"static const double {name}_biases[] = {{{_numbers(linear.biases)}}};",
        f"static const int {name}_starts[] = {{{', '.join(map(str, starts.tolist()))}}};",
        # An array of C has at least one item.
        f"static const int {name}_places[] = {{{_lines([str(place) for place in columns.tolist()]) or '0'}}};",
        f"static const double {name}_weights[] = {{{_numbers(values) or '0.0'}}};",
    ]
    cell = f"x[{name}_places[k]]"
    if linear.scales is not None:
        means, deviations, reach = linear.scales
        cell = f"{name}_cell(x[{name}_places[k]], {name}_means[k], {name}_deviations[k])"
        lines += [
            "/* The mean and the standard deviation of the column of each weight. */",
            f"static const double {name}_means[] = {{{_numbers(means[columns]) or '0.0'}}};",
            f"static const double {name}_deviations[] = {{{_numbers(deviations[columns]) or '1.0'}}};",
            "",
            "/* A cell in standard deviations from the mean, clipped. */",
            f"static inline double {name}_cell(double x, double mean, double deviation) {{",
            "    double cell = (x - mean) / deviation;",
            f"    return cell > {reach!r} ? {reach!r} : cell < -{reach!r} ? -{reach!r} : cell;",
            "}",
        ]
    answer = "sum"
    if linear.limits is not None:
        low, high = (repr(float(limit)) for limit in linear.limits)
        answer = f"sum < {low} ? {low} : sum > {high} ? {high} : sum"
    lines += [
        "",
        "/* The margin of a row. */",
        f"static inline double {name}_margin(const double *x, int head) {{",
        f"    double sum = {name}_biases[head];",
        f"    for (int k = {name}_starts[head]; k < {name}_starts[head + 1]; k++) sum += {name}_weights[k] * {cell};",
        f"    return {answer};",
        "}",
        "",
    ]
    if linear.is_classifier:
        labels = ", ".join(_comment(label) for label in linear.classes.tolist())
        lines += [f"/* The position of the class of a row. The classes are: {labels}. */", f"static inline int {name}_class(const double *x) {{"]
        if len(linear.biases) == 1:
            lines += [f"    return {name}_margin(x, 0) > 0.0;", "}", ""]
        else:
            lines += [
                "    int best = 0;",
                f"    double most = {name}_margin(x, 0);",
                f"    for (int head = 1; head < {name}_heads; head++) {{",
                f"        double margin = {name}_margin(x, head);",
                "        if (margin > most) { most = margin; best = head; }",
                "    }",
                "    return best;",
                "}",
                "",
            ]
    if linear.has_probabilities:
        lines += ["/* The probability of the class at a position. */", f"static inline double {name}_probability(const double *x, int place) {{"]
        if len(linear.biases) == 1:
            lines += [f"    double margin = {name}_margin(x, 0);", "    return 1.0 / (1.0 + exp(place ? -margin : margin));", "}", ""]
        elif linear.is_softmax:
            lines += [
                f"    double most = {name}_margin(x, {name}_class(x)), total = 0.0;",
                f"    for (int head = 0; head < {name}_heads; head++) total += exp({name}_margin(x, head) - most);",
                f"    return exp({name}_margin(x, place) - most) / total;",
                "}",
                "",
            ]
        else:
            lines += [
                "    double total = 0.0, own = 0.0;",
                f"    for (int head = 0; head < {name}_heads; head++) {{",
                f"        double each = 1.0 / (1.0 + exp(-{name}_margin(x, head)));",
                "        total += each;",
                "        if (head == place) own = each;",
                "    }",
                f"    return total > 0.0 ? own / total : 1.0 / {name}_heads;",
                "}",
                "",
            ]
    if not linear.is_classifier:
        answer = f"exp({name}_margin(x, 0))" if linear.is_of_counts else f"{name}_margin(x, 0)"
        lines += ["/* The prediction for a row. */", f"static inline double {name}_predict(const double *x) {{", f"    return {answer};", "}", ""]
    text = "\n".join([*lines, f"#endif /* {guard} */", ""])
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return text


def _numbers(values: np.ndarray) -> str:
    # The shortest text that is read back as the same number.
    return _lines([repr(float(value)) for value in values])


def _lines(texts: list[str]) -> str:
    # Compilers and people read lines.
    return ",\n    ".join(", ".join(texts[k : k + 8]) for k in range(0, len(texts), 8))


def _comment(label: Any) -> str:
    return repr(label).replace("*/", "* /")
