"""Checks in processes of their own, so that several run side by side: each waits between its steps.

Rule of this file: what two processes exchange; it knows nothing of what a check does.

A process runs one check after the other, and they share what their engine lets them: Spark's Java
starts once.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from threading import Event, Lock
from typing import Any, TypeAlias

from engine_check import known_checks
from engine_check.breakpoints import Breakpoints, JsonSettings
from engine_check.check import Check, CheckSetting, run_check
from engine_check.engine import CheckedEngine, engine_in
from engine_check.victim import Victim, start
from model.errors import Invalid
from model.machine.folders import emptied
from model.results.engine import EngineCheck
from model.results.plain import plain, read

JOB = "engine_check.check_process:run"
POLL_S = 0.1

Run: TypeAlias = Callable[[Check, CheckSetting, Event], EngineCheck]
"""Runs a check: a result of engine_check.check.run_check.  Raises Stopped if the event is set
before the check has ended."""


def process_folder(number: int) -> str:
    """The name of the folder of a process that runs checks; numbers begin with 0."""
    return f"process-{number}"


class Stopped(Exception):
    """The check was stopped before it ended."""


@contextmanager
def check_processes(engine: CheckedEngine, folder: Path) -> Iterator[Run]:
    """A function that runs an engine's checks, in as many processes as it is called at once.

    The processes and all below them end with the context, a check's process at the latest when its
    `stop` is set, and all of them also if this process is killed.  folder: of their output.  Of
    the function: raises Invalid if the check does, RuntimeError if its process fails otherwise.
    """
    numbers, idle, starting = count(), list[_CheckProcess](), Lock()
    words = {"engine": engine.package}
    with ExitStack() as running:

        def run(check: Check, setting: CheckSetting, stop: Event) -> EngineCheck:
            with starting:
                one = idle.pop() if idle else None
                if one is None:
                    work = emptied(folder / process_folder(next(numbers)))
                    one = _CheckProcess(running.enter_context(start(JOB, work, words)))
            found = one.run(check, setting, stop)
            idle.append(one)
            return found

        yield run


class _CheckProcess:
    """The process, as the one that started it sees it."""

    def __init__(self, victim: Victim) -> None:
        self._victim, self._numbers = victim, count()

    def run(self, check: Check, setting: CheckSetting, stop: Event) -> EngineCheck:
        order, state, result = _files(self._victim.work, next(self._numbers))
        words = {"check": check.name, "work": str(setting.work), "profile": setting.profile}
        _write(order, words)
        while not result.exists():
            if stop.wait(POLL_S):
                self._victim.kill()
                raise Stopped
            if self._victim.process.poll() is not None:
                self._victim.finish()
                raise RuntimeError(f"{check.name}: the process ended without a result")
            if state.exists():
                setting.report(*json.loads(state.read_text(encoding="utf-8")))
        answer = json.loads(result.read_text(encoding="utf-8"))
        if "invalid" in answer:
            raise Invalid(answer["invalid"])
        return read(EngineCheck, answer, check.name)


# --- in the process ----------------------------------------------------------------------------
def run(work: Path, settings: JsonSettings, _breakpoints: Breakpoints) -> None:
    """Run the ordered checks, one by one, and leave its state and its result as files."""
    engine = engine_in(settings["engine"])
    known = known_checks.checks(engine)
    with engine.shared() as shared:
        for number in count():
            order, state, result = _files(work, number)
            while not order.exists():
                time.sleep(POLL_S)
            words = json.loads(order.read_text(encoding="utf-8"))

            report = partial(_write_state, state)
            setting = CheckSetting(Path(words["work"]), words["profile"], report, shared)
            try:
                found = plain(run_check(engine, known[words["check"]], setting))
            except Invalid as error:
                found = {"invalid": str(error)}
            _write(result, found)


def _files(work: Path, number: int) -> tuple[Path, Path, Path]:
    """Of the order, the state and the result of a check."""
    order, state, result = (work / f"{what}-{number}.json" for what in ("order", "state", "result"))
    return order, state, result


def _write_state(file: Path, stage: str, done: int, total: int, _: str = "") -> None:
    _write(file, [stage, done, total])


def _write(file: Path, content: Any) -> None:
    part = file.with_suffix(".part")
    part.write_text(json.dumps(content), encoding="utf-8")
    os.replace(part, file)
