"""Portable worlds: the tables of a process, and the numbers that all processes share.

Rule of this file: no expansion.  A table of `Collapsed` numbers values as they are met, so that a
number means something else in every process.  The process that leads the search gives each value
the number that all share: that of its own tables.  The others receive these values as news, level
by level, and number for themselves.  They report all values that are not in the news.

A report can be repeated after a loss, elsewhere and later: a number counts as shared if the news of
its level have it, even where this process has heard later ones; and a focus is reported until
the news say that it has arrived.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from proofs.explore.collapse import Collapsed
from proofs.explore.search.rest import Suspects
from proofs.explore.spread.pickling import ValuePickler
from proofs.explore.spread.rows import FRESH
from proofs.explore.views import CLOSED, FAULTS

Focus: TypeAlias = tuple[int, tuple[int, ...]]
"""A view, by its place, and the numbers of a focus of it."""

MET = 0
"""A world has a focus; the other things that a world does with one are kinds of moves, which it
grants."""

MetFocus: TypeAlias = tuple[int, Focus]
"""MET, or the kind of moves, and the focus."""

SharedSuspects: TypeAlias = Mapping[Focus, Sequence[int]]
"""The suspects of proofs.explore.search.rest, by focus."""


class News(NamedTuple):
    """All that the leading process has learned since the last level.

    values: (field, value), in the order in which they were numbered.  focuses: those that have
    arrived.
    """

    values: tuple[tuple[int, Any], ...]
    focuses: tuple[MetFocus, ...]


def _own(value: Any) -> Any:
    """The value as `Collapsed` has it: it knows closed channels by identity."""
    return CLOSED if isinstance(value, str) and value == CLOSED else value


class SharedTables:
    """The tables of the leading process: its numbers are those that all share."""

    def __init__(self, collapsed: Collapsed) -> None:
        self.collapsed = collapsed
        self._pickler = ValuePickler(collapsed.system.protocol.behaviour)
        self._sent = [0] * collapsed.width
        self._arrived: dict[MetFocus, None] = {}

    def news(self) -> bytes:
        """All values and focuses since the last news."""
        values = []
        for field, known in enumerate(self.collapsed.values):
            values += [(field, value) for value in islice(known, self._sent[field], None)]
            self._sent[field] = len(known)
        focuses, self._arrived = tuple(self._arrived), {}
        return self._pickler.dump(News(tuple(values), focuses))

    def names(self, fresh: bytes) -> NDArray[np.uint32]:
        """The shared numbers of the values of a report, in their order."""
        values = [(field, _own(value)) for field, value in self._pickler.load(fresh)]
        numbers = [self.collapsed.number(field, value) for field, value in values]
        return np.array(numbers, np.uint32)

    def meet(self, focuses: Sequence[MetFocus], names: NDArray[np.uint32]) -> None:
        """Ask the model about each focus of a report, as a search in this process would."""
        for how, (at, numbers) in focuses:
            shared = tuple(int(names[n - FRESH]) if n >= FRESH else n for n in numbers)
            view = self.collapsed.views[at]
            if how == MET:
                self.collapsed.focus(view, shared)
            if how != MET or not self.collapsed.by_world:
                self.collapsed.grant(view, shared, how or FAULTS)
            self._arrived[how, (at, shared)] = None

    def suspects(self, found: Suspects) -> SharedSuspects:
        """The suspects as all processes find them."""
        at = {view.whose: at for at, view in enumerate(self.collapsed.views)}
        return {(at[whose], focus): moves for (whose, focus), moves in found.items()}


class OwnTables:
    """The tables of any process, beside the numbers that all share."""

    def __init__(self, collapsed: Collapsed) -> None:
        self.collapsed = collapsed
        self._pickler = ValuePickler(collapsed.system.protocol.behaviour)
        width = collapsed.width
        self._own: list[list[int]] = [[] for _ in range(width)]
        """By field and shared number, the number here."""
        self._shared: list[dict[int, int]] = [{} for _ in range(width)]
        """By field and number here, the shared one."""
        self._heard: list[list[int]] = []
        """By level, how many values of each field its news and those before have."""
        self._waiting: dict[MetFocus, None] = {}
        self._granted: set[MetFocus] = set()
        self._looked = [0] * len(collapsed.views)

    def hear(self, news: Sequence[bytes]) -> None:
        """Learn the news of all levels that were not heard before."""
        for data in news[len(self._heard) :]:
            values, focuses = self._pickler.load(data)
            for field, value in values:
                own = self.collapsed.number(field, _own(value))
                self._shared[field][own] = len(self._own[field])
                self._own[field].append(own)
            self._heard.append([*map(len, self._own)])
            self._look()
            for how, focus in focuses:
                self._waiting.pop((how, self.owned_focus(focus)), None)

    def owned(self, numbers: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """The numbers here of worlds in shared ones."""
        columns = zip(self._own, numbers.T, strict=True)
        return np.stack([np.array(own, "<u4")[column] for own, column in columns], axis=1)

    def owned_focus(self, focus: Focus) -> Focus:
        """The focus in numbers of here."""
        view, numbers = focus
        fields = self.collapsed.views[view].fields
        return view, tuple(self._own[field][n] for field, n in zip(fields, numbers, strict=True))

    def _look(self) -> None:
        """Let the focuses wait that were met since the last look."""
        for at, view in enumerate(self.collapsed.views):
            for key in islice(view.focuses, self._looked[at], None):
                self._waiting[MET, (at, key)] = None
            self._looked[at] = len(view.focuses)

    def grant(self, at: int, key: tuple[int, ...], kind: int) -> None:
        """A world with this focus, in numbers of here, grants its moves of a kind."""
        met = kind, (at, key)
        if met not in self._granted:
            self._granted.add(met)
            self._waiting[met] = None

    def dump(self, values: Sequence[tuple[int, Any]]) -> bytes:
        """The values as bytes.  Raises Invalid for one that cannot go to another process."""
        return self._pickler.dump(values)

    def waiting(self) -> Iterator[MetFocus]:
        """The focuses of which no news says that they have arrived, in numbers of here."""
        self._look()
        yield from self._waiting

    def writer(self, level: int) -> SharedNumbers:
        return SharedNumbers(self.collapsed, self._shared, self._heard[level])


class SharedNumbers:
    """Writes numbers of here as shared ones of a level; others are fresh, and numbered in their
    order."""

    def __init__(
        self, collapsed: Collapsed, shared: Sequence[dict[int, int]], heard: Sequence[int]
    ) -> None:
        self.collapsed, self._known, self._heard = collapsed, shared, heard
        self._fresh: dict[tuple[int, int], int] = {}

    def numbers(self, own: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """The numbers of worlds, a row for each."""
        written = np.empty_like(own)
        for field, column in enumerate(own.T):
            met, first, back = np.unique(column, return_index=True, return_inverse=True)
            names = np.empty(len(met), np.uint32)
            for at in np.argsort(first).tolist():  # the order in which the worlds have them
                names[at] = self.number(field, int(met[at]))
            written[:, field] = names[back]
        return written

    def number(self, field: int, own: int) -> int:
        known = self._known[field].get(own, self._heard[field])
        if known < self._heard[field]:
            return known
        return FRESH + self._fresh.setdefault((field, own), len(self._fresh))

    def focus(self, met: MetFocus) -> MetFocus:
        how, (view, key) = met
        fields = self.collapsed.views[view].fields
        return how, (view, tuple(map(self.number, fields, key)))

    def fresh(self) -> list[tuple[int, Any]]:
        """(field, value) of the fresh numbers, in their order."""
        values = self.collapsed.values
        return [(field, values[field][own]) for field, own in self._fresh]
