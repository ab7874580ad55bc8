"""An operator's disk: segments are written, forwarded, let go, and sent again on request.

Rule of this file: no window changes here.  A write is one `Save`, or two if a crash may tear it.  A
write that is still outstanding is a timer, and its completion is the end of the timer: writes
complete in any order, and a crash loses those that are outstanding.
Sebepou and Magoutis, CEC, 2011, Section IX.
"""

from __future__ import annotations

from itertools import takewhile

from model.core import REPLAYED, Effect, Note, Save, Send, SetTimer, Site
from model.events import Event
from model.protocols.cec.design import CatchUp, Forward, LogTrim, WriteUnit
from model.protocols.cec.messages import (
    G_OPEN_RECORDS,
    LOG_TRIMMED,
    R_RECORDS,
    Disk,
    Kind,
    NodeState,
    Record,
    Segment,
)
from model.queues import Replay, Replayed
from model.timers import TimerName

WRITE, READ = "write", "read"


def write(site: Site, state: NodeState, records: list[Record]) -> tuple[NodeState, list[Effect]]:
    """Hand the records to the disk."""
    if not records:
        return state, []
    whole = site.config.design.write is WriteUnit.TUPLE
    groups = [records] if whole else [[record] for record in records]
    segments = [Segment(place, (*group,)) for place, group in enumerate(groups, state.segments + 1)]
    opened = sum(record.kind is Kind.OPEN for record in records)
    closed = sum(record.kind is Kind.RESULT for record in records)
    effects: list[Effect] = [
        Note(what, n) for what, n in ((G_OPEN_RECORDS, opened), (R_RECORDS, closed)) if n
    ]
    count, waiting = state.segments + len(segments), (*state.waiting, *segments)
    state = state._replace(segments=count, waiting=waiting)
    if site.spec.writes:
        return state, [*effects, *outstanding(site, state)]
    for segment in segments:
        state, added = store(site, state, segment.place)
        effects += added
    return state, effects


def outstanding(site: Site, state: NodeState) -> list[SetTimer]:
    """The timers of the writes that may be outstanding now."""
    first = state.waiting[: site.spec.writes]
    return [SetTimer(str(TimerName(WRITE, str(segment.place)))) for segment in first]


def store(site: Site, state: NodeState, place: int) -> tuple[NodeState, list[Effect]]:
    """A write is complete: the segment is stored, and what may be sent on now is sent."""
    segment = next(segment for segment in state.waiting if segment.place == place)
    effects: list[Effect] = []
    if site.spec.tears:
        effects.append(Save(_put(state.disk, segment._replace(torn=True))))
    waiting = tuple(other for other in state.waiting if other is not segment)
    state = let_go(site, state._replace(disk=_put(state.disk, segment), waiting=waiting))
    effects.append(Save(state.disk))
    catching_up = state.reader is not None and site.config.design.catch_up is CatchUp.READER
    if state.sent is None or catching_up:
        return state, effects
    sendable = [segment]
    if site.config.design.forward is Forward.PREFIX:
        end, sent = _end_of_prefix(state), state.sent
        tail = [*takewhile(lambda other: other.place > sent, reversed(state.disk.log))]
        sendable = [other for other in reversed(tail) if other.place <= end]
    effects += [Send(site.succs[0], other) for other in sendable]
    sent = max([state.sent, *(other.place for other in sendable)])
    return state._replace(sent=sent), effects


def _end_of_prefix(state: NodeState) -> int:
    """The last segment before the first one that is not stored."""
    return min((segment.place for segment in state.waiting), default=state.segments + 1) - 1


def _put(disk: Disk, segment: Segment) -> Disk:
    """The log with the segment in its place."""
    log, left = disk.log, tuple(other for other in disk.left if other.place != segment.place)
    later = [*takewhile(lambda other: other.place > segment.place, reversed(log))]
    if later:
        log = log.thin(lambda other: other.place > segment.place, lambda _: True)
    return Disk(disk.begins, log.append(segment).extend(reversed(later)), left)


def let_go(site: Site, state: NodeState) -> NodeState:
    """The state whose log has only what downstream, or a restart, may still need."""
    acknowledged = state.acknowledged
    if site.config.design.log_trim is LogTrim.EXTENT:
        if state.waiting:  # a footprint may not be stored yet, and an older one is needed
            return state
        oldest = min((window.at for window in state.windows), default=state.segments)

    def is_old(segment: Segment) -> bool:
        last = segment.records[-1]
        if site.config.design.log_trim is LogTrim.EXTENT:
            return last.results <= acknowledged and segment.place < oldest
        return last.results + (last.out is None) <= acknowledged

    begins, log, left = state.disk
    kept = log.trim(is_old)
    return state._replace(disk=Disk(begins + len(log) - len(kept), kept, left))


def acknowledge(site: Site, state: NodeState, results: int) -> tuple[NodeState, list[Effect]]:
    """Downstream does not need the results up to this one any more."""
    after = let_go(site, state._replace(acknowledged=max(state.acknowledged, results)))
    gone = after.disk.begins - state.disk.begins
    return after, [Note(LOG_TRIMMED, gone), Save(after.disk)] if gone else []


def send_again(site: Site, state: NodeState, request: Replay) -> tuple[NodeState, list[Effect]]:
    """Send downstream the stored results that it asks for, and go on from there."""
    whole = site.config.design.forward is Forward.COMPLETED
    end = state.segments if whole else _end_of_prefix(state)
    stored = [*takewhile(lambda segment: segment.place <= end, state.disk.log)]
    start = stored[-1].records[-1].results if stored else state.acknowledged
    again: list[Segment] = []
    for segment in stored:
        results = tuple(
            record
            for record in segment.records
            if record.out and request.wants(Event((record.results,), record.out.body))
        )
        again += [segment._replace(records=results)] if results else []
    if again:
        start = again[0].records[0].results - 1
    effects: list[Effect] = [
        Note(REPLAYED, sum(len(segment.records) for segment in again)),
        Send(site.succs[0], Replayed(request, start)),
    ]
    state = state._replace(sent=end, reader=None)
    if again and site.spec.reads:
        return state._replace(reader=(again[0].place, end)), [*effects, SetTimer(READ)]
    return state, [*effects, *(Send(site.succs[0], segment) for segment in again)]


def read(site: Site, state: NodeState) -> tuple[NodeState, list[Effect]]:
    """The reader sends the next segment of the log."""
    assert state.reader is not None
    place, end = state.reader
    found = takewhile(lambda segment: segment.place >= place, reversed(state.disk.log))
    (*_, segment) = found
    if site.config.design.catch_up is CatchUp.READER:
        end = _end_of_prefix(state)
        state = state._replace(sent=segment.place)
    more = segment.place < end
    state = state._replace(reader=(segment.place + 1, end) if more else None)
    return state, [Send(site.succs[0], segment), *([SetTimer(READ)] if more else [])]
