"""Strategies for logs of continuous eventual checkpointing, whole and damaged.

Rule of this file: a log is what an operator wrote; nothing is drawn that no run could leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.core import Role, Site
from model.events import Body, Event
from model.log import Log
from model.protocols.cec.deployment import CecConfig
from model.protocols.cec.design import MENDED, CecDesign
from model.protocols.cec.messages import Disk, LoggedBox, NodeState, Segment
from model.protocols.cec.operator import checkpoint, process


class Written(NamedTuple):
    """What an operator wrote.

    events: its input.  disk: its log.  states: its state after each number of events, from 0.
    """

    box: Aggregate
    events: tuple[Event, ...]
    disk: Disk
    states: tuple[NodeState, ...]


def site(box: Aggregate, design: CecDesign = MENDED) -> Site:
    """The operator's place in a deployment."""
    config = CecConfig(design, trims=False)
    return Site("agg", Role.OPERATOR, LoggedBox(box), ("source",), ("sink",), config)


def write(
    box: Aggregate, events: Sequence[Event], checks: Sequence[int], design: CecDesign = MENDED
) -> Written:
    """Run the operator; checks: how many G_checks there are after each event, if windows allow."""
    state = NodeState()
    states = [state]
    log: Log[Segment] = Log()
    for event, times in zip(events, checks, strict=True):
        before = state.segments
        state, records = process(design, box, state, event, frozenset())
        state = state._replace(mark=before, stamp=design.stamp.of(event))
        for number in range(times + 1):
            if number:
                state, records = checkpoint(design, box, state, state.stamp)
            if records:
                state = state._replace(segments=state.segments + 1)
                log = log.append(Segment(state.segments, tuple(records)))
        states.append(state)
    return Written(box, tuple(events), Disk(1, log), tuple(states))


def aggregates() -> st.SearchStrategy[Aggregate]:
    """Aggregates by key: tumbling, sliding and hopping windows, by count and by time; those by time
    may be closed by tuples of any key, or by ticks alone."""
    sizes = st.integers(1, 4)
    drawn = st.builds(
        Aggregate,
        fold=st.just("list"),
        size=sizes,
        advance=sizes,
        by=st.sampled_from(["count", "time"]),
        of=st.just("time"),
        group=st.just("type"),
        aligned=st.booleans(),
    )
    by_any = drawn.map(lambda box: replace(box, any_closes=box.by == "time"))
    by_ticks = by_any.map(lambda box: replace(box, ticks="c" if box.any_closes else None))
    return st.one_of(drawn, by_any, by_ticks)


@st.composite
def events(draw: st.DrawFn, most: int = 14) -> tuple[Event, ...]:
    """Tuples of three keys; times may be equal."""
    drawn = draw(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3)), max_size=most))
    now, found = 0, []
    for place, (key, gap) in enumerate(drawn, 1):
        now += gap
        found.append(Event((place,), Body(now, key)))
    return tuple(found)


@st.composite
def written(draw: st.DrawFn) -> Written:
    """A whole log."""
    given = draw(events())
    few = st.sampled_from([0, 0, 0, 1, 3])
    checks = draw(st.lists(few, min_size=len(given), max_size=len(given)))
    return write(draw(aggregates()), given, checks)


@st.composite
def damaged(draw: st.DrawFn) -> tuple[Written, Disk]:
    """A log, and what a crash left of it: the last writes are missing, torn, or whole."""
    whole = draw(written())
    segments = [*whole.disk.log]
    outstanding = draw(st.integers(0, min(4, len(segments))))
    stored = segments[: len(segments) - outstanding]
    for segment in segments[len(segments) - outstanding :]:
        left = draw(st.sampled_from(["missing", "torn", "whole"]))
        if left != "missing":
            stored.append(segment._replace(torn=left == "torn"))
    log: Log[Segment] = Log()
    return whole, Disk(1, log.extend(stored))
