"""Learning a stream of Spark's, batch by batch."""

from __future__ import annotations

import logging
import os
import re
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, SparkSession

from .. import _parsimon
from .._rounds import Fitted
from .files import Folder
from .jobs import refuse_connect
from .model import SparkModel

if TYPE_CHECKING:
    from .trainer import SparkTrainer

_log = logging.getLogger("parsimon")
_STATE = re.compile(r"(\d+)\.ckpt")


class StreamTrainer:
    """A function for ``writeStream.foreachBatch``: every batch is learned from the state that the batch before it left.

    The state after batch 7 is the file ``7.ckpt`` in the state folder, written before the call returns. A batch that Spark repeats, because
    the query was killed before it noted the batch as done, finds the file and changes nothing. The files are checkpoints, which
    ``parsimon train --resume`` and :meth:`model` read.

    >>> learn = SparkTrainer("ftrl", classes=[0, 1]).foreach_batch("states/")                     # doctest: +SKIP
    >>> query = rows.writeStream.foreachBatch(learn).option("checkpointLocation", "q/").start()   # doctest: +SKIP
    >>> learn.model().transform(frame)                                                            # doctest: +SKIP
    """

    def __init__(self, trainer: SparkTrainer, state_dir: str | os.PathLike[str], keep: int = 2) -> None:
        if keep < 1:
            raise ValueError(f"keep must be at least 1, got {keep}")
        # The trainer may be changed while the stream runs.
        self.trainer, self.state_dir, self.keep = trainer.copy(), os.fspath(state_dir), keep

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        """Learns one batch, unless its state is there."""
        refuse_connect(batch)
        folder = Folder(batch.sparkSession, self.state_dir)
        done = _batches(folder)
        if done and batch_id == done[-1]:
            _log.info("batch %d was learned before: %s has its state", batch_id, self.state_dir)
            return
        if done and batch_id < done[-1]:
            raise RuntimeError(
                f"{self.state_dir} has the state after batch {done[-1]}, but this is batch {batch_id}: the query began anew. "
                "Pass an empty state folder, or restart the query with its checkpointLocation"
            )
        initial = self._fitted(folder.read(_name(done[-1]))) if done else None
        # Several jobs read the batch, and the source may be slow.
        batch = batch.persist()
        try:
            fitted = self.trainer._learn(batch, initial, may_be_empty=True)
        finally:
            batch.unpersist()
        if fitted is None:
            return
        folder.write(_name(batch_id), fitted.state)
        for old in done[: max(0, len(done) + 1 - self.keep)]:
            folder.remove(_name(old))

    def _fitted(self, state: bytes) -> Fitted:
        is_table = _parsimon.Learner.from_checkpoint(state).schema is not None
        return Fitted.of_state(state, self.trainer.read_columns(table=is_table))

    def model(self) -> SparkModel:
        """The model after the last batch."""
        session = SparkSession.getActiveSession()
        refuse_connect(session)
        if session is None:
            raise RuntimeError("there is no Spark session; make one with SparkSession.builder.getOrCreate()")
        folder = Folder(session, self.state_dir)
        done = _batches(folder)
        if not done:
            raise FileNotFoundError(f"{self.state_dir} has no state yet: no batch with rows was learned")
        return self.trainer._model(self._fitted(folder.read(_name(done[-1]))))


def _name(batch_id: int) -> str:
    return f"{batch_id}.ckpt"


def _batches(folder: Folder) -> list[int]:
    return sorted(int(match[1]) for match in map(_STATE.fullmatch, folder.names()) if match)
