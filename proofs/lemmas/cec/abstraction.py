"""The logs of the model, and its scans of them, as the lemma about a scan has them.

Rule of this file: no formula.  It looks at aggregates that leave no key between windows, whose
footprint would be a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from operator import le
from typing import Any, NamedTuple

from model.actions import Action, Restart
from model.boxes.aggregate import Aggregate
from model.core import Role, Site
from model.log import Log
from model.protocols.cec.design import MENDED
from model.protocols.cec.messages import Disk, NodeState, Record, Segment
from model.protocols.cec.scan import reconstruct, repair
from model.system import System
from model.world import World
from proofs.lemmas.cec import scan
from proofs.prove.conformance import Abstraction, Path, Paths
from proofs.prove.structure import StateTable, Structure

ORIGIN = 0
"""The records of a log are 1, 2, ..."""


class OperatorLogStep(NamedTuple):
    """A step of an operator.  old, new: its log before and after, without the damaged part.
    before, after: its state."""

    old: Log[Segment]
    new: Log[Segment]
    before: NodeState
    after: NodeState


class State(NamedTuple):
    """A log at a moment of a step.  written: how many of the step's records are; kept: from which
    one on.  read: how many the scan has read; None: there is no scan.  found: the footprints."""

    written: int
    kept: int = 1
    acknowledged: int = ORIGIN
    released: int = 0
    read: int | None = None
    found: frozenset[int] = frozenset()


def window_of(record: Record) -> Any:
    return record.key, record.opened


class Records(NamedTuple):
    """The records of a step's segments.  ends: is the record the last one of its segment?"""

    records: tuple[Record, ...]
    ends: tuple[bool, ...]

    def path(self, states: Sequence[State], initial: bool = False) -> Path:
        return Path(structure(self.records), tuple(map(self.table, states)), initial)

    def table(self, state: State) -> StateTable:
        """The symbols of the lemma.  A log ends with a segment, so N counts there alone."""
        written = dict(enumerate(self.records[: state.written], 1))
        newest = {window_of(record): at for at, record in written.items()}
        found = {window_of(self.records[at - 1]): at for at in state.found}
        left = {w for w, at in newest.items() if written[at].pane is not None} - {*found}
        ended = state.written and self.ends[state.written - 1]
        read, every = state.read or 0, range(len(self.records) + 1)
        windows = structure(self.records).sorts["window"]
        return {
            "kept": {at: max(1, state.kept) <= at <= state.written for at in every},
            "written": {at: at in written for at in every},
            "last": state.written,
            "newest": {window: newest.get(window, ORIGIN) for window in windows},
            "acknowledged": state.acknowledged,
            "released": state.released,
            "wanted": written[state.written].n if ended else len(left),
            "left": {window: window in left for window in windows},
            "size": len(left),
            "scanning": state.read is not None,
            "read": {at: state.written - read < at <= state.written for at in every},
            "found": {window: window in found for window in windows},
            "foot": {window: found.get(window, ORIGIN) for window in windows},
            "count": len(found),
        }


@cache
def structure(records: tuple[Record, ...]) -> Structure:
    """The structure that never changes: the records, and their contents."""
    windows = {window_of(record) for record in records} or {None}
    every = dict(enumerate(records, 1))
    sorts = {
        "record": range(len(records) + 1),
        "window": windows,
        "name": windows,
        "stamp": range(max((record.stamp for record in records), default=0) + 1),
    }
    symbols = {
        "le#record": le,
        "le#stamp": le,
        "of": {ORIGIN: None, **{at: window_of(record) for at, record in every.items()}},
        "closes": {ORIGIN: False, **{at: record.pane is None for at, record in every.items()}},
        "stamp": {ORIGIN: 0, **{at: record.stamp for at, record in every.items()}},
        "named": {window: window for window in windows},
        "origin": ORIGIN,
    }
    return Structure(sorts, symbols)


def records_of(segments: Sequence[Segment]) -> Records:
    ends = (record is s.records[-1] for s in segments for record in s.records)
    return Records(tuple(record for s in segments for record in s.records), tuple(ends))


def of_writes(step: OperatorLogStep) -> Path:
    """A step that writes records, and then acknowledges, lets go, and releases."""
    known = {s.place: s for s in (*step.before.disk.log, *step.before.waiting, *step.new)}
    end = max((s.place for s in (*step.old, *step.new)), default=0)
    segments = [known[place] for place in sorted(known) if place <= end]
    begins = step.new.first().place if step.new else 0
    records = records_of(segments)

    def result(number: int) -> int:
        of_results = enumerate(records.records, 1)
        return max((at for at, r in of_results if r.out and r.results <= number), default=ORIGIN)

    first = sum(len(s.records) for s in step.old)
    (released,), (now_released,) = step.before.released, step.after.released
    start = State(first, 1, result(min(step.before.acknowledged)), released)
    states = [start._replace(written=count) for count in range(first, len(records.records) + 1)]
    states.append(states[-1]._replace(acknowledged=result(min(step.after.acknowledged))))
    gone = sum(len(s.records) for s in segments if s.place < begins)
    states.append(states[-1]._replace(kept=1 + gone))
    states.append(states[-1]._replace(released=now_released))
    return records.path(states, initial=first == 0 == released)


def of_scan(site: Site, log: Log[Segment]) -> Path:
    """A restart and its scan, record by record."""
    records = records_of([*log])
    found = reconstruct(MENDED, site.spec.box, log)
    places = [s.place for s in log for _ in s.records]
    loaded = {(window.at, window.key, window.opened, window.pane) for window in found.windows}
    feet = [
        at
        for at, (place, record) in enumerate(zip(places, records.records, strict=True), 1)
        if (place, *window_of(record), record.pane) in loaded
    ]
    count = len(places)
    scans = [
        State(count, read=read, found=frozenset(at for at in feet if at > count - read))
        for read in range(found.scanned + 1)
    ]
    return records.path([State(count), *scans])


def covered(site: Site) -> bool:
    box = site.spec.box if site.role is Role.OPERATOR else None
    return isinstance(box, Aggregate) and box.aligned and box.advance <= box.size


def observe(system: System) -> Paths:
    """Each step of each operator that is covered, once."""
    seen: set[Any] = set()

    def paths(before: World, action: Action, after: World) -> Iterator[Path]:
        site, at = system.sites[action.node], system.node_at[action.node]
        if not covered(site):
            return
        (old, _), (new, _) = (
            repair(MENDED, world.nodes[at].durable or Disk()) for world in (before, after)
        )
        states = [world.nodes[at].state for world in (before, after)]
        if isinstance(action, Restart):
            step: Any = old.log
        elif isinstance(states[0], NodeState):
            running = (state for state in reversed(states) if isinstance(state, NodeState))
            step = OperatorLogStep(old.log, new.log, states[0], next(running))
        else:
            return
        if (site.name, step) not in seen:
            seen.add((site.name, step))
            yield of_writes(step) if isinstance(step, OperatorLogStep) else of_scan(site, step)

    return paths


ABSTRACTIONS = (Abstraction("a log and its scan", scan.system, observe),)
