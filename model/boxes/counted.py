"""Counted: an operator that counts all items, and answers when the count is full.

Rule of this file: each item updates the global state; an operator whose global state changes with
its outputs alone is a Triggered.
LOG.io, Example 2: "The global state counts the total number of events received."
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.boxes.triggered import Sets, Triggered
from model.errors import Invalid


@dataclass(frozen=True)
class Counted(Triggered):
    """Gathers items in one input set for each value of `group`, and counts all of them together:
    an item that makes the count full completes the input set of its own group.

    limits: the full count, and the size at which an input set is complete, whatever the count (so
    that no set grows for ever).  `Sets.done` is the count since it was last full.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.limits) != 2:
            raise Invalid(f"counted: {len(self.limits)} limits; give a full count and a size")

    def count(self, state: Sets) -> Sets:
        return state._replace(done=(state.done + 1) % self.limits[0])

    def is_ready(self, state: Sets, key: Any) -> bool:
        return not state.done or len(dict(state.open)[key]) >= self.limits[1]

    def after(self, done: int) -> int:
        return done
