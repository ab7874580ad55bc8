"""The checks on Spark: which there are, and how a campaign of them ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

from engine_check.check import CAMPAIGNS
from engine_check.known_checks import checks
from model.machine.children import wait_ended
from spark_check.engine import ENGINE


def test_the_quick_profile_has_a_check_of_each_family() -> None:
    reported, quick, every = map(partial(checks, ENGINE), CAMPAIGNS)
    assert {one.family for one in quick.values()} == {one.family for one in every.values()}
    assert reported.keys() < quick.keys() < every.keys()
    assert all(one.campaign == "full" for one in every.values() if one.name not in quick)


@pytest.mark.spark
@pytest.mark.parametrize("to_all", [True, False], ids=["a terminal", "kill -INT"])
def test_ctrl_c_ends_all_processes_and_says_how_to_go_on(to_all: bool, tmp_path: Path) -> None:
    """To the whole group of processes, as a terminal sends it, or to the command alone."""
    with subprocess.Popen(
        [sys.executable, "-m", "asif", "spark", "--all", "--out", str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as command:
        while command.poll() is None and len([*tmp_path.glob("process-*/said.log")]) < 2:
            time.sleep(0.05)
        below = psutil.Process(command.pid).children(recursive=True)
        (os.killpg if to_all else os.kill)(command.pid, signal.SIGINT)
        _, said = command.communicate(timeout=120)
    assert command.returncode == 130, said
    assert "interrupted; the same command goes on from there" in said
    assert "Traceback" not in said, said
    assert below
    wait_ended(below)
