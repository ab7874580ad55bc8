"""Matching engines: any deterministic function of a window, fed one event at a time.

Rule of this file: no mutable engine; an engine is a frozen value, and `feed` returns the next state
as a hashable value.  `used` must be True whenever the event changed the state or produced a match:
a replay may leave an event out exactly if nobody can notice (Lima et al., III-A).
"""

from __future__ import annotations

import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from model.boxes.box import attribute
from model.errors import Invalid
from model.events import Body

Match: TypeAlias = tuple[Body, ...]
Matches: TypeAlias = tuple[Match, ...]


class EngineAnswer(NamedTuple):
    state: Any
    matches: Matches
    used: bool


class Engine(typing.Protocol):
    def begin(self) -> Any:
        """The state at the start of a window."""
        ...

    def feed(self, state: Any, event: Body) -> EngineAnswer: ...

    def close(self, state: Any) -> Matches:
        """The matches that the end of the window completes."""
        ...


@dataclass(frozen=True, slots=True)
class Mealy:
    """A finite machine: rows[state][type] = (next state, number of copies of the match to emit).

    The machine ignores types that a row lacks.  In exhaustive tests, these machines stand for "any
    engine".
    """

    rows: tuple[tuple[tuple[str, int, int], ...], ...]
    at_close: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.rows:
            raise Invalid("engine: a Mealy machine needs at least one state")
        for row in self.rows:
            for _, target, copies in row:
                if not 0 <= target < len(self.rows) or copies < 0:
                    raise Invalid(f"engine: transition to state {target} emitting {copies}")

    def begin(self) -> int:
        return 0

    def feed(self, state: int, event: Body) -> EngineAnswer:
        for type_, target, copies in self.rows[state]:
            if type_ == event.type:
                return EngineAnswer(target, ((event,),) * copies, bool(copies) or target != state)
        return EngineAnswer(state, (), False)

    def close(self, state: int) -> Matches:
        return ((),) * (self.at_close[state] if self.at_close else 0)


@dataclass(frozen=True, slots=True)
class Function:
    """Any function of the whole window; every event counts as used, all matches come at the end."""

    of: Callable[[tuple[Body, ...]], Matches]

    def begin(self) -> tuple[Body, ...]:
        return ()

    def feed(self, state: tuple[Body, ...], event: Body) -> EngineAnswer:
        return EngineAnswer((*state, event), (), True)

    def close(self, state: tuple[Body, ...]) -> Matches:
        return self.of(state)


@dataclass(frozen=True, slots=True)
class Partitioned:
    """One instance of `engine` per value of an attribute: "... at one origin"."""

    engine: Engine
    attribute: str

    def begin(self) -> tuple[tuple[Any, Any], ...]:
        return ()

    def feed(self, state: tuple[tuple[Any, Any], ...], event: Body) -> EngineAnswer:
        key = attribute(event, self.attribute)
        states = dict(state)
        fed = self.engine.feed(states.get(key, self.engine.begin()), event)
        if not fed.used:
            return EngineAnswer(state, (), False)
        states[key] = fed.state
        return EngineAnswer(tuple(states.items()), fed.matches, True)

    def close(self, state: tuple[tuple[Any, Any], ...]) -> Matches:
        return tuple(match for _, inner in state for match in self.engine.close(inner))
