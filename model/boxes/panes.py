"""The state of an aggregate: the open windows of each group, and when its next window opens.

Rule of this file: no fold and no rule of windows.  A state of FEW groups is plain tuples, in the
one order that makes equal states equal values, for those who explore and compare them.  A state of
more groups, which only long runs have, does a change in a time that does not grow with them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias

from model.boxes.box import Lineage, Moment, Packed
from model.boxes.ends import WindowEnds
from model.boxes.trie import Trie

FEW = 8
"""The most groups of a state of plain tuples."""


class Pane(NamedTuple):
    """An open window of a group.  start: its first value (a moment if windows are by time), None
    if windows are by count.  held: how many items it has.  last: the time of the last one."""

    key: Any
    start: Any
    held: int
    value: Any
    of: Lineage
    last: Moment

    @property
    def begins(self) -> int:
        """The start as a number, of windows that have one."""
        begins: int = self.start.time if isinstance(self.start, Moment) else self.start
        return begins

    @property
    def values(self) -> int:
        """How many values the window holds: those of a list, or the only one of another fold."""
        return max(1, len(self.value)) if isinstance(self.value, tuple) else 1


class Turn(NamedTuple):
    """When the next window of a group opens: after this number of items, or at this value."""

    key: Any
    next: Any


Numbered: TypeAlias = tuple[tuple[int, Pane], ...]
"""Windows with their numbers, in the order in which they opened."""


class GroupPanes(NamedTuple):
    """The turn and the open windows of one group.  next: as in `Turn`; None if the group
    was never seen."""

    next: Any = None
    panes: Numbered = ()


UNSEEN = GroupPanes()


class Panes(NamedTuple):
    """The state of an aggregate: windows in the order in which they opened, a turn for each group
    that was seen, in the order of their keys.  The number of a window is its place."""

    open: tuple[Pane, ...] = ()
    turns: tuple[Turn, ...] = ()

    @property
    def opened(self) -> int:
        """The number of the next window."""
        return len(self.open)

    @property
    def amounts(self) -> tuple[int, int, int]:
        """How many windows are open, how many values they hold, and how many groups there are."""
        return len(self.open), sum(pane.values for pane in self.open), len(self.turns)

    def group(self, key: Any) -> GroupPanes:
        panes = tuple((at, pane) for at, pane in enumerate(self.open) if pane.key == key)
        return GroupPanes(next((turn.next for turn in self.turns if turn.key == key), None), panes)

    def put(self, key: Any, group: GroupPanes) -> PanesState:
        """The state with this in place of the group's turn and windows."""
        others = [(at, pane) for at, pane in enumerate(self.open) if pane.key != key]
        numbered = sorted((*others, *group.panes), key=itemgetter(0))
        known = {turn.key: turn.next for turn in self.turns}
        known[key] = group.next
        turns = tuple(Turn(*one) for one in sorted(known.items(), key=repr))
        panes = Panes(tuple(pane for _, pane in numbered), turns)
        return panes if len(turns) <= FEW else _many(panes)

    def close(self, latest: int) -> tuple[list[Pane], PanesState]:
        """The windows that begin at `latest` or before, by their start and group, and the state
        without them."""
        closed = [pane for pane in self.open if pane.begins <= latest]
        closed.sort(key=lambda pane: (pane.begins, repr(pane.key)))
        left = tuple(pane for pane in self.open if pane.begins > latest)
        return closed, self._replace(open=left)

    def close_oldest(self) -> tuple[Pane, PanesState]:
        return self.open[0], self._replace(open=self.open[1:])


@dataclass(frozen=True, slots=True, eq=False)
class ManyPanes(Packed):
    """As `Panes`, of more than FEW groups.

    opened: the number of the next window; numbers only grow.  amounts: as in `Panes`.  ends: open
    windows, and some that have closed; None until `close` is called.
    """

    groups: Trie[Any, GroupPanes]
    opened: int
    amounts: tuple[int, int, int]
    ends: WindowEnds | None = None

    @property
    def open(self) -> tuple[Pane, ...]:
        numbered = [one for _, group in self.groups.items() for one in group.panes]
        return tuple(pane for _, pane in sorted(numbered, key=itemgetter(0)))

    @property
    def turns(self) -> tuple[Turn, ...]:
        known = ((key, group.next) for key, group in self.groups.items())
        return tuple(Turn(*one) for one in sorted(known, key=repr))

    def unpacked(self) -> Panes:
        return Panes(self.open, self.turns)

    def lineages(self) -> Iterator[Lineage]:
        for _, group in self.groups.items():
            for _, pane in group.panes:
                yield pane.of

    def __reduce__(self) -> tuple[Any, ...]:
        return _many, (self.unpacked(),)

    def group(self, key: Any) -> GroupPanes:
        return self.groups.get(key, UNSEEN)

    def put(self, key: Any, group: GroupPanes) -> ManyPanes:
        before = self.groups.get(key, UNSEEN)
        windows, values, groups = self.amounts
        windows += len(group.panes) - len(before.panes)
        values += _values(group) - _values(before)
        groups += before is UNSEEN
        opened, ends = self.opened, self.ends
        for number, pane in group.panes:
            if number >= self.opened:
                opened = number + 1
                ends = ends and ends.put(pane.begins, key)
        return ManyPanes(self.groups.put(key, group), opened, (windows, values, groups), ends)

    def close(self, latest: int) -> tuple[list[Pane], ManyPanes]:
        ends = self.ends or self._ends()
        state, closed = self, list[Pane]()
        while (start := ends.first(latest)) is not None:
            keys, ends = ends.pop()
            for key in keys:
                next_, panes = state.group(key)
                closed += (pane for _, pane in panes if pane.begins == start)
                left = tuple(one for one in panes if one[1].begins != start)
                state = state.put(key, GroupPanes(next_, left))
        return closed, replace(state, ends=ends)

    def close_oldest(self) -> tuple[Pane, ManyPanes]:
        pane = self.open[0]
        group = self.group(pane.key)
        return pane, self.put(pane.key, group._replace(panes=group.panes[1:]))

    def _ends(self) -> WindowEnds:
        ends = WindowEnds()
        for key, group in self.groups.items():
            for _, pane in group.panes:
                ends = ends.put(pane.begins, key)
        return ends


PanesState: TypeAlias = Panes | ManyPanes


def _values(group: GroupPanes) -> int:
    return sum(pane.values for _, pane in group.panes)


def _many(panes: Panes) -> ManyPanes:
    groups: Trie[Any, GroupPanes] = Trie()
    for key, next_ in panes.turns:
        groups = groups.put(key, GroupPanes(next_, panes.group(key).panes))
    return ManyPanes(groups, panes.opened, panes.amounts)
