"""Linear models for other programs: ONNX, and a header of C."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ._base import _Parsimon
from ._classifier import Classifier

#: A header of C with more weights than this is refused.
MOST_WEIGHTS = 10_000


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
        settings = model.settings_
        self.is_classifier = isinstance(model, Classifier)
        if settings.get("normalize") and not self.is_classifier and not settings.get("no_clip_predictions"):
            raise ValueError(f"{what} does not export the clipping of predictions; learn with no_clip_predictions=True")
        coef = model._coef()
        self.weights = np.ascontiguousarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64)
        if self.weights.shape[1] == 0:
            raise ValueError(f"{what} needs a model with columns")
        self.biases = np.array([bias for bias, _, _ in model._heads()])
        self.is_of_counts = not self.is_classifier and native.is_of_counts
        self.has_probabilities = self.is_classifier and settings["loss"] == "logistic"
        self.classes = model.classes_ if self.is_classifier else None
        self.precision = model._frame()["precision"]


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None, *, dtype: Any = None) -> Any:
    """A linear model over the columns of a matrix as an ONNX model; needs the package ``onnx``.

    The input ``X`` has one row per example, in ``dtype``: float64, or float32, the default for a model of that precision. The outputs are
    ``label`` and, for the logistic loss, ``probabilities`` of a classifier, ``prediction`` of a regressor, and ``margins``. The model is written
    to ``path`` if it is given, and returned. Results agree with ours up to rounding: sums run in another order.
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

    product = node("MatMul", ["X", constant("weights", linear.weights.T.astype(kind))], "product")
    margins = node("Add", [product, constant("biases", linear.biases.astype(kind))], "margins")
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
    room. A model of more than 10,000 weights other than zero is refused. The text is written to ``path`` if it is given, and returned.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"name must be a name of C, got {name!r}")
    linear = _Linear(model, "to_c")
    heads, columns = np.nonzero(linear.weights)
    if len(columns) > MOST_WEIGHTS:
        raise ValueError(f"the model has {len(columns):,} weights other than zero, and a header at most {MOST_WEIGHTS:,}; use a model file")
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
        f"static const int {name}_places[] = {{{', '.join(map(str, columns.tolist())) or '0'}}};",
        f"static const double {name}_weights[] = {{{_numbers(values) or '0.0'}}};",
        "",
        "/* The margin of a row. */",
        f"static inline double {name}_margin(const double *x, int head) {{",
        f"    double sum = {name}_biases[head];",
        f"    for (int k = {name}_starts[head]; k < {name}_starts[head + 1]; k++) sum += {name}_weights[k] * x[{name}_places[k]];",
        "    return sum;",
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
    return ", ".join(repr(float(value)) for value in values)


def _comment(label: Any) -> str:
    return repr(label).replace("*/", "* /")
