"""Spark starts anywhere and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pyspark
import pytest

from engine_check.breakpoints import POLL_S, Breakpoints
from engine_check.victim import JobEnded, start
from model.errors import Invalid
from model.machine.children import is_named, tree, wait_ended
from spark_check.runtime import java
from spark_check.runtime.crash_kinds import CrashKind, kill_kind
from spark_check.runtime.jvm import Jvm
from spark_check.runtime.session import BRIEF, keep_ctrl_c, session
from spark_check.runtime.standalone import CONF, standalone
from tests.children import children

JOB = "tests.spark.spark_jobs:sleeper"


def test_a_java_home_without_java_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    with pytest.raises(Invalid, match=r"bin/java cannot be run \(No such file.*unset it"):
        java.java_home(tmp_path)


@pytest.mark.parametrize(
    ("says", "complaint"),
    [
        ('openjdk version "11.0.2" 2019-01-15', "holds Java 11, and Spark needs 17"),
        ('java version "1.8.0_202"', "holds Java 8"),
        ("coffee", "names no version"),
    ],
)
def test_a_wrong_java_is_refused(
    says: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = _java(tmp_path / "home", says)
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(Invalid, match=complaint):
        java.java_home(tmp_path)


def test_a_newer_java_in_java_home_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = _java(tmp_path / "home", 'openjdk version "21.0.1" 2023-10-17')
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java.java_home(tmp_path) == home


def test_the_packaged_java_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert java.version(java.java_home(tmp_path / "a b")) >= java.OLDEST


def test_a_process_that_starts_meanwhile_sees_the_whole_wrapper(tmp_path: Path) -> None:
    wrapper = java.java_home(tmp_path) / "bin" / "java"
    seen = {wrapper.read_text()}
    with ThreadPoolExecutor(1) as aside:
        unpacking = aside.submit(lambda: [java.java_home(tmp_path) for _ in range(500)])
        while not unpacking.done():
            seen.add(wrapper.read_text())
    assert len(seen) == 1
    assert [*wrapper.parent.iterdir()] == [wrapper]


@pytest.mark.parametrize(
    ("master", "complaint"),
    [
        ("spark://127.0.0.1:9", "nobody answers there"),
        ("spark://127.0.0.1:port", "nobody answers there"),
        ("mesos://127.0.0.1:5050", r"Spark knows local\[n\]"),
        ("local[x]", r"Spark knows local\[n\]"),
    ],
)
def test_an_unreachable_master_is_reported(master: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=complaint), session(tmp_path, master=master):
        pass


def test_an_occupied_port_is_reported(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = {"spark.driver.port": str(other.getsockname()[1])}
        with (
            pytest.raises(Invalid, match=r"the port cannot be used \(Address already in use\)"),
            session(tmp_path, conf=taken),
        ):
            pass


def test_a_breakpoint_stops_once_and_lets_others_pass(tmp_path: Path) -> None:
    breakpoints = Breakpoints(str(tmp_path), {"there": 2})
    (tmp_path / "there.go").touch()
    for _ in range(5):
        breakpoints.here("elsewhere")
        breakpoints.here("there")
    assert (tmp_path / "there.stopped").exists()
    assert {p.name for p in tmp_path.glob("there.[0-9]")} == {"there.0", "there.1", "there.2"}


def test_ctrl_c_in_a_finalizer_is_not_lost() -> None:
    class Proxy:
        pass

    def finalizer(_reference: object) -> None:
        signal.raise_signal(signal.SIGINT)
        for _ in range(1000):  # where Python looks for signals
            pass

    def work() -> None:
        proxy = Proxy()
        watched = weakref.ref(proxy, finalizer)
        del proxy
        assert watched() is None
        threading.Event().wait(60)

    with keep_ctrl_c(), pytest.raises(KeyboardInterrupt):
        work()


@pytest.mark.spark
@pytest.mark.exhaustive  # `.ci/run` has sessions that share a JVM, and leave nothing
def test_two_sessions_one_after_the_other_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    before = children()
    for _ in range(2):
        with session(tmp_path, conf=BRIEF) as spark:
            assert "JAVA_HOME" not in os.environ  # what starts meanwhile knows the packaged Java
            assert spark.sparkContext.parallelize([1, 2, 3], 2).map(lambda x: x * x).sum() == 14
            assert children() > before
        assert children() == before


@pytest.mark.spark
def test_sessions_share_a_jvm_that_ends_with_its_block(tmp_path: Path) -> None:
    """Each has its own log and settings; one that needs a Java started otherwise has another."""
    before = children()
    with Jvm() as jvm:
        kept: set[int] = set()
        for number in range(2):
            work, conf = tmp_path / str(number), {**BRIEF, "spark.sql.ansi.enabled": "false"}
            with session(work, conf=conf if number else BRIEF, level="info", jvm=jvm) as spark:
                assert spark.sparkContext.parallelize([1, 2], 2).sum() == 3
                assert spark.conf.get("spark.sql.ansi.enabled") == ("false" if number else "true")
                java_ = _javas() - before
            assert "Submitted application: asif" in (work / "spark.log").read_text()
            assert kept in (set(), java_)
            kept = java_
            assert _left(before | kept) == before | kept
        with session(tmp_path / "other", conf={"spark.driver.memory": "512m"}, jvm=jvm):
            assert _javas() - before > kept
        assert _left(before | kept) == before | kept
        with session(tmp_path / "2", conf=BRIEF, jvm=jvm):
            assert _javas() - before == kept
    assert children() == before


@pytest.mark.spark
def test_a_jvm_that_was_killed_is_started_again(tmp_path: Path) -> None:
    before = _javas()
    with Jvm() as jvm:
        for number in range(2):
            with session(tmp_path / str(number), conf=BRIEF, jvm=jvm) as spark:
                assert spark.range(3).count() == 3
            killed = [psutil.Process(pid) for pid in _javas() - before]
            assert len(killed) == 1
            killed[0].kill()
            killed[0].wait()  # a zombie still has threads that end


@pytest.mark.spark
def test_an_exception_ends_a_shared_jvm_and_the_next_session_starts_one(tmp_path: Path) -> None:
    before = _javas()
    with Jvm() as jvm:
        for number, error in enumerate((ValueError, KeyboardInterrupt)):
            with pytest.raises(error), session(tmp_path / str(number), conf=BRIEF, jvm=jvm):
                raise error
            assert _javas() == before
        with session(tmp_path / "2", conf=BRIEF, jvm=jvm) as spark:
            assert spark.range(3).count() == 3


@pytest.mark.spark
def test_workers_import_the_installed_pyspark(tmp_path: Path) -> None:
    """Not the packed copy in Spark's home, which each worker compiles anew."""

    def home_of_pyspark(_: int) -> str:
        import pyspark

        return str(pyspark.__file__)

    with session(tmp_path, conf=BRIEF) as spark:
        (home,) = spark.sparkContext.parallelize([1], 1).map(home_of_pyspark).collect()
    assert home == pyspark.__file__


@pytest.mark.spark
@pytest.mark.exhaustive  # `.ci/run` looks at what is sent
def test_a_cluster_is_sent_the_packages(tmp_path: Path) -> None:
    """A standalone master and worker of their own, which start in another folder."""

    def home_of_the_model(_: int) -> str:  # here, since the tests are not sent
        import model

        return str(model.__file__)

    with (
        standalone(tmp_path) as cluster,
        session(tmp_path / "session", master=cluster.master, conf=CONF) as spark,
    ):
        (home,) = spark.sparkContext.parallelize([1], 1).map(home_of_the_model).collect()
    assert "asif.zip" in home


@pytest.mark.spark
def test_an_exception_ends_the_jvm(tmp_path: Path) -> None:
    before = children()
    with pytest.raises(KeyboardInterrupt), session(tmp_path):
        raise KeyboardInterrupt
    assert children() == before


@pytest.mark.spark
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGKILL,
        *(
            pytest.param(one, marks=pytest.mark.exhaustive)
            for one in (signal.SIGINT, signal.SIGTERM)
        ),
    ],
)
def test_a_signal_to_the_parent_ends_all_of_its_processes(number: int, tmp_path: Path) -> None:
    code = "import sys; from tests.spark.spark_jobs import stopped; stopped(sys.argv[1])"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline().strip() == b"stopped"
        family = tree(psutil.Process(parent.pid))[1:]
        assert any(is_named(process, "java") for process in family)
        assert len(family) >= 4  # the job, its JVM, Spark's daemon and a worker
        os.kill(parent.pid, number)
        wait_ended(family, timeout_s=60)


@pytest.mark.spark
@pytest.mark.parametrize(
    "kind",
    [
        CrashKind.TREE,  # `.ci/run` checks them all: crash-kinds
        *(
            pytest.param(kind, marks=pytest.mark.exhaustive)
            for kind in (CrashKind.DRIVER, CrashKind.JVM, CrashKind.WORKER)
        ),
    ],
)
def test_each_kind_of_crash_ends_the_job(kind: CrashKind, tmp_path: Path) -> None:
    with start(JOB, tmp_path, {}, stop_at={"task": 1}) as victim:
        kill_kind(victim, kind, victim.stopped("task"))
        assert victim.join() != 0


@pytest.mark.spark
def test_a_job_that_ends_too_early_is_reported(tmp_path: Path) -> None:
    with (
        start("tests.spark.spark_jobs:nothing", tmp_path, {}, stop_at={"task": 0}) as victim,
        pytest.raises(JobEnded, match="nothing to do"),
    ):
        victim.stopped("task")


def _java(home: Path, says: str) -> Path:
    java_ = home / "bin" / "java"
    java_.parent.mkdir(parents=True)
    java_.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    java_.chmod(0o755)
    return home


def _left(expected: set[int]) -> set[int]:
    """The processes below this one, as soon as they are these, or after a minute: a Java that is
    kept does not wait for the Python daemon that it ends."""
    until = time.monotonic() + 60
    while (found := children()) != expected and time.monotonic() < until:
        time.sleep(POLL_S)
    return found


def _javas() -> set[int]:
    return {process.pid for process in tree(psutil.Process()) if is_named(process, "java")}


@pytest.fixture(autouse=True)
def _no_java_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
