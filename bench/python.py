"""The Python package beside scikit-learn and River, interleaved: python bench/python.py [--rounds 5].

Needs parsimon installed; River is left out with a line if it is not. Prints a Markdown table: median and spread of the rounds.
"""

import argparse
import statistics
import time

import numpy as np
import parsimon
import scipy.sparse as sp
import sklearn
from sklearn.linear_model import SGDClassifier

CLASSES = np.array([0, 1])


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


def ours():
    return parsimon.FTRLClassifier(l1=1e-3)


def theirs():
    return SGDClassifier(loss="log_loss", penalty="l1", alpha=1e-6, random_state=0)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--rows", type=int, default=200_000)
    args = arguments.parse_args()
    X, y = data(args.rows, 40, 1 << 20)
    small, labels = data(2000, 40, 4000, seed=1)
    dense = small.toarray()
    dicts = [{f"f{j}": 1.0 for j in small.indices[i * 40 : (i + 1) * 40]} for i in range(2000)]
    bools = [bool(v) for v in labels]

    def chunk(make):
        model = make()
        return lambda: model.partial_fit(X, y, classes=CLASSES)

    def single(make, rows):
        model = make().partial_fit(dense[:1], labels[:1], classes=CLASSES)

        def work():
            for i in range(rows):
                model.partial_fit(dense[i : i + 1], labels[i : i + 1])

        return work

    def stream(model):
        def work():
            for x, v in zip(dicts, bools):
                model.learn_one(x, v)

        return work

    tasks = [
        ("partial_fit, CSR, 40 of 2^20 columns", "parsimon FTRL", args.rows, lambda: chunk(ours)),
        ("partial_fit, CSR, 40 of 2^20 columns", f"scikit-learn {sklearn.__version__} SGD, l1", args.rows, lambda: chunk(theirs)),
        ("partial_fit, one dense row of 4000", "parsimon FTRL", 2000, lambda: single(ours, 2000)),
        ("partial_fit, one dense row of 4000", f"scikit-learn {sklearn.__version__} SGD, l1", 200, lambda: single(theirs, 200)),
        ("learn_one, 40 names", "parsimon FTRL", 2000, lambda: stream(ours())),
    ]
    try:
        import river
        from river import linear_model, optim

        make = lambda: linear_model.LogisticRegression(optimizer=optim.FTRLProximal())
        tasks.append(("learn_one, 40 names", f"River {river.__version__} FTRL", 2000, lambda: stream(make())))
    except ImportError:
        print("River is not installed: left out\n")
    times = [[] for _ in tasks]
    for _ in range(args.rounds):
        for task, seen in zip(tasks, times):
            seen.append(seconds(task[3]()))
    print("| what | who | rows/s, median | smallest | largest |\n| --- | --- | --- | --- | --- |")
    for (what, who, rows, _), seen in zip(tasks, times):
        rate = [rows / t for t in seen]
        print(f"| {what} | {who} | {statistics.median(rate):,.0f} | {min(rate):,.0f} | {max(rate):,.0f} |")


if __name__ == "__main__":
    main()
