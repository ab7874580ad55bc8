"""Savepoints: the data from which an operator starts again, and the join of two savepoints.

Rule of this file: no savepoint without a join.  The savepoints of one operator form a
join-semilattice: whichever copies its ancestors still hold, the join of these copies restores the
operator.
Lima et al., Sections II-B, III-B2 and III-B5.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from model.cep.numbering import Seed
from model.events import SN

Place: TypeAlias = tuple[int, SN]
"""An input event by (input edge, sequence number)."""


class DrawnWindow(NamedTuple):
    """One window of a layout.

    events: how many events the window held at the frontier, None where the layout does not say.
    closer: the event that filled the window, None while the window is open.
    """

    opener: Place
    closer: Place | None
    events: int | None


class Layout(NamedTuple):
    """The windows kept, oldest first, up to a frontier (for each edge the last event consumed).

    since: how many events the operator had consumed at the frontier since its newest window
    opened; the opener of this window counts.
    """

    windows: tuple[DrawnWindow, ...]
    since: int
    frontier: tuple[SN, ...]


class Savepoint(NamedTuple):
    """SN_seed, SN_trim (one for each input edge) and, for splitters that count, the window layout.

    v_skip is not a part of a savepoint: skip ranges are for the upstream neighbour's buffer, a
    savepoint is for the operator itself.
    """

    seed: Seed
    trim: tuple[SN, ...]
    layout: Layout | None = None

    def join(self, other: Savepoint) -> Savepoint:
        """The later of two savepoints of one operator, with the layout that saw more events.

        Two savepoints can cross: an incarnation that is still in its replay may save beyond the
        trim of its predecessor's last savepoint before the incarnation has consumed as much, and
        only the earlier savepoint's layout counts the events that this savepoint allowed to skip.
        """
        older, newer = sorted((self, other), key=lambda s: (s.trim, s.layout is not None))
        if older.layout is None or newer.layout is None:
            return newer
        if newer.layout.frontier >= older.layout.frontier:
            return newer
        dropped = newer.seed.window - older.seed.window
        layout = older.layout._replace(windows=older.layout.windows[dropped:])
        return newer._replace(layout=layout)
