"""The twelve tables of the formats, through Python: a file, Arrow, pandas, polars and a list of dicts give the model of the program.

``cargo xtask python`` writes the tables (``crates/parsimon-testing/src/doors.rs``), which the tests of the program and of the service take through
their formats. The file is compared byte for byte. Rows in memory have no file name, so that everything but the names of the inputs is compared.
"""

import datetime
import json
import os
import shlex
import subprocess

import numpy as np
import pandas as pd
import parsimon
import pytest

pa = pytest.importorskip("pyarrow")

PROGRAM = os.environ.get("PARSIMON_PROGRAM")
TABLES = os.environ.get("PARSIMON_SAME_ROWS")
TYPES = {
    "truth": pa.bool_(),
    "integer": pa.int64(),
    "float": pa.float64(),
    "single": pa.float32(),
    "text": pa.string(),
    "mixed": pa.string(),
    "day": pa.date32(),
    "moment": pa.timestamp("s"),
}
KEYWORDS = {"--categories": "categories", "--ngrams": "ngrams", "--weight-column": "weight", "--skip-bad": "skip_bad"}


def tables():
    if TABLES is None:
        return []
    with open(TABLES, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def typed(column, cell):
    """A cell in the type of its column."""
    if cell is None:
        return None
    read = {"day": datetime.date.fromisoformat, "moment": datetime.datetime.fromisoformat, "mixed": str}
    return read.get(column["type"], lambda value: value)(cell)


def arrow(table):
    return pa.table({c["name"]: pa.array([typed(c, cell) for cell in c["cells"]], TYPES[c["type"]]) for c in table["columns"]})


def dicts(table):
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in zip(*(column["cells"] for column in table["columns"]))]


def polars(table):
    return pytest.importorskip("polars").from_arrow(arrow(table))


def csv(table):
    """The table as CSV, with quotes where a cell needs them."""

    def spelled(cell):
        if cell is None:
            return ""
        text = json.dumps(cell) if isinstance(cell, (bool, float)) else str(cell)
        return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\n') else text

    rows = [[column["name"] for column in table["columns"]], *zip(*(column["cells"] for column in table["columns"]))]
    return "".join(",".join(map(spelled, row)) + "\n" for row in rows)


def about(path, at):
    """Everything that a model file says but for its inputs, with the weights."""
    shown = subprocess.run([PROGRAM, "inspect", path, "--json"], cwd=at, capture_output=True, text=True, check=True).stdout
    weights = subprocess.run([PROGRAM, "inspect", path, "--weights", "tsv"], cwd=at, capture_output=True, text=True, check=True).stdout

    def without(value):
        if isinstance(value, dict):
            return {name: without(item) for name, item in value.items() if name not in ("inputs", "form", "size", "file", "path", "bytes")}
        return [without(item) for item in value] if isinstance(value, list) else value

    return without(json.loads(shown)), weights


@pytest.mark.skipif(PROGRAM is None, reason="PARSIMON_PROGRAM does not name the program")
@pytest.mark.skipif(TABLES is None, reason="PARSIMON_SAME_ROWS does not name the tables")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("table", tables(), ids=lambda table: table["name"])
def test_every_door_gives_the_same_model_and_the_same_scores(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(csv(table), encoding="utf-8")
    label, flags = table["columns"][-1]["name"], shlex.split(table["flags"])
    ran = subprocess.run(
        [PROGRAM, "train", "rows.csv", "--label-column", label, *flags, "--quiet", "-o", "program.psm"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    theirs = parsimon.load("program.psm")
    pairs = dict(zip(flags[::2], flags[1::2]))
    given = {"label": label}
    for flag, name in KEYWORDS.items():
        if flag in pairs:
            value = pairs[flag]
            given[name] = int(value) if value.isdigit() else [value] if name == "categories" else value
    kind = parsimon.ParsimonRegressor if "--loss" in pairs else parsimon.ParsimonClassifier
    settings = {"algorithm": pairs["-a"]} if "-a" in pairs else {}

    def new():
        return kind(precision=theirs.precision, **settings)

    new().learn_file("rows.csv", **given).save("file.psm")
    assert (tmp_path / "file.psm").read_bytes() == (tmp_path / "program.psm").read_bytes()
    expected, scores = about("program.psm", tmp_path), None
    for name, rows in {
        "Arrow": arrow(table),
        "pandas": arrow(table).to_pandas(types_mapper=pd.ArrowDtype),
        "polars": polars(table),
        "dicts": dicts(table),
    }.items():
        model = new().learn_arrow(rows, **given)
        model.save("memory.psm")
        assert about("memory.psm", tmp_path) == expected, name
        found = np.asarray(model.predict_arrow(rows))
        scores = found if scores is None else scores
        assert found.tolist() == scores.tolist(), name


def test_the_tables_are_there():
    if TABLES is None:
        pytest.skip("PARSIMON_SAME_ROWS does not name the tables")
    assert len(tables()) == 12
