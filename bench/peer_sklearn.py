"""scikit-learn's SGDClassifier, one pass from a CSR matrix in memory.

    peer_sklearn.py PENALTY FEATURES TRAIN TEST ROUNDS

Prints JSON: seconds per round of partial_fit, features of a round, nonzero weights, and scores of the test rows.
"""
import json
import sys
import time

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier

penalty, features, train, test, rounds = sys.argv[1:]


def load(path):
    x, y = load_svmlight_file(path, n_features=int(features), dtype=np.float32, zero_based=False)
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    return x, y


x, y = load(train)
seconds = []
for _ in range(int(rounds)):
    model = SGDClassifier(loss="log_loss", penalty=penalty, alpha=1e-6, learning_rate="invscaling", eta0=0.1, power_t=0.25, shuffle=False)
    start = time.perf_counter()
    model.partial_fit(x, y, classes=[-1, 1])
    seconds.append(time.perf_counter() - start)
held_out, labels = load(test)
margins = model.decision_function(held_out)
print(json.dumps({
    "seconds": seconds,
    "features": int(x.nnz),
    "nonzeros": int((model.coef_ != 0).sum()),
    "labels": [int(l > 0) for l in labels],
    "margins": [float(m) for m in margins],
}))
