"""The application behind a query: it hands results on, at once or with their checkpoint.

Rule of this file: nothing here fails.
Su and Zhou, Progressive Recovery, 2016, Section 4.
"""

from __future__ import annotations

from model.core import (
    DISCARDED,
    Effect,
    Emit,
    Input,
    NodeName,
    Note,
    Received,
    Send,
    Site,
    Step,
)
from model.protocols.progressive.design import Fence, Outputs, ProgressiveDesign, Sinks
from model.protocols.progressive.messages import (
    COORDINATOR,
    WITHDRAWN,
    Application,
    BatchEnd,
    Completed,
    DataTuple,
    Epoch,
    Held,
    Item,
    Punctuation,
    Stored,
)
from model.protocols.progressive.partition import is_accepted, refused
from model.queues import STALE_NOTE
from model.world import replace_item


def boot(site: Site) -> Application:
    edges = len(site.preds)
    return Application(Epoch(), (0,) * edges, (0,) * edges, (0,) * edges)


def step(site: Site, state: Application, input_: Input) -> Step:
    match input_:
        case Received(sender, DataTuple() | Punctuation() | BatchEnd() as item):
            return _take(site, state, sender, item)
        case Received(_, Completed(_, k)):
            return _commit(state, k)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _take(site: Site, state: Application, sender: NodeName, item: Item) -> Step:
    design, edge = site.config.design, site.preds.index(sender)
    effects: list[Effect] = []
    if design.fence is Fence.EPOCH and item.epoch.number < state.epoch.number:
        return Step(state, (STALE_NOTE,))
    if design.fence is Fence.EPOCH and item.epoch.number > state.epoch.number:
        state, joined = _join(state, item.epoch)
        effects += joined
    place = state.places[edge]
    if place is not None and not is_accepted(design, item.number, place):
        return Step(state, (*effects, refused(item.number, place)))
    state = state._replace(places=replace_item(state.places, edge, item.number))
    match item:
        case Punctuation():
            state, more = _mark(design, state, edge, item)
        case DataTuple():
            state, more = _pass_on(design, state, edge, item)
        case BatchEnd():
            more = ()
    return Step(state, (*effects, *more))


def _join(state: Application, epoch: Epoch) -> Step:
    """Go over to a newer epoch: what its start contains is handed on, what came later is not."""
    state, effects = _commit(state, epoch.start)
    edges = len(state.places)
    withdrawn = (Note(WITHDRAWN, len(state.held)),) if state.held else ()
    state = state._replace(
        epoch=epoch, places=(None,) * edges, marks=(epoch.start,) * edges, held=()
    )
    return Step(state, (*effects, *withdrawn))


def _pass_on(design: ProgressiveDesign, state: Application, edge: int, item: DataTuple) -> Step:
    match design.outputs:
        case Outputs.COMMITTED:
            held = Held(state.marks[edge] + 1, edge, item)
            return Step(state._replace(held=(*state.held, held)))
        case Outputs.NUMBERED if item.number <= state.passed[edge]:
            return Step(state, (Note(DISCARDED),))
        case _:
            passed = replace_item(state.passed, edge, max(item.number, state.passed[edge]))
            return Step(state._replace(passed=passed), (Emit((edge, item.body), item.of),))


def _mark(design: ProgressiveDesign, state: Application, edge: int, item: Punctuation) -> Step:
    marks = replace_item(state.marks, edge, item.k)
    state, before = state._replace(marks=marks), min(state.marks)
    if design.sinks is Sinks.SILENT or min(marks) == before:
        return Step(state)
    return Step(state, (Send(COORDINATOR, Stored(item.epoch, min(marks))),))


def _commit(state: Application, k: int) -> Step:
    """Hand on the results that the k-th checkpoint contains."""
    due = [held for held in state.held if held.k <= k]
    later = tuple(held for held in state.held if held.k > k)
    emits = (Emit((held.edge, held.tuple.body), held.tuple.of) for held in due)
    return Step(state._replace(held=later), tuple(emits))
