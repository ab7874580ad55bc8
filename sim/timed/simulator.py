"""The timed driver: a deployed protocol on SimPy, with costs, crashes and a failure detector.

Rule of this file: no own semantics and no knowledge of scenario files.  The driver orders actions
by time and cost; an action has the effect that model.world gives it (a differential test replays
every run there).

A run is a RunState (nodes, clock, counts), the crashes that strike it, and one of two loops: the
fast loop, where nodes wait for nobody, and the queued loop, where they wait for shared stores and
for room in connections, or are suspended.

Times are whole picoseconds.  At one time restarts come first and crashes last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from model.system import System, check_state
from sim.timed.ages import AgeRecord, UsualAges
from sim.timed.clock import Occurrence
from sim.timed.costs import Costs
from sim.timed.detector import Detector
from sim.timed.failures import TimedCrash
from sim.timed.fast_loop import FastLoop
from sim.timed.network import traffic
from sim.timed.queued_loop import QueuedLoop
from sim.timed.record import LogEntry, TimedResult
from sim.timed.refusals import check_deployment
from sim.timed.running import Feed, Record, RunState

POINTS = 600
"""The number of looks at queues and backup while there is input."""
DETECTOR = Detector()


def run_timed(
    system: System,
    feed: Feed,
    costs: Costs,
    record: Record,
    *,
    ends_ps: int,
    ages: AgeRecord | None = None,
    usual: UsualAges | None = None,
    detector: Detector = DETECTOR,
    planned: Sequence[TimedCrash] = (),
    log: list[LogEntry] | None = None,
    watch: Callable[[int], None] | None = None,
) -> TimedResult:
    """Run to the end of the feed, then until the system is at rest; return the result.

    record: receives the outputs.  ends_ps: the time at which the feed ends, for the points of the
    series.  ages: receives the ages of events, in a run without failures.  usual: those ages, by
    which a run with failures knows when nodes have caught up (None: it never knows).  log: receives
    every action, unsorted.  watch: is called at each point with the number of events handed out.
    """
    check_deployment(system)
    state = RunState(system, costs, record, log, ages=ages, usual=usual, crashes=bool(planned))
    waits = costs.waits or any(plan.pause_ps is not None for plan in planned)
    loop = (QueuedLoop if waits else FastLoop)(state, detector, planned)
    _look(state, max(1, -(-ends_ps // POINTS)), watch)
    loop.run(iter(feed))
    return _result(state, _end(state))


def _look(state: RunState, every: int, watch: Callable[[int], None] | None) -> None:
    """Look at queues and backup every so many picoseconds until the run ends; less often in a run
    that lasts longer than POINTS times that."""

    def tick(moment: Occurrence) -> Any:
        now = moment.what
        state.seen.look(now)
        if watch is not None:
            watch(state.events)
        if state.clock.queue:
            after = now + max(every, now // POINTS)
            moment.what = after
            state.at(after, moment)

    state.at(every, Occurrence(tick, every))


def _end(state: RunState) -> int:
    """Let all effects take place and look once more; return the time of the end."""
    now = max(node.done for node in state.nodes.values())
    for node in state.nodes.values():
        state.settle(node, now)
        if node.outage is not None and state.usual is not None:
            node.outage.catch_up(now)
    state.seen.look(now)
    return now


def _result(state: RunState, ended: int) -> TimedResult:
    area = 0
    for node in state.nodes.values():
        check_state(node.name, "its last step", node.state)
        node.keep(ended, node.kept)
        area += node.kept_area
    seen = state.seen
    return TimedResult(
        events=state.events,
        ended_ps=ended,
        notes=dict(sorted(state.notes.items())),
        traffic=traffic(state.nodes.values()),
        busy_ps={node.name: node.worked for node in seen.queued},
        saves=state.saves,
        saving_ps=state.saving,
        saved_bytes=state.saved_bytes,
        outages=tuple(state.outages),
        missed=state.missed,
        lost=state.lost,
        in_vain=state.in_vain,
        asked=seen.count_asked(state.until),
        queued=tuple(node.name for node in seen.queued),
        points=tuple(seen.points),
        backup_peak=seen.peak,
        backup_mean=area / ended if ended else 0.0,
        memory_peak=seen.memory_peak,
        memory_peaks=seen.memory_peaks,
        states={name: node.state for name, node in state.nodes.items()},
        durable={name: node.durable for name, node in state.nodes.items()},
        checkpoints=None if state.checkpoints is None else state.checkpoints.result(),
    )
