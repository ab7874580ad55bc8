"""A broker aborts, by its time-out, a transaction that a checkpoint counts on.

Apache Flink FLIP-319 and Apache Kafka KIP-939,
https://cwiki.apache.org/confluence/pages/diffpagesbyversion.action?pageId=255071710&selectedPageVersions=14&selectedPageVersions=15
A checkpoint is complete when all sinks have prepared; then they commit.  A job that is down longer
than the time-out of its transactions comes back to a checkpoint whose results are gone; the error
is logged.  With KIP-939 a transaction of two-phase commit has no time-out.
`asif check docs/how-to/engines/flip_319.py` holds; its variant `reported` is refuted.
"""

# The site `clock` fires once, at any moment, so the run that is found needs no outage.  Still to
# say: a timer at the broker, in `Deployment.patient`, which fires when nothing else goes on; and
# `Fail()` for a job whose transaction died before its checkpoint: today it calls `recover` itself,
# with a copy of what is saved.

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Body, Event, Note, Received, Replay, Role, Save, Send, Site


class Checkpoint(NamedTuple):
    """How far the job has read, and the transaction that has all results up to there."""

    offset: int = 0
    transaction: int = 0


class Job(NamedTuple):
    """Where it is, the checkpoint that waits for the broker, and the one that is complete."""

    now: Checkpoint = Checkpoint(0, 1)
    pending: Checkpoint | None = None
    saved: Checkpoint = Checkpoint()


class Broker(NamedTuple):
    """The writes of open transactions; transactions up to `dead` are aborted."""

    writes: tuple[Write, ...] = ()
    dead: int = 0


class Write(NamedTuple):
    transaction: int
    body: Body


class Prepare(NamedTuple):
    """Is this transaction alive?  The answer is `True` or `False`."""

    transaction: int


class Commit(NamedTuple):
    transaction: int


class Restore(NamedTuple):
    """Commit this transaction, if that has not been done, and abort all others."""

    transaction: int


class Expire(NamedTuple):
    """The time-out of all open transactions."""


def deploy(expires: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: expires)
    clock = Site("clock", Role.OPERATOR, None, (), ("broker",), timers=("expire",))
    return deployed._replace(
        sites=(*deployed.sites, clock),
        channels=(*deployed.channels, ("clock", "broker")),
        prompt=frozenset({"broker"}),
    )


def boot(site: Site) -> Any:
    return {"source": asif.QueueState(), "job": Job(), "broker": Broker()}.get(site.name)


def recover(_site: Site, durable: Checkpoint | None) -> Answer:
    saved = offset, transaction = durable or Checkpoint()
    asks = Send("broker", Restore(transaction)), Send("source", Replay(offset))
    return Job(Checkpoint(offset, transaction + 1), None, saved), asks


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.name, state, input_:
        case "source", _, asif.Arrival():
            return asif.produce(state, input_, site.succs)
        case "source", _, Received(reader, Replay() as request):
            return asif.serve(state, reader, request)
        case "job", Job((offset, number)), Received(_, Event((n,), body)) if n == offset + 1:
            write = Send("broker", Write(number, body))
            return state._replace(now=Checkpoint(n, number)), (write, asif.SetTimer("checkpoint"))
        case "job", Job((offset, number) as now, None, saved), asif.TimerFired():
            return Job(Checkpoint(offset, number + 1), now, saved), (
                Send("broker", Prepare(number)),
            )
        case "job", Job(now, Checkpoint() as pending), Received(_, True):
            done = (Save(pending), Note(asif.CHECKPOINTED), Send("broker", Commit(pending[1])))
            more = (asif.SetTimer("checkpoint"),) if now.offset > pending.offset else ()
            return Job(now, None, pending), (*done, *more)
        case "job", Job(), Received(_, False):
            return recover(site, state.saved)
        case "clock", _, asif.TimerFired():
            return None, (Send("broker", Expire()),)
        case "broker", Broker(writes, dead), Received(_, message):
            return broker(site, writes, dead, message)
        case _:  # what a replay brings again or comes before it; an answer to an old question
            return state, ()


def broker(site: Site, writes: tuple[Write, ...], dead: int, message: Any) -> Answer:
    """A write to an aborted transaction fails, and nobody notices before the next question."""
    match message:
        case Write(number):
            return Broker((*writes, message) if number > dead else writes, dead), ()
        case Prepare(number):
            return Broker(writes, dead), (Send("job", number > dead),)
        case Commit(number) | Restore(number):
            ended = tuple(asif.Emit((0, w.body)) for w in writes if w.transaction == number)
            left = tuple(w for w in writes if w.transaction != number)
            return Broker(left, dead) if isinstance(message, Commit) else Broker(), ended
        case _ if site.config:
            return Broker((), max((w.transaction for w in writes), default=dead)), ()
        case _:
            return Broker(writes, dead), ()


GRAPH = asif.chain(("job", asif.Relay()), sink="broker")
REPEATABLE, GAP = asif.OperatorClass.REPEATABLE, asif.Guarantee.GAP
ONE = asif.Case("one event", asif.over_words(GRAPH, 1, "a"), REPEATABLE)
TWO = asif.Case("two events, two crashes", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
FLIP = asif.Family(
    "flip_319",
    "Two-phase commit and the time-out of a broker",
    "FLIP-319 and KIP-939",
    asif.Behaviour(
        *(deploy, boot, step, recover),
        show=lambda value: f"{value.body.type}{value.sn[0]}" if isinstance(value, Event) else "",
        timers={
            "checkpoint": "From the first result of a transaction to the next checkpoint.",
            "expire": "From the start to the time-out of what is open then.",
        },
    ),
    must_occur=(asif.CRASHED, asif.REPLAYED, asif.CHECKPOINTED),
)
REPORTED = FLIP.design("reported", True, (ONE.fails(95, 5, GAP),), claims=GAP)
PROTOCOL = FLIP.design(design=False, scopes=(ONE.holds(64), TWO.holds(946)), variants=(REPORTED,))
