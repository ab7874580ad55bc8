"""The folder of a search on disk: its manifest, its files, and the reasons to refuse a folder.

Rule of this file: no world is read.  A file is removed only in a folder of asif's own
(model.machine.folders), and only if it has the name of a run.

`search.json` is the manifest: a line, and its CRC-32.  Each complete level L has worlds in the
order in which they were found (`level-L.worlds`), the place of each one's parent in the level
before (`level-L.parents`), and the same worlds sorted (`level-L.sorted`).  `tables-L.npz` has the
numbers that the tables gave.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import model
import proofs.explore
from model.errors import Invalid
from model.machine.folders import claimed, emptied

MANIFEST = "search.json"
NOTE = "a search of asif that spills"


class Searched(NamedTuple):
    """The things that a folder's search is about."""

    protocol: str
    scope: str
    version: str


class SavedLevel(NamedTuple):
    """A complete level: the number of its worlds, and the bits of their fields."""

    worlds: int
    bits: tuple[int, ...]


class SavedSearch(NamedTuple):
    """The state of a search after its last complete level.

    violation: the number of the first world that violates a property; -1: none.  sizes: of the
    tables (LevelBuffer.sizes).  checksum: the CRC-32 of the file of the tables.
    """

    levels: tuple[SavedLevel, ...] = ()
    violation: int = -1
    sizes: tuple[int, ...] = ()
    checksum: int = 0


def about(protocol: str, scope: str, file: Path | None = None) -> Searched:
    """The search of a scope of a protocol, with the code as it is.

    file: of the protocol, if it is none of asif's.  A file that this one imports is not looked at.
    """
    return Searched(protocol, scope, _version(file))


@lru_cache
def _version(file: Path | None) -> str:
    """The version of the distribution, and of the code that is searched or searches."""
    digest = hashlib.sha256(file.read_bytes() if file else b"")
    for package in (model, proofs.explore):
        root = Path(package.__path__[0])
        for source in sorted(root.rglob("*.py")):
            digest.update(f"{source.relative_to(root)}\n".encode() + source.read_bytes())
    return f"{metadata.version('asif-testbed')}+{digest.hexdigest()[:8]}"


class SpillFolder:
    """A folder that holds one search, or will."""

    def __init__(self, path: Path, search: Searched, *, fresh: bool = False) -> None:
        self.path, self.search, self._fresh = path, search, fresh

    # --- names -------------------------------------------------------------------------------
    def worlds(self, level: int) -> Path:
        return self.path / f"level-{level:05}.worlds"

    def parents(self, level: int) -> Path:
        return self.path / f"level-{level:05}.parents"

    def sorted(self, level: int) -> Path:
        return self.path / f"level-{level:05}.sorted"

    def tables(self, level: int) -> Path:
        return self.path / f"tables-{level:05}.npz"

    def level(self, level: int) -> tuple[Path, Path, Path]:
        """The three files of a level."""
        return self.worlds(level), self.parents(level), self.sorted(level)

    def kept(self, number: int, kind: str) -> Path:
        """The worlds of a run that are new, or their order, while the runs are merged."""
        return self.path / f"run-{number:05}.kept-{kind}"

    def run(self, number: int) -> Path:
        return self.path / f"run-{number:05}.worlds"

    # --- the manifest ------------------------------------------------------------------------
    @contextmanager
    def guarded(self) -> Iterator[None]:
        """A context in which a disk that is full, say, is bad input: one line."""
        try:
            yield
        except OSError as error:
            why = error.strerror or str(error)
            raise Invalid(
                f"--spill {self.path}: {why}; the levels that are complete stay: "
                "the same command goes on from there"
            ) from error

    def open(self) -> SavedSearch:
        """The state of the search in the folder, which is this one's from now on.

        Raises Invalid if the folder holds something else.
        """
        (emptied if self._fresh else claimed)(self.path)
        manifest = self.path / MANIFEST
        if not manifest.exists():
            self.save(SavedSearch())
            return SavedSearch()
        saved = self._read(manifest)
        for run in self.path.glob("run-[0-9][0-9][0-9][0-9][0-9].*"):
            run.unlink()  # of a level that was interrupted
        for number, (worlds, bits) in enumerate(saved.levels):
            self._check_size(self.worlds(number), worlds, bits)
        if saved.levels and self.checksum(len(saved.levels) - 1) != saved.checksum:
            raise self._damaged(self.tables(len(saved.levels) - 1))
        return saved

    def save(self, saved: SavedSearch) -> None:
        """Write the manifest anew: whole, or not at all."""
        draft = self.path / f"{MANIFEST}.new"
        text = json.dumps({"note": NOTE, "search": self.search, "saved": saved})
        with draft.open("w", encoding="utf-8") as file:
            file.write(f"{text}\n{zlib.crc32(text.encode()):08x}\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path / MANIFEST)

    def settle(self, level: int) -> None:
        """Have the files of a level and the tables on the disk before the manifest names them."""
        for path in (*self.level(level), self.tables(level)):
            with path.open("rb") as file:
                os.fsync(file.fileno())

    def bytes(self) -> int:
        """The bytes of all files in the folder."""
        return sum(entry.stat().st_size for entry in os.scandir(self.path))

    def _read(self, manifest: Path) -> SavedSearch:
        try:
            text, checksum = manifest.read_text(encoding="utf-8").splitlines()
            ours = int(checksum, 16) == zlib.crc32(text.encode())
            content: Any = json.loads(text) if ours else {}
            found, (levels, violation, sizes, tables) = (
                Searched(*content["search"]),
                content["saved"],
            )
            saved = SavedSearch(
                tuple(SavedLevel(worlds, tuple(bits)) for worlds, bits in levels),
                int(violation),
                tuple(sizes),
                tables,
            )
        except (ValueError, TypeError, LookupError):
            ours = False
        if not ours:
            raise self._refuse(f"its {MANIFEST} is damaged", "another folder, or give --fresh")
        for name, one, other in zip(Searched._fields, found, self.search, strict=True):
            if one != other:
                raise self._refuse(
                    f"it holds a search of the {name} {one!r}, and this one is of {other!r}",
                    "another folder, or give --fresh",
                )
        return saved

    def _check_size(self, path: Path, worlds: int, bits: tuple[int, ...]) -> None:
        from proofs.explore.search.layouts import ordered_layout

        if not path.exists() or path.stat().st_size != 8 * worlds * ordered_layout(bits).per:
            raise self._damaged(path)

    def checksum(self, level: int) -> int:
        """The CRC-32 of the file of the tables; -1 if there is none."""
        path = self.tables(level)
        return zlib.crc32(path.read_bytes()) if path.is_file() else -1

    def _damaged(self, path: Path) -> Invalid:
        why = f"{path.name} is not as the search left it"
        return self._refuse(why, "another folder, or give --fresh")

    def _refuse(self, why: str, remedy: str) -> Invalid:
        return Invalid(f"--spill {self.path}: {why}; name {remedy}")
