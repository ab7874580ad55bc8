"""The comparison of `asif run`: a run with crashes, the run without, the oracle, another protocol.

Rule of this file: no step of a run (sim.untimed); the file runs and compares.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from model.core import DISCARDED, REPLAYED
from model.oracle import oracle
from model.protocol import Protocol
from sim.inputs.streams import Workload
from sim.outputs import Outputs, count, differences, digest
from sim.untimed.crashes import UntimedCrash
from sim.untimed.run import RESTART_AFTER_EVENTS, UntimedResult, Watch, run


def compare(
    protocol: Protocol,
    other: Protocol | None,
    workload: Workload,
    plans: Sequence[UntimedCrash],
    *,
    restart_after: int = RESTART_AFTER_EVENTS,
    watch: Watch | None = None,
    keep: Callable[[str, Outputs], None] = lambda _name, _outputs: None,
) -> dict[str, Any]:
    """Run without failures, with crashes, and with crashes under the `other` protocol; compare all
    outputs with each other and with the oracle; return a JSON-able value.

    watch: is called with (done, total), counted over all runs.  keep: is called with a name and the
    outputs: "expected", "with-crashes", and the name of the other protocol.
    """
    started = time.perf_counter()
    stages = 3 if other is None else 4
    total = stages * workload.size

    def stage(number: int) -> Watch | None:
        return watch and (lambda done, _: watch(number * workload.size + done, total))

    expected = tuple(oracle(workload.graph, workload.events).values())
    free = run(protocol, workload, watch=stage(0))
    crashed = run(protocol, workload, plans, restart_after=restart_after, watch=stage(1))
    runs = [free, crashed]
    compared = None
    if other is not None:
        second = run(other, workload, plans, restart_after=restart_after, watch=stage(2))
        runs.append(second)
        keep(other.name, second.outputs)
        compared = _compared(other, expected, second)
    if watch:
        watch(total, total)
    keep("expected", expected)
    keep("with-crashes", crashed.outputs)
    hashes = [digest(outputs) for outputs in (expected, free.outputs, crashed.outputs)]
    return {
        "protocol": protocol.name,
        "input": workload.name,
        "events": workload.size,
        "graph": _graph(workload),
        "pattern": workload.pattern,
        "left_out": list(workload.left_out),
        "expected": {"count": count(expected), "sha256": hashes[0]},
        "failure_free": {"count": count(free.outputs), "sha256": hashes[1]},
        "with_crashes": {"count": count(crashed.outputs), "sha256": hashes[2]},
        **_differences(expected, crashed.outputs),
        "same": len({*hashes}) == 1,
        "crashes": [{"node": one.node, "at_event": one.event} for one in crashed.outages],
        "replayed": crashed.notes.get(REPLAYED.name, 0),
        "discarded": crashed.notes.get(DISCARDED.name, 0),
        "peak_backup": crashed.peak,
        "seconds": time.perf_counter() - started,
        "compared": compared,
        "series": _series(runs[1:]),
    }


def _compared(other: Protocol, expected: Outputs, found: UntimedResult) -> dict[str, Any]:
    """The run under the other protocol."""
    return {
        "protocol": other.name,
        "same": digest(found.outputs) == digest(expected),
        **_differences(expected, found.outputs),
        "replayed": found.notes.get(REPLAYED.name, 0),
        "peak_backup": found.peak,
    }


def _graph(workload: Workload) -> dict[str, Any]:
    return {
        "nodes": [name for name, _ in workload.graph.nodes],
        "edges": [list(edge) for edge in workload.graph.edges],
    }


def _series(runs: Sequence[UntimedResult]) -> list[dict[str, Any]]:
    """The backup over time with crashes, and under the other protocol, if there is one."""
    first, *others = (dict(one.series) for one in runs)
    second = others[0] if others else None
    return [
        {"event": event, "backup": backup, "compared": second[event] if second else None}
        for event, backup in first.items()
    ]


def _differences(expected: Outputs, observed: Outputs) -> dict[str, int]:
    missing, surplus = differences(expected, observed)
    return {"missing_outputs": missing, "surplus_outputs": surplus}
