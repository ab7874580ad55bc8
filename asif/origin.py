"""The origin of a result: the moment, the commit of the source, the machine, and the versions.

Rule of this file: what is not known is None, and no command fails because of it.
"""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from subprocess import TimeoutExpired

from model.machine import children
from model.results.report import ReportOrigin

PROJECT = Path(__file__).parent.parent
LIBRARIES = {"Z3": "z3-solver", "cvc5": "cvc5", "PySpark": "pyspark", "Hypothesis": "hypothesis"}
"""The packages that decide results, by the name that people know."""
LIMIT_S = 10


def origin() -> ReportOrigin:
    """The origin of a result that is made now."""
    moment = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return ReportOrigin(moment, commit(), machine(), versions())


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that are installed."""
    found = {"Python": platform.python_version()}
    for name, package in LIBRARIES.items():
        try:
            found[name] = version(package)
        except PackageNotFoundError:
            continue
    return found


def commit(project: Path = PROJECT) -> str | None:
    """The commit of the source, with "+" behind it if files have changed since; None: not known.

    The source of an installation lies in no repository, or in one of the user's: not known.
    """
    top = _git(project, "rev-parse", "--show-toplevel")
    if top is None or not os.path.samefile(top, project):
        return None
    found = _git(project, "rev-parse", "--short=12", "HEAD")
    if not found:
        return None
    changed = _git(project, "status", "--porcelain", "--untracked-files=no")
    return found + "+" * bool(changed)


def machine() -> str:
    """The system, the processor and the memory in words."""
    import psutil

    cores = f"{psutil.cpu_count() or 1} cores"
    memory = f"{psutil.virtual_memory().total / 2**30:.1f} GiB"
    return f"{platform.system()} {platform.release()}, {platform.machine()}, {cores}, {memory}"


def _git(project: Path, *words: str) -> str | None:
    """The output of git in that folder; None where it has no answer."""
    try:
        ended = children.run(["git", "-C", str(project), *words], limit_s=LIMIT_S)
    except (OSError, TimeoutExpired):
        return None
    return ended.stdout.strip() if ended.returncode == 0 else None
