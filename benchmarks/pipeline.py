"""The pipeline of docs/scenarios/quickstart.toml, by a plain SimPy program and by `asif simulate`.

Rule of this file: the plain program is one that a user would write: a process a node, a Store
between two, and the query by hand.  It recovers nothing, records no series and asks no oracle.
"""

from __future__ import annotations

import gc
import random
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import simpy
from rich.table import Table

from benchmarks.stages import each
from model.progress import Progress
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from sim.timed.costs import Costs

SCENARIO = Path(__file__).parents[1] / "docs/scenarios/quickstart.toml"
RATE_PER_S, SIZE_S, SLIDE_S = 500.0, 0.040, 0.020
TYPES, WEIGHTS, QUERY = ("a", "b", "c"), (1.0, 1.0, 2.0), ("a", "b", "c")
EVENTS, TURNS = 20_000, 3
SIZES = (5_000, 20_000)
"""The numbers of events for which memory is measured, which makes a run several times as long."""


class Input(NamedTuple):
    """An event of the plain program."""

    time_s: float
    type: str


# --- the plain program -------------------------------------------------------------------------
def plain(events: int) -> int:
    """Simulate the pipeline; return the number of pairs that leave it."""
    env = simpy.Environment()
    to_match, to_pair, to_sink = (simpy.Store(env) for _ in range(3))
    service_s = Costs().service.event_s
    latencies: list[float] = []

    def source() -> Any:
        chance = random.Random(1)
        for _ in range(events):
            yield env.timeout(chance.expovariate(RATE_PER_S))
            (kind,) = chance.choices(TYPES, WEIGHTS)
            yield to_match.put(Input(env.now, kind))

    def match() -> Any:
        windows: list[Any] = []  # [start, the events of the match so far]
        newest = -SLIDE_S
        while True:
            event = yield to_match.get()
            yield env.timeout(service_s)
            windows = [one for one in windows if event.time_s < one[0] + SIZE_S]
            if event.time_s >= newest + SLIDE_S:
                newest = event.time_s
                windows.append([newest, ()])
            for window in windows:
                begun = window[1]
                if event.type == QUERY[len(begun)]:
                    begun = (*begun, event)
                    if len(begun) == len(QUERY):
                        yield to_pair.put((event.time_s, begun))
                        begun = ()
                    window[1] = begun

    def pair() -> Any:
        before = None
        while True:
            found = yield to_pair.get()
            yield env.timeout(service_s)
            if before is not None:
                yield to_sink.put((found[0], (before, found)))
            before = found

    def sink() -> Any:
        while True:
            time_s, _ = yield to_sink.get()
            latencies.append(env.now - time_s)

    for process in (source, match, pair, sink):
        env.process(process())
    env.run()
    return len(latencies)


# --- asif simulate -----------------------------------------------------------------------------
def simulated(protocol: str, failures: bool) -> Callable[[int], int]:
    """`asif simulate` under the protocol, its recording, comparing and oracle included."""

    def way(events: int) -> int:
        wanted = [f"protocol={protocol}", f"stream.events={events}"]
        if failures:
            wanted.append(f"failures=[{{nodes=['match'], at_event={events // 2}}}]")
        else:
            wanted.append("failures=[]")
        return simulate(read(SCENARIO, overrides(wanted))).metrics.outputs

    return way


class Way(NamedTuple):
    """A way to simulate the pipeline.  runs: the number of runs, each with all events."""

    name: str
    simulate: Callable[[int], int]
    runs: int


PLAIN = Way("plain SimPy program", plain, 1)
WAYS = (
    PLAIN,
    Way("amnesia", simulated("amnesia", failures=False), 1),
    Way(
        "upstream-backup, with and without a crash, and without protection",
        simulated("upstream-backup", failures=True),
        3,
    ),
)


def seconds(way: Way, events: int) -> float:
    """The processor time of a run, in seconds."""
    gc.collect()
    started = time.process_time()
    way.simulate(events)
    return (time.process_time() - started) / way.runs


def peak_mb(way: Way, events: int) -> float:
    """The most memory that all runs of a way have at once."""
    gc.collect()
    tracemalloc.start()
    way.simulate(events)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1e6


def table(progress: Progress) -> Iterator[Table]:
    """Time and memory of each way beside those of the plain program, in one run."""
    best = dict.fromkeys(WAYS, float("inf"))
    for _ in each(progress, "pipeline: turns", range(TURNS)):
        for way in WAYS:
            best[way] = min(best[way], seconds(way, EVENTS))
    peaks = {
        way: [peak_mb(way, size) for size in SIZES]
        for way in each(progress, "pipeline: memory", WAYS, lambda way: way.name)
    }
    found = Table(
        "quickstart's pipeline",
        "µs an event and run",
        "speed of plain",
        *(f"peak MB, {size:,} events" for size in SIZES),
        "growth MB",
        "memory of plain",
    )
    for way, took in best.items():
        small, large = peaks[way]
        found.add_row(
            way.name,
            f"{took / EVENTS * 1e6:.1f}",
            f"{best[PLAIN] / took:.2f}",
            f"{small:.2f}",
            f"{large:.2f}",
            f"{large - small:.2f}",
            f"{large / peaks[PLAIN][1]:.1f}",
        )
    yield found
