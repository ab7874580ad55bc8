"""Every second item: deterministic, and a restarted copy hands on the other ones for ever."""

from __future__ import annotations

from dataclasses import dataclass

from model.boxes.box import Box, Fed, Item, Out, answer
from model.core import Arrival
from proofs.classify.streams import Alphabet


@dataclass(frozen=True)
class EverySecond(Box):
    """Hands on every second item."""

    def begin(self, _edges: int) -> bool:
        return False

    def feed(self, state: bool, item: Item) -> tuple[Fed, ...]:
        return answer(not state, *([Out(item.body, item.of)] if state else []))


BOX = EverySecond()
ALPHABET = Alphabet(((Arrival(1, "a"), Arrival(1, "b")),))
