"""The upstream backup on disk: the events that are not acknowledged, and the savepoint.

Rule of this file: it is the source node of model.protocols.upstream_backup.nodes, with its output
queue in a SQLite file; trimming and skipping are SQL here and share no code with the model.  Every
call is a transaction.  Lima et al., Sections II-B and III-A.

An incarnation of the operator has an epoch.  Calls for an older epoch are refused: the rest of a
crashed query may not trim the events that its successor is about to replay.
"""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from model.cep.savepoint import Savepoint
from model.events import SN, Body, Event
from model.protocols.upstream_backup.buffers import Ack

BUSY_S = 60.0
"""How long a transaction may wait for another."""

TABLES = """
CREATE TABLE outside (sn INTEGER PRIMARY KEY, body BLOB NOT NULL);   -- has not arrived yet
CREATE TABLE backup (sn INTEGER PRIMARY KEY, body BLOB NOT NULL);    -- is not acknowledged
CREATE TABLE source (latest INTEGER NOT NULL, trimmed INTEGER NOT NULL, savepoint BLOB);
CREATE TABLE outbox (epoch INTEGER, batch INTEGER, ack BLOB NOT NULL);
CREATE TABLE epochs (epoch INTEGER PRIMARY KEY, replayed INTEGER, handed INTEGER, refused INTEGER);
CREATE TABLE planned (epoch INTEGER, batch INTEGER, backup INTEGER, PRIMARY KEY (epoch, batch));
INSERT INTO source VALUES (0, 0, NULL);
"""


class Fenced(Exception):
    """A call for an incarnation that has a successor: (its epoch, the newest)."""


class Handshake(NamedTuple):
    """The values that an incarnation receives when it begins: its epoch, the savepoint held, and
    the number before the first event in the backup."""

    epoch: int
    savepoint: Savepoint | None
    trimmed: int


class IncarnationCounts(NamedTuple):
    """The counts of one incarnation: events in the backup when it began, events that the operator
    received, calls for it that were refused, and the end of each batch that was planned."""

    replayed: int
    handed: int
    refused: int
    ends: tuple[int, ...]


class BufferUsage(NamedTuple):
    """How full the backup was: most events in it at a time, those in it now, SN_trim."""

    peak: int
    events: int
    trimmed: int


class Buffer(NamedTuple):
    """A buffer by the path of its file; picklable, so planner, readers and operator share it."""

    path: str

    # --- the source's side -------------------------------------------------------------------
    def create(self, bodies: Sequence[Body]) -> None:
        """Make a new file, with the events that will arrive, numbered 1, 2, ..."""
        Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path)) as file:
            file.execute("PRAGMA journal_mode=WAL")
            file.executescript(TABLES)
            file.executemany(
                "INSERT INTO outside VALUES (?, ?)",
                ((sn, pickle.dumps(body)) for sn, body in enumerate(bodies, 1)),
            )
            file.commit()

    def arrive(self, epoch: int, start: int, rows: int) -> int:
        """Plan a batch: the next `rows` events after `start`, out of the backup and, where it has
        no more, from outside.  The number of its last event (`start` if there is none)."""
        with self._transaction() as file:
            _fence(file, epoch)
            (have,) = _row(file, "SELECT count(*) FROM backup WHERE sn > ?", start)
            (latest,) = _row(file, "SELECT latest FROM source")
            file.execute(
                "INSERT INTO backup SELECT * FROM outside WHERE sn > ? ORDER BY sn LIMIT ?",
                (latest, max(0, rows - have)),
            )
            file.execute(
                "UPDATE source SET latest = max(latest, (SELECT max(sn) FROM backup))"
                " WHERE EXISTS (SELECT * FROM backup)"
            )
            (end,) = _row(
                file,
                "SELECT max(sn) FROM (SELECT sn FROM backup WHERE sn > ? ORDER BY sn LIMIT ?)",
                *(start, rows),
            )
            if end is None:
                return start
            (events,) = _row(file, "SELECT count(*) FROM backup")
            file.execute("INSERT OR IGNORE INTO planned VALUES (?, ?, ?)", (epoch, end, events))
            return int(end)

    def events(self, start: int, end: int) -> list[tuple[int, bytes]]:
        """Events with numbers in (start, end]: (number, pickled body), in order."""
        with self._transaction() as file:
            return file.execute(
                "SELECT sn, body FROM backup WHERE sn > ? AND sn <= ? ORDER BY sn", (start, end)
            ).fetchall()

    def release(self, epoch: int, end: int) -> None:
        """Apply the acknowledgements of the batches up to `end`, which are committed."""
        with self._transaction() as file:
            _fence(file, epoch)
            due = file.execute(
                "SELECT ack FROM outbox WHERE epoch = ? AND batch <= ? ORDER BY rowid", (epoch, end)
            ).fetchall()
            for (pickled,) in due:
                _release(file, pickle.loads(pickled))
            file.execute("DELETE FROM outbox WHERE epoch < ? OR batch <= ?", (epoch, end))

    # --- the operator's side -----------------------------------------------------------------
    def begin(self) -> Handshake:
        """Begin a new incarnation.  Older acknowledgements in the outbox are void from now on,
        since calls for older incarnations are refused."""
        with self._transaction() as file:
            (epoch,) = _row(file, "SELECT coalesce(max(epoch), 0) + 1 FROM epochs")
            (events,) = _row(file, "SELECT count(*) FROM backup")
            file.execute("INSERT INTO epochs VALUES (?, ?, 0, 0)", (epoch, events))
            trimmed, savepoint = _row(file, "SELECT trimmed, savepoint FROM source")
            return Handshake(epoch, savepoint and pickle.loads(savepoint), trimmed)

    def handed(self, epoch: int, events: int) -> None:
        """Count events that the operator receives."""
        with self._transaction() as file:
            _fence(file, epoch)
            file.execute("UPDATE epochs SET handed = handed + ? WHERE epoch = ?", (events, epoch))

    def post(self, epoch: int, end: int, acks: Sequence[Ack]) -> None:
        """Keep the acknowledgements of the batch that ends with event `end` in the outbox, until
        the engine commits the batch."""
        with self._transaction() as file:
            _fence(file, epoch)
            file.executemany(
                "INSERT INTO outbox VALUES (?, ?, ?)",
                ((epoch, end, pickle.dumps(ack)) for ack in acks),
            )

    # --- counts ------------------------------------------------------------------------------
    def incarnations(self) -> tuple[IncarnationCounts, ...]:
        with self._transaction() as file:
            epochs = file.execute("SELECT * FROM epochs ORDER BY epoch").fetchall()
            return tuple(
                IncarnationCounts(replayed, handed, refused, tuple(_ends(file, epoch)))
                for epoch, replayed, handed, refused in epochs
            )

    def usage(self) -> BufferUsage:
        with self._transaction() as file:
            (peak,) = _row(file, "SELECT coalesce(max(backup), 0) FROM planned")
            (events,) = _row(file, "SELECT count(*) FROM backup")
            (trimmed,) = _row(file, "SELECT trimmed FROM source")
            return BufferUsage(peak, events, trimmed)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with closing(
            sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)
        ) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except Fenced as fenced:
                connection.rollback()
                connection.execute(
                    "UPDATE epochs SET refused = refused + 1 WHERE epoch = ?", fenced.args[:1]
                )
                raise
            except BaseException:
                connection.rollback()
                raise
            connection.commit()


def event(row: tuple[int, bytes]) -> Event:
    """The event of a row of the backup."""
    sn, body = row
    return Event((sn,), pickle.loads(body))


def _release(file: sqlite3.Connection, ack: Ack) -> None:
    """Trim the prefix, delete the skipped events behind it, keep the savepoint: all or nothing."""
    ((_, fresh),) = ack.replicas
    (held,) = _row(file, "SELECT savepoint FROM source")
    savepoint = pickle.loads(held).join(fresh) if held else fresh
    file.execute("DELETE FROM backup WHERE sn <= ?", (_number(ack.trim),))
    file.executemany(
        "DELETE FROM backup WHERE sn BETWEEN ? AND ?",
        ((_number(first), _number(last)) for first, last in ack.skips),
    )
    file.execute(
        "UPDATE source SET trimmed = max(trimmed, ?), savepoint = ?",
        (_number(ack.trim), pickle.dumps(savepoint)),
    )


def _number(sn: SN) -> int:
    """The number of an event of this source; 0 stands for before the first."""
    return sn[0] if sn else 0


def _fence(file: sqlite3.Connection, epoch: int) -> None:
    (newest,) = _row(file, "SELECT max(epoch) FROM epochs")
    if epoch != newest:
        raise Fenced(epoch, newest)


def _ends(file: sqlite3.Connection, epoch: int) -> Iterator[int]:
    for (end,) in file.execute(
        "SELECT batch FROM planned WHERE epoch = ? ORDER BY batch", (epoch,)
    ):
        yield end


def _row(file: sqlite3.Connection, query: str, *values: object) -> tuple[Any, ...]:
    row: tuple[Any, ...] = file.execute(query, values).fetchone()
    return row
