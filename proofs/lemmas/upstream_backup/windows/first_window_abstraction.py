"""The windows kept, as operators of the model have them: sequences under NEXT.

Rule of this file: no formula; which engines keep the order of first_window is proved in overtaking,
and this file looks at those alone whose state is the progress of one run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from operator import ge, le
from typing import Any

from model.actions import Action
from model.cep.operator import Operator
from model.cep.patterns import Pattern, Strategy
from model.events import Body
from model.protocols.upstream_backup.savepoints import OperatorState
from model.system import System
from model.world import World
from proofs.lemmas.upstream_backup.observer import Observer
from proofs.lemmas.upstream_backup.reference import kept_windows
from proofs.lemmas.upstream_backup.windows import first_window
from proofs.prove.conformance import Abstraction, Path
from proofs.prove.structure import StateTable, Structure


@cache
def _structure(steps: int, oldest: int, newest: int) -> Structure:
    """An engine that waits is in the state of its progress; an event is known by the steps that it
    satisfies."""
    return Structure(
        {
            "window": range(oldest, newest + 1),
            "engine state": range(steps),
            "event": tuple(product((False, True), repeat=steps)),
        },
        {
            "le": le,
            "begin": 0,
            "goes": lambda state, event, to: to == (state + event[state]) % steps,
            "matches": lambda state, event: event[state] and state + 1 == steps,
            "waiting": lambda _state: True,
            "above": ge,
        },
    )


def _covered(spec: Any) -> bool:
    """Sequences under NEXT, whose state is the progress of one run.  Serial processing feeds a
    window when it closes, and what a negation at the end completes is left out."""
    return (
        isinstance(spec, Operator)
        and spec.parallel
        and isinstance(spec.engine, Pattern)
        and spec.engine.strategy is Strategy.NEXT
        and not any(step.negated for step in spec.engine.steps)
    )


class FirstWindowObserver(Observer):
    """The events that a covered operator takes, one by one; each iteration is looked at once."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self._covered = {name for name, site in system.sites.items() if _covered(site.spec)}

    def paths(self, before: World, action: Action, _: World) -> Iterator[Path]:
        if action.node not in self._covered:
            return
        for iteration in self.iterations(before, action):
            if self.is_new(action.node, iteration.before, iteration.edge, iteration.event):
                yield from _iteration(
                    iteration.site.spec, iteration.before, iteration.event.body, iteration.after
                )


def _iteration(
    spec: Operator, before: OperatorState, body: Body, after: OperatorState
) -> Iterable[Path]:
    """One push: with what was acknowledged before it, and with each match that it produces."""
    windows = kept_windows(after)
    if not windows:
        return
    assert isinstance(spec.engine, Pattern)
    steps = spec.engine.positive
    structure = _structure(len(steps), windows[0].number, windows[-1].number)
    event = tuple(step.predicate.holds(body) for step in steps)
    expired = {w.number for w in before.open if spec.splitter.expires(w.inner.extent, body)}
    pending = [produced.retained for produced in before.pending]
    new = [produced.retained for produced in after.pending][len(pending) :]
    for produced, first in {(False, windows[0].number), *((True, first) for first in pending)}:
        yield _path(
            structure, (before, after), event, expired, (produced, first), (produced, first)
        )
    for first in {*new}:
        unsaid = (False, windows[0].number)
        yield _path(structure, (before, after), event, expired, unsaid, (True, first))


def _path(
    structure: Structure,
    states: tuple[OperatorState, OperatorState],
    event: tuple[bool, ...],
    expired: set[int],
    said: tuple[bool, int],
    says: tuple[bool, int],
) -> Path:
    numbers = structure.sorts["window"]
    idle = (False,) * len(event)
    before = _state(states[0], numbers, idle, said)
    closed = {number: before["closed"][number] or number in expired for number in numbers}
    after = _state(states[1], numbers, event, says)
    # An operator that has dropped all its windows looks like one that has begun.
    initial = not said[0] and not any(before["opened"].values())
    return Path(structure, (before, {**before, "closed": closed}, after), initial)


def _state(
    state: OperatorState, numbers: Iterable[int], event: tuple[bool, ...], said: tuple[bool, int]
) -> StateTable:
    """The windows as the symbols have them; what an operator has dropped is not looked at."""
    windows = {window.number: window for window in kept_windows(state)}
    still = {window.number for window in state.open}
    first = {number: window.first for number, window in windows.items()}

    def ahead(one: int, other: int) -> bool:
        before, after = first.get(one), first.get(other)
        return before is not None and after is not None and before < after

    return {
        "opened": {number: number in windows for number in numbers},
        "closed": {number: number in windows and number not in still for number in numbers},
        "inner": {
            number: windows[number].state[0].done
            if number in windows and windows[number].state
            else 0
            for number in numbers
        },
        "matched": {number: first.get(number) is not None for number in numbers},
        "ahead": {(one, other): ahead(one, other) for one in numbers for other in numbers},
        "produced": said[0],
        "first": said[1],
        "latest": event,
    }


ABSTRACTIONS = (
    Abstraction(
        "the windows kept, sequences under NEXT",
        first_window.windows_kept,
        lambda system: FirstWindowObserver(system).paths,
    ),
)
