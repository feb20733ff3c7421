"""Training on Spark: every task is a pure function from a state and Arrow batches to a delta.

A merge is one Spark job without barriers: the state is broadcast, ``mapInArrow`` learns every partition from it, the deltas are merged
slice by slice in the order of the partitions, and the driver adds the sums to its one state. Retried and speculative tasks give the same
bytes as the first attempt and change nothing, provided that a partition computed again has the same rows in the same order: true of files,
and of what was sorted; not of a shuffle without an order. See ``docs/cluster.md`` for how close this comes to one machine.

Without a method's name the driver first chooses rate and l1 by a race on the first 100,000 rows (``auto``), which runs no more partitions than
have them.

>>> from parsimon.spark import SparkTrainer                                      # doctest: +SKIP
>>> trainer = SparkTrainer(merges=16)                                            # doctest: +SKIP
>>> model = trainer.fit(spark.read.parquet("clicks.parquet"))                    # doctest: +SKIP
>>> print(model.winner)                                                          # doctest: +SKIP
ftrl, normalize=True, rate=0.7, beta=0, l1=0.3
>>> model.transform(test).select("prediction", "probability")                    # doctest: +SKIP
>>> model.fitted.save("clicks.psm")                                              # doctest: +SKIP
"""

from .model import SparkModel
from .stream import StreamTrainer
from .trainer import SparkTrainer

__all__ = ["SparkModel", "SparkTrainer", "StreamTrainer"]
