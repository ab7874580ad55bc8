"""Comparisons: which differences between two outputs of a sink count.

Rule of this file: finished bodies alone; model.recovery names the difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from enum import Enum

from model.errors import Invalid, brief, describe_error
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

    key: of a TABLE alone: the key of a body.
    """

    shape: Shape
    key: Callable[[Body], Hashable] | None = None

    def __post_init__(self) -> None:
        if self.shape is Shape.TABLE and not callable(self.key):
            raise Invalid(f"a table by {brief(self.key)}: give a function from a body to its key")
        if self.shape is not Shape.TABLE and self.key is not None:
            raise Invalid(f"a {self.shape.value} by {brief(self.key)}: give a key to a table alone")

    def key_of(self, body: Body) -> Hashable:
        """The key of a row.  Raises Invalid if the table's function gives none."""
        assert self.key is not None
        try:
            key = self.key(body)
            hash(key)
        except BaseException as error:  # of a protocol, which may be anybody's
            why = f"the key of a table raises {describe_error(error)} for {brief(body)}"
            raise Invalid(why) from error
        return key

    def content(self, bodies: Sequence[Body]) -> Hashable:
        """The content of the sink after these outputs; contents are compared by ==."""
        match self.shape:
            case Shape.SEQUENCE:
                return tuple(bodies)
            case Shape.BAG:
                return frozenset(Counter(bodies).items())
            case Shape.SET:
                return frozenset(bodies)
            case Shape.TABLE:
                return frozenset({self.key_of(body): body for body in bodies}.items())

    def is_begun(self, expected: Sequence[Body], observed: Sequence[Body]) -> bool:
        """May the observed output still become the expected one?

        Of a table: it is the table after some of the expected outputs, whatever was in it before.
        """
        match self.shape:
            case Shape.SEQUENCE:
                return list(observed) == list(expected[: len(observed)])
            case Shape.BAG:
                return Counter(observed) <= Counter(expected)
            case Shape.SET:
                return {*observed} <= {*expected}
            case Shape.TABLE:
                content = self.content(observed)
                ends = range(len(expected) + 1)
                return any(self.content(expected[:end]) == content for end in ends)


SEQUENCE, BAG, SET = (Compare(shape) for shape in (Shape.SEQUENCE, Shape.BAG, Shape.SET))


def table(key: Callable[[Body], Hashable]) -> Compare:
    """The comparison as a table by key."""
    return Compare(Shape.TABLE, key)
