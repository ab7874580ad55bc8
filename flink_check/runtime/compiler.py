"""The compiled Java of this package: classes in the environment, made once for each text of it.

Rule of this file: no class is loaded; the compiler (Janino) lies in Flink's own jars.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

from flink_check.environment import FlinkHome
from flink_check.runtime.java import MainClass, command
from model.machine import temporary
from model.machine.children import run

SOURCES = Path(__file__).parents[1] / "java"
JOB_PACKAGE = "counts"
"""The folder whose classes are the job; those of `gates` belong to each process of Flink."""


def compiled(home: FlinkHome, sources: Path = SOURCES) -> Path:
    """The folder of the compiled classes.  Raises RuntimeError with the compiler's reason."""
    folder = home.folder / "classes" / _digest(sources)
    if folder.exists():
        return folder
    folder.parent.mkdir(exist_ok=True)
    with temporary.folder(folder.parent) as place:
        part = place / folder.name
        part.mkdir()
        _compile(home, sources, part)
        with suppress(OSError):  # another process was first
            os.rename(part, folder)
    return folder


def _compile(home: FlinkHome, sources: Path, part: Path) -> None:
    """Compile into an empty folder.  Raises RuntimeError with the compiler's reason."""
    words = [str(sources / "Build.java"), "Build", str(sources), str(part)]
    done = run(command(home, MainClass.COMPILER, words), folder=part)
    if done.returncode or not [*part.rglob("*.class")]:
        causes = re.findall(r"CompileException: (.*)", done.stderr) or [done.stderr + done.stdout]
        raise RuntimeError(f"{sources} does not compile: {causes[-1]}")
    shutil.copytree(sources / "META-INF", part / "META-INF")


def write_job_jar(jar: Path, classes: Path) -> Path:
    """Write the jar of the counting job: its path."""
    with ZipFile(jar, "w") as archive:
        for path in sorted((classes / JOB_PACKAGE).glob("*.class")):
            archive.write(path, f"{JOB_PACKAGE}/{path.name}")
    return jar


def _digest(sources: Path) -> str:
    files = sorted(path for path in sources.rglob("*") if path.is_file())
    text = b"".join(path.name.encode() + b"\0" + path.read_bytes() for path in files)
    return sha256(text).hexdigest()[:16]
