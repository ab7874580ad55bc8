"""All checks, and a campaign: several checks, some at a time, resumed after an interruption.

Rule of this file: it keeps the results of finished checks, and knows nothing of what a check does.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from threading import Event, Lock
from time import perf_counter
from typing import Any

from model.errors import Invalid
from model.progress import Progress
from spark_check.check import CAMPAIGNS, Check, Setting, Tell
from spark_check.check import result as check_result
from spark_check.check_process import Run, Stopped, check_processes
from spark_check.families import family_modules

KEPT = "unfinished.json"


def checks(campaign: str = "full", /) -> dict[str, Check]:
    """All checks of a campaign by name: each module in a family's folder `checks` holds one as
    CHECK."""
    found = [
        import_module(f"{package.__name__}.{module.name}").CHECK
        for package in family_modules("checks")
        for module in iter_modules(package.__path__)
    ]
    until = CAMPAIGNS.index(campaign)
    wanted = [check for check in found if CAMPAIGNS.index(check.campaign) <= until]
    return {check.name: check for check in sorted(wanted, key=lambda check: check.name)}


@contextmanager
def campaign(
    checks: Sequence[Check],
    folder: Path,
    profile: str,
    version: str,
    watch: Progress,
    *,
    at_once: int = 1,
    run: Run | None = None,
) -> Iterator[Iterator[dict[str, Any]]]:
    """A context in which the checks run, some at a time; it holds their results, in order.

    A result is that of spark_check.check.run_check.  A check that ends with an error has it in its
    result, and the others go on.  Leaving the context ends what still runs.  A check that an
    interrupted campaign of the same checks, profile and version of the code has finished in this
    folder is not run again, but for errors.  A single check is always run.  run: runs a check;
    None: in a process that then runs the next one.  Raises Invalid if the folder cannot be written
    to.
    """
    described = {"checks": [one.name for one in checks], "profile": profile, "version": version}
    kept = folder / KEPT
    alone = len(checks) == 1
    done: dict[str, dict[str, Any]] = {} if alone else _read(kept, described)
    stop, failed, writing = Event(), Event(), Lock()

    def result(run: Run, one: Check) -> dict[str, Any]:
        if one.name in done:
            return done[one.name]
        if failed.is_set() or stop.is_set():
            raise Stopped
        tell = _teller(watch, one)
        try:
            setting, started = Setting(_empty(folder / one.name), profile, tell), perf_counter()
            try:
                found = run(one, setting, stop)
            except RuntimeError as error:  # a process, a port, a time limit: not what is checked
                tell("ended with an error", 1, 1)
                why = f"{_last_line(error)} (logs: {setting.work})"
                return check_result(one, setting, started, (), why)
        except BaseException:
            failed.set()  # no other begins; those that run may end
            raise
        tell("done", 1, 1)
        with writing:
            done[one.name] = found
            if not alone:
                _write(kept, {**described, "done": done})
        return found

    processes = check_processes(folder) if run is None else nullcontext(run)
    with processes as call, ThreadPoolExecutor(at_once) as pool:
        try:
            running = [pool.submit(result, call, one) for one in checks]
            yield (future.result() for future in running)
            if not alone and len(done) == len(checks):
                kept.unlink(missing_ok=True)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


def _teller(watch: Progress, check: Check) -> Tell:
    def tell(what: str, done: int, total: int) -> None:
        watch(f"Spark, {check.name}", done, total, what)

    return tell


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


def _read(kept: Path, campaign: Mapping[str, Any]) -> dict[str, Any]:
    try:
        content = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return {}
    done: dict[str, Any] = content.pop("done")
    return done if content == campaign else {}


def _write(kept: Path, content: Mapping[str, Any]) -> None:
    part = kept.with_suffix(".part")
    part.write_text(json.dumps(content), encoding="utf-8")
    os.replace(part, kept)
