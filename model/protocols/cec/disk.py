"""An operator's disk: segments are written, forwarded, let go, and sent again on request.

Rule of this file: no window changes here.  A write is one `Save`, or two if a crash may tear it.  A
write that is still outstanding is a timer, and its completion is the end of the timer: writes
complete in any order, and a crash loses those that are outstanding.
Sebepou and Magoutis, CEC, 2011, Section IX.
"""

from __future__ import annotations

from itertools import dropwhile, takewhile

from model.core import REPLAYED, Effect, NodeName, Note, Save, Send, SetTimer, Site
from model.events import Event
from model.protocols.cec.design import CatchUp, Forward, LogTrim, Unstored, WriteUnit
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

WRITE, READ, GROUP = "write", "read", "group"


def write(site: Site, state: NodeState, records: list[Record]) -> tuple[NodeState, list[Effect]]:
    """Hand the records to the disk, or to the stream event that has not ended."""
    if not records:
        return state, []
    opened = sum(record.kind is Kind.OPEN for record in records)
    closed = sum(record.kind is Kind.RESULT for record in records)
    effects: list[Effect] = [
        Note(what, n) for what, n in ((G_OPEN_RECORDS, opened), (R_RECORDS, closed)) if n
    ]
    state = state._replace(grouped=(*state.grouped, *records))
    if site.spec.groups:
        return state, [*effects, SetTimer(GROUP)]
    state, added = close(site, state)
    return state, [*effects, *added]


def close(site: Site, state: NodeState) -> tuple[NodeState, list[Effect]]:
    """End the stream event, and write it."""
    whole = site.config.design.write is WriteUnit.TUPLE
    groups = [state.grouped] if whole else [(record,) for record in state.grouped]
    segments = [Segment(place, group) for place, group in enumerate(groups, state.segments + 1)]
    count, waiting = state.segments + len(segments), (*state.waiting, *segments)
    state = state._replace(segments=count, waiting=waiting, grouped=())
    if site.spec.writes:
        return state, [*outstanding(site, state)]
    effects: list[Effect] = []
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
    state = state._replace(disk=_put(state.disk, segment), waiting=waiting)
    if site.spec.indexed:
        effects.append(Save(state.disk))
        indexed = tuple(sorted({*state.disk.indexed, place}))
        state = state._replace(disk=state.disk._replace(indexed=indexed))
    state = let_go(site, state)
    if site.spec.persists:
        effects.append(Save(state.disk))
    state, added = _send_on(site, state, segment)
    return state, [*effects, *added]


def _send_on(site: Site, state: NodeState, segment: Segment) -> tuple[NodeState, list[Effect]]:
    """Send each output the segments that it may receive now."""
    if state.reader is not None and site.config.design.catch_up is CatchUp.READER:
        return state, []
    effects: list[Effect] = []
    reached = list(state.sent)
    for output, (succ, sent) in enumerate(zip(site.succs, state.sent, strict=True)):
        if sent is None:
            continue
        whole = site.config.design.forward is Forward.COMPLETED
        sendable = [segment] if whole else _stored_after(state, sent)
        effects += [Send(succ, other) for other in sendable]
        reached[output] = max([sent, *(other.place for other in sendable)])
    return _forget_sent(site, state._replace(sent=(*reached,))), effects


def _stored_after(state: NodeState, sent: int) -> list[Segment]:
    """The segments after this place and before the first one that is not stored."""
    end = _end_of_prefix(state)
    tail = [*takewhile(lambda other: other.place > sent, reversed(state.disk.log))]
    return [other for other in reversed(tail) if other.place <= end]


def _forget_sent(site: Site, state: NodeState) -> NodeState:
    """A log in memory lets go of results that all outputs were sent, if the design says so."""
    if site.spec.persists or site.config.design.unstored is Unstored.ACKNOWLEDGED:
        return state
    if None in state.sent:
        return state
    return let_go(site, state._replace(acknowledged=(state.results,) * len(site.succs)))


def _end_of_prefix(state: NodeState) -> int:
    """The last segment before the first one that is not stored."""
    return min((segment.place for segment in state.waiting), default=state.segments + 1) - 1


def _put(disk: Disk, segment: Segment) -> Disk:
    """The log with the segment in its place."""
    log, left = disk.log, tuple(other for other in disk.left if other.place != segment.place)
    later = [*takewhile(lambda other: other.place > segment.place, reversed(log))]
    if later:
        log = log.thin(lambda other: other.place > segment.place, lambda _: True)
    return disk._replace(log=log.append(segment).extend(reversed(later)), left=left)


def let_go(site: Site, state: NodeState) -> NodeState:
    """The state whose log has only what downstream, or a restart, may still need."""
    acknowledged, extent = min(state.acknowledged), site.config.design.log_trim is LogTrim.EXTENT
    if extent and site.spec.persists:
        if state.waiting or state.grouped:  # a footprint may not be stored yet
            return state
        oldest = min((window.at for window in state.windows), default=state.segments)

    def is_old(segment: Segment) -> bool:
        last = segment.records[-1]
        if extent and site.spec.persists:
            return last.results <= acknowledged and segment.place < oldest
        return last.results + (last.out is None) <= acknowledged

    begins, log, left, indexed = state.disk
    kept = log.trim(is_old)
    begins += len(log) - len(kept)
    indexed = tuple(place for place in indexed if place >= begins)
    return state._replace(disk=Disk(begins, kept, left, indexed))


def acknowledge(
    site: Site, state: NodeState, consumer: NodeName, results: int
) -> tuple[NodeState, list[Effect]]:
    """The consumer does not need the results up to this one any more."""
    pairs = zip(site.succs, state.acknowledged, strict=True)
    newest = tuple(max(old, results) if succ == consumer else old for succ, old in pairs)
    after = let_go(site, state._replace(acknowledged=newest))
    gone = after.disk.begins - state.disk.begins
    stored = [Save(after.disk)] if site.spec.persists else []
    return after, [Note(LOG_TRIMMED, gone), *stored] if gone else []


def send_again(
    site: Site, state: NodeState, consumer: NodeName, request: Replay
) -> tuple[NodeState, list[Effect]]:
    """Send the consumer the stored results that it asks for, and go on from there."""
    whole = site.config.design.forward is Forward.COMPLETED
    end = state.segments if whole else _end_of_prefix(state)
    stored = [*takewhile(lambda segment: segment.place <= end, state.disk.log)]
    output = site.succs.index(consumer)
    start = stored[-1].records[-1].results if stored else state.acknowledged[output]
    again: list[Segment] = []
    for segment in stored:
        results = tuple(
            record
            for record in segment.records
            if record.out and request.wants(Event((record.results,), record.out.body))
        )
        again += [segment._replace(records=results)] if results else []
    if site.spec.indexed:  # the reader begins where the index says, and goes on from there
        again = [*dropwhile(lambda segment: segment.place not in state.disk.indexed, again)]
    if again:
        start = again[0].records[0].results - 1
    if not site.spec.persists and request.after is not None:  # older results are made again
        start = max(start, request.after)
    effects: list[Effect] = [
        Note(REPLAYED, sum(len(segment.records) for segment in again)),
        Send(consumer, Replayed(request, start)),
    ]
    sent = (*state.sent[:output], end, *state.sent[output + 1 :])
    state = _forget_sent(site, state._replace(sent=sent, reader=None))
    if again and site.spec.reads:
        return state._replace(reader=(again[0].place, end)), [*effects, SetTimer(READ)]
    return state, [*effects, *(Send(consumer, segment) for segment in again)]


def read(site: Site, state: NodeState) -> tuple[NodeState, list[Effect]]:
    """The reader sends the next segment of the log."""
    assert state.reader is not None
    place, end = state.reader
    found = takewhile(lambda segment: segment.place >= place, reversed(state.disk.log))
    (*_, segment) = found
    if site.config.design.catch_up is CatchUp.READER:
        end = _end_of_prefix(state)
        state = state._replace(sent=(segment.place,))
    more = segment.place < end
    state = state._replace(reader=(segment.place + 1, end) if more else None)
    return state, [Send(site.succs[0], segment), *([SetTimer(READ)] if more else [])]
