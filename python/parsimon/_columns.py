"""Which columns of a table are what: the keywords, and what was found."""

from __future__ import annotations

import difflib
import json
import logging
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from . import _parsimon

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
    columns. ``header`` states whether the first line of a CSV or TSV file holds names; it is found from the first rows if absent.
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
    header: bool | None


_LISTS = ("numbers", "categories", "texts", "ignore", "keep", "missing")


def roles(format: str | None = None, **columns: Unpack[ColumnRoles]) -> dict[str, Any]:
    """The keywords as the native module takes them."""
    known = list(ColumnRoles.__annotations__)
    for name in columns:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f", did you mean {near[0]!r}?" if near else ""
            raise TypeError(f"there is no keyword {name!r}{hint} The keywords are {', '.join(known)}".replace("' The", "'. The"))
    given: dict[str, Any] = {"label": None, "weight": None, "bits": None, "ngrams": None, "header": None, **columns, "format": format}
    for name in _LISTS:
        value = given.get(name) or ()
        given[name] = [value] if isinstance(value, str) else [str(column) for column in value]
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
        # Behind learn_file or learn_arrow.
        warnings.warn("; ".join([found, *left_out, *hint]), UserWarning, stacklevel=4)
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
