"""The costs of micro-batches on Spark as a scenario has them, for `asif calibrate`.

Rule of this file: no measurement but a run without failures (checks.prediction).
"""

from __future__ import annotations

from pathlib import Path

from model.results.calibration import MeasuredCost
from sim.calibration.measure import summarize
from spark_check.micro_batch.calibration import CleanRun, calibrate
from spark_check.micro_batch.checks.prediction import LARGE, run_free


def measure(work: Path) -> tuple[MeasuredCost, ...]:
    """The costs in a run of nine batches; work: a folder that does not exist."""
    _, run = run_free(work, LARGE["full"])
    return costs_of(run)


def costs_of(run: CleanRun) -> tuple[MeasuredCost, ...]:
    """The costs of a run.  The pause between two batches is part of a batch."""
    costs, warm = calibrate(run).costs, run.batches[1:]
    saves = [one.logged - one.planned for one in warm]
    saves += [one.committed - one.written for one in warm]
    line = f"a line through {len(warm)} batches"
    return (
        summarize("costs.storage.latency_s", saves, "Spark: an entry of the offset or commit log"),
        _fitted("costs.service.event_s", costs.event_s, f"an event of a running count, {line}"),
        _fitted("costs.service.item_s", costs.trigger_s + costs.batch_s, f"a batch, {line}"),
        _fitted("detector.restart_s", costs.start_s, "a start, until its first batch is planned"),
    )


def _fitted(key: str, value: float, what: str) -> MeasuredCost:
    return MeasuredCost(key, value, value, value, 1, f"Spark: {what}")
