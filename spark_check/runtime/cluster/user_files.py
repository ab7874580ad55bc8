"""The user's files in a zip file: the protocols that this process imported, and those beside.

Rule of this file: it knows no Spark.  model.registry finds these files in a worker.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from model.protocol import Protocol
from model.registry import SENT
from spark_check.runtime.cluster.survey import PACKAGES


def pack_user_files(path: Path) -> bool:
    """Write the user's files into a zip file for sys.path; False: there are none, and no file.

    A protocol's file is found by its path on this machine, and files beside it by their names.
    """
    protocols = [file for name, file in _modules() if _is_protocol(name)]
    if not protocols:
        return False
    sources = {str(file): file.read_bytes() for file in protocols}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(f"{SENT}.py", f"FOLDER = {str(Path.cwd())!r}\nSOURCES = {sources!r}\n")
        for name, file in _modules():
            inside = name.replace(".", "/")
            for folder in {one.parent for one in protocols}:
                for entry in (f"{inside}.py", f"{inside}/__init__.py"):
                    if file == folder / entry and file not in protocols:
                        packed.write(file, entry)
    return True


def _modules() -> Iterator[tuple[str, Path]]:
    """Modules of this process with their files, but for ours."""
    for name, module in [*sys.modules.items()]:
        file = getattr(module, "__file__", None)
        if (
            isinstance(file, str)
            and file.endswith(".py")
            and name.partition(".")[0] not in PACKAGES
        ):
            yield name, Path(file)


def _is_protocol(name: str) -> bool:
    return "." not in name and isinstance(getattr(sys.modules[name], "PROTOCOL", None), Protocol)
