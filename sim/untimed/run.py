"""A run of a deployed protocol over whole streams: FIFO, untimed, with crashes where planned.

Rule of this file: no action (sim.untimed.driver); the file hands out the events and measures.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from itertools import accumulate

from model.actions import Action
from model.core import Arrival, Inputs, Scope
from model.progress import Progress, silent
from model.protocol import Protocol
from model.results.run import RunViolation
from model.system import System
from sim.inputs.streams import Workload
from sim.outputs import Outputs, count
from sim.untimed.crashes import UntimedCrash, UntimedOutage
from sim.untimed.driver import UntimedRun

POINTS = 600
"""The largest number of points in a series."""
PROGRESS_CALLS = 200
"""The number of times that a run reports its progress."""
RESTART_AFTER_EVENTS = 50
"""The further events after which a crashed node restarts, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True)
class UntimedResult:
    """The result of an untimed run.

    peak: the most events that all nodes together kept as upstream backup, counted for each edge and
    measured after every event.  series: (event, the most since the last point).  outages: in order.
    violations: of each property the first one (sim.untimed.judge).
    """

    events: int
    outputs: Outputs
    notes: Mapping[str, int]
    peak: int
    series: tuple[tuple[int, int], ...]
    outages: tuple[UntimedOutage, ...]
    seconds: float
    violations: tuple[RunViolation, ...]

    @property
    def count(self) -> int:
        return count(self.outputs)


def run(
    protocol: Protocol,
    workload: Workload,
    plans: Sequence[UntimedCrash] = (),
    *,
    restart_after: int = RESTART_AFTER_EVENTS,
    progress: Progress = silent,
    record: Callable[[Action], None] | None = None,
) -> UntimedResult:
    """Run to the end of the input, then until the system is at rest; return the result.

    restart_after: the further events after which a node restarts (0: as soon as there are no
    messages).  record: receives every action, as a value of model.world.  Raises Invalid for a
    crash that cannot happen: its node is down or has too few effects, or its nodes are no failure
    group.
    """
    started = time.perf_counter()
    inputs = tuple((name, Inputs((), 0)) for name in workload.events)
    system = System(protocol, Scope(workload.graph, inputs, len(plans)))
    driver = UntimedRun(system, workload.events, plans, restart_after, record)
    total = workload.size
    stride, beat = -(-total // POINTS) or 1, -(-total // PROGRESS_CALLS) or 1
    highest: dict[int, int] = {}
    for at, (source, arrival) in enumerate(_merge(workload.events), 1):
        driver.hand(at, source, arrival)
        point = min(total, -(-at // stride) * stride)
        highest[point] = max(highest.get(point, 0), driver.backup())
        if at % beat == 0 or at == total:
            progress(workload.name, at, total)
    driver.finish()
    highest[total] = max(highest.get(total, 0), driver.backup())
    return UntimedResult(
        total,
        driver.outputs(),
        dict(sorted(driver.notes.items())),
        max(highest.values()),
        tuple(highest.items()),
        tuple(driver.outages),
        time.perf_counter() - started,
        tuple(driver.judge.violations),
    )


def _merge(events: Mapping[str, Sequence[Arrival]]) -> Iterator[tuple[str, Arrival]]:
    """The arrivals of all streams in time order; among equals in the order of the sources."""
    keyed = (
        [
            (now, at, name, arrival)
            for now, arrival in zip(accumulate(a.gap for a in stream), stream, strict=True)
        ]
        for at, (name, stream) in enumerate(events.items())
    )
    return ((name, arrival) for _, _, name, arrival in merge(*keyed, key=lambda entry: entry[:2]))
