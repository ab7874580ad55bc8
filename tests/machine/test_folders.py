"""Folders of asif's own: nothing without a marker is deleted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.errors import Invalid
from model.machine import folders
from model.machine.folders import (
    MARKER,
    claimed,
    delete_inside,
    emptied,
    is_own,
    occupied,
    refuse_foreign,
    remove,
)
from model.machine.locks import LOCK, held

CALLS: dict[str, Callable[[Path], object]] = {
    "emptied": emptied,
    "claimed": claimed,
    "asked": lambda folder: refuse_foreign([folder]),
}


def content(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def _file(folder: Path) -> None:
    folder.write_text("a user's")


def _folder_with_a_file(folder: Path) -> None:
    folder.mkdir()
    (folder / "notes").write_text("a user's")


def _folder_with_a_folder(folder: Path) -> None:
    (folder / "empty").mkdir(parents=True)


def _marker_of_another(folder: Path) -> None:
    folder.mkdir()
    (folder / MARKER).write_text("as if this were a marker")


def _link(folder: Path) -> None:
    emptied(folder.with_name("own"))
    folder.symlink_to("own")


def _marker_behind_a_link(folder: Path) -> None:
    own = emptied(folder.with_name("own"))
    folder.mkdir()
    (folder / MARKER).symlink_to(own / MARKER)


def _broken_link(folder: Path) -> None:
    folder.symlink_to("nowhere")


FOREIGN = [
    *(_file, _folder_with_a_file, _folder_with_a_folder, _marker_of_another, _link),
    *(_marker_behind_a_link, _broken_link),
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("make", FOREIGN)
def test_what_asif_did_not_make_stays(
    make: Callable[[Path], None], call: str, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    make(folder)
    before = content(tmp_path)
    with pytest.raises(Invalid, match="asif needs this name for a folder of its own"):
        CALLS[call](folder)
    remove(folder)
    assert content(tmp_path) == before


def test_an_own_folder_is_emptied_and_removed(tmp_path: Path) -> None:
    folder = emptied(tmp_path / "a" / "own")
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "file").touch()
    claimed(folder)
    assert [path.name for path in folder.iterdir() if path.name != MARKER] == ["deep"]
    emptied(folder)
    assert [path.name for path in folder.iterdir()] == [MARKER]
    remove(folder)
    assert not folder.exists()


def test_links_in_an_own_folder_are_not_followed(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    _folder_with_a_file(mine)
    folder = emptied(tmp_path / "own")
    (folder / "to-a-folder").symlink_to(mine)
    (folder / "to-a-file").symlink_to(mine / "notes")
    emptied(folder)
    assert content(mine) == {"notes": b"a user's"}


@pytest.mark.parametrize("left", [[], [MARKER], [LOCK], [MARKER, LOCK]])
def test_a_kill_while_a_folder_is_made_leaves_one_that_can_be_made(
    left: list[str], tmp_path: Path
) -> None:
    """A marker whose line is not written yet, and a lock, which comes before it."""
    folder = tmp_path / "own"
    folder.mkdir()
    for name in left:
        (folder / name).touch()
    assert is_own(emptied(folder))


def test_two_runs_may_claim_a_folder_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one has its marker, and files, between two looks at the folder."""

    def look_before_the_other(_folder: Path) -> bool:
        monkeypatch.undo()
        (claimed(tmp_path) / "result").touch()
        return False

    monkeypatch.setattr(folders, "is_own", look_before_the_other)
    assert claimed(tmp_path) == tmp_path.resolve()


def test_a_lock_in_a_folder_outlives_what_is_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    with held(folder / LOCK, "own"):
        emptied(folder)
        with pytest.raises(Invalid, match="another process"), held(folder / LOCK, "own"):
            pass


def test_only_what_is_in_an_own_folder_is_deleted(tmp_path: Path) -> None:
    _folder_with_a_file(tmp_path / "mine")
    with pytest.raises(ValueError, match="no folder above it is asif's own"):
        delete_inside(tmp_path / "mine" / "notes")
    folder = emptied(tmp_path / "own")
    _folder_with_a_file(folder / "part")
    delete_inside(folder / "part" / "notes")
    delete_inside(folder / "part")
    delete_inside(folder / "part")
    assert [path.name for path in folder.iterdir()] == [MARKER]


@given(st.data())
def test_no_call_touches_a_file_outside_of_own_folders(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("any")
    places = [root / "a", root / "a" / "b", root / "c", root / "c" / "d"]
    mine: dict[Path, str] = {}
    for number in range(data.draw(st.integers(1, 8))):
        place = data.draw(st.sampled_from(places))
        call = data.draw(st.sampled_from(["mine", "emptied", "remove", "claimed"]))
        if call == "mine":
            if any(is_own(one) for one in (place, *place.parents)):
                continue  # in a folder of asif's own, nothing is a user's
            place.mkdir(parents=True, exist_ok=True)
            mine[place / "notes"] = str(number)
            (place / "notes").write_text(str(number))
        elif call == "remove":
            remove(place)
        else:
            try:
                CALLS[call](place)
            except Invalid:
                continue
        assert {path: path.read_text() for path in mine} == mine


def test_a_users_folder_that_is_to_be_occupied_gets_no_lock(tmp_path: Path) -> None:
    (tmp_path / "thesis").write_text("mine")
    with pytest.raises(Invalid, match="asif needs this name"), occupied(tmp_path):
        pass
    assert [one.name for one in tmp_path.iterdir()] == ["thesis"]


def test_two_cannot_occupy_a_folder(tmp_path: Path) -> None:
    with occupied(tmp_path), pytest.raises(Invalid, match="works there"), occupied(tmp_path):
        pass
