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
from typing import Any, NamedTuple

from model.cep.savepoint import Place
from model.cep.windows import Extent, TimeWindows
from model.core import NodeName, Site
from model.events import SN
from model.protocols.upstream_backup.buffers import Ack
from model.protocols.upstream_backup.layouts import Script, Window
from model.protocols.upstream_backup.nodes import OperatorNode
from model.protocols.upstream_backup.savepoints import OperatorState, origin, push, restore
from model.world import Action, Deliver, System, World
from proofs.lemmas.upstream_backup.reference import Iteration, Reference, Taken, iterations
from proofs.lemmas.upstream_backup.windows.layouts import Twice
from proofs.lemmas.upstream_backup.windows.savepoints import COUNTED, TIMED, Kind, trimming
from proofs.prove.conformance import Abstraction, Path, Paths
from proofs.prove.lemma import Given
from proofs.prove.structure import Structure
from proofs.prove.transition import TransitionSystem


# --- the failure-free run --------------------------------------------------------------------
class Original(NamedTuple):
    """states: before the first event and after each.  fills: closer by window, both positions.

    windows: all that opened, oldest first.  matches: the numbers of all complex events.
    """

    site: Site
    inputs: tuple[Taken, ...]
    states: tuple[OperatorState, ...]
    at: Mapping[Place, int]
    windows: tuple[Window, ...]
    matches: tuple[SN, ...]

    @property
    def coming(self) -> int:
        """The position of all events to come."""
        return len(self.inputs)

    def opener(self, window: Window) -> int:
        return self.at[window.opener]

    def last(self, state: OperatorState) -> int:
        """The position of the last event that an operator has consumed."""
        return max(self.at.get(place, -1) for place in enumerate(state.last))


def original_run(site: Site, inputs: tuple[Taken, ...]) -> Original:
    scheme = site.config.design.scheme
    states = [restore(scheme, origin(scheme, len(site.preds)))]
    matches: list[SN] = []
    for edge, event in inputs:
        state, outputs = push(site.spec, scheme, states[-1], edge, event)
        states.append(state)
        matches += (output.sn for output in outputs)
    at = {(edge, event.sn): position for position, (edge, event) in enumerate(inputs)}
    return Original(site, inputs, tuple(states), at, _windows(states[-1]), tuple(matches))


def _windows(state: OperatorState) -> tuple[Window, ...]:
    """Those kept, oldest first."""
    return (*state.closed, *state.open)


def _first(state: OperatorState) -> int:
    """The number of the first window kept, or of the first one to come."""
    windows = _windows(state)
    return windows[0].number if windows else state.cep.opened + 1


# --- what happens to an operator -------------------------------------------------------------
class Saved(NamedTuple):
    """An acknowledgement was answered with a savepoint."""

    site: Site
    before: OperatorState
    after: OperatorState


class Happened(NamedTuple):
    """trims: SN_trim of the last savepoint, before and after."""

    run: Original
    what: Iteration | Saved
    trims: tuple[tuple[SN, ...], tuple[SN, ...]]


class Sight:
    """What happens to the operators of a world system; each thing is seen once."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._reference = Reference(system)
        self._runs: dict[tuple[NodeName, tuple[Taken, ...]], Original] = {}
        self._known: set[tuple[Any, ...]] = set()

    def happened(self, world: World, action: Action, after: World) -> Iterator[Happened]:
        if not isinstance(action, Deliver):
            return
        site = self.system.sites[action.node]
        at = self.system.node_at[action.node]
        node, then = world.nodes[at].state, after.nodes[at].state
        if not isinstance(node, OperatorNode) or not isinstance(then, OperatorNode):
            return
        message = world.channels[self.system.channel_at[action.sender, action.node]][0]
        if isinstance(message, Ack):
            if node.operator is not None and then.operator not in (None, node.operator):
                yield from self._saved(site, node, then, after)
            return
        for iteration in iterations(site, node, action.sender, message):
            yield from self._taken(iteration, then.mine.trim, after)

    def _taken(
        self, iteration: Iteration, trim: tuple[SN, ...], world: World
    ) -> Iterator[Happened]:
        site = iteration.site
        inputs = self._reference.inputs(site.name, world.arrivals)
        inputs = inputs[: inputs.index((iteration.edge, iteration.event)) + 1]
        key = (site.name, inputs, iteration.before, trim)
        if key not in self._known:
            self._known.add(key)
            yield Happened(self._run(site, inputs), iteration, (trim, trim))

    def _saved(
        self, site: Site, node: OperatorNode, then: OperatorNode, world: World
    ) -> Iterator[Happened]:
        before, after = node.operator, then.operator
        assert before is not None
        assert after is not None
        inputs = self._reference.inputs(site.name, world.arrivals)
        done = max(inputs.index(taken) for taken in inputs if taken[1].sn == before.last[taken[0]])
        inputs = inputs[: done + 1]
        key = (site.name, inputs, before, after)
        if key not in self._known:
            self._known.add(key)
            saved = Saved(site, before, after)
            yield Happened(self._run(site, inputs), saved, (node.mine.trim, then.mine.trim))

    def _run(self, site: Site, inputs: tuple[Taken, ...]) -> Original:
        key = (site.name, inputs)
        if key not in self._runs:
            self._runs[key] = original_run(site, inputs)
        return self._runs[key]


# --- what is trimmed -------------------------------------------------------------------------
def _kind(site: Site) -> Kind:
    return TIMED if isinstance(site.spec.splitter, TimeWindows) else COUNTED


def trims(kind: Kind, system: System) -> Paths:
    sight = Sight(system)
    rigids: dict[tuple[int, int], Structure] = {}

    def paths(world: World, action: Action, after: World) -> Iterable[Path]:
        for run, what, (old, new) in sight.happened(world, action, after):
            if _kind(run.site) is not kind:
                continue
            restart = _first(what.before)
            key = (id(run), restart)
            if key not in rigids:
                rigids[key] = trim_rigid(run, restart)
            yield Path(
                rigids[key],
                tuple(_trim_states(run, what, restart, old, new)),
                initial=not _windows(what.before),
            )

    return paths


def _trim_states(
    run: Original, what: Iteration | Saved, restart: int, old: tuple[SN, ...], new: tuple[SN, ...]
) -> Iterator[dict[str, Any]]:
    """An event that does not come in a replay is taken, too; it changes nothing."""
    last = run.last(what.before)
    retained = {produced.sn: produced.retained for produced in what.before.pending}
    here = run.last(what.after)
    for position in range(last, here) or (last,):
        yield trim_seen(run, what.before, position, restart, old, retained)
    retained |= {produced.sn: produced.retained for produced in what.after.pending}
    yield trim_seen(run, what.after, here, restart, new, retained)


def trim_seen(
    run: Original,
    state: OperatorState,
    last: int,
    restart: int,
    trim: tuple[SN, ...],
    retained: Mapping[SN, int],
) -> dict[str, Any]:
    """Matches in windows dropped before are as if they were never made."""
    open_ = {window.number for window in state.open}
    pending = {produced.sn for produced in state.pending}
    openers = {window.number: run.opener(window) for window in run.windows}
    coming = len(run.windows) + 1
    made = {sn: _trigger(run, sn) <= last and sn[-2] >= restart for sn in run.matches}
    opened = {number: at <= last for number, at in openers.items()} | {coming: False}
    return {
        "done": {position: position <= last for position in range(run.coming + 1)},
        "closed": {number: opened[number] and number not in open_ for number in opened},
        "made": made,
        "acked": {sn: made[sn] and sn not in pending for sn in run.matches},
        "retained": {sn: retained.get(sn, coming) for sn in run.matches},
        "dropped": {number: number < _first(state) for number in opened},
        "trimmed": {run.at[edge, event.sn]: event.sn <= trim[edge] for edge, event in run.inputs}
        | {run.coming: False},
    }


def _trigger(run: Original, sn: SN) -> int:
    """The number of a complex event: time, edge and number of its trigger, window, index."""
    return run.at[sn[1], sn[2:-2]]


def trim_rigid(run: Original, restart: int) -> Structure:
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
            "complex event": run.matches,
            "time": sorted({*times.values(), *starts.values(), *ends.values()}),
        },
        {
            "le": lambda a, b: a <= b,
            "opener": openers,
            "restart": restart,
            "of": lambda sn: sn[-2],
            "trigger": partial(_trigger, run),
            "match_le": lambda a, b: a <= b,
            "time": times,
            "time_le": lambda a, b: a <= b,
            "start": starts,
            "end": ends,
            "last": {number: closers.get(number, run.coming) for number in openers},
        },
    )


# --- layouts ---------------------------------------------------------------------------------
def layouts(system: System) -> Paths:
    sight = Sight(system)

    def paths(world: World, action: Action, after: World) -> Iterable[Path]:
        for run, what, _ in sight.happened(world, action, after):
            if isinstance(what, Iteration):
                yield layout_path(run, what)

    return paths


def layout_path(run: Original, what: Iteration) -> Path:
    """From where the operator is: events that it does not get, then what it does with this one."""
    last, here = run.last(what.before), run.coming - 1
    started, script = bool(_windows(what.before)), what.before.script
    windows = _windows(what.before) or _windows(what.after)
    first = run.opener(windows[0]) if windows else run.coming
    again = again_seen(run, what.before, started)
    # An operator without a window has not reached the replay start; all is told from the first
    # event on.
    states = [original_seen(run, at) | again for at in range(last if started else -1, here)]
    if windows and not started:
        if run.site.spec.splitter.counts and script is None:
            states = []  # there has been no savepoint yet, and so there is no layout
        else:
            again |= {"replaying": True, "scripted": script is not None}
            states.append(original_seen(run, here - 1) | again)
    if script is not None and what.after.script is None:
        again |= _left(run, what.before, script)
        states.append(original_seen(run, here - 1) | again)
    states.append(original_seen(run, here) | again_seen(run, what.after, bool(windows)))
    initial = not states[0]["replaying"]
    return Path(layout_rigid(run, first, last, script), tuple(states), initial)


def _left(run: Original, state: OperatorState, script: Script) -> dict[str, Any]:
    """The script is left before the event is processed."""
    drawn = {run.at[window.opener]: window.events for window in script.layout.windows}
    held = {run.opener(window): drawn[run.opener(window)] for window in state.open}
    return {
        "held_again": dict.fromkeys(range(run.coming + 1), 0) | held,
        "since_again": script.layout.since,
        "scripted": False,
    }


def original_seen(run: Original, position: int) -> dict[str, Any]:
    """After the original run has processed `position`."""
    done = {"done": {at: at <= position for at in range(run.coming + 1)}}
    return done | _seen(run, run.states[position + 1], "")


def again_seen(run: Original, state: OperatorState, started: bool) -> dict[str, Any]:
    scripted = started and state.script is not None
    return {"replaying": started, "scripted": scripted} | _seen(run, state, "_again")


def _seen(run: Original, state: OperatorState, suffix: str) -> dict[str, Any]:
    positions = range(run.coming + 1)
    windows = {run.opener(window): window for window in _windows(state)}
    open_ = {run.opener(window): window.events for window in state.open}
    return {
        f"opened{suffix}": {at: at in windows for at in positions},
        f"open{suffix}": {at: at in open_ for at in positions},
        f"held{suffix}": {at: open_.get(at, 0) for at in positions},
        f"newest{suffix}": max(windows, default=0),
        f"begun{suffix}": state.cep.newest is not None,
        f"since{suffix}": state.cep.newest.events if state.cep.newest else 0,
    }


def layout_rigid(run: Original, first: int, last: int, script: Script | None) -> Structure:
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

    symbols: dict[str, Any] = {"le": lambda a, b: a <= b, "first": first}
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
def _trimming(kind: Kind, given: Given) -> TransitionSystem:
    return trimming(given, kind)


ABSTRACTIONS = (
    *(
        Abstraction(
            f"what is trimmed, {kind.name} windows", partial(_trimming, kind), partial(trims, kind)
        )
        for kind in (TIMED, COUNTED)
    ),
    Abstraction("windows twice", lambda given: Twice(given).system(), layouts),
)
