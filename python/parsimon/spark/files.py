"""Whole files in a folder, on whatever file system its path names."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


class Folder:
    """A folder by its path or address, as Spark understands it: local, HDFS, an object store.

    A file that is written is complete or absent: it is written under another name and renamed.
    """

    def __init__(self, session: SparkSession, path: str | os.PathLike[str]) -> None:
        jvm: Any = session.sparkContext._jvm
        self._path_of = jvm.org.apache.hadoop.fs.Path
        self._folder = self._path_of(os.fspath(path))
        self._files: Any = self._folder.getFileSystem(session.sparkContext._jsc.hadoopConfiguration())
        # Hadoop's local files have checksums beside them, which are renamed apart from the files.
        self._local = Path(self._folder.toUri().getPath()) if self._files.getScheme() == "file" else None

    def _place(self, name: str) -> Any:
        return self._path_of(self._folder, name)

    def names(self) -> list[str]:
        """The names of what is in the folder; nothing if there is no folder."""
        if self._local is not None:
            return sorted(os.listdir(self._local)) if self._local.exists() else []
        if not self._files.exists(self._folder):
            return []
        return sorted(status.getPath().getName() for status in self._files.listStatus(self._folder))

    def read(self, name: str) -> bytes:
        """The bytes of a file."""
        if self._local is not None:
            return (self._local / name).read_bytes()
        stream = self._files.open(self._place(name))
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()

    def write(self, name: str, data: bytes) -> None:
        """Writes a file that outlasts a crash once this returns."""
        if self._local is not None:
            return self._write_locally(self._local, name, data)
        draft = self._place(f"_{name}.draft")
        stream = self._files.create(draft, True)
        try:
            stream.write(bytearray(data))
            stream.hsync() if hasattr(stream, "hsync") else stream.flush()
        finally:
            stream.close()
        self._files.delete(self._place(name), False)
        if not self._files.rename(draft, self._place(name)):
            raise OSError(f"cannot rename {draft.toString()} to {name}")

    @staticmethod
    def _write_locally(folder: Path, name: str, data: bytes) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(prefix=f"_{name}.", dir=folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(draft, 0o644)
            os.replace(draft, folder / name)
        except BaseException:
            os.unlink(draft)
            raise
        entry = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(entry)
        finally:
            os.close(entry)

    def remove(self, name: str) -> None:
        """Removes a file; one that is not there is no error."""
        if self._local is not None:
            (self._local / name).unlink(missing_ok=True)
        else:
            self._files.delete(self._place(name), False)
