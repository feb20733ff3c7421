"""Models for other programs: C, ONNX, skops, MLflow. `cargo xtask release --dry-run` runs all of it with the real packages."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
import warnings

import numpy as np
import pandas as pd
import parsimon
import pytest
import scipy.sparse as sp


def binary(**settings):
    X = np.random.default_rng(0).normal(size=(300, 6))
    return parsimon.FTRLClassifier(**settings).fit(X, np.where(X[:, 0] > X[:, 1], "yes", "no")), X


def several():
    X = np.random.default_rng(1).normal(size=(300, 6))
    return parsimon.FTRLClassifier().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]) * 10), X


def numbers(loss="squared"):
    X = np.random.default_rng(2).normal(size=(300, 6))
    y = np.exp(X[:, 0]).round() if loss == "poisson" else X @ np.arange(6.0)
    return parsimon.FTRLRegressor(loss=loss, l1=0.01).fit(X, y), X


# Plain C.


def compiled(text, tmp_path, calls):
    """What the expressions of C print for every row of standard input."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no compiler of C")
    (tmp_path / "model.h").write_text(text)
    prints = "".join(f'printf("%.17g ", (double)({call}));' for call in calls)
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "model.h"\nint main(void) { double x[model_columns];\n'
        'for (;;) { for (int j = 0; j < model_columns; j++) if (scanf("%lf", &x[j]) != 1) return 0;\n' + prints + ' printf("\\n"); } }\n'
    )
    run = [compiler, "-std=c99", "-Wall", "-Wextra", "-Wno-unused-function", "-Wno-unused-const-variable", "-Werror", "-O1"]
    subprocess.run([*run, "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)

    def answer(X):
        rows = "\n".join(" ".join(repr(float(v)) for v in row) for row in X)
        done = subprocess.run([tmp_path / "main"], input=rows, capture_output=True, text=True, check=True)
        return np.array([[float(v) for v in line.split()] for line in done.stdout.splitlines()])

    return answer


def test_c_of_two_classes(tmp_path):
    model, X = binary()
    path = tmp_path / "written.h"
    text = parsimon.to_c(model, path)
    assert path.read_text() == text and "'no', 'yes'" in text
    found = compiled(text, tmp_path, ["model_margin(x, 0)", "model_class(x)", "model_probability(x, 0)", "model_probability(x, 1)"])(X)
    np.testing.assert_allclose(found[:, 0], model.decision_function(X), rtol=1e-12, atol=1e-14)
    assert (model.classes_[found[:, 1].astype(int)] == model.predict(X)).all()
    np.testing.assert_allclose(found[:, 2:], model.predict_proba(X), rtol=1e-12)


def test_c_of_several_classes(tmp_path):
    model, X = several()
    found = compiled(parsimon.to_c(model), tmp_path, ["model_class(x)", *(f"model_probability(x, {k})" for k in range(3))])(X)
    assert (model.classes_[found[:, 0].astype(int)] == model.predict(X)).all()
    np.testing.assert_allclose(found[:, 1:], model.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_c_of_numbers(loss, tmp_path):
    model, X = numbers(loss)
    found = compiled(parsimon.to_c(model), tmp_path, ["model_predict(x)"])(X)
    np.testing.assert_allclose(found[:, 0], model.predict(X), rtol=1e-12)


def test_c_of_no_weights(tmp_path):
    model, X = binary(l1=1e9)
    assert model.nonzeros_ == 0
    found = compiled(parsimon.to_c(model), tmp_path, ["model_margin(x, 0)"])(X[:3])
    np.testing.assert_allclose(found[:, 0], model.decision_function(X[:3]))


@pytest.mark.parametrize("name", ["to_c", "to_onnx"])
def test_what_cannot_be_exported(name):
    if name == "to_onnx":
        pytest.importorskip("onnx", reason="onnx is not installed")
    export = getattr(parsimon, name)
    named = parsimon.FTRLClassifier().learn_many([{"a": 1.0}, {"b": 1.0}] * 20, [0, 1] * 20)
    with pytest.raises(ValueError, match="hashed names"):
        export(named)
    with pytest.raises(TypeError, match="takes an estimator of parsimon, got dict"):
        export({})


def test_headers_that_are_refused():
    with pytest.raises(ValueError, match="name of C"):
        parsimon.to_c(binary()[0], name="1 model")


def test_headers_have_no_most_weights(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 10_001))
    model = parsimon.FTRLClassifier(l1=0.0).partial_fit(X, X[:, 0] > 0, classes=[False, True])
    assert model.nonzeros_ > 10_000
    found = compiled(parsimon.to_c(model), tmp_path, ["model_margin(x, 0)"])(X)
    np.testing.assert_allclose(found[:, 0], model.decision_function(X), rtol=1e-9, atol=1e-12)


# What the bare estimators make. Their models standardize and clip cells, and clip predictions.


def edges(X, seed=5):
    """Random rows and edge rows: zeros, far outliers, cells at the mean, huge and tiny numbers."""
    random = np.random.default_rng(seed)
    rows = [X[:40], X.mean(axis=0)[None], np.zeros((1, X.shape[1])), X.mean(axis=0) + 100 * X.std(axis=0) * random.choice([-1, 1], (20, X.shape[1]))]
    rows += [np.full((1, X.shape[1]), huge) for huge in (1e30, -1e30, 1e-30)]
    return np.ascontiguousarray(np.concatenate(rows))


def skewed(rows=400, seed=3):
    random = np.random.default_rng(seed)
    X = np.exp(random.normal(size=(rows, 5)) * [0.1, 1, 2, 3, 1]) * [1, 1e6, 1e-3, 1, 1]
    # A column of one value, and one of two.
    return np.column_stack([X, np.full(rows, 7.0), random.integers(0, 2, rows)]), random


def bare(kind):
    X, random = skewed()
    score = np.log(X[:, 0]) * 10 + np.log(X[:, 2]) - 0.3 * np.log(X[:, 3])
    if kind == "two classes":
        return parsimon.ParsimonClassifier().fit(X, np.where(score > np.median(score), "yes", "no")), X
    if kind == "several classes":
        return parsimon.ParsimonClassifier().fit(X, np.digitize(score, np.quantile(score, [0.3, 0.6]))), X
    if kind == "hinge":
        return parsimon.ParsimonClassifier(loss="hinge").fit(X, score > np.median(score)), X
    if kind == "numbers":
        return parsimon.ParsimonRegressor().fit(X, 1e6 + 50 * score), X
    if kind == "unclipped numbers":
        return parsimon.ParsimonRegressor(no_clip_predictions=True).fit(X, 1e6 + 50 * score), X
    assert kind == "counts"
    return parsimon.ParsimonRegressor(loss="poisson").fit(X, random.poisson(np.exp(np.clip(score / 10, -3, 3)))), X


KINDS = ["two classes", "several classes", "hinge", "numbers", "unclipped numbers", "counts"]


@pytest.mark.parametrize("kind", KINDS)
def test_c_of_bare_estimators(kind, tmp_path):
    model, X = bare(kind)
    X = edges(X)
    heads = range(len(np.atleast_1d(model.intercept_)))
    calls = [f"model_margin(x, {k})" for k in heads] + ["model_class(x)" if hasattr(model, "classes_") else "model_predict(x)"]
    found = compiled(parsimon.to_c(model), tmp_path, calls)(X)
    margins = model.decision_function(X) if hasattr(model, "classes_") else model._learner.margins(X)
    np.testing.assert_allclose(found[:, :-1], margins.reshape(len(X), -1), rtol=1e-9, atol=1e-9)
    if hasattr(model, "classes_"):
        assert (model.classes_[found[:, -1].astype(int)] == model.predict(X)).all()
    else:
        np.testing.assert_allclose(found[:, -1], model.predict(X), rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_onnx_of_bare_estimators(kind):
    model, X = bare(kind)
    X = edges(X)
    found = onnx_outputs(model, X)
    if hasattr(model, "classes_"):
        assert found["label"].astype(model.classes_.dtype).tolist() == model.predict(X).tolist()
        np.testing.assert_allclose(found["margins"].reshape(len(X), -1), model.decision_function(X).reshape(len(X), -1), rtol=1e-9, atol=1e-9)
        if kind != "hinge":
            np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-12)
    else:
        np.testing.assert_allclose(found["prediction"], model.predict(X), rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_say_what_they_leave_out(kind):
    model, X = bare(kind)
    with pytest.warns(parsimon.ClippingWarning, match="clips cells further than 4 standard deviations"):
        coef = np.atleast_2d(model.coef_)
    inside = np.abs((X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)).max(axis=1) < 3.5
    margins = (X @ coef.T + np.atleast_1d(model.intercept_))[inside]
    ours = model._learner.margins(np.ascontiguousarray(X[inside]))
    low, high = model._learner.exact_weights()[3] or (-np.inf, np.inf)
    np.testing.assert_allclose(np.clip(margins, low, high), ours, rtol=1e-6, atol=1e-6)


def test_weights_of_models_that_clip_nothing_come_without_a_warning():
    model, X = binary()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(X @ model.coef_[0] + model.intercept_[0], model.decision_function(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_do_not_depend_on_the_number_of_rows(kind, tmp_path):
    model, X = bare(kind)
    X = edges(X)
    whole = model._learner.margins(X)
    by_row = np.concatenate([model._learner.margins(np.ascontiguousarray(X[i : i + 1])) for i in range(len(X))])
    assert np.array_equal(whole, by_row)
    short = X.astype(np.float32).astype(np.float64)
    assert np.array_equal(model._learner.margins(short), model._learner.margins(short.astype(np.float32)))
    # The model file predicts the same bits, also for the same rows as a sparse matrix.
    model._learner.save_model(tmp_path / "model")
    saved = parsimon._parsimon.Model.load(tmp_path / "model")
    assert np.array_equal(saved.margins(X), whole)
    sparse = sp.csr_matrix(X)
    assert np.array_equal(model._learner.margins((sparse.indptr, sparse.indices, sparse.data, X.shape[1])), whole)


# ONNX.


def onnx_outputs(model, X, dtype=None):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    made = parsimon.to_onnx(model, dtype=dtype)
    session = runtime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": X})))


@pytest.mark.parametrize("make", [binary, several])
def test_onnx_of_classes(make):
    model, X = make()
    found = onnx_outputs(model, X)
    assert list(found) == ["label", "probabilities", "margins"]
    assert found["label"].tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), rtol=1e-9, atol=1e-15)
    rough = onnx_outputs(model, X.astype(np.float32), dtype=np.float32)
    np.testing.assert_allclose(rough["probabilities"], model.predict_proba(X), atol=1e-5)


def test_onnx_without_probabilities():
    X = np.random.default_rng(0).normal(size=(100, 4))
    model = parsimon.FTRLClassifier(loss="hinge").fit(X, X[:, 0] > 0)
    found = onnx_outputs(model, X)
    assert list(found) == ["label", "margins"]
    assert found["label"].astype(bool).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("loss", ["squared", "poisson"])
def test_onnx_of_numbers(loss, tmp_path):
    model, X = numbers(loss)
    found = onnx_outputs(model, X)
    np.testing.assert_allclose(found["prediction"], model.predict(X), rtol=1e-12)
    parsimon.to_onnx(model, tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").stat().st_size > 100


# skops.


def test_skops(tmp_path):
    skops = pytest.importorskip("skops.io", reason="skops is not installed")
    model, X = binary()
    skops.dump(model, tmp_path / "model.skops")
    unknown = skops.get_untrusted_types(file=tmp_path / "model.skops")
    assert all(name.startswith(("parsimon.", "builtins.")) for name in unknown)
    again = skops.load(tmp_path / "model.skops", trusted=unknown)
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    # It goes on learning, with the same bits.
    y = model.predict(X)
    assert np.array_equal(again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)


def test_the_state_of_an_estimator_is_bytes():
    model, X = binary()
    state = model.__getstate__()
    assert isinstance(state["_checkpoint_bytes"], bytes) and "_learner" not in state
    again = parsimon.FTRLClassifier.__new__(parsimon.FTRLClassifier)
    again.__setstate__(state)
    assert np.array_equal(again.coef_, model.coef_)


# MLflow.


def test_mlflow(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    import parsimon.mlflow as flavour

    monkeypatch.chdir(tmp_path)
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/runs.db")
    model, X = binary()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model.fit(frame, model.predict(X))
    with mlflow.start_run():
        info = flavour.log_model(model, name="model", input_example=frame[:2])
    again = flavour.load_model(info.model_uri)
    assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))
    function = mlflow.pyfunc.load_model(info.model_uri)
    assert function.predict(frame).tolist() == model.predict(frame).tolist()
    saved = tmp_path / "saved"
    flavour.save_model(model, saved)
    with pytest.raises(FileExistsError):
        flavour.save_model(model, saved)
    with pytest.raises(TypeError, match="estimator of parsimon"):
        flavour.save_model({}, tmp_path / "other")
    assert mlflow.pyfunc.load_model(str(saved)).predict(frame).tolist() == model.predict(frame).tolist()
    if os.environ.get("PARSIMON_SERVE") == "1":
        serve(saved, frame, model)


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
