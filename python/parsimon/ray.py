"""Training on Ray: the same rounds as on Spark, with tasks instead of actors.

The state travels as an argument, since an actor that is restarted forgets what it knew; a task that Ray runs again, because its worker
died, gives the same bytes.

>>> from parsimon.ray import RayTrainer                                  # doctest: +SKIP
>>> trainer = RayTrainer(rounds_per_epoch=16)                            # doctest: +SKIP
>>> fitted = trainer.fit(["part-0.parquet", "part-1.parquet"])           # doctest: +SKIP
>>> print(fitted.winner)                                                 # doctest: +SKIP
ftrl, normalize=True, rate=0.7, beta=0, l1=0.3
>>> fitted.save("clicks.psm")                                            # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import ray

from . import _worker
from ._rounds import Fitted, Rounds, sorted_classes
from ._worker import Columns

__all__ = ["RayTrainer"]


class RayTrainer(Rounds):
    """Trains one model on partitions: paths of Parquet files, Arrow tables, references to tables, or a Ray dataset.

    Without ``algorithm`` the method is ``auto``: a race on the driver chooses rate and l1 on the first rows, and the winner is distributed.

    Parameters
    ----------
    algorithm, epochs, rounds_per_epoch, features, label, weight, classes, combine, precision, fit_intercept, slices, block, **settings
        As for every engine, see :class:`parsimon._rounds.Rounds`.
    max_retries : int
        How often Ray may run a task again whose worker died; -1 for ever.
    """

    def __init__(self, algorithm: str = "auto", *, max_retries: int = 3, **settings: Any) -> None:
        super().__init__(algorithm, **settings)
        self.max_retries = max_retries

    def fit(self, data: Any) -> Fitted:
        """Learns the partitions; one partition is one worker of a round, and their order fixes the bits."""
        if isinstance(data, (str, os.PathLike)):
            data = [data]
        if hasattr(data, "to_arrow_refs"):
            data = data.to_arrow_refs()
        parts = [os.fspath(part) if isinstance(part, os.PathLike) else part for part in data]
        parts = [ray.put(part) if isinstance(part, (pa.Table, pa.RecordBatch)) else part for part in parts]
        columns = self._columns(self._classes_of(parts))
        return self._run(
            columns, lambda most: self._sample(parts, columns, most), lambda state, turn: self._turn(parts, columns, state, turn)
        )

    def _classes_of(self, parts: Sequence[Any]) -> tuple[Any, ...]:
        if self.classes is not None:
            return self.classes
        found = ray.get([_labels.options(max_retries=self.max_retries).remote(part, self.label) for part in parts])
        return sorted_classes(set().union(*found))

    def _sample(self, parts: Sequence[Any], columns: Columns, most: int) -> Iterator[pa.RecordBatch]:
        """The first rows in the order of the partitions; later partitions are read only if the rows of the earlier ones are not enough."""
        for part in parts:
            if most <= 0:
                return
            head = _head.options(max_retries=self.max_retries).remote(part, columns.names(), most)
            for batch in ray.get(head):
                yield batch
                most -= batch.num_rows

    def _turn(self, parts: Sequence[Any], columns: Columns, state: bytes, turn: int) -> Iterator[bytes]:
        shared = ray.put(state)
        learn = _learn.options(num_returns=self.slices, max_retries=self.max_retries)
        merge = _merge.options(max_retries=self.max_retries)
        plan = (columns, self.combine, self.slices, self.block, turn, self.rounds_per_epoch)
        deltas: list[Any] = [learn.remote(shared, part, *plan) for part in parts]
        by_slice = [[delta] for delta in deltas] if self.slices == 1 else deltas
        merged = [merge.remote(*[delta[k] for delta in by_slice]) for k in range(self.slices)]
        for slice_ in merged:
            yield ray.get(slice_)


def _batches(part: Any) -> Any:
    if isinstance(part, str):
        import pyarrow.parquet as pq

        return pq.ParquetFile(part).iter_batches()
    return [part] if isinstance(part, pa.RecordBatch) else part.to_batches()


@ray.remote
def _labels(part: Any, label: str) -> set[Any]:
    found: set[Any] = set()
    for batch in _batches(part):
        found.update(pc.unique(batch.column(label)).to_pylist())
    return found


@ray.remote
def _head(part: Any, names: list[str] | None, most: int) -> list[pa.RecordBatch]:
    return [batch if names is None else batch.select(names) for batch in _worker.first_rows(_batches(part), most)]


@ray.remote
def _learn(
    state: bytes, part: Any, columns: Columns, combine: str, slices: int, block: int, turn: int, turns: int
) -> Any:
    rows = _worker.take_round(_batches(part), block, turn, turns)
    deltas = _worker.learn_sliced(state, rows, columns, combine=combine, slices=slices)
    return deltas[0] if slices == 1 else deltas


@ray.remote
def _merge(*deltas: bytes) -> bytes:
    return _worker.merge_slice(deltas)
