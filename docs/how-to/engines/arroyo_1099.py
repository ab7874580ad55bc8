"""A sink that restarts before its commit reports that the commit is done.

Arroyo, https://github.com/ArroyoSystems/arroyo/pull/1099 and, on how to go on instead,
https://github.com/ArroyoSystems/arroyo/issues/224
Each interval between checkpoints has a Kafka transaction of its own; the controller stores the
checkpoint and then sends the commit.  A restarted sink has no producer for it, and returns Ok.
The fix here is the one that #224 describes, to take the transaction up again.  #1099 makes the
pipeline stop with an error, which loses nothing and goes on with nothing.
`asif check docs/how-to/engines/arroyo_1099.py` holds; its variant `reported` is refuted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Body, Event, Note, Received, Replay, Role, Send, Site


class Running(NamedTuple):
    """A sink: how far it has read, its transaction, and the first one that it has begun itself."""

    offset: int = 0
    transaction: int = 1
    first: int = 1


class Checkpoint(NamedTuple):
    """The controller's: how far the sink had read, its transaction, and whether it is committed."""

    offset: int = 0
    transaction: int = 0
    committed: bool = True


class Hello(NamedTuple):
    """The sink has restarted."""


class Commit(NamedTuple):
    """To the sink, and from there to the broker: commit all transactions up to this one."""

    transaction: int


class Done(NamedTuple):
    """The sink reports that this transaction is committed."""

    transaction: int


class Write(NamedTuple):
    transaction: int
    body: Body


class Abort(NamedTuple):
    """Abort all transactions after this one: the sink will use their names again."""

    transaction: int


def deploy(resumes: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: resumes)
    controller = Site("controller", Role.OPERATOR, None, ("writer",), ("writer",))
    ends = (("writer", "controller"), ("controller", "writer"))
    return deployed._replace(
        sites=(*deployed.sites, controller),
        channels=(*deployed.channels, *ends),
        prompt=frozenset({"controller", "broker"}),
    )


def boot(site: Site) -> Any:
    first = {"source": asif.QueueState(), "writer": Running(), "controller": Checkpoint()}
    return first.get(site.name, ())


def recover(_site: Site, _durable: None) -> Answer:
    return None, (Send("controller", Hello()),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.name, state, input_:
        case "source", _, asif.Arrival():
            return asif.produce(state, input_, site.succs)
        case "source", _, Received(reader, Replay() as request):
            return asif.serve(state, reader, request)
        case "writer", Running(offset, transaction), Received(_, Event((n,), body)) if (
            n == offset + 1
        ):
            write = Send("broker", Write(transaction, body))
            return state._replace(offset=n), (write, asif.SetTimer("checkpoint"))
        case "writer", Running(offset, transaction), asif.TimerFired():
            ready = Send("controller", Checkpoint(offset, transaction, committed=False))
            return state._replace(transaction=transaction + 1), (Note(asif.CHECKPOINTED), ready)
        case "writer", None, Received(_, Checkpoint(offset, transaction)):
            asks = Send("broker", Abort(transaction)), Send("source", Replay(offset))
            return Running(offset, transaction + 1, transaction + 1), asks
        case "writer", Running(), Received(_, Commit(transaction)):
            done = Send("controller", Done(transaction))
            if transaction < state.first and not site.config:  # it has no producer for it
                return state, (done,)
            return state, (Send("broker", Commit(transaction)), done)
        case "controller", _, Received(_, Checkpoint(_, transaction) as checkpoint):
            return checkpoint, (Send("writer", Commit(transaction)),)
        case "controller", _, Received(_, Done(transaction)) if transaction == state.transaction:
            return state._replace(committed=True), ()
        case "controller", _, Received(_, Hello()):
            again = () if state.committed else (Send("writer", Commit(state.transaction)),)
            return state, (Send("writer", state), *again)
        case "broker", writes, Received(_, Write() as write):
            return (*writes, write), ()
        case "broker", writes, Received(_, Commit(last)):
            ended = tuple(asif.Emit((0, w.body)) for w in writes if w.transaction <= last)
            return tuple(w for w in writes if w.transaction > last), ended
        case "broker", writes, Received(_, Abort(last)):
            return tuple(w for w in writes if w.transaction <= last), ()
        case _:  # what a replay brings again or comes before it; an old report
            return state, ()


GRAPH = asif.chain(("writer", asif.Relay()), sink="broker")
REPEATABLE, GAP = asif.OperatorClass.REPEATABLE, asif.Guarantee.GAP
ONE = asif.Case("one event", asif.over_words(GRAPH, 1, "a"), REPEATABLE)
TWO = asif.Case("two events, two crashes", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
ARROYO = asif.Family(
    "arroyo_1099",
    "A controller, checkpoints and Kafka transactions",
    "https://github.com/ArroyoSystems/arroyo/pull/1099",
    asif.Behaviour(
        *(deploy, boot, step, recover),
        show=lambda value: f"{value.body.type}{value.sn[0]}" if isinstance(value, Event) else "",
        timers={"checkpoint": "From the first result of a transaction to the next checkpoint."},
    ),
    must_occur=(asif.CRASHED, asif.REPLAYED, asif.CHECKPOINTED),
)
REPORTED = ARROYO.design("reported", False, (ONE.fails(50, 9, GAP),), claims=GAP)
PROTOCOL = ARROYO.design(design=True, scopes=(ONE.holds(47), TWO.holds(957)), variants=(REPORTED,))
