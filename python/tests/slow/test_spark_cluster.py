"""Executors as processes of their own, one of them killed in the middle of a round: the result is that of an undisturbed run."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pip install pyspark")
pa = pytest.importorskip("pyarrow", reason="pip install pyarrow")
if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
    pytest.skip("Spark needs a Java runtime (Debian: openjdk-17-jre-headless)", allow_module_level=True)

sys.path.insert(0, str(Path(__file__).parents[1]))

import pyarrow.parquet as pq
from parsimon import _worker
from parsimon.spark import SparkTrainer
from pyspark import TaskContext, cloudpickle
from pyspark.sql import SparkSession
from test_worker import PAIR, rows

# The executors cannot import this file.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    # A session of other tests in this process has no executors of its own.
    active = SparkSession.getActiveSession()
    if active is not None:
        active.stop()
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .appName("parsimon cluster tests")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.executorEnv.PYTHONPATH", paths)
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.files.openCostInBytes", str(1 << 30))
        .getOrCreate()
    )
    yield session
    session.stop()


def executor_of_this_task() -> int:
    """The JVM above this Python process: the executor, by its own process id."""
    pid = os.getpid()
    while pid > 1:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in command:
            return pid
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    raise RuntimeError("no executor above this process")


def slow_learning(folder: str):
    """The worker's function, except that partition 1 says who runs it and takes its time, the first time."""
    plain = _worker.learn_sliced

    def learn_sliced(state, batches, columns=None, **settings):
        if TaskContext.get().partitionId() == 1 and TaskContext.get().attemptNumber() == 0:
            Path(folder, "task.tmp").write_text(str(executor_of_this_task()))
            os.rename(Path(folder, "task.tmp"), Path(folder, "task"))
            time.sleep(60)
        return plain(state, batches, columns, **settings)

    return learn_sliced


def test_a_killed_executor_changes_nothing(spark, tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    for k in range(4):
        pq.write_table(pa.Table.from_batches([rows(k, n=400)]), folder / f"part-{k}.parquet")
    trainer = SparkTrainer("ftrl", merges=2, minRows=1, featuresCols=list(PAIR.features), classes=[0, 1], l1=0.3)
    undisturbed = trainer.fit(str(folder)).fitted.state

    killed: list[int] = []

    def kill() -> None:
        for _ in range(600):
            if (tmp_path / "task").exists():
                pid = int((tmp_path / "task").read_text())
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                return
            time.sleep(0.1)

    import parsimon.spark.jobs as module

    plain = module.learning
    slow = slow_learning(str(tmp_path))

    def disturbed(shared, columns, combine, slices):
        # Shipped to the executors with the task: their module is not this one.
        def task(batches):
            from parsimon import _worker as theirs

            own, theirs.learn_sliced = theirs.learn_sliced, slow
            try:
                yield from plain(shared, columns, combine, slices)(batches)
            finally:
                theirs.learn_sliced = own

        return task

    monkeypatch.setattr(module, "learning", disturbed)
    killer = threading.Thread(target=kill)
    killer.start()
    state = trainer.fit(str(folder)).fitted.state
    killer.join()
    assert len(killed) == 1, "no executor was killed: the test proves nothing"
    assert not Path(f"/proc/{killed[0]}").exists() or "Z" in Path(f"/proc/{killed[0]}/stat").read_text().rsplit(")", 1)[1]
    assert state == undisturbed
