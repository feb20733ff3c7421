"""The Python blocks of README.md and docs/, and the scripts of python/examples/, run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

ROOT = Path(__file__).parents[2]
# Run by test_guide.py and by the tests of Spark.
ELSEWHERE = {"docs/python.md", "docs/cluster.md"}


def pages():
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if str(page.relative_to(ROOT)) not in ELSEWHERE]


def blocks():
    """Page, line and text of each block that begins with ```python; a block marked norun has the reason near it."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for found in re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            line = text[: found.start()].count("\n") + 1
            yield pytest.param(found[1], id=f"{page.relative_to(ROOT)}:{line}")


def run(arguments, folder):
    ran = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("block", blocks())
def test_a_block_runs(block, tmp_path):
    run(["-c", block], tmp_path)


def test_there_are_blocks():
    assert len(list(blocks())) >= 4


@pytest.mark.parametrize("script", sorted((ROOT / "python" / "examples").glob("*.py")), ids=lambda path: path.name)
def test_an_example_runs(script, tmp_path):
    assert len(script.read_text(encoding="utf-8").splitlines()) < 60
    run([script], tmp_path)
