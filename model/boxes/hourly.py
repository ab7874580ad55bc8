"""Hourly: an operator with a window for each hour; an item may have records of several hours.

Rule of this file: windows share items and no hour; a window is complete when a later one is there.
LOG.io, Example 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.boxes.box import Box, Fed, Item, Moment, Out, answer, attribute
from model.boxes.folds import FOLDS, check_fold
from model.boxes.triggered import InputSet, Sets
from model.errors import Invalid
from model.events import Body

DAY = 24
"""An item has records of so many hours at most."""


@dataclass(frozen=True)
class Hourly(Box):
    """Gathers items in a window for each hour of which they have records, and folds a window as
    soon as there is a record of a later hour.  One item may complete several windows.

    span: the attribute with the number of hours that an item has records of; the last one is its
    time.  An item without the attribute has records of one hour.  Items come in the order of hours:
    the first hour of an item is not before the last one of the item before.
    """

    span: str = "hours"
    fold: str = "list"
    of: str = "type"
    emits: str = "window"

    def __post_init__(self) -> None:
        check_fold("hourly", self.fold)

    @property
    def horizon(self) -> int:
        return DAY

    def begin(self, _edges: int) -> Sets:
        return Sets()

    def feed(self, state: Sets, item: Item) -> tuple[Fed, ...]:
        state = self.gather(state, item, self.keys(item))
        outs: list[Out] = []
        for hour in self.complete(state):
            state, made = self.generate(state, hour)
            outs += made
        return answer(state, *outs)

    def keys(self, item: Item) -> tuple[Moment, ...]:
        """The hours of which the item has records: its input sets."""
        last, hours = item.body.time, attribute(item.body, self.span) or 1
        if not 1 <= hours <= DAY:
            raise Invalid(f"hourly: records of {hours} hours in one item; give 1 to {DAY}")
        return tuple(Moment(hour) for hour in range(last + 1 - hours, last + 1))

    def gather(self, state: Sets, item: Item, hours: tuple[Moment, ...]) -> Sets:
        """The state with the item in the windows of these hours."""
        sets: dict[Any, tuple[Item, ...]] = dict(state.open)
        for hour in hours:
            sets[hour] = (*sets.get(hour, ()), item)
        return Sets(tuple(InputSet(*one) for one in sorted(sets.items())))

    def complete(self, state: Sets) -> tuple[Moment, ...]:
        """The hours whose windows are complete, in their order: all but the last one."""
        return tuple(window.key for window in state.open[:-1])

    def generate(self, state: Sets, hour: Moment) -> Fed:
        """The state without the window of the hour, and its output, whose time is the hour."""
        items = dict(state.open)[hour]
        fold = FOLDS[self.fold]
        value = fold.begin
        for one in items:
            value = fold.add(value, attribute(one.body, self.of))
        of = frozenset().union(*(one.of for one in items))
        made = Out(Body(hour.time, self.emits, (("value", fold.result(value)),)), of)
        left = tuple(window for window in state.open if window.key != hour)
        return Fed(Sets(left), (made,))
