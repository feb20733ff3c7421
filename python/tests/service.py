"""The program `parsimon serve` as tests start it."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def program() -> str:
    """The program, or a skipped test if it was not built."""
    built = [os.environ.get("PARSIMON_PROGRAM"), ROOT / "target/release/parsimon", ROOT / "target/debug/parsimon", shutil.which("parsimon")]
    found = [str(path) for path in built if path and Path(path).is_file()]
    if not found:
        pytest.skip("the program parsimon is not built: cargo build -p parsimon-cli, or set PARSIMON_PROGRAM")
    # The newest of the builds is the one that fits the tree.
    return max(found, key=lambda path: Path(path).stat().st_mtime)


@contextmanager
def serving(data: Path, *more: str, model: str = "m", settings: tuple[str, ...] = ("-a", "ftrl", "--loss", "logistic", "-b", "16", "--kinds", "cell")):
    """Runs the service; gives its address."""
    command = [program(), "serve", "--listen", "127.0.0.1:0", "--data", str(data), "--segment-bytes", "1e6"]
    command += ["--model", model, *settings, *more]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        said = []
        for line in process.stderr:
            said.append(line)
            if line.startswith("listening at "):
                break
        else:
            raise AssertionError("".join(said))
        yield said[-1].split()[-1]
    finally:
        process.terminate()
        process.communicate(timeout=60)
