"""A check on a cluster: the results are those of this process, also if a worker is killed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import psutil
import pytest

from asif.console import calls_on_spark
from docs.examples import relay
from engine_check.breakpoints import POLL_S, Breakpoints
from model.machine.children import kill_trees, wait_ended
from model.registry import protocols
from model.results.plain import plain
from proofs.explore.tasks import Task, TaskKind, TaskResult, list_tasks, perform
from proofs.explore.verdict import perform_all
from spark_check.runtime.standalone import CONF, Cluster, standalone
from tests.commands.test_cli import asif
from tests.proofs.test_tasks import RELAY, untimed

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def _no_java_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)


def tasks() -> Iterator[Task]:
    """Scopes, attacks and mutants: of a file, and of what is sent to the workers as a zip file."""
    for name, protocol, mutants in (
        (RELAY, relay.PROTOCOL, True),
        ("micro-batch:commit-first", protocols()["micro-batch:commit-first"], False),
    ):
        yield from list_tasks(name, protocol, "quick", walks=None, examples=20, mutants=mutants)
    main = protocols()["micro-batch"]
    yield Task(main.name, TaskKind.MUTANT, main.evidence.mutants[0].name, worlds=0)


@pytest.mark.exhaustive
def test_a_lost_worker_loses_nothing(tmp_path: Path) -> None:
    """One of two workers is killed with all its processes, while it performs a task."""
    breakpoints = Breakpoints(str(tmp_path), {"task": 0})

    def stopping(task: Task) -> TaskResult:  # here, since the tests are not sent
        breakpoints.here("task")
        return perform(task)

    def kill_worker(cluster: Cluster, over: Event) -> list[psutil.Process]:
        mark = tmp_path / "task.stopped"
        while not mark.exists() and not over.is_set():
            time.sleep(POLL_S)
        performing = psutil.Process(json.loads(mark.read_text())["pid"])
        above = set(performing.parents())
        (worker,) = above & set(cluster.workers)
        return [*kill_trees([worker]).processes]

    every = [*tasks()]
    expected = perform_all(perform, every)
    over = Event()
    with standalone(tmp_path, workers=2) as cluster, ThreadPoolExecutor(1) as aside:
        killing = aside.submit(kill_worker, cluster, over)
        try:
            execute = calls_on_spark(tmp_path / "session", cluster.master, CONF, size=1)
            found = perform_all(stopping, every, execute)
        finally:
            over.set()
        killed = killing.result()
        wait_ended(killed)
    assert len(killed) >= 4  # the worker, its executor, Python's daemon and the task
    assert untimed(plain(found)) == untimed(plain(expected))


def test_the_command_checks_on_spark_as_in_this_process(tmp_path: Path) -> None:
    results = []
    for place in (["--workers", "1"], ["--master", "local[2]"]):
        options = ["--mutants", "--examples", "20", "--json", "out.json", *place]
        ran = asif("check", RELAY, *options, cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        results.append(untimed(json.loads((tmp_path / "out.json").read_text())))
    assert results[0] == results[1]
    assert (tmp_path / "build" / "check" / "_spark" / "spark.log").exists()
