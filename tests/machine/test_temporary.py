"""Temporary folders end with their owner, or else are removed by the next one that looks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from model.machine import temporary
from model.machine.temporary import MARKER, folder, remove_left

OWNER = """
import os, signal, sys
from pathlib import Path
from model.machine.temporary import folder, take_place
{first}
with folder({place}) as made:
    (made / "below").mkdir()
    (made / "below" / "file").write_text("content")
    print(made, flush=True)
    {last}
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of temporary files."""
    there = tmp_path / "place"
    there.mkdir()
    monkeypatch.setenv("TMPDIR", str(there))
    return there


def _owner(last: str, *, first: str = "", where: str = "None") -> subprocess.Popen[str]:
    code = OWNER.format(first=first, place=where, last=last)
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


def _made(owner: subprocess.Popen[str]) -> Path:
    assert owner.stdout is not None
    return Path(owner.stdout.readline().strip())


def test_a_folder_is_empty_private_and_gone_in_the_end(place: Path) -> None:
    with folder() as one, folder() as other:
        assert one != other
        assert {one.parent, other.parent} == {place}
        assert [path.name for path in one.iterdir()] == [MARKER]
        assert one.stat().st_mode & 0o777 == 0o700
        (one / "deep").mkdir()
        (one / "deep" / "link").symlink_to(place)
        with pytest.raises(ZeroDivisionError), folder() as third:
            raise ZeroDivisionError
        assert not third.exists()
    assert [*place.iterdir()] == []


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), 9)", "os.abort()"])
def test_what_a_dead_owner_has_left_is_removed(end: str, place: Path) -> None:
    with _owner(end) as dead:
        left = _made(dead)
        dead.wait(20)
    assert (left / "below" / "file").exists()
    remove_left()
    assert [*place.iterdir()] == []


def test_the_folder_of_a_living_owner_stays(place: Path) -> None:
    with _owner("signal.pause()") as owner:
        made = _made(owner)
        remove_left()
        with folder():
            assert (made / "below" / "file").exists()
        owner.kill()
    remove_left()
    assert [*place.iterdir()] == []


def test_nothing_that_is_not_marked_is_removed(place: Path) -> None:
    """A folder of such a name, a file, a link to a marked folder elsewhere, another name."""
    names = [f"asif-{os.getuid()}-{end}" for end in ("notes", "file", "link")]
    (place / names[0]).mkdir()
    (place / names[0] / "mine").touch()
    (place / names[1]).touch()
    for marked in (place / "other", place.parent / "elsewhere"):
        marked.mkdir()
        (marked / MARKER).touch()
    (place / names[2]).symlink_to(place.parent / "elsewhere")
    before = sorted(place.rglob("*"))
    remove_left()
    assert sorted(place.rglob("*")) == before
    assert (place.parent / "elsewhere" / MARKER).exists()


def test_an_owner_that_died_before_the_marker_leaves_nothing(place: Path) -> None:
    (place / f"asif-{os.getuid()}-01234567").mkdir()
    remove_left()
    assert [*place.iterdir()] == []


def test_all_temporary_files_of_a_run_are_in_one_folder(place: Path, tmp_path: Path) -> None:
    """Those of other libraries, too; and it knows where the run has others."""
    where = tmp_path / "disk"
    where.mkdir()
    take = "take_place(); import tempfile; tempfile.mkdtemp(); tempfile.mkstemp()"
    with _owner("os._exit(0)", first=take, where=f"Path({str(where)!r})") as owner:
        made = _made(owner)
    assert made.parent == where
    (run,) = place.iterdir()
    assert len([*run.iterdir()]) == 3
    remove_left()
    assert [*place.iterdir(), *where.iterdir()] == []


def test_without_a_place_a_run_goes_on(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporary, "_make", lambda _: (_ for _ in ()).throw(OSError("read-only")))
    temporary.take_place()
    assert os.environ["TMPDIR"] == str(place)


def test_a_place_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """No try after the other, without an end."""
    with pytest.raises(FileNotFoundError), temporary.folder(tmp_path / "none"):
        pass
