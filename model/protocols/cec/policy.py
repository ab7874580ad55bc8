"""When the window with the oldest footprint is worth a G_check, and what an operator goes by.

Rule of this file: pure functions of numbers; no node, no log, no clock.
Sebepou and Magoutis, CEC, 2011, Section III.A.

q is the extent: the records that a scan of the log goes through, from the newest back to the oldest
footprint of an open window, both included.  u is the replay: the input tuples after the one of that
footprint.  Both are 0 if no window is open.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple


def due(q: int, u: int, q_target: int, u_target: int) -> bool:
    """Decide by targets, the second method: is the extent or the replay beyond its target?"""
    return q > q_target or u > u_target


# --- costs and benefits --------------------------------------------------------------------------
class Prices(NamedTuple):
    """Prices in seconds: of a record in a scan, of a tuple in a replay, of making a G_check.

    crashes: how many crashes are expected until the window would leave its oldest footprint anyway,
    by a later G_check or by closing.
    """

    scan: float
    replay: float
    check: float
    crashes: float


class Footprint(NamedTuple):
    """A record in the log: its place there, and the place of the newest input in its state."""

    record: int
    input: int


def gain(oldest: Footprint, following: Footprint) -> tuple[int, int]:
    """What a G_check of the window with the oldest footprint takes from q and from u.

    following: the next oldest footprint of an open window.  If there is none: the place that the
    G_check would have in the log, and the newest input.

    Before it, q = head - oldest.record + 1.  After it, the log has one record more and the scan
    ends at `following`: q = head + 1 - following.record + 1.  The difference is the records
    strictly between the two footprints, which are dead: no open window needs them.  The paper's
    cost "it adds another tuple to the extent, increasing its size by one" leaves out that the old
    footprint goes, so that a G_check never makes an extent longer.
    """
    return following.record - oldest.record - 1, following.input - oldest.input


def worth(dead: int, inputs: int, prices: Prices) -> bool:
    """Decide by costs and benefits, the first method, which the paper leaves open.

    dead, inputs: the gain.  With c crashes expected while the gain lasts, c recoveries each read
    `dead` records less and replay `inputs` tuples less.  So the G_check saves
    c * (scan * dead + replay * inputs) seconds of recovery for its own seconds of processing, and
    is worth them if it saves more.
    """
    return prices.crashes * (prices.scan * dead + prices.replay * inputs) > prices.check


# --- estimates -----------------------------------------------------------------------------------
class Positions(NamedTuple):
    """The mended estimate of q and u: each window keeps the absolute places of its footprint.

    windows: (key, footprint), oldest footprint first.  newest: the places of the newest record and
    of the newest input.
    """

    windows: tuple[tuple[Hashable, Footprint], ...] = ()
    newest: Footprint = Footprint(0, 0)

    def enter(self) -> Positions:
        """Count an input tuple."""
        return self._replace(newest=self.newest._replace(input=self.newest.input + 1))

    def leave(self, key: Hashable) -> Positions:
        """Write a G_open or a G_check of the key's window: its newest footprint."""
        newest = self.newest._replace(record=self.newest.record + 1)
        return Positions((*_without(self.windows, key), (key, newest)), newest)

    def close(self, key: Hashable) -> Positions:
        """Write the result of the key's window."""
        newest = self.newest._replace(record=self.newest.record + 1)
        return Positions(_without(self.windows, key), newest)

    def sizes(self) -> tuple[int, int]:
        """The sizes q and u."""
        if not self.windows:
            return 0, 0
        oldest = self.windows[0][1]
        return self.newest.record - oldest.record + 1, self.newest.input - oldest.input


class Differences(NamedTuple):
    """The estimate as Sections III and III.A can be read: each window keeps the records emitted and
    the inputs processed between its footprint and the one before it, and a window that closes is
    "erased from the ordered list", with its differences.

    The differences of a window that closes between two others are then missing: q and u are too
    small from there on, and both targets may never be reached, however long the extent is.

    windows: (key, difference), oldest footprint first.  since: the records and the inputs
    after the newest footprint that was written.
    """

    windows: tuple[tuple[Hashable, Footprint], ...] = ()
    since: Footprint = Footprint(0, 0)

    def enter(self) -> Differences:
        """Count an input tuple."""
        return self._replace(since=self.since._replace(input=self.since.input + 1))

    def leave(self, key: Hashable) -> Differences:
        """Write a G_open or a G_check of the key's window: its newest footprint."""
        difference = self.since._replace(record=self.since.record + 1)
        return Differences((*_without(self.windows, key), (key, difference)))

    def close(self, key: Hashable) -> Differences:
        """Write the result of the key's window."""
        since = self.since._replace(record=self.since.record + 1)
        return Differences(_without(self.windows, key), since)

    def sizes(self) -> tuple[int, int]:
        """The estimates of q and u."""
        if not self.windows:
            return 0, 0
        between = [difference for _, difference in self.windows[1:]]
        return (
            1 + sum(one.record for one in between) + self.since.record,
            sum(one.input for one in between) + self.since.input,
        )


def _without(
    windows: tuple[tuple[Hashable, Footprint], ...], key: Hashable
) -> tuple[tuple[Hashable, Footprint], ...]:
    return tuple(window for window in windows if window[0] != key)
