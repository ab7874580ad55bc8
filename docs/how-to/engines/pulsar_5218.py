"""A broker drops the second attempt of a write that failed, as a duplicate, and acknowledges it.

Apache Pulsar #5218, https://github.com/apache/pulsar/issues/5218
With deduplication, a broker remembers the highest number that a producer has sent, before the
ledger has stored it.  If that fails, the producer sends again, and the broker says that it has it.
Fixed in https://github.com/apache/pulsar/pull/5243: after a failure the broker goes back to the
number that is stored, and answers with an error as long as it does not know it.
`asif check docs/how-to/engines/pulsar_5218.py` holds; its variant `reported` is refuted.
"""

# A failed write is a crash of the site `bookie`, which holds what is on its way to the ledger.
# Still to say, without that site: `links={("broker", "ledger"): Link(lossy=True)}`.

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Emit, Event, Note, Received, Send, Site, Trim


class Broker(NamedTuple):
    """The highest number that was sent to the ledger, and whether it may be stored or not."""

    highest: int = 0
    uncertain: bool = False


class Failed(NamedTuple):
    """A write has failed: to the broker, and from there to the producer."""


class Ask(NamedTuple):
    """The broker asks the ledger for its last entry."""


class Stored(NamedTuple):
    """The ledger has all entries up to this one."""

    number: int


class Last(NamedTuple):
    """The answer to `Ask`."""

    number: int


def deploy(certain: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: certain)
    direct = (("broker", "ledger"), ("ledger", "broker"))
    return deployed._replace(
        channels=(*deployed.channels, *direct),
        crashable=frozenset({"bookie"}),
        prompt=frozenset({"ledger"}),
    )


def boot(site: Site) -> Any:
    return {"producer": asif.QueueState(), "broker": Broker(), "ledger": 0}.get(site.name)


def recover(_site: Site, _durable: None) -> Answer:
    return None, (Send("broker", Failed()),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.name, input_:
        case "producer", asif.Arrival():
            return asif.produce(state, input_, site.succs)
        case "producer", Received(broker, Failed()):
            again = tuple(Send(broker, event) for event in state.kept)
            return state, (Note(asif.REPLAYED, len(again)), *again)
        case "producer", Received(_, Trim(number)):
            return asif.trim(state, number)
        case "broker", Received(_, Event((number,), _) as event):
            if number == state.highest + 1 and not state.uncertain:
                return state._replace(highest=number), (Send("bookie", event),)
            if number > state.highest or state.uncertain or site.config:
                return state, ()  # in the fixed form the producer learns from the ledger
            return state, (Note(asif.DISCARDED), Send("producer", Trim(number)))
        case "broker", Received(_, Failed()) if site.config:
            return state._replace(uncertain=True), (Send("ledger", Ask()),)
        case "broker", Received(_, Failed()):
            return state, (Send("producer", Failed()),)
        case "broker", Received(_, Last(number)):
            return Broker(number), (Send("producer", Trim(number)), Send("producer", Failed()))
        case "broker", Received(_, Stored(number)):
            return state, (Send("producer", Trim(number)),)
        case "bookie", Received(_, Event() as event):
            return state, (Send("ledger", event),)
        case "ledger", Received(_, Event((number,), body)) if number == state + 1:
            return number, (Emit((0, body)), Send("broker", Stored(number)))
        case "ledger", Received(_, Ask()):
            return state, (Send("broker", Last(state)),)
        case _:  # an entry that does not follow the last one
            return state, ()


GRAPH = asif.Graph(
    (
        *(("producer", asif.SOURCE), ("broker", asif.Relay())),
        *(("bookie", asif.Relay()), ("ledger", asif.SINK)),
    ),
    (("producer", "broker"), ("broker", "bookie"), ("bookie", "ledger")),
)
REPEATABLE, GAP = asif.OperatorClass.REPEATABLE, asif.Guarantee.GAP
ONE = asif.Case("one message", asif.over_words(GRAPH, 1, "a"), REPEATABLE)
TWO = asif.Case("two messages, two faults", asif.over_words(GRAPH, 2, "a", crashes=2), REPEATABLE)
PULSAR = asif.Family(
    "pulsar_5218",
    "A broker that discards duplicates before they are stored",
    "https://github.com/apache/pulsar/issues/5218",
    asif.Behaviour(
        *(deploy, boot, step, recover),
        show=lambda value: f"{value.body.type}{value.sn[0]}" if isinstance(value, Event) else "",
        quantities=(asif.TRIMMED,),
    ),
    must_occur=(asif.CRASHED, asif.REPLAYED),
)
REPORTED = PULSAR.design("reported", False, (ONE.fails(47, 8, GAP),), claims=GAP)
PROTOCOL = PULSAR.design(
    design=True, scopes=(ONE.holds(68), TWO.holds(2_683)), variants=(REPORTED,)
)
