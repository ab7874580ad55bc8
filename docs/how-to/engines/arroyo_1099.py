"""A sink that restarts before its commit reports that the commit is done.

Arroyo #1099, https://github.com/ArroyoSystems/arroyo/pull/1099
Each interval between checkpoints has a Kafka transaction of its own; the controller stores the
checkpoint and then sends the commit.  A restarted sink has no producer for it, and returns Ok.
With #1099 it fails, and again at each restart: nothing is lost or comes any more (`stops`).  The
form that holds takes it up again, as in https://github.com/ArroyoSystems/arroyo/issues/224
`asif check docs/how-to/engines/arroyo_1099.py` holds; both variants are refuted.
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
    """How far the sink had read, its transaction, and whether that is committed."""

    offset: int = 0
    transaction: int = 0
    committed: bool = True


class Commit(NamedTuple):
    """Commit all transactions up to this one; from the sink to the controller: that is done."""

    transaction: int


class Write(NamedTuple):
    transaction: int
    body: Body


def deploy(design: str, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: design)
    controller = Site("controller", Role.OPERATOR, None, ("writer",), ("writer",))
    ends = (("writer", "controller"), ("controller", "writer"))
    return deployed._replace(
        sites=(*deployed.sites, controller),
        channels=(*deployed.channels, *ends),
        prompt=frozenset({"controller", "broker"}),
        links={("writer", "source"): asif.Link(resets=True)},
    )


def boot(site: Site) -> Any:
    first = {"source": asif.QueueState(), "writer": Running(), "controller": Checkpoint()}
    return first.get(site.name, ())


def recover(_site: Site, _durable: None) -> Answer:
    return None, (Send("controller", asif.Restarted()),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.name, state, input_:
        case "source", _, _:
            return asif.log_source(site, state, input_)
        case "writer", Running(offset, number), Received(_, Event((n,), body)) if n == offset + 1:
            write = Send("broker", Write(number, body))
            return state._replace(offset=n), (write, asif.SetTimer("checkpoint"))
        case "writer", Running(offset, number), asif.TimerFired():
            ready = Send("controller", Checkpoint(offset, number, committed=False))
            return state._replace(transaction=number + 1), (Note(asif.CHECKPOINTED), ready)
        case "writer", None, Received(_, Checkpoint(offset, number) as restored):
            asks = Send("broker", restored), Send("source", Replay(offset))
            return Running(offset, number + 1, number + 1), asks
        case "writer", Running(), Received(_, Commit(number) as commit):
            done = Send("controller", commit)
            if number >= state.first or site.config == "resumes":
                return state, (Send("broker", commit), done)
            # The sink has no producer for this transaction.
            return state, (asif.Fail(),) if site.config == "stops" else (done,)
        case "controller", _, Received(_, Checkpoint(_, number) as checkpoint):
            return checkpoint, (Send("writer", Commit(number)),)
        case "controller", Checkpoint(_, last), Received(_, Commit(number)) if number == last:
            return state._replace(committed=True), ()
        case "controller", _, Received(_, asif.Restarted()):
            again = () if state.committed else (Send("writer", Commit(state.transaction)),)
            return state, (Send("writer", state), *again)
        case "broker", writes, Received(_, Write() as write):
            return (*writes, write), ()
        case "broker", writes, Received(_, Commit(last)):
            ended = tuple(asif.Emit((0, w.body)) for w in writes if w.transaction <= last)
            return tuple(w for w in writes if w.transaction > last), ended
        case "broker", writes, Received(_, Checkpoint(_, last)):  # it aborts all later ones
            return tuple(w for w in writes if w.transaction <= last), ()
        case _:  # events that a replay brings again, or that come before it; an old report
            return state, ()


GRAPH = asif.chain(("writer", asif.Relay()), sink="broker")
REPEATABLE, GAP = asif.OperatorClass.REPEATABLE, asif.Guarantee.GAP
ONE = asif.Case("one event", asif.over_words(GRAPH, 1, "a"), REPEATABLE)
TWO = asif.Case("two events, two crashes", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
TIMERS = {"checkpoint": "From the first result of a transaction to the next checkpoint."}
ARROYO = asif.Family(
    "arroyo_1099",
    "A controller, checkpoints and Kafka transactions",
    "https://github.com/ArroyoSystems/arroyo/pull/1099",
    asif.Behaviour(deploy, boot, step, recover, show=asif.show_stream, timers=TIMERS),
    must_occur=(asif.CRASHED, asif.REPLAYED, asif.CHECKPOINTED),
)
REPORTED = ARROYO.design("reported", "reported", (ONE.fails(50, 9, GAP),), claims=GAP)
STOPS = ARROYO.design("stops", "stops", (ONE.fails(47, 7, asif.Guarantee.PRECISE),))
SCOPES = (ONE.holds(47), TWO.holds(431))
PROTOCOL = ARROYO.design(design="resumes", scopes=SCOPES, variants=(REPORTED, STOPS))
