"""A campaign: several checks, some at a time, resumed after an interruption.

Rule of this file: it keeps the results of finished checks, and knows nothing of what a check does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Event, Lock
from time import perf_counter
from typing import NamedTuple

from engine_check.check import Check, CheckSetting
from engine_check.check import result as check_result
from engine_check.check_process import Run, Stopped, check_processes, process_folder
from engine_check.engine import CheckedEngine
from model.machine.folders import emptied, refuse_foreign
from model.machine.journals import RESUME, Resumption, RunJournal, journal
from model.machine.locks import LOCK, held
from model.progress import Progress
from model.results.engine import EngineCheck
from model.results.plain import plain, read

KEPT = "_unfinished.jsonl"
"""The journal of an interrupted campaign: the result of each check that is finished."""


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
    how: Resumption = RESUME,
) -> Iterator[Iterator[EngineCheck]]:
    """A context in which an engine's checks run, some at a time; it holds their results, in order.

    A result is that of engine_check.check.run_check.  A check that ends with an error has it in its
    result, and the others go on.  Leaving the context ends what still runs.  A check that an
    interrupted campaign of the same checks, profile and version of the code has finished in this
    folder is not run again, but for errors.  A single check is always run.  run: runs a check;
    None: in a process that then runs the next one.  how: the finished checks are opened.  Raises
    Invalid if another process works in the folder, if it cannot be written to, or if it holds
    something under a name that a check needs.
    """
    refuse_foreign(folders_of(checks, folder, at_once))
    key, alone = CampaignKey(tuple(one.name for one in checks), profile, version), len(checks) == 1
    stop, failed, writing = Event(), Event(), Lock()

    def result(kept: RunJournal | None, run: Run, one: Check) -> EngineCheck:
        if kept is not None and (found := _finished(kept, key, one)) is not None:
            return found
        if failed.is_set() or stop.is_set():
            raise Stopped
        try:
            call = partial(_run_until, run, stop)
            found = _result(engine, one, folder, profile, progress, call)
        except BaseException:
            failed.set()  # no other begins; those that run may end
            raise
        if kept is not None and found.error is None:
            with writing:
                kept.add([{"check": one.name, "campaign": plain(key), "result": plain(found)}])
        return found

    file = folder / KEPT
    opened = nullcontext(None) if alone else journal(file, "check", how)
    processes = check_processes(engine, folder) if run is None else nullcontext(run)
    with (
        held(folder / LOCK, str(folder)),
        opened as kept,
        processes as call,
        ThreadPoolExecutor(at_once) as pool,
    ):
        try:
            running = [pool.submit(result, kept, call, one) for one in checks]
            yield (future.result() for future in running)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
            if kept is not None and (not kept.entries or _all_finished(kept, key, checks)):
                file.unlink(missing_ok=True)


def _run_until(run: Run, stop: Event, check: Check, setting: CheckSetting) -> EngineCheck:
    return run(check, setting, stop)


def _result(
    engine: CheckedEngine,
    check: Check,
    folder: Path,
    profile: str,
    progress: Progress,
    run: Callable[[Check, CheckSetting], EngineCheck],
) -> EngineCheck:
    """The result of a check, in an empty folder of its own; with the error, if there was one."""
    report = partial(_report, progress, f"{engine.title}, {check.name}")
    setting, started = CheckSetting(emptied(folder / check.name), profile, report), perf_counter()
    try:
        found = run(check, setting)
    except RuntimeError as error:  # a process, a port, a time limit: not the checked engine
        report("ended with an error", 1, 1)
        why = f"{_last_line(error)} (logs: {setting.work})"
        return check_result(engine, check, setting, started, (), why)
    report("done", 1, 1)
    return found


def _report(progress: Progress, what: str, stage: str, done: int, total: int, _: str = "") -> None:
    """A stage of a check is shown as the part of the check that is under way."""
    progress(what, done, total, stage)


def _last_line(error: Exception) -> str:
    return (str(error).strip() or repr(error)).splitlines()[-1]


def folders_of(checks: Sequence[Check], folder: Path, at_once: int) -> tuple[Path, ...]:
    """The folders of asif's own that a campaign makes: those of its checks and processes."""
    named = (folder / one.name for one in checks)
    return (*named, *(folder / process_folder(number) for number in range(at_once)))


def _all_finished(kept: RunJournal, key: CampaignKey, checks: Sequence[Check]) -> bool:
    return all(_finished(kept, key, one) is not None for one in checks)


def _finished(kept: RunJournal, key: CampaignKey, check: Check) -> EngineCheck | None:
    """The result of a check that the same campaign has finished, if there is one."""
    entry = kept.entries.get(check.name)
    if entry is None or entry["campaign"] != plain(key):  # also an older version's
        return None
    return read(EngineCheck, entry["result"], check.name)
