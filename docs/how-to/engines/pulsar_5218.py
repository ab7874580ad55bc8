"""A broker drops the second attempt of a write that failed, as a duplicate, and acknowledges it.

Apache Pulsar #5218, https://github.com/apache/pulsar/issues/5218
With deduplication, a broker remembers the highest number that a producer has sent, before the
ledger has stored it.  If that fails, the producer sends again, and the broker says that it has it.
Fixed in https://github.com/apache/pulsar/pull/5243: after a failure the broker goes back to the
number that is stored, and answers with an error as long as it does not know it.
`asif check docs/how-to/engines/pulsar_5218.py` holds; its variant `reported` is refuted, without a
crash: a message to the ledger is lost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Emit, Event, Note, Received, Send, Site, Trim


class Broker(NamedTuple):
    """The highest number that was sent to the ledger, and whether it may be stored or not."""

    highest: int = 0
    uncertain: bool = False


class Failed(NamedTuple):
    """An error: the producer is to send again."""


class Ask(NamedTuple):
    """The broker asks the ledger for its last entry."""


class Stored(NamedTuple):
    """The last entry of the ledger."""

    number: int


def deploy(certain: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: certain)
    return deployed._replace(
        crashable=frozenset(),
        patient=frozenset({"write"}),
        links={("broker", "ledger"): asif.Link(lossy=True)},
    )


def boot(site: Site) -> Any:
    return {"producer": asif.QueueState(), "broker": Broker(), "ledger": 0}[site.name]


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
                writes = Send("ledger", event), asif.SetTimer("write")
                return state._replace(highest=number), writes
            if number > state.highest or state.uncertain or site.config:
                return state, ()  # in the fixed form the producer learns from the ledger
            return state, (Note(asif.DISCARDED), Send("producer", Trim(number)))
        case "broker", asif.TimerFired() if site.config:
            asks = Send("ledger", Ask()), asif.SetTimer("write")
            return state._replace(uncertain=True), asks
        case "broker", asif.TimerFired():
            return state, (Send("producer", Failed()),)
        case "broker", Received(_, Stored(number)):
            failed = (Send("producer", Failed()),) if state.uncertain else ()
            if number < state.highest and not state.uncertain:
                return state, (Send("producer", Trim(number)),)
            after = Broker(number) if state.uncertain else state
            return after, (asif.CancelTimer("write"), Send("producer", Trim(number)), *failed)
        case "ledger", Received(_, Event((number,), body)) if number == state + 1:
            return number, (Emit((0, body)), Send("broker", Stored(number)))
        case "ledger", Received(_, Ask()):
            return state, (Send("broker", Stored(state)),)
        case _:  # an entry that does not follow the last one
            return state, ()


GRAPH = asif.chain(("broker", asif.Relay()), source="producer", sink="ledger")


def lossy(length: int, losses: int) -> asif.Scope:
    scope = asif.over_words(GRAPH, length, "a", crashes=0)
    return replace(scope, disturbances=losses)


REPEATABLE, GAP = asif.OperatorClass.REPEATABLE, asif.Guarantee.GAP
ONE = asif.Case("one message, one lost", lossy(1, 1), REPEATABLE)
TWO = asif.Case("two messages, two lost", lossy(2, 2), REPEATABLE)
PULSAR = asif.Family(
    "pulsar_5218",
    "A broker that discards duplicates before they are stored",
    "https://github.com/apache/pulsar/issues/5218",
    asif.Behaviour(
        *(deploy, boot, step),
        show=asif.show_stream,
        timers={"write": "From a write to the moment at which the broker takes it for failed."},
        quantities=(asif.TRIMMED,),
    ),
    assumes=asif.Assumptions(asif.Failures.NONE),
    must_occur=(asif.DISTURBED, asif.REPLAYED),
)
REPORTED = PULSAR.design("reported", False, (ONE.fails(11, 7, GAP),), claims=GAP)
PROTOCOL = PULSAR.design(design=True, scopes=(ONE.holds(16), TWO.holds(118)), variants=(REPORTED,))
