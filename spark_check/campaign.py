"""All checks, and a campaign: several checks, one after the other, resumed after an interruption.

Rule of this file: it keeps the results of finished checks, and knows nothing of what a check does.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from model.errors import Invalid
from spark_check.check import Check, Setting, Tell, run_check
from spark_check.families import family_modules

KEPT = "unfinished.json"


def checks() -> dict[str, Check]:
    """All checks by name: each module in a family's folder `checks` holds one as CHECK."""
    found = [
        import_module(f"{package.__name__}.{module.name}").CHECK
        for package in family_modules("checks")
        for module in iter_modules(package.__path__)
    ]
    return {check.name: check for check in sorted(found, key=lambda check: check.name)}


def run_all(
    checks: Sequence[Check],
    folder: Path,
    profile: str,
    version: str,
    progress: Callable[[], AbstractContextManager[Tell]],
) -> Iterator[dict[str, Any]]:
    """The result of each check (as spark_check.check.run_check), as soon as the check has ended.

    A check that an interrupted campaign of the same checks, profile and version of the code has
    finished in this folder is not run again.  A single check is always run.  Raises Invalid if the
    folder cannot be written to.
    """
    campaign = {"checks": [one.name for one in checks], "profile": profile, "version": version}
    kept = folder / KEPT
    alone = len(checks) == 1
    done = {} if alone else _read(kept, campaign)
    for one in checks:
        if one.name not in done:
            with progress() as tell:
                setting = Setting(_empty(folder / one.name), profile, tell)
                done[one.name] = run_check(one, setting)
            if not alone:
                _write(kept, {**campaign, "done": done})
        yield done[one.name]
    if not alone:
        kept.unlink(missing_ok=True)


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
