"""Files and Arrow data: what the program's readers read, learned and predicted from Python."""

import json

import numpy as np
import pandas as pd
import parsimon
import pytest
from parsimon import _parsimon

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars")


def people(n=200, seed=0):
    rng = np.random.default_rng(seed)
    age, city = rng.normal(size=n), rng.choice(["Paris", "Rome", "Oslo"], n)
    bought = (age + 2 * (city == "Rome") > 0.5).astype(int)
    return pd.DataFrame({"age": age, "city": city, "bought": bought})


def state(model):
    return model._learner.checkpoint()


def weights(model):
    return b"".join(np.float64(b).tobytes() + i.tobytes() + w.tobytes() for b, i, w in model._learner.weights())


def forms(frame):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return {
        "table": table,
        "batches": pa.Table.from_batches(table.to_batches(max_chunksize=17)),
        "batch": table.to_batches()[0],
        "reader": pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=40)),
        "polars": pl.from_pandas(frame),
        "pandas": frame,
        "array only": ArrayOnly(table.to_batches()[0]),
    }


class ArrayOnly:
    """A batch of a library that has no streams."""

    def __init__(self, batch):
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


@pytest.mark.parametrize("form", ["table", "batches", "batch", "reader", "polars", "pandas", "array only"])
def test_arrow_is_learned_as_rows_of_dictionaries(form):
    frame = people()
    loop = parsimon.FTRLClassifier(l1=0.05)
    for x in frame.to_dict(orient="records"):
        loop.learn_one({"age": x["age"], "city": x["city"]}, x["bought"])
    model = parsimon.FTRLClassifier(l1=0.05).learn_arrow(forms(frame)[form], label="bought")
    assert weights(model) == weights(loop)
    assert model.classes_.tolist() == [0, 1]
    one_by_one = [loop.predict_one(x) for x in frame.drop(columns="bought").to_dict(orient="records")]
    assert model.predict_arrow(forms(frame)[form]).tolist() == one_by_one
    assert model.predict_arrow(forms(frame.drop(columns="bought"))[form]).tolist() == one_by_one
    assert np.allclose(model.predict_proba_arrow(forms(frame)[form])[0, 1], loop.predict_proba_one(frame.iloc[0].drop("bought").to_dict())[1])


@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv", "jsonl"])
def test_a_file_is_learned_as_the_table_in_it(kind, tmp_path):
    frame = people()
    path = tmp_path / f"people.{kind}"
    if kind == "parquet":
        frame.to_parquet(path)
    elif kind == "arrow":
        table = pa.Table.from_pandas(frame, preserve_index=False)
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    elif kind == "csv":
        # Every number as it is: the same bits.
        frame.assign(age=[repr(float(a)) for a in frame.age]).to_csv(path, index=False)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dict(orient="records")))
    table = parsimon.FTRLClassifier().learn_arrow(pa.Table.from_pandas(frame), label="bought")
    file = parsimon.FTRLClassifier().learn_file(path, label="bought")
    assert weights(file) == weights(table)
    assert file.predict_file(path).tolist() == table.predict_arrow(frame).tolist()
    again = parsimon.FTRLClassifier().learn_file([path, str(path)], label="bought")
    assert weights(again) == weights(parsimon.FTRLClassifier().learn_file(path, label="bought", passes=2))


def test_classes_are_found_and_kept(tmp_path):
    frame = people().assign(bought=lambda f: f.city.map({"Paris": "no", "Rome": "yes", "Oslo": "perhaps"}))
    model = parsimon.FTRLClassifier().learn_arrow(frame, label="bought", ignore=["city"])
    assert model.classes_.tolist() == ["no", "perhaps", "yes"]
    assert model.predict_proba_arrow(frame).shape == (200, 3)
    model.save(tmp_path / "m.psm")
    read = parsimon.load(tmp_path / "m.psm")
    assert read.classes_.tolist() == ["no", "perhaps", "yes"]
    assert read.predict_arrow(frame).tolist() == model.predict_arrow(frame).tolist()


def test_lists_of_ids_are_svmlight(tmp_path):
    table = pa.table({"label": [1, 0, 1], "indices": [[1, 3], [2], [3]], "values": [[1.0, 0.5], [2.0], [1.0]]})
    X = np.array([[1, 0, 0.5], [0, 2, 0], [0, 0, 1.0]])
    model = parsimon.FTRLClassifier().learn_arrow(table)
    assert weights(model) == weights(parsimon.FTRLClassifier().partial_fit(X, [1, 0, 1], classes=[0, 1]))
    (tmp_path / "x.svm").write_text("1 1:1 3:0.5\n0 2:2\n1 3:1\n")
    assert weights(model) == weights(parsimon.FTRLClassifier().learn_file(tmp_path / "x.svm"))


def test_a_bad_value_has_a_place_and_changes_nothing():
    frame = people()
    model = parsimon.FTRLClassifier().learn_arrow(frame, label="bought")
    before = state(model)
    frame.loc[150, "age"] = np.inf
    with pytest.raises(ValueError, match='151: column "age" is not a finite number'):
        model.learn_arrow(frame, label="bought")
    assert state(model) == before
    fresh = parsimon.FTRLClassifier()
    with pytest.raises(ValueError, match="151"):
        fresh.learn_arrow(frame, label="bought", classes=[0, 1])
    assert not hasattr(fresh, "_learner")


def test_rows_of_a_file_before_a_bad_one_are_learned(tmp_path):
    lines = ["1 1:1", "-1 2:1"] * 100
    (tmp_path / "good.svm").write_text("\n".join(lines) + "\n")
    (tmp_path / "bad.svm").write_text("\n".join([*lines, "1 1:rubbish", *lines]) + "\n")
    good = parsimon.FTRLClassifier().learn_file(tmp_path / "good.svm", classes=[-1, 1])
    bad = parsimon.FTRLClassifier()
    with pytest.raises(ValueError, match="bad.svm:201:"):
        bad.learn_file(tmp_path / "bad.svm", classes=[-1, 1])
    assert bad._learner.rows == 200 and weights(bad) == weights(good)
    with pytest.raises(ValueError, match="bad.svm:201:"):
        bad.learn_file(tmp_path / "bad.svm")
    assert bad._learner.rows == 400 and weights(bad) == weights(good.learn_file(tmp_path / "good.svm"))


def test_numbers_and_weights(tmp_path):
    frame = people().assign(spent=lambda f: 3 * f.age, times=1.0).drop(columns="bought")
    model = parsimon.FTRLRegressor().learn_arrow(frame, label="spent", weight="times")
    plain = parsimon.FTRLRegressor().learn_many(frame[["age", "city"]], frame.spent)
    assert weights(model) == weights(plain)
    heavier = parsimon.FTRLRegressor().learn_arrow(frame.assign(times=2.0), label="spent", weight="times")
    assert weights(heavier) != weights(model)
    assert np.array_equal(model.predict_arrow(frame), [plain.predict_one(x) for x in frame[["age", "city"]].to_dict(orient="records")])


def test_methods_that_must_know_the_number_of_features(tmp_path):
    (tmp_path / "x.svm").write_text("".join(f"{i % 3} {1 + i % 5}:1 9:0.5\n" for i in range(50)))
    model = parsimon.RLSRegressor().learn_file(tmp_path / "x.svm")
    assert model.settings_["dimension"] == 9


def test_what_is_no_table_is_told():
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        parsimon.FTRLClassifier().learn_arrow([1, 2])
    with pytest.raises(TypeError, match="not an array of"):
        parsimon.FTRLClassifier().learn_arrow(ArrayOnly(pa.array([1, 2])))
    with pytest.raises(OSError, match="nowhere.csv"):
        parsimon.FTRLClassifier().learn_file("nowhere.csv")


def test_arrow_buffers_are_borrowed():
    column, other = pa.array(np.arange(1000, dtype=np.float64)), pa.array(np.arange(1000, dtype=np.int32))
    table = pa.table({"y": column, "a": other})
    for data in (table, table.to_batches()[0], ArrayOnly(table.to_batches()[0])):
        seen = _parsimon.Table.arrow(data, parsimon._columns.roles())
        assert seen.addresses() == [column.buffers()[1].address, other.buffers()[1].address]


def kinds(schema):
    return {column["name"]: column["kind"] for column in schema["columns"]}


def typed(n=150):
    """A frame with a column of every type that pandas has for tables."""
    i = np.arange(n)
    return pd.DataFrame(
        {
            "size": pd.array(np.where(i % 7, i % 5, 0) / 2, dtype="Float64"),
            "rooms": pd.array([None if k % 7 == 0 else k % 4 for k in range(n)], dtype="Int64"),
            "code": pd.Categorical(i % 3 + 10),
            "grade": pd.Categorical(np.array(["a", "b", "c"])[i % 3]),
            "fresh": i % 2 == 0,
            "at": pd.date_range("2024-01-01", periods=n, freq="h"),
            "zoned": pd.date_range("2024-01-01", periods=n, freq="h", tz="UTC"),
            "wait": pd.to_timedelta(i % 50, unit="s"),
            "key": [f"k{k}" for k in range(n)],
            "zip": [f"{k % 9:05d}" for k in range(n)],
            "note": [f"it is so, {k} times" for k in range(n)],
            "tags": [["x", "y"][: k % 3] for k in range(n)],
            "bought": i // 2 % 2,
        }
    )


EXPECTED = {
    "size": "number",
    "rooms": "number",
    "code": "category",
    "grade": "category",
    "fresh": "boolean",
    "at": "time",
    "zoned": "time",
    "wait": "number",
    "key": "identifier",
    "zip": "category",
    "note": "text",
    "tags": "category",
    "bought": "number",
}


def test_types_of_frames_and_files_have_kinds(tmp_path):
    frame = typed()
    assert kinds(parsimon.schema(frame)) == EXPECTED
    frame.to_parquet(tmp_path / "t.parquet")
    assert kinds(parsimon.schema(tmp_path / "t.parquet")) == EXPECTED
    table = pa.Table.from_pandas(frame)
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as file:
        file.write_table(table)
    assert kinds(parsimon.schema(str(tmp_path / "t.arrow"))) == EXPECTED
    # polars has no categories of numbers.
    plain = frame.drop(columns=["code"])
    assert kinds(parsimon.schema(pl.from_pandas(plain))) == {k: v for k, v in EXPECTED.items() if k != "code"}
    models = [
        parsimon.FTRLClassifier(l1=0.0).learn_file(tmp_path / "t.parquet", label="bought", ignore=["key"]),
        parsimon.FTRLClassifier(l1=0.0).learn_file(tmp_path / "t.arrow", label="bought", ignore=["key"]),
        parsimon.FTRLClassifier(l1=0.0).learn_arrow(frame, label="bought", ignore=["key"]),
    ]
    assert weights(models[0]) == weights(models[1]) == weights(models[2])
    names = {name for name, _ in models[0].top_weights(1000)}
    assert {"code=11", "grade=b", "fresh=true", "at^hour=5", "tags=x", "zip=00003", "note^times", "wait"} <= names


def test_the_index_of_a_frame_is_left_out_and_told(tmp_path):
    frame = people().set_index(pd.Index(np.arange(200) * 7 % 31, name="user"))
    frame.to_parquet(tmp_path / "t.parquet")
    people().set_index(np.arange(200) * 7 % 31).to_parquet(tmp_path / "unnamed.parquet")
    for path, index in (("t.parquet", "user"), ("unnamed.parquet", "__index_level_0__")):
        with pytest.warns(UserWarning, match=rf"not read: {index} \(the index of a pandas frame; keep=\[...\] reads them\)"):
            model = parsimon.FTRLClassifier().learn_file(tmp_path / path, label="bought")
        assert kinds(model.schema_)[index] == "index"
        # Without a name for it, the label is the last column that is not the index.
        assert parsimon.schema(tmp_path / path)["label"] == "bought"
    with pytest.warns(UserWarning, match="label bought"):
        assert "user" in kinds(parsimon.FTRLClassifier().learn_arrow(frame).schema_)
    kept = parsimon.schema(tmp_path / "t.parquet", keep=["user"])
    # A column with this name holds codes.
    assert kinds(kept)["user"] == "category"


def test_keywords_are_the_flags_of_the_program(tmp_path):
    frame = people().assign(hour=lambda f: np.arange(len(f)) % 24, note="so it is", one=1)
    found = parsimon.schema(frame, categories=["hour"], texts="note", ignore=["city"], keep=["one"], label="bought")
    assert kinds(found) == {"age": "number", "city": "ignored", "bought": "number", "hour": "category", "note": "text", "one": "number"}
    assert kinds(parsimon.schema(frame, numbers=["2-3"], label="bought"))["city"] == "number"
    model = parsimon.FTRLClassifier().learn_arrow(frame, label="bought", categories=["hour"])
    assert kinds(model.schema_)["hour"] == "category" and model.schema_["label"] == "bought"
    # What was found can be edited and passed.
    edited = json.loads(json.dumps(model.schema_))
    next(c for c in edited["columns"] if c["name"] == "hour")["kind"] = "number"
    (tmp_path / "schema.json").write_text(json.dumps(edited))
    for schema in (edited, tmp_path / "schema.json"):
        again = parsimon.FTRLClassifier().learn_arrow(frame, schema=schema)
        assert kinds(again.schema_)["hour"] == "number"
        with pytest.raises(ValueError, match="instead of passing numbers"):
            parsimon.FTRLClassifier().learn_arrow(frame, schema=schema, numbers=["hour"])
    model.save(tmp_path / "m.psm")
    assert parsimon.load(tmp_path / "m.psm").schema_ == model.schema_
    with pytest.raises(TypeError, match="did you mean 'categories'"):
        parsimon.FTRLClassifier().learn_arrow(frame, category=["hour"])
    with pytest.raises(ValueError, match='did you mean "city"'):
        parsimon.schema(frame, ignore=["citi"])
    with pytest.raises(ValueError, match="only tables have a schema"):
        (tmp_path / "x.svm").write_text("1 1:1\n")
        parsimon.schema(tmp_path / "x.svm")


def test_a_label_that_was_guessed_is_told():
    with pytest.warns(UserWarning, match=r"3 columns: 1 number, 1 category, label bought \(0, 1\); pass label="):
        parsimon.FTRLClassifier().learn_arrow(people())
    with pytest.raises(ValueError, match='has no column that is surely the label; name it with label="NAME". The columns are bought, city, age'):
        parsimon.FTRLClassifier().learn_arrow(people()[["bought", "city", "age"]])


def test_text_in_a_number_column_is_missing_and_counted(tmp_path):
    frame = people()
    model = parsimon.FTRLClassifier().learn_arrow(frame, label="bought")
    odd = frame.assign(age=["oops" if i % 50 == 0 else str(a) for i, a in enumerate(frame.age)])
    without = frame.assign(age=[None if i % 50 == 0 else a for i, a in enumerate(frame.age)])
    expected = model.predict_arrow(without).tolist()
    odd.to_csv(tmp_path / "odd.csv", index=False)
    model.save(tmp_path / "m.psm")
    for known in (model, parsimon.load(tmp_path / "m.psm")):
        with pytest.warns(UserWarning, match="4 cells did not fit the kind of the column and were treated as missing"):
            assert known.predict_arrow(odd).tolist() == expected
        with pytest.warns(UserWarning, match="4 cells"):
            assert known.predict_file(tmp_path / "odd.csv").tolist() == expected


@pytest.mark.parametrize("missing", [None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_what_is_missing_in_a_row_is_no_feature(missing):
    rows = [{"a": 1.0, "city": "Rome"}, {"a": 2.0, "city": "Oslo"}] * 20
    holes = [{**row, "b": missing} for row in rows]
    labels = [1, 0] * 20
    plain = parsimon.FTRLClassifier().learn_many(rows, labels)
    assert weights(parsimon.FTRLClassifier().learn_many(holes, labels)) == weights(plain)
    one = parsimon.FTRLClassifier()
    for row, label in zip(holes, labels):
        one.learn_one(row, label)
    assert weights(one) == weights(plain)
    assert one.predict_one({"a": missing, "city": missing}) in (0, 1)
    ids = parsimon.FTRLClassifier(l1=0.0).learn_one({3: 1.0, 4: missing}, 1)
    assert [i.tolist() for _, i, _ in ids._learner.weights()] == [[3]]
