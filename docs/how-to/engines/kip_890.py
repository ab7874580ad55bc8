"""A late message of an aborted transaction becomes a part of the next one.

Apache Kafka KIP-890,
https://cwiki.apache.org/confluence/display/KAFKA/KIP-890%3A+Transactions+Server-Side+Defense
A producer gives up on a message, aborts its transaction and sends the message again in the next
one.  All its transactions have one epoch, so the first copy, which was only late, counts as well.
The fix raises the epoch with the end of every transaction.
`asif check docs/how-to/engines/kip_890.py` holds; its variant `reported` is refuted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import asif.protocol as asif
from asif.protocol import Answer, Event, Note, Received, Role, Send, Site


class Producer(NamedTuple):
    """Its epoch, the events to commit, the attempt at the first one; is a transaction ending?"""

    epoch: int = 1
    waiting: tuple[Event, ...] = ()
    attempt: int = 1
    ending: bool = False


class Produce(NamedTuple):
    """attempt: for the producer, which receives it back; no broker looks at it."""

    epoch: int
    event: Event
    attempt: int


class End(NamedTuple):
    """Commit or abort the open transaction; as an answer: that is done."""

    commits: bool


class Broker(NamedTuple):
    """The epoch of the producer, and the open transaction."""

    epoch: int = 1
    open: tuple[Event, ...] = ()


def deploy(bumps: bool, scope: asif.Scope) -> asif.Deployment:
    deployed = asif.deploy_graph(scope.graph, replies=True, config=lambda _: bumps)
    return deployed._replace(
        crashable=frozenset(),
        patient=frozenset({"give up"}),
        links={("producer", "broker"): asif.Link(unordered=True)},
    )


def boot(site: Site) -> Any:
    return {"source": asif.QueueState(), "producer": Producer(), "broker": Broker()}[site.name]


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, _, _:
            return asif.log_source(site, state, input_)
        case _, Producer(), Received("source", event):
            after = state._replace(waiting=(*state.waiting, event))
            return begin(after) if not state.waiting else (after, ())
        case _, Producer(attempt=1), asif.TimerFired():
            return state._replace(ending=True), (Send("broker", End(commits=False)),)
        case _, Producer(epoch, (first, *_), attempt, False), Received(_, Produce() as back) if (
            back == Produce(epoch, first, attempt)
        ):
            end = Send("broker", End(commits=True))
            return state._replace(ending=True), (end, asif.CancelTimer("give up"))
        case _, Producer(epoch, waiting, attempt, True), Received(_, End(committed)):
            epoch += site.config
            if not committed:
                return begin(Producer(epoch, waiting, attempt + 1))
            return begin(Producer(epoch, waiting[1:]))
        case Role.SINK, Broker(epoch, events), Received(producer, Produce(of, event, _) as message):
            if of < epoch:
                return state, (Note(asif.STALE),)
            return Broker(epoch, (*events, event)), (Send(producer, message),)
        case Role.SINK, Broker(epoch, events), Received(producer, End(commits) as end):
            emits = tuple(asif.Emit((0, event.body)) for event in events if commits)
            return Broker(epoch + site.config), (*emits, Send(producer, end))
        case _:  # an old acknowledgement
            return state, ()


def begin(producer: Producer) -> Answer:
    """Send the first event that waits, in a new transaction."""
    if not producer.waiting:
        return producer, ()
    send = Send("broker", Produce(producer.epoch, producer.waiting[0], producer.attempt))
    return producer, (send, asif.SetTimer("give up"))


GRAPH = asif.chain(("producer", asif.Relay()), sink="broker")


def scope(length: int) -> asif.Scope:  # one time-out may come early, and one message late
    return asif.over_words(GRAPH, length, "a", crashes=0, early=1, disturbances=1)


REPEATABLE, REPEATING = asif.OperatorClass.REPEATABLE, asif.Guarantee.REPEATING
ONE = asif.Case("one event", scope(1), REPEATABLE)
TWO = asif.Case("two events", scope(2), REPEATABLE)
TIMERS = {"give up": "From a message to the moment at which its sender gives up."}
KAFKA = asif.Family(
    "kip_890",
    "A producer that gives up on a message",
    "https://cwiki.apache.org/confluence/display/KAFKA/KIP-890%3A+Transactions+Server-Side+Defense",
    asif.Behaviour(deploy, boot, step, show=asif.show_stream, timers=TIMERS),
    assumes=asif.Assumptions(asif.Failures.NONE),
)
REPORTED = KAFKA.design("reported", False, (ONE.fails(43, 11, REPEATING),), claims=REPEATING)
FIXED = ONE.holds(35), TWO.holds(139)
PROTOCOL = KAFKA.design("", True, FIXED, must_occur=(asif.STALE,), variants=(REPORTED,))
