"""What the operator of the model does, seen as the product of original run and replay, numbered.

Rule of this file: no formula.  Every iteration of every incarnation stands beside the failure-free
run of the operator.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import le
from typing import Any, NamedTuple

from model.actions import Action
from model.cep.engines import Matches
from model.cep.operator import Operator
from model.core import Site
from model.events import NOTHING, Body
from model.protocols.upstream_backup.layouts import KeptWindow
from model.protocols.upstream_backup.savepoints import NumberedOperator
from model.system import System
from model.world import World
from proofs.lemmas.upstream_backup.observer import Observer, OperatorIteration
from proofs.lemmas.upstream_backup.reference import (
    FailureFreeRun,
    kept_windows,
    matches_by_window,
    operator_of,
)
from proofs.lemmas.upstream_backup.replay import numbers
from proofs.prove.conformance import Abstraction, Path
from proofs.prove.structure import StateTable, Structure


class WindowEngine(NamedTuple):
    """The engine of an operator; serially processed, it holds its matches back until the close."""

    operator: Operator

    def begin(self) -> Any:
        state = self.operator.engine.begin()
        return state if self.operator.parallel else (state, ())

    def delta(self, state: Any, body: Body) -> Any:
        if self.operator.parallel:
            return self.operator.engine.feed(state, body).state
        inner, held = state
        fed = self.operator.engine.feed(inner, body)
        return fed.state, (*held, *fed.matches)

    def gives(self, state: Any, body: Body) -> Any:
        return self.operator.engine.feed(state, body).matches if self.operator.parallel else ()

    def closing(self, state: Any) -> Any:
        if self.operator.parallel:
            return self.operator.engine.close(state)
        inner, held = state
        return (*held, *self.operator.engine.close(inner))

    def inner(self, state: NumberedOperator, window: KeptWindow) -> Any:
        if self.operator.parallel:
            return window.state
        inner = self.begin()
        for at, body in enumerate(state.cep.queue, state.cep.base):
            if at >= window.inner.at:
                inner = self.delta(inner, body)
        return inner


def engine_of(site: Site) -> WindowEngine:
    return WindowEngine(operator_of(site))


class ReplayObserver(Observer):
    """The operators of a world system, each iteration beside the failure-free run."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self._structures: dict[tuple[FailureFreeRun, int, int], Structure] = {}

    def paths(self, world: World, action: Action, after: World) -> Iterator[Path]:
        for iteration in self.iterations(world, action):
            taken = (iteration.edge, iteration.event)
            run = self.reference.run(iteration.site, taken, after.arrivals)
            if self.is_new(run, iteration.before):
                yield self.path(run, iteration)

    def path(self, run: FailureFreeRun, iteration: OperatorIteration) -> Path:
        """The path begins where the operator is: first events that it does not receive, then this
        one.  An operator without a window has not reached the replay start."""
        last, here = run.last(iteration.before), run.coming - 1
        before, after = kept_windows(iteration.before), kept_windows(iteration.after)
        replay = replay_state(run, iteration.before, last, {}, bool(before))
        states = [original_state(run, last, {}) | replay]
        states += [original_state(run, at, run.matches) | replay for at in range(last + 1, here)]
        if after and not before:
            states.append(states[-1] | {"replaying": True})
        got = matches_by_window(iteration.outputs, iteration.after, run.at)
        replay = replay_state(run, iteration.after, here if after else last, got, bool(after))
        replay["done_again"] |= {here: bool(after)}
        states.append(original_state(run, here, run.matches) | replay)
        first = run.opener(before[0]) if before else here if after else run.coming
        seed = before[0].number if before else iteration.before.cep.opened + 1
        initial = last < 0 and not before
        return Path(self.structure(run, first, seed), tuple(states), initial)

    def structure(self, run: FailureFreeRun, first: int, seed: int) -> Structure:
        key = (run, first, seed)
        if key not in self._structures:
            named = run.numbers.get(first, run.states[-1].cep.opened + 1)
            self._structures[key] = rigid_structure(run, first, seed, named)
        return self._structures[key]


@dataclass(frozen=True, eq=False)
class _Made:
    """The matches up to a position, as a relation; equal to itself alone."""

    got: Mapping[tuple[int, int], Matches]
    position: int

    def __call__(self, at: int, opened: int, index: int) -> bool:
        return at <= self.position and index < len(self.got.get((at, opened), ()))


def original_state(
    run: FailureFreeRun, position: int, got: Mapping[tuple[int, int], Matches]
) -> StateTable:
    """The state after the original run has processed `position`."""
    state = run.states[position + 1]
    engine = engine_of(run.site)
    mine = {run.opener(window): window for window in state.open}
    numbers = {opened: run.numbers.get(opened, 0) for opened in run.openers}
    return {
        "done": {at: at <= position for at in range(run.coming + 1)},
        "open": {opened: opened in mine for opened in run.openers},
        "inner": {opened: engine.inner(state, window) for opened, window in mine.items()},
        "got": {opened: got.get((position, opened), ()) for opened in run.openers},
        "opened": state.cep.opened,
        "label": {opened: n if opened <= position else 0 for opened, n in numbers.items()},
        "now": position,
        "made": _Made(run.matches, position),
    }


def replay_state(
    run: FailureFreeRun,
    state: NumberedOperator,
    last: int,
    got: Mapping[int, Matches],
    started: bool,
) -> StateTable:
    """The state after the operator has processed `last` in its present incarnation."""
    engine = engine_of(run.site)
    theirs = {run.opener(window): window for window in state.open}
    known = {run.opener(window): window.number for window in kept_windows(state)}
    return {
        "replaying": started,
        "done_again": dict.fromkeys(range(run.coming + 1), False),
        "open_again": {opened: opened in theirs for opened in run.openers},
        "inner_again": {opened: engine.inner(state, window) for opened, window in theirs.items()},
        "got_again": {opened: got.get(opened, ()) for opened in run.openers},
        "opened_again": state.cep.opened,
        "label_again": {opened: known.get(opened, 0) for opened in run.openers},
        "now_again": last,
    }


def rigid_structure(run: FailureFreeRun, first: int, seed: int, named: int) -> Structure:
    """What never changes.  named: the number of the first window kept in the original run."""
    bodies = [event.body for _, event in run.inputs]
    engine = engine_of(run.site)
    # The event to come is later than all others.
    times = {at: body.time for at, body in enumerate(bodies)} | {run.coming: math.inf}
    edges = {at: edge for at, (edge, _) in enumerate(run.inputs)} | {run.coming: 0}
    sns = {at: event.sn for at, (_, event) in enumerate(run.inputs)} | {run.coming: NOTHING}
    most = max(map(len, run.matches.values()), default=1)
    placed: StateTable = {"opener": lambda opened: opened}
    for suffix in ("", "_again"):
        placed |= {
            f"opens{suffix}": lambda at, opened: at == opened,
            f"expires{suffix}": lambda at, opened: run.ends.get((at, opened)) is False,
            f"completes{suffix}": lambda at, opened: run.ends.get((at, opened)) is True,
            f"time{suffix}": times,
            f"sn{suffix}": sns,
        }
    return Structure(
        {"position": range(run.coming + 1), "window": run.openers, "index": range(most)},
        {
            **placed,
            "edge": edges,
            "le": le,
            "index_le": le,
            "first": first,
            "begin": engine.begin(),
            "delta": lambda state, at: engine.delta(state, bodies[at]),
            "gives": lambda state, at: engine.gives(state, bodies[at]),
            "closing": engine.closing,
            "joined": lambda a, b: (*a, *b),
            "none": (),
            "has": lambda output, index: index < len(output),
            "seed": seed,
            "named": named,
        },
    )


ABSTRACTIONS = (
    Abstraction(
        "original run and replay", numbers.numbering, lambda system: ReplayObserver(system).paths
    ),
)
