"""Training on Ray: the same rounds as on Spark, with tasks instead of actors.

The state travels as an argument, since an actor that is restarted forgets what it knew; a task that Ray runs again, because its worker
died, gives the same bytes.

>>> from parsimon.ray import RayTrainer                                  # doctest: +SKIP
>>> model = RayTrainer(merges=16).fit("clicks/")                         # doctest: +SKIP
>>> print(model.winner)                                                  # doctest: +SKIP
ftrl, normalize=True, rate=0.7, beta=0, l1=0.3
>>> model.predict("new-clicks/").column("probability")                   # doctest: +SKIP
>>> model.save("clicks.psm")                                             # doctest: +SKIP
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import ray

from . import _worker
from ._rounds import Fitted, Rounds, Scores, Seen, score
from ._worker import Columns, Turn

__all__ = ["RayModel", "RayTrainer"]

#: Parts, by feature, in which deltas are merged.
SLICES = 4


class RayTrainer(Rounds):
    """Trains one model on partitions.

    Without ``algorithm`` the method is ``auto``: a race on the driver chooses rate and l1 on the first rows, and the winner is distributed.

    Parameters
    ----------
    algorithm, epochs, merges, features, label, weight, classes, combine, precision, fit_intercept, slices, **settings
        As for every engine, see :class:`parsimon._rounds.Rounds`.
    max_retries : int
        How often Ray may run a task again whose worker died; -1 for ever.
    """

    def __init__(self, algorithm: str = "auto", *, max_retries: int = 3, **settings: Any) -> None:
        super().__init__(algorithm, **settings)
        self.max_retries = max_retries

    def fit(self, data: Any, *, initial: Fitted | None = None) -> RayModel:
        """Learns partitions; one of them is one worker of a round, and their order fixes the bits.

        ``data`` is a folder of Parquet files (in the order of their names), a file, a Ray dataset, or a list of files, Arrow tables, pandas frames
        or references to tables and frames. Training goes on from ``initial``, if a model is given, with the settings it was trained with.
        """
        parts = partitions_of(data)
        scan = _scan.options(max_retries=self.max_retries)
        seen = Seen.of(ray.get([scan.remote(part, self.label, self.learns_classes) for part in parts]))
        fitted = self.run(partial(self._sample, parts), partial(self._turn, parts), seen=seen, initial=initial)
        return RayModel(fitted.state, fitted.columns, fitted.history, fitted.winner)

    def _sample(self, parts: Sequence[Any], columns: Columns, most: int) -> Iterator[pa.RecordBatch]:
        """The first rows in the order of the partitions; later partitions are read only if the rows of the earlier ones are not enough."""
        for part in parts:
            if most <= 0:
                return
            head = _head.options(max_retries=self.max_retries).remote(part, columns.names(), most)
            for batch in ray.get(head):
                yield batch
                most -= batch.num_rows

    def _turn(self, parts: Sequence[Any], columns: Columns, state: bytes, turn: Turn) -> Iterator[bytes]:
        shared = ray.put(state)
        slices = SLICES if self.slices is None else self.slices
        learn = _learn.options(num_returns=slices, max_retries=self.max_retries)
        merge = _merge.options(max_retries=self.max_retries)
        deltas: list[Any] = [learn.remote(shared, part, columns, slices, turn) for part in parts]
        by_slice = [[delta] for delta in deltas] if slices == 1 else deltas
        merged = [merge.remote(*[delta[k] for delta in by_slice]) for k in range(slices)]
        for slice_ in merged:
            yield ray.get(slice_)


@dataclass(frozen=True)
class RayModel(Fitted):
    """What :class:`RayTrainer` leaves behind."""

    def predict(self, data: Any) -> Any:
        """Scores rows: the columns ``prediction`` (a label, or a number), ``margin`` (a list for several classes) and, for the logistic
        loss, ``probability`` (of the second class, or a list).

        For a Ray dataset, the dataset with these columns, computed when it is read. For everything else that ``fit`` takes, one Arrow
        table of these columns alone, in the order of the rows.
        """
        columns = replace(self.columns, label=None, weight=None)
        shared = ray.put(self.model())
        if hasattr(data, "map_batches"):
            return data.map_batches(partial(_with_scores, shared, columns), batch_format="pyarrow")
        scored = ray.get([_predict.remote(shared, part, columns) for part in partitions_of(data)])
        return pa.concat_tables(scored)


def partitions_of(data: Any) -> list[Any]:
    """The partitions of whatever holds rows: paths of files, and references to Arrow tables."""
    if hasattr(data, "to_arrow_refs"):
        return list(data.to_arrow_refs())
    if isinstance(data, (str, os.PathLike)):
        data = [data]
    elif hasattr(data, "columns") or isinstance(data, pa.RecordBatch):
        # One table or frame.
        data = [data]
    parts: list[Any] = []
    for part in data:
        if isinstance(part, (str, os.PathLike)):
            parts.extend(_files(Path(part)))
        elif isinstance(part, ray.ObjectRef):
            parts.append(part)
        else:
            parts.append(ray.put(_as_table(part)))
    if not parts:
        raise ValueError("there is no partition to learn from")
    return parts


def _files(path: Path) -> Iterable[str]:
    """A file, or the Parquet files of a folder; what begins with a dot or an underscore is no data, as elsewhere."""
    if not path.is_dir():
        if not path.exists():
            raise FileNotFoundError(f"there is no file or folder {path}")
        return [str(path)]
    inside = (file for file in path.rglob("*.parquet") if not any(p.startswith((".", "_")) for p in file.relative_to(path).parts))
    found = sorted(str(file) for file in inside)
    if not found:
        raise FileNotFoundError(f"there is no .parquet file in {path}")
    return found


def _as_table(part: Any) -> pa.Table:
    if isinstance(part, pa.Table):
        return part
    if isinstance(part, pa.RecordBatch):
        return pa.Table.from_batches([part])
    if hasattr(part, "iloc"):
        return pa.Table.from_pandas(part, preserve_index=False)
    if hasattr(part, "__arrow_c_stream__"):
        return pa.table(part)
    raise TypeError(f"a partition is a path, an Arrow table or a pandas frame, got {type(part).__name__}")


def _batches(part: Any) -> Any:
    if isinstance(part, str):
        import pyarrow.parquet as pq

        return pq.ParquetFile(part).iter_batches()
    return _as_table(part).to_batches()


@ray.remote
def _scan(part: Any, label: str, classes: bool) -> tuple[int, Counter[Any]]:
    count, found = 0, Counter[Any]()
    for batch in _batches(part):
        count += batch.num_rows
        if classes:
            found.update(_worker.label_counts(batch.column(label)))
    return count, found


@ray.remote
def _head(part: Any, names: list[str] | None, most: int) -> list[pa.RecordBatch]:
    return [batch if names is None else batch.select(names) for batch in _worker.first_rows(_batches(part), most)]


@ray.remote
def _learn(state: bytes, part: Any, columns: Columns, slices: int, turn: Turn) -> Any:
    deltas = _worker.learn_sliced(state, turn.take(_batches(part)), columns, combine=turn.combine, slices=slices)
    return deltas[0] if slices == 1 else deltas


@ray.remote
def _merge(*deltas: bytes) -> bytes:
    return _worker.merge_slice(deltas)


@ray.remote
def _predict(model: bytes, part: Any, columns: Columns) -> pa.Table:
    names = columns.names()
    batches = [batch if names is None else batch.select(names) for batch in _batches(part)]
    return pa.concat_tables([pa.table(_scores(score(model, batch, columns))) for batch in batches])


def _with_scores(shared: Any, columns: Columns, table: pa.Table) -> pa.Table:
    batches = table.combine_chunks().to_batches()
    if not batches:
        return table
    for name, values in _scores(score(ray.get(shared), batches[0], columns)).items():
        table = table.append_column(name, values)
    return table


def _scores(scores: Scores) -> dict[str, pa.Array]:
    found = {"prediction": scores.predictions, "margin": _column(scores.margins)}
    if scores.probabilities is not None:
        # Of two classes, the probability of the second says all.
        two = scores.probabilities.shape[1] == 2
        found["probability"] = _column(scores.probabilities[:, 1:] if two else scores.probabilities)
    return found


def _column(rows: np.ndarray[Any, Any]) -> pa.Array:
    return pa.array(rows[:, 0]) if rows.shape[1] == 1 else pa.array(list(rows))
