"""Savepoints: what an operator must be told to start again, and how two of them combine.

Rule of this file: the savepoints of one operator form a join-semilattice.  Whichever copies its
ancestors still hold, joining them gives one from which the operator can be restored.
Lima et al., Sections II-B, III-B2 and III-B5.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from model.cep.numbering import Seed
from model.events import SN

Place: TypeAlias = tuple[int, SN]
"""An input event by (input edge, sequence number)."""


class Drawn(NamedTuple):
    """One window of a layout.

    events is how many it held at the frontier, None where the layout does not say; closer
    is the event that filled it, None while it is open.
    """

    opener: Place
    closer: Place | None
    events: int | None


class Layout(NamedTuple):
    """The windows kept, oldest first, up to a frontier (the last event consumed, an edge each).

    since: how many events the operator had consumed at the frontier since its newest window
    opened, that window's opener included.
    """

    windows: tuple[Drawn, ...]
    since: int
    frontier: tuple[SN, ...]


class Savepoint(NamedTuple):
    """SN_seed, SN_trim (one an input edge) and, for splitters that count, the window layout.

    v_skip is not part of it: skip ranges are for the upstream neighbour's buffer, a savepoint is
    for the operator itself.
    """

    seed: Seed
    trim: tuple[SN, ...]
    layout: Layout | None = None

    def join(self, other: Savepoint) -> Savepoint:
        """The later of two savepoints of one operator, with the layout that saw more.

        They can cross: an incarnation that is still replaying may save beyond the trim of its
        predecessor's last savepoint before it has consumed as much, and events that the earlier
        one allowed to be skipped are counted only in the earlier one's layout.
        """
        older, newer = sorted((self, other), key=lambda s: (s.trim, s.layout is not None))
        if older.layout is None or newer.layout is None:
            return newer
        if newer.layout.frontier >= older.layout.frontier:
            return newer
        dropped = newer.seed.window - older.seed.window
        layout = older.layout._replace(windows=older.layout.windows[dropped:])
        return newer._replace(layout=layout)
