"""Passive standby (Hwang et al., Section 4): a primary that copies its state to a standby.

A toy of the tests: one graph, source -> A -> sink, and the site `standby`, which the graph does not
have.  It survives single failures, and no second one before the redundancy is back.
Rule of this file: the whole protocol and its evidence; values are in messages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from model.cep.denotation import evaluate
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.windows import CountWindows
from model.core import (
    CRASHED,
    Answer,
    Arrival,
    Deployment,
    Emit,
    Guarantee,
    Input,
    Note,
    Observation,
    OperatorClass,
    Property,
    Received,
    Role,
    Scope,
    Send,
    Site,
    When,
)
from model.costs import Amount, Gauges, Memory
from model.errors import Invalid
from model.events import Body
from model.evidence import Outcome, PinnedScope
from model.family import Family
from model.graph import SINK, SOURCE, chain
from model.parts import over_words
from model.properties import AS_IF, COMPLETE
from model.protocol import Assumptions, Behaviour, Failures

from .messages import (
    OUTPUTS_COPIED,
    TAKEN_OVER,
    Copied,
    Copy,
    Empty,
    Numbered,
    Replica,
    Resend,
    Sending,
    TakeOver,
    show,
    size,
)

STANDBY = "standby"


def deploy(_design: None, scope: Scope) -> Deployment:
    """Raises Invalid unless the graph is a chain with one operator."""
    inner = [name for name, spec in scope.graph.nodes if spec not in (SOURCE, SINK)]
    if len(inner) != 1 or len(scope.graph.nodes) != 3:
        raise Invalid("standby: deploys one operator between a source and a sink")
    (primary,) = inner
    (source,), (sink,) = scope.graph.preds(primary), scope.graph.succs(primary)
    spec = scope.graph.specs[primary]
    replicas = (primary, STANDBY)
    return Deployment(
        (
            Site(source, Role.SOURCE, SOURCE, (), replicas, config=primary),
            Site(sink, Role.SINK, SINK, (primary,), ()),
            *(Site(name, Role.OPERATOR, spec, (source,), (sink,), replicas) for name in replicas),
        ),
        (
            *((source, name) for name in replicas),
            *((name, source) for name in replicas),
            *((name, sink) for name in replicas),
            (primary, STANDBY),
            (STANDBY, primary),
        ),
        frozenset(replicas),
    )


def boot(site: Site) -> Any:
    if site.role is Role.SOURCE:
        return Sending(site.config)
    return 0 if site.role is Role.SINK else Replica()


def recover(site: Site, _durable: None) -> Answer:
    return Replica(ready=False), (Send(site.preds[0], Empty()),)


def step(site: Site, state: Any, input_: Input) -> Answer:
    match site.role, input_:
        case Role.SOURCE, _:
            return _of_source(site, state, input_)
        case Role.SINK, Received(_, Numbered(number, body)):
            return (number, (Emit((0, body)),)) if number == state + 1 else (state, ())
        case Role.OPERATOR, Received(_, message):
            return _of_replica(site, state, message)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _of_source(site: Site, state: Sending, input_: Input) -> Answer:
    match input_:
        case Arrival(gap, type_, data):
            body = Body(state.now + gap, type_, data)
            number = state.last + 1
            kept = (*state.kept, (number, body))
            after = state._replace(now=body.time, last=number, kept=kept)
            return after, (Send(state.primary, Numbered(number, body)),)
        case Received(_, Copied(done)):
            return state._replace(kept=tuple(one for one in state.kept if one[0] > done)), ()
        case Received(sender, Empty()) if sender == state.primary:
            other = next(name for name in site.succs if name != sender)
            return state._replace(primary=other), (Send(other, TakeOver(state.kept)),)
        case Received(_, Empty()):
            return state, (Send(state.primary, Resend()),)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _of_replica(site: Site, state: Replica, message: Any) -> Answer:
    other = next(name for name in site.config if name != site.name)
    match message:
        case Numbered(number, body) if state.ready and number == state.done + 1:
            after = _processed(site, state, body)
            return after, (*_new(site, state, after), Send(other, Copy(after)))
        case TakeOver(events):
            after = state
            for number, body in events:
                if number == after.done + 1:
                    after = _processed(site, after, body)
            everything = _new(site, Replica(), after)
            ready = after._replace(ready=True)
            return ready, (Note(TAKEN_OVER), *everything, Send(other, Copy(ready)))
        case Resend():
            return state, (Send(other, Copy(state)),)
        case Copy(copied) if copied.done >= state.done:
            note = Note(OUTPUTS_COPIED, len(copied.outputs) - len(state.outputs))
            return copied, (note, Send(site.preds[0], Copied(copied.done)))
        case _:  # an event that reaches a node without its state comes again with TakeOver
            return state, ()


def _processed(site: Site, state: Replica, body: Body) -> Replica:
    """The replica after one more event; all is evaluated anew, so no state of windows is kept."""
    events = (*state.events, body)
    return Replica(state.ready, events, tuple(evaluate(site.spec, events)))


def _new(site: Site, before: Replica, after: Replica) -> tuple[Send, ...]:
    numbers = range(len(before.outputs) + 1, len(after.outputs) + 1)
    return tuple(Send(site.succs[0], Numbered(n, after.outputs[n - 1])) for n in numbers)


def gauges(_site: Site, state: Any) -> Gauges:
    match state:
        case Sending():
            return Gauges(buffered=len(state.kept), progress=state.last)
        case Replica():
            return Gauges(progress=state.done, own=((OUTPUTS_COPIED, len(state.outputs)),))
        case _:
            return Gauges(progress=state)


def memory(_site: Site, state: Any) -> Memory:
    match state:
        case Sending():
            return Memory(buffers=Amount(len(state.kept)))
        case Replica():
            return Memory(savepoints=Amount(len(state.outputs)), state=Amount(len(state.events)))
        case _:
            return Memory()


def _all_ready(_scope: Scope, seen: Observation) -> bool:
    replicas = [state for _, state in seen.states if isinstance(state, Replica)]
    return len(replicas) == 2 and all(state.ready for state in replicas)


READY = Property("at rest, every replica is ready", When.QUIESCENT, _all_ready, nodes=True)

# One window that never ends, so that the engine's state is all the state there is.
ONE = chain(("A", Operator(one_run("a", "b"), CountWindows(99, 99))))
TWO_CRASHES = over_words(ONE, 2, crashes=2)
CLASS = OperatorClass.DETERMINISTIC


def forgets_the_standby(
    step: Callable[[Site, Any, Input], Answer],
) -> Callable[[Site, Any, Input], Answer]:
    """A primary that does not copy its state to a standby that is back."""

    def forgetting(site: Site, state: Any, input_: Input) -> Answer:
        if isinstance(input_, Received) and isinstance(input_.message, Resend):
            return state, ()
        return step(site, state, input_)

    return forgetting


PROTOCOL = Family(
    "standby",
    "Passive standby",
    "Hwang et al., Section 4",
    Behaviour(
        deploy,
        boot,
        step,
        recover,
        gauges=gauges,
        show=show,
        size=size,
        memory=memory,
        quantities=(TAKEN_OVER, OUTPUTS_COPIED),
    ),
    assumes=Assumptions(Failures.SINGLE),
    properties=(AS_IF, COMPLETE, READY),
).design(
    scopes=(PinnedScope("two crashes", TWO_CRASHES, CLASS, states=2924),),
    must_occur=(CRASHED, TAKEN_OVER, OUTPUTS_COPIED),
)
ANY = PROTOCOL.vary(
    variant="any",
    title="Passive standby, any failures",
    assumes=Assumptions(Failures.ANY),
    claims={CLASS: Guarantee.GAP},
    scopes=(
        PinnedScope(
            "two crashes",
            TWO_CRASHES,
            CLASS,
            Outcome.REFUTED,
            steps=12,
            guarantee=Guarantee.GAP,
        ),
    ),
)
UNREADY = PROTOCOL.vary(
    variant="unready",
    title="Passive standby that is not copied to again",
    step=forgets_the_standby(step),
    scopes=(
        PinnedScope("one crash", replace(TWO_CRASHES, crashes=1), CLASS, Outcome.REFUTED, steps=4),
    ),
)
PROTOCOL = PROTOCOL.vary(variants=(ANY, UNREADY))
