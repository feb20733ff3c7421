"""The guide's examples."""

import doctest
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

GUIDE = Path(__file__).parents[2] / "docs" / "python.md"


def test_the_guide_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = doctest.testfile(str(GUIDE), module_relative=False)
    assert ran.attempted > 40 and ran.failed == 0
