"""The spread search: one exploration of a scope whose levels are worked on anywhere.

Rule of this file: it leads and adds up.  No world is expanded here but those of a counterexample,
and no level is kept; a place of all parts (model.levels.Levels) does both.

The worlds are those of the whole search of this process (proofs.explore.explorer), level by level.
The tables of the leading process meet every value and every focus that any process meets, so the
crash points, the notes and the steps that may go round for ever are those of a search here.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from model.core import Guarantee, Scope
from model.errors import Invalid, StepFailed
from model.levels import Levels, StartLevels
from model.progress import Progress, silent
from model.protocol import Protocol
from model.system import System
from model.world import World
from proofs.explore.collapse import Collapsed
from proofs.explore.explorer import (
    Counterexample,
    Exploration,
    Trace,
    answer_property,
    append_failing_action,
    endless,
    trace_through,
)
from proofs.explore.reach.seen import seen_shapes
from proofs.explore.search.judge import Judge
from proofs.explore.search.meter import Budget, Meter
from proofs.explore.search.rest import Circles, find_suspects
from proofs.explore.spread import rows
from proofs.explore.spread.edges import MOST_EDGES, SuspectEdges
from proofs.explore.spread.tables import SharedTables
from proofs.explore.spread.work import WIDE, BrokenAt, FailedAt, PartReport, SpreadWork, properties
from proofs.explore.vacuity import never_tried
from proofs.garbage import seldom_collected

UNDECIDED = (
    "endless runs: some steps may feed each other in a circle, and more than {most:,} of them "
    "would have to be followed from world to world, so whether a run repeats them without end was "
    "not decided; a check without --master decides it"
)


def explore_spread(
    start: StartLevels[PartReport],
    find: Callable[[], System],
    protocol: Protocol,
    scope: Scope,
    *,
    until: Guarantee | None = None,
    limit: int | None = None,
    seconds: float | None = None,
    memory: int | None = None,
    shapes: bool = False,
    progress: Progress = silent,
) -> Exploration:
    """As proofs.explore.explorer.explore, spread.

    start: where the levels are.  find: finds the same system in any process.  A budget ends the
    search at the end of a level.  A level with a step that fails is the last one, and is judged
    as a whole.  Raises Invalid: for `memory`, since the search has many processes; for a value that
    cannot go from process to process; and for whatever the place of the levels refuses.
    """
    if memory is not None:
        raise Invalid("a spread search has many processes: leave out the limit of memory")
    meter = Meter(Budget(limit, seconds))
    try:
        with seldom_collected():
            search = SpreadSearch(Collapsed(System(protocol, scope), bits=WIDE), find, progress)
            result = search.explore(start, until, meter)
            return replace(result, shapes=seen_shapes(search.collapsed)) if shapes else result
    except StepFailed as error:  # at boot: there is no world yet
        found = Counterexample(answer_property(error), Trace(System(protocol, scope), (), ()))
        return Exploration(0, 0, 0, 0, 0.0, False, found)


class SpreadSearch:
    """A spread search under way, as the leading process sees it.

    depth: of the last level with worlds, but for one at which a budget ended the search.  expanded:
    of the last one that was expanded.  violation, failed: the first level with one, and the first
    one there.
    """

    def __init__(
        self, collapsed: Collapsed, find: Callable[[], System], progress: Progress
    ) -> None:
        self.collapsed, self.judge = collapsed, Judge(collapsed.system)
        self.tables = SharedTables(collapsed)
        self.work = SpreadWork(uuid.uuid4().hex, collapsed.width, find)
        self.progress = progress
        self.states, self.depth, self.expanded = 1, 0, 0
        self.transitions = self.quiescent = 0
        self.violation: tuple[int, BrokenAt] | None = None
        self.failed: tuple[int, FailedAt] | None = None

    def explore(
        self, start: StartLevels[PartReport], until: Guarantee | None, meter: Meter
    ) -> Exploration:
        """The result of the search.  until: as for `explore`, at the end of a level."""
        numbers = np.array([self.collapsed.numbers(self.collapsed.initial)], np.uint32)
        with start(self.work, rows.pack(numbers, 0)) as levels:
            complete = self._levels(levels, until, meter)
            found, undecided = self._counterexample(levels), False
            if found is None:
                found, undecided = self._without_end(levels, complete)
        evidence = self.collapsed.evidence
        vacuous = [*never_tried(self.collapsed)] if complete else []
        vacuous += self.judge.missing(self.quiescent) if complete else []
        vacuous += [UNDECIDED.format(most=MOST_EDGES)] if undecided else []
        return Exploration(
            states=self.states,
            transitions=self.transitions,
            depth=self.depth,
            quiescent=self.quiescent,
            seconds=meter.seconds,
            complete=complete,
            counterexample=found,
            guarantee=self.judge.guarantee,
            points=frozenset(evidence.points | evidence.hit),
            hit=frozenset(evidence.hit),
            notes=Counter(evidence.notes),
            vacuous=tuple(vacuous),
            spent=meter.why,
        )

    def _levels(self, levels: Levels[PartReport], until: Guarantee | None, meter: Meter) -> bool:
        """Explore level after level; returns whether every reachable world was seen."""
        while True:
            names = self._learn(levels.expand(self.tables.news()))
            self.expanded = self.depth
            if self.failed or (self.violation and self.judge.is_enough(until)):
                return False
            new = levels.admit(names)
            self.states += new
            self._report(new)
            if not new:
                return True
            if meter.spent(self.states):
                return False
            self.depth += 1

    def _report(self, new: int) -> None:
        """Report how many of the worlds known so far are expanded."""
        what = f"level {self.depth + 1}: {new:,} worlds"
        self.progress("exploring", self.states - new, self.states, what)

    def _learn(self, reports: Mapping[int, PartReport]) -> dict[int, bytes]:
        """The names of the fresh values of each part, whose reports are added up."""
        names = {}
        for part, report in sorted(reports.items()):
            if report.invalid:
                raise Invalid(report.invalid)
            named = self.tables.names(report.fresh)
            self.tables.meet(report.focuses, named)
            names[part] = named.tobytes()
            self.transitions += report.transitions
            self.quiescent += report.quiescent
            self.judge.guarantee = max(self.judge.guarantee, report.guarantee)
            if report.violation and self.violation is None:
                self.violation = self.depth, report.violation
            if report.failed and self.failed is None:
                self.failed = self.depth, report.failed
        return names

    def _counterexample(self, levels: Levels[PartReport]) -> Counterexample | None:
        if self.violation is not None:
            depth, broken = self.violation
            property_ = properties(self.judge)[broken.property]
            return Counterexample(property_, self._trace(levels, depth, broken.place))
        if self.failed is not None:
            depth, failed = self.failed
            error = StepFailed(failed.node, failed.on, failed.why)
            trace = append_failing_action(self._trace(levels, depth, failed.place), error)
            return Counterexample(answer_property(error), trace)
        return None

    def _trace(self, levels: Levels[PartReport], depth: int, place: int) -> Trace:
        """The run to the world at a place of a level: from parent to parent, backward."""
        worlds: list[World] = []
        for level in range(depth, -1, -1):
            part, at = rows.part_and_row(place)
            choose: Any = partial(rows.row, width=self.collapsed.width, at=at)
            numbers, place = levels.pick(level, part, choose)
            worlds.append(self.collapsed.world_of(numbers))
        return trace_through(self.collapsed.system, worlds[::-1])

    def _without_end(
        self, levels: Levels[PartReport], complete: bool
    ) -> tuple[Counterexample | None, bool]:
        """A run of progress steps without end, and whether that was not decided."""
        suspects = find_suspects(self.collapsed)
        if not suspects:
            return None, False
        look: Any = partial(self.work.edges, self.tables.suspects(suspects))
        edges = SuspectEdges(self.collapsed.width)
        for level, packed in levels.survey(self.tables.news(), look):
            if level <= self.expanded and not edges.add(level, packed):
                return None, True
        circle = Circles(
            self.collapsed.system, edges.between(), complete, lambda at: self._world(edges, at)
        ).first()
        if not circle:
            return None, False
        before = self._trace(levels, *edges.home(circle[0])).worlds
        worlds = [*before, *(self._world(edges, at) for at in circle[1:])]
        return endless(self.collapsed.system, worlds, len(circle) - 1), False

    def _world(self, edges: SuspectEdges, at: int) -> World:
        numbers = np.frombuffer(edges.world(at), "<u4").tolist()
        return self.collapsed.world_of(tuple(numbers))
