"""A restarted sink asks for the newest timestamp before it fences the transactions of its past.

Materialize #9249, https://github.com/MaterializeInc/materialize/issues/9249
A transaction is on its way when the sink crashes.  The restarted sink reads the newest timestamp
that is committed; then the old transaction is committed; and what it has is written again.
The fix begins with the fence: a new producer with the same transactional id, whose epoch makes the
broker refuse what the old one sent.
`asif check docs/how-to/engines/materialize_9249.py` holds; its variant `reported` is refuted.
"""

# The site `producer` is the connection of the old transaction, which a crash of the sink does not
# empty.  Still to say, without that site: `links={("sinker", "broker"): Link(unordered=True)}`.

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Emit, Event, Note, Received, Replay, Role, Send, Site


class Sinker(NamedTuple):
    """The epoch of its producer, and the timestamp that it has written up to."""

    epoch: int = 1
    stamp: int = 0


class Fencing(NamedTuple):
    """It waits for the epoch of its new producer.  stamp: what it has read before, if it has."""

    stamp: int | None = None


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
    producer = Site("producer", Role.OPERATOR, None, ("sinker",), ("broker",))
    ends = (("sinker", "producer"), ("producer", "broker"))
    return deployed._replace(
        sites=(*deployed.sites[:2], producer, *deployed.sites[2:]),
        channels=(*deployed.channels, *ends),
        prompt=frozenset({"broker"}),
    )


def boot(site: Site) -> Any:
    first = {"source": asif.QueueState(), "sinker": Sinker(), "broker": Sinker()}
    return first.get(site.name)


def recover(site: Site, _durable: None) -> Answer:
    return Fencing(), (Send("broker", Fence() if site.config else Newest()),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.name, state, input_:
        case "source", _, asif.Arrival():
            return asif.produce(state, input_, site.succs)
        case "source", _, Received(reader, Replay() as request):
            return asif.serve(state, reader, request)
        case "sinker", Sinker(epoch, stamp), Received(_, Event((n,), _) as event) if n == stamp + 1:
            return Sinker(epoch, n), (Send("producer", Transaction(epoch, event)),)
        case "sinker", Fencing(), Received(_, Newest(stamp)):
            return Fencing(stamp), (Send("broker", Fence()),)
        case "sinker", Fencing(None), Received(_, Fence(epoch)):
            return Sinker(epoch, -2), (Send("broker", Newest()),)
        case "sinker", Fencing(int(stamp)), Received(_, Fence(epoch)):
            return Sinker(epoch, stamp), (Send("source", Replay(stamp)),)
        case "sinker", Sinker(epoch, -2), Received(_, Newest(stamp)):
            return Sinker(epoch, stamp), (Send("source", Replay(stamp)),)
        case "producer", _, Received(_, Transaction() as transaction):
            return state, (Send("broker", transaction),)
        case "broker", Sinker(epoch, _), Received(_, Transaction(of, Event((stamp,), body))):
            if of < epoch:
                return state, (Note(asif.STALE),)
            return Sinker(epoch, stamp), (Emit((0, body)),)
        case "broker", Sinker(_, stamp), Received(sinker, Newest()):
            return state, (Send(sinker, Newest(stamp)),)
        case "broker", Sinker(epoch, stamp), Received(sinker, Fence()):
            return Sinker(epoch + 1, stamp), (Send(sinker, Fence(epoch + 1)),)
        case _:  # what a replay brings again or comes before it
            return state, ()


GRAPH = asif.chain(("sinker", asif.Relay()), sink="broker")
REPEATABLE, REPEATING = asif.OperatorClass.REPEATABLE, asif.Guarantee.REPEATING
ONE = asif.Case("one event", asif.over_words(GRAPH, 1, "a"), REPEATABLE)
TWO = asif.Case("two events, two crashes", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
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
    (ONE.fails(47, 11, REPEATING),),
    "A transaction of the past is committed between the question and the fence.",
    claims=REPEATING,
)
PROTOCOL = MATERIALIZE.design(
    design=True,
    scopes=(ONE.holds(40), TWO.holds(802)),
    must_occur=(asif.CRASHED, asif.REPLAYED, asif.STALE),
    variants=(REPORTED,),
)
