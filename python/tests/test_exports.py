"""Models for other programs: C, ONNX, skops."""

import json
import shutil
import subprocess
import warnings

import numpy as np
import pandas as pd
import parsimon
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler


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


def built(text, main, tmp_path):
    """Compiles a header with a main function; warnings are errors."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no compiler of C")
    (tmp_path / "model.h").write_text(text)
    (tmp_path / "main.c").write_text('#include <stdio.h>\n#include "model.h"\n' + main)
    run = [compiler, "-std=c99", "-Wall", "-Wextra", "-Wno-unused-function", "-Wno-unused-const-variable", "-Werror", "-O1"]
    subprocess.run([*run, "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)


def compiled(text, tmp_path, calls):
    """What the expressions of C print for every row of standard input."""
    prints = "".join(f'printf("%.17g ", (double)({call}));' for call in calls)
    main = (
        "int main(void) { double x[model_columns];\n"
        'for (;;) { for (int j = 0; j < model_columns; j++) if (scanf("%lf", &x[j]) != 1) return 0;\n' + prints + ' printf("\\n"); } }\n'
    )
    built(text, main, tmp_path)

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


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("name", [name for name in parsimon._named.__all__ if not name.startswith("MultiKernel")])
def test_weights_and_graphs_of_every_estimator(name, normalize):
    X = np.random.default_rng(0).normal(size=(200, 4))
    targets = [(X[:, 0] > X[:, 1]).astype(int), np.digitize(X[:, 0], [-0.5, 0.5])] if name.endswith("Classifier") else [X @ [1.0, 2.0, 0.0, -1.0]]
    for y in targets:
        model = getattr(parsimon, name)()
        if normalize:
            model.set_params(normalize=True)
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            model.fit(X, y)
            coef, bias = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
        margins = model._learner.margins(X)
        if not any(issubclass(one.category, parsimon.ClippingWarning) for one in seen):
            np.testing.assert_allclose(X @ coef.T + bias, margins, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(margins).max()))
        found = onnx_outputs(model, X)["margins"]
        np.testing.assert_allclose(found, margins, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(margins).max()))


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


# Frames.

NUMBERS = ["age", "income", "shifted"]
TEXTS = ["city", "code", "member"]


def people(rows=900, seed=0):
    """A frame with curves, pairs, missing cells, booleans, codes, and names that need care in C."""
    random = np.random.default_rng(seed)
    age = random.uniform(18, 90, rows)
    city = random.choice(["Rome", "Oslo", "Zürich", 'say "a\\b"?', "a*b", "x=y"], rows)
    frame = pd.DataFrame(
        {
            "age": np.where(random.random(rows) < 0.1, np.nan, age),
            "city": np.where(random.random(rows) < 0.1, None, city),
            "income": np.exp(random.normal(3, 1, rows)),
            "code": pd.Categorical(random.integers(100, 105, rows)),
            "member": random.random(rows) < 0.5,
            "shifted": 1e6 + random.normal(size=rows),
        }
    )
    bend = np.abs(age - 50) / 10 + 2.0 * (city == "Rome") * (age > 60) - (city == "Oslo") * frame["member"] + np.log(frame["income"])
    return frame, bend + 0.3 * random.normal(size=rows)


def frame_model(kind, curves="age,income", pairs="age:city,city:member"):
    frame, score = people()
    rows = frame.assign(target=score)
    if kind == "two classes":
        rows["target"] = np.where(score > score.median(), "yes", "no")
    elif kind == "several classes":
        rows["target"] = np.digitize(score, np.quantile(score, [0.3, 0.6])) * 10
    elif kind == "counts":
        rows["target"] = np.floor(score - score.min())
    estimators = {
        "two classes": parsimon.ParsimonClassifier(),
        "several classes": parsimon.ParsimonClassifier(),
        "named": parsimon.FTRLRegressor(l1=0.01),
        "numbers": parsimon.ParsimonRegressor(),
        "counts": parsimon.ParsimonRegressor(loss="poisson"),
    }
    curves, pairs = (value if value == "none" else value.split(",") for value in (curves, pairs))
    pairs = pairs if pairs == "none" else [tuple(pair.split(":")) for pair in pairs]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimators[kind].learn_arrow(rows, label="target", curves=curves, pairs=pairs, passes=3, categories=["code"])


def frame_edges():
    """Other rows, and cells that are missing, unknown or far away."""
    frame, _ = people(60, seed=7)
    frame["code"] = frame["code"].astype(object)
    frame["member"] = frame["member"].astype(object)
    frame.loc[0:4, "age"] = [-1e9, 1e9, 0.0, 18.0, 1e-30]
    frame.loc[5:7, "city"] = ["Atlantis", "", "rome"]
    frame.loc[8, ["age", "income", "shifted"]] = np.nan
    frame.loc[9, ["city", "code", "member"]] = None
    frame.loc[10:11, "shifted"] = [0.0, 1e12]
    return frame


def as_texts(frame):
    """The columns of categories as the texts that parsimon reads."""
    word = {True: "true", False: "false"}
    return pd.DataFrame({c: ["" if pd.isna(v) else word[v] if isinstance(v, (bool, np.bool_)) else str(v) for v in frame[c]] for c in TEXTS})


FRAME_KINDS = ["two classes", "several classes", "named", "numbers", "counts"]


def wanted_of(model, frame):
    with warnings.catch_warnings():
        # An unknown word of a column of booleans, and the like.
        warnings.simplefilter("ignore")
        return model._table_margins(parsimon._parsimon.Table.arrow(frame, parsimon._columns.roles()))


def onnx_of_frame(model, frame, dtype=np.float64):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    session = runtime.InferenceSession(parsimon.to_onnx(model, dtype=dtype).SerializeToString(), providers=["CPUExecutionProvider"])
    texts = as_texts(frame)
    cells = {c: frame[[c]].to_numpy(dtype) for c in NUMBERS} | {c: texts[[c]].to_numpy(object) for c in TEXTS}
    assert {given.name for given in session.get_inputs()} == set(cells)
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, cells)))


@pytest.mark.parametrize("kind", FRAME_KINDS)
@pytest.mark.parametrize("shape", ["lines", "curves and pairs"])
def test_onnx_of_frames(kind, shape):
    model = frame_model(kind) if shape != "lines" else frame_model(kind, "none", "none")
    frame = frame_edges()
    found, wanted = onnx_of_frame(model, frame), wanted_of(model, frame)
    np.testing.assert_allclose(found["margins"], wanted, rtol=1e-9, atol=1e-9)
    if hasattr(model, "classes_"):
        assert found["label"].tolist() == model._predicted(wanted).tolist()
        np.testing.assert_allclose(found["probabilities"], model._probabilities(wanted), atol=1e-9)
    else:
        np.testing.assert_allclose(found["prediction"], model._mean(wanted[:, 0]), rtol=1e-9, atol=1e-9)
    # Weights of curves and pairs are there, or the test would show nothing.
    named = [name for _, name in model._learner.all_names()]
    assert any("~" in name for name in named) == any("*city=" in name for name in named) == (shape != "lines")


def test_onnx_of_frames_in_short_numbers():
    model, frame = frame_model("two classes"), frame_edges()
    short = frame.assign(**{c: frame[c].astype(np.float32).astype(np.float64) for c in NUMBERS})
    np.testing.assert_allclose(onnx_of_frame(model, frame, np.float32)["margins"], wanted_of(model, short), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", FRAME_KINDS)
@pytest.mark.parametrize("shape", ["lines", "curves and pairs"])
def test_c_of_frames(kind, shape, tmp_path):
    model = frame_model(kind) if shape != "lines" else frame_model(kind, "none", "none")
    frame = frame_edges()
    text, wanted = parsimon.to_c(model), wanted_of(model, frame)
    places = [c for c in frame.columns if c in NUMBERS], [c for c in frame.columns if c in TEXTS]
    assert all(f"[{k}]: {c!r}" in text for names in places for k, c in enumerate(names))
    calls = [f"model_margin(x, texts, {k})" for k in range(wanted.shape[1])]
    calls.append("model_class(x, texts)" if hasattr(model, "classes_") else "model_predict(x, texts)")
    texts = as_texts(frame)
    rows = []
    for i in range(len(frame)):
        numbers = ", ".join("NAN" if np.isnan(v) else repr(float(v)) for v in frame.loc[i, places[0]].astype(float))
        words = ", ".join(parsimon._c._text(t) if t else "0" for t in texts.loc[i, places[1]])
        prints = "".join(f'printf("%.17g ", (double)({call}));' for call in calls)
        rows.append(f'{{ const double x[] = {{{numbers}}}; const char *const texts[] = {{{words}}}; {prints} printf("\\n"); }}')
    built(text, "int main(void) {\n" + "\n".join(rows) + "\nreturn 0; }\n", tmp_path)
    said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout
    found = np.array([[float(v) for v in line.split()] for line in said.splitlines()])
    np.testing.assert_allclose(found[:, :-1], wanted, rtol=1e-9, atol=1e-9)
    if hasattr(model, "classes_"):
        assert (model.classes_[found[:, -1].astype(int)] == model._predicted(wanted)).all()
    else:
        np.testing.assert_allclose(found[:, -1], model._mean(wanted[:, 0]), rtol=1e-9, atol=1e-9)


def test_frames_that_a_bare_fit_learns(tmp_path):
    frame, score = people()
    model = parsimon.ParsimonRegressor().fit(frame, score)
    edges = frame_edges()
    np.testing.assert_allclose(onnx_of_frame(model, edges)["prediction"], model._mean(wanted_of(model, edges)[:, 0]), rtol=1e-9, atol=1e-9)
    # The same from a model file, which keeps fewer names.
    model.save(tmp_path / "m.psm")
    loaded = parsimon.load(tmp_path / "m.psm")
    np.testing.assert_allclose(onnx_of_frame(loaded, edges)["margins"], wanted_of(loaded, edges), rtol=1e-9, atol=1e-9)
    assert parsimon.to_c(loaded) == parsimon.to_c(model)


def test_numbers_that_mean_missing(tmp_path):
    path = tmp_path / "d.csv"
    random = np.random.default_rng(0)
    a = np.where(random.random(400) < 0.2, -999.0, random.normal(size=400))
    pd.DataFrame({"a": a, "kind": random.choice(["u", "v"], 400), "y": np.where(a == -999.0, 5.0, a)}).to_csv(path, index=False)
    schema = {"label": "y", "missing": ["-999"], "columns": [{"name": "a", "kind": "number"}, {"name": "kind", "kind": "category"}, {"name": "y", "kind": "number"}]}
    (tmp_path / "schema.json").write_text(json.dumps(schema))
    model = parsimon.ParsimonRegressor().learn_file(path, schema=tmp_path / "schema.json", label="y")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    session = runtime.InferenceSession(parsimon.to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    rows = pd.read_csv(path)
    found = session.run(["prediction"], {"a": rows[["a"]].to_numpy(), "kind": rows[["kind"]].to_numpy(object)})[0]
    np.testing.assert_allclose(found, model.predict_file(path), rtol=1e-9, atol=1e-9)
    assert "== -999.0" in parsimon.to_c(model)


@pytest.mark.parametrize("export", [parsimon.to_c, parsimon.to_onnx])
def test_columns_that_cannot_be_exported(export):
    if export is parsimon.to_onnx:
        pytest.importorskip("onnx", reason="onnx is not installed")
    words = np.random.default_rng(0).choice(["good", "bad", "fine", "dear", "late"], (300, 4))
    frame = pd.DataFrame({"note": [" ".join(row) for row in words], "n": np.arange(300.0), "when": pd.date_range("2024-01-01", periods=300, freq="5h")})
    target = [row.tolist().count("good") for row in words]
    with pytest.raises(ValueError, match="column 'note', which is a text"):
        export(parsimon.FTRLRegressor().learn_arrow(frame.assign(y=target), label="y", texts=["note"], ignore=["when"]))
    with pytest.raises(ValueError, match="column 'when', which is a time"):
        export(parsimon.FTRLRegressor().learn_arrow(frame.assign(y=target), label="y", ignore=["note"]))
    export(parsimon.FTRLRegressor().learn_arrow(frame.assign(y=target), label="y", ignore=["note", "when"]))


def test_columns_called_like_outputs():
    pytest.importorskip("onnx", reason="onnx is not installed")
    frame = pd.DataFrame({"label": np.arange(50.0), "kind": ["u", "v"] * 25, "y": np.arange(50.0)})
    with pytest.raises(ValueError, match="outputs called .* so is the column 'label'"):
        parsimon.to_onnx(parsimon.FTRLRegressor().learn_arrow(frame, label="y"))


@pytest.mark.parametrize("kind", ["two classes", "numbers"])
def test_a_missing_cell_of_a_matrix(kind, tmp_path):
    model, X = bare(kind)
    X = X[:20].copy()
    X[::2, 1] = X[::3, 4] = np.nan
    wanted = model._margins(pd.DataFrame(X))[:, 0]
    assert np.isfinite(wanted).all()
    np.testing.assert_allclose(onnx_outputs(model, X)["margins"][:, 0], wanted, rtol=1e-9, atol=1e-9)
    found = compiled(parsimon.to_c(model), tmp_path, ["model_margin(x, 0)"])(X)
    np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-9, atol=1e-9)


# Pipelines.


def converted(model, cells, **options):
    pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    made = parsimon.to_onnx(model, **options)
    session = runtime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, cells)))


@pytest.mark.parametrize("kind", ["two classes", "several classes", "hinge", "numbers", "counts"])
def test_pipelines_in_onnx(kind):
    model, X = bare(kind)
    y = model.predict(X)
    y = np.round(y) if kind == "counts" else y
    pipeline = make_pipeline(StandardScaler(), clone(model)).fit(X, y)
    X = edges(X)[:-3]
    found = converted(pipeline, {"X": X})
    if kind in ("numbers", "counts"):
        np.testing.assert_allclose(found["variable"][:, 0], pipeline.predict(X), rtol=1e-6, atol=1e-6)
        return
    assert found["label"].astype(pipeline.classes_.dtype).tolist() == pipeline.predict(X).tolist()
    shown = pipeline.decision_function(X)[:, None] if kind == "hinge" else pipeline.predict_proba(X)
    np.testing.assert_allclose(found["probabilities"], shown, rtol=1e-6, atol=1e-6)


def test_pipelines_of_frames_in_onnx():
    data_types = pytest.importorskip("skl2onnx.common.data_types", reason="skl2onnx is not installed")
    frame = pd.DataFrame({"n": np.random.default_rng(0).normal(size=200), "city": ["Rome", "Oslo"] * 100})
    y = np.where((frame["n"] > 0) ^ (frame["city"] == "Rome"), "yes", "no")
    columns = ColumnTransformer([("n", StandardScaler(), ["n"]), ("city", OneHotEncoder(), ["city"])])
    pipeline = make_pipeline(columns, parsimon.ParsimonClassifier()).fit(frame, y)
    types = [("n", data_types.DoubleTensorType([None, 1])), ("city", data_types.StringTensorType([None, 1]))]
    found = converted(pipeline, {"n": frame[["n"]].to_numpy(), "city": frame[["city"]].to_numpy(object)}, initial_types=types)
    np.testing.assert_allclose(found["probabilities"], pipeline.predict_proba(frame), atol=1e-6)


def test_pipelines_that_are_refused():
    pytest.importorskip("onnx", reason="onnx is not installed")
    X = np.eye(4)
    with pytest.raises(TypeError, match="ends with LogisticRegression"):
        parsimon.to_onnx(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, [0, 1, 0, 1]))
