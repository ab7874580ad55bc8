"""The windows kept, as operators of the model have them: one run under NEXT.

Rule of this file: no formula; which engines keep the order of first_window is proved in overtaking,
and this file looks at those alone whose state is the progress of one run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from itertools import product
from operator import ge, le
from typing import Any

from model.actions import Action
from model.cep.one_run import OneRun
from model.cep.operator import Operator
from model.cep.patterns import Strategy
from model.protocols.upstream_backup.savepoints import NumberedOperator
from model.system import System
from model.world import World
from proofs.lemmas.upstream_backup.observer import Observer, OperatorIteration
from proofs.lemmas.upstream_backup.reference import kept_windows
from proofs.lemmas.upstream_backup.windows import first_window
from proofs.prove.conformance import Abstraction, Path, Paths
from proofs.prove.structure import StateTable, Structure

Said = tuple[bool, int]
"""Whether a match is acknowledged, and the first window kept if one is."""


@cache
def _structure(steps: int, oldest: int, newest: int) -> Structure:
    """An engine that waits is in the state of its progress; an event is known by the steps that it
    satisfies."""
    sorts = {
        "window": range(oldest, newest + 1),
        "engine state": range(steps),
        "event": tuple(product((False, True), repeat=steps)),
    }
    symbols = {
        "le": le,
        "begin": 0,
        "goes": lambda state, event, to: to == (state + event[state]) % steps,
        "matches": lambda state, event: event[state] and state + 1 == steps,
        "waiting": lambda _state: True,
        "above": ge,
    }
    return Structure(sorts, symbols)


def _covered(spec: Any) -> bool:
    """Sequences under NEXT, whose state is the progress of one run.  Serial processing feeds a
    window when it closes, and what a negation at the end completes is left out."""
    return (
        isinstance(spec, Operator)
        and spec.parallel
        and isinstance(spec.engine, OneRun)
        and spec.engine.strategy is Strategy.NEXT
        and not any(step.negated for step in spec.engine.steps)
    )


def _paths(iteration: OperatorIteration) -> Iterator[Path]:
    """One push: with what was acknowledged before it, and with each match that it produces."""
    before, after, body = iteration.before, iteration.after, iteration.event.body
    spec, windows = iteration.site.spec, kept_windows(after)
    if not windows:
        return
    steps = spec.engine.positive
    structure = _structure(len(steps), windows[0].number, windows[-1].number)
    numbers, idle = structure.sorts["window"], (False,) * len(steps)
    event = tuple(step.predicate.holds(body) for step in steps)
    expired = {w.number for w in before.open if spec.splitter.expires(w.inner.extent, body)}
    retained = [produced.retained for produced in after.pending]
    old, new = retained[: len(before.pending)], retained[len(before.pending) :]
    unsaid = (False, windows[0].number)
    stays = {unsaid, *((True, first) for first in old)}
    for said, says in [*((said, said) for said in stays), *((unsaid, (True, n)) for n in {*new})]:
        start = _state(before, numbers, idle, said)
        closed = {number: start["closed"][number] or number in expired for number in numbers}
        states = (start, {**start, "closed": closed}, _state(after, numbers, event, says))
        # An operator that has dropped all its windows looks like one that has begun.
        yield Path(structure, states, not said[0] and not any(start["opened"].values()))


def _state(
    state: NumberedOperator, numbers: Collection[int], event: tuple[bool, ...], said: Said
) -> StateTable:
    """The windows as the symbols have them, without those that an operator has dropped."""
    windows = {window.number: window for window in kept_windows(state)}
    open_ = {window.number for window in state.open}
    first = {number: w.first for number, w in windows.items() if w.first is not None}
    done = {number: w.state[0].done for number, w in windows.items() if w.state}

    def ahead(one: int, other: int) -> bool:
        return one in first and other in first and first[one] < first[other]

    return {
        "opened": {number: number in windows for number in numbers},
        "closed": {number: number in windows and number not in open_ for number in numbers},
        "inner": {number: done.get(number, 0) for number in numbers},
        "matched": {number: number in first for number in numbers},
        "ahead": {(one, other): ahead(one, other) for one, other in product(numbers, repeat=2)},
        "produced": said[0],
        "first": said[1],
        "latest": event,
    }


def observe(system: System) -> Paths:
    """The events that a covered operator takes, one by one; each iteration is looked at once."""
    observer = Observer(system)
    covered = {name for name, site in system.sites.items() if _covered(site.spec)}

    def paths(before: World, action: Action, _: World) -> Iterator[Path]:
        if action.node in covered:
            for iteration in observer.iterations(before, action):
                if observer.is_new(action.node, iteration.before, iteration.edge, iteration.event):
                    yield from _paths(iteration)

    return paths


ABSTRACTIONS = (
    Abstraction("the windows kept, sequences under NEXT", first_window.windows_kept, observe),
)
