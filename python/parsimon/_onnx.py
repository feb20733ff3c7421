"""ONNX graphs of models, alone and in pipelines."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from ._base import _Parsimon
from ._errors import ClippingWarning
from ._export import Exported, Frame, Matrix, Side

#: The operators of the graphs, and those for texts, with the oldest version that has what is used.
_OPSETS = {"": 17, "ai.onnx.ml": 3}
_OUTPUTS = ("label", "probabilities", "prediction", "margins")
_NO_ONNX = "to_onnx needs the package onnx: pip install onnx"


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None, *, dtype: Any = None, initial_types: Any = None) -> Any:
    """A linear model over a matrix or a frame as an ONNX model; needs the package ``onnx``.

    A model of a matrix has the input ``X``, one row per example, in ``dtype``: float64, or float32, the default for a model of that
    precision. A model of a frame (columns of categories, curves, pairs) has one input of shape ``(rows, 1)`` for each column, called like
    the column: numbers in ``dtype``, categories as strings, booleans as the words of the table in lower case. NaN is a missing cell, and
    the empty string is one. A value without a weight counts as missing.

    The outputs are ``label`` and, for the logistic loss and softmax, ``probabilities`` of a classifier, ``prediction`` of a regressor, and
    ``margins``. The model is written to ``path`` if it is given, and returned. Columns that the model standardizes are standardized and
    clipped in the graph, and clipped predictions are clipped. Results agree up to rounding, because sums run in another order: within
    1e-9 of the larger of the margin and 1 in float64. Columns of texts and times are refused.

    A pipeline that ends with one of our estimators is converted by the package ``skl2onnx``. Its input is ``X``, too; ``initial_types`` takes other inputs in
    the form of skl2onnx.
    """
    try:
        from onnx import checker, helper, save_model
    except ImportError:
        raise ImportError(_NO_ONNX) from None
    if hasattr(model, "steps"):
        made = _pipeline(model, dtype, initial_types)
    else:
        exported = Exported(model, "to_onnx")
        graph = Graph(exported, _kind(dtype, exported.precision))
        made = helper.make_model(
            helper.make_graph(graph.nodes, "parsimon", graph.inputs, graph.outputs, graph.constants),
            opset_imports=[helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()],
            ir_version=8,
            producer_name="parsimon",
        )
    checker.check_model(made)
    if path is not None:
        save_model(made, os.fspath(path))
    return made


def _kind(dtype: Any, precision: str) -> np.dtype:
    kind = np.dtype(dtype if dtype is not None else ("float32" if precision == "f32" else "float64"))
    if kind not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype must be float64 or float32, got {kind}")
    return kind


class Graph:
    """The nodes, constants, inputs and outputs of a model."""

    def __init__(self, exported: Exported, kind: np.dtype):
        from onnx import TensorProto

        self.exported, self.kind = exported, kind
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.number = TensorProto.DOUBLE if kind == np.float64 else TensorProto.FLOAT
        self.long = TensorProto.INT64
        product = self._of_matrix(exported.matrix) if exported.matrix is not None else self._of_frame(exported.frame)
        self._answer(product)

    # Pieces.

    def constant(self, value: Any) -> str:
        from onnx import numpy_helper

        name = f"parsimon/constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, operation: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        output = output or f"parsimon/{operation}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, inputs, [output], **attributes))
        return output

    def _input(self, name: str, type: int, width: int) -> str:
        from onnx import helper

        self.inputs.append(helper.make_tensor_value_info(name, type, [None, width]))
        return name

    def _output(self, name: str, type: int, *shape: int) -> None:
        from onnx import helper

        self.outputs.append(helper.make_tensor_value_info(name, type, [None, *shape]))

    def _wide(self, name: str) -> str:
        from onnx import TensorProto

        # In double precision: the mean of a column may be far larger than its deviation.
        return self.node("Cast", [name], to=TensorProto.DOUBLE)

    def _narrow(self, name: str) -> str:
        return self.node("Cast", [name], to=self.number)

    def _standardized(self, cells: str, means: np.ndarray, deviations: np.ndarray) -> str:
        """Cells in deviations from the means, clipped."""
        reach = self.exported.reach
        centered = self.node("Sub", [cells, self.constant(means)])
        scaled = self.node("Div", [centered, self.constant(deviations)])
        return self.node("Clip", [scaled, self.constant(np.float64(-reach)), self.constant(np.float64(reach))])

    def _present(self, missing: str, cells: str, zero: Any) -> str:
        """Cells, with zero in the place of those that are missing."""
        return self.node("Where", [missing, self.constant(zero), cells])

    # Margins.

    def _of_matrix(self, matrix: Matrix) -> str:
        cells = self._input("X", self.number, matrix.width)
        missing = self.node("IsNaN", [cells])
        if self.exported.reach is not None:
            cells = self._narrow(self._standardized(self._wide(cells), matrix.means, matrix.deviations))
        cells = self._present(missing, cells, np.zeros((), self.kind))
        product = self.node("MatMul", [cells, self.constant(matrix.weights.T.astype(self.kind))])
        return self.node("Add", [product, self.constant(self.exported.biases.astype(self.kind))])

    def _of_frame(self, frame: Frame) -> str:
        from onnx import TensorProto

        taken = [column.name for column in (*frame.numbers, *frame.words) if column.name in _OUTPUTS or column.name.startswith("parsimon/")]
        if taken:
            raise ValueError(f"to_onnx has outputs called {', '.join(_OUTPUTS)}, and so is the column {taken[0]!r}; rename it")
        if not frame.numbers and not frame.words:
            raise ValueError("to_onnx needs a model with columns of numbers or categories")
        parts, numbers = [], []
        for number in frame.numbers:
            cells = self._wide(self._input(number.name, self.number, 1))
            for value in frame.missing:
                odd = self.node("Equal", [cells, self.constant(np.float64(value))])
                cells = self.node("Where", [odd, self.constant(np.float64(np.nan)), cells])
            numbers.append(cells)
        if numbers:
            parts.append(self._of_numbers(frame, numbers))
        parts += [self._of_curve(number, cells) for number, cells in zip(frame.numbers, numbers) if len(number.knots)]
        places = []
        for words in frame.words:
            text = self._input(words.name, TensorProto.STRING, 1)
            places.append(self._place(text, words.values) if words.values else None)
            if words.values:
                table = np.vstack([words.weights, np.zeros((1, self.exported.heads))])
                parts.append(self.node("Gather", [self.constant(table), places[-1]], axis=0))
        for pair in frame.pairs:
            if pair.table.size:
                parts.append(self._of_pair(pair, numbers, places))
        if not parts:
            # Biases need to know the number of rows.
            texts = [self.inputs[0].name]
            rows = self.node("Slice", [self.node("Shape", texts), self.constant(np.array([0])), self.constant(np.array([1]))])
            shape = self.node("Concat", [rows, self.constant(np.array([self.exported.heads]))], axis=0)
            parts.append(self._wide(self.node("ConstantOfShape", [shape])))
        total = self.node("Sum", parts) if len(parts) > 1 else parts[0]
        return self._narrow(self.node("Add", [total, self.constant(self.exported.biases)]))

    def _of_numbers(self, frame: Frame, numbers: list[str]) -> str:
        cells = self.node("Concat", numbers, axis=1)
        missing = self.node("IsNaN", [cells])
        if self.exported.reach is not None:
            means = np.array([number.mean for number in frame.numbers])
            cells = self._standardized(cells, means, np.array([number.deviation for number in frame.numbers]))
        weights = np.array([number.weights for number in frame.numbers])
        return self.node("MatMul", [self._present(missing, cells, np.float64(0.0)), self.constant(weights)])

    def _of_curve(self, number: Any, cells: str) -> str:
        """The value of a curve: that of the first knot, and the way from each knot to the next as far as the cell is."""
        zero, one = self.constant(np.float64(0.0)), self.constant(np.float64(1.0))
        missing = self.node("IsNaN", [cells])
        there = self.node("Where", [missing, zero, one])
        passed = self.node("Sub", [cells, self.constant(number.knots[:-1])])
        share = self.node("Clip", [self.node("Div", [passed, self.constant(np.diff(number.knots))]), zero, one])
        share = self.node("Concat", [there, self.node("Where", [missing, zero, share])], axis=1)
        steps = np.vstack([number.hats[:1], np.diff(number.hats, axis=0)])
        return self.node("MatMul", [share, self.constant(steps)])

    def _place(self, text: str, values: list[str]) -> str:
        """The place of each text among values; their count for a text that is none of them."""
        found = self.node(
            "LabelEncoder",
            [text],
            domain="ai.onnx.ml",
            keys_strings=[value.encode() for value in values],
            values_int64s=list(range(len(values))),
            default_int64=len(values),
        )
        return self.node("Squeeze", [found, self.constant(np.array([1]))])

    def _of_pair(self, pair: Any, numbers: list[str], places: list[Any]) -> str:
        first, second = (self._side(side, numbers, places) for side in (pair.first, pair.second))
        table = np.zeros((pair.first.count + 1, pair.second.count + 1, self.exported.heads))
        # A column without a value has the last place, which has no weight.
        table[:-1, :-1] = pair.table
        row = self.node("Mul", [first, self.constant(np.int64(pair.second.count + 1))])
        place = self.node("Add", [row, second])
        return self.node("Gather", [self.constant(table.reshape(-1, self.exported.heads)), place], axis=0)

    def _side(self, side: Side, numbers: list[str], places: list[Any]) -> str:
        if side.cuts is None:
            return places[side.place]
        cells = numbers[side.place]
        if len(side.cuts):
            after = self.node("Cast", [self.node("GreaterOrEqual", [cells, self.constant(side.cuts)])], to=self.long)
            bins = self.node("ReduceSum", [after, self.constant(np.array([1]))], keepdims=1)
        else:
            bins = self.node("Mul", [self.node("Cast", [self.node("IsNaN", [cells])], to=self.long), self.constant(np.int64(0))])
        bins = self.node("Where", [self.node("IsNaN", [cells]), self.constant(np.int64(side.count)), bins])
        return self.node("Squeeze", [bins, self.constant(np.array([1]))])

    # Answers.

    def _answer(self, margins: str) -> None:
        exported, kind = self.exported, self.kind
        if exported.limits is not None:
            low, high = (self.constant(np.array(limit, kind)) for limit in exported.limits)
            margins = self.node("Clip", [margins, low, high])
        margins = self.node("Identity", [margins], "margins")
        if exported.is_classifier:
            self._label(margins)
            if exported.has_probabilities:
                self._probabilities(margins)
                self._output("probabilities", self.number, len(exported.classes))
        else:
            column = self.node("Squeeze", [margins, self.constant(np.array([1]))])
            self.node("Exp" if exported.is_of_counts else "Identity", [column], "prediction")
            self._output("prediction", self.number)
        self._output("margins", self.number, exported.heads)

    def _label(self, margins: str) -> None:
        from onnx import TensorProto

        if self.exported.heads == 1:
            above = self.node("Cast", [self.node("Greater", [margins, self.constant(np.zeros((), self.kind))])], to=self.long)
            place = self.node("Squeeze", [above, self.constant(np.array([1]))])
        else:
            place = self.node("ArgMax", [margins], axis=1, keepdims=0)
        classes = _classes(self.exported.classes)
        self.node("Gather", [self.constant(classes), place], "label", axis=0)
        kinds = {"O": TensorProto.STRING, "U": TensorProto.STRING, "f": TensorProto.DOUBLE}
        self._output("label", kinds.get(classes.dtype.kind, TensorProto.INT64))

    def _probabilities(self, margins: str) -> None:
        if self.exported.heads == 1:
            first = self.node("Sigmoid", [self.node("Neg", [margins])])
            self.node("Concat", [first, self.node("Sigmoid", [margins])], "probabilities", axis=1)
        elif self.exported.is_softmax:
            self.node("Softmax", [margins], "probabilities", axis=1)
        else:
            each = self.node("Sigmoid", [margins])
            total = self.node("ReduceSum", [each, self.constant(np.array([1]))], keepdims=1)
            # Where no class has any probability, each has the same.
            equal = np.array(1 / self.exported.heads, self.kind)
            is_none = self.node("Equal", [total, self.constant(np.zeros((), self.kind))])
            shares = self.node("Div", [each, total])
            self.node("Where", [is_none, self.constant(equal), shares], "probabilities")


def _classes(classes: np.ndarray) -> np.ndarray:
    if classes.dtype.kind in "iub":
        return classes.astype(np.int64)
    if classes.dtype.kind == "f":
        return classes.astype(np.float64)
    return np.array([str(label) for label in classes.tolist()], dtype=object)


# Pipelines.


def _pipeline(model: Any, dtype: Any, initial_types: Any) -> Any:
    last = model.steps[-1][1]
    if not isinstance(last, _Parsimon):
        raise TypeError(f"to_onnx takes an estimator of parsimon or a pipeline that ends with one, got one that ends with {type(last).__name__}")
    register_onnx_converters()
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    if initial_types is None:
        kind = _kind(dtype, last._frame()["precision"])
        tensor = DoubleTensorType if kind == np.float64 else FloatTensorType
        initial_types = [("X", tensor([None, model.n_features_in_]))]
    elif dtype is not None:
        raise ValueError("initial_types has the types of the inputs; leave dtype out")
    options = {id(last): {"zipmap": False}} if hasattr(last, "classes_") else None
    with warnings.catch_warnings():
        # skl2onnx looks at every attribute; the graph has the clipping that the weights leave out.
        warnings.simplefilter("ignore", ClippingWarning)
        return convert_sklearn(model, initial_types=initial_types, options=options, target_opset=_OPSETS)


def register_onnx_converters() -> None:
    """Registers every estimator of parsimon with the package ``skl2onnx``, which then converts pipelines and ensembles of them.

    >>> import parsimon, skl2onnx                                         # doctest: +SKIP
    >>> parsimon.register_onnx_converters()                               # doctest: +SKIP
    >>> skl2onnx.to_onnx(pipeline, X[:1])                                 # doctest: +SKIP
    """
    try:
        from skl2onnx import update_registered_converter
        from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes, calculate_linear_regressor_output_shapes
    except ImportError:
        raise ImportError("pipelines in ONNX need the package skl2onnx: pip install skl2onnx") from None
    from . import _named
    from ._classifier import Classifier

    for name in _named.__all__:
        estimator = getattr(_named, name)
        if not isinstance(estimator, type) or not issubclass(estimator, _Parsimon):
            continue
        if issubclass(estimator, Classifier):
            options = {"zipmap": [True, False, "columns"], "output_class_labels": [False, True], "nocl": [True, False], "raw_scores": [True, False]}
            update_registered_converter(estimator, f"Parsimon{name}", calculate_linear_classifier_output_shapes, _convert, options=options)
        else:
            update_registered_converter(estimator, f"Parsimon{name}", calculate_linear_regressor_output_shapes, _convert)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Adds the graph of an estimator to that of a pipeline."""
    from onnx import TensorProto, helper
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    given = operator.inputs[0]
    exported = Exported(operator.raw_operator, "skl2onnx")
    if exported.matrix is None:
        raise ValueError("skl2onnx takes estimators over a matrix; use parsimon.to_onnx for a model of a frame")
    if exported.is_classifier and exported.classes.dtype.kind == "f":
        # skl2onnx has labels that are whole numbers or strings.
        exported.classes = exported.classes.astype(np.int64)
    kind = np.dtype(np.float64 if isinstance(given.type, DoubleTensorType) else np.float32)
    graph = Graph(exported, kind)
    source = given.full_name
    if not isinstance(given.type, (DoubleTensorType, FloatTensorType)):
        source = scope.get_unique_variable_name("cast")
        container.add_node("Cast", [given.full_name], [source], op_version=13, to=TensorProto.FLOAT)
    names = {"X": source}
    outputs = [output.full_name for output in operator.outputs]
    if exported.is_classifier:
        is_raw = container.get_options(operator.raw_operator, {"raw_scores": False}).get("raw_scores")
        shown = "margins" if is_raw or not exported.has_probabilities else "probabilities"
        names.update(zip(("label", shown), outputs))
    else:
        names["prediction"] = scope.get_unique_variable_name("prediction")
    for constant in graph.constants:
        names[constant.name] = scope.get_unique_variable_name("parsimon")
        if constant.data_type == TensorProto.STRING:
            container.add_initializer(names[constant.name], TensorProto.STRING, list(constant.dims), list(constant.string_data))
        else:
            container.add_initializer(names[constant.name], constant.data_type, None, constant)
    for node in graph.nodes:
        for name in node.output:
            names.setdefault(name, scope.get_unique_variable_name("parsimon"))
        attributes = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        container.add_node(
            node.op_type,
            [names[name] for name in node.input],
            [names[name] for name in node.output],
            op_domain=node.domain,
            op_version=_OPSETS[node.domain],
            name=scope.get_unique_operator_name(node.op_type),
            **attributes,
        )
    if not exported.is_classifier:
        # skl2onnx has one column of numbers.
        axes = scope.get_unique_variable_name("axes")
        container.add_initializer(axes, TensorProto.INT64, [1], [1])
        container.add_node("Unsqueeze", [names["prediction"], axes], [outputs[0]], op_version=13)
