"""Sweeps that the tests crash, and calls that end their process."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from engine_check.breakpoints import Breakpoints
from model.results.table import Row
from sim.sweeps.grid import SweepRun, read
from sim.sweeps.results import carry_out
from spark_check.runtime.parallel_calls import call_all
from spark_check.runtime.session import BRIEF, session

FATAL = {7: signal.SIGKILL, 11: signal.SIGTERM}


def squared(number: int) -> int:
    return number * number


def fatal(number: int) -> int:
    """Some calls end the process in which they run."""
    if number in FATAL:
        os.kill(os.getpid(), FATAL[number])
        time.sleep(60)  # the signal ends this
    return squared(number)


def once_fatal(folder: str, number: int) -> int:
    """One ends it the first time only."""
    if number == 3:
        try:
            (Path(folder) / "ended").touch(exist_ok=False)
            os.kill(os.getpid(), signal.SIGKILL)
        except FileExistsError:
            pass
    return squared(number)


def once_fatal_in_a_file(folder: str, number: int) -> Any:
    """The result is of a type in a file that the call itself loads, as a user's."""
    own = sys.modules.get("own_type")
    if own is None:
        spec = spec_from_file_location("own_type", Path(folder) / "own_type.py")
        assert spec is not None
        assert spec.loader is not None
        own = sys.modules["own_type"] = module_from_spec(spec)
        spec.loader.exec_module(own)
    return own.Own(once_fatal(folder, number))


def noted(folder: str, number: int) -> None:
    """It takes a while and leaves a file behind."""
    time.sleep(0.002)
    (Path(folder) / str(number)).touch()


def raising(number: int) -> int:
    raise ZeroDivisionError(f"at {number}")


def swept(work: Path, settings: Mapping[str, Any], breakpoints: Breakpoints) -> None:
    """The sweep in settings["file"]; breakpoints in the workers before each run, and in the
    driver after each that is kept."""

    def execute(call: Callable[[SweepRun], Row], runs: Sequence[SweepRun]) -> Any:
        with session(work / "spark", conf=BRIEF) as spark:
            yield from call_all(spark, partial(_stopping, call, breakpoints), runs)

    def progress(stage: str, _done: int, _total: int, _: str = "") -> None:
        if stage != "checking":
            breakpoints.here("kept")

    carry_out(read(settings["file"]), work / "out", execute, progress=progress)


def _stopping(call: Callable[[SweepRun], Row], breakpoints: Breakpoints, run: SweepRun) -> Row:
    breakpoints.here("run")
    return call(run)
