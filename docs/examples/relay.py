"""An acknowledged relay: the source keeps each event until the sink has its result.

docs/tutorial/add-a-protocol.md builds this file in ten steps.
`asif check docs/examples/relay.py --mutants` holds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from asif.protocol import (
    AS_IF,
    COMPLETE,
    CRASHED,
    DISCARDED,
    REPLAYED,
    Answer,
    Arrival,
    Behaviour,
    Body,
    Case,
    CountWindows,
    Deployment,
    Emit,
    Event,
    Family,
    Gauges,
    Input,
    Invalid,
    Log,
    MessageKind,
    Mutant,
    Note,
    Observation,
    Operator,
    OperatorClass,
    Property,
    Quantity,
    Received,
    Role,
    Scope,
    Send,
    SetTimer,
    Site,
    Size,
    TimerFired,
    When,
    chain,
    default_size,
    deploy_graph,
    over_words,
    sequence,
)


class Result(NamedTuple):
    """All that the relay found in the event of this number, which may be nothing."""

    number: int
    bodies: tuple[Body, ...]


class Ack(NamedTuple):
    """The sink has the results of all events up to this number."""

    number: int


class Hello(NamedTuple):
    """The relay has restarted."""


class Source(NamedTuple):
    """The time of the last event, its number, and the events that are not acknowledged."""

    now: int = 0
    number: int = 0
    kept: Log[Event] = Log()


def boot(site: Site) -> Any:
    return {Role.SOURCE: Source(), Role.OPERATOR: None, Role.SINK: 0}[site.role]


def deploy(_design: None, scope: Scope) -> Deployment:
    if len(scope.graph.nodes) != 3:
        raise Invalid("relay: the graph must be a source, an operator and a sink")
    return deploy_graph(scope.graph, replies=True)


def source(site: Site, state: Source, input_: Input) -> Answer:
    relay = site.succs[0]
    match input_:
        case Arrival(gap, type_, data):
            event = Event((state.number + 1,), Body(state.now + gap, type_, data))
            kept = state.kept.append(event)
            return Source(event.body.time, state.number + 1, kept), (Send(relay, event),)
        case Received(_, Ack(number)):
            kept = state.kept.trim(lambda event: event.sn[0] <= number)
            return state._replace(kept=kept), ()
        case _:  # Hello
            again = tuple(Send(relay, event) for event in state.kept)
            return state, (Note(REPLAYED, len(again)), *again)


def relay(site: Site, message: Event | Ack) -> tuple[Send, ...]:
    if isinstance(message, Ack):
        return (Send(site.preds[0], message),)
    engine, (number,) = site.spec.engine, message.sn
    found = engine.feed(engine.begin(), message.body).matches
    bodies = tuple(Body(message.body.time, site.spec.emits, match) for match in found)
    return (Send(site.succs[0], Result(number, bodies)),)


def recover(site: Site, _durable: None) -> Answer:
    return None, (Send(site.preds[0], Hello()),)


EARLY = Quantity("early results", "results", "a result overtook a replay, which brings it again")


def sink(site: Site, last: int, result: Result) -> Answer:
    number, bodies = result
    if number > last + 1:
        return last, (Note(EARLY),)
    if number <= last:
        return last, (Note(DISCARDED), Send(site.preds[0], Ack(last)))
    return number, (*(Emit((0, body)) for body in bodies), Send(site.preds[0], Ack(number)))


def step(site: Site, state: Any, input_: Input) -> Answer:
    match site.role, input_:
        case Role.SOURCE, _:
            return source(site, state, input_)
        case Role.OPERATOR, Received(_, message):
            return state, relay(site, message)
        case Role.SINK, Received(_, result):
            return sink(site, state, result)
        case _:
            raise TypeError(f"nothing to do with {input_}")


def show(value: Any) -> str:
    match value:
        case Event((number,), body):
            return f"{body.type}{number}"
        case Result(number) | Ack(number):
            return f"{type(value).__name__.lower()} {number}"
        case _:
            return ""


def size(message: Any) -> Size:
    match message:
        case Result(_, bodies):
            return Size(MessageKind.EVENT, events=len(bodies))
        case Ack():
            return Size(MessageKind.ACKNOWLEDGEMENT)
        case Hello():
            return Size(MessageKind.RECOVERY)
        case _:
            return default_size(message)


def gauges(site: Site, state: Any) -> Gauges:
    if site.role is Role.SOURCE:
        return Gauges(buffered=len(state.kept), progress=state.number)
    return Gauges(progress=state)


GRAPH = chain(("relay", Operator(sequence("a"), CountWindows(1, 1))))
ONE = Case("one event", over_words(GRAPH, 1), OperatorClass.REPEATABLE)
RELAY = Family(
    "relay",
    "An acknowledged relay",
    "docs/tutorial/add-a-protocol.md",
    Behaviour(deploy, boot, step, recover, gauges=gauges, show=show, size=size),
)


def trimmed(_scope: Scope, seen: Observation) -> bool:
    return not dict(seen.states)["source"].kept


TRIMMED = Property("at rest, the source keeps nothing", When.QUIESCENT, trimmed, nodes=True)
TWO = Case("two events", over_words(GRAPH, 2, crashes=2), OperatorClass.REPEATABLE)


def lazy_step(site: Site, state: Any, input_: Input) -> Answer:
    match input_:
        case TimerFired():
            return state, (Send(site.preds[0], Ack(state)),)
        case Received(_, Result()):
            last, effects = step(site, state, input_)
            rest = tuple(effect for effect in effects if not isinstance(effect, Send))
            return last, (*rest, SetTimer("acknowledge"))
        case _:
            return step(site, state, input_)


LAZY_TIMERS = {"acknowledge": "From a result to the acknowledgement of all results so far."}
LAZY = RELAY.design(
    "lazy",
    scopes=(TWO.holds(11_079),),
    behaviour=replace(RELAY.behaviour, step=lazy_step, timers=LAZY_TIMERS),
)
MUTANTS = (
    Mutant("the sink takes duplicates", __name__, "if number <= last:", "if number < last:"),
    Mutant("the sink takes early results", __name__, "if number > last + 1:", "if False:"),
    Mutant(
        "the sink acknowledges no duplicate",
        __name__,
        "return last, (Note(DISCARDED), Send(site.preds[0], Ack(last)))",
        "return last, (Note(DISCARDED),)",
    ),
    Mutant(
        "the relay acknowledges",
        __name__,
        "return (Send(site.succs[0], Result(number, bodies)),)",
        "return Send(site.succs[0], Result(number, bodies)), Send(site.preds[0], Ack(number))",
    ),
)
PROTOCOL = RELAY.design(
    scopes=(ONE.holds(), TWO.holds(6_327)),
    behaviour=replace(RELAY.behaviour, quantities=(EARLY,)),
    properties=(AS_IF, COMPLETE, TRIMMED),
    must_occur=(CRASHED, REPLAYED, DISCARDED, EARLY),
    mutants=MUTANTS,
    variants=(LAZY,),
)
