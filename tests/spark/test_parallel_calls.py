"""Sweeps on Spark: any process may be killed, the table is that of an undisturbed sweep."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from engine_check.victim import start
from model.errors import Invalid
from model.machine.children import wait_ended
from sim.sweeps.results import JOURNAL
from spark_check.runtime import parallel_calls as spark_sweep
from spark_check.runtime.crash_kinds import CrashKind, kill_kind
from spark_check.runtime.jvm import Jvm
from spark_check.runtime.parallel_calls import call_all
from spark_check.runtime.session import BRIEF, session
from tests.commands.test_cli import asif
from tests.sim.test_sweeps import SWEEP, swept_table, written
from tests.spark.sweep_jobs import (
    FATAL,
    fatal,
    noted,
    once_fatal,
    once_fatal_in_a_file,
    raising,
    squared,
)

pytestmark = pytest.mark.spark
JOB = "tests.spark.sweep_jobs:swept"
COUNT = 40


@pytest.fixture(autouse=True, scope="module")
def _no_java_home() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("JAVA_HOME", raising=False)
        yield


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory, jvm: Jvm) -> Iterator[SparkSession]:
    with session(tmp_path_factory.mktemp("spark"), conf=BRIEF, jvm=jvm) as started:
        yield started


def flat(parts: Iterator[Any]) -> list[Any]:
    return [ended for part in parts for ended in part]


# --- calls -----------------------------------------------------------------------------------
@pytest.mark.parametrize("count", [0, 1, 3, COUNT])
def test_every_call_has_its_result_once(count: int, spark: SparkSession) -> None:
    found = flat(call_all(spark, squared, range(count)))
    assert sorted(found) == [(number, number * number, "") for number in range(count)]


def test_short_calls_share_tasks_and_long_ones_do_not(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tasks(size: int | None = None) -> int:
        before = _ended(spark)
        flat(call_all(spark, squared, range(COUNT), size))
        return _ended(spark) - before

    cores = spark.sparkContext.defaultParallelism
    assert tasks() <= cores + cores * spark_sweep.TASKS_A_CORE
    assert tasks(size=1) == COUNT
    monkeypatch.setattr(spark_sweep, "TASK_S", 0.0)
    assert tasks() == COUNT


@pytest.mark.parametrize("cores", [1, 2, 7])
@pytest.mark.parametrize("size", [1, 3, 50])
@pytest.mark.parametrize("count", [0, 1, 6, 100])
def test_cores_get_equal_shares(count: int, size: int, cores: int) -> None:
    tasks = spark_sweep._split(range(count), size, cores)
    assert [number for task in tasks for number in task] == [*range(count)]
    sizes = {len(task) for task in tasks}
    assert not sizes or 1 <= min(sizes) <= max(sizes) <= min(size, min(sizes) + 1)
    assert len(tasks) % cores == 0 or sizes == {1}
    shares = [sum(map(len, tasks[core::cores])) for core in range(cores)]
    assert max(shares) <= min(shares) + 1


def test_a_call_that_ends_its_process_ends_no_other(spark: SparkSession) -> None:
    found = sorted(flat(call_all(spark, fatal, range(COUNT))))
    died = {number: why for number, result, why in found if result is None}
    assert died.keys() == FATAL.keys()
    assert all(f"ended by {FATAL[number].name}" in why for number, why in died.items())
    assert [number for number, _, _ in found] == [*range(COUNT)]
    assert all(result == number * number for number, result, _ in found if number not in died)


def test_a_call_whose_process_was_ended_from_outside_is_called_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    found = flat(call_all(spark, partial(once_fatal, str(tmp_path)), range(COUNT)))
    assert (tmp_path / "ended").exists()
    assert sorted(found) == [(number, number * number, "") for number in range(COUNT)]


def test_a_process_of_its_own_returns_a_type_of_a_user_s_file(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a loss, a worker passes on a result whose type it has never loaded."""
    (tmp_path / "own_type.py").write_text("class Own(int):\n    pass\n")
    monkeypatch.setitem(sys.modules, "own_type", None)  # forgotten afterwards
    monkeypatch.delitem(sys.modules, "own_type")
    assert once_fatal_in_a_file(str(tmp_path), 0) == 0
    found = flat(call_all(spark, partial(once_fatal_in_a_file, str(tmp_path)), range(COUNT)))
    assert (tmp_path / "ended").exists()
    assert sorted(found) == [(number, number * number, "") for number in range(COUNT)]


def test_a_call_that_raises_is_no_crash(spark: SparkSession) -> None:
    with pytest.raises(RuntimeError, match="raising"):
        flat(call_all(spark, raising, range(3)))


def test_a_caller_that_stops_early_ends_the_job(spark: SparkSession, tmp_path: Path) -> None:
    some = call_all(spark, partial(noted, str(tmp_path)), range(5000))
    while len(next(some)) < 10:  # past those that show how long a call takes
        pass
    some.close()
    assert flat(call_all(spark, squared, [3])) == [(0, 9, "")]
    assert 10 < len(list(tmp_path.iterdir())) < 5000


def test_a_spark_that_ends_between_two_jobs_is_reported(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a job asks of Spark first."""
    jobs: list[int] = []

    def ended(*_: Any, **__: Any) -> None:
        jobs.append(len(jobs))
        if len(jobs) > 1:
            raise Py4JError("An error occurred while calling o31.sc")

    monkeypatch.setattr(SparkContext, "setJobGroup", ended)
    with pytest.raises(Invalid, match="Spark ended before its work did"):
        flat(call_all(spark, squared, range(5000)))
    assert len(jobs) == 2


@pytest.mark.slow
def test_a_spark_that_ends_is_reported_in_a_line(tmp_path: Path) -> None:
    """Nobody else may have a session in this process, so in a child."""
    code = (
        "import os, sys, time, pathlib\n"
        "from spark_check.runtime.session import session\n"
        "from spark_check.runtime.parallel_calls import call_all\n"
        "with session(pathlib.Path(sys.argv[1])) as spark:\n"
        "    for found in call_all(spark, time.sleep, [0.01] * 1000):\n"
        "        spark.sparkContext._gateway.proc.kill()\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert f"{Invalid.__module__}.Invalid: Spark ended before its work did" in ran.stderr


# --- sweeps ----------------------------------------------------------------------------------
KILLS = (
    ("run", 2, CrashKind.TREE),
    ("kept", 2, CrashKind.DRIVER),
    ("run", 3, CrashKind.JVM),
)
"""Where, after how many runs that pass there, and what is killed."""


def rows_of(journal: Path) -> int:
    """The rows that are kept: the first line is the mark of asif."""
    return max(0, journal.read_text().count("\n") - 1)


@pytest.mark.exhaustive  # `.ci/run` stops a sweep on Spark by Ctrl-C, and ends its Spark
@pytest.mark.parametrize("kills", [KILLS[1:2], KILLS])
def test_a_sweep_killed_again_and_again_has_the_table_of_an_undisturbed_one(
    kills: tuple[tuple[str, int, CrashKind], ...], tmp_path: Path
) -> None:
    """Kills of the machine, of the driver after a row was kept, of Spark, and of a worker, which
    the last session survives."""
    sweep = written(tmp_path)
    undisturbed = swept_table(sweep, tmp_path / "undisturbed")
    job = {"file": str(tmp_path / "grid.toml")}
    kept = [0]
    for place, passed, kind in kills:
        with start(JOB, tmp_path, job, stop_at={place: passed}) as victim:
            kill_kind(victim, kind, victim.stopped(place))
            assert victim.join() != 0
        kept.append(rows_of(tmp_path / "out" / JOURNAL))
        assert len(pd.read_parquet(tmp_path / "out")) <= kept[-1]
    assert kept == sorted(kept)
    assert 0 < kept[-1] < len(undisturbed)  # something was kept, and something is left
    with start(JOB, tmp_path, job, stop_at={"run": 0}) as victim:
        kill_kind(victim, CrashKind.WORKER, victim.stopped("run"))
        assert victim.join() == 0, victim.said()
    found = pd.read_parquet(tmp_path / "out").drop(columns="seconds")
    pd.testing.assert_frame_equal(found, undisturbed)
    assert rows_of(tmp_path / "out" / JOURNAL) == len(undisturbed)


def test_the_command_sweeps_sums_up_and_draws(tmp_path: Path) -> None:
    """Also where runs fail, whose own commands show why; and what is done is not done again."""
    sweep = written(tmp_path, SWEEP.replace("[20, 40]", "[20, 200]\nstream.events = [200, 40]"))
    options = ["--out", "out", "--master", "local[2]", "--json", "out.json"]
    ran = asif("sweep", "grid.toml", *options, "--summary", "--plot", "grid.png", cwd=tmp_path)
    assert ran.returncode == 1, ran.stderr
    assert "grid: 24 runs in" in ran.stdout
    assert "18 as if nothing had failed, " in ran.stdout
    assert "6 FAILED, see the columns error and replay" in ran.stdout
    assert (tmp_path / "grid.png").read_bytes().startswith(b"\x89PNG")
    groups = json.loads((tmp_path / "out.json").read_text())["summary"]["groups"]
    assert [group["failed"] for group in groups] == [0, 0, 0, 3] * 2

    found = pd.read_parquet(tmp_path / "out").drop(columns="seconds")
    undisturbed = swept_table(sweep, tmp_path / "here")
    different = ["replay", "error"]  # these name the file as it was called
    pd.testing.assert_frame_equal(
        found.drop(columns=different), undisturbed.drop(columns=different)
    )
    bad = found[found["error"].notna()].iloc[0]
    replayed = asif(*shlex.split(bad["replay"])[1:], cwd=tmp_path)
    assert replayed.returncode == 2
    assert "match: window = 200 is longer than the run" in replayed.stderr
    assert "match: window = 200 is longer than the run" in bad["error"]

    written(tmp_path, SWEEP.replace("[20, 40]", "[20]\nstream.events = [200]"))
    again = asif("sweep", "grid.toml", *options, "--master", "spark://127.0.0.1:9", cwd=tmp_path)
    assert again.returncode == 0, again.stderr  # nothing to do, and so no Spark
    assert "6 of them done before, 18 others (" in again.stdout
    assert len(pd.read_parquet(tmp_path / "out")) == 6


def test_ctrl_c_ends_with_130_and_keeps_what_is_done(tmp_path: Path) -> None:
    """To the whole group of processes, as a terminal sends it."""
    written(tmp_path, SWEEP.replace("to = 3", "to = 1000"))
    command = ["sweep", "grid.toml", "--master", "local[2]", "--out", "out"]
    code = "from asif.cli import main; main()"
    with subprocess.Popen(
        [sys.executable, "-c", code, *command],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        journal = tmp_path / "out" / JOURNAL
        while process.poll() is None and not (journal.exists() and rows_of(journal)):
            time.sleep(0.05)
        family = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=120)
        assert process.returncode == 130, said
    assert "interrupted; the same command goes on from there" in said
    assert "Traceback" not in said, said
    wait_ended(family, timeout_s=60)
    rows = pd.read_parquet(tmp_path / "out")
    assert 0 < len(rows) < 4_000
    assert len(rows) == rows_of(journal)
    assert rows["error"].isna().all()


def _ended(spark: SparkSession) -> int:
    """Tasks that ended so far."""
    tracker = spark.sparkContext.statusTracker()
    jobs = tracker.getJobIdsForGroup(spark_sweep.GROUP)
    stages = [stage for job in jobs for stage in getattr(tracker.getJobInfo(job), "stageIds", ())]
    return sum(getattr(tracker.getStageInfo(s), "numCompletedTasks", 0) for s in stages)
