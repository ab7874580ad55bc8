"""The outside world of the example: a till that is read, and files that are written.

Rule of this file: no import of the library; the outside world knows nothing of recovery.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Sale = dict[str, Any]
Watch = Callable[[str], None]
"""A function that is called before each effect on the outside world."""
ITEMS = ("tea", "rice", "tea")


def append(path: Path, line: str) -> None:
    """Append a line; it is on disk when this returns."""
    with path.open("ab") as file:
        file.write(f"{line}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines() if path.exists() else []


class Till:
    """Its reading cannot be repeated: the n-th reading shows other amounts than the one before."""

    def __init__(self, folder: Path, watch: Watch) -> None:
        self._path, self._watch = folder / "till.jsonl", watch

    def read(self) -> list[Sale]:
        self._watch("read the till")
        reading = len(lines(self._path)) + 1
        sales = [
            {"item": item, "amount": 100 * reading + at, "reading": reading}
            for at, item in enumerate(ITEMS, 1)
        ]
        append(self._path, json.dumps(sales))
        return sales


class EffectStore:
    """Keeps the effect of a read action in a file until all of it has been sent."""

    def __init__(self, folder: Path, watch: Watch) -> None:
        self._folder, self._watch = folder, watch

    def store(self, number: int, effect: Sequence[bytes]) -> str:
        """Store an effect whole or not at all, and return the reference to it."""
        self._watch("store an effect")
        path = self._folder / f"effect-{number}.txt"
        draft = path.with_suffix(".draft")
        with draft.open("wb") as file:
            file.write(b"\n".join(effect))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        return path.name

    def load(self, reference: str) -> list[bytes]:
        return (self._folder / reference).read_bytes().splitlines()

    def discard(self, number: int) -> None:
        self._watch("discard an effect")
        for suffix in ("draft", "txt"):
            (self._folder / f"effect-{number}.{suffix}").unlink(missing_ok=True)


class Book:
    """A file with a line for each write.  Its writes are checkable: each line has its number."""

    def __init__(self, path: Path, watch: Watch) -> None:
        self._path, self._watch = path, watch

    def write(self, number: int, text: str) -> None:
        self._watch(f"write into {self._path.name}")
        append(self._path, f"{number} {text}")

    def has(self, number: int) -> bool:
        return any(line.split()[0] == str(number) for line in lines(self._path))
