"""A pipeline with what is around it: its stream, its log, the external system; and its tasks.

Rule of this file: no Spark and no prediction; it imports little, since each task imports it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from spark_check.log_io.external import ExternalBook, open_book
from spark_check.log_io.library import Log
from spark_check.log_io.library.database import Watch
from spark_check.log_io.operators import CAPTURE, PipelineStops, recover


class LogIoWorld(NamedTuple):
    """A pipeline, as settings of a job.

    folder: of the stream and of Spark's checkpoint.  types: of the events, one a letter.  ends: of
    the batches, by the number of their last event.  log, book: files of SQLite, or URLs of
    PostgreSQL; two different databases.  checkable: are writes into the book?
    """

    folder: str
    types: str
    ends: tuple[int, ...]
    log: str
    book: str
    checkable: bool = True

    @property
    def name(self) -> str:
        return Path(self.folder).name

    @property
    def stream(self) -> Path:
        """A file for each batch (spark_check.log_io.stream)."""
        return Path(self.folder) / "stream"

    @property
    def checkpoint(self) -> Path:
        return Path(self.folder) / "checkpoint"

    @contextmanager
    def open(self, watch: Watch | None = None) -> Iterator[tuple[Log, ExternalBook]]:
        """The log and the external system.  watch: receives each statement of the log."""
        with (
            Log(self.log, CAPTURE, watch=watch) as log,
            open_book(self.book, checkable=self.checkable) as book,
        ):
            yield log, book


def process(world: LogIoWorld, stops: PipelineStops, rows: Iterable[tuple[int, str]]) -> None:
    """A task: the whole pipeline, on one batch of (number, type)."""
    with world.open() as (log, book):
        recover(log, book, stops).run((number, type_) for number, type_ in rows)
