"""One search on Spark: equal to the search of this process, also if processes are killed in it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import psutil
import pytest

from asif.console import levels_on_spark
from engine_check.breakpoints import POLL_S, Breakpoints
from model.levels import LevelWork
from model.machine.children import kill_trees, wait_ended
from model.registry import absolute
from proofs.explore.explorer import explore
from proofs.explore.spread.search import explore_spread
from proofs.explore.spread.work import system_of
from spark_check.runtime.session import BRIEF
from spark_check.runtime.standalone import CONF, standalone
from tests.commands.test_cli import asif
from tests.contract.conftest import HEAD
from tests.contract.test_failing_steps import TEXT
from tests.proofs.test_spread import facts, replayed, steps
from tests.proofs.test_tasks import untimed

pytestmark = pytest.mark.spark

SCOPES = (
    ("uncoordinated", "a relay"),
    ("amnesia", "a pattern, twice"),
    ("two-phase-sink:commit-first", "one event"),
    ("two-phase-sink", "a time-out"),
    ("log-io:replay-arbitrary", "a race and two receivers"),
)
"""Holds; refuted, two crashes; prompt sites; suspects of an endless run; copies of classes."""
KILLED = ("two-phase-sink", "a time-out")


@pytest.fixture(autouse=True)
def _no_java_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)


def compare(start: Any, called: str, scope: str) -> None:
    """Explore here and there, and compare all that is found."""
    system = system_of(called, scope)
    here = explore(system.protocol, system.scope)
    find = partial(system_of, absolute(called), scope)
    there = explore_spread(start, find, system.protocol, system.scope)
    if there.counterexample is not None:
        assert replayed(there.counterexample.trace)
    assert facts(there) == facts(here)


@pytest.mark.exhaustive
def test_spark_finds_what_this_process_finds(tmp_path: Path) -> None:
    with levels_on_spark(tmp_path / "session", "local[2]", BRIEF) as start:
        for called, scope in SCOPES:
            compare(start, called, scope)


@pytest.mark.exhaustive
def test_a_step_that_fails_on_spark_is_a_counterexample(tmp_path: Path) -> None:
    file = tmp_path / "failing.py"
    file.write_text(HEAD + TEXT.format(wrong="raise KeyError('gone')"))
    system = system_of(str(file), "two events")
    here = explore(system.protocol, system.scope)
    find = partial(system_of, str(file), "two events")
    with levels_on_spark(tmp_path / "session", "local[2]", BRIEF) as start:
        there = explore_spread(start, find, system.protocol, system.scope)
    assert here.counterexample
    assert there.counterexample
    assert there.counterexample.property.name == here.counterexample.property.name
    assert steps(there) == steps(here)


@pytest.mark.exhaustive  # `.ci/run` compares the searches that it uses
def test_the_command_spreads_one_scope_over_spark(tmp_path: Path) -> None:
    """The result is that of this process; the folder of levels is gone at the end."""
    results = []
    for place in ([], ["--master", "local[2]"]):
        words = ["amnesia", "--scope", "a join", "--json", "out.json"]
        ran = asif("check", *words, *place, cwd=tmp_path)
        assert ran.returncode == 1, ran.stderr
        found = untimed(json.loads((tmp_path / "out.json").read_text()))
        shown = found["scope"]["counterexample"]  # of several shortest runs, one
        assert shown.pop("story")["moments"]
        assert shown.pop("culprit")["says"]
        results.append(found)
    assert results[0] == results[1]
    assert results[1]["expected"]
    work = tmp_path / "build" / "check" / "_spark"
    assert (work / "spark.log").exists()
    assert not (work / "levels").exists()


# --- losses ----------------------------------------------------------------------------------
def stopping(work: LevelWork[Any], stops: Breakpoints) -> LevelWork[Any]:
    """The work, which stops at breakpoints: a class of here, since the tests are not sent."""

    class Stopping:
        def expand(
            self, news: Sequence[bytes], part: int, blocks: Iterable[bytes]
        ) -> Generator[bytes, None, Any]:
            stops.here("expand")
            return (yield from work.expand(news, part, blocks))

        def split(self, found: bytes, names: bytes, parts: int) -> Iterator[tuple[int, bytes]]:
            yield from work.split(found, names, parts)

        def admit(self, found: Iterable[bytes], seen: Iterable[bytes]) -> Iterator[bytes]:
            stops.here("admit")
            yield from work.admit(found, seen)

        def count(self, block: bytes) -> int:
            return work.count(block)

        def edges(self, *of: Any) -> bytes:
            edges: Any = work
            found: bytes = edges.edges(*of)
            return found

    return Stopping()


def kill_at(
    stops: Breakpoints, over: Event, end: Callable[[int], list[psutil.Process]]
) -> list[psutil.Process]:
    """Wait until a process has stopped, and end it by its id; the processes that end."""
    (place,) = stops.armed
    mark = Path(stops.folder) / f"{place}.stopped"
    while not mark.exists() and not over.is_set():
        time.sleep(POLL_S)
    return end(json.loads(mark.read_text())["pid"])


def lose(start: Any, stops: Breakpoints, end: Callable[[int], list[psutil.Process]]) -> int:
    """Compare while a process is lost; returns the number of processes that ended."""
    over = Event()
    with ThreadPoolExecutor(1) as aside:
        killing = aside.submit(kill_at, stops, over, end)
        try:
            compare(lambda work, first: start(stopping(work, stops), first), *KILLED)
        finally:
            over.set()
        killed = killing.result()
    wait_ended(killed)
    return len(killed)


def kill_python(pid: int) -> list[psutil.Process]:
    process = psutil.Process(pid)
    os.kill(pid, signal.SIGKILL)
    return [process]


@pytest.mark.exhaustive
@pytest.mark.parametrize("place", ["expand", "admit"])
def test_a_lost_python_process_loses_nothing(tmp_path: Path, place: str) -> None:
    stops = Breakpoints(str(tmp_path), {place: 15})
    with levels_on_spark(tmp_path / "session", "local[2,4]", BRIEF) as start:
        assert lose(start, stops, kill_python) == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("place", ["expand", "admit"])
def test_a_lost_worker_of_a_cluster_loses_nothing(tmp_path: Path, place: str) -> None:
    """One of two workers ends with all its processes, and with all that they had found."""
    stops = Breakpoints(str(tmp_path), {place: 15})
    with standalone(tmp_path, workers=2) as cluster:

        def kill_worker(pid: int) -> list[psutil.Process]:
            (worker,) = {*psutil.Process(pid).parents()} & {*cluster.workers}
            return [*kill_trees([worker]).processes]

        with levels_on_spark(tmp_path / "session", cluster.master, {**BRIEF, **CONF}) as start:
            assert lose(start, stops, kill_worker) >= 4
