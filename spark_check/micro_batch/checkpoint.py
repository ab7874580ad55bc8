"""The content of a Spark checkpoint: its batches with their offsets, and what is wrong with it.

Rule of this file: it only reads, and needs no Spark.  Call `complaints` before you restart a query:
it finds damage that Spark accepts silently, and names files where Spark does not.

A checkpoint holds offsets/N (written before batch N runs), commits/N (after its sink has it), and
for every partition of every stateful operator state/operator/partition[/store], in which batch N
writes version N + 1.  Where Spark writes to a local or a Hadoop file system, a file F has a side
file .F.crc; of the two logs Spark writes it and never looks at it.

Limits: it does not find a file that was replaced by another well-formed one, together with its side
file or where there are none (object stores).  It does not fit queries that track their progress
asynchronously or run continuously: their logs have holes by design.
"""

from __future__ import annotations

import json
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

OFFSETS, COMMITS, STATE, METADATA = "offsets", "commits", "state", "metadata"
VERSION = re.compile(r"v\d+")
STATE_FILE = re.compile(r"(\d+)(?:_[^.]*)?\.(delta|snapshot|zip|changelog)")
WHOLE = (".snapshot", ".zip")
"""State files that need no others before them; deltas and changelogs do."""


class Broken(ValueError):
    """A file does not hold what Spark writes there."""


class CheckpointEntry(NamedTuple):
    """An entry of a log.  facts: Spark's notes on the batch.  offsets: its end, for each source."""

    facts: Any
    offsets: tuple[Any, ...] = ()


def entry(path: Path) -> CheckpointEntry:
    """The entry in a file.  Raises Broken if it is empty, cut off, or followed by other text."""
    try:
        version, *lines = path.read_text().split("\n")
        if not VERSION.fullmatch(version):
            raise Broken("is empty" if not version else "does not begin with a version")
        facts, *offsets = (None if line == "-" else json.loads(line) for line in lines)
    except UnicodeDecodeError:
        raise Broken("is not text") from None
    except json.JSONDecodeError as error:
        raise Broken(f"is not JSON: {error.msg}") from None
    except ValueError as error:
        raise Broken(str(error) if isinstance(error, Broken) else "ends too early") from None
    return CheckpointEntry(facts, tuple(offsets))


def files_by_batch(folder: Path) -> Mapping[int, Path]:
    """The files of a log by batch, in order."""
    if not folder.is_dir():
        return {}
    found = {int(path.name): path for path in folder.iterdir() if path.name.isdigit()}
    return dict(sorted(found.items()))


def offsets_by_batch(checkpoint: Path) -> Mapping[int, tuple[Any, ...]]:
    """By batch, its end for each source.  Raises Broken if an entry is."""
    return {id_: entry(path).offsets for id_, path in files_by_batch(checkpoint / OFFSETS).items()}


def committed_batches(checkpoint: Path) -> tuple[int, ...]:
    """The batches in the commit log, in order."""
    return tuple(files_by_batch(checkpoint / COMMITS))


def stores(checkpoint: Path) -> Mapping[str, Mapping[int, tuple[Path, ...]]]:
    """By the path of a state store, its files by version, in order; a store may have none."""
    found: dict[str, dict[int, tuple[Path, ...]]] = {place: {} for place in _places(checkpoint)}
    for path in sorted((checkpoint / STATE).rglob("*")):
        if match := STATE_FILE.fullmatch(path.name):
            versions = found.setdefault(str(path.parent.relative_to(checkpoint)), {})
            versions[int(match[1])] = (*versions.get(int(match[1]), ()), path)
    return {place: dict(sorted(versions.items())) for place, versions in sorted(found.items())}


def _places(checkpoint: Path) -> Iterator[str]:
    """The paths of the state stores that operators have noted."""
    for path in checkpoint.glob(f"{STATE}/*/_metadata/metadata"):
        try:
            for store in entry(path).facts["stateStoreInfo"]:
                name = "" if store["storeName"] == "default" else store["storeName"]
                for partition in range(store["numPartitions"]):
                    place = path.parents[1] / str(partition) / name
                    yield str(place.relative_to(checkpoint))
        except (Broken, KeyError, TypeError):
            continue  # Spark does not need it, and its side file shows the damage


# --- what is wrong -------------------------------------------------------------------------------
def complaints(checkpoint: Path) -> tuple[str, ...]:
    """What is wrong with the checkpoint, each with its file; empty if the query may be restarted.

    A checkpoint that a crash has left is not wrong, wherever the crash came: the newest batch may
    be in no commit log, and each of its state stores may have its version of the state or not.
    """
    if not files_by_batch(checkpoint / OFFSETS) and not files_by_batch(checkpoint / COMMITS):
        return (
            f"{checkpoint.name}: holds no batch: a query started on it begins with batch 0, "
            "which a sink that knows batches by their ids takes for one that it has",
        )
    return (
        *_metadata(checkpoint),
        *_log(checkpoint, OFFSETS),
        *_log(checkpoint, COMMITS),
        *_logs(checkpoint),
        *_stores(checkpoint),
        *_side_files(checkpoint),
    )


def _metadata(checkpoint: Path) -> Iterator[str]:
    path = checkpoint / METADATA
    try:
        if not isinstance(json.loads(path.read_text()), dict):
            raise ValueError
    except FileNotFoundError:
        yield f"{METADATA}: is missing"
    except ValueError:
        yield f"{METADATA}: is not one JSON object"


def _log(checkpoint: Path, log: str) -> Iterator[str]:
    files = files_by_batch(checkpoint / log)
    yield from _holes(log, files)
    sources = set()
    for path in files.values():
        try:
            found = entry(path)
        except Broken as error:
            yield f"{log}/{path.name}: {error}"
            continue
        if not isinstance(found.facts, dict):
            yield f"{log}/{path.name}: its second line is no JSON object"
        if log == COMMITS and found.offsets:
            yield f"{log}/{path.name}: goes on where its end should be"
        sources.add(len(found.offsets))
    if len(sources) > 1:
        yield f"{log}: its entries have {' or '.join(map(str, sorted(sources)))} sources"


def _holes(place: str, numbers: Mapping[int, Any]) -> Iterator[str]:
    for one, other in pairwise(numbers):
        if other > one + 1:
            yield f"{place}: nothing between {one} and {other}"


def _logs(checkpoint: Path) -> Iterator[str]:
    planned, done = files_by_batch(checkpoint / OFFSETS), files_by_batch(checkpoint / COMMITS)
    if not planned:
        yield f"{OFFSETS}: is empty, and {COMMITS} is not"
        return
    last, newest = max(planned), max(done, default=-1)
    for id_ in done:
        if id_ > last:
            yield f"{COMMITS}/{id_}: there is no {OFFSETS}/{id_}"
    if newest < last - 1:
        ends = f"ends with {newest}" if done else "is empty"
        yield f"{COMMITS}: {ends}, and {OFFSETS} ends with {last}"


def _stores(checkpoint: Path) -> Iterator[str]:
    last = max(files_by_batch(checkpoint / OFFSETS), default=-1)
    done = max(files_by_batch(checkpoint / COMMITS), default=-1)
    for place, versions in stores(checkpoint).items():
        newest = max(versions, default=0)
        if newest > last + 1:
            yield f"{place}: has version {newest}, and the last of {OFFSETS} is {last}"
        if newest < done + 1:
            yield f"{place}: ends with version {newest}, and batch {done} is in the commit log"
        whole = [v for v, files in versions.items() if any(p.suffix in WHOLE for p in files)]
        yield from _holes(place, {v: v for v in versions if v >= max(whole, default=0)})
        for path in (path for files in versions.values() for path in files):
            name = f"{place}/{path.name}"
            if path.stat().st_size == 0:
                yield f"{name}: is empty"
            elif path.suffix == ".zip":
                yield from (f"{name}: {said}" for said in _zip_complaints(path))


def _zip_complaints(path: Path) -> Iterator[str]:
    """What is wrong with a zip file of RocksDB; its tables lie beside it, shared by versions."""
    try:
        with zipfile.ZipFile(path) as packed:
            if packed.testzip():
                raise Broken
            listed = json.loads(packed.read("metadata").split(b"\n", 1)[1])["sstFiles"]
    except (zipfile.BadZipFile, zlib.error, LookupError, ValueError):
        yield "is no zip file that can be read"
        return
    for table in listed:
        file = path.parent / "SSTs" / table["dfsSstFileName"]
        if not file.exists():
            yield f"{file.name} is missing"
        elif file.stat().st_size != table["sizeBytes"]:
            yield f"{file.name} has {file.stat().st_size} bytes, not {table['sizeBytes']}"


# --- side files ----------------------------------------------------------------------------------
MAGIC = b"crc\0"
"""The beginning of a side file of Hadoop's ChecksumFileSystem.  Then follow 4 bytes with the number
of bytes in a block, and the CRC-32 of each block."""


def _side_files(checkpoint: Path) -> Iterator[str]:
    for side in sorted(checkpoint.rglob(".*.crc")):
        path = side.with_name(side.name[1:-4])
        if path.name.startswith("."):
            continue  # of a temporary file, which a crash may leave
        name = path.relative_to(checkpoint)
        if not path.exists():
            yield f"{name}: is missing, and its side file {side.name} is there"
        elif not _sums(path.read_bytes(), side.read_bytes()):
            yield f"{name}: was changed since it was written: not what its {side.name} says"


def _sums(content: bytes, side: bytes) -> bool:
    if side[:4] != MAGIC or len(side) < 8:
        return False
    step = int.from_bytes(side[4:8], "big")
    cuts = range(0, len(content), step) if step else ()
    return side[8:] == b"".join(
        zlib.crc32(content[at : at + step]).to_bytes(4, "big") for at in cuts
    )
