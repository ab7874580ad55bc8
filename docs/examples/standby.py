"""Two replicas of an operator: either goes on alone, and gives the other one its state back.

Active standby (Hwang et al., Section 4).  Two faults at once lose both states (the variant `any`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from asif.protocol import (
    AS_IF,
    COMPLETE,
    CRASHED,
    DISCARDED,
    RESTORED,
    Answer,
    Arrival,
    Assumptions,
    Behaviour,
    Body,
    Case,
    CountWindows,
    Deployment,
    Emit,
    Event,
    Failures,
    Family,
    Guarantee,
    Note,
    Observation,
    Operator,
    OperatorClass,
    Property,
    Received,
    Role,
    Scope,
    Send,
    Site,
    When,
    chain,
    deploy_graph,
    over_words,
    sequence,
)


class Result(NamedTuple):
    number: int  # of the event
    bodies: tuple[Body, ...]  # all its matches, which may be none


class Hello(NamedTuple):
    """A replica has restarted.  It reports to the source, which reports to the other replica."""


class Replica(NamedTuple):  # its state, and the copy of it that the other one receives
    number: int  # of the last event
    engine: Any


class Waiting(NamedTuple):  # a restarted replica, until the copy comes
    queue: tuple[Event, ...] = ()


def deploy(_design: None, scope: Scope) -> Deployment:
    source, primary, sink = deploy_graph(scope.graph).sites
    pair = (primary.name, "standby")
    replicas = (primary._replace(name=name, config=other) for name, other in (pair, pair[::-1]))
    sites = (source._replace(succs=pair), *replicas, sink._replace(preds=pair))
    ends = ((name, end) for name in pair for end in (source.name, sink.name))
    channels = ((source.name, pair[0]), (source.name, pair[1]), *ends, pair, pair[::-1])
    return Deployment(sites, channels, frozenset(pair))


def boot(site: Site) -> Any:
    if site.role is Role.OPERATOR:
        return Replica(0, site.spec.engine.begin())
    return (0, 0) if site.role is Role.SOURCE else 0


def recover(site: Site, _durable: None) -> Answer:
    return Waiting(), (Send(site.preds[0], Hello()),)


def step(site: Site, state: Any, input_: Any) -> Answer:
    match site.role, state, input_:
        case Role.SOURCE, (number, now), Arrival(gap, type_, data):
            event = Event((number + 1,), Body(now + gap, type_, data))
            return (number + 1, now + gap), tuple(Send(name, event) for name in site.succs)
        case Role.SOURCE, _, Received(restarted, Hello()):
            return state, tuple(Send(name, Hello()) for name in site.succs if name != restarted)
        case Role.OPERATOR, Replica(), Received(_, Hello()):
            return state, (Send(site.config, state),)
        case Role.OPERATOR, Replica(), Received(_, Event() as event):
            return fed(site, state, (event,))
        case Role.OPERATOR, Waiting(queue), Received(_, Event() as event):
            return Waiting((*queue, event)), ()
        case Role.OPERATOR, Waiting(queue), Received(_, Replica() as copy):
            state, results = fed(site, copy, queue)
            return state, (Note(RESTORED), *results)
        case Role.SINK, last, Received(_, Result(number, bodies)) if number == last + 1:
            return number, tuple(Emit((0, body)) for body in bodies)
        case _:  # a result that the other replica sends too; after two faults at once, anything
            return state, (Note(DISCARDED),)


def fed(site: Site, state: Replica, events: tuple[Event, ...]) -> Answer:
    """The replica after those of the events that it has not had, with a result for each."""
    results = []
    for (number,), body in events:
        if number > state.number:
            engine, matches, _ = site.spec.engine.feed(state.engine, body)
            bodies = tuple(Body(body.time, site.spec.emits, match) for match in matches)
            results.append(Send(site.succs[0], Result(number, bodies)))
            state = Replica(number, engine)
    return state, tuple(results)


def both_ready(_scope: Scope, seen: Observation) -> bool:
    one, other = (state for name, state in seen.states if name in ("A", "standby"))
    return isinstance(one, Replica) and one == other


# One window that never ends, so that the engine's state is all the state there is.
ONE = chain(("A", Operator(sequence("a", "b"), CountWindows(9, 9))))
SMALL, CLASS = over_words(ONE, 2, crashes=2), OperatorClass.DETERMINISTIC
READY = Property("at rest, both replicas are ready", When.QUIESCENT, both_ready, nodes=True)
TWO_CRASHES = Case("two crashes", SMALL, CLASS)
STANDBY = Family(
    "standby",
    "A standby that works along",
    "Hwang et al., Section 4",
    Behaviour(
        deploy,
        boot,
        step,
        recover,
        show=lambda value: f"{value.body.type}{value.sn[0]}" if isinstance(value, Event) else "",
    ),
    properties=(AS_IF, COMPLETE, READY),
    assumes=Assumptions(Failures.SINGLE),
    must_occur=(CRASHED, RESTORED, DISCARDED),
)
ANY = STANDBY.design(
    "any",
    scopes=(Case("two", SMALL, CLASS).fails(33_562, 7, Guarantee.GAP),),
    claims=Guarantee.GAP,
    assumes=Assumptions(Failures.ANY),
)
PROTOCOL = STANDBY.design(scopes=(TWO_CRASHES.holds(5_025),), variants=(ANY,))
