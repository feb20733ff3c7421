"""How far it is: a bar of tqdm where tqdm is installed, else a line on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tick = Callable[[int, "float | None"], None]


@contextmanager
def bar(progress: bool, total: int | None) -> Iterator[Tick | None]:
    """A function to be told of rows and the loss; None where nobody wants to know."""
    if not progress:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        line = _Line(total)
        try:
            yield line.tell
        finally:
            line.close()
        return
    with tqdm(total=total, unit=" rows", unit_scale=True) as shown:

        def tell(rows: int, loss: float | None) -> None:
            if loss is not None:
                shown.set_postfix(loss=f"{loss:.5f}", refresh=False)
            shown.update(rows)

        yield tell


class _Line:
    def __init__(self, total: int | None):
        self.rows, self.total = 0, total

    def tell(self, rows: int, loss: float | None) -> None:
        self.rows += rows
        of = f" of {self.total:,}" if self.total else ""
        told = "" if loss is None else f", loss {loss:.5f}"
        print(f"\r{self.rows:,}{of} rows{told}", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print(file=sys.stderr)
