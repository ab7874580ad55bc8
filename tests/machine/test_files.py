"""Result files: whole or not at all, never over a file of a user's, and asked for beforehand."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from model.errors import Invalid
from model.machine.files import refuse_unwritable, replace, write

RESULT = '{"a": 1}\n'


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _folder(path: Path) -> None:
    path.mkdir()


def _foreign(path: Path) -> None:
    path.write_text("a user's\n")


def _read_only(path: Path) -> None:
    write({path: RESULT})
    path.chmod(0o444)


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "a folder": (_folder, "it is a folder"),
    "a user's file": (_foreign, "asif did not write what is there; give another name, or --force"),
    "read-only": (_read_only, "it is read-only; give another name, or --force"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("call", ["ask", "write"])
def test_what_must_not_be_written_over_is_refused(name: str, call: str, tmp_path: Path) -> None:
    prepare, why = REFUSED[name]
    path = tmp_path / "result"
    prepare(path)
    before = path.read_bytes() if path.is_file() else None
    other = tmp_path / "other"
    with pytest.raises(Invalid) as refused:
        refuse_unwritable([other, path]) if call == "ask" else write({other: RESULT, path: RESULT})
    assert str(refused.value) == f"{path}: cannot be written: {why}"
    assert names(tmp_path) == ["result"]
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_folder_that_is_a_file_is_refused_and_a_missing_one_is_not_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Invalid, match=r"file/a/b: cannot be written: .*file is no folder$"):
        refuse_unwritable([tmp_path / "file" / "a" / "b"])
    refuse_unwritable([tmp_path / "new" / "a" / "b"])
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(os.getuid() == 0, reason="no permission is denied to root")
def test_a_folder_without_permission_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(Invalid, match="permission denied"):
        refuse_unwritable([tmp_path / "a"])
    tmp_path.chmod(0o755)


def test_a_result_is_written_over_and_force_goes_over_all(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write({path: RESULT})
    write({path: '{"b": 2}\n'})
    assert path.read_text() == '{"made_by": "asif", "b": 2}\n'
    path.write_text("a user's\n")
    write({path: RESULT}, force=True)
    assert "made_by" in path.read_text()


def test_a_link_stays_and_its_file_is_asked_for(tmp_path: Path) -> None:
    link, file = tmp_path / "link", tmp_path / "file"
    link.symlink_to("file")
    write({link: RESULT})
    assert link.is_symlink()
    assert "made_by" in file.read_text()
    file.write_text("a user's")
    with pytest.raises(Invalid, match="asif did not write"):
        write({link: RESULT})


def test_a_device_and_a_pipe_are_written_to_as_they_are(tmp_path: Path) -> None:
    null = os.stat(os.devnull)
    write({Path(os.devnull): RESULT})
    assert os.stat(os.devnull).st_ino == null.st_ino
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write({pipe: RESULT})
    reader.join(60)
    assert found == ['{"made_by": "asif", "a": 1}\n']
    assert names(tmp_path) == ["pipe"]
    with pytest.raises(Invalid, match="No space left"):
        write({Path("/dev/full"): RESULT})


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_the_standard_output_has_result_and_words_in_their_order(name: str, tmp_path: Path) -> None:
    text = (
        "from pathlib import Path; from model.machine.files import write; print('before');"
        f"write({{Path({name!r}): '{{}}'}}); print('after')"
    )
    out = tmp_path / "out"
    with out.open("w") as file:
        subprocess.run([sys.executable, "-c", text], stdout=file, check=True)
    assert out.read_text() == 'before\n{"made_by": "asif"}after\n'


def test_a_file_that_grows_too_large_leaves_the_old_ones(tmp_path: Path) -> None:
    """As a full disk, which not every machine lets a test make."""
    one, other = tmp_path / "one", tmp_path / "other"
    write({one: RESULT})
    before = one.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(Invalid, match="other: cannot be written: File too large"):
            write({one: '{"b": 2}', other: "x" * 20_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert one.read_bytes() == before
    assert names(tmp_path) == ["one"]


def test_a_file_that_the_user_lets_change_gets_no_mark(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text("x = 1\n")
    path.chmod(0o640)
    replace({path: b"x = 2\n"})
    assert path.read_text() == "x = 2\n"
    assert path.stat().st_mode & 0o777 == 0o640
