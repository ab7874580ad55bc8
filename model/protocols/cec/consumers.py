"""The consumer's end of a connection: tuples that follow, requests after a restart, the sink.

Rule of this file: no tuple enters an operator, and nothing is written.
Sebepou and Magoutis, CEC, 2011, Sections II.B, V and IX.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from model.boxes.box import Lineage, Of
from model.core import Effect, Emit, NodeName, Send, Site, Step
from model.events import BEGINNING, Event
from model.protocols.cec.design import Bound, CecDesign, Forward, Interleaving
from model.protocols.cec.messages import CecSink, Segment
from model.protocols.cec.scan import EventualCheckpoint
from model.queues import STALE_NOTE, Inlet, Inlets, Replay, Replayed, Restarted, Stamp, Trim


def events_in(
    site: Site, sender: NodeName, message: Event | Segment
) -> Iterable[tuple[Event, Lineage]]:
    """The tuples in a message; control records are none."""
    if isinstance(message, Event):
        yield message, frozenset([Of(site.config.sources.index(sender), message.sn[0] - 1)])
    else:
        for record in message.records:
            if record.out is not None:
                yield Event((record.results,), record.out.body), record.out.of


def follows(design: CecDesign, inlet: Inlet, event: Event) -> bool:
    """Does the connection bring the event now?  Published forwarding does not keep the order."""
    if design.forward is Forward.COMPLETED:
        return inlet.request is None
    return inlet.is_next(event)


def ask(site: Site, inlet: Inlet) -> tuple[Inlet, Replay]:
    """The request of a consumer whose producer has restarted."""
    request = inlet.request
    if request is None:
        by = site.config.design.resume
        request = Replay(inlet.place if by is Stamp.PLACE else inlet.time, by)
    return inlet._replace(request=request), request


def reconnect(design: CecDesign, found: EventualCheckpoint, inputs: int, stamp: int) -> Inlets:
    """The inlets of a restarted operator, each with what it asks for."""
    until = found.until if design.interleaving is Interleaving.LOGGED else ()
    inclusive = design.replay is Bound.WITH
    if found.places:
        asked = [(place, Replay(place, Stamp.PLACE, inclusive)) for place in found.places]
    else:
        asked = [(0, Replay(found.start, design.stamp, inclusive))] * inputs
    time = stamp if design.stamp is Stamp.TIME else BEGINNING
    ends = tuple(Inlet(place, time, request) for place, request in asked)
    return Inlets(ends, ((),) * inputs, until)


def take(site: Site, state: CecSink, sender: NodeName, message: Any) -> Step:
    inlet = state.inlet
    if isinstance(message, Restarted):
        inlet, request = ask(site, inlet)
        return Step(CecSink(inlet), (Send(sender, request),))
    if isinstance(message, Replayed):
        return Step(CecSink(inlet.begin(message)))
    effects: list[Effect] = []
    for event, of in events_in(site, sender, message):
        if follows(site.config.design, inlet, event):
            inlet = inlet.take(event)
            effects.append(Emit((site.preds.index(sender), event.body), of))
        else:
            effects.append(STALE_NOTE)
    if site.config.trims and inlet.place > state.inlet.place:
        effects.append(Send(sender, Trim(inlet.place)))
    return Step(CecSink(inlet), tuple(effects))
