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
        seen = _parsimon.Table.arrow(data, parsimon._base._roles())
        assert seen.addresses() == [column.buffers()[1].address, other.buffers()[1].address]
