"""Load: the share of the time for which nodes and links are busy, and its effect on recoveries.

Rule of this file: arithmetic on the work of nodes and links; nothing is measured here.

The busy share is the work that all input asks for, divided by the time in which the input arrives;
also the work after this time, since a node that fetches its input, or one behind a slow node, gets
it late.  A node whose share is 1 or more cannot keep up.

A node that has its state again has a backlog: the events since the oldest one that it still has to
process.  It works on the backlog and on the events that come meanwhile, until both are done.  Of
its time, `1 - others` is left for events: savepoints, batches and other messages take the rest.
Input at a constant rate gives the time behind * events / (1 - busy), where `events` is the share of
the work that grows with the events.  Here the events are those of the run without failures, so that
a burst counts when it comes; after the end of the input, the mean rate goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate

from model.core import NodeName
from model.results.simulation import BusyShare, CrashCourse
from sim.timed.ages import UsualAges
from sim.timed.costs import PS
from sim.timed.failures import TimedOutage
from sim.timed.record import Asked


def load(asked: Asked) -> tuple[BusyShare, ...]:
    """The busy share and the headroom of each node that may crash and of each link.

    Links are named "sender -> receiver".  Without input, or with all input at one time, there is no
    share: the tuple is empty.
    """
    if not asked.until_ps:
        return ()
    nodes = [(name, "node", work) for name, work in asked.service.items()]
    links = [(f"{ends[0]} -> {ends[1]}", "link", work) for ends, work in asked.wire.items()]
    return tuple(
        BusyShare(name, kind, work / asked.until_ps, 1 - work / asked.until_ps)
        for name, kind, work in (*nodes, *links)
    )


def recoveries_under_load(
    outages: Sequence[TimedOutage], ended: Asked, normal: Asked, usual: UsualAges | None
) -> tuple[CrashCourse, ...]:
    """Each crash and its course, with the prediction of the load.

    cut_off: the input ended before the node had caught up, so that with more input the recovery
    would have lasted longer; not for a node that crashed again before.  expected_catch_up_s: the
    time from when the node has its state again until its backlog is done; None if the node never
    has its state, cannot keep up, has no share, or nothing comes afterwards.

    ended: of the run with these crashes.  normal: of the same run without failures, with the usual
    ages of its events.
    """
    return tuple(
        outage.course(cut_off, _expected(outage, normal, usual))
        for outage, cut_off in zip(outages, are_cut_off(outages, ended), strict=True)
    )


def are_cut_off(outages: Sequence[TimedOutage], asked: Asked) -> list[bool]:
    """Of each crash: did the input end before the node had caught up?  False if the node crashed
    again before, since the recovery goes on then."""
    last = {outage.node: outage for outage in outages}
    return [
        outage.caught_up_ps > asked.until_ps
        if outage.caught_up_ps is not None
        else outage is last[outage.node]
        for outage in outages
    ]


def _expected(outage: TimedOutage, normal: Asked, usual: UsualAges | None) -> float | None:
    """The seconds from the restoring until the backlog is done."""
    node, until, restored = outage.node, normal.until_ps, outage.restored_ps
    if usual is None or outage.job not in usual.events or node not in normal.service:
        return None
    if restored is None or outage.due_ps is None or normal.service[node] >= until:
        return None
    growing = normal.growing[node] / until
    left = 1 - normal.service[node] / until + growing
    arrived = _arrived(usual, outage.job)

    def work(start: int, end: int) -> float:
        """The work that grows with the events that come between these times."""
        return growing * until * (arrived(end) - arrived(start))

    at = restored
    backlog = work(min(outage.due_ps, restored), restored)
    while at < until:
        following = min((at // usual.width + 1) * usual.width, until)
        more = work(at, following) - left * (following - at)
        if backlog + more <= 0:
            return (at - restored + (following - at) * backlog / -more) / PS if more else 0.0
        at, backlog = following, backlog + more
    return (at - restored + backlog / (left - growing)) / PS


def _arrived(usual: UsualAges, job: NodeName) -> Callable[[int], float]:
    """The share of the job's events that are handed out until a time; even in each stretch."""
    events = usual.events[job]
    sums = [0, *accumulate(events)]

    def arrived(at: int) -> float:
        stretch, part = divmod(at, usual.width)
        if stretch >= len(events):
            return 1.0
        return (sums[stretch] + events[stretch] * part / usual.width) / sums[-1]

    return arrived
