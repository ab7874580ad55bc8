"""Predicates over events, as data: printable, hashable, the same in every process.

Rule of this file: no function as a predicate; a predicate is a value with `holds`, and its text is
the text that the user wrote.
"""

from __future__ import annotations

import operator
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from model.errors import Invalid
from model.events import Body

COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class Predicate(typing.Protocol):
    def holds(self, event: Body) -> bool: ...


@dataclass(frozen=True, slots=True)
class Type:
    """The event has this type."""

    name: str

    def holds(self, event: Body) -> bool:
        return event.type == self.name

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Where:
    """The event has this attribute, and the comparison with the value is true."""

    attribute: str
    comparison: str
    value: Any

    def __post_init__(self) -> None:
        if self.comparison not in COMPARISONS:
            raise Invalid(
                f"comparison {self.comparison!r}: it must be one of {' '.join(COMPARISONS)}"
            )

    def holds(self, event: Body) -> bool:
        compare = COMPARISONS[self.comparison]
        return any(
            pair[0] == self.attribute and compare(pair[1], self.value) for pair in event.data
        )

    def __str__(self) -> str:
        return f"{self.attribute} {self.comparison} {self.value!r}"


@dataclass(frozen=True, slots=True)
class Every:
    """All parts hold; without parts, every event satisfies the predicate."""

    parts: tuple[Predicate, ...] = ()

    def holds(self, event: Body) -> bool:
        return all(part.holds(event) for part in self.parts)

    def __str__(self) -> str:
        return " and ".join(map(str, self.parts)) or "any event"


@dataclass(frozen=True, slots=True)
class Either:
    """At least one part holds."""

    parts: tuple[Predicate, ...]

    def holds(self, event: Body) -> bool:
        return any(part.holds(event) for part in self.parts)

    def __str__(self) -> str:
        return " or ".join(map(str, self.parts))


@dataclass(frozen=True, slots=True)
class Not:
    part: Predicate

    def holds(self, event: Body) -> bool:
        return not self.part.holds(event)

    def __str__(self) -> str:
        return f"not ({self.part})"


@dataclass(frozen=True, slots=True)
class Hashed:
    """The event is one of this share of all events: its hash, as a number in [0, 1), is smaller.

    The hash is that of the event's body and the salt, so that equal events have the same answer,
    and two predicates with different salts are independent.
    """

    share: float
    salt: str = ""

    def holds(self, event: Body) -> bool:
        text = repr((self.salt, event.time, event.type, event.data))
        found = blake2b(text.encode(), digest_size=8).digest()
        return int.from_bytes(found, "big") < self.share * 2**64

    def __str__(self) -> str:
        return f"one of {self.share:.4g} of all events"


ANYTHING = Every()
