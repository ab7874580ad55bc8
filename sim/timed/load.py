"""Load: the share of the time for which nodes and links are busy, and its effect on recoveries.

Rule of this file: arithmetic on the work of nodes and links; nothing is measured here.

The busy share is the work that all input asks for, divided by the time in which the input arrives;
also the work after this time, since a node that fetches its input, or one behind a slow node, gets
it late.  A node whose share is 1 or more cannot keep up.

A node that has its state again has a backlog: the events that it processes again, and those since
the crash that are not lost, but for those that would usually wait.  It works on the backlog and on
the events that come meanwhile, until both are done.  Savepoints, batches and other messages take
their share of its time, and events have the rest.  The events that come are those of the run
without failures, so that a burst counts when it comes; after the end of the input, the mean rate
goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from model.results.simulation import BusyShare, CrashCourse
from sim.timed.ages import UsualAges
from sim.timed.costs import PS
from sim.timed.failures import TimedOutage
from sim.timed.record import Asked


def load(asked: Asked) -> tuple[BusyShare, ...]:
    """The busy share and the headroom of each node that may crash, of each store and sink with a
    price, of each host and of each link.

    Links are named "sender -> receiver".  Without input, or with all input at one time, there is no
    share: the tuple is empty.
    """
    if not asked.until_ps:
        return ()
    nodes = [(name, "node", work) for name, work in asked.service.items()]
    hosts = [(name, "host", work) for name, work in asked.hosts.items()]
    links = [(f"{ends[0]} -> {ends[1]}", "link", work) for ends, work in asked.wire.items()]
    return tuple(
        BusyShare(name, kind, work / asked.until_ps, 1 - work / asked.until_ps)
        for name, kind, work in (*nodes, *hosts, *links)
    )


def recoveries_under_load(
    outages: Sequence[TimedOutage], ended: Asked, normal: Asked, usual: UsualAges | None
) -> tuple[CrashCourse, ...]:
    """Each crash and its course, with the prediction of the load.

    cut_off: the input ended before the node had caught up, so that with more input the recovery
    would have lasted longer; not for a node that crashed again before.  expected_catch_up_s: the
    time from when the node has its state again until its backlog is done; None if the node never
    has its state, cannot keep up, has no share, shares a core, or nothing comes afterwards.

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
    if node in normal.sharing:  # its share of the core follows from no load
        return None
    if restored is None or not outage.oldest or normal.service[node] >= until:
        return None
    arrivals = [JobArrivals(events, usual.width) for events in usual.events[outage.job].values()]
    each = normal.growing[node] / sum(one.events for one in arrivals)
    left = 1 - (normal.service[node] - normal.growing[node]) / until

    def work(start: int, end: int) -> float:
        """The work that grows with the events that come between these times."""
        return each * sum(one.between(start, end) for one in arrivals)

    by_sender = dict(zip(usual.events[outage.job], arrivals, strict=True))
    came = sum(
        by_sender[sender].between(max(oldest, outage.crashed_ps), restored - age)
        for sender, (oldest, age) in outage.oldest.items()
        if sender in by_sender
    )
    backlog = each * (outage.again + came)
    at = restored
    while at < until:
        following = min((at // usual.width + 1) * usual.width, until)
        more = work(at, following) - left * (following - at)
        if backlog + more <= 0:
            return (at - restored + (following - at) * backlog / -more) / PS if more else 0.0
        at, backlog = following, backlog + more
    return (at - restored + backlog / (left - normal.growing[node] / until)) / PS


class JobArrivals:
    """The events of one sender of a job, of which those of a stretch come evenly."""

    def __init__(self, events: Sequence[int], width: int) -> None:
        self.width = width
        self.sums = [0, *accumulate(events)]

    @property
    def events(self) -> int:
        return self.sums[-1]

    def between(self, start: int, end: int) -> float:
        """The number of events that are handed out between these times."""
        return max(0.0, self._until(end) - self._until(start))

    def _until(self, at: int) -> float:
        stretch, part = divmod(max(0, at), self.width)  # nothing comes before the start
        if stretch + 1 >= len(self.sums):
            return self.events
        before, after = self.sums[stretch : stretch + 2]
        return before + (after - before) * part / self.width
