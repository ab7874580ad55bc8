"""Journals: whole lines count, whatever happens to the rest."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from model.errors import Invalid
from model.machine.journals import RESUME, Resumption, entries, journal

ROWS = [
    {"run": f"run-{number}", "seconds": number / 7, "text": 'ä\n"' * number} for number in range(5)
]


def _whole(path: Path, rows: list[dict[str, Any]] = ROWS) -> bytes:
    with journal(path, "run") as kept:
        kept.add(rows)
    return path.read_bytes()


def _read(path: Path, how: Resumption = RESUME) -> dict[str, Any]:
    with journal(path, "run", how) as kept:
        return dict(kept.entries)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return _whole(tmp_path_factory.mktemp("journal") / "whole.jsonl")


def _check(path: Path, damaged: bytes, lost: int) -> None:
    """All entries but `lost` are read as they were; after it, all are whole."""
    path.write_bytes(damaged)
    expected = {row["run"]: row for row in ROWS}
    found = _read(path)
    assert found.items() <= expected.items()
    assert len(found) >= len(expected) - lost
    with journal(path, "run") as kept:
        kept.add(row for row in ROWS if row["run"] not in kept.entries)
    assert dict(entries(path, "run")) == expected


@given(data=st.data())
def test_a_cut_journal_loses_the_lines_behind_the_cut(
    data: st.DataObject, whole: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cut = data.draw(st.integers(0, len(whole)))
    _check(tmp_path_factory.mktemp("cut") / "j", whole[:cut], whole[cut:].count(b"\n"))


@given(data=st.data())
def test_a_changed_byte_loses_its_line_at_most(
    data: st.DataObject, whole: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Or two: a line end joins them."""
    at = data.draw(st.integers(0, len(whole) - 1))
    flip = data.draw(st.integers(1, 255))
    damaged = bytearray(whole)
    damaged[at] ^= flip
    lost = 2 if whole[at : at + 1] == b"\n" else 1
    _check(tmp_path_factory.mktemp("flip") / "j", bytes(damaged), lost)


DEEP = b'{"run": ' + b"[" * 1000 + b"]" * 1000 + b"}\n"


@given(before=st.integers(0, 6), middle=st.binary(max_size=200))
@example(before=2, middle=DEEP)
@example(before=1, middle=b'{"run": ["not", "hashable"]}\n')
@example(before=3, middle=b'[1, 2]\n"run"\n7\n')
@example(before=3, middle=b'{"run": "run-1", "seconds": "no number"}\n')
@example(before=3, middle=b"\0" * 500 + b"\n")
@example(before=6, middle=b"\xff\xfe")
def test_lines_in_the_middle_are_passed_over(
    whole: bytes, tmp_path_factory: pytest.TempPathFactory, before: int, middle: bytes
) -> None:
    lines = whole.splitlines(keepends=True)
    damaged = b"".join([*lines[:before], middle, b"\n", *lines[before:]])
    _check(tmp_path_factory.mktemp("middle") / "j", damaged, 0)


def test_a_damaged_line_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "j"
    lines = _whole(path).splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b"x", *lines[2:]]))
    assert "run-1" not in _read(path)
    words = f"asif: {path}: line 3 is damaged and passed over; the others count\n"
    assert capsys.readouterr() == ("", words)
    path.write_bytes(lines[0] + b"x\n" * 5 + b"".join(lines[1:]))
    _read(path)
    assert "lines 2, 3, 4 and 2 more are damaged" in capsys.readouterr().err


def test_fresh_is_the_way_out_and_a_users_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "j"
    _whole(path)
    assert not _read(path, Resumption(fresh=True))
    path.write_text("a user's\n")
    for how in (RESUME, Resumption(fresh=True)):
        with pytest.raises(Invalid, match=r"asif did not write what is there; .* --force"):
            _read(path, how)
    assert path.read_text() == "a user's\n"
    assert not _read(path, Resumption(force=True))


def test_what_an_earlier_version_kept_is_done_again(tmp_path: Path) -> None:
    path = tmp_path / "j"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    assert not _read(path)
    assert _whole(path).startswith(b'{"run": "run-0"')


WRITER = """\
    import sys
    from itertools import count
    from pathlib import Path
    from model.machine.journals import journal
    with journal(Path(sys.argv[1]), "run") as kept:
        for number in count():
            kept.add([{"run": number, "text": "x" * 5000}])
            print(number, flush=True)
"""


def test_a_killed_writer_loses_nothing_that_it_has_kept(tmp_path: Path) -> None:
    path = tmp_path / "j"
    command = [sys.executable, "-c", textwrap.dedent(WRITER), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for _ in range(50):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        last = max(map(int, process.stdout.read().split()), default=49)
    found = entries(path, "run")
    assert {*range(last + 1)} <= {*found}
    assert all(entry["text"] == "x" * 5000 for entry in found.values())


def test_a_full_disk_is_a_line_and_what_was_kept_stays(tmp_path: Path) -> None:
    text = (
        "import resource, sys; from pathlib import Path; from model.errors import Invalid\n"
        "from model.machine.journals import journal\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "try:\n"
        "    with journal(Path(sys.argv[1]), 'run') as kept:\n"
        "        for number in range(100): kept.add([{'run': number, 'text': 'x' * 100}])\n"
        "except Invalid as error: print(error)\n"
    )
    path = tmp_path / "j"
    ran = subprocess.run(
        [sys.executable, "-c", text, str(path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"{path}: cannot be written: File too large\n"
    assert not ran.stderr
    assert {*entries(path, "run")} == {*range(len(entries(path, "run")))}
    assert len(entries(path, "run")) > 5


def test_a_pipe_under_the_name_of_a_journal_is_refused(tmp_path: Path) -> None:
    """To open it to write would wait for a reader."""
    os.mkfifo(tmp_path / "j")
    with pytest.raises(Invalid, match="it is no file; move it"), journal(tmp_path / "j", "run"):
        pass
