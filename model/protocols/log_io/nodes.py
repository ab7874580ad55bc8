"""The deployment of LOG.io, and which step answers which input.

Rule of this file: no decision of the protocol; readers are here, since Algorithm 1 is short.
LOG.io, Algorithms 1 and 6, Section 2.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from model.boxes.box import Box
from model.boxes.stateless import AnyOf, Relay
from model.cep.box import CepBox
from model.cep.operator import Operator as CepOperator
from model.core import (
    RESENT,
    RESTORED,
    STALE,
    Amount,
    Answer,
    Arrival,
    Deployment,
    Effect,
    Gauges,
    Input,
    Memory,
    NodeName,
    Note,
    Observation,
    Property,
    Received,
    Role,
    Scope,
    Send,
    Site,
    Step,
    When,
)
from model.errors import Invalid
from model.events import Event
from model.graph import SINK, SOURCE, Graph
from model.parts import contents, open_windows
from model.protocols.log_io import reads, scaling
from model.protocols.log_io.design import Delivery, Design, Reads
from model.protocols.log_io.log import (
    CONTROLLER,
    DISPATCHER,
    LEAVES,
    LOG,
    MERGER,
    STAYS,
    transact,
)
from model.protocols.log_io.messages import (
    Commit,
    Connected,
    Context,
    Controller,
    External,
    LoggedEvent,
    Operator,
    Recovering,
    Restore,
    Restored,
    Source,
    Tables,
    note,
)
from model.protocols.log_io.operator import AHEAD, begin, hand_on, restore, work
from model.protocols.log_io.surroundings import SERVICE, carry, execute, show_next
from model.queues import Inlet, QueueState, Replay, Replayed, produce, serve


class Job(NamedTuple):
    """What a site is for.  box: of an operator.  sinks: the sinks among its successors.

    reads: it is a source operator that cannot replay its read action.
    """

    design: Design
    box: Any = None
    sinks: frozenset[NodeName] = frozenset()
    reads: bool = False


class Reader(NamedTuple):
    """A source operator: its connection to the external system, and the numbers of its outputs."""

    inlet: Inlet
    sent: tuple[int, ...]


def reader_of(source: NodeName) -> NodeName:
    return f"{source}-reader"


def deploy(design: Design, scope: Scope) -> Deployment:
    """A reader behind each source, a log for all, a lasting connection for each edge."""
    graph = scope.graph
    specs = graph.specs
    if not specs.keys() >= {DISPATCHER, STAYS, LEAVES, MERGER}:
        design = replace(design, scaling=None)
    sinks = frozenset(name for name, spec in graph.nodes if spec is SINK)
    reading = _reading(design, graph)
    renamed = {
        name: reader_of(name)
        for name, spec in graph.nodes
        if spec is SOURCE and not reading.intersection(graph.succs(name))
    }
    sites: list[Site] = []
    channels: list[tuple[NodeName, NodeName]] = []
    crashable: list[NodeName] = []
    for name, spec in graph.nodes:
        preds = tuple(renamed.get(pred, pred) for pred in graph.preds(name))
        succs = graph.succs(name)
        behind = sinks.intersection(succs)
        if name in reading:
            job = Job(design, spec, reads=True)
            sites.append(Site(name, Role.OPERATOR, job, preds, succs))
            channels += [(name, preds[0]), (preds[0], name)]
            crashable.append(name)
        elif spec is SOURCE and name not in renamed:
            sites.append(Site(name, Role.SOURCE, Job(design), (), succs))
        elif spec is SOURCE:
            if behind:
                raise Invalid(f"log-io: an edge goes from {name} to a sink; give an operator first")
            reader = renamed[name]
            sites.append(Site(name, Role.SOURCE, Job(design), (), (reader,)))
            sites.append(Site(reader, Role.OPERATOR, Job(design), (name,), succs))
            channels += [(name, reader), (reader, name)]
            crashable.append(reader)
        elif spec is SINK:
            sites.append(Site(name, Role.SINK, Job(design), preds, ()))
            channels += [ends for pred in preds for ends in ((pred, name), (name, pred))]
        else:
            sites.append(
                Site(
                    name,
                    Role.OPERATOR,
                    Job(design, _box(design, name, spec, len(preds)), behind),
                    preds,
                    succs,
                )
            )
            crashable.append(name)
    connections = [
        (renamed.get(u, u), v) for u, v in graph.edges if specs[v] is not SINK and v not in reading
    ]
    if design.connection is Delivery.LOSSY:
        channels += connections
        connections = []
    sites.append(Site(LOG, Role.OPERATOR, Job(design), (), ()))
    readers = [site.name for site in sites if isinstance(site.spec.box, AnyOf)]
    if design.scaling is not None:
        sites.append(Site(CONTROLLER, Role.OPERATOR, Job(design), (), ()))
        crashable.append(CONTROLLER)
        for name in (DISPATCHER, MERGER):
            channels += [(name, CONTROLLER), (CONTROLLER, name)]
        channels += [(CONTROLLER, name) for name in scaling.CLOSED]
    for u, v in connections:
        name = f"{u}{AHEAD}{v}"
        sites.append(Site(name, Role.OPERATOR, Job(design), (), ()))
        channels += [(u, name), (name, v), (v, name)]
    channels += [ends for name in crashable for ends in ((name, LOG), (LOG, name))]
    if readers:
        sites.append(Site(SERVICE, Role.OPERATOR, Job(design), (), ()))
        channels += [ends for name in readers for ends in ((name, SERVICE), (SERVICE, name))]
    lasting = frozenset(f"{u}{AHEAD}{v}" for u, v in connections)
    prompt = {*sinks, *([SERVICE] if readers else []), *lasting, *([LOG] * design.prompt)}
    watched = frozenset((v, f"{u}{AHEAD}{v}") for u, v in connections)
    return Deployment(
        tuple(sites),
        tuple(channels),
        frozenset(crashable),
        watched=watched,
        prompt=frozenset(prompt),
        connections=lasting,
    )


def _reading(design: Design, graph: Graph) -> frozenset[NodeName]:
    """The operators that are source operators with a read action that is not replayable."""
    if design.reads is Reads.REPLAYABLE:
        return frozenset()
    specs = graph.specs
    found = {
        name
        for name, spec in graph.nodes
        if isinstance(spec, AnyOf) and all(specs[pred] is SOURCE for pred in graph.preds(name))
    }
    for name in sorted(found):
        (source, *others), succs = graph.preds(name), graph.succs(name)
        if others or graph.succs(source) != (name,) or any(specs[one] is SINK for one in succs):
            raise Invalid(f"log-io: {name} reads; give it one source alone, and no sink")
    return frozenset(found)


def _box(design: Design, name: NodeName, spec: Any, inputs: int) -> Box:
    if design.scaling is not None and name in (STAYS, LEAVES):
        return Relay()  # the graph says which events a replica gets while there are two
    if isinstance(spec, CepOperator):
        if inputs > 1:  # LOG.io takes events as they arrive (Section 2.1), not in time order
            raise Invalid(f"log-io: {name} has {inputs} inputs in time order; give it one")
        return CepBox(spec)
    if isinstance(spec, Box):
        return spec
    raise Invalid(f"log-io: {name} is of type {type(spec).__name__}; give a box or a CEP operator")


def boot(site: Site) -> Any:
    if site.role is Role.SOURCE:
        return QueueState()
    if site.role is Role.SINK:
        return External((None,) * len(site.preds))
    if site.name == LOG:
        return Tables()
    if site.name == SERVICE:
        return 0
    if AHEAD in site.name:
        return Connected()
    if site.name == CONTROLLER:
        return Controller()
    if site.spec.box is None:
        return Reader(Inlet(), (0,) * len(site.succs))
    return reads.begin(site) if site.spec.reads else begin(site)


def recover(site: Site, durable: Controller | None) -> Answer:
    """Ask the log: a node saves nothing, but for the controller."""
    if site.name == CONTROLLER:
        return scaling.restart(site, durable)
    return Recovering(), (Send(LOG, Restore()),)


def step(site: Site, state: Any, input_: Input) -> Answer:
    if site.role is Role.SOURCE:
        return _offer(site, state, input_)
    assert isinstance(input_, Received)
    sender, message = input_
    if site.role is Role.SINK:
        return execute(site.spec.design, site, state, sender, message)
    if site.name == LOG:
        return transact(site.spec.design, state, sender, message)
    if site.name == SERVICE:
        return show_next(state, sender)
    if AHEAD in site.name:
        return carry(site.name.partition(AHEAD)[2], state, message)
    if site.name == CONTROLLER:
        return scaling.control(site, state, sender, message)
    if isinstance(message, scaling.MESSAGES):
        if isinstance(state, Recovering):  # the controller asks again
            return state, (Note(STALE),)
        return scaling.obey(site, state, message)
    if isinstance(state, Recovering):
        if not isinstance(message, Restored):
            return Recovering((*state.held, input_)), ()
        if site.spec.reads:
            return reads.resume(site, message)
        if site.spec.box is None:
            return _read_again(site, message, state)
        after, effects = restore(site, message, state)
        return _report(site, after, effects, restarted=True)
    if isinstance(message, Restored):  # an answer to the life before, of a log that is late
        return state, (Note(STALE),)
    if site.spec.reads:
        return reads.act(site, state, message)
    if site.spec.box is None:
        return _read(site, state, message)
    after, effects = work(site, state, input_)
    first = any(after.last) and not any(state.last)
    return _report(site, after, effects, restarted=False) if first else (after, effects)


def _report(site: Site, state: Any, effects: tuple[Effect, ...], *, restarted: bool) -> Answer:
    """The step, and what the controller hears of it, if there is one."""
    if site.spec.design.scaling is None:
        return state, effects
    return scaling.report(site, state, effects, restarted=restarted)


def _offer(site: Site, state: QueueState, input_: Input) -> Step:
    """The external system behind a source: a replayable read action reads it again."""
    if isinstance(input_, Arrival):
        return produce(state, input_, site.succs)
    assert isinstance(input_, Received)
    return serve(state, input_.sender, input_.message)


# --- Algorithm 1, step 3, and Algorithm 6: a replayable read action --------------------------
def _read(site: Site, state: Reader, message: Any) -> Answer:
    if isinstance(message, Replayed):
        return state._replace(inlet=state.inlet.begin(message)), ()
    assert isinstance(message, Event)
    if not state.inlet.is_next(message):
        return state, (Note(STALE),)
    sent = tuple(number + 1 for number in state.sent)
    numbered = zip(site.succs, sent, strict=True)
    rows = [LoggedEvent(site.name, succ, number, 0, message.body) for succ, number in numbered]
    after = Reader(state.inlet.take(message), sent)
    commit = Send(LOG, Commit(tuple(rows), Context(after.inlet.place, (), sent)))  # step 2.c
    _, sends = hand_on(site, Operator(None, (), ()), rows)
    return after, (commit, *sends)


def _read_again(site: Site, found: Restored, _recovering: Recovering) -> Answer:
    """Send the undone outputs again, then replay from the last event logged.

    What the source sent before the request belongs to a lost connection.
    """
    context = found.context or Context(0, (), (0,) * len(site.succs))
    request = Replay(context.box)
    _, sends = hand_on(site, Operator(None, (), ()), [*found.outputs])
    state = Reader(Inlet(request=request), context.sent)
    notes: tuple[Effect, ...] = (Note(RESTORED), *note(RESENT, len(sends)))
    return state, (*notes, *sends, Send(site.preds[0], request))


def _is_done(_scope: Scope, seen: Observation) -> bool:
    """Nothing is on its way, and no output is pending: Section 4.4, "complete" executions."""
    states = [state for _, state in seen.states]
    connections = [one for one in states if isinstance(one, Connected) and not one.deleted]
    (tables,) = (state for state in states if isinstance(state, Tables))
    return (
        not any(state.held or state.closed for state in connections)
        and all(row.done or row.inset for row in tables.events)
        and all(row.done and row.effect is None for row in tables.actions)
        and _is_scaled([*states])
    )


def _is_scaled(states: list[Any]) -> bool:
    """No scale-down is under way: all have done their part in it, or nobody has."""
    begun = any(isinstance(one, Operator) and one.alone for one in states)
    return all(one.at == (4 if begun else 0) for one in states if isinstance(one, Controller))


DONE = Property(
    "at rest, connections are empty, only inputs that wait in a set are undone, and no scale-down "
    "is under way",
    When.QUIESCENT,
    _is_done,
    nodes=True,
)


# --- what it holds ---------------------------------------------------------------------------
def gauges(_site: Site, state: Any) -> Gauges:
    match state:
        case Operator(box, last, open=open_, pending=pending, held=held):
            windows = open_windows(box)
            kept = len(pending) + len(held)
            return Gauges(kept, len(open_) if windows is None else windows, last)
        case Recovering(held):
            return Gauges(len(held))
        case Source(inlet, _, held=held):
            return Gauges(len(held), progress=inlet.place)
        case Reader(inlet, _):
            return Gauges(0, progress=inlet.place)
        case QueueState(kept=kept):
            return Gauges(len(kept))
        case Connected(held):
            return Gauges(buffered=len(held))
        case Tables(events):
            return Gauges(buffered=len(events))
        case _:
            return Gauges()


def memory(_site: Site, state: Any) -> Memory:
    match state:
        case Operator():
            return Memory(state=contents(state.box))
        case Connected(held):
            return Memory(buffers=Amount(len(held)))
        case Tables(events, contexts):
            return Memory(savepoints=Amount(len(events), len(contexts)))
        case _:
            return Memory()
