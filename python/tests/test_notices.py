"""What is noticed while a file, a frame, an array or a stream is learned: the warnings of the program, and the model of the program."""

import os
import subprocess
import warnings

import numpy as np
import pandas as pd
import parsimon
import pytest

pytest.importorskip("pyarrow")
PROGRAM = os.environ.get("PARSIMON_PROGRAM")
needs_program = pytest.mark.skipif(PROGRAM is None, reason="PARSIMON_PROGRAM does not name the program")


def told(learn):
    """The warnings of a call, as kinds and messages."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = learn()
    ours = [w for w in caught if issubclass(w.category, parsimon.ParsimonWarning)]
    assert all(w.filename == __file__ for w in ours), [w.filename for w in ours]
    return result, {w.message.kind: str(w.message) for w in ours}


def program(path, flags, at):
    """The bytes of the program's model."""
    ran = subprocess.run([PROGRAM, "train", path, *flags, "--quiet", "-o", "program.psm"], cwd=at, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return (at / "program.psm").read_bytes()


def saved(model, at):
    model.save(at / "python.psm")
    return (at / "python.psm").read_bytes()


def rows(n, is_sorted, seed=3):
    rng = np.random.default_rng(seed)
    a, b = rng.random(n).round(3), rng.random(n).round(3)
    bought = np.where(rng.random(n) < 1 / (1 + np.exp(5 - 10 * a)), "yes", "no")
    frame = pd.DataFrame({"a": a, "b": b, "outcome": bought})
    return frame.sort_values("outcome", kind="stable") if is_sorted else frame


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@needs_program
def test_an_order_that_misleads_is_left_as_the_program_leaves_it(tmp_path):
    rows(4000, True).to_csv("t.csv", index=False)
    model, found = told(lambda: parsimon.ParsimonClassifier(precision="f32").learn_file("t.csv", label="outcome"))
    assert "learned again in random order" in found["order"]
    assert saved(model, tmp_path) == program("t.csv", ["--label-column", "outcome", "--loss", "logistic"], tmp_path)
    kept, found = told(lambda: parsimon.ParsimonClassifier(precision="f32", shuffle=False).learn_file("t.csv", label="outcome"))
    assert "forgotten" in found["order"] and "again" not in found["order"]
    assert saved(kept, tmp_path) == program("t.csv", ["--label-column", "outcome", "--loss", "logistic", "--no-shuffle"], tmp_path)


@needs_program
def test_a_kind_that_widens_late_gives_the_model_of_the_program(tmp_path):
    lines = ["x,z,label", *(f"{i % 7}.5,{i % 5},{i % 2}" for i in range(14_500)), "oops,1,1", "2.5,1,0"]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    for make, flags in [
        (lambda: parsimon.FTRLClassifier(precision="f32"), ["-a", "ftrl", "--loss", "logistic"]),
        (lambda: parsimon.ParsimonClassifier(precision="f32"), ["--loss", "logistic"]),
    ]:
        # With classes there is no scan: learning itself meets the cell.
        for given in ({}, {"classes": [0, 1]}):
            model, found = told(lambda: make().learn_file("t.csv", **given))
            if given:
                assert 't.csv:14502, column "x": "oops" does not fit the first rows' in found["widened"]
            assert saved(model, tmp_path) == program("t.csv", flags, tmp_path)


@needs_program
def test_usual_classes_give_the_model_of_the_program(tmp_path):
    lines = [f"{1 if i % 3 else -1} {1 + i % 5}:1 {6 + i % 7}:0.5" for i in range(300)]
    (tmp_path / "t.svm").write_text("\n".join(lines) + "\n")
    model = parsimon.FTRLClassifier(precision="f32").learn_file("t.svm")
    assert model.classes_.tolist() == [-1, 1]
    assert saved(model, tmp_path) == program("t.svm", ["-a", "ftrl", "--loss", "logistic"], tmp_path)


def test_a_leak_is_reported_by_every_door(tmp_path):
    n = 3000
    y = np.arange(n) % 2
    frame = pd.DataFrame({"a": np.arange(n) % 17 + 0.5, "later": y * 3 + 1.5, "label": y})
    frame.to_csv("t.csv", index=False)
    X = frame[["a", "later"]].to_numpy()
    new = parsimon.FTRLClassifier
    doors = {
        "file": lambda: new().learn_file("t.csv", label="label"),
        "frame": lambda: new().learn_arrow(frame, label="label"),
        "fit": lambda: new().fit(X, y),
        "stream": lambda: new().partial_fit_stream(((X[i : i + 100], y[i : i + 100]) for i in range(0, n, 100)), classes=[0, 1]),
        "frames": lambda: new().partial_fit_stream((frame[i : i + 100] for i in range(0, n, 100)), label="label"),
    }
    for door, learn in doors.items():
        _, found = told(learn)
        assert "possible leak" in found["leak"], door
        named = "column 1" if door in ("fit", "stream") else "later"
        assert f'"{named}"' in found["leak"], (door, found)


def test_a_divergence_has_its_reason_and_leaves_nothing():
    lines = ["a,big,label", *(f"{i % 3}.5,{(i * 37 % 101 + 1) * 10000}.5,{i % 7}.25" for i in range(2000))]
    with open("t.csv", "w") as file:
        file.write("\n".join(lines) + "\n")
    model = parsimon.ParsimonRegressor("sgd", rate=1.0, schedule="constant")
    with pytest.raises(parsimon.DivergedError, match='"big" are .* times larger.*normalize=True') as caught:
        model.learn_file("t.csv", label="label")
    assert caught.value.row >= 1
    assert not hasattr(model, "_learner")


def test_a_model_worse_than_a_constant_is_reported():
    rng = np.random.default_rng(5)
    pd.DataFrame({"a": rng.random(4000), "b": rng.random(4000), "label": rng.integers(0, 2, 4000)}).to_csv("t.csv", index=False)
    _, found = told(lambda: parsimon.SGDClassifier(rate=50.0, schedule="constant").learn_file("t.csv", label="label"))
    assert "a constant prediction has" in found["worse-than-constant"] and "rate=5" in found["worse-than-constant"]
    assert "no better than a constant" in found["no-better-than-constant"]


def test_rows_in_a_good_order_are_learned_without_a_word():
    frame = rows(2000, False)
    frame.to_csv("t.csv", index=False)
    _, found = told(lambda: parsimon.ParsimonClassifier().learn_file("t.csv", label="outcome"))
    assert not found, found


def test_reading_has_the_options_of_the_program():
    with open("t.csv", "w") as file:
        file.write("user;site;label\n" + "".join(f"u{i % 5};s{i % 3};{(i % 5 + i % 3) % 2}\n" for i in range(200)) + "u1;s1\n")
    given = {"label": "label", "separator": ";", "interactions": ["user,site"]}
    with pytest.raises(parsimon.BadRowError):
        parsimon.FTRLClassifier().learn_file("t.csv", **given)
    one, found = told(lambda: parsimon.FTRLClassifier().learn_file("t.csv", skip_bad=1, **given))
    assert "skipped 1 bad row" in found["skipped"]
    many = parsimon.FTRLClassifier().learn_file("t.csv", skip_bad=1, threads=3, **given)
    assert many._learner.checkpoint() == one._learner.checkpoint()
    plain = parsimon.FTRLClassifier().learn_file("t.csv", skip_bad=1, label="label")
    def crossed(model):
        return [name for name in model.named_coef_.index if "user" in name and "site" in name]

    assert crossed(one) and not crossed(plain)
    with pytest.raises(ValueError, match="threads must be a whole number"):
        parsimon.FTRLClassifier().learn_file("t.csv", threads=0, **given)
