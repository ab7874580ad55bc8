"""A broker aborts, by its time-out, a transaction that a checkpoint counts on.

Apache Flink FLIP-319, https://cwiki.apache.org/confluence/pages/viewpage.action?pageId=255071710
A checkpoint is complete when all sinks have prepared; then they commit.  A job that is down longer
than the time-out of its transactions comes back to a checkpoint whose results are gone; the error
is logged.  With Apache Kafka's KIP-939 a transaction of two-phase commit has no time-out.
`asif check docs/how-to/engines/flip_319.py` holds; its variant `reported` is refuted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Body, Event, Received, Replay, Role, Save, Send, SetTimer, Site


class Checkpoint(NamedTuple):
    """How far the job has read, and the transaction that has all results up to there.  To the
    broker: prepare this transaction; the answer has the last one that is aborted."""

    offset: int = 0
    transaction: int = 0


class Job(NamedTuple):
    """Where it is, and the checkpoint that waits for the broker."""

    now: Checkpoint = Checkpoint(0, 1)
    pending: Checkpoint | None = None


class Write(NamedTuple):
    transaction: int
    body: Body


class Broker(NamedTuple):
    """The writes of open transactions; transactions up to `dead` are aborted."""

    writes: tuple[Write, ...] = ()
    dead: int = 0


class End(NamedTuple):
    """Commit this transaction; after a restart, abort all others."""

    transaction: int
    restart: bool = False


def deploy(expires: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: expires)
    return deployed._replace(prompt=frozenset({"broker"}), patient=frozenset({"expire"}))


def boot(site: Site) -> Any:
    return {"source": asif.QueueState(), "job": Job(), "broker": Broker()}[site.name]


def recover(_site: Site, durable: Checkpoint | None) -> Answer:
    offset, transaction = durable or Checkpoint()
    asks = Send("broker", End(transaction, restart=True)), Send("source", Replay(offset))
    return Job(Checkpoint(offset, transaction + 1)), asks


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, _:
            return asif.log_source(site, state, input_)
        case _, Job((offset, number), pending), Received(_, Event((n,), body)) if n == offset + 1:
            write = Send("broker", Write(number, body))
            return Job(Checkpoint(n, number), pending), (write, SetTimer("checkpoint"))
        case _, Job((offset, number) as now, None), asif.TimerFired():
            return Job(Checkpoint(offset, number + 1), now), (Send("broker", now),)
        case _, Job(now, (_, number) as pending), Received(_, Broker(_, dead)) if number > dead:
            done = Save(pending), asif.Note(asif.CHECKPOINTED), Send("broker", End(number))
            more = (SetTimer("checkpoint"),) if now.offset > pending.offset else ()
            return Job(now), (*done, *more)
        case _, Job(_, Checkpoint()), Received(_, Broker()):
            return state, (asif.Fail(),)  # it begins again from the checkpoint before
        case Role.SINK, Broker(writes, dead), Received(_, Write(number) as write):
            # A write to an aborted transaction fails, and nobody notices before the next question.
            alive = (Broker((*writes, write), dead), (SetTimer("expire"),)[: site.config])
            return alive if number > dead else (state, ())
        case Role.SINK, Broker(), Received(job, Checkpoint()):
            return state, (Send(job, Broker((), state.dead)),)
        case Role.SINK, Broker(writes, dead), Received(_, End(number, restart)):
            ended = tuple(asif.Emit((0, w.body)) for w in writes if w.transaction == number)
            left = tuple(w for w in writes if w.transaction != number and not restart)
            return Broker(left, 0 if restart else dead), ended
        case Role.SINK, Broker(writes, dead), asif.TimerFired():
            return Broker((), max((w.transaction for w in writes), default=dead)), ()
        case _:  # events that a replay brings again, or that come before it; an old answer
            return state, ()


GRAPH = asif.chain(("job", asif.Relay()), sink="broker")
REPEATABLE, GAP = asif.OperatorClass.REPEATABLE, asif.Guarantee.GAP
NEVER = asif.Case("no time-out", asif.over_words(GRAPH, 1, "a"), REPEATABLE)
ONE = asif.Case("one time-out", replace(NEVER.scope, early=1), REPEATABLE)
MORE = asif.over_words(GRAPH, 2, "a", crashes=2, early=1)
TWO = asif.Case("two events, two crashes", MORE, REPEATABLE)
TIMERS = {
    "checkpoint": "From the first result of a transaction to the next checkpoint.",
    "expire": "From the first write of a transaction to its time-out.",
}
FLIP = asif.Family(
    "flip_319",
    "Two-phase commit and the time-out of a broker",
    "https://cwiki.apache.org/confluence/pages/viewpage.action?pageId=255071710",
    asif.Behaviour(deploy, boot, step, recover, show=asif.show_stream, timers=TIMERS),
    must_occur=(asif.CRASHED, asif.REPLAYED, asif.CHECKPOINTED),
)
FLAWED = NEVER.holds(40), ONE.fails(111, 5, GAP)  # without a time-out nothing is lost
REPORTED = FLIP.design("reported", True, FLAWED, claims=GAP)
PROTOCOL = FLIP.design(design=False, scopes=(ONE.holds(32), TWO.holds(473)), variants=(REPORTED,))
