"""The comparison of `asif run`: a run with crashes, the run without, the oracle, another protocol.

Rule of this file: no step of a run (sim.untimed); the file runs and compares.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from model.core import DISCARDED, REPLAYED
from model.oracle import oracle
from model.progress import Progress, part_of, silent
from model.protocol import Protocol
from model.results.run import (
    BackupSample,
    ComparedRun,
    DeployedGraph,
    OutputDigest,
    RealRun,
    RunCrash,
)
from sim.inputs.streams import Workload
from sim.outputs import Outputs, count, differences, digest
from sim.untimed.crashes import UntimedCrash
from sim.untimed.run import RESTART_AFTER_EVENTS, UntimedResult, run


def compare(
    protocol: Protocol,
    other: Protocol | None,
    workload: Workload,
    plans: Sequence[UntimedCrash],
    *,
    restart_after: int = RESTART_AFTER_EVENTS,
    progress: Progress = silent,
    keep: Callable[[str, Outputs], None] = lambda _name, _outputs: None,
) -> RealRun:
    """Run without failures, with crashes, and with crashes under the `other` protocol; compare all
    outputs with each other and with the oracle.

    progress: of all runs together.  keep: is called with a name and the outputs: "expected",
    "with-crashes", and the name of the other protocol.
    """
    started = time.perf_counter()
    stages = 3 if other is None else 4
    stage = [part_of(progress, number, stages) for number in range(stages)]
    expected = tuple(oracle(workload.graph, workload.events).values())
    free = run(protocol, workload, progress=stage[0])
    crashed = run(protocol, workload, plans, restart_after=restart_after, progress=stage[1])
    runs = [free, crashed]
    compared = None
    if other is not None:
        second = run(other, workload, plans, restart_after=restart_after, progress=stage[2])
        runs.append(second)
        keep(other.name, second.outputs)
        compared = _compared(other, expected, second)
    stage[-1](workload.name, workload.size, workload.size)
    keep("expected", expected)
    keep("with-crashes", crashed.outputs)
    hashes = [digest(outputs) for outputs in (expected, free.outputs, crashed.outputs)]
    missing, surplus = differences(expected, crashed.outputs)
    return RealRun(
        protocol=protocol.name,
        input=workload.name,
        events=workload.size,
        graph=_graph(workload),
        pattern=workload.pattern,
        left_out=tuple(workload.left_out),
        expected=OutputDigest(count(expected), hashes[0]),
        failure_free=OutputDigest(count(free.outputs), hashes[1]),
        with_crashes=OutputDigest(count(crashed.outputs), hashes[2]),
        missing_outputs=missing,
        surplus_outputs=surplus,
        same=len({*hashes}) == 1,
        crashes=tuple(RunCrash(one.node, one.event) for one in crashed.outages),
        replayed=crashed.notes.get(REPLAYED.name, 0),
        discarded=crashed.notes.get(DISCARDED.name, 0),
        peak_backup=crashed.peak,
        seconds=time.perf_counter() - started,
        compared=compared,
        series=_series(runs[1:]),
        violations=free.violations or crashed.violations,
    )


def _compared(other: Protocol, expected: Outputs, found: UntimedResult) -> ComparedRun:
    """The run under the other protocol."""
    missing, surplus = differences(expected, found.outputs)
    return ComparedRun(
        protocol=other.name,
        same=digest(found.outputs) == digest(expected),
        missing_outputs=missing,
        surplus_outputs=surplus,
        replayed=found.notes.get(REPLAYED.name, 0),
        peak_backup=found.peak,
        violations=found.violations,
    )


def _graph(workload: Workload) -> DeployedGraph:
    names = tuple(name for name, _ in workload.graph.nodes)
    return DeployedGraph(names, tuple(workload.graph.edges))


def _series(runs: Sequence[UntimedResult]) -> tuple[BackupSample, ...]:
    """The backup over time with crashes, and under the other protocol, if there is one."""
    first, *others = (dict(one.series) for one in runs)
    second = others[0] if others else None
    return tuple(
        BackupSample(event, backup, second[event] if second else None)
        for event, backup in first.items()
    )
