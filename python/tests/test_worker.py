"""The engine-free worker: pure functions from bytes and Arrow batches to bytes."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="workers take Arrow batches; pip install pyarrow")

from parsimon import FTRLClassifier, _parsimon
from parsimon import _worker as worker
from parsimon._rounds import Fitted, Rounds, Seen, score
from parsimon._worker import Columns

PAIR = Columns(features=("indices", "values"), label="label", classes=(0, 1))
SPEC = {"algorithm": "ftrl", "l1": 0.3}


def rows(seed: int, n: int = 200, columns: int = 30) -> pa.RecordBatch:
    random = np.random.default_rng(seed)
    truth = np.where(np.arange(columns) % 5 == 0, 1.5, 0.0)
    indices, values, labels = [], [], []
    for _ in range(n):
        ids = np.sort(random.choice(columns, size=random.integers(1, 6), replace=False))
        x = random.normal(size=len(ids))
        indices.append(ids.astype(np.int32).tolist())
        values.append(x.tolist())
        labels.append(int(truth[ids] @ x + random.normal() * 0.3 > 0))
    return pa.record_batch({"indices": indices, "values": values, "label": labels})


def dense(batch: pa.RecordBatch, columns: int = 30) -> np.ndarray:
    matrix = np.zeros((batch.num_rows, columns))
    for i, (ids, x) in enumerate(zip(batch["indices"].to_pylist(), batch["values"].to_pylist(), strict=True)):
        matrix[i, ids] = x
    return matrix


def weights(state: bytes) -> dict[int, float]:
    ((bias, ids, values),) = _parsimon.Learner.from_checkpoint(state).weights()
    return {**dict(zip(ids.tolist(), values.tolist(), strict=True)), -1: bias}


def test_one_worker_is_partial_fit():
    batch = rows(1)
    state = worker.start(SPEC, classes=PAIR.classes)
    merged = worker.merge(state, [worker.learn(state, [batch], PAIR)])
    estimator = FTRLClassifier(l1=0.3).partial_fit(dense(batch), np.array(batch["label"]), classes=[0, 1])
    found = weights(merged)
    assert 2 < len(found) < 30
    for j, w in enumerate(estimator.coef_[0]):
        assert found.get(j + 1, 0.0) == pytest.approx(w, abs=1e-12)
    assert found[-1] == pytest.approx(estimator.intercept_[0], abs=1e-12)


def test_a_worker_is_a_pure_function():
    state = worker.start(SPEC, classes=PAIR.classes)
    batch = rows(2)
    first = worker.learn_sliced(state, [batch], PAIR, slices=3)
    assert first == worker.learn_sliced(state, [batch], PAIR, slices=3)
    # However the rows are cut into batches.
    cut = [batch.slice(0, 7), batch.slice(7, 0), batch.slice(7, 100), batch.slice(107)]
    assert first == worker.learn_sliced(state, cut, PAIR, slices=3)
    assert [_parsimon.about_delta(delta)[0] for delta in first] == [0, 1, 2]


def test_slices_change_nothing():
    state = worker.start(SPEC, classes=PAIR.classes)
    batches = [rows(seed) for seed in range(5)]
    whole = worker.merge(state, [worker.learn(state, [batch], PAIR) for batch in batches])
    sliced = [worker.learn_sliced(state, [batch], PAIR, slices=4) for batch in batches]
    merged = (worker.merge_slice([deltas[k] for deltas in sliced]) for k in range(4))
    assert worker.absorb(state, merged) == whole
    assert worker.rows_learned(whole) == 1000


def test_every_kind_of_features_is_the_same_matrix():
    batch = rows(3, n=50, columns=8)
    x = dense(batch, 8)
    labels = batch["label"]
    state = worker.start(SPEC, classes=(0, 1))
    wanted = weights(worker.merge(state, [worker.learn(state, [batch], PAIR)]))
    names = tuple(f"c{j}" for j in range(8))
    struct = pa.StructArray.from_arrays([batch["indices"], batch["values"]], names=["indices", "values"])
    number = pa.StructArray.from_arrays([pa.array(x[:, j]) for j in range(8)], names=list(names))
    kinds = [i % 2 for i in range(50)]
    vector = pa.array(
        [
            {"type": 1, "size": None, "indices": None, "values": x[i].tolist()}
            if kinds[i]
            else {"type": 0, "size": 8, "indices": batch["indices"][i].as_py(), "values": batch["values"][i].as_py()}
            for i in range(50)
        ],
        pa.struct(
            [("type", pa.int8()), ("size", pa.int32()), ("indices", pa.list_(pa.int32())), ("values", pa.list_(pa.float64()))]
        ),
    )
    for features, data in (
        ("features", {"features": struct}),
        ("features", {"features": number}),
        ("features", {"features": vector}),
        ("features", {"features": x.tolist()}),
        (names, {name: x[:, j] for j, name in enumerate(names)}),
    ):
        columns = Columns(features=features, label="label", classes=(0, 1))
        other = pa.record_batch({**data, "label": labels})
        # A slice with an offset must be read from its offset.
        halves = [other.slice(0, 20), other.slice(20)]
        found = weights(worker.merge(state, [worker.learn(state, halves, columns)]))
        assert found == pytest.approx(wanted, abs=1e-12), features


def test_labels_of_every_kind():
    batch = rows(4)
    state = worker.start(SPEC, classes=(0, 1))
    wanted = worker.learn(state, [batch], PAIR)
    for classes, labels in (
        ((False, True), [bool(y) for y in batch["label"].to_pylist()]),
        ((-1.0, 1.0), [2.0 * y - 1.0 for y in batch["label"].to_pylist()]),
        ((0.0, 1.0), batch["label"]),
        (("no", "yes"), [("no", "yes")[y] for y in batch["label"].to_pylist()]),
    ):
        other = pa.record_batch({"indices": batch["indices"], "values": batch["values"], "label": labels})
        columns = Columns(features=PAIR.features, label="label", classes=classes)
        assert worker.learn(state, [other], columns) == wanted


def test_weights_count_rows():
    batch = rows(5, n=40)
    twice = pa.Table.from_batches([batch, batch]).combine_chunks().to_batches()[0]
    spec = {"algorithm": "rda", "loss": "squared"}
    columns = Columns(features=PAIR.features, label="label", weight="weight")
    state = worker.start(spec)
    weighted = batch.append_column("weight", pa.array([0.0, 2.0] * 20))
    kept = pa.record_batch(batch.filter(pa.array([False, True] * 20)))
    plain = worker.learn(state, [kept.append_column("weight", pa.array([2.0] * 20))], columns)
    assert weights(worker.merge(state, [worker.learn(state, [weighted], columns)])) == weights(worker.merge(state, [plain]))
    assert twice.num_rows == 80


def test_rounds_share_the_rows_of_a_partition():
    batch = pa.record_batch({"row": list(range(1000))})
    pieces = [batch.slice(0, 5), batch.slice(5, 0), batch.slice(5, 300), batch.slice(305)]
    for merges in (1, 3, 16):
        found = [[r for b in turn.take(pieces) for r in b["row"].to_pylist()] for turn in worker.turns(merges)]
        assert len(found) == merges
        assert sorted(r for rows in found for r in rows) == list(range(1000))
        # However the partition is cut into batches; in its order; and from all over it.
        assert found == [[r for b in turn.take([batch]) for r in b["row"].to_pylist()] for turn in worker.turns(merges)]
        assert all(rows == sorted(rows) and rows[0] < 500 < rows[-1] for rows in found)


def test_what_is_wrong_is_told():
    state = worker.start(SPEC, classes=(0, 1))
    batch = rows(6, n=3)

    def learn(**changed):
        data = {name: batch[name] for name in batch.schema.names} | changed
        return worker.learn(state, [pa.record_batch(data)], PAIR)

    with pytest.raises(ValueError, match="the label 2 is not one of the classes 0, 1"):
        learn(label=[0, 2, 1])
    with pytest.raises(ValueError, match="column label has no value at row 1"):
        learn(label=pa.array([0, None, 1]))
    with pytest.raises(ValueError, match="another number of indices than of values at row 1"):
        learn(indices=[[1], [1, 2], [3]], values=[[1.0], [1.0], [1.0]])
    with pytest.raises(ValueError, match="NaN at row 2"):
        learn(indices=[[1], [1], [3]], values=[[1.0], [1.0], [float("nan")]])
    with pytest.raises(TypeError, match="whole numbers are wanted"):
        learn(indices=[[1.5], [1.0], [3.0]], values=[[1.0], [1.0], [1.0]])
    with pytest.raises(KeyError, match="there is no column features"):
        worker.learn(state, [batch], Columns())
    with pytest.raises(ValueError, match="rls with these settings cannot be merged"):
        worker.start({"algorithm": "rls", "dimension": 5})
    with pytest.raises(ValueError, match="began at another state"):
        other = worker.merge(state, [worker.learn(state, [batch], PAIR)])
        worker.merge(other, [worker.learn(state, [batch], PAIR)])
    with pytest.raises(ValueError, match="checksum"):
        delta = bytearray(worker.learn(state, [batch], PAIR))
        delta[-20] ^= 1
        worker.merge(state, [bytes(delta)])
    with pytest.raises(ValueError, match="epochs must be at least 1"):
        Rounds("ftrl", epochs=0)
    with pytest.raises(ValueError, match="l1"):
        Rounds("ftrl", l1=-1)


class Here(Rounds):
    """The rounds of a cluster, one worker after the other."""

    def fit(self, parts: list[pa.RecordBatch], initial: Fitted | None = None) -> Fitted:
        def turn(columns, state, part):
            taken = [part.take([batch]) for batch in parts]
            learn = partial(worker.learn_sliced, columns=columns, combine=part.combine, slices=2)
            deltas = [learn(state, rows) for rows in taken]
            return (worker.merge_slice([delta[k] for delta in deltas]) for k in range(2))

        seen = Seen(sum(part.num_rows for part in parts), len(parts))
        return self.run(lambda columns, most: parts, turn, seen=seen, initial=initial)


def test_rounds_come_close_to_one_pass():
    parts = [rows(100 + k, n=500) for k in range(4)]
    settings = {"features": PAIR.features, "classes": (0, 1), "l1": 0.3}
    one = Here("ftrl", **settings).fit([pa.Table.from_batches(parts).combine_chunks().to_batches()[0]])
    test = rows(999, n=1000)
    truth = np.array(test["label"])

    def loss(fitted: Fitted) -> float:
        p = fitted.score(test).probabilities[np.arange(1000), truth]
        return float(-np.log(p).mean())

    few = Here("ftrl", merges=1, **settings).fit(parts)
    many = Here("ftrl", merges=16, **settings).fit(parts)
    assert [r.rows for r in many.history][-1] == one.rows == 2000
    assert abs(loss(many) - loss(one)) < 0.02
    assert abs(loss(many) - loss(one)) < abs(loss(few) - loss(one)) + 0.01
    assert 0 < many.nonzeros < 31


def test_scaled_rounds_lose_less_than_damped_ones():
    parts = [rows(200 + k, n=1000) for k in range(16)]
    settings = {"features": PAIR.features, "classes": (0, 1), "l1": 0.3, "merges": 4}
    one = Here("ftrl", **settings).fit([pa.Table.from_batches(parts).combine_chunks().to_batches()[0]])
    scaled, damped = (Here("ftrl", combine=combine, **settings).fit(parts) for combine in ("scaled", "damped"))
    test = rows(999, n=4000)
    assert log_loss(scaled, test) < 1.01 * log_loss(one, test) < log_loss(damped, test)
    assert scaled.rows == one.rows
    # The method that cannot be scaled is combined as without it.
    scaled, damped = (Here("rda", combine=combine, **settings).fit(parts) for combine in ("scaled", "damped"))
    assert scaled.state == damped.state


def test_partitions_with_different_labels_are_not_scaled(caplog):
    mixed = Seen.of([(100, {0: 70, 1: 30}), (200, {0: 140, 1: 60})])
    assert (mixed.rows, mixed.partitions, mixed.labels) == (300, 2, {0, 1})
    assert mixed.spread == pytest.approx(0.0, abs=1e-12)
    apart = Seen.of([(100, {0: 100}), (0, {}), (50, {1: 50})])
    assert (apart.partitions, apart.spread) == (2, pytest.approx(1.0))
    assert Seen.of([(100, {})]).spread == 0.0
    trainer = Rounds("ftrl")
    assert trainer._combine(mixed) == "scaled:2"
    assert not caplog.records
    assert trainer._combine(apart) == "damped"
    assert "shuffle the rows" in caplog.text
    assert Rounds("ftrl", combine="sum")._combine(apart) == "sum"


def units(batch: pa.RecordBatch, columns: int = 30) -> pa.RecordBatch:
    """The same rows with features in units that differ by factors of ten."""
    factors = 10.0 ** (np.arange(columns) % 7 - 3)
    pairs = zip(batch["indices"].to_pylist(), batch["values"].to_pylist(), strict=True)
    values = [(np.array(x) * factors[ids]).tolist() for ids, x in pairs]
    return pa.record_batch({"indices": batch["indices"], "values": values, "label": batch["label"]})


def log_loss(fitted: Fitted, test: pa.RecordBatch) -> float:
    p = fitted.score(test).probabilities[np.arange(test.num_rows), np.array(test["label"])]
    return float(-np.log(p).mean())


def test_normalized_workers_do_not_depend_on_units():
    settings = {"features": PAIR.features, "classes": (0, 1), "l1": 0.1, "rate": 0.5, "normalize": True}
    parts, test = [rows(100 + k, n=500) for k in range(4)], rows(999, n=1000)
    plain = Here("ftrl", merges=8, **settings).fit(parts)
    other = Here("ftrl", merges=8, **settings).fit([units(part) for part in parts])
    assert other.score(units(test)).margins == pytest.approx(plain.score(test).margins, abs=1e-9)
    one = Here("ftrl", **settings).fit([pa.Table.from_batches(parts).combine_chunks().to_batches()[0]])
    assert abs(log_loss(plain, test) - log_loss(one, test)) < 0.02
    assert plain.winner is None


def test_number_columns_are_centered_by_all_workers():
    random = np.random.default_rng(5)
    x = random.normal(size=(3000, 3))
    label = (x[:, 0] - x[:, 1] + 0.3 * random.normal(size=3000) > 0).astype(int)
    settings = {"features": ("a", "b", "c"), "classes": (0, 1), "normalize": True, "rate": 0.5, "merges": 4}

    def fitted(shift: float) -> tuple[Fitted, pa.RecordBatch]:
        data = {name: (x[:, j] + shift) * 2.0**j for j, name in enumerate("abc")}
        batch = pa.record_batch({**data, "label": label})
        return Here("ftrl", **settings).fit([batch.slice(k * 750, 750) for k in range(4)]), batch

    (plain, batch), (shifted, moved) = fitted(0.0), fitted(1024.0)
    assert shifted.score(moved).margins == pytest.approx(plain.score(batch).margins, abs=1e-6)
    assert np.mean(np.array(shifted.score(moved).predictions) == label) > 0.85


def test_auto_races_on_the_first_rows_and_distributes_the_winner(monkeypatch, caplog):
    parts, test = [units(rows(200 + k, n=1500)) for k in range(4)], units(rows(999, n=1000))
    settings = {"features": PAIR.features, "classes": (0, 1), "merges": 8}
    monkeypatch.setattr("parsimon._rounds.RACE_ROWS", 4000)
    with caplog.at_level("INFO", logger="parsimon"):
        fitted = Here(**settings).fit(parts)
    winner = fitted.winner
    assert winner.rows == 4000
    assert f"the race on the first 4000 rows chose {winner}" in caplog.text
    assert str(winner).startswith("ftrl, normalize=True, rate=")
    # What was chosen is what one learner chooses on those rows, and what the workers then learn with.
    alone = _parsimon.Learner('{"algorithm": "auto"}', classes=["0", "1"])
    for batch in worker.first_rows(parts, 4000):
        alone.learn(worker.matrix(batch, PAIR), worker.labels(batch, PAIR))
    assert alone.rows == 4000
    assert json.loads(alone.chosen) == winner.settings
    named = {name: winner.settings[name] for name in ("normalize", "rate", "beta", "l1")}
    assert Here("ftrl", **named, **settings).fit(parts).state == fitted.state
    assert json.loads(fitted.learner.settings)["algorithm"] == "ftrl"
    assert fitted.rows == 6000
    assert 0 < fitted.nonzeros < 31
    # The axis that is given is kept.
    assert Here(l1=0.25, **settings).fit(parts).winner.settings["l1"] == 0.25
    whole = [pa.Table.from_batches(parts).combine_chunks().to_batches()[0]]
    one = Here(**{**settings, "merges": 1}).fit(whole)
    assert abs(log_loss(fitted, test) - log_loss(one, test)) < 0.02


def test_auto_learns_numbers_and_several_classes():
    random = np.random.default_rng(1)
    x = random.normal(size=(4000, 3)) * [1e-3, 1.0, 1e3]
    y = 5e5 + 100.0 * (x[:, 0] * 1e3 - 2.0 * x[:, 1] + random.normal(size=4000) * 0.1)
    batch = pa.record_batch({"features": x.tolist(), "label": y})
    parts = [batch.slice(k * 500, 500) for k in range(8)]
    fitted = Here(loss="squared", merges=4).fit(parts)
    assert fitted.winner.settings["loss"] == "squared"
    found = np.array(fitted.score(batch).predictions)
    assert np.mean((found - y) ** 2) < 0.05 * np.var(y)
    labels = [("a", "b", "c")[k] for k in (x / [1e-3, 1.0, 1e3]).argmax(axis=1)]
    several = pa.record_batch({"features": x.tolist(), "label": labels})
    parts = [several.slice(k * 1000, 1000) for k in range(4)]
    fitted = Here(classes=("a", "b", "c"), merges=4).fit(parts)
    right = np.array(fitted.score(several).predictions) == np.array(labels)
    assert right.mean() > 0.85


def test_a_sample_of_one_label_is_refused_and_a_constant_is_told(caplog):
    sorted_rows = pa.Table.from_batches([rows(7, n=400)]).sort_by("label").combine_chunks().to_batches()[0]
    few = Here(features=PAIR.features, classes=(0, 1))
    with pytest.raises(ValueError, match="the first 100 rows, .* all have the label 0; shuffle the rows, or name a method"):
        few.fit([sorted_rows.slice(0, 100)])
    random = np.random.default_rng(3)
    noise = pa.record_batch({"features": random.normal(size=(5000, 2)).tolist(), "label": random.integers(0, 2, 5000)})
    fitted = Here(classes=(0, 1)).fit([noise])
    assert fitted.winner.is_constant
    assert "no setting was better than a constant prediction" in caplog.text
    assert fitted.nonzeros == 0


def test_scores_are_the_models(tmp_path):
    parts = [rows(k, n=300) for k in range(2)]
    fitted = Here("ftrl", features=PAIR.features, classes=(0, 1), l1=0.1).fit(parts)
    fitted.save(tmp_path / "m.psm")
    native = _parsimon.Model.load(tmp_path / "m.psm")
    batch = rows(50, n=20)
    scores = score(fitted.model(), batch, fitted.columns)
    assert np.array_equal(scores.margins, native.margins(worker.matrix(batch, PAIR)))
    assert scores.predictions.to_pylist() == [int(m > 0) for m in scores.margins[:, 0]]
    assert scores.probabilities.sum(axis=1) == pytest.approx(np.ones(20))


def test_several_classes():
    random = np.random.default_rng(0)
    x = random.normal(size=(600, 3))
    batch = pa.record_batch({"features": x.tolist(), "label": [("a", "b", "c")[k] for k in x.argmax(axis=1)]})
    fitted = Here("ftrl", classes=("a", "b", "c"), merges=2).fit([batch.slice(0, 300), batch.slice(300)])
    scores = fitted.score(batch)
    right = np.mean([a == b for a, b in zip(scores.predictions.to_pylist(), batch["label"].to_pylist(), strict=True)])
    assert right > 0.85
    assert scores.probabilities.shape == (600, 3)
