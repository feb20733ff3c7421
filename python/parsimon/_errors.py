"""Exceptions of our own, for callers who catch one."""

from __future__ import annotations


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
