"""One Spark session on this machine for all tests of this folder."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))


@pytest.fixture(scope="session")
def spark():
    pytest.importorskip("pyspark", reason="pip install pyspark")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs a Java runtime (Debian: openjdk-17-jre-headless)")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .appName("parsimon tests")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.files.openCostInBytes", str(1 << 30))
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "100")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.fixture(scope="session")
def parquet(spark, tmp_path_factory):
    """Three files, three partitions: small files are not put together."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from test_worker import rows

    folder = tmp_path_factory.mktemp("clicks")
    for k in range(3):
        pq.write_table(pa.Table.from_batches([rows(k, n=400)]), folder / f"part-{k}.parquet")
    return str(folder)
