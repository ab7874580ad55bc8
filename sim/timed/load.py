"""Load: the share of the time for which nodes and links are busy, and its effect on recoveries.

Rule of this file: arithmetic on the work of nodes and links; nothing is measured here.

The busy share is the work that all input asks for, divided by the time in which the input arrives;
also the work after this time, since a node that fetches its input, or one behind a slow node, gets
it late.  A node whose share is 1 or more cannot keep up.  After an outage a node has a
backlog of (arrival rate * outage) events, which shrinks by (capacity - arrival rate) events a
second; in shares of the node's time, it has caught up after outage * events / (1 - busy), where
`events` is the share of the work that grows with the events.  Messages that a protocol sends again
come on top.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from model.core import NodeName
from model.results.simulation import BusyShare, CrashCourse
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
    outages: Sequence[TimedOutage], ended: Asked, normal: Asked
) -> tuple[CrashCourse, ...]:
    """Each crash and its course, with the prediction of the load.

    cut_off: the input ended before the node had caught up, so that with more input the recovery
    would have lasted longer; not for a node that crashed again before.  expected_catch_up_s:
    backlog / (capacity - arrival rate), from the time at which the node has its state again; None
    if the node never has it, cannot keep up, or has no share.

    ended: of the run with these crashes.  normal: of the same run without failures.
    """
    ratios = _ratios(normal)
    began: dict[NodeName, int] = {}
    found = []
    for outage, cut_off in zip(outages, are_cut_off(outages, ended), strict=True):
        start = began.setdefault(outage.node, outage.crashed_ps)
        if outage.caught_up_ps is not None:
            del began[outage.node]
        found.append(outage.course(cut_off, _expected(start, outage, ratios.get(outage.node))))
    return tuple(found)


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


def _ratios(asked: Asked) -> Mapping[NodeName, float]:
    """Of each node that can keep up: the share of its time for events, by the share that is
    left."""
    left = {name: asked.until_ps - work for name, work in asked.service.items()}
    return {name: asked.growing[name] / rest for name, rest in left.items() if rest > 0}


def _expected(crashed_ps: int, outage: TimedOutage, ratio: float | None) -> float | None:
    if ratio is None or outage.restored_ps is None:
        return None
    return (outage.restored_ps - crashed_ps) / PS * ratio
