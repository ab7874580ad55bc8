"""Sequence numbers of complex events, and the seeds from which a replay numbers them again.

Rule of this file: no question which numbering is used; a numbering is a value, and the operator
treats all numberings alike.
An *iteration* is the processing of one input event; it may produce several complex events, in
several windows.  Lima et al., III-B3 (the problem) and III-B4 (the fix).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from model.events import SN

State: TypeAlias = SN
"""The memory of the Sequencer between iterations."""


class Trigger(NamedTuple):
    """The input event of an iteration, by its place in the deterministic merge of the inputs."""

    time: int
    edge: int
    sn: SN


class Seed(NamedTuple):
    """SN_seed.  number: as the scheme defines it.  window: the number of the first window that
    the replay opens."""

    number: SN
    window: int


class Opening(NamedTuple):
    """The facts about the first window kept that a scheme may use: its number, and the state of
    the Sequencer just before the iteration that opened the window."""

    window: int
    sequencer: State


@dataclass(frozen=True, slots=True)
class Numbering:
    """A deterministic scheme.

    number(state, trigger, windows) -> (state, numbers): the operator calls this once an iteration,
        even if no event is produced; `windows` has the window of each event produced, in order of
        production.
    seed(opening, first) -> Seed: `first` is the number of the first complex event that the
        windows kept have produced.
    resume(seed) -> state; resume(origin) is the state of a new operator.
    """

    name: str
    origin: Seed
    number: Callable[[State, Trigger, tuple[int, ...]], tuple[State, tuple[SN, ...]]]
    seed: Callable[[Opening, SN], Seed]
    resume: Callable[[Seed], State]


def _number_in_order(
    state: State, _: Trigger, windows: tuple[int, ...]
) -> tuple[State, tuple[SN, ...]]:
    (latest,) = state
    numbers = tuple((latest + i,) for i in range(1, len(windows) + 1))
    return (latest + len(windows),), numbers


def _number_by_productions(
    state: State, _: Trigger, windows: tuple[int, ...]
) -> tuple[State, tuple[SN, ...]]:
    x = state[0] + bool(windows)
    return (x,), tuple((x, y) for y in windows)


def _number_by_inputs(
    state: State, _: Trigger, windows: tuple[int, ...]
) -> tuple[State, tuple[SN, ...]]:
    x = state[0] + 1
    return (x,), tuple((x, y) for y in windows)


def _number_by_trigger(
    state: State, t: Trigger, windows: tuple[int, ...]
) -> tuple[State, tuple[SN, ...]]:
    numbers = tuple((t.time, t.edge, *t.sn, y, windows[:i].count(y)) for i, y in enumerate(windows))
    return state, numbers


def _seed_of_first_event(opening: Opening, first: SN) -> Seed:
    return Seed(first, opening.window)


def _resume_before(seed: Seed) -> State:
    return (seed.number[0] - 1,)


SCALAR = Numbering("scalar", Seed((1,), 1), _number_in_order, _seed_of_first_event, _resume_before)
"""1, 2, 3, ...: right while windows are processed serially, wrong in parallel (III-B3)."""

PAIRS = Numbering(
    "pairs",
    Seed((1, 1), 1),
    _number_by_productions,
    lambda opening, first: Seed(first, first[1]),
    _resume_before,
)
"""x:y exactly as published (III-B4): x counts the iterations that produced an event, y is the
window; the seed is the x:y of the first complex event, and its y numbers the first window."""

PAIRS_FROM_FIRST_WINDOW = Numbering(
    "pairs from the first window kept",
    Seed((1, 1), 1),
    _number_by_productions,
    _seed_of_first_event,
    _resume_before,
)
"""PAIRS, but the seed carries the number of the first window kept."""

PAIRS_OF_INPUTS = Numbering(
    "pairs of inputs",
    Seed((0,), 1),
    _number_by_inputs,
    lambda opening, first: Seed(opening.sequencer, opening.window),
    lambda seed: seed.number,
)
"""x:y where x counts all input events; the seed is the count before the first window kept."""

TRIGGERED = Numbering(
    "triggered",
    Seed((), 1),
    _number_by_trigger,
    lambda opening, first: Seed((), opening.window),
    lambda seed: (),
)
"""The correct scheme: x is the input event that triggered the iteration, named by its place in
the merge (time, edge, sequence number), so nothing is counted and nothing can be miscounted; y is
the window; a third part distinguishes the events of one window and iteration.  The seed is the
number of the first window kept.  A number grows by four integers at each level of the graph."""
