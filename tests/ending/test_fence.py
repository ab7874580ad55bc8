"""The outer fence: whatever a command raises becomes one line, a code of the table, and details."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from errno import ENAMETOOLONG
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

from asif.ending.codes import EPILOG, ExitCode
from asif.ending.fence import BadUsage, Escaped, end_of
from asif.ending.lines import MOST, one_line, without_secrets
from model.errors import Invalid, StepFailed
from model.machine import supervision

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "exit-codes.md"


class Line(NamedTuple):
    code: int
    text: str


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit(0)


class Foreign(BaseException):
    """An exception that nobody catches."""


def deep(depth: int = 0) -> int:
    return deep(depth + 1)


@pytest.fixture
def end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Line]]:
    """Ends a command by an exception, in a folder of its own: the one line, and the code."""
    hooks = sys.excepthook, sys.unraisablehook
    monkeypatch.chdir(tmp_path)

    def call(error: BaseException | Callable[[], object], *argv: str) -> Line:
        def run() -> object:
            if callable(error):
                return error()
            raise error

        code = end_of("asif check", run, ["asif", "check", *argv])
        out, errors = capsys.readouterr()
        assert not out
        assert errors.count("\n") <= 1
        assert "Traceback" not in errors
        return Line(code, errors.rstrip("\n"))

    yield call
    sys.excepthook, sys.unraisablehook = hooks


ENDS: dict[str, tuple[BaseException, ExitCode]] = {
    "bad input": (Invalid("a.toml:3: x = 1: give 2"), ExitCode.INVALID),
    "a step": (StepFailed("a", "b", "raises"), ExitCode.REFUTED),
    "Ctrl-C": (KeyboardInterrupt(), ExitCode.INTERRUPTED),
    "no answer": (typer.Abort(), ExitCode.INTERRUPTED),
    "an exit of somebody": (SystemExit(0), ExitCode.INVALID),
    "an exit with 1": (SystemExit(1), ExitCode.INVALID),
    "an exit with words": (SystemExit("words"), ExitCode.INVALID),
    "usage": (BadUsage("No such option: --x"), ExitCode.INVALID),
    "an exception": (ValueError("x" * 10_000), ExitCode.FAULT),
    "lines": (ValueError("a\nb\r\n\x1b[2Jc"), ExitCode.FAULT),
    "memory": (MemoryError(), ExitCode.FAULT),
    "a pipe": (BrokenPipeError(32, "Broken pipe"), ExitCode.FAULT),
    "a long name": (OSError(ENAMETOOLONG, "too long", "x" * 5_000), ExitCode.INVALID),
    "the end of a file": (EOFError(), ExitCode.FAULT),
    "a generator": (GeneratorExit(), ExitCode.FAULT),
    "a group": (BaseExceptionGroup("two", [ValueError("a"), KeyError("b")]), ExitCode.FAULT),
    "of no kind": (Foreign("x"), ExitCode.FAULT),
    "mute": (Mute(), ExitCode.FAULT),
    "half a character": (ValueError("\udc80"), ExitCode.FAULT),
}


@pytest.mark.parametrize("name", ENDS)
@pytest.mark.parametrize("escaped", [False, True])
def test_each_end_has_its_code_and_a_line(
    name: str, escaped: bool, end: Callable[..., Line]
) -> None:
    error, code = ENDS[name]
    if escaped:
        wrapped = Escaped()
        wrapped.__cause__ = error
        error = wrapped
    found = end(error)
    assert found.code == code
    assert found.text.startswith("asif: ")
    assert found.text.isprintable()
    assert len(found.text) < 2 * MOST


def test_the_details_of_a_fault_are_in_a_file(end: Callable[..., Line], tmp_path: Path) -> None:
    found = end(ValueError("why password=abc"), "postgresql://me:hidden@host/db", "--conf=x")
    assert found.code == ExitCode.FAULT
    (file,) = (tmp_path / "build" / "faults").iterdir()
    assert str(file.relative_to(tmp_path)) in found.text
    assert "in asif check: ValueError: why password=***" in found.text
    text = file.read_text()
    assert "Traceback" in text
    assert "--conf=x" in text
    assert "typer" in text
    assert "hidden" not in text
    assert "abc" not in text
    assert file.stat().st_mode & 0o077 == 0


def test_a_recursion_without_an_end_is_a_fault(end: Callable[..., Line]) -> None:
    found = end(deep)
    assert found.code == ExitCode.FAULT
    assert "RecursionError" in found.text


def test_nowhere_to_write_the_details(
    end: Callable[..., Line], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "build").write_text("a file")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "build"))
    found = end(ValueError("x"))
    assert found.code == ExitCode.FAULT
    assert found.text.endswith("its details could be written nowhere")


def test_another_folder_for_the_details(
    end: Callable[..., Line], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "build").write_text("a file")
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "other"))
    assert str(tmp_path / "other" / "asif-faults") in end(ValueError("x")).text


def test_what_returns_has_its_code(end: Callable[..., Line]) -> None:
    for code in (0, 1, 2):
        assert end(lambda code=code: code) == Line(code, "")
    assert end(lambda: None) == Line(0, "")


def test_the_page_has_the_table_of_the_code() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.M)
    assert rows == [(str(one.value), one.meaning) for one in ExitCode]
    assert all(f"{code} {ExitCode(code).meaning}" in EPILOG for code in (0, 1, 2, 70, 130))
    assert supervision.FAULT == ExitCode.FAULT


SECRETS = {
    "host=h password=abc user=me": "host=h password=*** user=me",
    "host=h sslpassword=abc": "host=h sslpassword=***",
    "password='a b\\'c' user=me": "password=*** user=me",
    "--conf spark.hadoop.fs.s3a.secret.key=abc x": "--conf spark.hadoop.fs.s3a.secret.key=*** x",
    "postgresql://me:a:b@c@host/db": "postgresql://me:***@host/db",
    "postgresql://host/db?user=me&password=abc&port=1": (
        "postgresql://host/db?user=me&password=***&port=1"
    ),
    "{'password': 'abc', 'a': 1}": "{'password': ***, 'a': 1}",
    "a key = 3 of a scenario": "a key = 3 of a scenario",
}


@pytest.mark.parametrize("text", SECRETS)
def test_no_secret_is_printed(text: str) -> None:
    assert without_secrets(text) == SECRETS[text]


def test_a_long_line_keeps_its_begin_and_its_end() -> None:
    text = f"a.toml:3: x: {'word ' * 1_000}; did you mean y?"
    found = one_line(text)
    assert len(found) <= MOST
    assert found.startswith("a.toml:3: x: word")
    assert found.endswith("; did you mean y?")
    assert len(one_line("x" * 10**7)) <= MOST
    assert one_line("short\tand\x00sweet") == "short and�sweet"
