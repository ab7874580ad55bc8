"""A witness replayed: the two copies of a box, with the times of a real run, side by side.

Rule of this file: it uses nothing of the pairs but the events; the outputs of the copies are
computed anew by the box, so a wrong witness shows itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from model.boxes.box import Box, Fed, Item, Of, Out, oldest
from model.core import Arrival
from model.events import Body
from model.results.grid import Cell, CellMark, Grid, GridRow
from proofs.classify.pairs import BeginSecond, CopyFails, Expire, Feed, PairEvent, Swap, feed_all


class WitnessStep(NamedTuple):
    """The outputs of both copies at an event.  got: the items, as the first copy got them."""

    event: PairEvent
    got: tuple[Item, ...]
    first: tuple[Out, ...]
    second: tuple[Out, ...]
    needed: tuple[int | None, ...]
    """For each edge the place of the oldest input that the first copy still needs."""


def replay(box: Box, edges: int, events: Sequence[PairEvent]) -> list[WitnessStep]:
    """Both copies from the start."""
    first: Any = box.begin(edges)
    restarted = any(isinstance(event, BeginSecond) for event in events)
    second: Any = box.begin(edges) if restarted else first
    began: set[int] = set() if restarted else set(range(edges))
    times, places = [0] * edges, [0] * edges
    found = []

    def item(edge: int, arrival: Arrival) -> Item:
        times[edge] += arrival.gap
        places[edge] += 1
        body = Body(times[edge], arrival.type, arrival.data)
        return Item(edge, body, frozenset([Of(edge, places[edge] - 1)]))

    for event in events:
        got: tuple[Item, ...] = ()
        one, two = Fed(first), Fed(second)
        match event:
            case Feed(edge, arrival, answers):
                got = (item(edge, arrival),)
                one = box.feed(first, got[0])[answers[0]]
                two = box.feed(second, got[0])[answers[1]] if edge in began else two
            case Swap(items):
                got = tuple(item(*one_item) for one_item in items)
                one, two = feed_all(box, first, got), feed_all(box, second, got[::-1])
            case Expire(both, answer):
                one = box.expire(first)[answer]
                two = box.expire(second)[answer] if both else two
            case BeginSecond(edge):
                began.add(edge)
            case CopyFails():
                began = set(range(edges))
        first, second = one.state, two.state
        found.append(WitnessStep(event, got, one.outs, two.outs, oldest(first, edges)))
    return found


def picture(box: Box, edges: int, events: Sequence[PairEvent], why: str, circle: int) -> Grid:
    """The copies side by side: a row for each event, a column for each copy."""
    moments = replay(box, edges, events)
    failed = next(
        (at for at, m in enumerate(moments) if isinstance(m.event, CopyFails)), len(moments)
    )
    wrong = len(moments) - max(circle, 1)
    rows = []
    for at, moment in enumerate(moments):
        first = Cell(_outs(moment.first), CellMark.DIM if at > failed else CellMark.PLAIN)
        second = Cell(_outs(moment.second))
        if at == wrong:
            second = Cell(second.text or "nothing", CellMark.BAD)
        rows.append(GridRow(_row(moment, edges), (first, second)))
    caption = why + (f": the last {circle} rows repeat" if circle else "")
    return Grid(caption, ("first", "second"), tuple(rows))


def _row(moment: WitnessStep, edges: int) -> str:
    match moment.event:
        case BeginSecond(edge):
            return "second begins" + (f", edge {edge}" if edges > 1 else "")
        case CopyFails():
            return "first fails"
        case Expire(both, _):
            return "timeout" if both else "timeout in the first"
        case Swap():
            return ", ".join(show_item(one, edges) for one in moment.got) + "; second: swapped"
        case _:
            return show_item(moment.got[0], edges)


def show_item(item: Item, edges: int) -> str:
    """An item, such as a@3 or k=1@3, and its edge if there are several."""
    where = f"edge {item.edge}: " if edges > 1 else ""
    return where + show_body(item.body)


def show_body(body: Body) -> str:
    """A body in short: its type or its attributes, and its time."""
    if body.data and all(isinstance(part, Body) for part in body.data):
        return f"{'+'.join(show_body(part) for part in body.data)}"
    values = " ".join(f"{name}={_value(value)}" for name, value in body.data)
    return f"{values or body.type}@{body.time}"


def _value(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _outs(outs: Sequence[Out]) -> str:
    return ", ".join(show_body(out.body) for out in outs)
