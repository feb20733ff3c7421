"""These tests take minutes and start clusters: they run when they are asked for, ``pytest python/tests/slow``."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    asked = any("slow" in Path(str(argument).split("::")[0]).parts for argument in config.args)
    return None if asked else True
