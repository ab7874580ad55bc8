"""A late message of an aborted transaction becomes a part of the next one.

Apache Kafka KIP-890,
https://cwiki.apache.org/confluence/display/KAFKA/KIP-890%3A+Transactions+Server-Side+Defense
A producer gives up on a message, aborts its transaction and sends the message again in the next
one.  All its transactions have one epoch, so the first copy, which was only late, counts as well.
The fix raises the epoch with the end of every transaction.
`asif check docs/how-to/engines/kip_890.py` holds; its variant `reported` is refuted, without a
crash.
"""

# The site `network` makes messages late.  Still to say, without that site:
# `links={("producer", "broker"): Link(unordered=True)}`, and the time-out as a premature firing
# (`Scope.early`) of a patient timer, so that runs without one stay short.

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Event, Note, Received, Role, Send, Site


class Producer(NamedTuple):
    """Its epoch, the events that it has not committed, and whether it has given up on the first."""

    epoch: int = 1
    waiting: tuple[Event, ...] = ()
    retried: bool = False


class Produce(NamedTuple):
    """again: which attempt it is, for the producer that receives it back; no broker looks at it."""

    epoch: int
    event: Event
    again: bool = False


class End(NamedTuple):
    """Commit or abort what is open."""

    commits: bool


class Broker(NamedTuple):
    """The epoch of the producer, and the open transaction."""

    epoch: int = 1
    open: tuple[Event, ...] = ()


def deploy(bumps: bool, scope: asif.Scope) -> asif.Deployment:
    source, producer, broker = asif.deploy_graph(scope.graph, config=lambda _: bumps).sites
    network = Site("network", Role.OPERATOR, None, ("producer",), ("broker",))
    return asif.Deployment(
        (source, producer, network, broker),
        (
            *(("source", "producer"), ("producer", "network"), ("network", "broker")),
            *(("producer", "broker"), ("broker", "producer")),
        ),
        frozenset(),
        prompt=frozenset({"broker"}),
    )


def boot(site: Site) -> Any:
    first = {"source": asif.QueueState(), "producer": Producer(), "broker": Broker()}
    return first.get(site.name)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.name, state, input_:
        case "source", _, asif.Arrival():
            return asif.produce(state, input_, site.succs)
        case "producer", Producer(epoch, waiting, retried), Received("source", event):
            return begin(Producer(epoch, (*waiting, event), retried), len(waiting) == 0)
        case "producer", Producer(epoch, (first, *_), False), asif.TimerFired():
            epoch += site.config
            again = Send("network", Produce(epoch, first, True))
            return state._replace(epoch=epoch, retried=True), (Send("broker", End(False)), again)
        case "producer", Producer(epoch, (first, *others), retried), Received(_, produced) if (
            produced == Produce(epoch, first, retried)
        ):
            after, sends = begin(Producer(epoch + site.config, tuple(others)), bool(others))
            return after, (Send("broker", End(True)), *sends)
        case "network", _, Received(_, message):
            return state, (Send("broker", message),)
        case "broker", Broker(epoch, events), Received(_, Produce(of, event, _) as message):
            if of < epoch:
                return state, (Note(asif.STALE),)
            return Broker(epoch, (*events, event)), (Send("producer", message),)
        case "broker", Broker(epoch, events), Received(_, End(commits)):
            emits = tuple(asif.Emit((0, event.body)) for event in events if commits)
            return Broker(epoch + site.config), emits
        case _:  # a time-out too late, an old acknowledgement
            return state, ()


def begin(producer: Producer, now: bool) -> Answer:
    """Send the first event that waits, in a new transaction."""
    if not now:
        return producer, ()
    send = Send("network", Produce(producer.epoch, producer.waiting[0]))
    return producer, (send, asif.SetTimer("time-out"))


GRAPH = asif.chain(("producer", asif.Relay()), sink="broker")
REPEATABLE, REPEATING = asif.OperatorClass.REPEATABLE, asif.Guarantee.REPEATING
ONE = asif.Case("one event", asif.over_words(GRAPH, 1, "a", crashes=0), REPEATABLE)
TWO = asif.Case("two events", asif.over_words(GRAPH, 2, "a", crashes=0), REPEATABLE)
KAFKA = asif.Family(
    "kip_890",
    "A producer that gives up on a message",
    "https://cwiki.apache.org/confluence/display/KAFKA/KIP-890%3A+Transactions+Server-Side+Defense",
    asif.Behaviour(
        *(deploy, boot, step),
        show=lambda value: f"{value.body.type}{value.sn[0]}" if isinstance(value, Event) else "",
        timers={"time-out": "From a message to the moment at which its sender gives up."},
    ),
)
REPORTED = KAFKA.design("reported", False, (ONE.fails(16, 7, REPEATING),), claims=REPEATING)
PROTOCOL = KAFKA.design(
    design=True,
    scopes=(ONE.holds(12), TWO.holds(49)),
    must_occur=(asif.STALE,),
    variants=(REPORTED,),
)
