"""Sequence numbers of complex events, and what a savepoint must say so that they come back.

Rule of this file: a numbering is a value; the operator never asks which one it has.
An *iteration* is the processing of one input event; it may produce several complex events, in
several windows.  Lima et al., III-B3 (the problem) and III-B4 (the fix).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from model.events import SN

State: TypeAlias = SN
"""What the Sequencer remembers between iterations."""


class Trigger(NamedTuple):
    """The input event of an iteration, by its place in the deterministic merge of the inputs."""

    time: int
    edge: int
    sn: SN


class Seed(NamedTuple):
    """SN_seed: `number` as the scheme defines it, `window` the number that the first window
    opened during the replay gets."""

    number: SN
    window: int


class Opening(NamedTuple):
    """What a scheme may ask about the first window kept: its number, and the Sequencer's state
    just before the iteration that opened it."""

    window: int
    sequencer: State


@dataclass(frozen=True, slots=True)
class Numbering:
    """A deterministic scheme.

    number(state, trigger, windows) -> (state, numbers): called once an iteration, produced
        events or not; `windows` has the window of each event produced, in order of production.
    seed(opening, first) -> Seed: `first` is the number of the first complex event that the
        windows kept have produced.
    resume(seed) -> state; resume(origin) is the state in which an operator is deployed.
    """

    name: str
    origin: Seed
    number: Callable[[State, Trigger, tuple[int, ...]], tuple[State, tuple[SN, ...]]]
    seed: Callable[[Opening, SN], Seed]
    resume: Callable[[Seed], State]


def _scalar(state: State, _: Trigger, windows: tuple[int, ...]) -> tuple[State, tuple[SN, ...]]:
    (latest,) = state
    numbers = tuple((latest + i,) for i in range(1, len(windows) + 1))
    return (latest + len(windows),), numbers


def _producing(state: State, _: Trigger, windows: tuple[int, ...]) -> tuple[State, tuple[SN, ...]]:
    x = state[0] + bool(windows)
    return (x,), tuple((x, y) for y in windows)


def _counting(state: State, _: Trigger, windows: tuple[int, ...]) -> tuple[State, tuple[SN, ...]]:
    x = state[0] + 1
    return (x,), tuple((x, y) for y in windows)


def _triggered(state: State, t: Trigger, windows: tuple[int, ...]) -> tuple[State, tuple[SN, ...]]:
    numbers = tuple((t.time, t.edge, *t.sn, y, windows[:i].count(y)) for i, y in enumerate(windows))
    return state, numbers


def _seed_of_first_event(opening: Opening, first: SN) -> Seed:
    return Seed(first, opening.window)


def _before(seed: Seed) -> State:
    return (seed.number[0] - 1,)


SCALAR = Numbering("scalar", Seed((1,), 1), _scalar, _seed_of_first_event, _before)
"""1, 2, 3, ...: right while windows are processed serially, wrong in parallel (III-B3)."""

PAIRS = Numbering(
    "pairs",
    Seed((1, 1), 1),
    _producing,
    lambda opening, first: Seed(first, first[1]),
    _before,
)
"""x:y exactly as published (III-B4): x counts the iterations that produced an event, y is the
window; the seed is the x:y of the first complex event, and its y numbers the first window."""

PAIRS_FROM_FIRST_WINDOW = Numbering(
    "pairs from the first window kept",
    Seed((1, 1), 1),
    _producing,
    _seed_of_first_event,
    _before,
)
"""As published, but the seed carries the number of the first window kept."""

PAIRS_OF_INPUTS = Numbering(
    "pairs of inputs",
    Seed((0,), 1),
    _counting,
    lambda opening, first: Seed(opening.sequencer, opening.window),
    lambda seed: seed.number,
)
"""x:y where x counts all input events; the seed is the count before the first window kept."""

TRIGGERED = Numbering(
    "triggered",
    Seed((), 1),
    _triggered,
    lambda opening, first: Seed((), opening.window),
    lambda seed: (),
)
"""The correct scheme: x is the input event that triggered the iteration, named by its place in
the merge (time, edge, sequence number), so nothing is counted and nothing can be miscounted; y is
the window; a third part tells apart the events of one window and iteration.  The seed is the
number of the first window kept.  The length grows by four a level of the graph."""
