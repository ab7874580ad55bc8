"""Savepoints and window layouts as the model's operators have them, for the formulas about them.

Rule of this file: no formula.  The state of an operator says what it has done; a failure-free run
over the same events says what it should have done.

Events are positions in the merged input of a node; one more position stands for all events to
come.  Windows are their numbers in savepoints, the positions of their openers in layouts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from operator import le
from typing import Any, NamedTuple

from model.actions import Action, Deliver
from model.cep.windows import Extent, TimeWindows
from model.core import Role, Site
from model.events import SN
from model.protocols.upstream_backup.buffers import Ack
from model.protocols.upstream_backup.layouts import Script
from model.protocols.upstream_backup.savepoints import NumberedOperator
from model.protocols.upstream_backup.states import OperatorNode
from model.system import System
from model.world import World
from proofs.lemmas.upstream_backup.observer import Observer
from proofs.lemmas.upstream_backup.reference import FailureFreeRun, kept_windows
from proofs.lemmas.upstream_backup.windows import layouts, savepoints
from proofs.prove.conformance import Abstraction, Path, Paths
from proofs.prove.structure import StateTable, Structure


# --- what happens to an operator -------------------------------------------------------------
class OperatorChange(NamedTuple):
    """An operator takes an event, or (answers) an acknowledgement, which it answers with a
    savepoint.  run: up to the event, or to the last one consumed.  trims: SN_trim of the last
    savepoint, before and after."""

    run: FailureFreeRun
    before: NumberedOperator
    after: NumberedOperator
    answers: bool
    trims: tuple[tuple[SN, ...], tuple[SN, ...]]


class WindowObserver(Observer):
    """The changes of the operators of a world system; each is seen once."""

    def changes(self, world: World, action: Action, after: World) -> Iterable[OperatorChange]:
        return (c for c in self._changes(world, action, after) if self.is_new(*c))

    def _changes(self, world: World, action: Action, after: World) -> Iterator[OperatorChange]:
        node, then = self.node(world, action.node), self.node(after, action.node)
        if not (isinstance(action, Deliver) and isinstance(node, OperatorNode)):
            return
        if not isinstance(then, OperatorNode):
            return
        if isinstance(self.channel(world, action.sender, action.node)[0], Ack):
            if node.operator is None or then.operator in (None, node.operator):
                return
            run = self._until_now(self.system.sites[action.node], node.operator, after)
            trims = node.mine.trim, then.mine.trim
            yield OperatorChange(run, node.operator, then.operator, True, trims)
            return
        for taken in self.iterations(world, action):
            run = self.reference.run(taken.site, (taken.edge, taken.event), after.arrivals)
            trims = then.mine.trim, then.mine.trim
            yield OperatorChange(run, taken.before, taken.after, False, trims)

    def _until_now(self, site: Site, state: NumberedOperator, world: World) -> FailureFreeRun:
        inputs = self.reference.inputs(site.name, world.arrivals)
        done = [(edge, event) for edge, event in inputs if event.sn == state.last[edge]]
        return self.reference.run(site, done[-1], world.arrivals)


# --- what is trimmed -------------------------------------------------------------------------
def first_number(state: NumberedOperator) -> int:
    """The number of the first window kept, or of the first one to come."""
    windows = kept_windows(state)
    return windows[0].number if windows else state.cep.opened + 1


def trim_paths(kind: savepoints.WindowKind, system: System) -> Paths:
    observer, structure = WindowObserver(system), cache(trim_structure)
    timed = kind is savepoints.TIMED
    concerned = {
        site.name
        for site in system.deployment.sites
        if site.role is Role.OPERATOR and isinstance(site.spec.splitter, TimeWindows) is timed
    }

    def paths(world: World, action: Action, after: World) -> Iterator[Path]:
        if action.node in concerned:
            for change in observer.changes(world, action, after):
                restart = first_number(change.before)
                states = _trim_states(change, restart)
                initial = not kept_windows(change.before)
                yield Path(structure(change.run, restart), tuple(states), initial)

    return paths


def _trim_states(change: OperatorChange, restart: int) -> Iterator[StateTable]:
    """An event that does not come in a replay is taken as well; it changes nothing.  Matches in
    windows dropped before are as if they were never made."""
    run, before, after, _, (old, new) = change
    coming, matches = len(run.windows) + 1, run.numbers_of_matches
    last, here = run.last(before), run.last(after)
    retained = {produced.sn: produced.retained for produced in before.pending}

    def state(operator: NumberedOperator, last: int, trim: tuple[SN, ...]) -> StateTable:
        open_ = {window.number for window in operator.open}
        pending = {produced.sn for produced in operator.pending}
        opened = {window.number: run.opener(window) <= last for window in run.windows}
        opened[coming] = False
        made = {sn: _trigger(run, sn) <= last and sn[-2] >= restart for sn in matches}
        trimmed = {run.at[edge, event.sn]: event.sn <= trim[edge] for edge, event in run.inputs}
        return {
            "done": {position: position <= last for position in range(run.coming + 1)},
            "closed": {number: opened[number] and number not in open_ for number in opened},
            "made": made,
            "acked": {sn: made[sn] and sn not in pending for sn in matches},
            "retained": {sn: retained.get(sn, coming) for sn in matches},
            "dropped": {number: number < first_number(operator) for number in opened},
            "trimmed": trimmed | {run.coming: False},
        }

    for position in range(last, here) or (last,):
        yield state(before, position, old)
    retained |= {produced.sn: produced.retained for produced in after.pending}
    yield state(after, here, new)


def _trigger(run: FailureFreeRun, sn: SN) -> int:
    """The number of a complex event: time, edge and number of its trigger, window, index."""
    return run.at[sn[1], sn[2:-2]]


def trim_structure(run: FailureFreeRun, restart: int) -> Structure:
    splitter, windows, coming = run.site.spec.splitter, run.windows, len(run.windows) + 1
    openers = {window.number: run.opener(window) for window in windows} | {coming: run.coming}
    closers = {w.number: run.at[w.closer] for w in windows if w.closer is not None}
    times = dict(enumerate([*(event.body.time for _, event in run.inputs), math.inf]))
    starts = dict([*((window.number, window.start) for window in windows), (coming, math.inf)])
    size = splitter.size if isinstance(splitter, TimeWindows) else 0
    ends = {number: start + size for number, start in starts.items()}
    sorts = {
        "event": range(run.coming + 1),
        "window": tuple(openers),
        "complex event": run.numbers_of_matches,
        "time": sorted({*times.values(), *starts.values(), *ends.values()}),
    }
    symbols = {
        "le": le,
        "opener": openers,
        "restart": restart,
        "of": lambda sn: sn[-2],
        "trigger": partial(_trigger, run),
        "match_le": le,
        "time": times,
        "time_le": le,
        "start": starts,
        "end": ends,
        "last": {number: closers.get(number, run.coming) for number in openers},
    }
    return Structure(sorts, symbols)


# --- layouts ---------------------------------------------------------------------------------
def layout_paths(system: System) -> Paths:
    observer = WindowObserver(system)

    def paths(world: World, action: Action, after: World) -> Iterator[Path]:
        changes = observer.changes(world, action, after)
        return (layout_path(c.run, c.before, c.after) for c in changes if not c.answers)

    return paths


def layout_path(run: FailureFreeRun, before: NumberedOperator, after: NumberedOperator) -> Path:
    """The path begins where the operator is: first the events that it does not receive, then this
    one."""
    last, here = run.last(before), run.coming - 1
    started, script = bool(kept_windows(before)), before.script
    windows = kept_windows(before) or kept_windows(after)
    again = replay_state(run, before, started)
    # An operator without a window has not reached the replay start: its path begins with the
    # first event.
    states = [original_state(run, at) | again for at in range(last if started else -1, here)]
    if windows and not started:
        if run.site.spec.splitter.counts and script is None:
            states = []  # there has been no savepoint yet, and so there is no layout
        else:
            again |= {"replaying": True, "scripted": script is not None}
            states.append(original_state(run, here - 1) | again)
    if script is not None and after.script is None:
        # The script is left before the event is processed.
        drawn = {run.at.get(window.opener): window.events for window in script.layout.windows}
        open_ = {run.opener(window) for window in before.open}
        held = {at: drawn[at] if at in open_ else 0 for at in range(run.coming + 1)}
        again |= {"held_again": held, "since_again": script.layout.since, "scripted": False}
        states.append(original_state(run, here - 1) | again)
    states.append(original_state(run, here) | replay_state(run, after, bool(windows)))
    first = run.opener(windows[0]) if windows else run.coming
    structure = layout_structure(run, first, last, script)
    return Path(structure, tuple(states), initial=not states[0]["replaying"])


def original_state(run: FailureFreeRun, position: int) -> StateTable:
    """The state after the original run has processed `position`."""
    done = {"done": {at: at <= position for at in range(run.coming + 1)}}
    return done | _windows_of(run, run.states[position + 1], "")


def replay_state(run: FailureFreeRun, state: NumberedOperator, started: bool) -> StateTable:
    scripted = started and state.script is not None
    return {"replaying": started, "scripted": scripted} | _windows_of(run, state, "_again")


def _windows_of(run: FailureFreeRun, state: NumberedOperator, suffix: str) -> StateTable:
    positions, newest = range(run.coming + 1), state.cep.newest
    windows = {run.opener(window) for window in kept_windows(state)}
    open_ = {run.opener(window): window.events for window in state.open}
    return {
        f"opened{suffix}": {at: at in windows for at in positions},
        f"open{suffix}": {at: at in open_ for at in positions},
        f"held{suffix}": {at: open_.get(at, 0) for at in positions},
        f"newest{suffix}": max(windows, default=0),
        f"begun{suffix}": newest is not None,
        f"since{suffix}": newest.events if newest else 0,
    }


def layout_structure(
    run: FailureFreeRun, first: int, last: int, script: Script | None
) -> Structure:
    """Without a script the frontier is behind, wherever it was."""
    splitter, bodies = run.site.spec.splitter, [event.body for _, event in run.inputs]

    def asked(question: Callable[[Extent, Any], bool]) -> Callable[[int, int, int], bool]:
        def answer(event: int, window: int, events: int) -> bool:
            if run.coming in (event, window):
                return False
            return question(Extent(splitter.start(bodies[window]), events), bodies[event])

        return answer

    answers = {
        "fresh": lambda event: splitter.opens(None, bodies[event]),
        "opens": asked(splitter.opens),
        "expires": asked(splitter.expires),
        "completes": asked(splitter.completes),
    }
    drawn = script.layout.windows if script else ()
    counts = {run.at.get(window.opener): window.events for window in drawn}
    closers = {(run.at.get(w.closer), run.at.get(w.opener)) for w in drawn if w.closer}
    frontier = max(first, last)
    if script:
        frontier = max(run.at.get(place, run.coming) for place in enumerate(script.layout.frontier))
    symbols: StateTable = {
        **answers,
        **{f"{name}_again": answer for name, answer in answers.items()},
        "le": le,
        "first": first,
        "layout": splitter.counts,
        "frontier": frontier,
        "listed": lambda event: event in counts,
        "closer": lambda event, window: (event, window) in closers,
        "drawn": lambda window: counts.get(window, 0),
        "drawn_since": script.layout.since if script else 0,
    }
    return Structure({"event": range(run.coming + 1)}, symbols)


# --- abstractions ----------------------------------------------------------------------------
ABSTRACTIONS = (
    *(
        Abstraction(
            f"what is trimmed, {kind.name} windows",
            partial(savepoints.trimming, kind),
            partial(trim_paths, kind),
        )
        for kind in (savepoints.TIMED, savepoints.COUNTED)
    ),
    Abstraction("windows twice", lambda given: layouts.WindowsTwice(given).system(), layout_paths),
)
