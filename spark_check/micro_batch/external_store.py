"""What is outside of Spark and does not fail: the upstream's events, two sinks, a log of calls.

Rule of this file: no Spark here.  Everything is in one folder, so that a copy of the folder is a
copy of the world, and can be restarted as often as there are questions.

Two sinks receive the same batches, in one transaction: one knows which batches it has taken, the
other appends whatever comes.  So every run shows the outcome in both.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from model.protocols.micro_batch.messages import NO_BATCH, Batch
from model.results.table import Row

TABLES = """
CREATE TABLE IF NOT EXISTS batch (id INTEGER PRIMARY KEY, start INTEGER, end INTEGER);
CREATE TABLE IF NOT EXISTS idempotent (sn INTEGER, type TEXT, running INTEGER);
CREATE TABLE IF NOT EXISTS append (sn INTEGER, type TEXT, running INTEGER);
"""


STARTED = "started"
"""Noted when the query is started on its checkpoint, for the first time or again."""


class StoreSink(StrEnum):
    BY_BATCH = "idempotent"
    """Takes no batch id twice."""
    APPEND = "append"
    """Appends, as a plain foreachBatch does."""


class RunningCountRow(NamedTuple):
    """Event number `sn` is of a type of which there have been so many, with this one."""

    sn: int
    type: str
    running: int


class ExternalStore(NamedTuple):
    """The world outside of Spark, in the folder `work`."""

    work: str

    @property
    def checkpoint(self) -> Path:
        """Spark's checkpoint, the only thing in the folder that Spark itself knows."""
        return Path(self.work) / "checkpoint"

    def files(self) -> list[Path]:
        """All files and folders of it, whether they exist or not."""
        names = ("events", "output.db", "calls.log")
        return [*(Path(self.work) / name for name in names), self.checkpoint]

    # --- the upstream ----------------------------------------------------------------------------
    def arrive(self, types: Sequence[str]) -> None:
        """Events are numbered 1, 2, ... as they arrive; an event is a type and nothing else."""
        with (Path(self.work) / "events").open("a") as events:
            events.writelines(f"{type_}\n" for type_ in types)

    def events(self) -> list[str]:
        return (Path(self.work) / "events").read_text().split()

    def acked(self) -> int:
        """The last event that is acknowledged to the upstream, which trims up to there."""
        return max((line["start"] for line in self.notes("acked")), default=0)

    # --- the sinks -------------------------------------------------------------------------------
    def write(self, batch: Batch, rows: Sequence[RunningCountRow]) -> bool:
        """Write to both sinks: True if the batch is new to the idempotent one."""
        with closing(self._tables()) as tables, tables:
            tables.executemany("INSERT INTO append VALUES (?, ?, ?)", rows)
            new = tables.execute("INSERT OR IGNORE INTO batch VALUES (?, ?, ?)", batch).rowcount > 0
            if new:
                tables.executemany("INSERT INTO idempotent VALUES (?, ?, ?)", rows)
        return new

    def output(self, sink: StoreSink) -> list[RunningCountRow]:
        """The rows of a sink, in the order in which they were written."""
        with closing(self._tables()) as tables:
            return [
                RunningCountRow(*row)
                for row in tables.execute(f"SELECT * FROM {sink} ORDER BY rowid")
            ]

    def taken(self) -> Batch:
        """The last batch that the idempotent sink has taken."""
        with closing(self._tables()) as tables:
            last = tables.execute("SELECT * FROM batch ORDER BY id DESC LIMIT 1").fetchone()
        return Batch(*last) if last else NO_BATCH

    def _tables(self) -> sqlite3.Connection:
        tables = sqlite3.connect(Path(self.work) / "output.db")
        tables.executescript(TABLES)
        return tables

    # --- the log of calls ------------------------------------------------------------------------
    def note(self, what: str, **more: Any) -> None:
        """Append a line to the log of calls."""
        line = json.dumps({"what": what, "pid": os.getpid(), **more}) + "\n"
        log = os.open(Path(self.work) / "calls.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, line.encode())  # in one call: lines of several processes do not mix
        os.close(log)

    def notes(self, what: str, *, lately: bool = False) -> list[Row]:
        """The lines about `what`.  lately: only those since the query was last started."""
        log = Path(self.work) / "calls.log"
        lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
        starts = [at for at, line in enumerate(lines) if line["what"] == STARTED]
        since = starts[-1] if lately else 0
        return [line for line in lines[since:] if line["what"] == what]
