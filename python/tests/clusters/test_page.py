"""The snippet of the page about Spark runs as it is printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pip install pyspark")
pytest.importorskip("pyarrow", reason="pip install pyarrow")

PAGE = Path(__file__).parents[3] / "docs" / "howto" / "spark.md"


def test_the_snippet_of_the_page_runs(spark, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (snippet,) = re.findall(r"```python,norun,spark\n(# train\.py\n.*?)```", PAGE.read_text(), re.DOTALL)
    exec(compile(snippet, "train.py", "exec"), {})
    printed = capsys.readouterr().out
    assert printed.startswith("ftrl, normalize=True, rate=")
    assert float(printed.split("area under ROC ")[1]) > 0.7
    assert (tmp_path / "clicks.psm").stat().st_size > 1000
