"""The incarnation of spark_check.cec.job as a plain loop: same keys, same numbers, no Spark.

Rule of this file: nothing but Spark and files differs from the job.  A test compares the loop with
the model's own node; a check uses it where the node, which has all windows in one value, is slow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from model.protocols.cec.messages import NodeState
from model.protocols.cec.scan import EventualCheckpoint
from sim.predictions.cec import cuts
from spark_check.cec.keyed_node import (
    NEW,
    InputRow,
    KeyedQuery,
    Made,
    advance,
    load,
    make_checkpoints,
)
from spark_check.cec.log import End, Placed, end_of, number
from spark_check.cec.scan import summarize


def find_in(query: KeyedQuery, log: Sequence[Placed]) -> EventualCheckpoint:
    """The eventual checkpoint in a log, from the records that the Spark job would leave."""
    of_window = {(one.record.key, one.record.opened): one for one in log}
    of_key = {one.record.key: one for one in log}
    opened = {one for one in of_window.values() if one.record.pane is not None}
    newest = (one for one in log if one in opened or of_key[one.record.key] is one)
    return summarize(query.design, query.box, newest)


def incarnation(
    query: KeyedQuery, rows: Sequence[InputRow], ends: Sequence[int], log: Sequence[Placed]
) -> Iterator[list[Placed]]:
    """The records of each batch of an incarnation that begins with this log."""
    found = find_in(query, log)
    assert found.start is not None  # as in the job
    states: dict[str, NodeState] = {**load(found)}
    end = End(0, len(log), len(found.windows), found.results)
    now, first = 0, max(found.start, 0)
    for last in cuts(ends, found.start, found.newest):
        made: list[Made] = []
        batch: dict[str, list[InputRow]] = {}
        for row in rows[first:last]:
            batch.setdefault(row.key, []).append(row)
        for key in batch.keys() | states.keys():
            state = states.get(key, NEW)
            if key in batch:
                states[key], added, _ = advance(query, state, batch[key], now)
            else:
                states[key], added = make_checkpoints(query, state, now)
            made += added
        placed = number(end, made)
        yield placed
        end = end_of(end, placed)
        first = now = last


def go_on(
    query: KeyedQuery, rows: Sequence[InputRow], ends: Sequence[int], log: Sequence[Placed]
) -> list[Placed]:
    """The whole log, if an incarnation begins with this one and nothing fails."""
    return [*log, *chain.from_iterable(incarnation(query, rows, ends, log))]
