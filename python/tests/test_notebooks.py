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


def test_there_is_one_for_each_paper():
    papers = {path.stem for path in FOLDER.glob("paper-*.ipynb")}
    assert papers == {f"paper-{name}" for name in ("csgd", "pda-thesis", "lazy-thesis", "slides", "rda-notes")}
    for path in FOLDER.glob("paper-*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        assert sum(len(cell["source"]) for cell in notebook["cells"]) < 100


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


def test_paper_csgd():
    found = run("paper-csgd.ipynb")
    assert abs(found["off_plane"]) < 1e-12
    assert max(map(abs, found["gaps"])) < 1e-12
    losses = found["losses"]
    assert losses["2SGD"] < losses["CSGD"] < losses["NCSGD"] < losses["SGD"] / 10


def test_paper_pda_thesis():
    found = run("paper-pda-thesis.ipynb")
    assert abs(found["landed"]) < 1e-12
    assert found["difference"] < 1e-12
    assert found["mismatches"]["PDA"] < found["mismatches"]["APFBS"] - 2
    assert found["zeros"]["PDA"] > 0.6 > 0.05 > found["zeros"]["APFBS"]


def test_paper_lazy_thesis():
    found = run("paper-lazy-thesis.ipynb")
    assert found["apart"] < 1e-13 < 1e-3 < found["squared_apart"]
    assert found["difference"] < 1e-12
    assert found["shares"]["Algorithm 3"] < found["shares"]["Algorithm 1"]
    assert found["errors"]["Algorithm 3"] < found["errors"]["Algorithm 1"]


def test_paper_slides():
    pytest.importorskip("sklearn")
    found = run("paper-slides.ipynb")
    assert found["difference"] < 1e-12
    assert found["composite"].nonzeros_ < found["subgradient"].nonzeros_
    auc, kept = found["auc"], found["kept"]
    assert max(auc.values()) - min(auc.values()) < 0.02
    assert kept["FOBOS"] > 4 * kept["RDA"] and kept["FTRL-Proximal"] < 1.25 * kept["RDA"]


def test_paper_rda_notes():
    found = run("paper-rda-notes.ipynb")
    assert found["difference"] < 1e-11
    assert 0 < found["regret"] < found["bound"] < found["closed"]
    assert found["length"] < 8 + 1e-9
