"""The nodes of amnesia: sources, operators and sinks that keep nothing for a restart.

Rule of this file: nothing is kept, numbered, acknowledged or saved; what is here is the work of a
run that nothing protects.

Theory of operation (Hwang et al., Section 4):

1. A source sends each tuple once, and forgets it.
2. An operator processes the tuples that arrive, and sends its outputs.
3. An operator that merges its inputs in the order of time needs watermarks: they are part of this
   work, and no protection.
4. A crash loses the state of the operator and the tuples on their way to it.
5. A restarted operator begins with an empty state, and goes on with the tuples that come then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from model.boxes.box import Box, Item, bodies
from model.cep.merge import InputQueue, low, ready
from model.cep.operator import CepState, Operator, process
from model.core import (
    Answer,
    Arrival,
    Deployment,
    Effect,
    Emit,
    Input,
    NodeName,
    Note,
    Quantity,
    Received,
    Role,
    Scope,
    Send,
    Site,
)
from model.costs import (
    EVENT,
    NO_STATES,
    Amount,
    CarriedStates,
    Gauges,
    Memory,
    MessageKind,
    Size,
)
from model.errors import refuse
from model.events import BEGINNING, NOTHING, Body, Event, Mark
from model.graph import Graph
from model.parts import contents, deploy_graph, open_windows
from model.world import replace_item

STATES_RESET = Quantity("states reset", "nodes", "a node restarted empty")
MARK = Size(MessageKind.CONTROL, name="mark")


# --- what nodes hold -------------------------------------------------------------------------
class AmnesiacSource(NamedTuple):
    """now: the time of the last event."""

    now: int = 0


class AmnesiacOperator(NamedTuple):
    """inner: the state of the operator.  inlets: the input queues of a CEP operator, which takes
    events in the order of time; (): a box takes each event as it comes.  marked: the watermark that
    successors know."""

    inner: Any
    inlets: tuple[InputQueue, ...] = ()
    marked: int = BEGINNING


class AmnesiacSink(NamedTuple):
    """Nothing."""


State = AmnesiacSource | AmnesiacOperator | AmnesiacSink


# --- where nodes stand -----------------------------------------------------------------------
def deploy(_design: None, scope: Scope) -> Deployment:
    """The deployment; `config` of a site: its successors that need watermarks.

    Raises Refused for an operator that is neither a box nor a CEP operator.
    """
    graph = scope.graph

    def config(name: NodeName) -> tuple[NodeName, ...]:
        return tuple(succ for succ in graph.succs(name) if _needs_marks(graph, succ))

    deployment = deploy_graph(graph, config=config)
    refuse(
        "amnesia",
        (
            f"{site.name} is a {type(site.spec).__name__}; give a box or CEP operator"
            for site in deployment.sites
            if site.role is Role.OPERATOR and not isinstance(site.spec, Box | Operator)
        ),
    )
    return deployment


def _needs_marks(graph: Graph, name: NodeName) -> bool:
    """Does a CEP operator merge its inputs here, or below this one?"""
    if not isinstance(graph.specs[name], Operator):
        return False
    return len(graph.preds(name)) > 1 or any(_needs_marks(graph, s) for s in graph.succs(name))


def boot(site: Site) -> State:
    if site.role is Role.SOURCE:
        return AmnesiacSource()
    if site.role is Role.SINK:
        return AmnesiacSink()
    edges = len(site.preds)
    if isinstance(site.spec, Operator):
        return AmnesiacOperator(CepState(), (InputQueue(),) * edges)
    return AmnesiacOperator(site.spec.begin(edges))


def recover(site: Site, _durable: None) -> Answer:
    """Restart empty, and go on with what comes next."""
    return boot(site), (Note(STATES_RESET),)


def step(site: Site, state: State, input_: Input) -> Answer:
    match state, input_:
        case AmnesiacSource(now), Arrival(gap, type_, data):
            body = Body(now + gap, type_, data)
            return AmnesiacSource(now + gap), (*_send(site, (body,)),)
        case AmnesiacSink(), Received(sender, message):
            return state, (Emit((site.preds.index(sender), message)),)
        case AmnesiacOperator(_, ()), Received(sender, message):
            return _feed(site, state, site.preds.index(sender), message)
        case AmnesiacOperator(), Received(sender, message):
            return _hear(site, state, site.preds.index(sender), message)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_} in {type(state).__name__}")


def _send(site: Site, outputs: Iterable[Body]) -> Iterator[Send]:
    return (Send(succ, body) for body in outputs for succ in site.succs)


# --- operators -------------------------------------------------------------------------------
def _feed(site: Site, state: AmnesiacOperator, edge: int, body: Body) -> Answer:
    """Feed a box as the event arrives; of several allowed answers the box gives the first."""
    fed, *_ = site.spec.feed(state.inner, Item(edge, body))
    return state._replace(inner=fed.state), (*_send(site, bodies(fed.outs)),)


def _hear(site: Site, state: AmnesiacOperator, edge: int, message: Body | Mark) -> Answer:
    """Queue the event or the watermark, and process the events that the merge allows."""
    inner, inlets, marked = state
    inlet = inlets[edge]
    if isinstance(message, Mark):
        inlet = inlet._replace(mark=max(inlet.mark, message.time))
    else:
        inlet = inlet.hear(Event(NOTHING, message))
    inlets = replace_item(inlets, edge, inlet)
    effects: list[Effect] = []
    while (edge_ready := ready(inlets)) is not None:
        inlet = inlets[edge_ready]
        inlets = replace_item(inlets, edge_ready, inlet._replace(queue=inlet.queue.rest()))
        inner, iteration = process(site.spec, inner, inlet.queue.first().body)
        if iteration.produced:
            outputs = [body for _, body in iteration.produced]
            effects += _send(site, outputs)
            marked = max([marked, *(body.time for body in outputs)])
    if low(inlets) > marked:
        marked = low(inlets)
        effects += (Send(succ, Mark(marked)) for succ in site.config)
    return AmnesiacOperator(inner, inlets, marked), tuple(effects)


# --- what is shown ---------------------------------------------------------------------------
def gauges(_site: Site, state: State) -> Gauges:
    """The gauges of a node: its open windows.  Nothing is kept for other nodes."""
    if not isinstance(state, AmnesiacOperator):
        return Gauges()
    inner = state.inner
    return Gauges(windows=len(inner.open) if isinstance(inner, CepState) else open_windows(inner))


def memory(_site: Site, state: State) -> Memory:
    if not isinstance(state, AmnesiacOperator):
        return Memory()
    events, items = contents(state.inner)
    waiting = sum(len(inlet.queue) for inlet in state.inlets)
    return Memory(state=Amount(events + waiting, items))


def states(value: Any) -> CarriedStates:
    """The operator's state in memory; no message and no disk has it."""
    match value:
        case AmnesiacOperator(inner):
            return CarriedStates((inner,))
        case _:
            return NO_STATES


def size(message: Any) -> Size:
    return MARK if isinstance(message, Mark) else EVENT


def show(value: Any) -> str:
    """A message in a few words."""
    match value:
        case Body(time, type_):
            return f"{type_}@{time}"
        case Mark(time):
            return f"mark {time}"
        case _:
            return ""
