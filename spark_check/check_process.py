"""A check in a process of its own, so that several run side by side: each waits between its steps.

Rule of this file: what the two processes exchange; it knows nothing of what a check does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from threading import Event
from typing import Any

from model.errors import Invalid
from spark_check.check import Check, Setting, run_check
from spark_check.runtime.breakpoints import Breakpoints
from spark_check.runtime.victim import Victim, start

JOB = "spark_check.check_process:run"
STATE, RESULT = "state.json", "result.json"
POLL_S = 0.1


class Stopped(Exception):
    """The check was stopped before it ended."""


def run_in_process(check: Check, setting: Setting, stop: Event) -> dict[str, Any]:
    """The result of a registered check, as spark_check.check.run_check.

    The process and all below it end with this call, at the latest when `stop` is set, and also if
    this process is killed.  Raises Invalid if the check does, Stopped after `stop`, RuntimeError if
    the process fails otherwise.
    """
    work = setting.work / "process"
    settings = {"check": check.name, "work": str(setting.work), "profile": setting.profile}
    with start(JOB, work, settings) as process:
        while process.process.poll() is None and not stop.wait(POLL_S):
            _pass_on(work / STATE, setting)
        if stop.is_set():
            raise Stopped
        return _result(process)


def _pass_on(state: Path, setting: Setting) -> None:
    if state.exists():
        setting.tell(*json.loads(state.read_text(encoding="utf-8")))


def _result(process: Victim) -> dict[str, Any]:
    process.finish()
    answer: dict[str, Any] = json.loads((process.work / RESULT).read_text(encoding="utf-8"))
    if "invalid" in answer:
        raise Invalid(answer["invalid"])
    return answer


def run(work: Path, settings: Mapping[str, Any], _breakpoints: Breakpoints) -> None:
    """In the process: run the check, and leave its state and its result as files."""
    from spark_check.campaign import checks

    def tell(what: str, done: int, total: int) -> None:
        _write(work / STATE, [what, done, total])

    setting = Setting(Path(settings["work"]), settings["profile"], tell)
    try:
        result = run_check(checks()[settings["check"]], setting)
    except Invalid as error:
        result = {"invalid": str(error)}
    _write(work / RESULT, result)


def _write(file: Path, content: Any) -> None:
    part = file.with_suffix(".part")
    part.write_text(json.dumps(content), encoding="utf-8")
    os.replace(part, file)
