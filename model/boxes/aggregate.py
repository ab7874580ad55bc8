"""Aggregate: a fold over windows of the items of each group.

Rule of this file: windows by count, or by the value of an attribute that does not decrease; the
splitter of CEP operators (model.cep.windows) is another one.
Hwang et al., Section 3.2; Abadi et al., Aurora, 2003, Section 2.2; Sebepou and Magoutis, II.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.boxes.box import Box, Fed, Item, Moment, Out, answer, attribute, check_sizes
from model.boxes.folds import FOLDS, check_fold
from model.boxes.panes import GroupPanes, Numbered, Pane, Panes, PanesState
from model.errors import Invalid
from model.events import Body


@dataclass(frozen=True)
class Aggregate(Box):
    """A fold of `of` over windows of each group.

    size, advance: windows hold `size` items and one opens every `advance` items (by "count"), or
    they are [start, start + size) of the attribute `by` ("time" or another one), and starts are
    `advance` apart.  aligned: the starts are the multiples of `advance`; else the first item of a
    group is the first start.  A window closes with its last item by count, and else with the first
    item of its group beyond it; any_closes: with the first item beyond it, of whatever group.
    timeout: the oldest window may close at any moment before.

    ticks: an item of this type is in no window and only says the time, and windows close with
    ticks alone: each with the first one at its end or later.  hands_on: a tick also goes out,
    behind the results of the windows that it closes.

    Raises Invalid for any_closes by count: a window then ends with an item of its own; and for
    ticks without any_closes or by another attribute than the time.
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
    ticks: str | None = None
    hands_on: bool = False

    def __post_init__(self) -> None:
        check_fold("aggregate", self.fold)
        check_sizes("aggregate", 1, size=self.size, advance=self.advance)
        if self.any_closes and self.by == "count":
            raise Invalid("aggregate: any_closes by 'count'; give 'time' or another attribute")
        if self.ticks is not None and not (self.any_closes and self.by == "time"):
            raise Invalid("aggregate: ticks close windows by 'time' of all groups: any_closes=True")

    @property
    def horizon(self) -> int:
        return self.size + self.advance if self.by == "time" else 0

    @property
    def period(self) -> int:
        return self.advance if self.by == "time" and self.aligned else 1

    def begin(self, _edges: int) -> Panes:
        return Panes()

    def is_tick(self, body: Body) -> bool:
        return body.type == self.ticks

    def feed(self, state: PanesState, item: Item) -> tuple[Fed, ...]:
        if self.is_tick(item.body):
            return self._tick(state, item)
        key = None if self.group is None else attribute(item.body, self.group)
        value = 0 if self.by == "count" else attribute(item.body, self.by)
        closed: list[Pane] = []
        if self.any_closes and self.ticks is None:
            closed, state = state.close(value - self.size)
        group = state.group(key)
        panes: Numbered = group.panes
        if self.by == "count":
            opened, turn = self._by_count(group.next or 0, key)
        else:
            if not self.any_closes:
                closed = [pane for _, pane in panes if pane.begins <= value - self.size]
                panes = tuple(one for one in panes if one[1].begins > value - self.size)
            opened, turn = self._by_value(group.next, key, value)
        outs = [self._out(pane, item.body.time) for pane in closed]
        left = []
        for number, pane in (*panes, *enumerate(opened, state.opened)):
            if pane.start is None or pane.begins <= value < pane.begins + self.size:
                pane = self._add(pane, item)
                if self.by == "count" and pane.held == self.size:
                    outs.append(self._out(pane, item.body.time))
                    continue
            left.append((number, pane))
        return answer(state.put(key, GroupPanes(turn, tuple(left))), *outs)

    def expire(self, state: PanesState) -> tuple[Fed, ...]:
        if not (self.timeout and state.open):
            return ()
        first, left = state.close_oldest()
        return answer(left, self._out(first, first.last.time))

    def _tick(self, state: PanesState, tick: Item) -> tuple[Fed, ...]:
        """Close the windows that have ended."""
        closed, state = state.close(tick.body.time - self.size)
        outs = [self._out(pane, tick.body.time) for pane in closed]
        return answer(state, *outs, *((Out(tick.body, tick.of),) if self.hands_on else ()))

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
            data = (("start", pane.begins), *data)
        if self.group is not None:
            data = ((self.group, pane.key), *data)
        return Out(Body(time, self.emits, data), pane.of)

    def _start(self, value: int) -> Any:
        return Moment(value) if self.by == "time" else value

    def _plain(self, start: Any) -> int:
        return start.time if isinstance(start, Moment) else start
