"""One table, however it arrives: the program on CSV, Python on CSV, Parquet, Arrow and frames learn the same model.

The tables are those of the program's tests (``crates/parsimon-cli/tests/tables``), whatever is there. Model files are compared byte for byte. A
table is compared as far as it can be: the reason of a skip says why typed columns would be another table. Two things differ legitimately and are left out of the comparison: the names of the inputs that a model remembers, of which a frame in memory has
none, and the form in which numbers and dates are written (``"1,234.5"``), which typed columns have not.
"""

import json
import os
import shlex
import subprocess
from pathlib import Path

import pandas as pd
import parsimon
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TABLES = Path(__file__).parents[2] / "crates" / "parsimon-cli" / "tests" / "tables"
PROGRAM = os.environ.get("PARSIMON_PROGRAM")
#: Flags of the program, and the keywords of the same meaning.
KEYWORDS = {
    "--label-column": "label",
    "--weight-column": "weight",
    "--numbers": "numbers",
    "--categories": "categories",
    "--texts": "texts",
    "--ignore": "ignore",
    "--keep": "keep",
    "--missing": "missing",
    "--ngrams": "ngrams",
    "--header": "header",
}
READ = {"label": str, "weight": str, "ngrams": int, "header": {"present": True, "absent": False, "guess": None}.get}
METHOD = ["-a", "ftrl", "--l1", "0", "--loss", "logistic", "--quiet"]


def cases():
    listed = TABLES / "expected.json"
    return json.loads(listed.read_text(encoding="utf-8")) if listed.exists() else []


def keywords(flags):
    words, found = shlex.split(flags), {}
    for flag, value in zip(words[::2], words[1::2]):
        name = KEYWORDS[flag]
        found[name] = READ.get(name, lambda text: text.split(","))(value)
    return found


def run(*arguments, at):
    return subprocess.run([PROGRAM, *arguments], cwd=at, capture_output=True, text=True, check=False)


def about(path, at):
    """Everything that a model file says but for its inputs, with the weights."""
    shown = json.loads(run("inspect", path, "--json", at=at).stdout)

    def without(value):
        if isinstance(value, dict):
            return {name: without(item) for name, item in value.items() if name not in ("inputs", "form", "size", "file", "path", "bytes")}
        return [without(item) for item in value] if isinstance(value, list) else value

    return without(shown), run("inspect", path, "--weights", "tsv", at=at).stdout


def learned(at, name, learn):
    theirs = parsimon.load(at / "program.psm")
    estimator = parsimon.FTRLClassifier(l1=0, loss="logistic", precision=theirs.precision)
    learn(estimator).save(at / name)
    return estimator


def typed(path, schema, added):
    """The table with typed columns, or why types would say something else than the cells."""
    sep = {";": ";", "\t": "\t", "|": "|"}
    head = path.read_text(encoding="utf-8-sig").splitlines()[0]
    delimiter = max(sep, key=head.count) if max(head.count(s) for s in sep) > head.count(",") else ","
    try:
        frame = pd.read_csv(path, sep=delimiter, dtype=str, keep_default_na=False, encoding="utf-8-sig", skipinitialspace=True)
    except pd.errors.ParserError:
        pytest.skip("rows of different lengths or careless quotes: pandas cannot read the table")
    names = [column["name"] for column in schema["columns"]]
    if list(frame.columns) != names:
        pytest.skip("the names of the columns are made by the reader: no header, or a nameless column")
    missing = {"", "NA", "N/A", "#N/A", "n/a", "null", "NULL", "Null", "None", "nan", "NaN", "NAN", "?", *added}
    columns = {}
    for column in schema["columns"]:
        cells = [None if cell.strip() in missing else cell.strip() for cell in frame[column["name"]]]
        if "form" in column and column["kind"] == "number":
            pytest.skip("numbers with separators or signs have no type")
        if "missing" in column:
            pytest.skip("texts that mark missing numbers have no type")
        if column["kind"] == "time" and all(cell is None or cell.lstrip("+-").isdigit() for cell in cells):
            pytest.skip("times that are digits: a column of texts or of integers says something else")
        try:
            is_text = column["kind"] not in ("number", "identifier", "constant")
            numbers = None if is_text else [None if cell is None else float(cell) for cell in cells]
        except ValueError:
            numbers = None
        if numbers is None:
            columns[column["name"]] = pa.array(cells, pa.string())
        elif all(cell is None or cell.lstrip("+-").isdigit() for cell in cells):
            columns[column["name"]] = pa.array([None if cell is None else int(cell) for cell in cells], pa.int64())
        else:
            columns[column["name"]] = pa.array(numbers, pa.float64())
    return pa.table(columns)


@pytest.mark.skipif(PROGRAM is None, reason="PARSIMON_PROGRAM does not name the program")
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("case", cases(), ids=lambda case: case["file"])
def test_every_way_in_gives_the_same_model(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags, name = case.get("flags", ""), case["file"]
    (tmp_path / name).write_bytes((TABLES / "data" / name).read_bytes())
    given = keywords(flags)
    ran = run("train", name, *shlex.split(flags), *METHOD, "-o", "program.psm", at=tmp_path)
    if "error" in case:
        assert ran.returncode != 0
        with pytest.raises(ValueError):
            parsimon.FTRLClassifier(l1=0.0).learn_file(name, **given)
        return
    assert ran.returncode == 0, ran.stderr
    learned(tmp_path, "python.psm", lambda model: model.learn_file(name, **given))
    program = (tmp_path / "program.psm").read_bytes()
    assert (tmp_path / "python.psm").read_bytes() == program
    if "widened" in case:
        # Types of whole columns are known from the beginning: there is nothing to widen.
        return
    assert parsimon.schema(name, **given) == parsimon.load("python.psm").schema_
    if name.startswith(("utf16", "windows_1252", "no_break_blanks")):
        pytest.skip("another encoding: pandas reads other texts")
    table = typed(tmp_path / name, parsimon.load("python.psm").schema_, given.get("missing", ()))
    # A file of the same name is the same input.
    (tmp_path / "typed").mkdir()
    monkeypatch.chdir(tmp_path / "typed")
    pq.write_table(table, name)
    learned(tmp_path, "parquet.psm", lambda model: model.learn_file(name, format="parquet", **given))
    assert (tmp_path / "parquet.psm").read_bytes() == program
    with pa.ipc.new_file(name, table.schema) as file:
        file.write_table(table)
    learned(tmp_path, "arrow.psm", lambda model: model.learn_file(name, format="arrow", **given))
    assert (tmp_path / "arrow.psm").read_bytes() == program
    learned(tmp_path, "frame.psm", lambda model: model.learn_arrow(table.to_pandas(types_mapper=pd.ArrowDtype), **given))
    assert about("frame.psm", tmp_path) == about("program.psm", tmp_path)


def test_the_tables_are_found():
    if not (TABLES / "expected.json").exists():
        pytest.skip("the tables of the program's tests are not here as data")
    assert len(cases()) > 40
