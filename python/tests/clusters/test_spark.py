"""Training on Spark, on this machine: one session for all tests."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pip install pyspark")
pa = pytest.importorskip("pyarrow", reason="pip install pyarrow")

from parsimon import _worker as worker
from parsimon import load
from parsimon.spark import SparkModel, SparkTrainer, jobs
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.linalg import Vectors
from pyspark.sql import functions as F
from test_worker import PAIR, Here, rows


#: Rows in the order of the partitions, by several workers: what the engine-free rounds do.
PAIRS = {"featuresCols": list(PAIR.features), "minRows": 1, "shuffle": False}
SETTINGS = {**PAIRS, "l1": 0.3}


def test_spark_gives_the_bits_of_the_workers(spark, parquet):
    model = SparkTrainer("ftrl", epochs=2, merges=3, **SETTINGS).fit(parquet)
    frame = spark.read.parquet(parquet)
    assert frame.rdd.getNumPartitions() == 3
    # The same partitions in the same order, without Spark.
    parts = [pa.Table.from_pylist([row.asDict() for row in part]) for part in frame.rdd.glom().collect()]
    batches = [part.combine_chunks().to_batches()[0] for part in parts]
    here = Here("ftrl", epochs=2, merges=3, classes=(0, 1), features=PAIR.features, l1=0.3).fit(batches)
    assert model.fitted.state == here.state
    assert [r.rows for r in model.history] == [r.rows for r in here.history]
    assert model.fitted.rows == 2400
    sliced = SparkTrainer("ftrl", epochs=2, merges=3, slices=3, **SETTINGS).fit(parquet)
    assert sliced.fitted.state == model.fitted.state


def test_auto_races_on_the_driver_and_its_winner_is_distributed(spark, parquet, monkeypatch):
    frame = spark.read.parquet(parquet)
    parts = [pa.Table.from_pylist([row.asDict() for row in part]) for part in frame.rdd.glom().collect()]
    batches = [part.combine_chunks().to_batches()[0] for part in parts]
    # The first partition and a part of the second; then all, which are fewer than wanted.
    for most, rows_raced in ((700, 700), (5000, 1200)):
        monkeypatch.setattr("parsimon._rounds.RACE_ROWS", most)
        model = SparkTrainer(merges=3, **PAIRS).fit(frame)
        here = Here(classes=(0, 1), merges=3, features=PAIR.features).fit(batches)
        assert model.winner == here.winner
        assert model.winner.rows == rows_raced
        assert model.fitted.state == here.state
    sampled = pa.Table.from_batches(jobs.sample(frame, 700))
    assert sampled.num_rows >= 700
    assert sampled.slice(0, 700) == pa.concat_tables(parts).select(sampled.column_names).cast(sampled.schema).slice(0, 700)
    assert SparkTrainer("ftrl", **SETTINGS).fit(frame).winner is None


def test_retries_change_nothing(spark, parquet):
    trainer = SparkTrainer("rda", merges=2, **{**SETTINGS, "l1": 0.001})
    assert trainer.fit(parquet).fitted.state == trainer.fit(parquet).fitted.state


def test_vectors_structs_and_columns_are_the_same(spark):
    random = np.random.default_rng(1)
    x = np.where(random.random((200, 4)) < 0.5, random.normal(size=(200, 4)), 0.0)
    y = (x[:, 0] - x[:, 2] + 0.2 * random.normal(size=200) > 0).astype(int)
    data = []
    for i in range(200):
        ids = np.flatnonzero(x[i]).tolist()
        data.append(
            (
                Vectors.sparse(4, ids, x[i, ids].tolist()) if i % 2 else Vectors.dense(x[i].tolist()),
                (ids, x[i, ids].tolist()),
                *x[i].tolist(),
                int(y[i]),
            )
        )
    schema_names = ["vector", "pair", "a", "b", "c", "d", "label"]
    frame = spark.createDataFrame(data, schema_names).withColumnRenamed("pair", "tuple")
    frame = frame.selectExpr(
        "vector", "named_struct('indices', tuple._1, 'values', tuple._2) as pair", "a", "b", "c", "d", "label"
    ).coalesce(1)
    states = [
        SparkTrainer("ftrl", l1=0.05, shuffle=False, **columns).fit(frame).fitted.learner.weights()
        for columns in ({"featuresCol": "vector"}, {"featuresCol": "pair"}, {"featuresCols": ["a", "b", "c", "d"]})
    ]
    for other in states[1:]:
        assert states[0][0][0] == pytest.approx(other[0][0], abs=1e-12)
    assert states[0][0][1].tolist() == states[1][0][1].tolist()
    assert states[0][0][2] == pytest.approx(states[1][0][2], abs=1e-12)
    # Columns have names, and with them other features: the weights are the same in another order.
    assert sorted(states[0][0][2]) == pytest.approx(sorted(states[2][0][2]), abs=1e-12)


def sample_frame(spark, rows=400):
    """A frame whose label depends on ``a`` and, less, on ``city``, with nulls in both."""
    random = np.random.default_rng(8)
    a, b = random.normal(size=rows), random.normal(size=rows)
    city = random.choice(["Rome", "Oslo", "Bern"], size=rows)
    label = (a + (city == "Rome") + 0.5 * random.normal(size=rows) > 0).astype(int)
    data = [
        (None if i % 9 == 0 else float(a[i]), float(b[i]), None if i % 11 == 0 else str(city[i]), int(label[i])) for i in range(rows)
    ]
    return spark.createDataFrame(data, "a double, b double, city string, label int")


def test_the_order_of_a_frame_does_not_matter(spark):
    frame = sample_frame(spark)
    columns = {"featuresCols": ["a", "b", "city"]}
    on_driver = {
        SparkTrainer(**columns).fit(f).fitted.state
        for f in (frame, frame.orderBy("label", "a"), frame.repartition(5), frame.coalesce(1))
    }
    assert len(on_driver) == 1
    assert SparkTrainer(seed=1, **columns).fit(frame).fitted.state not in on_driver
    # The same rows in the same partitions, fetched in another order.
    parts = frame.repartition(3, "b")
    by_workers = {
        SparkTrainer("ftrl", minRows=1, merges=2, **columns).fit(f).fitted.state
        for f in (parts.sortWithinPartitions("label"), parts.sortWithinPartitions("a"))
    }
    assert len(by_workers) == 1


def test_partitions_with_one_label_each_are_dealt_anew(spark, caplog):
    frame = sample_frame(spark, 1200)
    a_half = {"featuresCols": ["a", "b", "city"], "minRows": 1}
    sorted_by_label = frame.repartition(8, "label")
    mixed = SparkTrainer("ftrl", **a_half).fit(frame.repartition(2)).history[-1].loss
    with caplog.at_level("INFO", logger="parsimon"):
        dealt = SparkTrainer("ftrl", **a_half).fit(sorted_by_label).history[-1].loss
    assert "cut into partitions anew" in caplog.text
    assert dealt < mixed * 1.1


def test_columns_by_name_are_those_of_a_pandas_frame(spark):
    from parsimon import FTRLClassifier

    frame = sample_frame(spark).coalesce(1)
    model = SparkTrainer("ftrl", featuresCols=["a", "b", "city"], l1=0.0, shuffle=False).fit(frame)
    other = FTRLClassifier(l1=0.0).learn_arrow(frame.toPandas(), label="label")
    ((bias, ids, weights),) = model.fitted.learner.weights()
    ((expected_bias, expected_ids, expected),) = other._learner.weights()
    assert bias == expected_bias and ids.tolist() == expected_ids.tolist() and weights.tolist() == expected.tolist()


def test_what_a_model_wrote_is_no_feature(spark):
    frame = sample_frame(spark)
    plain = SparkTrainer("ftrl", featuresCols="*").fit(frame)
    scored = plain.transform(frame)
    assert SparkTrainer("ftrl", featuresCols="*").fit(scored).fitted.schema == plain.fitted.schema


def test_labels_that_are_numbers_are_no_classes(spark, caplog):
    frame = sample_frame(spark).withColumn("label", F.col("label") * 2.5 + F.col("b"))
    model = SparkTrainer(featuresCols=["b", "city"]).fit(frame)
    assert model.labels == [] and "squared loss" in caplog.text
    assert "probability" not in model.transform(frame).columns
    named = SparkTrainer("ftrl", loss="logistic", featuresCols=["b"]).fit(frame.where("label > 2").limit(20))
    assert len(named.labels) > 2


def test_transform_scores_with_the_native_model(spark, parquet, tmp_path):
    frame = spark.read.parquet(parquet)
    model = SparkTrainer("ftrl", **SETTINGS).fit(frame)
    transformed = model.transform(frame)
    kinds = {field.name: field.dataType.typeName() for field in transformed.schema}
    assert kinds["prediction"] == "double" and kinds["rawPrediction"] == kinds["probability"] == "vectorudt"
    scored = transformed.collect()
    batch = pa.Table.from_pylist([{name: row[name] for name in ("indices", "values")} for row in scored]).combine_chunks().to_batches()[0]
    native = model.fitted.score(batch.select(["indices", "values"]))
    assert [row["rawPrediction"][1] for row in scored] == native.margins[:, 0].tolist()
    assert [row["rawPrediction"][0] for row in scored] == (-native.margins[:, 0]).tolist()
    assert [row["prediction"] for row in scored] == native.predictions.to_pylist()
    assert np.array_equal([row["probability"].toArray() for row in scored], native.probabilities)
    # Many rows have no feature that matters; a coin is right in half of them.
    assert np.mean([row["prediction"] == row["label"] for row in scored]) > 0.65
    model.fitted.save(tmp_path / "m.psm")
    estimator = load(tmp_path / "m.psm")
    assert estimator.decision_function(np.eye(30)[:1]).shape == (1,)


def test_it_fits_in_a_pipeline_and_is_saved_as_our_file(spark, tmp_path):
    random = np.random.default_rng(2)
    x = random.normal(size=(300, 3))
    labels = np.array(["no", "yes"])[(x[:, 0] > 0).astype(int)]
    frame = spark.createDataFrame([(*row, str(label)) for row, label in zip(x.tolist(), labels, strict=True)], ["a", "b", "c", "label"])
    pipeline = Pipeline(stages=[VectorAssembler(inputCols=["a", "b", "c"], outputCol="features"), SparkTrainer("adagrad-rda")])
    fitted = pipeline.fit(frame)
    before = [row["prediction"] for row in fitted.transform(frame).collect()]
    # A prediction is the position of its label.
    assert fitted.stages[1].labels == ["no", "yes"]
    assert np.mean(np.array(["no", "yes"])[np.array(before, dtype=int)] == labels) > 0.9
    fitted.save(str(tmp_path / "pipeline"))
    again = PipelineModel.load(str(tmp_path / "pipeline"))
    assert isinstance(again.stages[1], SparkModel)
    assert [row["prediction"] for row in again.transform(frame).collect()] == before
    files = list((tmp_path / "pipeline").rglob("model.psm"))
    assert len(files) == 1
    assert load(files[0]) is not None
    alone = fitted.stages[1]
    alone.write().overwrite().save(str(tmp_path / "alone"))
    assert SparkModel.load(str(tmp_path / "alone")).model_bytes == alone.model_bytes


def test_regression_and_weights(spark):
    random = np.random.default_rng(3)
    x = random.normal(size=(400, 2))
    data = [(*row, 2.0 * row[0] - row[1], float(i % 2)) for i, row in enumerate(x.tolist())]
    # Rows of weight 0 tell lies.
    data = [(a, b, y if w else -y, w) for a, b, y, w in data]
    frame = spark.createDataFrame(data, ["a", "b", "label", "weight"])
    trainer = SparkTrainer("fobos", loss="squared", rate=0.3, featuresCols=["a", "b"], weightCol="weight", merges=4, epochs=3)
    ((_, _, weights),) = trainer.fit(frame).fitted.learner.weights()
    assert weights == pytest.approx([2.0, -1.0], abs=0.1)


def test_what_is_wrong_is_told(spark, parquet):
    with pytest.raises(ValueError, match="lazy-fobos with these settings cannot be merged"):
        SparkTrainer("lazy-fobos")
    with pytest.raises(ValueError, match="partitions must be at least 1"):
        SparkTrainer(partitions=0)
    with pytest.raises(ValueError, match="at least two classes"):
        frame = spark.read.parquet(parquet).where("label = 1")
        SparkTrainer(**SETTINGS).fit(frame)
    with pytest.raises(Exception, match="the label 1 is not one of the classes 0, 5"):
        SparkTrainer(classes=[0, 5], **SETTINGS).fit(parquet)


def test_an_empty_partition_is_no_worker(spark):
    frame = spark.createDataFrame([([0], [1.0], 0), ([1], [1.0], 1)], ["indices", "values", "label"]).repartition(8)
    fitted = SparkTrainer(classes=[0, 1], **SETTINGS).fit(frame).fitted
    assert worker.rows_learned(fitted.state) == 2


def test_columns_of_a_frame_have_the_kinds_of_the_same_table_in_files(spark, tmp_path):
    """Strings, numbers, booleans and timestamps: Spark, CSV and Parquet give the same kinds and the same weights."""
    import datetime

    import pandas as pd
    from parsimon import FTRLClassifier

    spark.conf.set("spark.sql.session.timeZone", "UTC")
    start = datetime.datetime(2024, 1, 1, 7, 30)
    data = [
        (
            f"u{i}",
            ["red", "blue", None][i % 3],
            i % 7 + 0.5 if i % 5 else None,
            i % 4,
            i % 3 == 0,
            start + datetime.timedelta(hours=i),
            i % 2,
        )
        for i in range(200)
    ]
    kinds = "id string, color string, size double, rooms int, fresh boolean, at timestamp, label int"
    frame = spark.createDataFrame(data, kinds).coalesce(1)
    model = SparkTrainer("ftrl", featuresCols=["*"], l1=0.0, shuffle=False).fit(frame)
    found = [column["kind"] for column in model.fitted.schema["columns"]]
    assert found == ["identifier", "category", "number", "number", "boolean", "time", "number"]
    table = pd.DataFrame(data, columns=[part.split()[0] for part in kinds.split(", ")])
    table.to_csv(tmp_path / "t.csv", index=False)
    frame.write.parquet(str(tmp_path / "t"))
    (parquet,) = (tmp_path / "t").glob("*.parquet")
    for path in (tmp_path / "t.csv", parquet):
        other = FTRLClassifier(l1=0.0).learn_file(path, label="label", ignore=["id"])
        assert [column["kind"] for column in other.schema_["columns"]][1:] == found[1:]
        ((bias, ids, weights),) = model.fitted.learner.weights()
        ((expected_bias, expected_ids, expected),) = other._learner.weights()
        assert bias == expected_bias and ids.tolist() == expected_ids.tolist() and weights.tolist() == expected.tolist()
    scored = model.transform(frame.drop("label")).select("prediction").collect()
    assert [row["prediction"] for row in scored] == other.predict_file(parquet).tolist()
