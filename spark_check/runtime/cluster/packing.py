"""The files that workers receive with a job: our packages, and distributions that they lack.

Rule of this file: it knows no Spark.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from spark_check.runtime.cluster.survey import PACKAGES, our_root

LEFT_OUT = {"__pycache__", "tests", "include", "jars"}
"""Folders of distributions that a worker does not need."""


def pack_ours(path: Path) -> None:
    """Write our packages into a zip file."""
    root = our_root()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for package in PACKAGES:
            for file in sorted((root / package).rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    packed.write(file, file.relative_to(root))


def pack_distributions(names: Iterable[str], path: Path) -> None:
    """Write installed distributions into a zip file, whose root is a folder for sys.path."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name in names:
            for inside, file in _files(name):
                packed.write(file, inside)


def with_requirements(names: Iterable[str]) -> tuple[str, ...]:
    """Installed distributions with all that they require, sorted."""
    found: set[str] = set()
    waiting = [*names]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        try:
            required = distribution(name).requires or []
        except PackageNotFoundError:  # of another system, or optional
            continue
        found.add(name)
        for text in required:
            requirement, _, condition = text.partition(";")
            named = re.match(r"[\w.-]+", requirement)
            if named and "extra" not in condition:
                waiting.append(named[0])
    return tuple(sorted(found))


def _files(name: str) -> Iterator[tuple[str, Path]]:
    """(name in the folder, place on disk) of each file that a worker needs."""
    for entry in distribution(name).files or ():
        if LEFT_OUT.isdisjoint(entry.parts) and ".." not in entry.parts:
            file = Path(str(entry.locate()))
            if file.is_file():
                yield entry.as_posix(), file
