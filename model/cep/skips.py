"""Skip ranges: which input events nobody needs, as closed intervals of sequence numbers.

Rule of this file: no used, kept or unseen event inside a range; a range covers only events that
were skipped one after the other.  Lima et al., III-A.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TypeAlias

from model.events import SN
from model.log import Log

Range: TypeAlias = tuple[SN, SN]
Ranges: TypeAlias = tuple[Range, ...]
"""Sorted and disjoint."""


@dataclass(frozen=True, slots=True)
class Skips:
    """Ranges under construction: the complete ranges, and the run that may still grow."""

    done: Log[Range] = Log()
    run: Range | None = None

    def skip(self, sn: SN) -> Skips:
        """Take in that the next event of this stream was skipped."""
        return Skips(self.done, (self.run[0], sn) if self.run else (sn, sn))

    def keep(self) -> Skips:
        """Take in that the next event of this stream is kept: the run ends before this event."""
        return Skips(self.done.append(self.run)) if self.run else self

    def after(self, trim: SN) -> Ranges:
        """The ranges beyond `trim`, which ends no range in the middle of its events."""
        whole = self.keep().done
        return tuple((max(lo, trim), hi) for lo, hi in whole if hi > trim)


def covers(ranges: Ranges, sn: SN) -> bool:
    """Is `sn` in one of the ranges?"""
    at = bisect_right(ranges, sn, key=lambda range_: range_[0]) - 1
    return at >= 0 and sn <= ranges[at][1]
