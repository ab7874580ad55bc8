"""Events: a header that the system reads (sequence number, time) and a payload that engines read.

Rule of this file: a sequence number is a tuple of nonnegative integers, compared
lexicographically.  Numbers that travel on one edge all have one shape and increase.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

SN: TypeAlias = tuple[int, ...]

NOTHING: SN = ()
"""Smaller than every sequence number: nothing received, nothing acknowledged."""


class Body(NamedTuple):
    """The payload and the time: the part of an event that an application compares.

    time is in the units of the source's clock; `data` holds (attribute, value) pairs of a
    primitive event, or the bodies of the matched events of a complex one.
    """

    time: int
    type: str
    data: tuple[Any, ...] = ()


class Event(NamedTuple):
    """A header (sn) and a body.  Both use the time: splitters read it, engines may read it."""

    sn: SN
    body: Body


class Mark(NamedTuple):
    """A watermark: no event with a smaller time will follow on this edge."""

    time: int


BEGINNING = -1
"""The watermark of an edge on which nothing has arrived."""
