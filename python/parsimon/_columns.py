"""Which columns of a table are what: the keywords, and what was found."""

from __future__ import annotations

import difflib
import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from . import _parsimon
from ._errors import warn_all

if TYPE_CHECKING:
    from typing_extensions import Unpack

_log = logging.getLogger("parsimon")


class ColumnRoles(TypedDict, total=False):
    """How the columns of a table are read. All of it is optional: kinds are found from types and first rows.

    ``label`` and ``weight`` name columns. ``numbers``, ``categories``, ``texts`` and ``ignore`` list columns that are numbers, categories, texts
    of words, or not read; ``keep`` lists columns that would be left out as identifiers, constants or the index of a frame. Columns are names,
    numbers from 1, ranges (``"15-40"``, ``"c15..c40"``), patterns (``"C*"``) or ``"all"``. ``schema`` has the kinds of all columns instead: what
    :func:`parsimon.schema` returns, or a file of ``parsimon schema``. Names are hashed into ``2**bits`` slots.

    ``missing`` lists words for a cell without a value, beside the usual ones. With ``ngrams``, runs of up to so many words are features of text
    columns. ``curves`` gives number columns a curve of 8 or 16 knots (``8``, ``16``, a list of columns, ``"none"``), and ``pairs`` makes features of
    pairs of columns (``[("age", "city")]``, ``"none"``); where they are absent, the bare estimators decide by the data. ``header`` states whether the first line of a CSV or TSV file holds names; it is found from the first rows if absent.
    ``separator`` is the sign between cells of a CSV file, found from the first rows if absent.

    ``interactions`` lists products of columns: ``["user,site"]`` or ``[("user", "site")]``, two or three names or patterns each. ``threads`` parser
    threads read files; their number does not change the result. Up to ``skip_bad`` malformed rows are skipped with a warning.
    """

    label: str | None
    weight: str | None
    numbers: Sequence[str]
    categories: Sequence[str]
    texts: Sequence[str]
    ignore: Sequence[str]
    keep: Sequence[str]
    schema: Mapping[str, Any] | str | os.PathLike[str] | None
    bits: int | None
    missing: Sequence[str]
    ngrams: int | None
    curves: int | str | Sequence[str] | None
    pairs: str | Sequence[str | tuple[str, str]] | None
    header: bool | None
    separator: str | None
    interactions: Sequence[str | Sequence[str]]
    threads: int | None
    skip_bad: int


_LISTS = ("numbers", "categories", "texts", "ignore", "keep", "missing")


def roles(format: str | None = None, **columns: Unpack[ColumnRoles]) -> dict[str, Any]:
    """The keywords as the native module takes them."""
    known = list(ColumnRoles.__annotations__)
    for name in columns:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f", did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"there is no keyword {name!r}{hint} The keywords are {', '.join(known)}".replace("' The", "'. The"))
    given: dict[str, Any] = {"label": None, "weight": None, "bits": None, "ngrams": None, "curves": None, "pairs": None, "header": None, "separator": None, "threads": None, **columns, "format": format}
    for name in _LISTS:
        value = given.get(name) or ()
        given[name] = [value] if isinstance(value, str) else [str(column) for column in value]
    for name, sign in (("curves", ","), ("pairs", ":")):
        value = given[name]
        if isinstance(value, (list, tuple)):
            parts = [part if isinstance(part, str) else sign.join(part) for part in value]
            given[name] = ",".join(parts) or "none"
        elif value is not None:
            given[name] = str(value)
    products = given.get("interactions") or ()
    products = [products] if isinstance(products, str) else products
    given["interactions"] = [product.split(",") if isinstance(product, str) else [str(name) for name in product] for product in products]
    for name, least in (("threads", 1), ("skip_bad", 0)):
        value = given.get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            raise ValueError(f"{name} must be a whole number >= {least}, got {value!r}")
    given["skip_bad"] = given.get("skip_bad") or 0
    schema = given.get("schema")
    given["schema"] = None
    if schema is not None:
        named = next((name for name in _LISTS if given[name]), None)
        if named is not None:
            raise ValueError(f"schema has the kinds of all columns; change the schema instead of passing {named}")
        if isinstance(schema, Mapping):
            given["schema"] = json.dumps(schema)
        else:
            with open(schema, encoding="utf-8") as file:
                given["schema"] = file.read()
    return given


def paths(path: Any) -> list[str]:
    """One file or several."""
    if isinstance(path, (str, os.PathLike)):
        return [os.fspath(path)]
    return [os.fspath(one) for one in path]


def report(learner: Any, given: Mapping[str, Any]) -> None:
    """Tells what was found of a table: a warning where the label was guessed or columns are left out, else a line of the log."""
    lines = learner.columns_in_words
    if not lines or given["schema"] is not None:
        return
    found, left_out = lines[0], lines[1:]
    guessed = given["label"] is None
    if guessed or left_out:
        hint = ["pass label=... to choose another label"] if guessed else []
        warn_all([("columns", "; ".join([found, *left_out, *hint]))])
    else:
        _log.info("%s", found)


def schema(
    data: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Any, *, format: str | None = None, **columns: Unpack[ColumnRoles]
) -> dict[str, Any]:
    """The kinds of the columns of a file, of several files, or of a frame: what training would find, to look at or to edit.

    >>> import pandas as pd, parsimon
    >>> frame = pd.DataFrame({"age": [30.5, 41.0, 22.5], "city": ["Rome", "Oslo", "Rome"], "bought": [1, 0, 1]})
    >>> found = parsimon.schema(frame)
    >>> found["label"], [column["kind"] for column in found["columns"]]
    ('bought', ['number', 'category', 'number'])
    """
    given = roles(format, **columns)
    is_path = isinstance(data, (str, os.PathLike))
    is_list = isinstance(data, (list, tuple)) and all(isinstance(one, (str, os.PathLike)) for one in data)
    table = _parsimon.Table.files(paths(data), given) if is_path or is_list else _parsimon.Table.arrow(data, given)
    found = table.schema()
    if found is None:
        raise ValueError("only tables have a schema: CSV, TSV, Parquet and Arrow files, and frames")
    return dict(json.loads(found))
