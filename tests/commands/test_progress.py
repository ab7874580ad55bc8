"""Progress as lines: what is under way is printed, soon, now and then, and at the end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asif.progress import LINE_S, SHORT_S, Lines


class Clock:
    """A clock that stands until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def make(clock: Clock) -> tuple[Lines, list[str]]:
    said: list[str] = []
    return Lines(said.append, clock), said


def test_a_stage_is_printed_soon_now_and_then_and_at_its_end(clock: Clock) -> None:
    lines, said = make(clock)
    lines.progress("proving", 0, 4, "first")
    lines.tick()
    assert said == []
    clock.now = SHORT_S
    lines.tick()
    lines.tick()
    assert said == ["proving: 0 of 4, first, after 1 s"]
    clock.now = 30
    lines.progress("proving", 1, 4, "second")
    assert len(said) == 1
    lines.tick()
    clock.now = 30 + LINE_S - 1
    lines.tick()
    assert said[1:] == ["proving: 1 of 4, second, after 30 s, about 1 min 30 s left"]
    clock.now = 125
    lines.progress("proving", 4, 4)
    lines.tick()
    assert said[2:] == ["proving: done in 2 min 5 s"]


def test_short_stages_print_nothing(clock: Clock) -> None:
    lines, said = make(clock)
    for number in range(9):
        lines.progress("mutants", 0, 1)
        clock.now = number + SHORT_S / 2
        lines.tick()
        lines.progress("mutants", 1, 1)
        clock.now = number + 1
        lines.tick()
    assert said == []


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3), st.floats(0, 40)), max_size=40))
def test_lines_of_a_stage_are_far_apart_and_none_is_silent(
    steps: Sequence[tuple[str, int, float]],
) -> None:
    """With any calls at any times: between two lines of a stage that goes on there are LINE_S, and
    after a tick the newest line is younger than that."""
    clock = Clock()
    lines, said = make(clock)
    printed: dict[str, float] = {}
    started: dict[str, float] = {}
    for stage, done, passed in steps:
        clock.now += passed
        started.setdefault(stage, clock.now)
        lines.progress(stage, done, 3)
        if done == 3:
            del started[stage]
            printed.pop(stage, None)
        said.clear()
        lines.tick()
        for line in said:
            name = line[0]
            assert clock.now - printed.get(name, -LINE_S) >= LINE_S
            printed[name] = clock.now
        for name, began in started.items():
            assert clock.now - printed.get(name, began) < LINE_S


def test_without_a_terminal_lines_are_printed_on_standard_error() -> None:
    """Standard output stays what it is; the stage ends before the context, so nothing is due."""
    code = (
        "import asif.progress as p\n"
        "p.SHORT_S = 0.01\n"
        "printed = __import__('threading').Event()\n"
        "put = print\n"
        "p.print = lambda *line, **to: (put(*line, **to), printed.set())\n"
        "with p.show_progress() as progress:\n"
        "    progress('proving', 1, 2, 'all')\n"
        "    assert printed.wait(60)\n"
        "    progress('proving', 2, 2)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == ""
    first, last = ran.stderr.splitlines()
    assert first.startswith("proving: 1 of 2, all, after ")
    assert last.startswith("proving: done in ")
