"""Lookup: an operator that reads what the operator before it has written.

Rule of this file: one box; whether its answer is right depends on when it is asked.
LOG.io, Section 3.5.1: "a causal dependency between an operator OP1 that writes data to an external
system and a downstream operator OP2 that reads the same data".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.boxes.box import Fed, Item, Out, answer
from model.boxes.stateless import Relay
from model.core import NodeName

UNSEEN = "unseen"


@dataclass(frozen=True)
class Lookup(Relay):
    """Hands an item on, with what an external system shows: the write that goes with the item.

    system: the sink to which the item's sender writes.  The n-th write goes with the n-th item.
    """

    system: NodeName = ""

    def look(self, state: Any, item: Item) -> tuple[Fed, ...]:
        """The answer if the system shows the write, and the one if it does not (yet)."""
        unseen = Out(item.body._replace(type=UNSEEN), item.of)
        return (*self.feed(state, item), *answer(state, unseen))
