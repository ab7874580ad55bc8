"""A name that a shell puts into the line at TAB is read back as that name.

Rule of this file: a real shell completes, on a terminal of its own; test_help has the plain names.
"""

from __future__ import annotations

import os
import pty
import re
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asif.cli import COMMANDS
from asif.shell_words import quoted, read_line

ROOT = Path(__file__).parents[2]
NAMES = (
    "a (b)",
    "c 'd\" e",
    "f$g `h`",
    "i;j&k|l",
    "m*n?o[p]",
    "q!r#s\\t",
    "u<v>{w}~^",
    "x:y@z=1 2",
    "\N{LATIN SMALL LETTER E WITH ACUTE}:\N{RIGHTWARDS ARROW} $",
)
"""Scopes, each with another first letter."""
MINE = f"""
from dataclasses import replace
from docs.examples.relay import PROTOCOL
first = PROTOCOL.evidence.scopes[0]
scopes = tuple(replace(first, name=name) for name in {NAMES!r})
PROTOCOL = replace(PROTOCOL, evidence=replace(PROTOCOL.evidence, scopes=scopes))
"""
SILENT = {
    "raises.py": "raise ValueError('of the file')",
    "ends.py": "import sys; sys.exit('of the file')",
    "prints.py": "import os; print('of the file'); os.system('echo of the file'); 1 / 0",
    "at_exit.py": "import atexit; atexit.register(print, 'of the file')",
    "syntax.py": "PROTOCOL = (",
    "wrong.py": "PROTOCOL = 1",
    "interrupts.py": "raise KeyboardInterrupt",
}
"""Files of a user without protocols, by name."""
READY = "asif() { printf '<%s>' \"$@\"; echo; }; PS1='READY> '; eval \"$(env asif"
DEADLINE = 60.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of a user and the command `asif`."""
    place = tmp_path_factory.mktemp("completion")
    (place / "mine.py").write_text(MINE)
    for name, text in SILENT.items():
        (place / name).write_text(text + "\n")
    command = place / "bin" / "asif"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m asif "$@"\n')
    command.chmod(0o755)
    return place


class Terminal:
    """A shell on a terminal of its own."""

    def __init__(self, words: list[str], folder: Path) -> None:
        here, there = pty.openpty()
        self.screen = here
        paths = f"{folder / 'bin'}:{os.environ['PATH']}"
        self.process = subprocess.Popen(
            words,
            stdin=there,
            stdout=there,
            stderr=there,
            cwd=folder,
            env={**os.environ, "PATH": paths, "PYTHONPATH": str(ROOT), "TERM": "dumb"},
            start_new_session=True,
        )
        os.close(there)

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())

    def read_until(self, pattern: str) -> str:
        """The output from now on, up to the pattern."""
        found, end = b"", time.monotonic() + DEADLINE
        while not re.search(pattern, text := found.decode("utf-8", "replace"), re.DOTALL):
            left = end - time.monotonic()
            assert select.select([self.screen], [], [], max(left, 0))[0], text
            found += os.read(self.screen, 65536)
        return text

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.screen)


@pytest.fixture
def bash(folder: Path) -> Iterator[Terminal]:
    terminal = Terminal(["bash", "--norc", "--noprofile", "-i"], folder)
    try:
        terminal.type("bind 'set enable-bracketed-paste off'; bind 'set bell-style none'\n")
        terminal.type(f'{READY} --show-completion bash)"; echo "IS"" UP"\n')
        terminal.read_until("IS UP\r?\n.*READY> ")
        yield terminal
    finally:
        terminal.end()


def completed(terminal: Terminal, typed: str) -> list[str]:
    """The words that a command gets after TAB and Enter."""
    terminal.type(f"{typed}\t\n")
    found = terminal.read_until(r"\n<.*READY> ")
    return re.findall("<(.*?)>(?=<|\r?\n)", found[found.index("\n<") :])


@pytest.mark.slow
def test_bash_reads_a_completed_name_as_one_word(bash: Terminal) -> None:
    for name in NAMES:
        assert completed(bash, f"asif explore mine.py {name[0]}") == ["explore", "mine.py", name]
    for typed, name in (
        (r"a\ ", NAMES[0]),
        ("'a (", NAMES[0]),
        ('"c ', NAMES[1]),
        ('"q!', NAMES[5]),
    ):
        assert completed(bash, f"asif explore mine.py {typed}")[-1] == name
    assert completed(bash, "asif check mine.py --scope=x:y@z")[-1] == f"--scope={NAMES[7]}"


@pytest.mark.slow
@pytest.mark.parametrize("file", [*SILENT, "nofile.py"])
def test_a_file_that_fails_completes_nothing_and_prints_nothing(file: str, folder: Path) -> None:
    assert answer("bash", f"asif check {file}:", folder) == ("", "")
    assert answer("zsh", f"asif explore {file} a", folder) == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_completion_of_any_command_fails(command: str, folder: Path) -> None:
    """Each word of a line may be of a file that raises."""
    for words in ("raises.py:", "--format gif --scope x raises.py a"):
        assert answer("fish", f"asif {command} {words}", folder)[1] == ""


def answer(shell: str, line: str, folder: Path) -> tuple[str, str]:
    """The output on both streams, without the end of its line."""
    ran = subprocess.run(
        [sys.executable, "-m", "asif"],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "_ASIF_COMPLETE": f"complete_{shell}",
            "_TYPER_COMPLETE_ARGS": line,
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        },
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout.strip("\n"), ran.stderr


@pytest.mark.slow
def test_other_shells_get_whole_names(folder: Path) -> None:
    """They escape by themselves; zsh has a colon between a name and its help."""
    plain, parted = NAMES[1], NAMES[7]
    assert answer("fish", "asif explore mine.py c", folder) == (plain, "")
    assert answer("zsh", "asif explore mine.py c", folder) == (plain, "")
    assert answer("zsh", "asif explore mine.py x", folder) == (parted.replace(":", r"\:"), "")
    assert answer("fish", "asif check mine.py --scope=c", folder) == (f"--scope={plain}", "")
    assert answer("zsh", r"asif explore mine.py q\!", folder) == (NAMES[5].replace("\\", r"\\"), "")
    options, _ = answer("zsh", "asif check --allow", folder)
    assert re.fullmatch("--allow-unfinished:[A-Z].*", options)


WORDS = st.text(st.characters(exclude_categories=["C", "Z"]) | st.just(" "), min_size=1)


@given(st.lists(WORDS), WORDS, st.sampled_from(["", "'", '"']))
def test_quoted_words_are_read_back(before: list[str], last: str, quote: str) -> None:
    line = " ".join(map(quoted, before))
    assert read_line(f"{line} ").words == tuple(before)
    found = read_line(f"{line} {quote}{quoted(last, quote)}")
    assert (found.words, found.last) == (tuple(before), last)


@given(st.lists(WORDS, min_size=1))
def test_bash_and_asif_read_alike(words: list[str]) -> None:
    line = " ".join(map(shlex.quote, words))
    assert read_line(f"{line} ").words == tuple(shlex.split(line))


@pytest.mark.parametrize(
    ("line", "kept"),
    [("a b:c", 2), (r"a b\:c", 0), ("a 'b:c", 0), ("a b:'c", 2), ("a:b ", 0), ("a b@c", 1)],
)
def test_bash_keeps_what_stands_before_a_break(line: str, kept: int) -> None:
    assert read_line(line, ":@").kept == kept
