"""Measures what a fit on Spark costs, on this machine: seconds and jobs by the number of merges, beside one machine without Spark.

    parsimon quickstart --out q --rows 200000
    python bench/spark.py q/clicks.svm [--partitions 16] [--cores 2]

Needs the package installed, pyspark, pyarrow and a Java runtime. The first fit starts the Python workers; the others are warm.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.datasets import load_svmlight_file


def write_parts(source: str, folder: Path, partitions: int) -> int:
    x, y = load_svmlight_file(source)
    x.sort_indices()
    for k in range(partitions):
        rows = slice(k * x.shape[0] // partitions, (k + 1) * x.shape[0] // partitions)
        part = x[rows]
        ends = pa.array(part.indptr, pa.int32())
        lists = {
            "indices": pa.ListArray.from_arrays(ends, pa.array(part.indices, pa.int32())),
            "values": pa.ListArray.from_arrays(ends, pa.array(part.data)),
            "label": pa.array((y[rows] > 0).astype(int)),
        }
        pq.write_table(pa.table(lists), folder / f"part-{k:04}.parquet")
    return int(x.shape[0])


def cpu_seconds() -> float:
    """Of this process and all below it: the JVM, its Python workers, and those that have ended."""
    stat = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        stat[int(path.parent.name)] = (int(words[1]), sum(map(int, words[11:15])))
    ours = {os.getpid()}
    while more := {pid for pid, (parent, _) in stat.items() if parent in ours} - ours:
        ours |= more
    return sum(stat[pid][1] for pid in ours if pid in stat) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", help="svmlight file with two labels")
    parser.add_argument("--partitions", type=int, default=16)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable

    from parsimon import FTRLClassifier, ParsimonClassifier
    from parsimon.spark import SparkTrainer
    from pyspark.sql import DataFrame, SparkSession

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "rows"
        folder.mkdir()
        rows = write_parts(arguments.rows, folder, arguments.partitions)
        began = time.monotonic()
        spark = (
            SparkSession.builder.master(f"local[{arguments.cores}]")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.ui.enabled", "false")
            # A file is a partition.
            .config("spark.sql.files.openCostInBytes", str(1 << 30))
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("ERROR")
        frame = spark.read.parquet(str(folder))
        print(f"{rows} rows, {frame.rdd.getNumPartitions()} partitions; session {time.monotonic() - began:.1f} s")
        print("\n| what | merges | jobs | seconds | CPU seconds |\n| --- | --- | --- | --- | --- |")
        context = spark.sparkContext

        def measure(what: str, repeat: int, **settings: object) -> None:
            times, cpu, jobs, merges = [], [], 0, 0
            for k in range(repeat):
                group = f"{what} {settings} {k}"
                context.setJobGroup(group, group)
                used, began = cpu_seconds(), time.monotonic()
                model = SparkTrainer(featuresCols=["indices", "values"], **settings).fit(frame)
                times.append(time.monotonic() - began)
                cpu.append(cpu_seconds() - used)
                jobs, merges = len(context.statusTracker().getJobIdsForGroup(group)), len(model.history)
            print(f"| {what} | {merges} | {jobs} | {statistics.median(times):.2f} | {statistics.median(cpu):.2f} |", flush=True)

        def drop(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            yield pa.record_batch({"rows": pa.array([sum(batch.num_rows for batch in batches)], pa.int64())})

        def phase(what: str, of: "DataFrame") -> None:
            times, cpu = [], []
            for _ in range(arguments.repeat + 1):
                used, began = cpu_seconds(), time.monotonic()
                of.collect()
                times.append(time.monotonic() - began)
                cpu.append(cpu_seconds() - used)
            print(f"| {what} | | 1 | {statistics.median(times[1:]):.2f} | {statistics.median(cpu[1:]):.2f} |", flush=True)

        many = spark.range(arguments.partitions, numPartitions=arguments.partitions)
        phase("a job whose tasks do nothing in the JVM", many)
        phase("a job whose tasks do nothing in Python", many.mapInArrow(drop, "rows long"))
        phase("a job that reads the labels", frame.select("label").mapInArrow(drop, "rows long"))
        phase("a job that reads all columns and drops them", frame.mapInArrow(drop, "rows long"))
        named = {"algorithm": "ftrl", "l1": 4.0}
        measure("first fit, ftrl", 1, merges=1, **named)
        for merges in (1, 4, 16):
            measure("ftrl", arguments.repeat, merges=merges, **named)
        measure("ftrl, every partition a worker", arguments.repeat, merges=4, minRows=1, **named)
        measure("auto", arguments.repeat)
        spark.stop()
    for what, estimator in (("ftrl", FTRLClassifier(l1=4.0)), ("auto", ParsimonClassifier())):
        used, began = time.process_time(), time.monotonic()
        estimator.learn_file(arguments.rows)
        print(f"| one machine, {what} | | | {time.monotonic() - began:.2f} | {time.process_time() - used:.2f} |")


if __name__ == "__main__":
    main()
