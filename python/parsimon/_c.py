"""Models as headers of C."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._export import Exported, Frame, Matrix


def to_c(model: Any, path: str | os.PathLike[str] | None = None, *, name: str = "model") -> str:
    """A linear model over a matrix or a frame as one header of plain C99, which needs nothing but the standard library.

    Of a model of a matrix, the header has ``NAME_columns`` and functions of a row ``x`` of ``NAME_columns`` numbers. Of a model of a frame
    (columns of categories, curves, pairs), it has ``NAME_numbers`` and ``NAME_texts`` and functions of two arrays: ``x`` has the number
    columns and ``texts`` the categories as UTF-8; a comment lists both in order. NaN is a missing cell, a null pointer a missing text, and a
    value without a weight counts as missing. Booleans are the words of the table in lower case.

    The functions are ``NAME_margin(x, head)``, or ``NAME_margin(x, texts, head)``, and, by the kind of the model, ``NAME_class(x)`` (the
    position of the class), ``NAME_probability(x, class)`` or ``NAME_predict(x)``. Weights of a matrix that are zero take no room. Columns that the
    model standardizes are standardized and clipped in the function, and clipped predictions are clipped. The text is written to ``path``
    if it is given, and returned. Columns of texts and times are refused.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"name must be a name of C, got {name!r}")
    exported = Exported(model, "to_c")
    guard = f"PARSIMON_{name.upper()}_H"
    body = _of_matrix(exported, exported.matrix, name) if exported.matrix is not None else _of_frame(exported, exported.frame, name)
    takes, gives = ("const double *x", "x") if exported.matrix is not None else ("const double *x, const char *const *texts", "x, texts")
    lines = [
        "/* Written by parsimon.to_c. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "#include <math.h>",
        "#include <string.h>",
        "",
        *body,
        "",
        *_answers(exported, name, takes, gives),
    ]
    text = "\n".join([*lines, f"#endif /* {guard} */", ""])
    if path is not None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return text


# Margins.


def _of_matrix(exported: Exported, matrix: Matrix, name: str) -> list[str]:
    heads, columns = np.nonzero(matrix.weights)
    starts = np.searchsorted(heads, np.arange(exported.heads + 1))
    lines = [
        "/* A row is an array of numbers, one per column. */",
        f"enum {{ {name}_columns = {matrix.width}, {name}_heads = {exported.heads} }};",
        _doubles(f"{name}_biases", exported.biases),
        _integers(f"{name}_starts", starts),
        _integers(f"{name}_places", columns),
        _doubles(f"{name}_weights", matrix.weights[heads, columns]),
    ]
    scales = ""
    if exported.reach is not None:
        scales = f", {name}_means[k], {name}_deviations[k]"
        lines += [
            "/* The mean and the standard deviation of the column of each weight. */",
            _doubles(f"{name}_means", matrix.means[columns]),
            _doubles(f"{name}_deviations", matrix.deviations[columns]),
        ]
    lines += [
        *_cell(exported, name),
        "",
        "/* The margin of a row. */",
        f"static inline double {name}_margin(const double *x, int head) {{",
        f"    double sum = {name}_biases[head];",
        f"    for (int k = {name}_starts[head]; k < {name}_starts[head + 1]; k++) sum += {name}_weights[k] * {name}_cell(x[{name}_places[k]]{scales});",
        f"    return {_clipped(exported)};",
        "}",
    ]
    return lines


def _cell(exported: Exported, name: str) -> list[str]:
    if exported.reach is None:
        return ["", "/* A cell; a missing one is none. */", f"static inline double {name}_cell(double x) {{ return isnan(x) ? 0.0 : x; }}"]
    reach = repr(float(exported.reach))
    return [
        "",
        "/* A cell in standard deviations from the mean, clipped; a missing one is none. */",
        f"static inline double {name}_cell(double x, double mean, double deviation) {{",
        "    double cell = (x - mean) / deviation;",
        f"    return isnan(cell) ? 0.0 : cell > {reach} ? {reach} : cell < -{reach} ? -{reach} : cell;",
        "}",
    ]


def _clipped(exported: Exported) -> str:
    if exported.limits is None:
        return "sum"
    low, high = (repr(float(limit)) for limit in exported.limits)
    return f"sum < {low} ? {low} : sum > {high} ? {high} : sum"


def _of_frame(exported: Exported, frame: Frame, name: str) -> list[str]:
    heads = exported.heads
    values = [value for words in frame.words for value in words.values]
    lines = ["/* A row is an array of numbers and an array of texts."]
    lines += [f"   x[{k}]: {_comment(number.name)}" for k, number in enumerate(frame.numbers)]
    lines += [f"   texts[{k}]: {_comment(words.name)}" for k, words in enumerate(frame.words)]
    lines[-1] += " */"
    lines += [
        f"enum {{ {name}_numbers = {len(frame.numbers)}, {name}_texts = {len(frame.words)}, {name}_heads = {heads} }};",
        _doubles(f"{name}_biases", exported.biases),
        *_cell(exported, name),
    ]
    sums: list[str] = []
    if frame.missing:
        lines += _sentinels(frame, name)
    number = f"{name}_number(x[k])" if frame.missing else "x[k]"
    if frame.numbers:
        lines += ["", "/* Number columns: weights per column and head. */", _doubles(f"{name}_weights", np.array([n.weights for n in frame.numbers]).ravel())]
        scales = ""
        if exported.reach is not None:
            scales = f", {name}_means[k], {name}_deviations[k]"
            lines += [_doubles(f"{name}_means", [n.mean for n in frame.numbers]), _doubles(f"{name}_deviations", [n.deviation for n in frame.numbers])]
        sums += [f"for (int k = 0; k < {name}_numbers; k++) sum += {name}_weights[k * {name}_heads + head] * {name}_cell({number}{scales});"]
    curved = [k for k, n in enumerate(frame.numbers) if len(n.knots)]
    if curved:
        lines += _curves(frame, curved, name)
        sums += [f"for (int c = 0; c < {len(curved)}; c++) {{ int k = {name}_curves[c]; sum += {name}_curve({number}, c, head); }}"]
    if values:
        lines += _values(frame, values, name)
        sums += [
            f"for (int k = 0; k < {name}_texts; k++) {{",
            f"    int value = {name}_value(texts[k], k);",
            f"    if (value >= 0) sum += {name}_value_weights[value * {name}_heads + head];",
            "}",
        ]
    pairs = [pair for pair in frame.pairs if pair.table.size]
    for place, pair in enumerate(pairs):
        lines += ["", f"/* Pair {place}: weights per value of the first column, value of the second, and head. */"]
        lines += [_doubles(f"{name}_pair{place}", pair.table.ravel())]
        sums += ["{", *(f"    int {which} = {_side(side, frame, name, which, place, lines)};" for which, side in (("first", pair.first), ("second", pair.second)))]
        sums += [f"    if (first >= 0 && second >= 0) sum += {name}_pair{place}[(first * {pair.second.count} + second) * {name}_heads + head];", "}"]
    return [
        *lines,
        "",
        "/* The margin of a row. */",
        f"static inline double {name}_margin(const double *x, const char *const *texts, int head) {{",
        f"    double sum = {name}_biases[head];",
        # Either array may be of no use.
        "    (void)x, (void)texts;",
        *(f"    {line}" for line in sums),
        f"    return {_clipped(exported)};",
        "}",
    ]


def _sentinels(frame: Frame, name: str) -> list[str]:
    test = " || ".join(f"x == {value!r}" for value in frame.missing)
    return ["", "/* A number; some stand for a missing cell. */", f"static inline double {name}_number(double x) {{ return {test} ? NAN : x; }}"]


def _curves(frame: Frame, curved: list[int], name: str) -> list[str]:
    curves = [frame.numbers[k] for k in curved]
    starts = np.cumsum([0] + [len(curve.knots) for curve in curves])
    return [
        "",
        "/* Curves: their columns, where their knots begin, and the weights of knots per head. */",
        _integers(f"{name}_curves", curved),
        _integers(f"{name}_curve_starts", starts),
        _doubles(f"{name}_knots", np.concatenate([curve.knots for curve in curves])),
        _doubles(f"{name}_hats", np.concatenate([curve.hats for curve in curves]).ravel()),
        "",
        "/* The value of a curve: straight between two knots, level outside. */",
        f"static inline double {name}_curve(double x, int curve, int head) {{",
        f"    const double *knots = {name}_knots + {name}_curve_starts[curve];",
        f"    const double *hats = {name}_hats + {name}_curve_starts[curve] * {name}_heads + head;",
        f"    int count = {name}_curve_starts[curve + 1] - {name}_curve_starts[curve], after = 0;",
        "    if (isnan(x)) return 0.0;",
        "    while (after < count && knots[after] <= x) after++;",
        "    if (after == 0) return hats[0];",
        f"    if (after == count) return hats[(count - 1) * {name}_heads];",
        "    double share = (x - knots[after - 1]) / (knots[after] - knots[after - 1]);",
        f"    return (1.0 - share) * hats[(after - 1) * {name}_heads] + share * hats[after * {name}_heads];",
        "}",
    ]


def _values(frame: Frame, values: list[str], name: str) -> list[str]:
    starts = np.cumsum([0] + [len(words.values) for words in frame.words])
    weights = np.concatenate([words.weights for words in frame.words if words.values])
    return [
        "",
        "/* Values of categories in the order of their bytes, where those of a column begin, and their weights per head. */",
        f"static const char *const {name}_values[] = {{{_lines([_text(value) for value in values])}}};",
        _integers(f"{name}_value_starts", starts),
        _doubles(f"{name}_value_weights", weights.ravel()),
        "",
        "/* The position of a text among the values of a column; -1 if it is none of them. */",
        f"static inline int {name}_value(const char *text, int column) {{",
        f"    int low = {name}_value_starts[column], high = {name}_value_starts[column + 1];",
        "    while (text && low < high) {",
        "        int middle = low + (high - low) / 2;",
        f"        int order = strcmp(text, {name}_values[middle]);",
        "        if (order == 0) return middle;",
        "        if (order < 0) high = middle;",
        "        else low = middle + 1;",
        "    }",
        "    return -1;",
        "}",
    ]


def _side(side: Any, frame: Frame, name: str, which: str, place: int, lines: list[str]) -> str:
    """The expression for the position of a row in a column of a pair."""
    if side.cuts is None:
        start = sum(len(words.values) for words in frame.words[: side.place])
        return f"{name}_value(texts[{side.place}], {side.place}) - {start}"
    cuts = f"{name}_pair{place}_{which}"
    lines += [
        _doubles(cuts, side.cuts),
        f"static inline int {cuts}_bin(double x) {{",
        "    int bin = 0;",
        "    if (isnan(x)) return -1;",
        f"    while (bin < {len(side.cuts)} && {cuts}[bin] <= x) bin++;",
        "    return bin;",
        "}",
    ]
    number = f"x[{side.place}]"
    return f"{cuts}_bin({f'{name}_number({number})' if frame.missing else number})"


# Answers.


def _answers(exported: Exported, name: str, takes: str, gives: str) -> list[str]:
    if not exported.is_classifier:
        answer = f"{name}_margin({gives}, 0)"
        answer = f"exp({answer})" if exported.is_of_counts else answer
        return ["/* The prediction for a row. */", f"static inline double {name}_predict({takes}) {{", f"    return {answer};", "}", ""]
    labels = ", ".join(_comment(label) for label in exported.classes.tolist())
    lines = [f"/* The position of the class of a row. The classes are: {labels}. */", f"static inline int {name}_class({takes}) {{"]
    if exported.heads == 1:
        lines += [f"    return {name}_margin({gives}, 0) > 0.0;", "}", ""]
    else:
        lines += [
            "    int best = 0;",
            f"    double most = {name}_margin({gives}, 0);",
            f"    for (int head = 1; head < {name}_heads; head++) {{",
            f"        double margin = {name}_margin({gives}, head);",
            "        if (margin > most) { most = margin; best = head; }",
            "    }",
            "    return best;",
            "}",
            "",
        ]
    if not exported.has_probabilities:
        return lines
    lines += ["/* The probability of the class at a position. */", f"static inline double {name}_probability({takes}, int place) {{"]
    if exported.heads == 1:
        lines += [f"    double margin = {name}_margin({gives}, 0);", "    return 1.0 / (1.0 + exp(place ? -margin : margin));"]
    elif exported.is_softmax:
        lines += [
            f"    double most = {name}_margin({gives}, {name}_class({gives})), total = 0.0;",
            f"    for (int head = 0; head < {name}_heads; head++) total += exp({name}_margin({gives}, head) - most);",
            f"    return exp({name}_margin({gives}, place) - most) / total;",
        ]
    else:
        lines += [
            "    double total = 0.0, own = 0.0;",
            f"    for (int head = 0; head < {name}_heads; head++) {{",
            f"        double each = 1.0 / (1.0 + exp(-{name}_margin({gives}, head)));",
            "        total += each;",
            "        if (head == place) own = each;",
            "    }",
            f"    return total > 0.0 ? own / total : 1.0 / {name}_heads;",
        ]
    return [*lines, "}", ""]


# Text.


def _doubles(name: str, values: Iterable[float]) -> str:
    # The shortest text that is read back as the same number. An array of C has at least one item.
    return f"static const double {name}[] = {{{_lines([repr(float(value)) for value in values]) or '0.0'}}};"


def _integers(name: str, values: Iterable[int]) -> str:
    return f"static const int {name}[] = {{{_lines([str(int(value)) for value in values]) or '0'}}};"


def _lines(texts: list[str]) -> str:
    # Compilers and people read lines.
    return ",\n    ".join(", ".join(texts[k : k + 8]) for k in range(0, len(texts), 8))


def _comment(label: Any) -> str:
    return repr(label).replace("*/", "* /")


def _text(value: str) -> str:
    """A text as a literal: bytes that are no plain letters are written in octal digits."""
    plain = [chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}" for byte in value.encode()]
    return f'"{"".join(plain)}"'
