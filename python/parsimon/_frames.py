"""Data frames with columns that are not numbers: texts, categories, dates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._typing import Floats, Labels


#: Kinds of columns that are features.
_LEARNED = ("number", "category", "text")


def has_words(X: Any) -> bool:
    """Whether X is a frame of pandas or polars, or Arrow data, with a column that is no number."""
    if not hasattr(X, "__arrow_c_stream__"):
        return False
    if hasattr(X, "dtypes"):
        return not all(_is_number(dtype) for dtype in X.dtypes)
    return not all(_is_arrow_number(field.type) for field in getattr(X, "schema", ()))


def _is_number(dtype: Any) -> bool:
    if hasattr(dtype, "is_numeric"):
        return bool(dtype.is_numeric()) or str(dtype) == "Boolean"
    return getattr(dtype, "kind", "O") in "fiub"


def _is_arrow_number(type: Any) -> bool:
    return str(type).startswith(("int", "uint", "float", "double", "halffloat", "bool", "decimal"))


def without_index(X: Any) -> Any:
    """A frame of pandas without its index, which counts rows or names them; other data as it is."""
    return X.reset_index(drop=True) if hasattr(X, "reset_index") else X


def row_count(X: Any) -> int:
    """The rows of a frame."""
    return int(X.shape[0])


def taken(X: Any, order: Any) -> Any:
    """The rows of a frame in another order."""
    if hasattr(X, "iloc"):
        return X.iloc[order].reset_index(drop=True)
    return X.take(order) if hasattr(X, "take") else X[order]


def free_name(X: Any, wanted: Any) -> str:
    """A name for a column that the frame does not have."""
    names = set(_names(X))
    name = wanted if isinstance(wanted, str) and wanted else "label"
    while name in names:
        name += "_"
    return name


def _names(X: Any) -> list[str]:
    return [str(name) for name in (X.columns if hasattr(X, "dtypes") else X.schema.names)]


def refuse_missing(X: Any, schema: dict[str, Any]) -> None:
    """Refuses a frame without a column that was learned."""
    if not hasattr(X, "dtypes") and not hasattr(X, "schema"):
        return
    named, roles = set(_names(X)), (schema.get("label"), schema.get("weight"))
    learned = [c["name"] for c in schema["columns"] if c["kind"] in _LEARNED and c["name"] not in roles]
    missing = [name for name in learned if name not in named]
    if missing:
        more = ", ..." if len(missing) > 5 else ""
        raise ValueError(f"the frame lacks columns that were learned: {', '.join(map(repr, missing[:5]))}{more}")


def with_column(X: Any, name: str, values: Labels | Floats) -> Any:
    """The frame with one more column."""
    if hasattr(X, "assign"):
        return X.assign(**{name: values})
    if hasattr(X, "append_column"):
        import pyarrow

        return X.append_column(name, pyarrow.array(values.tolist()))
    import polars

    return X.with_columns(polars.Series(name, values.tolist()))


def checked_labels(X: Any, y: Any) -> Labels:
    """The labels of a frame's rows as an array."""
    if y is None:
        raise ValueError("fit needs the labels y of the rows")
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"y must have one dimension, got an array of shape {values.shape}")
    if values.shape[0] != row_count(X):
        raise ValueError(f"y has {values.shape[0]} labels, and the frame has {row_count(X)} rows")
    return values
