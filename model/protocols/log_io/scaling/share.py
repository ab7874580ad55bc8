"""The box of a replica, as a graph has it.

Rule of this file: a box; nothing here knows of a node.
LOG.io, Section 7.1.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.boxes.box import Box, Fed, Item, answer
from model.predicates import Predicate


@dataclass(frozen=True)
class Share(Box):
    """The part of an operator's work that a graph gives to one of its replicas: the items that
    match."""

    predicate: Predicate
    box: Box

    def begin(self, edges: int) -> object:
        return self.box.begin(edges)

    def feed(self, state: object, item: Item) -> tuple[Fed, ...]:
        return self.box.feed(state, item) if self.predicate.holds(item.body) else answer(state)
