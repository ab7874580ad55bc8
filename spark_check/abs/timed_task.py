"""A task of the LOG.io pipeline that notes how long its parts take.

Rule of this file: it imports little, since each task imports it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from engine_check.notes import add_note
from spark_check.log_io.library import Context, Log
from spark_check.log_io.operators import FUNCTIONS, PipelineStops, recover
from spark_check.log_io.world import LogIoWorld


def process(world: LogIoWorld, stops: PipelineStops, rows: Iterable[tuple[int, str]]) -> None:
    """As spark_check.log_io.world.process."""
    statements: list[str] = []
    began = time.time()
    with world.open(statements.append) as (log, book):
        replayed = sum(map(len, (_undone(log, one.operator) for one in FUNCTIONS)))
        written = len(book.rows())
        statements.clear()
        restoring = time.time()
        pipeline = recover(log, book, stops)
        recovered = time.time()
        pipeline.run((number, type_) for number, type_ in rows)
        ended = time.time()
        writes = len(book.rows()) - written
        transactions = sum(one.startswith("BEGIN") for one in statements)  # to close is one more
    add_note(
        world.folder,
        began=began,
        restored_s=recovered - restoring,
        ended=ended,
        rest_s=ended - recovered,
        replayed=replayed,
        writes=writes,
        transactions=transactions,
    )


def _undone(log: Log, operator: str) -> list[Any]:
    found = log.get_proc_state(operator)
    return log.fetch_ack_events(operator, found[2] if found else Context())
