"""Files that a user names: each is a regular file of a bounded size, or refused in one line.

Rule of this file: no format.  A pipe or a device could wait for ever, or have no end, so neither is
opened.
"""

from __future__ import annotations

from pathlib import Path
from stat import S_ISDIR, S_ISREG

from model.errors import Invalid

TEXT_BYTES = 4_000_000
"""The most bytes of a text that is read whole: of a scenario, a protocol."""


def require_file(path: Path) -> int:
    """The bytes of a regular file.  Raises Invalid if there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError) as error:  # a name with a null is a ValueError
        why = getattr(error, "strerror", None) or "no file has such a name"
        raise Invalid(f"{path}: cannot be read: {why}") from None
    if not S_ISREG(found.st_mode):
        kind = "a folder" if S_ISDIR(found.st_mode) else "a pipe or a device"
        raise Invalid(f"{path}: cannot be read: it is {kind}; give a file")
    return found.st_size


def read_text(path: Path, most: int = TEXT_BYTES) -> str:
    """The text of a file, which is UTF-8; a byte order mark is left out.  Raises Invalid."""
    size = require_file(path)
    if size > most:
        raise Invalid(f"{path}: cannot be read: it has {size:,} bytes; at most {most:,} are read")
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise Invalid(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Invalid(f"{path}: cannot be read: it is not UTF-8 text") from None
