"""Comparisons: which differences between two outputs of a sink count.

Rule of this file: values only; model.properties and model.recovery compare.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import Enum

from model.errors import Invalid
from model.events import Body


class Shape(Enum):
    """The things that a sink may be."""

    SEQUENCE = "sequence"
    BAG = "bag"
    SET = "set"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Compare:
    """How the output of a sink compares with the expected one.

    SEQUENCE: item by item, a log.  BAG: as often, in any order.  SET: once or more, in any order.
    table(key): rows by key, of which the last one wins: a table that takes upserts.

    key: of a TABLE alone: the key of a body; None: the body is the row and no key, as in a SET.
    """

    shape: Shape
    key: Callable[[Body], Hashable] | None = None

    def __post_init__(self) -> None:
        if (self.shape is Shape.TABLE) != (self.key is not None):
            raise Invalid(f"a comparison as a {self.shape.value}: give a key to a table alone")


SEQUENCE, BAG, SET = (Compare(shape) for shape in (Shape.SEQUENCE, Shape.BAG, Shape.SET))


def table(key: Callable[[Body], Hashable]) -> Compare:
    """The comparison as a table by key."""
    return Compare(Shape.TABLE, key)
