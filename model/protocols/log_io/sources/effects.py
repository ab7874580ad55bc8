"""The effects of read actions that may show nothing, or each event once.

Rule of this file: boxes, and the effect of a read; no step of a node.
LOG.io, Section 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.boxes.box import Fed, Item
from model.boxes.stateless import AnyOf
from model.events import Body

GONE = -1
"""A read finds nothing: its event has been read before, and is gone."""


@dataclass(frozen=True)
class Polled(AnyOf):
    """A poll: it shows nothing, or events of one of the types."""

    def feed(self, state: Any, item: Item) -> tuple[Fed, ...]:
        return (Fed(state), *super().feed(state, item))


@dataclass(frozen=True)
class FromQueue(AnyOf):
    """The reads of a queue: the n-th item gets the n-th event in it, of the types in turn."""

    def begin(self, _edges: int) -> int:
        return 0

    def feed(self, state: int, item: Item) -> tuple[Fed, ...]:
        at = state % len(self.types)
        return (super().feed((), item)[at]._replace(state=state + 1),)


def effect_of(box: AnyOf, value: int, body: Body) -> tuple[Body, ...]:
    """The effect of a read action, of the value that the external system has shown."""
    if value == GONE:
        return ()
    answers = box.feed(value, Item(0, body))
    return tuple(out.body for out in answers[value % len(answers)].outs)
