"""Commands on a cluster that loses a worker, an executor or its master: their results are the same.

Where the master's death ends a command, it ends in one line with exit code 2, and the same command
goes on from there with another master.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import psutil
import pytest

from engine_check.breakpoints import POLL_S
from model.machine.children import is_named, kill_trees, tree, wait_ended
from sim.sweeps.results import JOURNAL
from spark_check.runtime.standalone import Cluster, standalone
from tests.commands.test_cli import MAIN
from tests.proofs.test_tasks import RELAY, untimed
from tests.sim.test_sweeps import written

pytestmark = [pytest.mark.spark, pytest.mark.cluster]

SMALL = ("--conf", "spark.executor.memory=512m", "--wait", "60")
END_S = 400
"""A generous limit for a command to come to its end."""
LOGS = Path("docs/examples/logs").resolve()


@pytest.fixture(autouse=True)
def _no_java_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)


# --- commands --------------------------------------------------------------------------------
class Command(NamedTuple):
    """A command.  here: the option with which it does without a cluster.  result: its result, by
    the folder in which it ran.  kept: the file that has a line for each part that is done, below
    its first line, which says whose it is."""

    words: Sequence[str]
    here: Sequence[str]
    result: Callable[[Path], Any]
    kept: str = ""


def of_json(folder: Path) -> Any:
    found: Any = untimed(json.loads((folder / "out.json").read_text()))
    return without(found, {"resumed", "seconds", "states_per_second", "story", "culprit"})


def without(found: Any, names: set[str]) -> Any:
    """The same without these keys, at any depth."""
    if isinstance(found, dict):
        return {key: without(one, names) for key, one in found.items() if key not in names}
    return [without(one, names) for one in found] if isinstance(found, list) else found


def of_sweep(folder: Path) -> Any:
    rows = pd.read_parquet(folder / "out").drop(columns=["seconds", "replay"])
    return rows.sort_values("run").to_csv()


COMMANDS = {
    "sweep": Command(
        ["sweep", "grid.toml", "--out", "out"],
        ["--master", "local[2]"],
        of_sweep,
        f"out/{JOURNAL}",
    ),
    "reproduce": Command(
        ["reproduce", "logio-crossing", "--seeds", "4", "--events", "1000", "--out", "out"],
        [],
        of_json,
        "out/*.jsonl",
    ),
    "check": Command(["check", RELAY, "--mutants", "--examples", "20"], [], of_json),
    "scope": Command(["check", "amnesia", "--scope", "a join"], [], of_json),
    "verify-trace": Command(
        ["verify-trace", str(LOGS / "orders.jsonl"), str(LOGS / "orders-after-crash.jsonl")],
        ["--master", "local[2]"],
        of_json,
    ),
}


class Ran(NamedTuple):
    code: int
    said: str


def begin(folder: Path, words: Sequence[str], out: Path) -> subprocess.Popen[bytes]:
    json_ = [] if words[0] == "sweep" else ["--json", "out.json"]
    with out.open("wb") as said:
        return subprocess.Popen(
            [sys.executable, "-c", MAIN, *words, *json_],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=said,
        )


def finish(process: subprocess.Popen[bytes], out: Path) -> Ran:
    try:
        code = process.wait(END_S)
    finally:
        process.kill()
    return Ran(code, out.read_text())


def undisturbed(command: Command, folder: Path) -> tuple[int, Any]:
    folder.mkdir()
    written(folder)
    out = folder / "said"
    ran = finish(begin(folder, [*command.words, *command.here], out), out)
    return ran.code, command.result(folder)


# --- losses ----------------------------------------------------------------------------------
def executors(cluster: Cluster) -> list[psutil.Process]:
    below = [one for worker in cluster.workers for one in tree(worker)]
    return [one for one in below if _runs(one, "CoarseGrainedExecutorBackend")]


def a_worker(cluster: Cluster) -> psutil.Process:
    (worker,) = {*executors(cluster)[0].parents()} & {*cluster.workers}
    return worker


def the_master(cluster: Cluster) -> psutil.Process:
    of_us = tree(psutil.Process())
    (master,) = [
        one for one in of_us if _runs(one, "deploy.master.Master") and is_named(one, "java")
    ]
    return master


LOSSES: dict[str, Callable[[Cluster], psutil.Process]] = {
    "executor": lambda cluster: executors(cluster)[0],
    "worker": a_worker,
    "master": the_master,
}


def _runs(process: psutil.Process, name: str) -> bool:
    try:
        return any(name in word for word in process.cmdline())
    except psutil.NoSuchProcess:
        return False


def at_work(cluster: Cluster, command: Command, folder: Path) -> bool:
    """Is a part done, or is Python at work below an executor?"""
    if command.kept:
        return any(file.read_bytes().count(b"\n") > 1 for file in folder.glob(command.kept))
    pythons = [one for java in executors(cluster) for one in java.children(recursive=True)]
    return len(pythons) >= 2  # Spark's daemon and a worker


def lose(cluster: Cluster, command: Command, folder: Path, which: str) -> Ran:
    """Run the command on the cluster, and kill a part of it when the command is at work."""
    out = folder / "said"
    process = begin(folder, [*command.words, "--master", cluster.master, *SMALL], out)
    try:
        until = time.monotonic() + END_S
        while process.poll() is None and not at_work(cluster, command, folder):
            assert time.monotonic() < until, out.read_text()
            time.sleep(POLL_S)
        assert process.poll() is None, out.read_text()
        wait_ended(kill_trees([LOSSES[which](cluster)]).processes)
        return finish(process, out)
    finally:
        process.kill()


@pytest.mark.exhaustive  # `.ci/run` kills workers and Spark itself on one machine
@pytest.mark.parametrize("which", LOSSES)
@pytest.mark.parametrize("name", COMMANDS)
def test_a_loss_changes_no_result(name: str, which: str, tmp_path: Path) -> None:
    command = COMMANDS[name]
    expected = undisturbed(command, tmp_path / "here")
    folder = tmp_path / "there"
    folder.mkdir()
    written(folder)
    with standalone(tmp_path / "cluster", workers=2) as cluster:
        ran = lose(cluster, command, folder, which)
    assert "Traceback" not in ran.said
    if which == "master" and ran.code == 2:
        assert len([line for line in ran.said.splitlines() if line.startswith("asif: --")]) == 1
        with standalone(tmp_path / "another", workers=2) as cluster:
            out = folder / "said"
            words = [*command.words, "--master", cluster.master, *SMALL]
            ran = finish(begin(folder, words, out), out)
    assert (ran.code, command.result(folder)) == expected, ran.said
