"""The parts outside of Spark that do not fail: the upstream's queue, the log, the sink, notes.

Rule of this file: no Spark here.  Everything is in one folder.

The upstream answers a request with a new connection: a folder of files, one for each micro-batch,
which begins after T.  The sink takes results by their numbers, and asks a restarted node for those
that follow its last one.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from engine_check.notes import add_note, read_notes
from model.events import Body
from model.protocols.cec.messages import Record
from model.results.table import Row
from sim.predictions.cec import cuts
from spark_check.cec.keyed_node import InputRow, KeyedQuery
from spark_check.cec.log import RecordLog
from spark_check.runtime.micro_batches import write_batches

SAVED = "world.pickle"


class CecWorld(NamedTuple):
    """folder: of everything.  ends: batches end with these tuples.  in_place: the log's store
    cannot rename."""

    folder: str
    query: KeyedQuery
    rows: tuple[InputRow, ...]
    ends: tuple[int, ...]
    in_place: bool = False

    @property
    def name(self) -> str:
        return Path(self.folder).name

    @property
    def log(self) -> RecordLog:
        return RecordLog(f"{self.folder}/log", self.in_place)

    def checkpoint(self, incarnation: int) -> Path:
        """What Spark calls its checkpoint.  Each incarnation of CEC has a new one, so that it
        knows nothing of the one before."""
        return Path(self.folder) / f"checkpoint-{incarnation}"

    def create(self) -> None:
        Path(self.folder).mkdir(parents=True)
        (Path(self.folder) / SAVED).write_bytes(pickle.dumps(self))

    # --- the upstream ----------------------------------------------------------------------------
    def serve(self, incarnation: int, start: int, newest: int) -> Path:
        """The folder of a new connection with all tuples after place `start`.

        newest: up to here the replay comes in one batch.
        """
        folder = Path(self.folder) / f"connection-{incarnation}"
        columns = pd.Index(InputRow._fields)
        bounds = pairwise([max(start, 0), *cuts(self.ends, start, newest)])
        write_batches(folder, (pd.DataFrame(self.rows[a:b], columns=columns) for a, b in bounds))
        return folder

    # --- the sink --------------------------------------------------------------------------------
    @property
    def _sink(self) -> Path:
        return Path(self.folder) / "sink"

    def received(self) -> list[tuple[int, Body]]:
        """Every result that was sent to the sink, with its number."""
        if not self._sink.exists():
            return []
        with self._sink.open("rb") as stream:
            return [*iter(lambda: _next(stream), None)]

    def taken(self) -> list[Body]:
        """The results that the sink has taken: each number once, in order."""
        bodies: list[Body] = []
        for number, body in self.received():
            if number == len(bodies) + 1:
                bodies.append(body)
        return bodies

    def send(self, records: Iterable[Record]) -> None:
        """Send the sink the results among these records."""
        with self._sink.open("ab") as stream:
            for record in records:
                if record.out is not None:
                    pickle.dump((record.results, record.out.body), stream)

    def send_batch(self, id_: int, bodies: Iterable[Body]) -> None:
        """Send the sink the results of a batch; the sink takes no batch twice."""
        if id_ > max((note["batch"] for note in self.notes() if "batch" in note), default=-1):
            first = len(self.received()) + 1
            with self._sink.open("ab") as stream:
                for number, body in enumerate(bodies, first):
                    pickle.dump((number, body), stream)
            self.note(batch=id_)

    def send_again(self, files: Sequence[Path]) -> None:
        """Send the sink the results in the log that it lacks, as it asks for."""
        last = len(self.taken())
        late: list[Record] = []
        for file in reversed(files):
            records = [one.record for one in self.log.read([file])]
            late[:0] = (record for record in records if record.results > last)
            if records[0].results <= last:
                break
        self.send(late)

    # --- notes -----------------------------------------------------------------------------------
    def note(self, **facts: Any) -> None:
        add_note(self.folder, **facts)

    def notes(self) -> list[Row]:
        return read_notes(self.folder)


def _next(stream: Any) -> tuple[int, Body] | None:
    try:
        found: tuple[int, Body] = pickle.load(stream)
    except EOFError:
        return None
    return found
