"""The eventual checkpoint: what a restart finds in a log, by a scan from its end.

Rule of this file: pure functions of a log; no node.
Sebepou and Magoutis, CEC, 2011, Section II.B ("Constructing an EC", "Extent of an EC") and IX.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.events import BEGINNING
from model.log import Log
from model.protocols.cec.design import (
    CecDesign,
    Closed,
    CutRecords,
    Damage,
    Empty,
    Identity,
    IndexRepair,
    WindowCount,
    WindowPhase,
)
from model.protocols.cec.keyed import derive
from model.protocols.cec.messages import Disk, Floor, KeyWindow, Kind, Record, Segment


class EventualCheckpoint(NamedTuple):
    """An eventual checkpoint.

    windows: oldest footprint first.  turns: (key, when its next window opens).  start: T, the stamp
    after which the replay begins; None: nothing is replayed.  newest: the stamp of the newest
    record.  places, until: of several inputs at start and newest.  results: how many there were.
    scanned: records read; all of them have stamps of T or later: the extent.  complete: N
    footprints were found before the beginning of the log.
    """

    windows: tuple[KeyWindow, ...]
    turns: tuple[tuple[Any, Any], ...]
    floors: tuple[Floor, ...]
    start: int | None
    places: tuple[int, ...]
    newest: int
    until: tuple[int, ...]
    results: int
    scanned: int
    complete: bool


def repair(design: CecDesign, disk: Disk, *, indexed: bool = False) -> tuple[Disk, int]:
    """The part of a log that counts after a crash, and how many segments do not.

    A log may have lost what was still being written: torn segments, and holes before whole ones.
    Nobody can see that a segment was cut before: it counts again if there is no hole before it.
    indexed: the log has an index, which may lack the newest segments, or have more than the log.
    """
    good: Log[Segment] = Log()
    expected, cut = disk.begins, list[Segment]()
    for segment in sorted([*disk.log, *disk.left], key=lambda segment: segment.place):
        missing = segment.torn or segment.place != expected
        missing |= indexed and design.index is IndexRepair.CUT and segment.place not in disk.indexed
        if segment.torn or (design.damage is Damage.CUT and (missing or cut)):
            cut.append(segment)
        else:
            good = good.append(segment)
        expected = segment.place + 1
    left = tuple(cut) if design.discard is CutRecords.OVERWRITTEN else ()
    places = disk.indexed
    if indexed and design.index is not IndexRepair.STORED:
        places = tuple(segment.place for segment in good)
    return Disk(disk.begins, good, left, places), len(cut)


def reconstruct(design: CecDesign, box: Box, log: Log[Segment]) -> EventualCheckpoint:
    """The eventual checkpoint in a log that is repaired."""
    wanted: int | None = None
    newest_of: dict[Any, Record] = {}
    seen: set[Any] = set()
    found: list[KeyWindow] = []
    scanned = footprints = 0
    newest = log.last().records[-1] if log else None
    records = ((s.place, record) for s in reversed(log) for record in reversed(s.records))
    for at, record in records:
        if wanted is not None and footprints >= wanted:
            break
        scanned += 1
        if wanted is None and (design.count is WindowCount.EVERY or record.kind is not Kind.RESULT):
            wanted = record.n
        first = newest_of.setdefault(record.key, record) is record
        window = (record.key, record.opened if design.identity is Identity.OPENING else None)
        if window in seen:
            continue
        seen.add(window)
        if record.pane is not None or (record.between and first):
            _, key, opened, pane, *_ = record
            found.append(KeyWindow(key, opened, pane, record.stamp, at, record.places))
            footprints += 1
        elif design.count is WindowCount.FOOTPRINTS:
            footprints += 1
    windows = tuple(reversed(found))
    start, places = _start(design, windows, newest)
    return EventualCheckpoint(
        windows=windows,
        turns=_turns(design, box, windows, newest_of),
        floors=_floors(design, windows, newest_of, start),
        start=start,
        places=places,
        newest=BEGINNING if newest is None else newest.stamp,
        until=() if newest is None else newest.places,
        results=0 if newest is None else newest.results,
        scanned=scanned,
        complete=wanted is None or footprints >= wanted,
    )


def _start(
    design: CecDesign, windows: tuple[KeyWindow, ...], newest: Record | None
) -> tuple[int | None, tuple[int, ...]]:
    """T, and the places in several inputs."""
    if windows:
        return min((window.foot, window.places) for window in windows)
    if design.empty is Empty.NEVER:
        return None, ()
    if newest is None or design.empty is Empty.START:
        return BEGINNING, ()
    return (newest.stamp, newest.places) if design.empty is Empty.NEWEST else (None, ())


def _turns(
    design: CecDesign, box: Box, windows: tuple[KeyWindow, ...], newest_of: dict[Any, Record]
) -> tuple[tuple[Any, Any], ...]:
    if not isinstance(box, Aggregate):
        return ()
    if design.phase is WindowPhase.RECORDED:
        known = {window.key for window in windows}
        turns = {key: record.next for key, record in newest_of.items() if key in known}
    else:
        open_ = sorted((w for w in windows if w.pane), key=lambda window: window.opened)
        turns = {w.key: derive(box, w.pane) for w in open_ if w.pane}
    return tuple(sorted(turns.items(), key=repr))


def _floors(
    design: CecDesign,
    windows: tuple[KeyWindow, ...],
    newest_of: dict[Any, Record],
    start: int | None,
) -> tuple[Floor, ...]:
    floors = [Floor(window.key, window.opened, window.foot) for window in windows if window.pane]
    if design.closed is Closed.FLOORS:
        floors += [Floor(key, None, record.stamp) for key, record in newest_of.items()]
    kept = (floor for floor in floors if start is not None and floor.stamp >= start)
    return tuple(sorted(kept, key=repr))
