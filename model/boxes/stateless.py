"""Boxes without state: Filter, Map, Relay, Union, AnyOf.

Rule of this file: no state; whatever a box answers depends on one item.
Hwang et al., Section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.boxes.box import Box, Fed, Item, Out, answer, check_sizes
from model.predicates import Predicate


@dataclass(frozen=True)
class Filter(Box):
    """Drops the items that do not match."""

    predicate: Predicate

    def feed(self, state: Any, item: Item) -> tuple[Fed, ...]:
        holds = self.predicate.holds(item.body)
        return answer(state, *([Out(item.body, item.of)] if holds else []))


@dataclass(frozen=True)
class Map(Box):
    """Gives every item another type, and keeps only some of its attributes (None: all)."""

    emits: str
    keeps: tuple[str, ...] | None = None

    def feed(self, state: Any, item: Item) -> tuple[Fed, ...]:
        time, _, data = item.body
        if self.keeps is not None:
            data = tuple(pair for pair in data if pair[0] in self.keeps)
        return answer(
            state, Out(item.body._replace(time=time, type=self.emits, data=data), item.of)
        )


@dataclass(frozen=True)
class Relay(Box):
    """Hands every item on."""

    def feed(self, state: Any, item: Item) -> tuple[Fed, ...]:
        return answer(state, Out(item.body, item.of))


@dataclass(frozen=True)
class Union(Relay):
    """Hands every item on, from any edge, in the order of arrival."""

    edges = None


@dataclass(frozen=True)
class AnyOf(Box):
    """Gives every item one of these types, as it likes: a random choice, an external service.

    times: how many outputs of this type an item has.
    """

    types: tuple[str, ...]
    times: int = 1

    def __post_init__(self) -> None:
        check_sizes("any of", 1, times=self.times)

    def feed(self, state: Any, item: Item) -> tuple[Fed, ...]:
        outs = (Out(item.body._replace(type=one), item.of) for one in self.types)
        return tuple(Fed(state, (out,) * self.times) for out in outs)
