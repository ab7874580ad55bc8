"""The ends of the graph: a source with an output queue, a sink that passes on what is new.

Rule of this file: no replica; sources and sinks do not crash.
Hwang et al., Section 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from model.boxes.box import Of
from model.core import Arrival, Emit, Input, Received, Role, SetTimer, Site, Step, TimerFired
from model.costs import Amount, Gauges, Memory
from model.events import Body
from model.standbys import consumers, producers
from model.standbys.choices import SourceLog
from model.standbys.consumers import ACKNOWLEDGE, StreamEnd
from model.standbys.deployment import edge_of
from model.standbys.messages import Ack, Begin, Connect, Marks, Output
from model.standbys.producers import OutputQueue


class SourceQueue(NamedTuple):
    """now: the time of the last event."""

    queue: OutputQueue
    now: int = 0


class SinkInlets(NamedTuple):
    inlets: tuple[StreamEnd, ...]


EndState: TypeAlias = SourceQueue | SinkInlets


def boot(site: Site, *, both: bool = False) -> EndState:
    """The state of a source or sink.  both: each replica of a reader is a reader of its own."""
    if site.role is Role.SOURCE:
        return SourceQueue(producers.open_queue(site, both=both))
    return SinkInlets(consumers.open_ends(site))


def step(
    site: Site,
    state: Any,
    input_: Input,
    repeats: Callable[[Marks, Marks], bool] = consumers.never,
) -> Step:
    """The step of a source or sink.  repeats: see consumers.receive."""
    match state:
        case SourceQueue():
            return _step_source(site, state, input_)
        case SinkInlets():
            return _step_sink(site, state, input_, repeats)
    raise TypeError(f"{site.name}: {state} is no state of a node")


def _step_source(site: Site, state: SourceQueue, input_: Input) -> Step:
    queue = state.queue
    match input_:
        case Arrival(gap, type_, data):
            now = state.now + gap
            of = frozenset([Of(site.config.source, queue.place)])
            output = Output(queue.place + 1, Body(now, type_, data), of)
            if site.config.design.sources is SourceLog.KEPT:
                queue = producers.put(queue, output)
            else:
                queue = queue._replace(place=output.place)
            return Step(SourceQueue(queue, now), producers.send(queue, (output,)))
        case Received(sender, Ack() as ack):
            queue, notes = producers.hear(queue, sender, ack)
            return Step(state._replace(queue=queue), notes)
        case Received(sender, Connect() as request):
            queue, effects = producers.connect(queue, sender, request)
            return Step(state._replace(queue=queue), effects)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _step_sink(
    site: Site, state: SinkInlets, input_: Input, repeats: Callable[[Marks, Marks], bool]
) -> Step:
    """Pass on each tuple that is no duplicate; acknowledge when a timer runs out."""
    match input_:
        case Received(sender, Begin() as message):
            return Step(*consumers.greet(site, state, sender, message))
        case Received(sender, Output() as output):
            edge = edge_of(site, sender)
            before, late = state.inlets[edge], site.config.design.late
            inlet, known = consumers.receive(late, before, sender, output, repeats)
            state = consumers.set_inlet(state, edge, inlet)
            passed = (Emit((edge, output.body), output.of),) if known is None else known
            timer = (SetTimer(ACKNOWLEDGE),) if inlet != before or known is None else ()
            return Step(state, (*passed, *timer))
        case TimerFired():
            return Step(state, consumers.acknowledge(state.inlets))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def gauges(state: EndState) -> Gauges:
    if isinstance(state, SinkInlets):
        return Gauges()
    return Gauges(len(state.queue.kept), None, state.queue.place)


def memory(state: EndState) -> Memory:
    if isinstance(state, SinkInlets):
        return Memory()
    return Memory(Amount(len(state.queue.kept)))


def show(state: EndState) -> str:
    """A state in a few words: the outputs that a source keeps."""
    if isinstance(state, SinkInlets):
        return ""
    return f"{len(state.queue.kept)} of {state.queue.place}"
