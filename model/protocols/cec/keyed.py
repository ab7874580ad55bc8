"""One tuple through an aggregate whose windows are apart: each window is fed, or ignores it, alone.

Rule of this file: no log.  An aggregate computes what its box computes (model.boxes.aggregate); a
test feeds both the same streams.
Sebepou and Magoutis, CEC, 2011, Section III (foreground).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.box import Item, Moment, Out, attribute
from model.boxes.panes import Pane, Panes, Turn


class Opened(NamedTuple):
    """A window that the tuple opened.  pane: with the tuple.  out: its result, if the tuple also
    closed it."""

    pane: Pane
    out: Out | None


def key_of(box: Aggregate, item: Item) -> Any:
    return None if box.group is None else attribute(item.body, box.group)


def add(box: Aggregate, pane: Pane, item: Item) -> tuple[Pane | None, Out | None]:
    """The window with the tuple, if it is of its key; its result if the tuple closed it."""
    (fed,) = box.feed(Panes((pane,), (Turn(key_of(box, item), _never(box, item)),)), item)
    (left,) = fed.state.open or (None,)
    (out,) = fed.outs or (None,)
    return left, out


def begin(box: Aggregate, next_: Any, item: Item) -> tuple[tuple[Opened, ...], Any]:
    """The windows that the tuple opens, oldest first, and when the key's next window opens.

    next_: when it would open before the tuple; None: with the first tuple.
    """
    key = key_of(box, item)
    start = Panes((), () if next_ is None else (Turn(key, next_),))
    (fed,) = box.feed(start, item)
    after = fed.state.turns[0].next
    if not fed.outs:
        return tuple(Opened(pane, None) for pane in fed.state.open), after
    # The tuple also closes the window: only a larger one still has it.
    (larger,) = replace(box, size=box.size + 1).feed(start, item)
    (pane,) = larger.state.open
    return (Opened(pane, fed.outs[0]),), after


def opening(pane: Pane, place: int) -> int:
    """What identifies the window among those of its key: its start, or the place of the tuple that
    opened it if windows are by count."""
    if pane.start is None:
        return place
    return pane.start.time if isinstance(pane.start, Moment) else pane.start


def derive(box: Aggregate, pane: Pane) -> Any:
    """When the key's next window opens, if only its newest open window is known."""
    if pane.start is None:
        return max(0, box.advance - pane.held)
    start = opening(pane, 0) + box.advance
    return Moment(start) if isinstance(pane.start, Moment) else start


def rests(box: Aggregate, next_: Any) -> bool:
    """Does a key without an open window have to remember when its next one opens?"""
    if box.by == "count":
        return bool(next_)
    return not box.aligned and next_ is not None


def _never(box: Aggregate, item: Item) -> Any:
    """A turn at which the tuple opens no window."""
    if box.by == "count":
        return 1
    value = attribute(item.body, box.by) + 1
    return Moment(value) if box.by == "time" else value
