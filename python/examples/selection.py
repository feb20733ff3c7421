"""Which of 2,000 features matter? One pass of FTRL-Proximal beside scikit-learn's selection by a batch model."""

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from parsimon import FTRLClassifier

generator = np.random.default_rng(0)
X = sparse.random_array((5000, 2000), density=0.02, rng=generator, data_sampler=lambda size: np.ones(size), format="csr")
truth = np.zeros(2000)
truth[generator.choice(2000, 20, replace=False)] = 3.0
y = generator.random(5000) < 1 / (1 + np.exp(1.5 - X @ truth))

ours = FTRLClassifier(l1=15.0, rate=0.5, passes=1).fit(X, y)
batch = LogisticRegression(l1_ratio=1, C=0.1, solver="liblinear").fit(X, y)
for name, model in [("parsimon, one pass", ours), ("liblinear", batch)]:
    kept = np.flatnonzero(model.coef_[0])
    found = np.isin(np.flatnonzero(truth), kept).sum()
    print(f"{name:18} keeps {len(kept)} of 2000 weights, {found} of the 20 that matter")
assert np.isin(np.flatnonzero(truth), np.flatnonzero(ours.coef_[0])).sum() >= 18
