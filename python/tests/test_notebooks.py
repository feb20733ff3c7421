"""The notebooks of python/examples/notebooks: their code cells run in order, and their figures are what the text promises."""

import json
from pathlib import Path

import pytest

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

FOLDER = Path(__file__).parents[1] / "examples" / "notebooks"


def cells(name, kind):
    notebook = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def run(name):
    """The variables after the last cell."""
    variables = {}
    for number, cell in enumerate(cells(name, "code")):
        exec(compile("".join(cell["source"]), f"{name}, code cell {number + 1}", "exec"), variables)
    return variables


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_is_short_and_clean(path):
    code = cells(path.name, "code")
    assert sum(len(cell["source"]) for cell in code) < 60
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert len(cells(path.name, "markdown")) >= 3


def test_there_are_three():
    assert len(list(FOLDER.glob("*.ipynb"))) == 3


def test_clicks(capsys):
    found = run("clicks.ipynb")
    assert found["auc"] > 0.7
    assert found["loss"] < 0.95 * found["base_loss"]
    assert 0.9 < found["ratio"] < 1.1
    assert found["differences"]["calibrated"] < 0.75 * found["differences"]["as trained"]
    assert "AUC 0.7" in capsys.readouterr().out


def test_categories():
    found = run("categories.ipynb")
    assert found["auc"] > 0.77
    weights = found["coefficients"]
    assert weights.abs().drop("calls").max() < weights["calls"]
    assert weights["plan=basic"] > 0 > weights["months"]
    assert "region=north" not in weights


def test_system():
    found = run("system.ipynb")
    assert found["early"]["ipnlms"] < found["early"]["nlms"] - 10
    assert found["mismatches"]["pda"] < found["mismatches"]["nlms"] - 5
    assert found["nonzeros"]["pda"] < 100 < found["nonzeros"]["nlms"]
    assert found["erle"] > 35
