"""The Python package beside scikit-learn and River, interleaved: python bench/python.py [--rounds 5] [--record record/DATE-python.md].

Needs parsimon installed from a release build (`pip install .`); River is left out with a line if it is not installed. Prints a Markdown
table: the median of the rounds, the smallest and the largest, and the median, over the rounds, of the rate of the first of its kind by this one's.
"""

import argparse
import datetime
import os
import platform
import statistics
import subprocess
import time

import numpy as np
import parsimon
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import SGDClassifier

CLASSES = np.array([0, 1])
SK = f"scikit-learn {sklearn.__version__} SGD"


def data(rows, width, columns, seed=0):
    rng = np.random.default_rng(seed)
    indices = np.sort(rng.integers(0, columns // width, (rows, width)) + np.arange(width) * (columns // width), axis=1)
    w = rng.normal(size=columns)
    y = (w[indices].sum(axis=1) + rng.normal(size=rows) > 0).astype(np.int64)
    indptr = np.arange(0, rows * width + 1, width)
    return sp.csr_matrix((np.ones(rows * width), indices.ravel().astype(np.int32), indptr.astype(np.int32)), (rows, columns)), y


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ours(algorithm="ftrl", **settings):
    return parsimon.ParsimonClassifier(algorithm, **{"l1": 1e-3, **settings})


def theirs(penalty="l1"):
    return SGDClassifier(loss="log_loss", penalty=penalty, alpha=1e-6, random_state=0)


def tasks(rows):
    """(what, who, rows, set-up): a set-up returns the work to be timed. The first of a kind is ours."""
    X, y = data(rows, 40, 1 << 20)
    small, labels = data(2000, 40, 4000, seed=1)
    dense = np.random.default_rng(2).normal(size=(2000, 40))
    marks = (dense[:, 0] > 0).astype(np.int64)
    dicts = [{f"f{j}": 1.0 for j in small.indices[i * 40 : (i + 1) * 40]} for i in range(2000)]
    bools = [bool(v) for v in labels]

    def chunk(make):
        def set_up():
            model = make()
            return lambda: model.partial_fit(X, y, classes=CLASSES)

        return set_up

    def single(make, count):
        def set_up():
            model = make().partial_fit(dense[:1], marks[:1], classes=CLASSES)

            def work():
                for i in range(count):
                    model.partial_fit(dense[i : i + 1], marks[i : i + 1])

            return work

        return set_up

    def stream(make):
        def set_up():
            model = make()
            # The names are known, as they are after the first minute of a stream.
            for x, v in zip(dicts, bools):
                model.learn_one(x, v)

            def work():
                for x, v in zip(dicts, bools):
                    model.learn_one(x, v)

            return work

        return set_up

    what = "partial_fit, CSR, 40 of 2^20 columns, one call"
    yield what, "parsimon ftrl, l1", rows, chunk(ours)
    yield what, "parsimon ftrl, l1, f32", rows, chunk(lambda: ours(precision="f32"))
    yield what, "parsimon fobos, l1", rows, chunk(lambda: ours("fobos", l1=1e-6))
    yield what, f"{SK}, l1", rows, chunk(theirs)
    yield what, f"{SK}, l2", rows, chunk(lambda: theirs("l2"))
    what = "partial_fit, one row of 40 numbers"
    yield what, "parsimon ftrl, l1", 2000, single(ours, 2000)
    yield what, f"{SK}, l1", 300, single(theirs, 300)
    what = "learn_one, 40 names"
    yield what, "parsimon ftrl, l1", 2000, stream(ours)
    try:
        import river
        from river import linear_model, optim
    except ImportError:
        print("River is not installed: left out\n")
        return

    def rivers():
        return linear_model.LogisticRegression(optimizer=optim.FTRLProximal())

    yield what, f"River {river.__version__} FTRL", 2000, stream(rivers)


def table(rounds, rows):
    todo = list(tasks(rows))
    rates = [[] for _ in todo]
    for _ in range(rounds):
        for (_, _, count, set_up), seen in zip(todo, rates):
            seen.append(count / seconds(set_up()))
    lines = ["| what | who | rows/s, median | smallest | largest | first of its kind, by this |", "| --- | --- | --- | --- | --- | --- |"]
    first = {}
    for (what, who, _, _), seen in zip(todo, rates):
        base = first.setdefault(what, seen)
        ratio = "" if base is seen else f"{statistics.median(a / b for a, b in zip(base, seen)):.2f}"
        lines.append(f"| {what} | {who} | {statistics.median(seen):,.0f} | {min(seen):,.0f} | {max(seen):,.0f} | {ratio} |")
    return "\n".join(lines)


def machine():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), platform.processor())
    load = ", ".join(f"{x:.1f}" for x in os.getloadavg())
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, load before the run {load}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--rows", type=int, default=200_000)
    arguments.add_argument("--record")
    args = arguments.parse_args()
    where, found = machine(), table(args.rounds, args.rows)
    print(found)
    if args.record:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
        with open(args.record, "w") as file:
            file.write(
                f"# The Python package beside scikit-learn and River\n\nDate: {datetime.date.today()}. Machine: {where}. Commit: {commit}, release build.\n\n"
                f"Command: `python bench/python.py --rounds {args.rounds} --rows {args.rows}`. Rounds are interleaved.\n\n{found}\n"
            )


if __name__ == "__main__":
    main()
