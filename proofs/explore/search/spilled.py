"""The search on disk: the same worlds in the same order, for scopes that do not fit in memory.

Rule of this file: the steps of a level.  Files and their merge are proofs.explore.search.runs, the
worlds in memory proofs.explore.search.level_buffer, the folder proofs.explore.search.spill_folder.

A level is expanded from its file, some worlds at a time, into a buffer.  A full buffer is written
as a sorted run.  At the end of the level the runs are merged: a world stays if no earlier level has
it (delayed duplicate detection, as in external breadth-first search).  A run says of each world the
place at which it was found, so the next level gets the order that the search in memory gives it:
numbers of worlds, parents and counterexamples are the same.
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate

import numpy as np
import psutil
from numpy.typing import NDArray

from model.core import Guarantee, Property
from model.progress import Progress, silent
from model.world import World
from proofs.explore.collapse import Collapsed
from proofs.explore.search import compiled, loops
from proofs.explore.search.judge import FailedIn, Judge
from proofs.explore.search.level_buffer import LevelBuffer
from proofs.explore.search.meter import Meter, format_bytes
from proofs.explore.search.rest import Suspects
from proofs.explore.search.runs import Run, Words, WorldFile, append, merge, places, write_run
from proofs.explore.search.spill_folder import SavedLevel, SavedSearch, SpillFolder

FEWEST = 1 << 15
"""The fewest worlds of a run; with less memory than they need, the search ends."""
ROW_BYTES, WORD_BYTES = 72, 24
"""The bytes in memory of a world of a run while it is sorted: for itself, and for each word."""
REPORT_S = 0.5
STAGE = "searching on disk"


class SpilledSearch:
    """A search under way whose worlds are files of a folder."""

    def __init__(
        self, collapsed: Collapsed, judge: Judge, folder: SpillFolder, progress: Progress = silent
    ) -> None:
        self.collapsed, self.judge = collapsed, judge
        self.folder, self.progress = folder, progress
        self.buffer = LevelBuffer(collapsed, judge)
        self.violation: tuple[Property, int] | None = None
        self.depth = self.expanded = 0
        self.complete_levels: list[SavedLevel] = []
        self.runs: list[Run] = []
        self.reported = 0.0
        self.memory: int = psutil.virtual_memory().available // 2
        with folder.guarded():
            self._resume(folder.open())

    def _resume(self, saved: SavedSearch) -> None:
        buffer = self.buffer
        buffer.at[loops.VIOLATION] = saved.violation
        if not saved.levels:
            self._begin_level()
            for path in (self.folder.worlds(0), self.folder.sorted(0)):
                append(path, buffer.initial())
            self._end_level(1)
            self._save()
            return
        self.complete_levels = [*saved.levels]
        buffer.load_tables(self.folder.tables(len(saved.levels) - 1), saved.sizes)
        buffer.at[loops.VIOLATION] = saved.violation
        self.expanded = self.states - saved.levels[-1].worlds
        if saved.violation >= 0:
            self.violation = buffer.judge_again(self._row(saved.violation)), saved.violation

    @property
    def states(self) -> int:
        return sum(level.worlds for level in self.complete_levels)

    @property
    def transitions(self) -> int:
        return self.buffer.transitions

    @property
    def quiescent(self) -> int:
        return self.buffer.quiescent

    # --- levels ------------------------------------------------------------------------------
    def levels(self, until: Guarantee | None, meter: Meter) -> bool:
        """As PlainSearch.levels.  Raises Invalid if the folder cannot be written to."""
        self.buffer.at[loops.STOP] = until is Guarantee.PRECISE
        self.memory = meter.budget.memory or self.memory
        try:
            with self.folder.guarded():
                complete = self._levels(until, meter)
        finally:
            self.buffer.grant()
        self.progress(STAGE, self.states, self.states)
        return complete

    def _levels(self, until: Guarantee | None, meter: Meter) -> bool:
        while True:
            level = len(self.complete_levels) - 1
            self.depth = max(0, level - 1)
            if self.violation and self.judge.is_enough(until):
                return False
            if not self.complete_levels[level].worlds:
                return True
            if level and meter.spent(self.states):
                return False
            self.depth = level
            try:
                whole = self._expand_level(level, meter)
            except FailedIn:
                self._merge_level(level + 1)
                raise
            self._merge_level(level + 1)
            if not whole:
                return False
            self._save()

    def _expand_level(self, level: int, meter: Meter) -> bool:
        """Expand the worlds of a level into runs; returns whether it was expanded to its end."""
        buffer, at = self.buffer, self.buffer.at
        file, start = self._file(level), self.states - self.complete_levels[level].worlds
        buffer.clear()
        most, end = self._most(), file.size
        chunk = max(1, min(compiled.CHUNK, most))
        for first in range(0, end, chunk):
            worlds = file.read(first, min(end, first + chunk), buffer.layout)
            try:
                ended = buffer.expand(worlds, first)
            except FailedIn as failed:
                raise FailedIn(start + first + failed.world, failed.error) from failed
            self.expanded = start + first + int(at[loops.WORLD])
            if self.violation is None and buffer.violation is not None:
                property_, place = buffer.violation
                self.violation = property_, start + first + place
            if ended == loops.STOPPED or meter.spent():
                return False
            if buffer.found >= most:
                self._write_run()
                most = self._most()
            self._report()
        return True

    def _most(self) -> int:
        """The number of new worlds for which there is memory."""
        free: int = self.memory - psutil.Process().memory_info().rss
        each = ROW_BYTES + WORD_BYTES * self.buffer.layout.per
        return max(FEWEST, free // each)

    def _write_run(self) -> None:
        buffer, number = self.buffer, len(self.runs)
        words, parents = buffer.take()
        path = self.folder.run(number)
        self.runs.append(write_run(path, tuple(buffer.bits), words, parents))
        del words, parents
        buffer.clear()

    # --- the end of a level ------------------------------------------------------------------
    def _merge_level(self, level: int) -> None:
        """Make the next level of the runs, and remove them."""
        if self.buffer.found:
            self._write_run()
        self._begin_level()
        known = [self._file(at, sorted_=True) for at in range(level)]
        layout, kept = self.buffer.layout, [0] * len(self.runs)
        for fresh in merge(self.runs, known, layout, self._most()) if self.runs else ():
            append(self.folder.sorted(level), fresh.words)
            by_run = np.argsort(fresh.run, kind="stable")
            ends = np.searchsorted(fresh.run[by_run], np.arange(len(self.runs)), side="right")
            for number, mine in enumerate(np.split(by_run, ends[:-1])):
                append(self.folder.kept(number, "worlds"), fresh.words[mine])
                append(self.folder.kept(number, "order"), fresh.order[mine])
                kept[number] += len(mine)
            self._report()
        for number, count in enumerate(kept):
            self._keep(number, count, level)
        self.runs.clear()
        self._end_level(sum(kept))

    def _keep(self, number: int, count: int, level: int) -> None:
        """Append the worlds of a run that are new to the level, as they were found."""
        run = self.runs[number]
        words, order = self.folder.kept(number, "worlds"), self.folder.kept(number, "order")
        found = places(order, 0, count)
        sorted_ = np.argsort(found)
        parents = places(run.parents, 0, run.worlds.size)
        append(self.folder.parents(level), parents[found[sorted_]])
        file = WorldFile(words, tuple(self.buffer.bits), count)
        append(self.folder.worlds(level), file.read(0, count, self.buffer.layout)[sorted_])
        for path in (words, order, run.worlds.path, run.order, run.parents):
            path.unlink()

    def _begin_level(self) -> None:
        """Make the files of the level after the last one; an interrupted search may have."""
        level = len(self.complete_levels)
        for path in self.folder.level(level):
            path.write_bytes(b"")

    def _end_level(self, worlds: int) -> None:
        self.complete_levels.append(SavedLevel(worlds, tuple(self.buffer.bits)))

    def _save(self) -> None:
        """Make sure that a search can go on from the last level."""
        level = len(self.complete_levels) - 1
        self.buffer.save_tables(self.folder.tables(level))
        self.folder.settle(level)
        violation = -1 if self.violation is None else self.violation[1]
        sizes, checksum = self.buffer.sizes(), self.folder.checksum(level)
        self.folder.save(SavedSearch(tuple(self.complete_levels), violation, sizes, checksum))
        self.folder.tables(level - 1).unlink(missing_ok=True)

    def _report(self) -> None:
        now = time.perf_counter()
        if now < self.reported + REPORT_S:
            return
        self.reported = now
        total = self.states + self.buffer.found + 1
        shown = f"level {self.depth}, {self.states:,} worlds, "
        shown += f"{format_bytes(self.folder.bytes())} on disk"
        self.progress(STAGE, self.expanded, total, shown)

    # --- worlds ------------------------------------------------------------------------------
    def path(self, world: int) -> list[World]:
        """The worlds from the initial one to the one with this number."""
        level, place = self._place(world)
        found = [world]
        while level:
            place = int(places(self.folder.parents(level), place, place + 1)[0])
            level -= 1
            found.append(self._starts()[level] + place)
        return [self.world(number) for number in reversed(found)]

    def world(self, world: int) -> World:
        """The world with this number."""
        return self.buffer.unpack(self._row(world))

    def edges(self, suspects: Suspects) -> NDArray[np.int64]:
        """As PlainSearch.edges.  All worlds are followed once for each part of them that fits in
        memory, where the next worlds are looked for; the edges themselves have to fit, too."""
        buffer, chosen = self.buffer, self.buffer.chosen(suspects)
        found = [np.zeros((0, 2), np.int64)]
        most = self._most()
        for target in range(0, self.states, most):
            part = self._part(target, min(self.states, target + most), most)
            buffer.look_for(np.concatenate([worlds for _, worlds in part]))
            for start, worlds in self._part(0, self.expanded, compiled.CHUNK):
                edges = buffer.edges_into(worlds, chosen)
                found.append(edges + np.array([start, target]))
        together = np.concatenate(found)
        return together[np.argsort(together[:, 0], kind="stable")]

    def _part(self, begin: int, end: int, most: int) -> Iterator[tuple[int, Words]]:
        """The worlds with numbers from `begin` to `end`, some at a time: (number of the first one,
        rows)."""
        for level, start in enumerate(self._starts()):
            last = min(self.complete_levels[level].worlds, end - start)
            for first in range(max(0, begin - start), last, most):
                rows = self._file(level).read(first, min(last, first + most), self.buffer.layout)
                yield start + first, rows

    def _row(self, world: int) -> Words:
        level, place = self._place(world)
        return self._file(level).read(place, place + 1, self.buffer.layout)

    def _place(self, world: int) -> tuple[int, int]:
        """The level of a world, and its place there."""
        starts = self._starts()
        level = bisect_right(starts, world) - 1
        return level, world - starts[level]

    def _starts(self) -> list[int]:
        """The number of the first world of each level."""
        worlds = [level.worlds for level in self.complete_levels]
        return [0, *accumulate(worlds[:-1])]

    def _file(self, level: int, *, sorted_: bool = False) -> WorldFile:
        path = self.folder.sorted(level) if sorted_ else self.folder.worlds(level)
        worlds, bits = self.complete_levels[level]
        return WorldFile(path, bits, worlds)
