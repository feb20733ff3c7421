"""Training on Ray: the bits of the workers, and a worker killed in the middle of a round."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

os.environ.setdefault("RAY_AUTH_MODE", "disabled")
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
ray = pytest.importorskip("ray", reason="pip install ray")
pa = pytest.importorskip("pyarrow", reason="pip install pyarrow")

sys.path.insert(0, str(Path(__file__).parents[1]))

import parsimon.ray as module
import pyarrow.parquet as pq
from parsimon.ray import RayTrainer
from test_worker import PAIR, Here, rows

SETTINGS = {"features": PAIR.features, "l1": 0.3, "merges": 3, "epochs": 2}


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clicks")
    batches = [rows(k, n=400) for k in range(4)]
    paths = [str(folder / f"part-{k}.parquet") for k in range(4)]
    for batch, path in zip(batches, paths, strict=True):
        pq.write_table(pa.Table.from_batches([batch]), path)
    return batches, paths


def test_ray_gives_the_bits_of_the_workers(cluster, parts):
    batches, paths = parts
    wanted = Here("ftrl", classes=(0, 1), **SETTINGS).fit(batches).state
    assert RayTrainer("ftrl", **SETTINGS).fit(paths).state == wanted
    assert RayTrainer("ftrl", **SETTINGS).fit([pa.Table.from_batches([b]) for b in batches]).state == wanted
    assert RayTrainer("ftrl", slices=1, **SETTINGS).fit(batches).state == wanted
    # A folder, pandas frames, references to them, and one epoch after the other.
    assert RayTrainer("ftrl", **SETTINGS).fit(Path(paths[0]).parent).state == wanted
    frames = [pa.Table.from_batches([b]).to_pandas() for b in batches]
    assert RayTrainer("ftrl", **SETTINGS).fit(frames).state == wanted
    assert RayTrainer("ftrl", **SETTINGS).fit([ray.put(frame) for frame in frames]).state == wanted
    one = RayTrainer("ftrl", **{**SETTINGS, "epochs": 1})
    assert one.fit(paths, initial=one.fit(paths)).state == wanted
    with pytest.raises(FileNotFoundError, match="there is no .parquet file in"):
        one.fit(empty_folder(Path(paths[0]).parent))


def empty_folder(beside: Path) -> Path:
    folder = beside.parent / "nothing"
    folder.mkdir(exist_ok=True)
    return folder


def test_predict_scores_all_that_fit_takes(cluster, parts):
    batches, paths = parts
    model = RayTrainer("ftrl", **SETTINGS).fit(paths)
    whole = pa.Table.from_batches(batches).combine_chunks().to_batches()[0]
    wanted = model.score(whole)
    folder = Path(paths[0]).parent
    for data in (folder, str(folder), paths, batches, [pa.Table.from_batches([b]).to_pandas() for b in batches]):
        found = model.predict(data)
        assert found.column_names == ["prediction", "margin", "probability"]
        assert found.column("prediction").to_pylist() == wanted.predictions.to_pylist()
        assert found.column("margin").to_pylist() == wanted.margins[:, 0].tolist()
        assert found.column("probability").to_pylist() == wanted.probabilities[:, 1].tolist()
    dataset = model.predict(ray.data.read_parquet(str(folder))).to_pandas()
    assert len(dataset) == whole.num_rows and set(dataset.columns) >= {"label", "prediction", "margin", "probability"}
    assert sorted(dataset["margin"]) == sorted(wanted.margins[:, 0].tolist())


def test_auto_races_on_the_driver_and_its_winner_is_distributed(cluster, parts, monkeypatch):
    batches, paths = parts
    settings = {"features": PAIR.features, "merges": 3}
    # The first partitions and a part of the next; then all, which are fewer than wanted.
    for most, rows_raced in ((1100, 1100), (5000, 1600)):
        monkeypatch.setattr("parsimon._rounds.RACE_ROWS", most)
        wanted = Here(classes=(0, 1), **settings).fit(batches)
        fitted = RayTrainer(**settings).fit(paths)
        assert fitted.winner == wanted.winner
        assert fitted.winner.rows == rows_raced
        assert fitted.state == wanted.state


def test_a_killed_worker_changes_nothing(cluster, parts, tmp_path, monkeypatch):
    _, paths = parts
    trainer = RayTrainer("ftrl", classes=(0, 1), **SETTINGS)
    undisturbed = trainer.fit(paths).state
    mark = str(tmp_path / "task")
    victim = paths[1]
    plain = module._learn._function

    def learn(state, part, *plan):
        # The first attempt at one partition says who runs it, and takes its time.
        if part == victim and not os.path.exists(mark):
            Path(mark + ".tmp").write_text(str(os.getpid()))
            os.rename(mark + ".tmp", mark)
            time.sleep(60)
        return plain(state, part, *plan)

    killed: list[int] = []

    def kill() -> None:
        for _ in range(600):
            if os.path.exists(mark):
                killed.append(int(Path(mark).read_text()))
                os.kill(killed[0], signal.SIGKILL)
                return
            time.sleep(0.1)

    monkeypatch.setattr(module, "_learn", ray.remote(learn))
    killer = threading.Thread(target=kill)
    killer.start()
    state = trainer.fit(paths).state
    killer.join()
    assert len(killed) == 1, "no worker was killed: the test proves nothing"
    assert state == undisturbed
