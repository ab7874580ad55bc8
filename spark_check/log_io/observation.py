"""What is seen of a pipeline from outside, in the words of the prediction.

Rule of this file: it reads the log and the external system, and changes neither.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from model.events import Body
from sim.predictions.log_io.points import OPERATORS, SINK, SOURCE, WRITER
from sim.predictions.log_io.replay import LogContents, context_text, row_text
from spark_check.log_io.external import open_book
from spark_check.log_io.library import Context, Log
from spark_check.log_io.library.lineage import backward
from spark_check.log_io.library.reading import read_log
from spark_check.log_io.world import LogIoWorld


class Seen(NamedTuple):
    """Of the external system and of lineage, in the end; as sim.predictions.log_io.replay.Predicted
    has them.  computed: for each write, the events that its own text names."""

    rows: tuple[Body, ...]
    lineage: tuple[tuple[int, ...], ...]
    computed: tuple[tuple[int, ...], ...]
    writes: int
    checks: int


def observe(world: LogIoWorld) -> Seen:
    with read_log(world.log) as log, open_book(world.book, checkable=world.checkable) as book:
        rows = book.rows()
        numbers = sorted({number for number, _ in rows})
        pairs = dict(rows)
        return Seen(
            tuple(pair.body() for _, pair in rows),
            tuple(_behind(log, number) for number in numbers),
            tuple((pairs[number].first, pairs[number].second) for number in numbers),
            len(rows),
            book.asked(),
        )


def _behind(log: Log, number: int) -> tuple[int, ...]:
    found = backward(log, (WRITER, "", SINK, number))
    return tuple(sorted(json.loads(one.body)[1] for one in found if one.sender == SOURCE))


def observe_log(world: LogIoWorld) -> LogContents:
    """What the log has, in the words of the prediction."""
    with read_log(world.log) as log:
        rows = log.database.execute(
            "SELECT send_op, rec_op, rec_port, event_id, inset_id, send_port FROM event_log"
            " WHERE status = 'undone'"
        )
        states = ((one, log.get_proc_state(one)) for one in OPERATORS)
        contexts = [_context(one, *found[1:]) for one, found in states if found]
    undone = (_row(*row) for row in rows)
    return LogContents(tuple(sorted(undone)), tuple(sorted(contexts)))


def _row(sender: str, receiver: str, port: str, number: int, in_set: int, out: str) -> str:
    return row_text(sender, receiver if out else port, number, in_set)


def _context(operator: str, state: bytes, context: Context) -> str:
    place = (json.loads(state),) if operator == SOURCE else ()
    numbers = (*place, *context.accepted.values(), *context.sent.values(), context.in_sets)
    return context_text(operator, numbers)
