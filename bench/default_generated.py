"""Generated sets of bench/defaults.py, similar in kind to the real ones, for a clone that has no data beside it.

Every set has a seed of its own. Rows come in the order of generation; the last quarter is held out.
"""
import bisect
import itertools
import math
import random


def zipf(size, exponent=1.1):
    """A function from a generator to a rank from 0, small ranks often."""
    totals = list(itertools.accumulate(1 / (i + 1) ** exponent for i in range(size)))
    return lambda r: min(bisect.bisect_left(totals, r.random() * totals[-1]), size - 1)


def coin(r, margin):
    return "1" if r.random() < 1 / (1 + math.exp(-margin)) else "-1"


def click_rows(seed, rows, drift):
    r = random.Random(seed)
    sizes = [2, 5, 7, 12, 30, 60, 150, 400, 1000, 3000, 8000, 20000]
    fields = [zipf(size) for size in sizes]
    starts = [1, *itertools.accumulate(sizes, initial=1)][1:]
    weights = [[r.gauss(0, 0.35) for _ in range(size)] for size in sizes]
    result = []
    for t in range(rows):
        ranks = [field(r) for field in fields]
        level = -1.6 + drift * math.sin(2 * math.pi * t / rows * 1.5)
        if drift:
            for w, k in zip(weights, ranks):
                w[k] += r.gauss(0, 0.02 * drift)
        margin = level + sum(w[k] for w, k in zip(weights, ranks))
        result.append((coin(r, margin), [(str(s + k), "1") for s, k in zip(starts, ranks)]))
    return result, None


def clicks(_):
    return click_rows(11, 30000, 0)


def drifting_clicks(_):
    return click_rows(12, 30000, 1.0)


def text(_):
    """Documents of weighted words with unit length; a few hundred words tell the classes apart."""
    r = random.Random(13)
    words = zipf(60000, 1.0)
    telling = {k: r.gauss(0, 1.5) for k in r.sample(range(50, 6000), 600)}
    rows = []
    for _ in range(4000):
        counts = {}
        for _ in range(r.randrange(30, 200)):
            k = words(r)
            counts[k] = counts.get(k, 0) + 1
        values = {k: (1 + math.log(n)) * math.log(2 + k) for k, n in counts.items()}
        length = math.sqrt(sum(v * v for v in values.values()))
        margin = 0.6 * sum(telling.get(k, 0) for k in counts)
        rows.append((coin(r, margin), [(f"w{k}", f"{v / length:.6f}") for k, v in sorted(values.items())]))
    return rows, None


def wild_table(_):
    """Columns in very different units, offsets such as a time stamp's, outliers, missing cells, categories."""
    r = random.Random(14)
    scales = [10.0 ** r.uniform(-6, 6) for _ in range(12)]
    offsets = [s * r.choice((0, 0, 3, 1000)) for s in scales]
    weights = [r.gauss(0, 0.6) if i % 2 else 0.0 for i in range(12)]
    cities, plans = zipf(300), ["basic", "plus", "gold"]
    city_weights = [r.gauss(0, 0.5) for _ in range(300)]
    rows = [[*(f"x{i}" for i in range(12)), "city", "plan", "outcome"]]
    for _ in range(12000):
        z = [r.gauss(0, 1) for _ in scales]
        city, plan = cities(r), r.randrange(3)
        margin = -0.5 + sum(w * x for w, x in zip(weights, z)) + city_weights[city] + 0.4 * plan
        cells = [o + s * x * (1000 if r.random() < 0.002 else 1) for o, s, x in zip(offsets, scales, z)]
        shown = ["" if r.random() < 0.03 else f"{c:.10g}" for c in cells]
        rows.append([*shown, f"city{city}", plans[plan], "yes" if coin(r, margin) == "1" else "no"])
    return rows, None


def numbers(seed, rows, target):
    r = random.Random(seed)
    table = [[*(f"x{i}" for i in range(10)), "target"]]
    for _ in range(rows):
        x = [r.gauss(0, 1) * 3.0 ** (i - 5) + (i % 3) for i in range(10)]
        table.append([*(f"{v:.8g}" for v in x), f"{target(r, x):.10g}"])
    return table, None


def shifted_target(_):
    """A target far from zero: 1,000,000 and a linear part of size 50."""
    return numbers(15, 10000, lambda r, x: 1e6 + 20 * sum(v * 3.0 ** (5 - i) * (i % 2) for i, v in enumerate(x)) + r.gauss(0, 30))


def noise_numbers(_):
    """Nothing to learn, with heavy tails."""
    return numbers(16, 10000, lambda r, x: 5 + r.gauss(0, 1) / max(abs(r.gauss(0, 1)), 0.2))


def noise(_):
    """Sparse rows whose labels do not depend on them."""
    r = random.Random(17)
    words = zipf(20000, 1.0)
    rows = []
    for _ in range(10000):
        ids = sorted({words(r) + 1 for _ in range(20)})
        rows.append(("1" if r.random() < 0.3 else "-1", [(str(i), "1") for i in ids]))
    return rows, None


def classes(_):
    """Five classes, dense numbers."""
    r = random.Random(18)
    centers = [[r.gauss(0, 0.6) for _ in range(20)] for _ in range(5)]
    scales = [10.0 ** r.uniform(-2, 2) for _ in range(20)]
    rows = []
    for _ in range(10000):
        c = r.randrange(5)
        rows.append((str(c + 1), [(str(j + 1), f"{(m + r.gauss(0, 1)) * s:.6g}") for j, (m, s) in enumerate(zip(centers[c], scales))]))
    return rows, None
