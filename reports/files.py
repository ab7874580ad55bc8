"""Result files: written whole, or not at all.

Rule of this file: no half-written file, whatever interrupts the program.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from model.errors import Invalid


def write(files: Mapping[Path, str | bytes]) -> None:
    """Write all files or none: first write each one beside its place, then rename all.

    Text is UTF-8.  Missing folders are made; a file that is there keeps its mode.  Raises Invalid,
    which names the file.
    """
    with ExitStack() as leftovers:
        written = []
        for path, content in files.items():
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
                leftovers.callback(Path(name).unlink, missing_ok=True)
                with open(handle, "wb") as file:
                    file.write(content.encode() if isinstance(content, str) else content)
                # mkstemp makes a private file, but others read results.
                os.chmod(name, stat.S_IMODE(path.stat().st_mode) if path.is_file() else 0o644)
            except OSError as error:
                raise _refuse(path, error) from error
            written.append((name, path))
        for name, path in written:
            try:
                os.replace(name, path)
            except OSError as error:  # a folder has this name
                raise _refuse(path, error) from error


def _refuse(path: Path, error: OSError) -> Invalid:
    return Invalid(f"{path}: cannot be written: {error.strerror}")
