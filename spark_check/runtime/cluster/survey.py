"""The Python of a worker, as a small task finds it there.

Rule of this file: it imports the standard library alone, since a worker may have nothing else.
"""

from __future__ import annotations

import hashlib
import platform
import sysconfig
import zipfile
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("model", "proofs", "sim", "engine_check", "spark_check", "reports", "asif")
"""The packages that are sent to the workers."""


class WorkerPython(NamedTuple):
    """A Python on a machine.

    version: as in 3.11.7.  machine: system and instruction set.  code: the hash of our packages.
    home: where they are.  versions: of distributions, by name; None: it lacks the distribution.
    """

    host: str
    version: str
    machine: str
    code: str
    home: str
    versions: tuple[tuple[str, str | None], ...]


@lru_cache
def this_python(names: tuple[str, ...]) -> WorkerPython:
    """The Python of this process.  names: of distributions."""
    root = our_root()
    return WorkerPython(
        platform.node(),
        platform.python_version(),
        sysconfig.get_platform(),
        code_hash(root),
        str(root),
        tuple((name, _version(name)) for name in names),
    )


def our_root() -> Path:
    """The folder, or the zip file, of our packages."""
    spec = find_spec(PACKAGES[0])
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent.parent


def code_hash(root: Path) -> str:
    """The hash of all Python files of our packages in a folder or a zip file."""
    found = hashlib.sha256()
    for name, content in sorted(_sources(root)):
        found.update(f"{name}\n{len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()[:16]


def survey(names: tuple[str, ...], _: Sequence[int]) -> Iterator[WorkerPython]:
    """In a worker: its Python, as the rows of a partition."""
    yield this_python(names)


def _sources(root: Path) -> Iterator[tuple[str, bytes]]:
    if root.is_file():
        with zipfile.ZipFile(root) as packed:
            for name in packed.namelist():
                if name.endswith(".py"):
                    yield name, packed.read(name)
        return
    for package in PACKAGES:
        for file in (root / package).rglob("*.py"):
            yield file.relative_to(root).as_posix(), file.read_bytes()


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
