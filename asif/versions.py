"""The versions of asif and of its libraries, and the commit of its source.

Rule of this file: nothing is imported to know its version, and no number is asked of a network.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

from model.machine.children import run

PACKAGE = "asif-testbed"
SOURCE = Path(__file__).parents[1]
"""The folder of the packages; with .git, a working copy of the project."""
LIBRARIES: Mapping[str, str] = {
    "Z3": "z3-solver",
    "cvc5": "cvc5",
    "Hypothesis": "hypothesis",
    "Spark": "pyspark",
    "SimPy": "simpy",
    "NumPy": "numpy",
    "pandas": "pandas",
    "PyArrow": "pyarrow",
    "pydantic": "pydantic",
    "typer": "typer",
    "rich": "rich",
}
"""The names of libraries in a sentence, and their packages."""


def commit() -> str | None:
    """The commit that asif was made of, with "-dirty" if files differ; None: not known."""
    if (SOURCE / ".git").exists():
        return _of_working_copy(SOURCE)
    try:
        text = distribution(PACKAGE).read_text("direct_url.json")
        return str(json.loads(text or "{}")["vcs_info"]["commit_id"])[:12]
    except (PackageNotFoundError, KeyError, ValueError):
        return None


def _of_working_copy(folder: Path) -> str | None:
    elsewhere = [f"-u{name}" for name in os.environ if name.startswith("GIT_")]
    words = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    command = ["env", *elsewhere, "git", "--no-optional-locks", "-C", str(folder), *words]
    try:
        ran = run(command, limit_s=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return None if ran.returncode else ran.stdout.strip() or None


def versions() -> dict[str, str]:
    """The version of Python and of each library; "not installed" of one that is missing."""
    found = {"Python": platform.python_version()}
    return found | {name: _version(package) for name, package in LIBRARIES.items()}


def lines() -> Iterator[str]:
    """The lines of `asif --version`."""
    of = commit()
    yield f"asif {_version(PACKAGE)}" + ("" if of is None else f", commit {of}")
    yield from (f"{name} {number}" for name, number in versions().items())
    yield platform.platform()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
