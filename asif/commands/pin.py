"""`asif check FILE.py --pin`: write the numbers that were found into the file.

Rule of this file: no pin (asif.pins); the file shows the change, asks, writes and picks the answer.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from asif.console import Exact, print_all
from model.errors import Invalid

if TYPE_CHECKING:
    from model.evidence import Outcome
    from model.results.verdict import Verdict


@dataclass(frozen=True)
class PinnedFile:
    """A file that a check may write to.  content: its bytes before the check.

    expected: the verdict on its protocol that it expects.  yes: the user agrees beforehand.
    """

    path: Path
    content: bytes
    expected: Outcome
    yes: bool


def file_to_pin(name: str | None, *, pin: bool, yes: bool) -> PinnedFile | None:
    """The file with the protocol of this name; None without --pin.

    Raises Invalid if it cannot be written.
    """
    from model.registry import file_of, is_file, subject

    if not pin:
        if yes:
            raise Invalid("--yes is for --pin: give both, or neither")
        return None
    if name is None or not is_file(name):
        raise Invalid("--pin is for one protocol in a file: give FILE.py or FILE.py:VARIANT")
    path = file_of(name)
    content = path.read_bytes() if path.is_file() else b""
    protocol = subject(name).protocol
    if not (os.access(path, os.W_OK) and path.stat().st_mode & 0o222):
        raise Invalid(f"{path}: it is read-only, so --pin cannot write to it")
    return PinnedFile(path, content, protocol.evidence.expected, yes)


def write_pins(file: PinnedFile, result: Verdict) -> bool:
    """Show the pins that differ and write them, if the user agrees.

    Returns: is everything that was checked as the file says now?
    """
    from asif.pins.pin import pin
    from asif.pins.text import PythonText

    pinning = pin(file.path, PythonText.decode(file.content), result)
    if pinning.pinned:
        print_all([Exact(pinning.diff(str(file.path)))])
    print_all(f"not pinned: {line}" for line in pinning.refused)
    if pinning.pinned and not _write(file, pinning.after.encode()):
        return False
    if pinning.pinned:
        print_all([f"{file.path}: pinned: {', '.join(pinning.pinned)}"])
    elif not pinning.refused:
        print_all([f"{file.path}: all pins are as found"])
    return not pinning.refused and _as_expected(file, result)


def _as_expected(file: PinnedFile, result: Verdict) -> bool:
    """Apart from pins, is the result as expected?  A line says so if it is not."""
    differs = result.outcome is not file.expected or bool(
        result.missing or result.vacuous or result.stronger or result.unclaimed
    )
    if differs:
        line = f"{result.protocol}: still not as expected, since no pin says that; see above"
        print_all([line])
    return not differs and all(mutant.by is not None for mutant in result.mutants or ())


def _write(file: PinnedFile, content: bytes) -> bool:
    """Write the content, if the user agrees and the file is as it was; return whether it did."""
    from model.machine import files

    if not file.yes and not sys.stdin.isatty():
        print_all([f"{file.path}: not written; --yes writes without a question"])
        return False
    if not file.yes and not _agrees(file.path):
        print_all([f"{file.path}: not written"])
        return False
    if file.path.read_bytes() != file.content:
        print_all([f"{file.path}: not written, since it has changed during the check"])
        return False
    files.replace({file.path: content})
    return True


def _agrees(path: Path) -> bool:
    """Does the user at the terminal agree?  The end of their input is no."""
    try:
        return typer.confirm(f"write {path}?")
    except typer.Abort:
        print()
        return False
