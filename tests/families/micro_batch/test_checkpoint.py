"""Damage to a checkpoint is found without Spark, and what a crash leaves is no damage."""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.machine.folders import claimed
from spark_check.micro_batch.checkpoint import (
    Broken,
    committed_batches,
    complaints,
    entry,
    offsets_by_batch,
    stores,
)
from spark_check.micro_batch.checks.damage import (
    CONTENTS,
    EVIDENCE,
    IMPLIED,
    CheckpointDamage,
    apply_damage,
    evidence,
)

TABLE = {"dfsSstFileName": "7-0a.sst", "sizeBytes": 5}


class CheckpointShape(NamedTuple):
    """A checkpoint as Spark writes it: `batches` batches, the oldest purged, but for two.

    reached: how far the last one came: 0 its offsets, 1 and 2 one and both of its state stores,
    3 its commit.  suffix: how the state is kept.  sided: with side files?
    """

    batches: int = 3
    reached: int = 3
    purged: int = 0
    suffix: str = "delta"
    sided: bool = True


@contextmanager
def made(how: CheckpointShape) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = claimed(Path(folder)) / "checkpoint"
        write(checkpoint / "metadata", b'{"id":"0a"}', how.sided)
        info = {"stateStoreInfo": [{"storeName": "default", "numPartitions": 2}]}
        write(checkpoint / "state/0/_metadata/metadata", log(info), how.sided)
        last = how.batches - 1
        for batch in range(max(0, min(how.purged, last - 1)), how.batches):
            logs = checkpoint / "offsets", checkpoint / "commits"
            write(logs[0] / str(batch), log({"conf": {}}, {"end": batch}), how.sided)
            if batch < last or how.reached == 3:
                write(logs[1] / str(batch), log({"nextBatchWatermarkMs": 0}), how.sided)
            for store in range(2 if how.suffix == "zip" else 0):
                table = checkpoint / f"state/0/{store}/SSTs/{TABLE['dfsSstFileName']}"
                write(table, b"table", how.sided)
            for store in range(2 if batch < last else how.reached):
                path = checkpoint / f"state/0/{store % 2}/{batch + 1}.{how.suffix}"
                write(
                    path, zipped() if how.suffix == "zip" else bytes([batch, 255]) * 50, how.sided
                )
        yield checkpoint


def log(*lines: object) -> bytes:
    return "\n".join(["v1", *map(json.dumps, lines)]).encode()


def zipped() -> bytes:
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w") as packed:
            packed.writestr("metadata", f"v1\n{json.dumps({'sstFiles': [TABLE]})}")
        file.seek(0)
        return file.read()


def write(path: Path, content: bytes, sided: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if sided:
        sums = [content[at : at + 512] for at in range(0, len(content), 512)]
        side = b"crc\0\0\0\2\0" + b"".join(zlib.crc32(s).to_bytes(4, "big") for s in sums)
        path.with_name(f".{path.name}.crc").write_bytes(side)


checkpoints = st.builds(
    CheckpointShape,
    batches=st.integers(1, 12),
    reached=st.integers(0, 3),
    purged=st.integers(0, 3),
    suffix=st.sampled_from(["delta", "zip", "changelog"]),
    sided=st.booleans(),
)
stopped = checkpoints.map(lambda how: how._replace(reached=3, purged=0, batches=3))

logs = st.sampled_from(["offsets/2", "commits/2", "metadata"])


@given(checkpoints)
def test_what_a_crash_leaves_is_not_wrong(how: CheckpointShape) -> None:
    with made(how) as checkpoint:
        assert complaints(checkpoint) == ()


@given(
    stopped, st.sampled_from(["offsets/2", "commits/2", "metadata"]), st.sampled_from([*CONTENTS])
)
def test_a_damaged_log_is_named(how: CheckpointShape, file: str, damage: str) -> None:
    with made(how) as checkpoint:
        path = checkpoint / file
        path.write_bytes(CONTENTS[damage](path.read_bytes()))
        said = complaints(checkpoint)
        # A well-formed entry is wrong only beside what was written.
        assert (f"{file}: " in "\n".join(said)) == (how.sided or damage != "a bit flipped")


@pytest.mark.slow
@given(stopped, st.sampled_from([*CONTENTS]))
def test_a_damaged_state_file_is_named(how: CheckpointShape, damage: str) -> None:
    with made(how._replace(sided=True)) as checkpoint:
        path = checkpoint / f"state/0/0/3.{how.suffix}"
        path.write_bytes(CONTENTS[damage](path.read_bytes()))
        assert any(
            said.startswith(f"state/0/0/3.{how.suffix}: ") for said in complaints(checkpoint)
        )


@pytest.mark.parametrize("sided", [True, False])
@pytest.mark.parametrize(
    ("deleted", "said"),
    [
        (["offsets/2"], "commits/2: there is no offsets/2"),
        (["offsets/1"], "offsets: nothing between 0 and 2"),
        (["commits/1"], "commits: nothing between 0 and 2"),
        (["commits/1", "commits/2"], "commits: ends with 0, and offsets ends with 2"),
        (["offsets/2", "commits/2"], "state/0/0: has version 3, and the last of offsets is 1"),
        (["offsets/0", "offsets/1", "offsets/2"], "offsets: is empty, and commits is not"),
        (["commits/0", "commits/1", "commits/2"], "commits: is empty, and offsets ends with 2"),
        (["metadata"], "metadata: is missing"),
        (["state/0/1/3.delta"], "state/0/1: ends with version 2, and batch 2 is in the commit log"),
        (["state/0/1/2.delta"], "state/0/1: nothing between 1 and 3"),
        ([f"state/0/1/{v}.delta" for v in (1, 2, 3)], "state/0/1: ends with version 0"),
    ],
)
def test_what_is_missing_is_reported(deleted: list[str], said: str, sided: bool) -> None:
    with made(CheckpointShape(sided=sided)) as checkpoint:
        for name in deleted:
            path = checkpoint / name
            path.unlink()
            path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
        assert said in "\n".join(complaints(checkpoint))


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "3.zip: 7-0a.sst is missing"), (b"", "3.zip: 7-0a.sst has 0 bytes, not 5")],
)
def test_a_table_that_a_version_needs_is_missed(content: bytes | None, said: str) -> None:
    with made(CheckpointShape(suffix="zip", sided=False)) as checkpoint:
        table = checkpoint / "state/0/1/SSTs/7-0a.sst"
        table.unlink()
        if content is not None:
            table.write_bytes(content)
        assert f"state/0/1/{said}" in complaints(checkpoint)


def test_a_checkpoint_without_batches_is_reported(tmp_path: Path) -> None:
    assert "begins with batch 0" in "\n".join(complaints(tmp_path))


def test_a_side_file_without_its_file_is_reported() -> None:
    with made(CheckpointShape()) as checkpoint:
        (checkpoint / "commits/2").unlink()
        assert complaints(checkpoint) == (
            "commits/2: is missing, and its side file .2.crc is there",
        )


def test_another_number_of_sources_is_reported() -> None:
    with made(CheckpointShape(sided=False)) as checkpoint:
        write(checkpoint / "offsets/2", log({}, {"end": 2}, None), False)
        assert complaints(checkpoint) == ("offsets: its entries have 1 or 2 sources",)


def test_well_formed_changes_are_not_seen_without_side_files() -> None:
    """A limit: nothing in the checkpoint contradicts them."""
    with made(CheckpointShape(sided=False)) as checkpoint:
        shutil.copyfile(checkpoint / "offsets/1", checkpoint / "offsets/2")
        assert complaints(checkpoint) == ()


def test_what_is_logged_is_read() -> None:
    with made(CheckpointShape(batches=2, reached=1)) as checkpoint:
        assert offsets_by_batch(checkpoint) == {0: ({"end": 0},), 1: ({"end": 1},)}
        assert committed_batches(checkpoint) == (0,)
        newest = {place: max(versions) for place, versions in stores(checkpoint).items()}
        assert newest == {"state/0/0": 2, "state/0/1": 1}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"v1", "ends too early"),
        (b"{}", "does not begin with a version"),
        (b"v1\n{}\n{", "is not JSON"),
        (b"v1\n\xff", "is not text"),
    ],
)
def test_a_broken_entry_says_how(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "0").write_bytes(content)
    with pytest.raises(Broken, match=said):
        entry(tmp_path / "0")


# --- the evidence --------------------------------------------------------------------------------
def test_the_evidence_is_complete() -> None:
    damages = tuple(evidence(EVIDENCE))
    assert len({damage.name for damage in damages}) == len(damages) > 50
    for damage in damages:
        wanted = damage.expected
        assert wanted.outcome in (*IMPLIED, "wrong"), damage.name
        assert (wanted.names is None) == (wanted.outcome != "refused"), damage.name
        assert wanted.found or wanted.outcome != "wrong", damage.name
        assert wanted.sinks or wanted.outcome != "wrong", damage.name


@pytest.mark.parametrize(
    "damage", [damage for damage in evidence() if damage.base == "stopped"], ids=attrgetter("name")
)
def test_a_damage_does_damage(damage: CheckpointDamage) -> None:
    with made(CheckpointShape()) as checkpoint:
        before = contents(checkpoint)
        apply_damage(checkpoint, damage.what, damage.how)
        assert contents(checkpoint) != before


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}
