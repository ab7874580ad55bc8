"""The names of timers: the kind, and a key where a node sets several timers of one kind.

Rule of this file: no other place joins or cuts the name of a timer.  A user's price list names the
kind alone (model.protocol.Protocol.timers).
"""

from __future__ import annotations

from typing import NamedTuple


class TimerName(NamedTuple):
    """The parts of a timer's name.  key: empty for the only timer of its kind."""

    kind: str
    key: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.key}" if self.key else self.kind


def parse_timer(name: str) -> TimerName:
    """The parts of the name that `str` of a TimerName gives."""
    kind, _, key = name.partition(":")
    return TimerName(kind, key)
