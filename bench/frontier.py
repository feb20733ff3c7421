#!/usr/bin/env python3
"""Test loss against the number of nonzero weights, for `parsimon train` and other learners with an l1 penalty.

    python3 bench/frontier.py [--sets NAME,...] [--shares 0.1,0.01,0.001] [--data DIR] [--parsimon PROGRAM] [--out FILE]

Sets are text with two classes. For each share of the features, every learner gets the weakest l1 with which at most that many weights are
nonzero, found by bisection on the training part alone; rate, passes and everything else are the learner's own choice. The log loss is that
of the test part, with probabilities clipped at 1e-6. A point is the best one, or near it (within 1%).

Learners: parsimon as it is with `--l1`, in one pass and with several; Vowpal Wabbit with `--l1`, one pass and ten; LIBLINEAR's logistic
regression with l1 (scikit-learn); and its nonzero features fitted again with an l2 penalty that is chosen on a fifth of the training part.
Needs `pip install numpy scipy scikit-learn vowpalwabbit`; what is not installed is left out, with a line that names it.
"""
import argparse
import json
import math
import os
import subprocess
import tempfile

import default_sets
from measure import PARSIMON, ROOT, commit, processor, table, today

STEPS = 14


def newsgroup_against_rest(folder):
    """The rows of 20news, with one of its classes against all others."""
    return tuple([("1" if label == "sci.space" else "-1", features) for label, features in part] for part in default_sets.newsgroups(folder))


def pairs(domain):
    """All words and pairs of words of a domain's reviews, of those 2,000 that are labelled: the features of the file."""
    return default_sets.svmlight(f"sentiment/{domain}_2000_unibigram.svm.gz")


SETS = {
    "books_pairs": default_sets.Set("books_pairs", "two", "shuffled", default_sets.IDS, pairs("books")),
    "kitchen": next(one for one in default_sets.REAL if one.name == "reviews_kitchen"),
    "rcv1_dev": next(one for one in default_sets.REAL if one.name == "rcv1_ccat"),
    "20news_space": default_sets.Set("20news_space", "two", "published", default_sets.WORDS, newsgroup_against_rest),
    "sms_spam": next(one for one in default_sets.REAL if one.name == "sms_spam"),
}


class Data:
    """A set as files with numbered features, and as matrices."""

    def __init__(self, one, folder, scratch):
        _, train, test = default_sets.split(one, folder)
        self.ids = {}
        classes = default_sets.class_order(label for label, _ in train)
        codes = dict(zip(classes, (-1, 1)))
        for _, features in train:
            for name, _ in features:
                self.ids.setdefault(name, len(self.ids) + 1)
        self.paths, self.rows, self.labels = {}, {}, {}
        for part, rows in (("train", train), ("test", test)):
            kept = []
            for _, features in rows:
                values = {}
                for name, value in features:
                    if name in self.ids:
                        values[self.ids[name]] = values.get(self.ids[name], 0.0) + float(1 if value is None else value)
                kept.append(sorted(values.items()))
            self.rows[part], self.labels[part] = kept, [codes[label] for label, _ in rows]
            self.paths[part] = os.path.join(scratch, f"{one.name}.{part}.svm")
            with open(self.paths[part], "w") as f:
                for y, row in zip(self.labels[part], kept, strict=True):
                    f.write(f"{y} " + " ".join(f"{i}:{v:g}" for i, v in row) + "\n")

    def matrix(self, part):
        import numpy
        import scipy.sparse
        rows = self.rows[part]
        starts = numpy.cumsum([0] + [len(row) for row in rows])
        cells = [cell for row in rows for cell in row]
        shape = (len(rows), len(self.ids))
        return scipy.sparse.csr_matrix(([v for _, v in cells], [i - 1 for i, _ in cells], starts), shape=shape), numpy.array(self.labels[part])


def log_loss(labels, margins):
    losses = []
    for y, p in zip(labels, margins, strict=True):
        p = 1 / (1 + math.exp(-min(max(p, -40), 40)))
        losses.append(-math.log(min(max(p if y > 0 else 1 - p, 1e-6), 1 - 1e-6)))
    return math.fsum(losses) / len(losses)


class Parsimon:
    def __init__(self, data, program, scratch, flags):
        self.data, self.program, self.scratch, self.flags = data, program, scratch, flags

    def fit(self, l1):
        model = os.path.join(self.scratch, "m.psm")
        train = [self.program, "train", self.data.paths["train"], "--l1", repr(l1), "-o", model, "--json", "-", "--quiet", *self.flags]
        report = json.loads(subprocess.run(train, check=True, capture_output=True, text=True).stdout)
        self.model = model
        return report["nonzeros"]

    def loss(self):
        test = [self.program, "predict", self.model, self.data.paths["test"], "--as", "margin", "--quiet"]
        lines = subprocess.run(test, check=True, capture_output=True, text=True).stdout.split()
        return log_loss(self.data.labels["test"], map(float, lines))


class Wabbit:
    def __init__(self, data, passes):
        import vowpalwabbit
        self.vw, self.data, self.passes = vowpalwabbit, data, passes

    def fit(self, l1):
        line = lambda y, row: f"{y} | " + " ".join(f"{i}:{v:g}" for i, v in row)
        self.model = self.vw.Workspace(f"--quiet --loss_function logistic -b 20 --l1 {l1 * 1e-6!r}")
        for _ in range(self.passes):
            for y, row in zip(self.data.labels["train"], self.data.rows["train"], strict=True):
                self.model.learn(line(y, row))
        # Stored weights are not truncated yet; those that predict are.
        bias = self.model.predict("|")
        return sum(self.model.predict(f"| {i}:1") != bias for i in range(1, len(self.data.ids) + 1))

    def loss(self):
        rows = self.data.rows["test"]
        return log_loss(self.data.labels["test"], [self.model.predict("| " + " ".join(f"{i}:{v:g}" for i, v in row)) for row in rows])


class Liblinear:
    def __init__(self, data, refits):
        from sklearn.linear_model import LogisticRegression
        self.regression, self.refits = LogisticRegression, refits
        self.train, self.test = data.matrix("train"), data.matrix("test")
        self.labels = data.labels["test"]

    def fit(self, l1):
        X, y = self.train
        self.model = self.regression(l1_ratio=1, C=1 / l1, solver="liblinear", max_iter=300, tol=1e-3).fit(X, y)
        self.kept = self.model.coef_[0] != 0
        return int(self.kept.sum())

    def loss(self):
        X, y = self.test
        if not self.refits or not self.kept.any():
            return log_loss(self.labels, self.model.decision_function(X))
        rows, labels = self.train[0][:, self.kept], self.train[1]
        cut = len(labels) * 4 // 5
        again = lambda c, X, y: self.regression(C=c, solver="liblinear", max_iter=300).fit(X, y)
        judged = lambda c: log_loss(labels[cut:], again(c, rows[:cut], labels[:cut]).decision_function(rows[cut:]))
        best = min((10.0 ** k for k in range(-3, 6)), key=judged)
        return log_loss(self.labels, again(best, rows, labels).decision_function(X[:, self.kept]))


def at_share(learner, most):
    """Loss and nonzeros with the weakest l1 that keeps at most `most` weights; None where no l1 does."""
    low, high, found = math.log(1e-4), math.log(1e4), None
    for _ in range(STEPS):
        middle = (low + high) / 2
        nonzeros = learner.fit(math.exp(middle))
        if nonzeros <= most:
            high = middle
            if nonzeros > 0:
                found = (learner.loss(), nonzeros)
        else:
            low = middle
    return found


def learners(data, args, scratch):
    made = {
        "parsimon": lambda: Parsimon(data, args.parsimon, scratch, ["--passes", "1"]),
        "parsimon, passes": lambda: Parsimon(data, args.parsimon, scratch, args.extra.split()),
        "VW": lambda: Wabbit(data, 1),
        "VW, 10 passes": lambda: Wabbit(data, 10),
        "LIBLINEAR l1": lambda: Liblinear(data, False),
        "LIBLINEAR refitted": lambda: Liblinear(data, True),
    }
    for name, make in made.items():
        try:
            yield name, make()
        except ImportError as missing:
            print(f"{name} is left out: {missing}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--shares", default="0.1,0.01,0.001")
    parser.add_argument("--data", default=os.path.join(ROOT, "..", "shared", "data"))
    parser.add_argument("--parsimon", default=PARSIMON)
    parser.add_argument("--extra", default="", help="flags of parsimon where it may make several passes")
    parser.add_argument("--out")
    args = parser.parse_args()
    shares = [float(share) for share in args.shares.split(",")]
    rows, best = [], {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in args.sets.split(","):
            data = Data(SETS[name], args.data, scratch)
            found = {who: [at_share(one, share * len(data.ids)) for share in shares] for who, one in learners(data, args, scratch)}
            for at, share in enumerate(shares):
                least = min(points[at][0] for points in found.values() if points[at])
                cells = []
                for who, points in found.items():
                    point = points[at]
                    near = point is not None and point[0] <= 1.01 * least
                    best[who] = best.get(who, 0) + near
                    cells.append("-" if point is None else f"{point[0]:.4f} ({point[1]}){' *' if near else ''}")
                rows.append([name, f"{share:g}", str(len(data.ids)), *cells])
                print(rows[-1], flush=True)
            header = ["set", "share", "features", *found]
    text = f"{today()}, {processor()}, commit {commit()}. Log loss of the test part (nonzero weights); * best or within 1%.\n\n"
    text += table(header, rows) + "\n\nBest or within 1%, of " + str(len(rows)) + " points: "
    text += ", ".join(f"{who} {count}" for who, count in best.items()) + ".\n"
    print(text)
    if args.out:
        with open(args.out, "w") as f:
            f.write(text)


if __name__ == "__main__":
    main()
