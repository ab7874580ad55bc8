"""`asif check FILE.py --pin` writes the numbers found into the file, if the user agrees."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pytest

from asif import progress
from asif.cli import main
from asif.console import console
from asif.pins.arguments import Pins
from model.protocol import Protocol
from model.registry import subject
from reports import engines

NUMBERS = count(1)
FORGETFUL = Path(__file__).parents[2] / "docs" / "examples" / "forgetful.py"
RIGHT = FORGETFUL.read_text(encoding="utf-8")
PINNED = "TWO_CRASHES.fails(747, 8, Guarantee.REPEATING)"
OPEN = RIGHT.replace(PINNED, "TWO_CRASHES.fails()")
FEW = ("--walks", "0", "--examples", "1")


class Checked(NamedTuple):
    code: object
    out: str
    err: str
    path: Path

    @property
    def text(self) -> str:
        return self.path.read_bytes().decode()


Check: TypeAlias = Callable[..., Checked]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Check]:
    """check(text of a file or None, options with FILE for its name, answer=): `asif check`."""
    loaded: list[str] = []
    monkeypatch.setattr(progress, "SHORT_S", 600.0)
    monkeypatch.chdir(tmp_path)

    def call(text: str, *options: str, answer: str | None = None, mode: int = 0o644) -> Checked:
        home = f"pinned_{next(NUMBERS)}"
        loaded.append(home)
        path = tmp_path / f"{home}.py"
        path.write_bytes(text.encode())
        path.chmod(mode)
        words = [word.replace("FILE", f"{home}.py") for word in options]
        monkeypatch.setattr(sys, "argv", ["asif", "check", *words])
        monkeypatch.setattr(sys, "stdin", io.StringIO() if answer is None else Terminal(answer))
        with pytest.raises(SystemExit) as ended:
            main()
        return Checked(ended.value.code or 0, *capsys.readouterr(), path)

    yield call
    for home in loaded:
        sys.modules.pop(home, None)


def test_the_words_about_a_file_fit_on_80_columns(
    check: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change of the file is printed as it is."""
    monkeypatch.setattr(console, "_width", 80)
    monkeypatch.setenv("COLUMNS", "80")
    again = f"../{tmp_path.name}/" * 2
    checked = check(OPEN, f"{again}FILE", "--pin", *FEW)
    assert checked.code == 1
    _, _, after = checked.out.partition("+")[2].partition("\n")
    assert "--yes writes without a question" in " ".join(after.split())
    words = [row for row in after.splitlines() if row[:1] not in {" ", "-", "+"} and " " in row]
    assert words
    assert max(map(len, words)) <= 80


def test_the_pins_are_shown_and_written(check: Check) -> None:
    checked = check(OPEN, "FILE", "--pin", "--yes", *FEW, mode=0o640)
    assert checked.code == 0
    assert checked.text == RIGHT
    assert checked.path.stat().st_mode & 0o777 == 0o640
    assert "-    scopes=(TWO_CRASHES.fails(),),\n" in checked.out
    assert f"+    scopes=({PINNED},),\n" in checked.out
    assert checked.out.endswith(f"{checked.path.name}: pinned: two crashes\n")


def test_a_file_that_has_its_pins_is_as_it_says(check: Check) -> None:
    checked = check(RIGHT, "FILE", "--pin", *FEW)
    assert checked.code == 0
    assert checked.text == RIGHT
    assert checked.out.endswith(f"{checked.path.name}: all pins are as found\n")


@pytest.mark.parametrize(
    ("answer", "code", "last"),
    [
        (None, 1, "not written; --yes writes without a question"),
        ("n\n", 1, "not written"),
        ("\n", 1, "not written"),
        ("", 1, "not written"),  # the end of the input
        ("y\n", 0, "pinned: two crashes"),
    ],
)
def test_the_user_is_asked_on_a_terminal(
    answer: str | None, code: int, last: str, check: Check
) -> None:
    checked = check(OPEN, "FILE", "--pin", *FEW, answer=answer)
    assert checked.code == code
    assert checked.text == (OPEN if code else RIGHT)
    assert checked.out.endswith(f"{checked.path.name}: {last}\n")
    assert ("write " in checked.out) == (answer is not None)


def test_an_interrupted_writing_leaves_the_file(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", interrupted)
    checked = check(OPEN, "FILE", "--pin", "--yes", *FEW)
    assert checked.code == 130
    assert checked.text == OPEN
    assert [path.name for path in checked.path.parent.glob("*.py*")] == [checked.path.name]


def test_a_file_that_somebody_changes_meanwhile_stays(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    def confirm(_: str) -> bool:
        (path,) = Path.cwd().glob("pinned_*.py")
        path.write_text("# mine\n")
        return True

    monkeypatch.setattr("typer.confirm", confirm)
    checked = check(OPEN, "FILE", "--pin", *FEW, answer="y\n")
    assert checked.code == 1
    assert checked.text == "# mine\n"
    assert checked.out.endswith("not written, since it has changed during the check\n")


def test_a_link_stays_a_link(check: Check, tmp_path: Path) -> None:
    (tmp_path / "linked.py").symlink_to(f"pinned_{next(NUMBERS) + 1}.py")
    checked = check(OPEN, "linked.py", "--pin", "--yes", *FEW)
    sys.modules.pop("linked")
    assert checked.code == 0, checked.err
    assert (tmp_path / "linked.py").is_symlink()
    assert checked.text == RIGHT


def test_another_verdict_is_never_written(check: Check) -> None:
    text = RIGHT.replace(PINNED, "TWO_CRASHES.holds()")
    checked = check(text, "FILE", "--pin", "--yes", *FEW)
    assert checked.code == 1
    assert checked.text == text
    line = 1 + text[: text.index("TWO_CRASHES.holds()")].count("\n")
    assert (
        "not pinned: two crashes: expected: holds; found: refuted; if that is right, write "
        f".fails(747, 8, Guarantee.REPEATING) in line {line}" in " ".join(checked.out.split())
    )


def test_pins_do_not_hide_that_something_else_is_not_as_expected(check: Check) -> None:
    text = OPEN + "\n\nPROTOCOL = PROTOCOL.vary(must_occur=(Quantity('rain', 'drops', ''),))\n"
    text = text.replace("import (", "import (\n    Quantity,", 1)
    checked = check(text, "FILE", "--pin", "--yes", *FEW)
    assert checked.code == 1
    assert PINNED in checked.text
    assert checked.out.endswith(
        "forgetful: still not as expected, since no pin says that; see above\n"
    )


BAD = {
    "a registered protocol": (("micro-batch", "--pin"), "give FILE.py or FILE.py:VARIANT"),
    "all": (("--all", "--pin"), "give FILE.py or FILE.py:VARIANT"),
    "duties": (("FILE", "--duties", "--pin"), "give FILE.py or FILE.py:VARIANT"),
    "no file": (("no.py", "--pin"), "no.py: no such file"),
    "yes alone": (("FILE", "--yes"), "--yes is for --pin"),
    "no variant": (("FILE:late", "--pin"), "unknown variant 'late'"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_one_line(what: str, check: Check) -> None:
    options, why = BAD[what]
    checked = check(OPEN, *options)
    assert (checked.code, checked.out, checked.text) == (2, "", OPEN)
    assert why in checked.err
    assert checked.err.count("\n") == 1


def test_a_word_that_is_no_python_is_one_line(check: Check) -> None:
    checked = check("def f(:\n", "FILE", "--pin", "--yes")
    assert checked.code == 2
    assert f"{checked.path.name}:1: importing it raises SyntaxError" in checked.err


def test_a_file_that_is_read_only_is_refused_before_the_check(check: Check) -> None:
    checked = check(OPEN, "FILE", "--pin", "--yes", mode=0o444)
    assert (checked.code, checked.out, checked.text) == (2, "", OPEN)
    assert checked.err == (
        f"asif: {checked.path.name}: it is read-only, so --pin cannot write to it\n"
    )


# --- the files about engines -----------------------------------------------------------------
WRITTEN = re.compile(r"\.(holds|fails)\(\d[\d_]*(, \d+)?(, [\w.]+)?\)")


PINNED_SELDOM = pytest.mark.exhaustive


def forms(path: Path) -> tuple[Protocol, ...]:
    fixed = subject(str(path)).protocol
    return fixed, *fixed.variants


@pytest.mark.parametrize(
    "name",
    [
        # `.ci/run` has the pins of one, and compares each picture (tests/engines).
        pytest.param(name, marks=() if name == "kip_447" else PINNED_SELDOM)
        for name in sorted(path.stem for path in engines.FOLDER.glob("*.py"))
    ],
)
def test_the_pins_of_an_engine_come_back(name: str, check: Check) -> None:
    path = engines.FOLDER / f"{name}.py"
    wanted = [one.evidence.scopes for one in forms(path)]
    text, stripped = WRITTEN.subn(r".\1()", path.read_text(encoding="utf-8"))
    assert stripped
    for form in forms(path):
        checked = check(text, f"FILE:{form.variant}".removesuffix(":"), "--pin", "--yes", *FEW)
        assert checked.code == 0, checked.out
        text = checked.text
    checked = check(text, "FILE", "--pin", *FEW)
    assert checked.out.endswith(": all pins are as found\n")
    found = [one.evidence.scopes for one in forms(checked.path)]
    assert [[*map(Pins.of, scopes)] for scopes in found] == [
        [*map(Pins.of, scopes)] for scopes in wanted
    ]
