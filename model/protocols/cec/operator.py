"""An operator's windows and records: the foreground path of a tuple, the G_check of a window.

Rule of this file: pure functions of a node's state; what becomes of records is in disk.py.
Sebepou and Magoutis, CEC, 2011, Section III.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box, Item, Lineage, Moment, Out
from model.boxes.panes import Pane
from model.events import Event
from model.protocols.cec.design import (
    Background,
    Bound,
    CecDesign,
    Content,
    Position,
    WindowPhase,
    WriteUnit,
)
from model.protocols.cec.keyed import add, begin, key_of, opening, rests
from model.protocols.cec.messages import Floor, KeyWindow, Kind, NodeState, Record

WHOLE = 0
"""What identifies the only part of an operator that has one; places begin at 1."""


class WindowChange(NamedTuple):
    """A window of a key that a tuple opens (its state) or closes (its result)."""

    kind: Kind
    key: Any
    opened: int
    pane: Pane | None
    out: Out | None


# --- foreground ------------------------------------------------------------------------------
def process(
    design: CecDesign, box: Box, state: NodeState, event: Event, of: Lineage, edge: int = 0
) -> tuple[NodeState, list[Record]]:
    """The state with the tuple, and its records in order."""
    stamp, item, (place,) = design.stamp.of(event), Item(edge, event.body, of), event.sn
    if isinstance(box, Aggregate):
        state, records = _process_keyed(design, box, state, item, stamp, place)
    else:
        state, records = _process_whole(design, box, state, item, stamp, place)
    floors = state.floors if stamp <= state.until else ()
    return _locate(design, state._replace(floors=floors), records)


def _locate(
    design: CecDesign, state: NodeState, records: list[Record]
) -> tuple[NodeState, list[Record]]:
    """The state and its new records, which say how far several inputs are in it."""
    places = state.inlets.places
    if design.position is Position.SCALAR or len(places) == 1:
        return state, records
    windows = tuple(
        window if window.places else window._replace(places=places) for window in state.windows
    )
    records = [record._replace(places=places) for record in records]
    return state._replace(windows=windows), records


def _process_keyed(
    design: CecDesign, box: Aggregate, state: NodeState, item: Item, stamp: int, place: int
) -> tuple[NodeState, list[Record]]:
    """A tuple through an aggregate, whose parts are its windows."""
    key = key_of(box, item)
    below = ignoring(design, state, key, stamp)
    turns = dict(state.turns)
    mine = [window for window in state.windows if box.any_closes or window.key == key]
    mine.sort(key=lambda window: (window.opened, repr(window.key)))
    fed = {
        (window.key, window.opened): add(box, window.pane, item)
        for window in mine
        if window.pane and window.opened not in ignoring(design, state, window.key, stamp)
    }
    changes = [WindowChange(Kind.RESULT, *one, None, out) for one, (_, out) in fed.items() if out]
    if None not in below and not box.is_tick(item.body):
        opened, turns[key] = begin(box, turns.get(key), item)
        for pane, out in opened:
            id_ = opening(pane, place)
            changes.append(WindowChange(Kind.OPEN, key, id_, pane, None))
            changes += [WindowChange(Kind.RESULT, key, id_, None, out)] if out else []
    panes = {one: pane for one, (pane, _) in fed.items() if pane is not None}
    windows = tuple(
        window._replace(pane=panes.get((window.key, window.opened), window.pane))
        for window in state.windows
    )
    state = state._replace(windows=windows)
    state, records = _record(design, box, state, turns, stamp, changes)
    held = {window.key for window in state.windows}
    for other in {key, *(change.key for change in changes)} - held:
        if not rests(box, turns.get(other)):
            turns.pop(other, None)  # the next tuple opens a window, whatever came before
    return state._replace(turns=tuple(sorted(turns.items(), key=repr))), records


def ignoring(design: CecDesign, state: NodeState, key: Any, stamp: int) -> frozenset[int | None]:
    """Who ignores a tuple of the key with this stamp: windows, and the opening of one (None)."""
    return frozenset(
        floor.opened
        for floor in state.floors
        if floor.key == key and _is_below(design, stamp, floor)
    )


def _is_below(design: CecDesign, stamp: int, floor: Floor) -> bool:
    return stamp < floor.stamp or (design.ignore is Bound.WITH and stamp == floor.stamp)


def _record(
    design: CecDesign,
    box: Aggregate,
    state: NodeState,
    turns: Mapping[Any, Any],
    stamp: int,
    changes: Iterable[WindowChange],
) -> tuple[NodeState, list[Record]]:
    """The state after the changes, and a record of each."""
    records: list[Record] = []
    for kind, key, id_, pane, out in changes:
        next_ = turns.get(key)
        resting = design.phase is WindowPhase.RECORDED and rests(box, next_)
        windows = [w for w in state.windows if w.key != key or (w.pane and w.opened != id_)]
        at = state.segments + 1 + (len(records) if design.write is WriteUnit.RECORD else 0)
        between = kind is Kind.RESULT and resting and not any(w.key == key for w in windows)
        if kind is Kind.OPEN or between:
            windows.append(KeyWindow(key, id_, pane, stamp, at))
        results = state.results + (out is not None)
        state = state._replace(windows=tuple(windows), results=results)
        n = len(windows)
        records.append(Record(kind, key, id_, pane, next_, n, stamp, results, out, between))
    return state, records


def _process_whole(
    design: CecDesign, box: Box, state: NodeState, item: Item, stamp: int, place: int
) -> tuple[NodeState, list[Record]]:
    """A tuple through an operator whose state is one part, or that has none.

    Its state is one window that never closes; results leave it open.
    """
    below = ignoring(design, state, None, stamp)
    (window,) = state.windows or (None,)
    if window is not None and WHOLE in below:
        return state, []
    start = box.begin(len(state.inlets.ends)) if window is None else window.pane
    (fed,) = box.feed(start, item)
    records: list[Record] = []
    if window is not None:
        state = state._replace(windows=(window._replace(pane=fed.state),))
    elif fed.state != ():
        window = KeyWindow(None, WHOLE, fed.state, stamp, state.segments + 1)
        state = state._replace(windows=(window,))
        records.append(Record(Kind.OPEN, None, WHOLE, fed.state, None, 1, stamp, state.results))
    n = len(state.windows)
    for out in fed.outs if None not in below else ():  # else the log has the results
        state = state._replace(results=state.results + 1)
        records.append(Record(Kind.RESULT, None, place, None, None, n, stamp, state.results, out))
    return state, records


# --- background ------------------------------------------------------------------------------
def eligible(design: CecDesign, state: NodeState) -> KeyWindow | None:
    """The window to checkpoint next: the one with the oldest footprint, if the footprint is older
    than the last tuple or the restart."""
    if design.background is Background.CAUGHT_UP and state.stamp < state.until:
        return None
    return next((window for window in state.windows if window.at <= state.mark), None)


def checkpoint(
    design: CecDesign, box: Box, state: NodeState, stamp: int
) -> tuple[NodeState, list[Record]]:
    """The state after a G_check of the window with the oldest footprint; none if it has closed."""
    window = eligible(design, state)
    if window is None:
        return state, []
    if design.background is Background.FOOTPRINT:
        stamp = max(stamp, window.foot)
    pane, turns = window.pane, dict(state.turns)
    next_ = turns.get(window.key)
    others = tuple(other for other in state.windows if other is not window)
    between = pane is None and isinstance(box, Aggregate) and rests(box, next_)
    if pane is not None or between:
        others = (*others, window._replace(foot=stamp, at=state.segments + 1, places=()))
    else:
        turns.pop(window.key, None)
    if design.content is Content.RESULT and isinstance(pane, Pane):
        start = pane.last if isinstance(pane.start, Moment) else pane.start
        pane = pane._replace(held=min(1, pane.held), start=start)
    record = Record(
        kind=Kind.CHECK,
        key=window.key,
        opened=window.opened,
        pane=pane,
        next=next_,
        n=len(others),
        stamp=stamp,
        results=state.results,
        between=between,
    )
    state = state._replace(windows=others, turns=tuple(sorted(turns.items(), key=repr)))
    return _locate(design, state, [record])


def rewrite(state: NodeState, number: int) -> tuple[NodeState, Record]:
    """The state after window `number`, from 1, was written to the log once more, as if it opened
    now."""
    window = state.windows[number - 1]
    next_ = dict(state.turns).get(window.key)
    moved = window._replace(at=state.segments + 1)
    windows = (*state.windows[: number - 1], moved, *state.windows[number:])
    record = Record(
        kind=Kind.OPEN,
        key=window.key,
        opened=window.opened,
        pane=window.pane,
        next=next_,
        n=number,
        stamp=window.foot,
        results=state.results,
        places=window.places,
    )
    return state._replace(windows=windows), record
