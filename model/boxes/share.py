"""The share of an operator that one of its partitions has: tuples of some types, and no others.

Rule of this file: no operator of its own.
Su and Zhou, Progressive Recovery, 2016, Section 3: key groupings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.boxes.box import Box, Fed, Item, answer


@dataclass(frozen=True)
class KeyShare(Box):
    """A partition of an operator.  types: the keys of its tuples; it drops all others, so that a
    protocol need not send them."""

    of: Box
    types: tuple[str, ...]

    @property
    def horizon(self) -> int:
        return self.of.horizon

    @property
    def period(self) -> int:
        return self.of.period

    def begin(self, edges: int) -> Any:
        return self.of.begin(edges)

    def feed(self, state: Any, item: Item) -> tuple[Fed, ...]:
        return self.of.feed(state, item) if item.body.type in self.types else answer(state)

    def expire(self, state: Any) -> tuple[Fed, ...]:
        return self.of.expire(state)
