"""Savepoints and window layouts as the model's operators have them, for the formulas about them.

Rule of this file: what an operator has done is read off its state; what it should have done, off a
failure-free run of it over the same events.  No formula is written here.

Events are positions in the merged input of a node; one more position stands for all events to
come.  Windows are their numbers in savepoints, the positions of their openers in layouts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from operator import le
from typing import Any, NamedTuple

from model.cep.windows import Extent, TimeWindows
from model.core import Role, Site
from model.events import SN
from model.protocols.upstream_backup.buffers import Ack
from model.protocols.upstream_backup.layouts import Script
from model.protocols.upstream_backup.savepoints import OperatorState
from model.protocols.upstream_backup.states import OperatorNode
from model.system import System
from model.world import Action, Deliver, World
from proofs.lemmas.upstream_backup.observer import Observer, OperatorIteration
from proofs.lemmas.upstream_backup.reference import FailureFreeRun, kept_windows
from proofs.lemmas.upstream_backup.windows import layouts, savepoints
from proofs.prove.conformance import Abstraction, Path, Paths
from proofs.prove.lemma import Given
from proofs.prove.structure import StateTable, Structure
from proofs.prove.transition import TransitionSystem


def first_number(state: OperatorState) -> int:
    """The number of the first window kept, or of the first one to come."""
    windows = kept_windows(state)
    return windows[0].number if windows else state.cep.opened + 1


# --- what happens to an operator -------------------------------------------------------------
class Answered(NamedTuple):
    """An acknowledgement, answered with a savepoint."""

    site: Site
    before: OperatorState
    after: OperatorState


class Happened(NamedTuple):
    """trims: SN_trim of the last savepoint, before and after."""

    run: FailureFreeRun
    what: OperatorIteration | Answered
    trims: tuple[tuple[SN, ...], tuple[SN, ...]]


class WindowObserver(Observer):
    """What happens to the operators of a world system; each thing is seen once."""

    def happenings(self, world: World, action: Action, after: World) -> Iterator[Happened]:
        if not isinstance(action, Deliver):
            return
        node, then = self.node(world, action.node), self.node(after, action.node)
        if not isinstance(node, OperatorNode) or not isinstance(then, OperatorNode):
            return
        if isinstance(self.channel(world, action.sender, action.node)[0], Ack):
            if node.operator is not None and then.operator not in (None, node.operator):
                yield from self._answer(self.system.sites[action.node], node, then, after)
            return
        trim = then.mine.trim
        for iteration in self.iterations(world, action):
            taken = (iteration.edge, iteration.event)
            run = self.reference.run(iteration.site, taken, after.arrivals)
            if self.is_new(run, iteration.before, trim):
                yield Happened(run, iteration, (trim, trim))

    def _answer(
        self, site: Site, node: OperatorNode, then: OperatorNode, world: World
    ) -> Iterator[Happened]:
        before, after = node.operator, then.operator
        assert before is not None
        assert after is not None
        inputs = self.reference.inputs(site.name, world.arrivals)
        done = max(inputs.index(taken) for taken in inputs if taken[1].sn == before.last[taken[0]])
        run = self.reference.run(site, inputs[done], world.arrivals)
        if self.is_new(run, before, after):
            trims_ = (node.mine.trim, then.mine.trim)
            yield Happened(run, Answered(site, before, after), trims_)


# --- what is trimmed -------------------------------------------------------------------------
def _kind(site: Site) -> savepoints.WindowKind:
    return savepoints.TIMED if isinstance(site.spec.splitter, TimeWindows) else savepoints.COUNTED


def trim_paths(kind: savepoints.WindowKind, system: System) -> Paths:
    observer = WindowObserver(system)
    structures: dict[tuple[FailureFreeRun, int], Structure] = {}
    concerned = {
        site.name
        for site in system.deployment.sites
        if site.role is Role.OPERATOR and _kind(site) is kind
    }

    def paths(world: World, action: Action, after: World) -> Iterable[Path]:
        if action.node not in concerned:
            return
        for run, what, (old, new) in observer.happenings(world, action, after):
            restart = first_number(what.before)
            key = (run, restart)
            if key not in structures:
                structures[key] = trim_structure(run, restart)
            yield Path(
                structures[key],
                tuple(_trim_states(run, what, restart, old, new)),
                initial=not kept_windows(what.before),
            )

    return paths


def _trim_states(
    run: FailureFreeRun,
    what: OperatorIteration | Answered,
    restart: int,
    old: tuple[SN, ...],
    new: tuple[SN, ...],
) -> Iterator[StateTable]:
    """An event that does not come in a replay is taken as well; it changes nothing."""
    last = run.last(what.before)
    retained = {produced.sn: produced.retained for produced in what.before.pending}
    here = run.last(what.after)
    for position in range(last, here) or (last,):
        yield trim_state(run, what.before, position, restart, old, retained)
    retained |= {produced.sn: produced.retained for produced in what.after.pending}
    yield trim_state(run, what.after, here, restart, new, retained)


def trim_state(
    run: FailureFreeRun,
    state: OperatorState,
    last: int,
    restart: int,
    trim: tuple[SN, ...],
    retained: Mapping[SN, int],
) -> StateTable:
    """Matches in windows dropped before are as if they were never made."""
    open_ = {window.number for window in state.open}
    pending = {produced.sn for produced in state.pending}
    openers = {window.number: run.opener(window) for window in run.windows}
    coming = len(run.windows) + 1
    made = {sn: _trigger(run, sn) <= last and sn[-2] >= restart for sn in run.numbers_of_matches}
    opened = {number: at <= last for number, at in openers.items()} | {coming: False}
    return {
        "done": {position: position <= last for position in range(run.coming + 1)},
        "closed": {number: opened[number] and number not in open_ for number in opened},
        "made": made,
        "acked": {sn: made[sn] and sn not in pending for sn in run.numbers_of_matches},
        "retained": {sn: retained.get(sn, coming) for sn in run.numbers_of_matches},
        "dropped": {number: number < first_number(state) for number in opened},
        "trimmed": {run.at[edge, event.sn]: event.sn <= trim[edge] for edge, event in run.inputs}
        | {run.coming: False},
    }


def _trigger(run: FailureFreeRun, sn: SN) -> int:
    """The number of a complex event: time, edge and number of its trigger, window, index."""
    return run.at[sn[1], sn[2:-2]]


def trim_structure(run: FailureFreeRun, restart: int) -> Structure:
    splitter, windows = run.site.spec.splitter, run.windows
    coming = len(windows) + 1
    bodies = [event.body for _, event in run.inputs]
    openers = {window.number: run.opener(window) for window in windows} | {coming: run.coming}
    closers = {w.number: run.at[w.closer] for w in windows if w.closer is not None}
    times: dict[int, float] = {at: body.time for at, body in enumerate(bodies)}
    times[run.coming] = math.inf
    starts: dict[int, float] = {window.number: window.start for window in windows}
    starts[coming] = math.inf
    size = splitter.size if isinstance(splitter, TimeWindows) else 0
    ends = {number: start + size for number, start in starts.items()}
    return Structure(
        {
            "event": range(run.coming + 1),
            "window": tuple(openers),
            "complex event": run.numbers_of_matches,
            "time": sorted({*times.values(), *starts.values(), *ends.values()}),
        },
        {
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
        },
    )


# --- layouts ---------------------------------------------------------------------------------
def layout_paths(system: System) -> Paths:
    observer = WindowObserver(system)

    def paths(world: World, action: Action, after: World) -> Iterable[Path]:
        for run, what, _ in observer.happenings(world, action, after):
            if isinstance(what, OperatorIteration):
                yield layout_path(run, what)

    return paths


def layout_path(run: FailureFreeRun, what: OperatorIteration) -> Path:
    """The path begins where the operator is: first the events that it does not receive, then this
    one."""
    last, here = run.last(what.before), run.coming - 1
    started, script = bool(kept_windows(what.before)), what.before.script
    windows = kept_windows(what.before) or kept_windows(what.after)
    first = run.opener(windows[0]) if windows else run.coming
    again = replay_state(run, what.before, started)
    # An operator without a window has not reached the replay start: its path begins with the
    # first event.
    states = [original_state(run, at) | again for at in range(last if started else -1, here)]
    if windows and not started:
        if run.site.spec.splitter.counts and script is None:
            states = []  # there has been no savepoint yet, and so there is no layout
        else:
            again |= {"replaying": True, "scripted": script is not None}
            states.append(original_state(run, here - 1) | again)
    if script is not None and what.after.script is None:
        again |= _left(run, what.before, script)
        states.append(original_state(run, here - 1) | again)
    states.append(original_state(run, here) | replay_state(run, what.after, bool(windows)))
    initial = not states[0]["replaying"]
    return Path(layout_structure(run, first, last, script), tuple(states), initial)


def _left(run: FailureFreeRun, state: OperatorState, script: Script) -> StateTable:
    """The script is left before the event is processed."""
    drawn = {run.at[window.opener]: window.events for window in script.layout.windows}
    held = {run.opener(window): drawn[run.opener(window)] for window in state.open}
    return {
        "held_again": dict.fromkeys(range(run.coming + 1), 0) | held,
        "since_again": script.layout.since,
        "scripted": False,
    }


def original_state(run: FailureFreeRun, position: int) -> StateTable:
    """The state after the original run has processed `position`."""
    done = {"done": {at: at <= position for at in range(run.coming + 1)}}
    return done | _windows_of(run, run.states[position + 1], "")


def replay_state(run: FailureFreeRun, state: OperatorState, started: bool) -> StateTable:
    scripted = started and state.script is not None
    return {"replaying": started, "scripted": scripted} | _windows_of(run, state, "_again")


def _windows_of(run: FailureFreeRun, state: OperatorState, suffix: str) -> StateTable:
    positions = range(run.coming + 1)
    windows = {run.opener(window): window for window in kept_windows(state)}
    open_ = {run.opener(window): window.events for window in state.open}
    return {
        f"opened{suffix}": {at: at in windows for at in positions},
        f"open{suffix}": {at: at in open_ for at in positions},
        f"held{suffix}": {at: open_.get(at, 0) for at in positions},
        f"newest{suffix}": max(windows, default=0),
        f"begun{suffix}": state.cep.newest is not None,
        f"since{suffix}": state.cep.newest.events if state.cep.newest else 0,
    }


def layout_structure(
    run: FailureFreeRun, first: int, last: int, script: Script | None
) -> Structure:
    """Without a script the frontier is behind, wherever it was."""
    splitter = run.site.spec.splitter
    bodies = [event.body for _, event in run.inputs]

    def asked(
        question: Callable[[Extent, Any], bool],
    ) -> Callable[[int, int, int], bool]:
        def answer(event: int, window: int, events: int) -> bool:
            if run.coming in (event, window):
                return False
            return question(Extent(splitter.start(bodies[window]), events), bodies[event])

        return answer

    symbols: StateTable = {"le": le, "first": first}
    for suffix in ("", "_again"):
        symbols |= {
            f"fresh{suffix}": lambda event: splitter.opens(None, bodies[event]),
            f"opens{suffix}": asked(splitter.opens),
            f"expires{suffix}": asked(splitter.expires),
            f"completes{suffix}": asked(splitter.completes),
        }
    drawn = script.layout.windows if script else ()
    closers = {(run.at.get(w.closer), run.at.get(w.opener)) for w in drawn if w.closer}
    counts = {run.at.get(window.opener): window.events for window in drawn}
    frontier = max(first, last)
    if script:
        frontier = max(run.at.get(place, run.coming) for place in enumerate(script.layout.frontier))
    symbols |= {
        "layout": splitter.counts,
        "frontier": frontier,
        "listed": lambda event: event in counts,
        "closer": lambda event, window: (event, window) in closers,
        "drawn": lambda window: counts.get(window, 0),
        "drawn_since": script.layout.since if script else 0,
    }
    return Structure({"event": range(run.coming + 1)}, symbols)


# --- abstractions ----------------------------------------------------------------------------
def _trimming(kind: savepoints.WindowKind, given: Given) -> TransitionSystem:
    return savepoints.trimming(kind, given)


ABSTRACTIONS = (
    *(
        Abstraction(
            f"what is trimmed, {kind.name} windows",
            partial(_trimming, kind),
            partial(trim_paths, kind),
        )
        for kind in (savepoints.TIMED, savepoints.COUNTED)
    ),
    Abstraction("windows twice", lambda given: layouts.WindowsTwice(given).system(), layout_paths),
)
