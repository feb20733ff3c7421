"""The trainer as an estimator of Spark ML: Params, evaluators, tuning, saving, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("pyspark", reason="pip install pyspark")
pytest.importorskip("pyarrow", reason="pip install pyarrow")

from parsimon.spark import SparkModel, SparkTrainer
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import BinaryClassificationEvaluator, MulticlassClassificationEvaluator, RegressionEvaluator
from pyspark.ml.feature import IndexToString, VectorAssembler
from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder, TrainValidationSplit
from test_worker import PAIR

PAIRS = {"featuresCols": list(PAIR.features), "merges": 2, "minRows": 1, "shuffle": False}


@pytest.fixture(scope="module")
def frame(spark, parquet):
    return spark.read.parquet(parquet)


def test_every_setting_is_a_param():
    trainer = SparkTrainer("ftrl", l1=0.5)
    assert trainer.getL1() == 0.5 and trainer.getAlgorithm() == "ftrl" and trainer.getEpochs() == 1
    assert trainer.setL1(2) is trainer and trainer.getOrDefault(trainer.l1) == 2.0
    assert trainer.setClassWeight({"0": 1.0, "1": 3.0}).getClassWeight() == {"0": 1.0, "1": 3.0}
    assert trainer.setParams(labelCol="clicked", merges=8).getLabelCol() == "clicked"
    for name in ("setFeaturesCol", "setWeightCol", "setPredictionCol", "setRawPredictionCol", "setProbabilityCol"):
        assert getattr(trainer, name)("x") is trainer
    assert trainer.setThresholds([0.2, 0.8]).getThresholds() == [0.2, 0.8]
    told = trainer.explainParams()
    assert "merges: merges of an epoch" in told and "current: 8" in told and "current: 2.0" in told
    assert "rate: " in trainer.explainParam("rate")
    with pytest.raises(TypeError, match="SparkTrainer has no Param l3"):
        SparkTrainer(l3=1)
    with pytest.raises(TypeError, match="l1"):
        SparkTrainer().setL1("many")
    with pytest.raises(ValueError, match="l1"):
        SparkTrainer("ftrl", l1=-1.0)


def test_a_copy_is_apart():
    trainer = SparkTrainer("ftrl", l1=0.5)
    other = trainer.copy({trainer.l1: 3.0})
    assert (trainer.getL1(), other.getL1()) == (0.5, 3.0)
    assert other.uid == trainer.uid and other.l1 == trainer.l1
    other.setEpochs(4)
    assert trainer.getEpochs() == 1


def test_a_trainer_is_saved_before_it_is_fitted(spark, frame, tmp_path):
    trainer = SparkTrainer("ftrl", l1=0.3, classes=[0, 1], thresholds=[0.3, 0.7], **PAIRS)
    trainer.save(str(tmp_path / "trainer"))
    again = SparkTrainer.load(str(tmp_path / "trainer"))
    assert again.uid == trainer.uid
    assert again.explainParams() == trainer.explainParams()
    assert again.fit(frame).fitted.state == trainer.fit(frame).fitted.state
    Pipeline(stages=[trainer]).save(str(tmp_path / "pipeline"))
    assert Pipeline.load(str(tmp_path / "pipeline")).getStages()[0].getL1() == 0.3


def test_a_model_is_saved_with_all_it_has(spark, frame, tmp_path):
    model = SparkTrainer(predictionCol="guess", **PAIRS).fit(frame)
    model.save(str(tmp_path / "model"))
    again = SparkModel.load(str(tmp_path / "model"))
    assert again.fitted == model.fitted
    assert again.winner is not None and len(again.history) == 2
    assert again.uid == model.uid and again.getPredictionCol() == "guess"
    assert again.transform(frame).select("guess").collect() == model.transform(frame).select("guess").collect()


def test_evaluators_take_what_transform_gives(frame):
    scored = SparkTrainer("ftrl", l1=0.3, **PAIRS).fit(frame).transform(frame)
    assert BinaryClassificationEvaluator().evaluate(scored) > 0.75
    assert MulticlassClassificationEvaluator(metricName="accuracy").evaluate(scored) > 0.65
    assert MulticlassClassificationEvaluator(metricName="logLoss").evaluate(scored) < 0.65
    numbers = SparkTrainer("ftrl", loss="squared", rate=0.5, **PAIRS).fit(frame).transform(frame)
    assert "probability" not in numbers.columns and "rawPrediction" not in numbers.columns
    assert RegressionEvaluator(metricName="mse").evaluate(numbers) < 0.25


def test_cross_validator(frame, tmp_path):
    trainer = SparkTrainer("ftrl", **PAIRS)
    # With the large penalty no weight is left, and the area is a half.
    grid = ParamGridBuilder().addGrid(trainer.l1, [1e6, 0.3]).addGrid(trainer.epochs, [1]).build()
    evaluator = BinaryClassificationEvaluator()
    found = CrossValidator(estimator=trainer, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, seed=1).fit(frame)
    assert found.avgMetrics[0] == pytest.approx(0.5) and found.avgMetrics[1] > 0.75
    assert found.bestModel.nonzeros > 0
    found.save(str(tmp_path / "found"))
    again = CrossValidatorModel.load(str(tmp_path / "found"))
    assert again.bestModel.fitted == found.bestModel.fitted


def test_train_validation_split_in_a_pipeline(spark):
    random = np.random.default_rng(4)
    x = random.normal(size=(600, 3))
    data = [(*row, int(row[0] + 0.3 * random.normal() > 0)) for row in x.tolist()]
    frame = spark.createDataFrame(data, ["a", "b", "c", "label"])
    trainer = SparkTrainer("ftrl", merges=1)
    pipeline = Pipeline(stages=[VectorAssembler(inputCols=["a", "b", "c"], outputCol="features"), trainer])
    grid = ParamGridBuilder().addGrid(trainer.l1, [0.1, 1e6]).build()
    split = TrainValidationSplit(
        estimator=pipeline, estimatorParamMaps=grid, evaluator=BinaryClassificationEvaluator(), parallelism=2, seed=2
    ).fit(frame)
    assert split.validationMetrics[0] > 0.9 and split.validationMetrics[1] == pytest.approx(0.5)
    assert isinstance(split.bestModel, PipelineModel)


def test_thresholds_and_names_of_columns(frame):
    model = SparkTrainer("ftrl", l1=0.3, **PAIRS).fit(frame)

    def share(model: SparkModel) -> float:
        return float(np.mean([row["prediction"] for row in model.transform(frame).collect()]))

    plain = share(model)
    assert 0.2 < plain < 0.8
    # A row belongs to class 1 where p1/0.9 > p0/0.1.
    careful = model.copy({model.thresholds: [0.1, 0.9]})
    rows = careful.transform(frame).collect()
    assert [row["prediction"] for row in rows] == [float(row["probability"][1] > 0.9) for row in rows]
    assert share(careful) < plain < share(model.copy({model.thresholds: [0.9, 0.1]}))
    assert share(model.copy({model.thresholds: [1.0, 0.0]})) == 1.0
    named = model.copy({model.probabilityCol: "", model.rawPredictionCol: "margins", model.predictionCol: "guess"})
    assert named.transform(frame).columns == [*frame.columns, "guess", "margins"]
    with pytest.raises(ValueError, match="thresholds has 3 numbers; there are 2 labels"):
        model.copy({model.thresholds: [0.1, 0.1, 0.8]}).transform(frame)
    hinge = SparkTrainer("ftrl", loss="hinge", thresholds=[0.5, 0.5], **PAIRS).fit(frame)
    with pytest.raises(ValueError, match="thresholds are for models with probabilities"):
        hinge.transform(frame)


def test_labels_that_are_no_positions(spark):
    random = np.random.default_rng(5)
    x = random.normal(size=(300, 2))
    texts = [(row, ["left", "right"][int(row[0] > 0)], [-1, 1][int(row[0] > 0)]) for row in x.tolist()]
    frame = spark.createDataFrame(texts, ["features", "side", "sign"])
    model = SparkTrainer("ftrl", labelCol="side", merges=1).fit(frame)
    scored = IndexToString(inputCol="prediction", outputCol="guess", labels=model.labels).transform(model.transform(frame))
    assert np.mean([row["guess"] == row["side"] for row in scored.collect()]) > 0.9
    signs = SparkTrainer("ftrl", labelCol="sign", merges=1).fit(frame).transform(frame).collect()
    assert np.mean([row["prediction"] == row["sign"] for row in signs]) > 0.9
    assert {row["prediction"] for row in signs} == {-1.0, 1.0}


def test_training_goes_on_from_a_model(spark, frame, tmp_path):
    trainer = SparkTrainer("ftrl", l1=0.3, **PAIRS)
    twice = trainer.copy({trainer.epochs: 2}).fit(frame)
    first = trainer.fit(frame)
    again = trainer.fit(frame, initial=first)
    assert again.fitted.state == twice.fitted.state
    assert again.fitted.rows == 2400
    first.save(str(tmp_path / "first"))
    loaded = SparkModel.load(str(tmp_path / "first"))
    assert trainer.fit(frame, {trainer.merges: 2}, initial=loaded).fitted.state == again.fitted.state
    # auto goes on with what it has chosen.
    raced = SparkTrainer(**PAIRS).fit(frame)
    assert SparkTrainer(**PAIRS).fit(frame, initial=raced).winner == raced.winner
    with pytest.raises(ValueError, match=r"the initial model was trained with l1=0.3, not l1=1.0"):
        trainer.fit(frame, {trainer.l1: 1.0}, initial=first)
    with pytest.raises(ValueError, match="the initial model was trained by ftrl, not by rda"):
        SparkTrainer("rda", **PAIRS).fit(frame, initial=first)
    with pytest.raises(ValueError, match=r"the initial model has the classes \[0, 1\], not \[0, 2\]"):
        SparkTrainer("ftrl", l1=0.3, classes=[0, 2], **PAIRS).fit(frame, initial=first)


def test_merges_follow_from_the_rows(spark, frame, monkeypatch, caplog):
    columns = {"featuresCols": PAIRS["featuresCols"], "minRows": 400}
    with caplog.at_level("INFO", logger="parsimon"):
        assert len(SparkTrainer("ftrl", **columns).fit(frame).history) == 4
    assert "training 1200 rows on the cluster took" in caplog.text
    # Rows for one worker and a half are learned by one, in the order of the partitions.
    one = SparkTrainer("ftrl", **{**columns, "minRows": 800}).fit(frame)
    assert len(one.history) == 1
    assert one.fitted.state == SparkTrainer("ftrl", **columns).fit(frame.coalesce(1)).fitted.state
    monkeypatch.setattr("parsimon._rounds.MANY_ROWS", 1000)
    assert len(SparkTrainer("ftrl", **columns).fit(frame).history) == 16


def test_a_merge_is_one_job(spark, frame):
    context = spark.sparkContext
    context.setJobGroup("merges", "counted")
    SparkTrainer("ftrl", l1=0.3, classes=[0, 1], **{**PAIRS, "merges": 5}).fit(frame)
    # And one before them, which counts rows.
    assert len(context.statusTracker().getJobIdsForGroup("merges")) == 6
    context.setJobGroup("", "")


def test_connect_is_refused_by_name(frame):
    remote = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})()
    with pytest.raises(TypeError, match="does not work with Spark Connect"):
        SparkTrainer().fit(remote)
    with pytest.raises(TypeError, match="does not work with Spark Connect"):
        SparkTrainer().foreach_batch("states")(remote, 0)
