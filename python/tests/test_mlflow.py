"""The flavour of MLflow, and MLflow's own of scikit-learn. `cargo xtask release --dry-run` runs this with the real package."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request

import numpy as np
import pandas as pd
import parsimon
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")


@pytest.fixture(autouse=True)
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")


def flavour():
    import parsimon.mlflow

    return parsimon.mlflow


def table(rows=300):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(rows, 6)), columns=list("abcdef"))
    return frame, np.where(frame["a"] > frame["b"], "yes", "no")


def classifier():
    frame, y = table()
    return parsimon.ParsimonClassifier().fit(frame, y), frame


def test_what_is_logged_is_loaded(tmp_path):
    model, frame = classifier()
    with mlflow.start_run():
        info = flavour().log_model(model, name="model", input_example=frame[:2])
    again = flavour().load_model(info.model_uri)
    assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
    function = mlflow.pyfunc.load_model(info.model_uri)
    assert function.predict(frame).tolist() == model.predict(frame).tolist()
    saved = tmp_path / "saved"
    flavour().save_model(model, saved)
    with pytest.raises(FileExistsError):
        flavour().save_model(model, saved)
    with pytest.raises(TypeError, match="estimator of parsimon"):
        flavour().save_model({}, tmp_path / "other")
    assert mlflow.pyfunc.load_model(str(saved)).predict(frame).tolist() == model.predict(frame).tolist()
    if os.environ.get("PARSIMON_SERVE") == "1":
        serve(saved, frame, model)


@pytest.mark.parametrize("example", [False, True])
def test_the_method_is_honoured(example, tmp_path):
    model, frame = classifier()
    flavour().save_model(model, tmp_path / "m", input_example=frame[:2] if example else None)
    function = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    assert function.predict(frame).tolist() == model.predict(frame).tolist()
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        found = function.predict(frame, params={"predict_method": method})
        assert np.array_equal(found, getattr(model, method)(frame)), method
    with pytest.raises(ValueError, match="predict_method must be"):
        function.predict(frame, params={"predict_method": "fit"})


def test_the_method_of_a_saved_model(tmp_path):
    model, frame = classifier()
    flavour().save_model(model, tmp_path / "m", predict_method="predict_proba", input_example=frame[:2])
    function = mlflow.pyfunc.load_model(str(tmp_path / "m"))
    found = function.predict(frame)
    assert found.shape == (300, 2) and np.array_equal(found, model.predict_proba(frame))
    assert function.predict(frame, params={"predict_method": "predict"}).tolist() == model.predict(frame).tolist()
    with pytest.raises(ValueError, match="predict_method must be"):
        flavour().save_model(model, tmp_path / "n", predict_method="probabilities")
    hinge = parsimon.FTRLClassifier(loss="hinge").fit(*table())
    with pytest.raises(ValueError, match="the model has no predict_proba"):
        flavour().save_model(hinge, tmp_path / "o", predict_method="predict_proba")


def test_pipelines_numbers_and_frames_of_texts(tmp_path):
    frame, y = table()
    pipeline = make_pipeline(StandardScaler(), parsimon.ParsimonClassifier()).fit(frame, y)
    texts = frame[["a"]].assign(city=["Rome", "Oslo"] * 150)
    of_texts = parsimon.ParsimonRegressor().fit(texts, frame["b"])
    of_numbers = parsimon.ParsimonRegressor().fit(frame, frame["a"] - frame["b"])
    for k, (model, rows) in enumerate([(pipeline, frame), (of_texts, texts), (of_numbers, frame)]):
        flavour().save_model(model, tmp_path / str(k), input_example=rows[:3])
        assert np.array_equal(mlflow.pyfunc.load_model(str(tmp_path / str(k))).predict(rows), model.predict(rows))


@pytest.mark.parametrize("format", ["skops", "cloudpickle"])
def test_the_flavour_of_scikit_learn(format, tmp_path):
    pytest.importorskip("skops", reason="skops is not installed")
    model, frame = classifier()
    pipeline = make_pipeline(StandardScaler(), parsimon.ParsimonClassifier()).fit(*table())
    for k, one in enumerate([model, pipeline]):
        trusted = {"skops_trusted_types": flavour().skops_trusted_types(one)} if format == "skops" else {}
        mlflow.sklearn.save_model(one, tmp_path / str(k), serialization_format=format, **trusted)
        assert np.array_equal(mlflow.sklearn.load_model(str(tmp_path / str(k))).predict_proba(frame), one.predict_proba(frame))
        assert mlflow.pyfunc.load_model(str(tmp_path / str(k))).predict(frame).tolist() == one.predict(frame).tolist()


def test_autolog():
    frame, y = table()
    flavour().autolog()
    try:
        with mlflow.start_run() as run:
            model = parsimon.ParsimonClassifier(passes=3).fit(frame, y)
            parsimon.ParsimonClassifier(passes=2).fit(frame, y)
        parsimon.FTRLRegressor(l1=0.5).fit(frame, frame["a"])
        alone = mlflow.last_active_run()
    finally:
        flavour().autolog(disable=True)
    logged = mlflow.get_run(run.info.run_id).data
    assert logged.params["passes"] == "3" and logged.tags["estimator_name"] == "ParsimonClassifier"
    assert logged.metrics["training_score"] == model.score(frame, y) and logged.metrics["rows"] == model.n_rows_
    assert logged.metrics["progressive_loss"] == pytest.approx(model.progressive_loss_)
    assert alone.info.run_id != run.info.run_id and alone.data.params["l1"] == "0.5"
    nested = mlflow.search_runs(filter_string=f"tags.`mlflow.parentRunId` = '{run.info.run_id}'")
    assert nested["params.passes"].tolist() == ["2"]
    found = mlflow.search_logged_models(output_format="list")
    assert len(found) == 3
    before = len(mlflow.search_runs())
    parsimon.FTRLRegressor().fit(frame, frame["a"])
    assert len(mlflow.search_runs()) == before


def serve(folder, frame, model):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    line = [sys.executable, "-m", "mlflow", "models", "serve", "-m", str(folder), "--env-manager", "local", "-h", "127.0.0.1", "-p", str(port)]
    server = subprocess.Popen(line, env={**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}, start_new_session=True)
    try:
        body = json.dumps({"dataframe_split": frame[:5].to_dict(orient="split")}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port}/invocations", body, {"Content-Type": "application/json"})
        for attempt in range(120):
            try:
                with urllib.request.urlopen(request, timeout=10) as answer:
                    found = json.load(answer)
                break
            except OSError:
                if attempt == 119 or server.poll() is not None:
                    raise
                time.sleep(0.5)
        assert found["predictions"] == model.predict(frame[:5]).tolist()
    finally:
        os.killpg(server.pid, 15)
        server.wait()
