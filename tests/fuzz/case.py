"""A case of the fuzzer: a command with its files; and the answers that any command may give.

Rule of this file: no command is known here; each demand holds for all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from model.machine.locks import LOCK

SLOW_S = 20.0
"""The seconds after which a case is ended, and is a finding."""
MOST_KB = 2_500_000
"""The memory of a case; more is a finding."""
ELSEWHERE = 77
"""The exit code of a case that goes on in Spark, which the fuzzer does not start."""

Files = Mapping[str, bytes]


class Case(NamedTuple):
    """argv: the words after `asif`, in a new folder with these files.  folders: also there."""

    argv: tuple[str, ...]
    files: Files = MappingProxyType({})
    folders: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Case({self.argv!r}, {dict(self.files)!r}, {self.folders!r})"


class Answered(NamedTuple):
    """The end of a case.  code: its exit code; None: it did not end in SLOW_S.  written: files that
    are new, changed or gone.  kb: the most memory.  details: of a fault of asif, its traceback."""

    code: int | None
    out: str
    err: str
    written: tuple[str, ...]
    seconds: float
    kb: int
    details: str = ""


def faults(answered: Answered) -> Iterator[str]:
    """The deeds that no command may do, on any input."""
    code, out, err = answered.code, answered.out, answered.err
    if code is None:
        yield f"no end after {answered.seconds:.0f} s"
        return
    if code == ELSEWHERE:
        return
    if code not in (0, 1, 2):
        yield f"exit code {code}"
    if "Traceback" in out + err:
        yield "a traceback"
    lines = [one for one in USAGE.sub("", err).splitlines() if one.strip()]
    lines = [one for one in lines if not PROGRESS.match(one)]
    if len(lines) > 2:
        yield f"{len(lines)} lines of errors"
    if code == 2 and not lines:
        yield "no reason for exit code 2"
    if code in (0, 1) and not (out.strip() or lines):
        yield f"a silent end with exit code {code}"
    if code == 2 and answered.written:
        yield f"exit code 2, and it wrote {', '.join(answered.written[:3])}"
    if controls := CONTROL.search(out + err):
        yield f"a control character, {controls[0]!r}"
    if answered.kb > MOST_KB:
        yield f"{answered.kb // 1000} MB of memory"


PROGRESS = re.compile(r"[\w ,:.+-]+: (\d+ of \d+, .*after |done in )\d+")
"""A line of asif.progress."""
USAGE = re.compile(r"\AUsage: .*\nTry .*\n╭─ Error ─[^╰]*")
"""The lines around typer's own words about a wrong option, which are the last one."""
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def snapshot(folder: Path) -> dict[str, bytes]:
    """The content of each file in the folder, without the lock, which says nothing."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != LOCK
    }


def changed(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> tuple[str, ...]:
    """The names of files that differ."""
    names = sorted({*before, *after})
    return tuple(name for name in names if before.get(name) != after.get(name))
