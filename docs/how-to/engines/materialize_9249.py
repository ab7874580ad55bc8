"""A restarted sink asks for the newest timestamp before it fences the transactions of its past.

Materialize #9249, https://github.com/MaterializeInc/materialize/issues/9249
A transaction is on its way when the sink crashes.  The restarted sink reads the newest timestamp
that is committed; then the old transaction is committed; and what it has is written again.
The fix begins with the fence: a new producer with the same transactional id, whose epoch makes the
broker refuse what the old one sent.
`asif check docs/how-to/engines/materialize_9249.py` holds; its variant `reported` is refuted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Emit, Event, Note, Received, Replay, Role, Send, Site


class Sinker(NamedTuple):
    """The epoch of its producer, the timestamp that it has written up to, and what waits: the event
    of the transaction that is under way, and those behind it."""

    epoch: int = 1
    stamp: int = 0
    waiting: tuple[Event, ...] = ()


class Fencing(NamedTuple):
    """A restarted sinker: the newest timestamp and the epoch of its new producer, once known."""

    stamp: int | None = None
    epoch: int | None = None


class Transaction(NamedTuple):
    epoch: int
    event: Event


class Newest(NamedTuple):
    """The question for the newest timestamp that is committed, and the answer."""

    stamp: int = -1


class Fence(NamedTuple):
    """The question for a new epoch, and the answer."""

    epoch: int = -1


def deploy(fences_first: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: fences_first)
    # Two connections, the one before the crash and the one after it, in one channel.
    return deployed._replace(links={("sinker", "broker"): asif.Link(unordered=True)})


def boot(site: Site) -> Any:
    return {"source": asif.QueueState(), "sinker": Sinker(), "broker": Sinker()}[site.name]


def recover(site: Site, _durable: None) -> Answer:
    return Fencing(), (Send("broker", Fence() if site.config else Newest()),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, asif.Arrival():
            return asif.produce(state, input_, site.succs)
        case Role.SOURCE, _, Received(reader, Replay() as request):
            return asif.serve(state, reader, request)
        case Role.SINK, Sinker(epoch, last), Received(_, Transaction(of, Event((stamp,), body))):
            if of < epoch:
                return state, (Note(asif.STALE), Send("sinker", Sinker(epoch)))
            done = Send("sinker", Sinker(epoch, stamp))
            return Sinker(epoch, max(stamp, last)), (Emit((0, body)), done)
        case Role.SINK, Sinker(_, stamp), Received(sinker, Newest()):
            return state, (Send(sinker, Newest(stamp)),)
        case Role.SINK, Sinker(epoch, stamp), Received(sinker, Fence()):
            return Sinker(epoch + 1, stamp), (Send(sinker, Fence(epoch + 1)),)
        case _, Sinker(epoch), Received(_, Sinker(of)) if of > epoch:
            return state, (asif.Fail(),)  # fenced
        case _, Sinker(epoch, stamp, waiting), Received(_, Event((n,), _) as event) if (
            n == stamp + len(waiting) + 1
        ):
            return write(Sinker(epoch, stamp, (*waiting, event)), now=not waiting)
        case _, Sinker(epoch, _, (first, *rest)), Received(_, Sinker(of, stamp)) if (
            of == epoch and first.sn == (stamp,)
        ):
            return write(Sinker(epoch, stamp, (*rest,)), now=bool(rest))
        case _, Fencing(), Received(_, Newest(stamp)) if not site.config:
            return Fencing(stamp), (Send("broker", Fence()),)
        case _, Fencing(None), Received(_, Fence(epoch)):
            return Fencing(epoch=epoch), (Send("broker", Newest()),)
        case _, Fencing(None, int(epoch)), Received(_, Newest(stamp)):
            return Sinker(epoch, stamp), (Send("source", Replay(stamp)),)
        case _, Fencing(int(stamp)), Received(_, Fence(epoch)):
            return Sinker(epoch, stamp), (Send("source", Replay(stamp)),)
        case _:  # what a replay brings again or comes before it; an old answer
            return state, ()


def write(sinker: Sinker, *, now: bool) -> Answer:
    """Begin the next transaction."""
    first = (Send("broker", Transaction(sinker.epoch, sinker.waiting[0])),) if now else ()
    return sinker, first


GRAPH = asif.chain(("sinker", asif.Relay()), sink="broker")


def late(scope: asif.Scope) -> asif.Scope:
    """One message may come late."""
    return replace(scope, disturbances=1)


REPEATABLE, REPEATING = asif.OperatorClass.REPEATABLE, asif.Guarantee.REPEATING
ONE = asif.Case("one event", late(asif.over_words(GRAPH, 1, "a")), REPEATABLE)
TWO = asif.Case(
    "two events, two crashes", late(asif.over_words(GRAPH, 2, "a", crashes=2)), REPEATABLE
)
MATERIALIZE = asif.Family(
    "materialize_9249",
    "A sink that reads where it stopped, and fences its past",
    "https://github.com/MaterializeInc/materialize/issues/9249",
    asif.Behaviour(
        *(deploy, boot, step, recover),
        show=lambda value: f"{value.body.type}{value.sn[0]}" if isinstance(value, Event) else "",
    ),
    must_occur=(asif.CRASHED, asif.REPLAYED),
)
REPORTED = MATERIALIZE.design(
    "reported",
    False,
    (ONE.fails(111, 15, REPEATING),),
    "A transaction of the past is committed between the question and the fence.",
    claims=REPEATING,
)
PROTOCOL = MATERIALIZE.design(
    design=True,
    scopes=(ONE.holds(103), TWO.holds(2_817)),
    must_occur=(asif.CRASHED, asif.REPLAYED, asif.STALE),
    variants=(REPORTED,),
)
