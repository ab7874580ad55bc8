"""The file about a fault of asif: its place in the code, and all that a developer needs.

Rule of this file: it never fails; without a place to write, it says so.
"""

from __future__ import annotations

import os
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from asif.ending.lines import without_secrets
from asif.versions import lines
from model.machine import temporary

MOST = 200_000
"""The characters of a file."""


def write_details(command: str, error: BaseException, argv: Sequence[str]) -> str:
    """Write the traceback, the versions and the arguments without secrets; return the end of a
    sentence, with the place of the file."""
    text = _text(command, error, argv)
    for folder in _folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            stem = "".join(one if one.isalnum() else "-" for one in command)
            handle, name = tempfile.mkstemp(".txt", f"{stem}-", folder)
            with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
            return f"details: {name}"
        except OSError:
            continue
    return "its details could be written nowhere"


def _folders() -> Iterator[Path]:
    """Where the file may be written: in the first of these that can be written to."""
    yield Path("build") / "faults"
    try:
        place = Path(tempfile.gettempdir())
    except FileNotFoundError:  # no place can be written to
        return
    ours = (place / temporary.MARKER).exists()  # it ends with this process
    yield (place.parent if ours else place) / "asif-faults"


def _text(command: str, error: BaseException, argv: Sequence[str]) -> str:
    parts = [
        f"A fault of asif, in: {command}",
        f"arguments: {[*argv]!r}",
        f"folder: {os.path.abspath(os.curdir)}" if _has_folder() else "folder: gone",
        f"versions: {'; '.join(lines())}",
        f"{sys.executable}, process {os.getpid()}",
        "",
        _trace(error),
    ]
    text = without_secrets("\n".join(parts))
    return text if len(text) <= MOST else f"{text[: MOST // 2]}\n...\n{text[-MOST // 2 :]}"


def _has_folder() -> bool:
    try:
        return bool(os.getcwd())
    except OSError:
        return False


def _trace(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))
    except Exception as other:  # an exception whose words raise
        frames = "".join(traceback.format_tb(error.__traceback__))
        return f"{frames}{type(error).__name__}, whose words raise {type(other).__name__}\n"
