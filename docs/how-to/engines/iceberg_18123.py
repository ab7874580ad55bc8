"""A job that starts anew numbers its checkpoints from 1, and the table has them all already.

Apache Iceberg #18123, https://github.com/apache/iceberg/pull/18123 (the sink for Flink; a like
fault with an older savepoint: https://github.com/apache/iceberg/issues/10892)
A table keeps the highest checkpoint that it has committed, and drops commits up to there as
repetitions.  A job without restored state counts from 1 again, and its commits are dropped in
silence.  The fix asks for that number only if the job has restored its state.
Such a start may repeat results; none may be missing.
`asif check docs/how-to/engines/iceberg_18123.py` holds; its variant `reported` is refuted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Body, Emit, Event, Note, Received, Replay, Role, Send, Site, Trim


class Job(NamedTuple):
    """The last checkpoint, how far the job has read, and the rows that it has not committed."""

    checkpoint: int = 0
    offset: int = 0
    rows: tuple[Body, ...] = ()


class Starting(NamedTuple):
    """A job that does not know yet where the source begins."""


class Commit(NamedTuple):
    checkpoint: int
    rows: tuple[Body, ...]


def deploy(gated: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: gated)
    return deployed._replace(prompt=frozenset({"table"}))


def boot(site: Site) -> Any:
    return {Role.SOURCE: asif.QueueState(), Role.OPERATOR: Job(), Role.SINK: 0}[site.role]


def recover(_site: Site, _durable: None) -> Answer:
    return Starting(), (Send("source", Replay(0)),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, _:
            return asif.log_source(site, state, input_)
        case _, Starting(), Received(_, asif.Replayed(_, start)):
            return Job(offset=start), ()
        case _, Job(last, offset, rows), Received(_, Event((number,), row)) if number == offset + 1:
            return Job(last, number, (*rows, row)), (asif.SetTimer("checkpoint"),)
        case _, Job(last, offset, rows), asif.TimerFired():
            commit = Send("table", Commit(last + 1, rows))
            return Job(last + 1, offset), (commit, Send("source", Trim(offset)))
        case Role.SINK, highest, Received(_, Commit(checkpoint, rows)):
            if checkpoint <= highest and not site.config:
                return highest, (Note(asif.DISCARDED),)
            return max(checkpoint, highest), tuple(Emit((0, row)) for row in rows)
        case _:  # events that come before a replay
            return state, ()


GRAPH = asif.chain(("job", asif.Relay()), sink="table")
REPEATABLE, GAP = asif.OperatorClass.REPEATABLE, asif.Guarantee.GAP
REPEATING = asif.Guarantee.REPEATING
ROWS = (("table", asif.BAG),)  # the rows of a table have no order
TWO = asif.Case("two events", asif.over_words(GRAPH, 2, "a", sinks=ROWS), REPEATABLE)
CRASHES = asif.over_words(GRAPH, 2, "a", crashes=2, sinks=ROWS)
MORE = asif.Case("two events, two crashes", CRASHES, REPEATABLE)
ICEBERG = asif.Family(
    "iceberg_18123",
    "Checkpoints of a job, and the highest one that a table has",
    "https://github.com/apache/iceberg/pull/18123",
    asif.Behaviour(
        *(deploy, boot, step, recover),
        show=asif.show_stream,
        timers={"checkpoint": "From the first row after a checkpoint to the next one."},
        quantities=(asif.TRIMMED,),
    ),
    properties=(asif.NOTHING_LOST,),
    must_occur=(asif.CRASHED, asif.REPLAYED, asif.TRIMMED),
)
REPORTED = ICEBERG.design(
    "reported",
    False,
    (TWO.fails(129, 11, GAP),),
    "The source lets go of rows that the table has dropped.",
    claims=GAP,
    must_occur=(asif.CRASHED, asif.DISCARDED),
)
PROTOCOL = ICEBERG.design(
    design=True,
    scopes=(TWO.holds(141, REPEATING), MORE.holds(751, REPEATING)),
    claims=REPEATING,
    variants=(REPORTED,),
)
