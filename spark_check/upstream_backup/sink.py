"""A sink on disk that discards duplicates by sequence number.

Rule of this file: it is the sink node of model.protocols.upstream_backup.nodes, with its memory and
its outputs in a SQLite file; its step is the model's own.  Every call is a transaction.
"""

from __future__ import annotations

import json
import pickle
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from model.core import DISCARDED, Emit, Note, Received, Send, Site
from model.events import SN, Body
from model.protocol import Protocol
from model.protocols.upstream_backup.states import SinkNode

TABLES = """
CREATE TABLE outputs (place INTEGER PRIMARY KEY, sn TEXT NOT NULL, body BLOB NOT NULL);
CREATE TABLE sink (heard TEXT NOT NULL, discarded INTEGER NOT NULL);
INSERT INTO sink VALUES ('[]', 0);
"""


class DurableSink(NamedTuple):
    """A sink by the path of its file."""

    path: str

    def create(self) -> None:
        Path(self.path).parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.path)) as file:
            file.execute("PRAGMA journal_mode=WAL")
            file.executescript(TABLES)

    def take(self, protocol: Protocol, site: Site, messages: Iterable[Any]) -> tuple[Any, ...]:
        """Take the messages of its one predecessor; return the answers."""
        (sender,) = site.preds
        answers = []
        with closing(sqlite3.connect(self.path)) as file:
            (heard, discarded) = file.execute("SELECT heard, discarded FROM sink").fetchone()
            state = SinkNode((tuple(json.loads(heard)),))
            for message in messages:
                state, effects = protocol.behaviour.step(site, state, Received(sender, message))
                for effect in effects:
                    match effect:
                        case Emit((_, body)):
                            row = (json.dumps(message.sn), pickle.dumps(body))
                            file.execute("INSERT INTO outputs (sn, body) VALUES (?, ?)", row)
                        case Send(_, answer):
                            answers.append(answer)
                        case Note(what, times) if what == DISCARDED:
                            discarded += times
            file.execute(
                "UPDATE sink SET heard = ?, discarded = ?", (json.dumps(state.heard[0]), discarded)
            )
            file.commit()
        return tuple(answers)

    def outputs(self) -> tuple[tuple[SN, Body], ...]:
        """Its outputs, in order."""
        with closing(sqlite3.connect(self.path)) as file:
            rows = file.execute("SELECT sn, body FROM outputs ORDER BY place").fetchall()
        return tuple((tuple(json.loads(sn)), pickle.loads(body)) for sn, body in rows)

    def discarded(self) -> int:
        with closing(sqlite3.connect(self.path)) as file:
            return int(file.execute("SELECT discarded FROM sink").fetchone()[0])
