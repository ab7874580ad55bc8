"""The explorer: every reachable world of a scope, breadth first.

Rule of this file: no loop over worlds.  Two searches give the same worlds in the same order: the
plain one begins, and the compiled one takes over where there are many worlds.  The reduced search
visits fewer of these, for the same result.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from model.actions import Action
from model.choices import disturbances, enabled, offers, ready
from model.core import Guarantee, Property, Scope, When
from model.errors import Invalid, StepFailed
from model.evidence import Outcome
from model.progress import Progress, silent
from model.protocol import Protocol
from model.system import System
from model.world import World, apply
from proofs.explore.collapse import Collapsed, Overflow
from proofs.explore.evidence import ScopeCrashPoint
from proofs.explore.reach.seen import SeenShapes, seen_shapes
from proofs.explore.search.judge import FailedIn, Judge
from proofs.explore.search.meter import Budget, FewWorlds, Meter
from proofs.explore.search.plain import PlainSearch
from proofs.explore.search.rest import Circles, find_suspects, has_circles
from proofs.explore.trials import ScopeTrial, try_scope
from proofs.explore.vacuity import never_tried
from proofs.garbage import seldom_collected

if TYPE_CHECKING:
    from proofs.explore.search.compiled import CompiledSearch
    from proofs.explore.search.spill_folder import SpillFolder
    from proofs.explore.search.spilled import SpilledSearch

Search: TypeAlias = "PlainSearch | CompiledSearch | SpilledSearch"


class Trace(NamedTuple):
    """A run: worlds[0] is initial, actions[i] leads from worlds[i] to worlds[i + 1].

    After the last world there may be one more action, whose step failed.
    """

    system: System
    actions: tuple[Action, ...]
    worlds: tuple[World, ...]


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A run that violates a property.  circle: so many last actions of the run repeat without
    end."""

    property: Property
    trace: Trace
    circle: int = 0


@dataclass(frozen=True, slots=True)
class Exploration:
    """The result of an exploration.  complete: every reachable world was seen (no early stop).

    spent: the budget that ended it, in words.
    reduced: the worlds are those of a reduced search (proofs.explore.search.reduced).
    shapes: those that were met, if they were asked for.
    vacuous: things that the exploration should have tried and never tried, a sentence each.
    trial: the other trials; None if it did not see all worlds, or found a counterexample.
    guarantee: the weakest recovery type in a quiescent world.  notes: the sums of the protocol's
    notes, counted once for each distinct focus of a node (proofs.explore.collapse).
    """

    states: int
    transitions: int
    depth: int
    quiescent: int
    seconds: float
    complete: bool
    counterexample: Counterexample | None = None
    guarantee: Guarantee = Guarantee.PRECISE
    points: frozenset[ScopeCrashPoint] = frozenset()
    hit: frozenset[ScopeCrashPoint] = frozenset()
    notes: Counter[str] = field(default_factory=Counter)
    vacuous: tuple[str, ...] = ()
    spent: str = ""
    reduced: bool = False
    trial: ScopeTrial | None = None
    shapes: SeenShapes | None = None

    @property
    def outcome(self) -> Outcome:
        if self.counterexample:
            return Outcome.REFUTED
        if not self.complete:
            return Outcome.UNFINISHED
        return Outcome.VACUOUS if self.vacuous else Outcome.HOLDS


FEW = 30_000
"""So many worlds take the plain search no longer than loading the compiled one takes.  Once that is
loaded, it begins at once: it needs half the time for a thousand worlds, too."""
PAYS = 20
"""A reduced search begins after FEW worlds, if there are this number of them for each focus."""
MANY = 1_000_000
"""Otherwise it begins after this number of worlds: until then, learning would take longer."""


def explore(
    protocol: Protocol,
    scope: Scope,
    *,
    until: Guarantee | None = None,
    limit: int | None = None,
    seconds: float | None = None,
    memory: int | None = None,
    reduce: bool = True,
    spill: SpillFolder | None = None,
    shapes: bool = False,
    progress: Progress = silent,
) -> Exploration:
    """Explore the scope and return the result.

    until: end after the level by which a violation and so weak a guarantee were found, or PRECISE
    at the first violation; None: see all worlds.  limit: end after the level that passes so many
    states.  seconds, memory: end when so much time has passed, or the process has so many bytes.
    reduce: where there are many worlds, visit fewer of them for the same result; not on disk.
    spill: keep the worlds on disk in this folder, and go on with the search there.  shapes: also
    return those that were met.  progress: of a search on disk.  Raises Invalid if the folder
    holds something else, or cannot be written to.
    A step that fails (model.errors.StepFailed) is a violation, and ends the exploration.
    """
    system = System(protocol, scope)
    meter = Meter(Budget(limit, seconds, memory))
    search = partial(_explore, until=until, meter=meter, shapes=shapes)
    try:
        with seldom_collected():
            if spill is not None:
                return search(Collapsed(system, bits=32), on_disk=_on_disk(spill, progress))
            try:
                return search(Collapsed(system, bits=16), reduce=reduce)
            except Overflow:
                return search(Collapsed(system, bits=32), reduce=reduce)
    except StepFailed as error:  # at boot: there is no world yet
        found = Counterexample(answer_property(error), Trace(system, (), ()))
        return Exploration(0, 0, 0, 0, 0.0, False, found)


def answer_property(error: StepFailed) -> Property:
    """The property that a failed step violates."""
    return Property(f"every step answers ({error})", When.ALWAYS, lambda *_: False)


def append_failing_action(trace: Trace, error: StepFailed) -> Trace:
    """The trace, followed by the action whose step fails in its last world.

    The step of a prompt site fails within an action of another node.
    """
    system, actions, worlds = trace
    world = worlds[-1]
    offered = (a for name in system.sites for a in offers(system, world, name))
    disturbed = (a for name in system.sites for a in disturbances(system, world, name))
    for action in (*ready(system, world), *offered, *disturbed):
        try:
            apply(system, world, action)
        except StepFailed:
            return Trace(system, (*actions, action), worlds)
    raise error


def _on_disk(spill: SpillFolder, progress: Progress) -> Callable[..., SpilledSearch]:
    if not _can_compile():
        raise Invalid("--spill: numba is not installed; `pip install asif-testbed[fast]` has it")
    from proofs.explore.search.spilled import SpilledSearch

    return partial(SpilledSearch, folder=spill, progress=progress)


class _Found(NamedTuple):
    """The end of a search.  complete: it saw all worlds that it looks for."""

    search: Search
    complete: bool
    counterexample: Counterexample | None
    reduced: bool = False


def _explore(
    collapsed: Collapsed,
    until: Guarantee | None,
    meter: Meter,
    *,
    shapes: bool,
    reduce: bool = False,
    on_disk: Callable[..., SpilledSearch] | None = None,
) -> Exploration:
    """Explore few worlds with a search that is there at once, and many again.

    on_disk: makes the search that explores alone, in place of these.
    """
    judge = Judge(collapsed.system)
    if on_disk is not None:
        found = _run(on_disk(collapsed, judge), until, meter)
    else:
        found = _begin(collapsed, judge, until, meter)
        later: list[Callable[..., _Found]] = []
        if _can_compile():
            later = [*([_begin_compiled] if reduce else []), partial(_go_on, reduce=reduce)]
        for search_on in later:
            if not _is_enough(found, judge, until, meter):
                found = _better(found, search_on(collapsed, judge, until, meter))
    search, complete, counterexample, reduced = found
    evidence = collapsed.evidence
    if counterexample is None and not reduced:
        counterexample = _without_end(search, complete)
    vacuous = [*never_tried(collapsed), *judge.missing(search.quiescent)] if complete else []
    return Exploration(
        states=search.states,
        transitions=search.transitions,
        depth=search.depth,
        quiescent=search.quiescent,
        seconds=meter.seconds,
        complete=complete,
        counterexample=counterexample,
        guarantee=judge.guarantee,
        points=frozenset(evidence.points | evidence.hit),  # a budget may end between the two
        hit=frozenset(evidence.hit),
        notes=Counter(evidence.notes),
        vacuous=tuple(vacuous),
        spent=meter.why,
        reduced=reduced,
        trial=try_scope(collapsed, judge) if complete and counterexample is None else None,
        shapes=seen_shapes(collapsed) if shapes else None,
    )


def _is_enough(found: _Found, judge: Judge, until: Guarantee | None, meter: Meter) -> bool:
    """Does no later search find more?  A step that fails ends every search."""
    refuted = found.counterexample is not None
    failed = refuted and found.search.violation is None
    enough = failed or (refuted and judge.is_enough(until))
    return found.complete or enough or bool(meter.spent(found.search.states))


def _begin(collapsed: Collapsed, judge: Judge, until: Guarantee | None, meter: Meter) -> _Found:
    """See the first worlds, all of them in most scopes."""
    first = meter
    if _can_compile():
        few, worlds = 0 if _is_loaded() else FEW, meter.budget.worlds
        few = few if worlds is None else min(worlds, few)
        first = Meter(meter.budget._replace(worlds=few), meter.started)
    return _run(PlainSearch(collapsed, judge), until, first)


def _better(first: _Found, second: _Found) -> _Found:
    """The second one, unless a budget ended it where the first one had been."""
    nothing = not (second.complete or second.counterexample)
    return first if nothing and second.search.states <= first.search.states else second


def _begin_compiled(
    collapsed: Collapsed, judge: Judge, until: Guarantee | None, meter: Meter
) -> _Found:
    """See the first worlds, and all of them unless a reduced search pays."""
    from proofs.explore.search.compiled import CompiledSearch

    def focuses() -> int:
        return sum(len(view.focuses) for view in collapsed.views)

    first = FewWorlds(meter.budget, meter.started, "", focuses, FEW, PAYS, MANY)
    return _run(CompiledSearch(collapsed, judge), until, first)


def _go_on(
    collapsed: Collapsed, judge: Judge, until: Guarantee | None, meter: Meter, *, reduce: bool
) -> _Found:
    """See many worlds; fewer than all, if the rest of them show nothing else."""
    from proofs.explore.search.compiled import CompiledSearch

    found = _run_reduced(collapsed, judge, until, meter) if reduce else None
    return found or _run(CompiledSearch(collapsed, judge), until, meter)


def _run(search: Search, until: Guarantee | None, meter: Meter) -> _Found:
    system = search.collapsed.system
    try:
        complete = search.levels(until, meter)
    except FailedIn as failed:
        trace = trace_through(system, search.path(failed.world))
        trace = append_failing_action(trace, failed.error)
        return _Found(search, False, Counterexample(answer_property(failed.error), trace))
    if search.violation is None:
        return _Found(search, complete, None)
    property_, world = search.violation
    trace = trace_through(system, search.path(world))
    return _Found(search, complete, Counterexample(property_, trace))


def _run_reduced(
    collapsed: Collapsed, judge: Judge, until: Guarantee | None, meter: Meter
) -> _Found | None:
    """Search fewer worlds; None if only a whole search decides.

    Worlds at rest, with their depths, are those of a whole search.  So a property that is violated
    at rest has its shortest run.  One that is violated before rest may be seen later, or in theory
    be missed: then a whole search looks for it, no deeper than needed.
    """
    from proofs.explore.reduction.graphs import Irreducible
    from proofs.explore.search.compiled import CompiledSearch
    from proofs.explore.search.reduced import ReducedSearch

    own = Meter(meter.budget, meter.started)  # a whole search has the same budget after it
    try:
        search = ReducedSearch(collapsed, judge)
        found = _run(search, until, own)._replace(reduced=True)
    except Irreducible:
        return None
    shown, suspects = found.counterexample, find_suspects(collapsed)
    if has_circles(search.edges(suspects)):
        return None
    if shown is None:
        # Where worlds grow without end, a reduced search need not go round a circle.
        if search.breaks or (suspects and not found.complete):
            return None
        meter.why = own.why
        return found
    if search.violation is None or not search.stable:  # a step failed, or it may be longer
        return None
    if judge.always and (search.breaks or not found.complete):
        deepest = len(shown.trace.actions) - 1
        whole = _run(CompiledSearch(collapsed, judge, deepest), Guarantee.PRECISE, meter)
        found = found._replace(counterexample=whole.counterexample or shown)
    return found


@cache
def _can_compile() -> bool:
    """Is numba installed?  It is imported only for many worlds: that takes a quarter second."""
    return find_spec("numba") is not None


def _is_loaded() -> bool:
    """Has this process loaded the compiled search?  Both searches find the same, so only the time
    that an exploration takes depends on what the process did before."""
    return "proofs.explore.search.compiled" in sys.modules


def _without_end(search: Search, complete: bool) -> Counterexample | None:
    """A run of progress steps without end: the shortest way in, and the circle once around."""
    system, suspects = search.collapsed.system, find_suspects(search.collapsed)
    if not suspects:
        return None
    circle = Circles(system, search.edges(suspects), complete, search.world).first()
    if not circle:
        return None
    worlds = [*search.path(circle[0]), *map(search.world, circle[1:])]
    return endless(system, worlds, len(circle) - 1)


def endless(system: System, worlds: Sequence[World], steps: int) -> Counterexample:
    """The counterexample of a run whose last steps repeat without end."""
    return Counterexample(comes_to_rest(steps), trace_through(system, worlds), steps)


def comes_to_rest(steps: int) -> Property:
    """The property that a run violates whose last steps repeat without end.  steps: how many."""
    what = f"every run comes to rest (the last {steps} steps repeat without end)"
    if steps == 1:
        what = "every run comes to rest (the last step repeats without end)"
    return Property(what, When.QUIESCENT, lambda *_: False)


def trace_through(system: System, worlds: Sequence[World]) -> Trace:
    """The run through these worlds; its actions are found again on the model itself."""
    actions = tuple(
        next(a for a in enabled(system, before) if apply(system, before, a) == after)
        for before, after in pairwise(worlds)
    )
    return Trace(system, actions, tuple(worlds))
