"""Aggregate: a fold over windows of the items of each group.

Rule of this file: windows by count, or by the value of an attribute that does not decrease; the
splitter of CEP operators (model.cep.windows) is another one.
Hwang et al., Section 3.2; Abadi et al., Aurora, 2003, Section 2.2; Sebepou and Magoutis, II.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from model.boxes.box import Box, Fed, Item, Lineage, Moment, Out, answer, attribute, check_sizes
from model.boxes.folds import FOLDS, check_fold
from model.errors import Invalid
from model.events import Body


class Pane(NamedTuple):
    """An open window of a group.  start: its first value (a moment if windows are by time), None
    if windows are by count.  held: how many items it has.  last: the time of the last one."""

    key: Any
    start: Any
    held: int
    value: Any
    of: Lineage
    last: Moment


class Turn(NamedTuple):
    """When the next window of a group opens: after so many more items, or at this value."""

    key: Any
    next: Any


class Panes(NamedTuple):
    """The state of an aggregate: windows in the order in which they opened, a turn for each group
    that was seen, in the order of their keys."""

    open: tuple[Pane, ...] = ()
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True)
class Aggregate(Box):
    """A fold of `of` over windows of each group.

    size, advance: windows hold `size` items and one opens every `advance` items (by "count"), or
    they are [start, start + size) of the attribute `by` ("time" or another one), and starts are
    `advance` apart.  aligned: the starts are the multiples of `advance`; else the first item of a
    group is the first start.  A window closes with its last item by count, and else with the first
    item of its group beyond it; any_closes: with the first item beyond it, of whatever group.
    timeout: the oldest window may close at any moment before.

    Raises Invalid for any_closes by count: a window then ends with an item of its own.
    """

    fold: str
    size: int
    advance: int
    by: str = "count"
    of: str = "type"
    group: str | None = None
    aligned: bool = True
    timeout: bool = False
    emits: str = "aggregate"
    any_closes: bool = False

    def __post_init__(self) -> None:
        check_fold("aggregate", self.fold)
        check_sizes("aggregate", 1, size=self.size, advance=self.advance)
        if self.any_closes and self.by == "count":
            raise Invalid("aggregate: any_closes by 'count'; give 'time' or another attribute")

    @property
    def horizon(self) -> int:
        return self.size + self.advance if self.by == "time" else 0

    @property
    def period(self) -> int:
        return self.advance if self.by == "time" and self.aligned else 1

    def begin(self, _edges: int) -> Panes:
        return Panes()

    def feed(self, state: Panes, item: Item) -> tuple[Fed, ...]:
        key = None if self.group is None else attribute(item.body, self.group)
        known = {turn.key: turn.next for turn in state.turns}
        if self.by == "count":
            closed, opened, turn = [], *self._by_count(known.get(key, 0), key)
        else:
            value = attribute(item.body, self.by)
            closed = [
                pane
                for pane in state.open
                if (self.any_closes or pane.key == key)
                and self._plain(pane.start) + self.size <= value
            ]
            if self.any_closes:  # in an order that does not depend on who came first
                closed.sort(key=lambda pane: (self._plain(pane.start), repr(pane.key)))
            opened, turn = self._by_value(known.get(key), key, value)
        outs = [self._out(pane, item.body.time) for pane in closed]
        left = []
        for pane in (*(one for one in state.open if one not in closed), *opened):
            if pane.key == key and (pane.start is None or self._plain(pane.start) <= value):
                pane = self._add(pane, item)
                if self.by == "count" and pane.held == self.size:
                    outs.append(self._out(pane, item.body.time))
                    continue
            left.append(pane)
        known[key] = turn
        turns = tuple(Turn(*one) for one in sorted(known.items(), key=repr))
        return answer(Panes(tuple(left), turns), *outs)

    def expire(self, state: Panes) -> tuple[Fed, ...]:
        if not (self.timeout and state.open):
            return ()
        first, *rest = state.open
        return answer(state._replace(open=tuple(rest)), self._out(first, first.last.time))

    def _by_count(self, wait: int, key: Any) -> tuple[list[Pane], int]:
        """The windows that an item opens, and when the next one opens."""
        if wait:
            return [], wait - 1
        return [self._pane(key, None)], self.advance - 1

    def _by_value(self, next_: Any, key: Any, value: int) -> tuple[list[Pane], Any]:
        earliest = value - self.size + 1
        if self.aligned:
            start = -(-earliest // self.advance) * self.advance
            start = start if next_ is None else max(start, self._plain(next_))
        else:
            start = value if next_ is None else self._plain(next_)
            start += max(0, -(-(earliest - start) // self.advance)) * self.advance
        opened = []
        while start <= value:
            opened.append(self._pane(key, self._start(start)))
            start += self.advance
        return opened, self._start(start)

    def _pane(self, key: Any, start: Any) -> Pane:
        return Pane(key, start, 0, FOLDS[self.fold].begin, frozenset(), Moment(0))

    def _add(self, pane: Pane, item: Item) -> Pane:
        value = FOLDS[self.fold].add(pane.value, attribute(item.body, self.of))
        last = Moment(item.body.time)
        return pane._replace(held=pane.held + 1, value=value, of=pane.of | item.of, last=last)

    def _out(self, pane: Pane, time: int) -> Out:
        """The result of a window.  time: of the item that closed it, or of its last one."""
        data: tuple[tuple[str, Any], ...] = (("value", FOLDS[self.fold].result(pane.value)),)
        if pane.start is not None:
            data = (("start", self._plain(pane.start)), *data)
        if self.group is not None:
            data = ((self.group, pane.key), *data)
        return Out(Body(time, self.emits, data), pane.of)

    def _start(self, value: int) -> Any:
        return Moment(value) if self.by == "time" else value

    def _plain(self, start: Any) -> int:
        return start.time if isinstance(start, Moment) else start
