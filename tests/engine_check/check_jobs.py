"""Checks without an engine for a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from engine_check import check_process, known_checks
from engine_check.breakpoints import Breakpoints, JsonSettings
from engine_check.check import Check, CheckSetting, engine_case
from model.errors import Invalid
from model.results.engine import EngineCase


def fine(setting: CheckSetting) -> tuple[EngineCase, ...]:
    setting.report("a case", 1, 2)
    while not (setting.work / "received").exists():
        time.sleep(0.01)
    return (engine_case("a case", {"process": os.getpid()}, {"process": os.getpid()}),)


def brief(setting: CheckSetting) -> tuple[EngineCase, ...]:
    return (engine_case("a case", {"process": os.getpid()}, {"process": os.getpid()}),)


def wrong(setting: CheckSetting) -> tuple[EngineCase, ...]:
    return (engine_case("a case", {"rows": 1}, {"rows": 2}),)


def gone(setting: CheckSetting) -> tuple[EngineCase, ...]:
    os._exit(0)


def refused(setting: CheckSetting) -> tuple[EngineCase, ...]:
    raise Invalid("no such thing")


def broken(setting: CheckSetting) -> tuple[EngineCase, ...]:
    raise ZeroDivisionError


def endless(setting: CheckSetting) -> tuple[EngineCase, ...]:
    """It waits for a process that waits for its own end, and reports the number of that."""
    below = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    setting.report("a case", below.pid, below.pid + 1)
    below.wait()
    return ()


def run(work: Path, settings: JsonSettings, breakpoints: Breakpoints) -> None:
    """check_process.run, with these checks."""
    known = {
        one.__name__: Check(one.__name__, "", one)
        for one in (fine, brief, wrong, gone, refused, broken, endless)
    }
    known_checks.checks = lambda *_: known
    check_process.run(work, settings, breakpoints)
