"""Structured Streaming: a query over files, killed before and after its state is written, ends with the bytes of one that was not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pip install pyspark")
pa = pytest.importorskip("pyarrow", reason="pip install pyarrow")

import pyarrow.parquet as pq
from parsimon import _worker as worker
from parsimon.spark import SparkTrainer
from test_worker import PAIR, rows

BATCHES = 4

#: Runs the query until all files are learned; kills itself before or after a batch is learned, if asked to.
QUERY = """
import os, signal, sys
from pyspark.sql import SparkSession
from parsimon.spark import SparkTrainer

source, states, checkpoint, moment, victim = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2").getOrCreate()
)
learn = SparkTrainer("ftrl", l1=0.3, classes=[0, 1], featuresCols=["indices", "values"], partitions=2).foreach_batch(states)

def batch(frame, number):
    if moment == "before" and number == int(victim):
        os.kill(os.getpid(), signal.SIGKILL)
    learn(frame, number)
    if moment == "after" and number == int(victim):
        os.kill(os.getpid(), signal.SIGKILL)

rows = spark.readStream.schema("indices array<bigint>, values array<double>, label bigint").option("maxFilesPerTrigger", 1).parquet(source)
query = rows.writeStream.foreachBatch(batch).option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
query.awaitTermination()
"""


@pytest.fixture
def source(tmp_path):
    folder = tmp_path / "source"
    folder.mkdir()
    for k in range(BATCHES):
        path = folder / f"part-{k}.parquet"
        pq.write_table(pa.Table.from_batches([rows(k, n=300)]), path)
        # Files are taken in the order of their times.
        os.utime(path, (1_700_000_000 + k, 1_700_000_000 + k))
    return folder


def run(tmp_path: Path, name: str, source: Path, moment: str = "never", victim: int = 0) -> int:
    script = tmp_path / "query.py"
    script.write_text(QUERY)
    words = [str(source), str(tmp_path / name), str(tmp_path / f"{name}-query"), moment, str(victim)]
    surroundings = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    ran = subprocess.run(
        [sys.executable, str(script), *words], env=surroundings, capture_output=True, timeout=300, check=False
    )
    assert ran.returncode in (0, -signal.SIGKILL), ran.stderr.decode()[-4000:]
    return ran.returncode


def test_a_killed_query_ends_with_the_same_bytes(tmp_path, source):
    assert run(tmp_path, "whole", source) == 0
    assert run(tmp_path, "killed", source, "before", 1) == -signal.SIGKILL
    assert run(tmp_path, "killed", source, "after", 2) == -signal.SIGKILL
    assert run(tmp_path, "killed", source) == 0
    for name in ("whole", "killed"):
        # The last two are kept, and nothing else.
        assert sorted(os.listdir(tmp_path / name)) == ["2.ckpt", "3.ckpt"]
    final = (tmp_path / "whole" / "3.ckpt").read_bytes()
    assert worker.rows_learned(final) == 300 * BATCHES
    assert (tmp_path / "killed" / "3.ckpt").read_bytes() == final


def test_batches_are_learned_once_and_in_order(spark, tmp_path, source):
    frames = [spark.read.parquet(str(source / f"part-{k}.parquet")) for k in range(3)]
    trainer = SparkTrainer("ftrl", l1=0.3, featuresCols=list(PAIR.features))
    learn = trainer.foreach_batch(tmp_path / "states", keep=3)
    with pytest.raises(FileNotFoundError, match="has no state yet"):
        learn.model()
    learn(frames[0].limit(0), 0)
    assert not (tmp_path / "states").exists()
    for number in (0, 1, 1, 2):
        learn(frames[number], number)
    states = {number: (tmp_path / "states" / f"{number}.ckpt").read_bytes() for number in range(3)}
    # A batch that is repeated changes nothing, although its rows are others; an empty one has the state before it.
    learn(frames[0], 2)
    learn(frames[0].limit(0), 3)
    assert (tmp_path / "states" / "2.ckpt").read_bytes() == states[2]
    assert (tmp_path / "states" / "3.ckpt").read_bytes() == states[2]
    # The labels are read off the state, and the trainer goes on from it.
    model = learn.model()
    assert model.labels == [0, 1] and model.fitted.rows == 900
    first = trainer.fit(frames[0])
    assert trainer.fit(frames[1], initial=first).fitted.state == states[1]
    assert {row["prediction"] for row in model.transform(frames[0]).collect()} == {0.0, 1.0}
    with pytest.raises(RuntimeError, match="has the state after batch 3, but this is batch 0: the query began anew"):
        learn(frames[0], 0)
    with pytest.raises(ValueError, match="keep must be at least 1"):
        trainer.foreach_batch(tmp_path, keep=0)
