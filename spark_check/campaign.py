"""Which checks there are; several, one after the other, gone on with after an interruption.

Rule of this file: it keeps what is done, and knows nothing of what a check does.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import spark_check
from model.errors import Invalid
from spark_check.check import Check, Setting, Tell, result

KEPT = "unfinished.json"


def checks() -> dict[str, Check]:
    """All checks by name: each module in a family's folder `checks` holds one as CHECK."""
    families = (package.name for package in iter_modules(spark_check.__path__) if package.ispkg)
    homes = [f"spark_check.{family}.checks" for family in families]
    packages = [import_module(home) for home in homes if find_spec(home)]
    found = [
        import_module(f"{package.__name__}.{module.name}").CHECK
        for package in packages
        for module in iter_modules(package.__path__)
    ]
    return {check.name: check for check in sorted(found, key=lambda check: check.name)}


def carried_out(
    checks: Sequence[Check],
    folder: Path,
    profile: str,
    version: str,
    progress: Callable[[], AbstractContextManager[Tell]],
) -> Iterator[dict[str, Any]]:
    """The result of each check (as spark_check.check.result), as soon as it is there.

    What a campaign of the same checks, profile and version of the code finished before it was
    interrupted in this folder is not done again.  One check alone is always done.  Raises Invalid
    if the folder cannot be written to.
    """
    asked = {"checks": [one.name for one in checks], "profile": profile, "version": version}
    kept = folder / KEPT
    alone = len(checks) == 1
    done = {} if alone else _read(kept, asked)
    for one in checks:
        if one.name not in done:
            with progress() as tell:
                setting = Setting(_emptied(folder / one.name), profile, tell)
                done[one.name] = result(one, setting)
            if not alone:
                _write(kept, {**asked, "done": done})
        yield done[one.name]
    if not alone:
        kept.unlink(missing_ok=True)


def _emptied(work: Path) -> Path:
    """A folder for runs and logs, which stay there until the next time."""
    try:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
    except OSError as error:
        raise Invalid(f"{work}: cannot be written: {error.strerror}") from error
    return work.resolve()


def _read(kept: Path, asked: Mapping[str, Any]) -> dict[str, Any]:
    try:
        content = json.loads(kept.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return {}
    done: dict[str, Any] = content.pop("done")
    return done if content == asked else {}


def _write(kept: Path, content: Mapping[str, Any]) -> None:
    part = kept.with_suffix(".part")
    part.write_text(json.dumps(content), encoding="utf-8")
    os.replace(part, kept)
