"""Output logs on disk: which files a log consists of, in which order, and in which format.

Rule of this file: nothing here starts Spark, so that a wrong path is reported at once.  The notes
of a log name all files that are left out, except those that Hadoop calls hidden (names that begin
with "_" or ".": markers, checksums, files not yet committed).
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from model.errors import Invalid

csv.field_size_limit(1 << 31)  # of a line, which is in memory already
SUFFIXES = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}
PACKED = (".gz", ".bz2", ".zst")
COMMITS = "_spark_metadata"
"""The folder in which Spark's file sink lists the files it committed, an entry a micro-batch."""


LONGEST_HEADER = 1 << 20
"""The most bytes of a line of names."""
HEADER_BYTES = 1 << 12
"""Bytes that are read at once for the names of a CSV file."""
NO_ROWS = "holds no rows, so nothing could be found wrong"


class OutputLog(NamedTuple):
    """An output log.  side: REFERENCE or ACTUAL.  root: the path that the user named.  files: in
    order, none empty.

    names: the columns that the files themselves name, where that is known without Spark (CSV).
    committed: did Spark's file sink write them, and so their order?
    """

    side: str
    root: Path
    files: tuple[Path, ...]
    format: str
    notes: tuple[str, ...]
    names: tuple[str, ...] = ()
    committed: bool = False

    def complain(self, what: str) -> Invalid:
        return Invalid(f"{self.side} {self.root}: {what}")

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(file.stat().st_size for file in self.files)


def find_log(side: str, root: Path) -> OutputLog:
    """The log at a file or folder.  Raises Invalid if there is none, or not of one known format."""
    here = OutputLog(side, root, (), "", ())
    if not root.exists():
        raise here.complain("there is no such file or folder")
    if not (root.is_file() or root.is_dir()):
        raise here.complain("cannot be read: it is a pipe or a device; give a file or a folder")
    try:
        found, notes = _find(root)
        full = tuple(file for file in found if file.stat().st_size)
    except OSError as error:
        raise here.complain(f"cannot be read ({error.strerror})") from None
    except MissingFile as error:
        raise here.complain(str(error)) from None
    if not found:
        raise here.complain("the folder holds no files (names that begin with _ or . are hidden)")
    if not full:
        raise here.complain(f"nothing to compare, {_files(len(found))} of 0 bytes")
    if empty := len(found) - len(full):
        notes += (f"{_files(empty)} of 0 bytes left out (Spark leaves such when it is killed)",)
    formats: dict[str, Path] = {}
    for file in full:
        formats.setdefault(_format(here, file), file)
    if len(formats) > 1:
        kinds = " and ".join(f"{kind} ({file.name})" for kind, file in formats.items())
        raise here.complain(f"holds {kinds}: a log is of one format")
    (format_,) = formats
    names: tuple[str, ...] = ()
    if format_ == "parquet":
        for file in full:
            _footer(here, file)
    if format_ == "csv":
        names = _header(here, full)
    committed = root.is_dir() and (root / COMMITS).is_dir()
    return OutputLog(side, root, full, format_, notes, names, committed)


def _files(count: int) -> str:
    return f"{count:,} file" if count == 1 else f"{count:,} files"


# --- which files -----------------------------------------------------------------------------
class MissingFile(Exception):
    """A file that was committed is not there."""


def _find(root: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    if root.is_file():
        return (root,), ()
    files = []
    for file in root.rglob("*"):
        below = file.relative_to(root)
        if file.is_file() and not any(part.startswith(("_", ".")) for part in below.parts):
            files.append(below)
    files.sort(key=_natural)
    if not (root / COMMITS).is_dir():
        return tuple(root / below for below in files), ()
    committed = _committed_files(root / COMMITS, files)
    left = len(files) - len(committed)
    notes: tuple[str, ...] = (f"read through Spark's own {COMMITS}, in the order of its batches",)
    if left:
        notes += (f"{_files(left)} left out that Spark wrote and did not commit",)
    return tuple(root / below for below in committed), notes


def _natural(path: Path) -> list[tuple[int, int, str]]:
    """part-2 before part-10."""
    pieces = re.split(r"(\d+)", path.as_posix())
    return [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in pieces]


def _committed_files(folder: Path, files: Sequence[Path]) -> list[Path]:
    """The files that Spark's file sink lists: in the last compaction, and in the batches after."""
    entries = {int(f.name.split(".")[0]): f for f in folder.iterdir() if f.name.isdecimal()}
    compact = {int(f.stem): f for f in folder.glob("*.compact") if f.stem.isdecimal()}
    last = max(compact, default=-1)
    batches = [compact[last]] if compact else []
    batches += [entries[number] for number in sorted(entries) if number > last]
    known = {file.as_posix(): file for file in files}
    named = []
    for batch in batches:
        for line in batch.read_text(encoding="utf-8").splitlines()[1:]:
            try:
                parts = unquote(json.loads(line)["path"]).split("/")
            except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
                raise MissingFile(f"{batch.name} of {COMMITS} names no file in a line") from None
            tails = ("/".join(parts[at:]) for at in range(len(parts)))
            found = next((known[tail] for tail in tails if tail in known), None)
            if found is None:
                raise MissingFile(
                    f"Spark committed {parts[-1]} in batch {batch.name}; it is not there"
                )
            named.append(found)
    return named


# --- of which format -------------------------------------------------------------------------
def _format(here: OutputLog, file: Path) -> str:
    """The format by the file's name, or else by its first bytes: some engines' sinks name none."""
    name = file.name.lower()
    for suffix in PACKED:
        name = name.removesuffix(suffix)
    known = SUFFIXES.get(Path(name).suffix)
    if known is None:
        with file.open("rb") as opened:
            start = opened.read(512).lstrip()
        known = "parquet" if start[:4] == b"PAR1" else "json" if start[:1] == b"{" else None
    if known is None:
        raise here.complain(
            f"{file.name} is neither Parquet nor CSV nor JSON lines, by its name "
            f"({', '.join(SUFFIXES)}, or with {', '.join(PACKED)}) or its beginning"
        )
    return known


def _footer(here: OutputLog, file: Path) -> None:
    try:
        pq.read_metadata(file)
    except (pa.ArrowException, OSError) as error:
        why = str(error).splitlines()[0].split(": ")[-1]
        raise here.complain(f"{file.name} is no whole Parquet file ({why})") from None


def _first_line(stream: pa.NativeFile) -> bytes:
    """The first line, with its end."""
    found = b""
    while b"\n" not in found and (read := stream.read(HEADER_BYTES)):
        found += read
        if len(found) > LONGEST_HEADER:
            raise csv.Error
    return found.splitlines(keepends=True)[0] if found else b""


def _header(here: OutputLog, files: Sequence[Path]) -> tuple[str, ...]:
    """The names of the columns; all files must have the same, since CSV columns go by place."""
    headers: dict[tuple[str, ...], Path] = {}
    for file in files:
        try:
            with pa.input_stream(file) as stream:
                line = _first_line(stream).decode("utf-8")
            headers.setdefault(tuple(next(csv.reader([line]), ())), file)
        except (UnicodeDecodeError, OSError, pa.ArrowException, csv.Error):
            raise here.complain(f"{file.name} is no CSV file in UTF-8") from None
    if len(headers) > 1:
        (one, first), (other, second) = list(headers.items())[:2]
        raise here.complain(
            f"{first.name} has the columns {', '.join(one)}, and {second.name} "
            f"{', '.join(other)}: all files of a log begin with the same line of names"
        )
    (names,) = headers
    if len(set(names)) < len(names) or not all(names):
        raise here.complain(f"its first line must name each column once, and is {','.join(names)}")
    return names
