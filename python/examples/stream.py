"""A stream of dictionaries that changes halfway: a half-life lets the model follow."""

import random

from parsimon import FTRLClassifier

draw = random.Random(0)


def stream(rows):
    """Visitors like Rome at first, and Oslo later."""
    for i in range(rows):
        city = draw.choice(["Rome", "Oslo", "Lima"])
        liked = "Rome" if i < rows // 2 else "Oslo"
        yield {"city": city, "hour": draw.randrange(24)}, draw.random() < (0.9 if city == liked else 0.2)


models = {"never forgets": FTRLClassifier(l1=0.1, normalize=True), "half-life 500": FTRLClassifier(l1=0.1, normalize=True, half_life=500)}
right = dict.fromkeys(models, 0)
rows = 8000
for seen, (x, y) in enumerate(stream(rows)):
    for name, model in models.items():
        if seen > rows // 2:
            right[name] += model.predict_one(x) == y
        model.learn_one(x, y)

for name, count in right.items():
    print(f"{name:14} {count / (rows // 2 - 1):.3f} right after the change")
assert right["half-life 500"] > right["never forgets"]
