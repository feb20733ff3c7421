"""A pandas frame with numbers, texts and missing cells: train, judge on later rows, show the largest weights."""

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score

from parsimon import ParsimonClassifier

generator = np.random.default_rng(0)
n = 4000
frame = pd.DataFrame(
    {
        "plan": generator.choice(["basic", "family", "pro"], n),
        "months": generator.integers(1, 60, n).astype(float),
        "calls": generator.poisson(2, n).astype(float),
    }
)
margin = 0.6 * frame["calls"] - 0.05 * frame["months"] + 1.0 * (frame["plan"] == "basic")
frame["left"] = np.where(generator.random(n) < 1 / (1 + np.exp(-margin)), "yes", "no")
frame.loc[generator.random(n) < 0.05, "months"] = np.nan

earlier, later = frame[:3000], frame[3000:]
model = ParsimonClassifier().learn_arrow(earlier, label="left")
accuracy = accuracy_score(later["left"], model.predict_arrow(later))
majority = later["left"].value_counts(normalize=True).max()

print(f"accuracy {accuracy:.3f}, the larger class alone {majority:.3f}")
for name, weight in model.top_weights(3):
    print(f"{name:15} {weight:+.3f}")
assert accuracy > majority
