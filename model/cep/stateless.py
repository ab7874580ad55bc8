"""Filters, unions and joins as CEP operators, for protocols that run CEP operators alone.

Rule of this file: nothing but windows and engines; what a protocol saves and skips follows from
them.  The boxes of the same names (model.boxes) compute the same, event by event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from model.boxes.box import attribute
from model.boxes.join import attributes_of_both
from model.cep.engines import EngineAnswer, Matches
from model.cep.operator import Operator
from model.cep.patterns import Pattern, PatternStep
from model.cep.windows import PatternWindows
from model.events import Body
from model.predicates import ANYTHING, Predicate

Opener: TypeAlias = tuple[Body, ...]
"""The event that opened a window; () before it."""


@dataclass(frozen=True, slots=True)
class Partners:
    """An engine: pairs of the event that opened the window and each later one of the other side
    with equal attribute `on` (None: any).  left: the types of the left side."""

    left: frozenset[str]
    on: str | None

    def begin(self) -> Opener:
        return ()

    def feed(self, state: Opener, event: Body) -> EngineAnswer:
        if not state:
            return EngineAnswer((event,), (), True)
        (first,) = state
        is_left = first.type in self.left
        if is_left == (event.type in self.left) or not self._fit(first, event):
            return EngineAnswer(state, (), False)
        left, right = (first, event) if is_left else (event, first)
        return EngineAnswer(state, (attributes_of_both(left, right),), True)

    def close(self, state: Opener) -> Matches:
        return ()

    def _fit(self, one: Body, other: Body) -> bool:
        return self.on is None or attribute(one, self.on) == attribute(other, self.on)


def passing(predicate: Predicate) -> Operator:
    """The events that satisfy the predicate, as they are: each is a window of its own."""
    engine = Pattern((PatternStep(ANYTHING),))
    return Operator(engine, PatternWindows(predicate, closes_on=ANYTHING), "")


def joining(left: frozenset[str], size: int, on: str | None, emits: str) -> Operator:
    """Pairs of an event with one of these types and an event with another one, at most `size`
    apart: each event opens a window in which it waits for partners."""
    return Operator(Partners(left, on), PatternWindows(ANYTHING, span=size + 1), emits)
