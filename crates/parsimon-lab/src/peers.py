"""Weights of scikit-learn's l1 learners over a grid of strengths. One argument: a JSON file that says what to do."""

import json
import sys
import warnings

import sklearn
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression, SGDClassifier

warnings.filterwarnings("ignore")
with open(sys.argv[1]) as file:
    task = json.load(file)
X, y = load_svmlight_file(task["train"], n_features=task["features"], zero_based=False)
# liblinear takes 32 bits only.
X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")
version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
l1 = {"l1_ratio": 1.0} if version >= (1, 8) else {"penalty": "l1"}

with open(task["out"], "w") as out:
    for strength in task["strengths"]:
        if task["learner"] == "sgd":
            # One pass in the order of the file; alpha is per row.
            learner = SGDClassifier(
                loss="log_loss", penalty="l1", alpha=strength, max_iter=1, tol=None, shuffle=False
            )
        else:
            learner = LogisticRegression(solver="liblinear", C=1.0 / strength, random_state=0, **l1)
        learner.fit(X, y)
        weights = learner.coef_[0]
        kept = [[int(j) + 1, float(weights[j])] for j in weights.nonzero()[0]]
        out.write(json.dumps({"bias": float(learner.intercept_[0]), "weights": kept}) + "\n")
