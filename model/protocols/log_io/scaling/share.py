"""The box of a replica, as a graph has it.

Rule of this file: a box; nothing here knows of a node.
LOG.io, Section 7.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.boxes.box import Box, Fed, Item, answer
from model.boxes.stateless import Filter, Relay
from model.core import NodeName
from model.errors import Invalid
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


def box_of(name: NodeName, spec: Any) -> Box:
    """The box of a replica, which gets all events while it is alone.

    The graph says which events a replica gets while there are two.
    """
    if isinstance(spec, Share):
        return spec.box
    if isinstance(spec, Filter):
        return Relay()
    raise Invalid(
        f"log-io: {name} is a replica of type {type(spec).__name__}; give a Share of a box"
    )
