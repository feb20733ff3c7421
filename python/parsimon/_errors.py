"""Exceptions of our own, for callers who catch one."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable


class BadRowError(ValueError):
    """A row cannot be learned or predicted.

    Attributes that do not apply are None.

    Attributes
    ----------
    row : int or None
        The line of a file or the row of a table, counted from 1; the index of a row of an array or a list, counted from 0.
    column : int or None
        The byte in a line of text, counted from 1; the column of an array, counted from 0.
    field : str or None
        The name of the column or feature.
    path : str or None
        The file.
    token : str or None
        What was found instead of a number, a label or a feature.
    """

    # What tracebacks show, and where users find it.
    __module__ = "parsimon"

    def __init__(
        self,
        message: str,
        *,
        row: int | None = None,
        column: int | None = None,
        field: str | None = None,
        path: str | None = None,
        token: str | None = None,
    ) -> None:
        super().__init__(message)
        self.row, self.column, self.field, self.path, self.token = row, column, field, path, token


class ParsimonWarning(UserWarning):
    """Something that was noticed or guessed while a model was trained.

    Attributes
    ----------
    kind : str
        ``"leak"`` (a feature may contain the label), ``"order"`` (the order of the rows misleads), ``"worse-than-constant"``,
        ``"no-better-than-constant"``, ``"one-label"``, ``"widened"`` (a column has a wider kind than its first rows show), ``"skipped"`` (bad rows),
        ``"collisions"`` (names that share hash slots), ``"many-passes"`` (a penalty that counts once, and many passes), ``"columns"`` (what was found of the columns), ``"rows"`` (remarks on the rows read).
    """

    __module__ = "parsimon"

    def __init__(self, message: str, *, kind: str = "rows") -> None:
        super().__init__(message)
        self.kind = kind


def warn_all(notices: Iterable[tuple[str, str]]) -> None:
    """Issues warnings at the line that called the package."""
    for kind, message in notices:
        level, frame = 1, sys._getframe()
        while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "parsimon":
            level, frame = level + 1, frame.f_back
        warnings.warn(ParsimonWarning(message, kind=kind), stacklevel=level)


# Divergence has always been a ValueError, and programs catch it as one.
class DivergedError(ArithmeticError, ValueError):
    """The weights diverged.

    Attributes
    ----------
    row : int or None
        The row, counted from 1 over all rows learned, whose prediction was no longer a finite number.
    """

    __module__ = "parsimon"

    def __init__(self, message: str, *, row: int | None = None) -> None:
        super().__init__(message)
        self.row = row


class ClippingWarning(UserWarning):
    """``coef_`` and ``intercept_`` leave out that the model clips cells or predictions.

    Turned off with ``warnings.simplefilter("ignore", parsimon.ClippingWarning)``.
    """

    __module__ = "parsimon"
