"""Checks without Spark for a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from model.errors import Invalid
from spark_check import campaign, check_process
from spark_check.check import Case, Check, Setting
from spark_check.runtime.breakpoints import Breakpoints


def fine(setting: Setting) -> tuple[Case, ...]:
    setting.tell("a case", 1, 2)
    while not (setting.work / "received").exists():
        time.sleep(0.01)
    return (Case("a case", {"process": os.getpid()}, {"process": os.getpid()}),)


def brief(setting: Setting) -> tuple[Case, ...]:
    return (Case("a case", {"process": os.getpid()}, {"process": os.getpid()}),)


def gone(setting: Setting) -> tuple[Case, ...]:
    os._exit(0)


def refused(setting: Setting) -> tuple[Case, ...]:
    raise Invalid("no such thing")


def broken(setting: Setting) -> tuple[Case, ...]:
    raise ZeroDivisionError


def endless(setting: Setting) -> tuple[Case, ...]:
    """It waits for a process that waits for its own end, and reports the number of that."""
    below = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    setting.tell("a case", below.pid, below.pid + 1)
    below.wait()
    return ()


def run(work: Path, settings: Mapping[str, Any], breakpoints: Breakpoints) -> None:
    """check_process.run, with these checks."""
    known = {
        one.__name__: Check(one.__name__, "", one)
        for one in (fine, brief, gone, refused, broken, endless)
    }
    campaign.checks = lambda _profile="full": known
    check_process.run(work, settings, breakpoints)
