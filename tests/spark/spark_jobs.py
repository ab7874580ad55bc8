"""Jobs that the tests crash."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine_check.breakpoints import Breakpoints
from engine_check.victim import start
from spark_check.runtime.session import BRIEF, session


def sleeper(work: Path, settings: Mapping[str, Any], breakpoints: Breakpoints) -> None:
    """Ten tasks, a breakpoint in each."""

    def task(number: int) -> int:
        breakpoints.here("task")
        return number

    with session(work, conf=BRIEF) as spark:
        assert spark.sparkContext.parallelize(range(10), 10).map(task).sum() == 45


def nothing(work: Path, settings: Mapping[str, Any], breakpoints: Breakpoints) -> None:
    print("nothing to do", flush=True)


def stopped(work: str) -> None:
    """Start a victim, say so when it has stopped, and wait for the end of the world."""
    with start("tests.spark.spark_jobs:sleeper", Path(work), {}, stop_at={"task": 0}) as victim:
        victim.stopped("task")
        print("stopped", flush=True)
        victim.process.wait()
