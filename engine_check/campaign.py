"""A campaign: several checks, some at a time, resumed after an interruption.

Rule of this file: it keeps the results of finished checks, and knows nothing of what a check does.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Event, Lock
from time import perf_counter
from typing import NamedTuple, TypeAlias

from engine_check.check import Check, CheckSetting
from engine_check.check import result as check_result
from engine_check.check_process import Run, Stopped, check_processes
from engine_check.engine import CheckedEngine
from model.errors import Invalid
from model.progress import Progress
from model.results.engine import EngineCheck
from model.results.plain import plain, read

KEPT = "unfinished.json"

Results: TypeAlias = dict[str, EngineCheck]
"""The results of finished checks, by name."""


class CampaignKey(NamedTuple):
    """Campaigns with the same key have the same checks, of the same code."""

    checks: tuple[str, ...]
    profile: str
    version: str


@contextmanager
def campaign(
    engine: CheckedEngine,
    checks: Sequence[Check],
    folder: Path,
    profile: str,
    version: str,
    progress: Progress,
    *,
    at_once: int = 1,
    run: Run | None = None,
) -> Iterator[Iterator[EngineCheck]]:
    """A context in which an engine's checks run, some at a time; it holds their results, in order.

    A result is that of engine_check.check.run_check.  A check that ends with an error has it in its
    result, and the others go on.  Leaving the context ends what still runs.  A check that an
    interrupted campaign of the same checks, profile and version of the code has finished in this
    folder is not run again, but for errors.  A single check is always run.  run: runs a check;
    None: in a process that then runs the next one.  Raises Invalid if the folder cannot be written
    to.
    """
    described = CampaignKey(tuple(one.name for one in checks), profile, version)
    kept, alone = folder / KEPT, len(checks) == 1
    done: Results = {} if alone else _read(kept, described)
    stop, failed, writing = Event(), Event(), Lock()

    def result(run: Run, one: Check) -> EngineCheck:
        if one.name in done:
            return done[one.name]
        if failed.is_set() or stop.is_set():
            raise Stopped
        report = partial(_report, progress, f"{engine.title}, {one.name}")
        try:
            setting = CheckSetting(_empty(folder / one.name), profile, report)
            started = perf_counter()
            try:
                found = run(one, setting, stop)
            except RuntimeError as error:  # a process, a port, a time limit: not what is checked
                report("ended with an error", 1, 1)
                why = f"{_last_line(error)} (logs: {setting.work})"
                return check_result(engine, one, setting, started, (), why)
        except BaseException:
            failed.set()  # no other begins; those that run may end
            raise
        report("done", 1, 1)
        with writing:
            done[one.name] = found
            if not alone:
                _write(kept, described, done)
        return found

    processes = check_processes(engine, folder) if run is None else nullcontext(run)
    with processes as call, ThreadPoolExecutor(at_once) as pool:
        try:
            running = [pool.submit(result, call, one) for one in checks]
            yield (future.result() for future in running)
            if not alone and len(done) == len(checks):
                kept.unlink(missing_ok=True)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def _report(progress: Progress, what: str, stage: str, done: int, total: int, _: str = "") -> None:
    """A stage of a check is shown as the part of the check that is under way."""
    progress(what, done, total, stage)


def _last_line(error: Exception) -> str:
    return (str(error).strip() or repr(error)).splitlines()[-1]


def _empty(work: Path) -> Path:
    """Make an empty folder for runs and logs, which stay there until the next campaign."""
    try:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
    except OSError as error:
        raise Invalid(f"{work}: cannot be written: {error.strerror}") from error
    return work.resolve()


def _read(kept: Path, wanted: CampaignKey) -> Results:
    try:
        content = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return {}
    if content.get("campaign") != plain(wanted):  # also what an older version kept
        return {}
    return read(Results, content["done"], str(kept))


def _write(kept: Path, campaign: CampaignKey, done: Results) -> None:
    part = kept.with_suffix(".part")
    text = json.dumps({"campaign": plain(campaign), "done": plain(done)})
    part.write_text(text, encoding="utf-8")
    os.replace(part, kept)
