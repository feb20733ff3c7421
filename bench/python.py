"""The Python package beside scikit-learn, pandas, pyarrow, polars and River: python bench/python.py [--rounds 7] [--only WORD] [--record FILE].

Needs parsimon installed from a release build (`pip install .`). Every line is one task done by parsimon and by a peer in turn, round after round.
Prints a Markdown table: the median CPU and wall times in milliseconds, and the median over the rounds of the peer's time by ours (above 1: parsimon
is faster), beside the ratio that is wanted. Peers that are not installed are left out with a line.
"""

import argparse
import datetime
import importlib.util
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import Any, Callable

# Idle threads of BLAS wait by spinning, which counts as CPU time of whatever runs next.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import parsimon
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import LogisticRegression, SGDClassifier, SGDRegressor

CLASSES = np.array([0, 1])
Work = Callable[[], Any]


@dataclass
class Task:
    """A set-up returns the work to be timed. ``wanted`` is the least ratio of the peer's time by ours."""

    what: str
    peer: str
    wanted: float
    ours: Callable[[], Work]
    theirs: Callable[[], Work]


def data(rows, width, columns, seed=0):
    rng = np.random.default_rng(seed)
    indices = np.sort(rng.integers(0, columns // width, (rows, width)) + np.arange(width) * (columns // width), axis=1)
    w = rng.normal(size=columns)
    y = (w[indices].sum(axis=1) + rng.normal(size=rows) > 0).astype(np.int64)
    indptr = np.arange(0, rows * width + 1, width)
    return sp.csr_matrix((np.ones(rows * width), indices.ravel().astype(np.int32), indptr.astype(np.int32)), (rows, columns)), y


def ours(algorithm="ftrl", **settings):
    return parsimon.ParsimonClassifier(algorithm, **{"l1": 1e-3, **settings})


def bare(**settings):
    """The estimator that people call first: nothing chosen."""
    return parsimon.ParsimonClassifier(**settings)


def theirs(penalty="l2"):
    return SGDClassifier(loss="log_loss", penalty=penalty, alpha=1e-6, random_state=0)


def learned(model, X, y):
    return model.partial_fit(X, y, classes=CLASSES)


def array_tasks(rows):
    """Prediction and learning of CSR matrices and dense arrays in both precisions."""
    csr, labels = data(rows, 40, 1 << 20)
    dense = np.random.default_rng(2).normal(size=(rows, 40))
    marks = (dense[:, 0] > 0).astype(np.int64)
    for precision, dtype in (("f64", np.float64), ("f32", np.float32)):
        for shape, X, y in (("CSR", csr.astype(dtype), labels), ("dense", dense.astype(dtype), marks)):
            mine, other = learned(ours(precision=precision), X, y), learned(theirs(), X, y)
            for name in ("predict", "decision_function", "predict_proba"):
                yield Task(
                    f"{name}, {shape}, {precision}",
                    "scikit-learn SGD",
                    1.0,
                    lambda name=name, mine=mine, X=X: lambda: getattr(mine, name)(X),
                    lambda name=name, other=other, X=X: lambda: getattr(other, name)(X),
                )
            for penalty, wanted in (("l2", 1.2 if shape == "CSR" else 1.0), ("l1", 2.5 if shape == "CSR" else 1.0)):
                yield Task(
                    f"partial_fit, {shape}, {precision}",
                    f"scikit-learn SGD, {penalty}",
                    wanted,
                    lambda precision=precision, X=X, y=y: lambda: learned(ours(precision=precision), X, y),
                    lambda penalty=penalty, X=X, y=y: lambda: learned(theirs(penalty), X, y),
                )
    yield from bare_array_tasks(csr, labels, dense, marks)
    single, mark = dense[:1000], marks[:1000]

    def one_by_one(make, count):
        def set_up():
            model = learned(make(), single[:1], mark[:1])

            def work():
                for i in range(count):
                    model.partial_fit(single[i : i + 1], mark[i : i + 1])

            return work

        return set_up

    yield Task("partial_fit, 300 times one row", "scikit-learn SGD, l2", 30.0, one_by_one(ours, 300), one_by_one(theirs, 300))


def bare_array_tasks(csr, labels, dense, marks):
    """The bare estimator over the same arrays: two classes, a row at a time, several classes, numbers."""
    few = sp.csr_matrix(dense[:, :30])
    for shape, X, y, wanted in (("CSR", csr, labels, 0.8), ("CSR of 30 columns", few, marks, 0.8), ("dense", dense, marks, 0.6)):
        mine, other = learned(bare(), X, y), learned(theirs(), X, y)
        for name in ("predict", "predict_proba"):
            yield Task(
                f"bare {name}, {shape}, f64",
                "scikit-learn SGD",
                1.0,
                lambda name=name, mine=mine, X=X: lambda: getattr(mine, name)(X),
                lambda name=name, other=other, X=X: lambda: getattr(other, name)(X),
            )
        yield Task(
            f"bare partial_fit, {shape}, f64",
            "scikit-learn SGD, l2",
            wanted,
            lambda X=X, y=y: lambda: learned(bare(), X, y),
            lambda X=X, y=y: lambda: learned(theirs(), X, y),
        )
    rows = [csr[i] for i in range(300)]

    def row_by_row(model):
        def work():
            for row in rows:
                model.predict(row)

        return lambda: work

    other = learned(theirs(), csr, labels)
    for name, model in (("", learned(ours(), csr, labels)), ("bare ", learned(bare(), csr, labels))):
        yield Task(f"{name}predict, 300 times one row, CSR", "scikit-learn SGD", 5.0, row_by_row(model), row_by_row(other))
    X = dense[:, :30]
    yield Task(
        "bare fit, dense, 30 columns", "LogisticRegression", 0.5, lambda: lambda: bare().fit(X, marks), lambda: lambda: LogisticRegression().fit(X, marks)
    )
    kinds = np.digitize(dense[:, 0] + dense[:, 1], [-1.0, 0.0, 1.0])
    four = np.arange(4)
    yield Task(
        "bare partial_fit, dense, four classes",
        "scikit-learn SGD, l2",
        0.6,
        lambda: lambda: bare().partial_fit(dense, kinds, classes=four),
        lambda: lambda: theirs().partial_fit(dense, kinds, classes=four),
    )
    numbers = dense[:, 0] - 2 * dense[:, 1]
    yield Task(
        "bare partial_fit, dense, numbers",
        "scikit-learn SGDRegressor",
        0.6,
        lambda: lambda: parsimon.ParsimonRegressor().partial_fit(dense, numbers),
        lambda: lambda: SGDRegressor(random_state=0).partial_fit(dense, numbers),
    )


def river_tasks():
    """``predict_proba_one`` and ``learn_one`` of rows with 40 keys."""
    if importlib.util.find_spec("river") is None:
        print("River is not installed: left out\n")
        return
    from parsimon.river import Classifier
    from river import linear_model

    rng = np.random.default_rng(0)
    fixed = [{f"f{j}": float(v) for j, v in enumerate(row)} for row in rng.normal(size=(2000, 40))]
    one_hot = [{f"c{j}_{rng.integers(0, 100)}": 1.0 for j in range(40)} for _ in range(2000)]
    marks = [bool(rng.integers(0, 2)) for _ in range(2000)]

    def loop(make, rows):
        def set_up():
            model = make()

            def work():
                for x, y in zip(rows, marks):
                    model.predict_proba_one(x)
                    model.learn_one(x, y)

            return work

        return set_up

    for what, rows, wanted in (("fixed keys", fixed, 2.0), ("one-hot keys", one_hot, 3.0)):
        theirs_one = loop(linear_model.LogisticRegression, rows)
        what = f"predict_proba_one, learn_one, 2,000 rows, {what}"
        yield Task(what, "River LogisticRegression", wanted, loop(lambda: Classifier("ftrl"), rows), theirs_one)
        yield Task(f"bare {what}", "River LogisticRegression", 2.0, loop(Classifier, rows), theirs_one)
    if importlib.util.find_spec("pandas") is None:
        return
    import pandas as pd

    frame = pd.DataFrame(fixed)
    labels = pd.Series(marks)

    def batches(make):
        def set_up():
            model = make()

            def work():
                for start in range(0, len(frame), 100):
                    model.learn_many(frame.iloc[start : start + 100], labels.iloc[start : start + 100])

            return work

        return set_up

    for name, make in (("", lambda: Classifier("ftrl")), ("bare ", Classifier)):
        yield Task(f"{name}learn_many, 20 frames of 100 rows", "River LogisticRegression", 1.0, batches(make), batches(linear_model.LogisticRegression))


def table_tasks(rows, folder):
    """Files and frames of 20 numbers per row."""
    missing = [name for name in ("pandas", "pyarrow", "polars") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"{', '.join(missing)} not installed: tables are left out\n")
        return
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(3)
    values = np.round(rng.normal(size=(rows, 20)), 4)
    frame = pd.DataFrame(values, columns=[f"n{j}" for j in range(20)])
    frame["y"] = (values[:, 0] + rng.normal(size=rows) > 0).astype(np.int64)
    csv, parquet = os.path.join(folder, "t.csv"), os.path.join(folder, "t.parquet")
    frame.to_csv(csv, index=False)
    frame.to_parquet(parquet, index=False)
    table, polars = pa.Table.from_pandas(frame, preserve_index=False), pl.from_pandas(frame)

    def sgd(read):
        def work():
            read_frame = read()
            y = read_frame.pop("y").to_numpy()
            return learned(theirs(), read_frame.to_numpy(), y)

        return lambda: work

    def sgd_of_polars(read):
        def work():
            read_frame = read()
            return learned(theirs(), read_frame.drop("y").to_numpy(), read_frame["y"].to_numpy())

        return lambda: work

    def from_polars():
        return learned(theirs(), polars.drop("y").to_numpy(), polars["y"].to_numpy())

    named = {"classes": CLASSES, "label": "y"}
    lines = {"curves": "none", "pairs": "none", "passes": 1, **named}
    kinds_of_estimators = (
        ("", ours, named, 2.0, 1.2),
        ("bare, lines, one pass: ", bare, lines, 1.0, 0.8),
        ("bare, one pass: ", bare, {"passes": 1, **named}, 0.33, 0.27),
        ("bare: ", bare, named, 0.33, 0.27),
    )
    for name, make, options, csv_wanted, parquet_wanted in kinds_of_estimators:
        for what, path, read, wanted in (("CSV", csv, pl.read_csv, csv_wanted), ("Parquet", parquet, pl.read_parquet, parquet_wanted)):
            yield Task(
                f"{name}learn_file, {what}",
                "polars + SGD, l2",
                wanted,
                lambda make=make, path=path, options=options: lambda: make().learn_file(path, **options),
                sgd_of_polars(lambda read=read, path=path: read(path)),
            )
    other = learned(theirs(), values, frame["y"].to_numpy())
    inputs = table.drop_columns(["y"])
    for name, make, options in (("", ours, named), ("bare ", bare, lines), ("bare, curves: ", bare, {"passes": 1, **named})):
        model = make().learn_arrow(table, **options)
        yield Task(
            f"{name}predict_arrow, numbers",
            "to_pandas + SGD",
            1.0,
            lambda model=model: lambda: model.predict_arrow(inputs),
            lambda: lambda: other.predict(inputs.to_pandas().to_numpy()),
        )
    yield Task("learn_file, CSV", "pandas + SGD, l2", 2.0, lambda: lambda: ours().learn_file(csv, **named), sgd(lambda: pd.read_csv(csv)))
    yield Task(
        "learn_file, Parquet", "pyarrow + SGD, l2", 1.5, lambda: lambda: ours().learn_file(parquet, **named), sgd(lambda: pq.read_table(parquet).to_pandas())
    )
    yield Task("learn_arrow, pyarrow table", "to_pandas + SGD, l2", 1.0, lambda: lambda: ours().learn_arrow(table, **named), sgd(table.to_pandas))
    yield Task("learn_arrow, polars frame", "to_numpy + SGD, l2", 1.0, lambda: lambda: ours().learn_arrow(polars, **named), lambda: from_polars)


def measured(work):
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def table(tasks, rounds):
    seen = [([], []) for _ in tasks]
    for _ in range(rounds):
        for task, (mine, other) in zip(tasks, seen):
            mine.append(measured(task.ours()))
            other.append(measured(task.theirs()))
    lines = [
        "| task | peer | ours, CPU ms | peer, CPU ms | CPU: peer by ours | smallest | largest | wall: peer by ours | wanted | |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for task, (mine, other) in zip(tasks, seen):
        cpu = [theirs[0] / ours[0] for ours, theirs in zip(mine, other)]
        wall = statistics.median(theirs[1] / ours[1] for ours, theirs in zip(mine, other))
        times = [1e3 * statistics.median(one[0] for one in side) for side in (mine, other)]
        ratio = statistics.median(cpu)
        verdict = "" if ratio >= task.wanted else "below"
        lines.append(
            f"| {task.what} | {task.peer} | {times[0]:.1f} | {times[1]:.1f} | {ratio:.2f} | {min(cpu):.2f} | {max(cpu):.2f} "
            f"| {wall:.2f} | {task.wanted} | {verdict} |"
        )
    return "\n".join(lines)


def first_call():
    """The first ``partial_fit`` of 2^24 columns, in seconds of CPU."""
    X, y = data(1000, 40, 1 << 24)
    return statistics.median(measured(lambda: learned(ours(), X, y))[0] for _ in range(7))


def import_time(rounds):
    """Seconds of CPU that ``import parsimon`` takes after scikit-learn's linear models."""
    line = "import time, sklearn.linear_model, scipy.sparse; t = time.process_time(); import parsimon; print(time.process_time() - t)"
    runs = [subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True) for _ in range(rounds)]
    return statistics.median(float(run.stdout) for run in runs)


def machine():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), platform.processor())
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, load before the run {load}"


def versions():
    found = [f"scikit-learn {sklearn.__version__}", f"NumPy {np.__version__}"]
    for name in ("river", "pandas", "pyarrow", "polars"):
        if importlib.util.find_spec(name) is not None:
            found.append(f"{name} {importlib.import_module(name).__version__}")
    return ", ".join(found)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=7)
    arguments.add_argument("--rows", type=int, default=100_000)
    arguments.add_argument("--only", default="", help="tasks whose name has this word")
    arguments.add_argument("--record")
    args = arguments.parse_args()
    where = machine()
    with tempfile.TemporaryDirectory() as folder:
        every = [*array_tasks(args.rows), *river_tasks(), *table_tasks(args.rows, folder)]
        found = table([task for task in every if args.only in task.what], args.rounds)
        del every
    single = [
        f"First `partial_fit` of 2^24 columns: {first_call():.3f} s of CPU (wanted: below 0.2).",
        f"`import parsimon` after scikit-learn's linear models: {1e3 * import_time(args.rounds):.0f} ms of CPU (wanted: below 150).",
    ]
    text = "\n".join([found, "", *single])
    print(text)
    if args.record:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
        with open(args.record, "w") as file:
            file.write(
                f"# The Python package beside its peers\n\nDate: {datetime.date.today()}. Machine: {where}. Commit: {commit}, release build. {versions()}.\n\n"
                f"Command: `python bench/python.py --rounds {args.rounds} --rows {args.rows}`. Rounds are interleaved; ratios are medians over the rounds.\n\n{text}\n"
            )


if __name__ == "__main__":
    main()
