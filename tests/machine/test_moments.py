"""Commands that a signal ends at a moment that a seed draws: the code, the words, and the rest.

Rule of this file: every command is a row of COMMANDS; each moment asks for the same.

Ctrl-C goes to the whole group of processes, as a terminal sends it.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from asif.cli import COMMANDS as NAMES
from model.machine.journals import entries
from tests.machine.moments import (
    ROOT,
    EndedCommand,
    RunningCommand,
    found,
    kill_left,
    processes,
    start,
)

DOCS = ROOT / "docs"
LOGS = [str(DOCS / "examples" / "logs" / f"counts{end}.csv") for end in ("", "-appended")]
COMMANDS = {
    "init": (["init", "mine.py"], 1),
    "list": (["list"], 1),
    "check": (["check", "upstream-backup"], 12),
    "check --spill": (
        ["check", "upstream-backup", "--scope", "two crashes", "--spill", "there"],
        8,
    ),
    "check --duties": (["check", str(DOCS / "examples" / "relay.py"), "--duties"], 8),
    "witness": (["witness", str(DOCS / "examples" / "forgetful.py")], 3),
    "explore": (["explore", "micro-batch", "--no-open", "--port", "0"], 4),
    "run": (["run", "upstream-backup"], 3),
    "classify": (["classify", "aggregate-count-2-2"], 4),
    "prove": (["prove"], 15),
    "plan": (["plan", str(DOCS / "plans" / "priorities.toml")], 3),
    "lineage": (["lineage", "no-log.db"], 1),
    "simulate": (["simulate", str(DOCS / "scenarios" / "pipeline.toml")], 5),
    "calibrate": (["calibrate"], 3),
    "sweep": (["sweep", str(DOCS / "sweeps" / "windows.toml"), "--master", "local[2]"], 20),
    "choose": (["choose", str(DOCS / "workloads" / "sums.toml")], 8),
    "reproduce": (["reproduce", "lima-fig9"], 15),
    "spark": (["spark", "cec"], 40),
    "spark --all": (["spark", "--all"], 40),
    "log-io": (["spark", "log-io", "--profile", "full"], 40),
    "flink": (["flink", "points"], 10),
    "verify-trace": (
        ["verify-trace", *LOGS, "--expect", "repeating", "--master", "local[2]"],
        12,
    ),
    "report": (["report"], 15),
}
"""The words of a command, and the seconds until some moment that a signal comes."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGKILL: -9}
WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
END_S = 2.0
"""The promised time of an end on a machine that is not busy."""
BUSY = 10.0
"""How much slower a machine may be on which other tests run."""
QUICK, MANY = 25, 300


class Moment(NamedTuple):
    """A moment at which a signal ends a command.  again_s: the seconds to a second signal."""

    command: str
    at_s: float
    how: signal.Signals
    again_s: float | None

    def __str__(self) -> str:
        again = "" if self.again_s is None else f", again after {self.again_s:.2f} s"
        return f"{self.command} at {self.at_s:.2f} s by {self.how.name}{again}"


def moments(seed: int, count: int, share: float = 1.0) -> list[Moment]:
    """Moments of all commands in turn; half of them in the first second: a share of the seconds of
    a command is looked at."""
    random = Random(seed)
    names, drawn = [*COMMANDS], []
    for number in range(count):
        name = names[number % len(names)]
        _, seconds = COMMANDS[name]
        at = (
            random.uniform(0.05, 1) if random.random() < 0.5 else random.uniform(0, seconds * share)
        )
        again = random.uniform(0, 0.3) if random.random() < 0.3 else None
        drawn.append(Moment(name, max(at, 0.05), random.choice(SIGNALS), again))
    return drawn


@pytest.fixture
def running(tmp_path: Path) -> Iterator[list[RunningCommand]]:
    """The commands that a test starts; their remains end with the test."""
    commands: list[RunningCommand] = []
    yield commands
    for one in commands:
        kill_left(one.tag)


def test_every_command_has_a_moment() -> None:
    assert {words[0] for words, _ in COMMANDS.values()} == {*NAMES}
    assert {one.command for one in moments(1, QUICK)} == {*COMMANDS}


@pytest.mark.slow
@pytest.mark.parametrize("moment", moments(54, QUICK, 0.3), ids=str)
def test_a_command_that_a_signal_ends_leaves_nothing(
    moment: Moment, tmp_path: Path, running: list[RunningCommand]
) -> None:
    end_at(moment, tmp_path, running)


@pytest.mark.exhaustive  # .ci/run ends 25 commands instead
@pytest.mark.timeout(4 * 3600)
def test_many_moments(tmp_path: Path, running: list[RunningCommand]) -> None:
    wrong = []
    for number, moment in enumerate(moments(2054, MANY)):
        try:
            end_at(moment, tmp_path / str(number), running)
        except AssertionError as error:
            wrong.append(f"{moment}: {error}")
    assert not wrong, "\n".join(wrong)


def end_at(moment: Moment, folder: Path, running: list[RunningCommand]) -> None:
    """Start the command, end it at the moment, and judge its remains."""
    folder.mkdir(exist_ok=True)
    command = start(COMMANDS[moment.command][0], folder)
    running.append(command)
    if not command.wait(moment.at_s):
        assert command.process.returncode in (0, 1, 2)
        assert "Traceback" not in command.errors.read_text()
        ended = EndedCommand(0, 0, "", tuple(processes(command.tag)), found(command.temporary))
    else:
        group = moment.how == signal.SIGINT
        ended = command.end(moment.how, group=group, again_s=moment.again_s)
        judge(ended, moment)
    assert ended.left == ()
    assert not (command.home / ".hypothesis").exists()
    if moment.how == signal.SIGKILL and ended.temporary:
        again = RunningCommand(["list"], folder / "again", command.temporary, command.tag)
        assert again.process.wait(60) == 0
        ended = ended._replace(temporary=found(command.temporary))
    assert ended.temporary == ()


def judge(ended: EndedCommand, moment: Moment) -> None:
    """Its exit code and its last words.  It may have ended by itself just before the signal, or
    begin only after it."""
    assert ended.took_s < END_S * BUSY  # also if it has ended by itself, for it saw the signal
    if ended.code in (0, 1, 2):
        return
    early = -moment.how  # Python itself had not begun yet
    begun = ended.code != early or moment.how == signal.SIGKILL
    assert not begun or ended.code == CODES[moment.how]
    lines = ended.said.splitlines()
    if begun:
        assert "Traceback" not in ended.said
        assert len(lines) <= 2, ended.said
    if ended.code in (130, 143):
        assert WORDS[moment.how] in lines[-1]


# --- the folder of the user -------------------------------------------------------------
@pytest.mark.slow
def test_an_attack_at_random_leaves_no_folder(
    tmp_path: Path, running: list[RunningCommand]
) -> None:
    """Hypothesis makes one where it stands, whether or not it has a database."""
    words = ["check", str(DOCS / "examples" / "forgetful.py"), "--workers", "1", "--examples", "3"]
    command = start(words, tmp_path)
    running.append(command)
    assert command.process.wait(300) in (0, 1), command.errors.read_text()
    assert found(command.home) == ("build",)
    assert found(command.temporary) == ()


# --- the next call --------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize(
    "how",
    # `.ci/run` ends 25 commands by either signal, and goes on after one of them.
    [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.exhaustive)],
)
def test_an_ended_command_goes_on_from_there(
    how: signal.Signals, tmp_path: Path, running: list[RunningCommand]
) -> None:
    words = ["reproduce", "lima-fig9", "--seeds", "3", "--events", "3000", "--out", "runs"]
    command = start(words, tmp_path)
    running.append(command)
    journal = command.home / "runs"
    command.wait_for(lambda: any(entries(path, "seed") for path in journal.glob("*.jsonl")))
    ended = command.end(how, group=True)
    assert ended.said.splitlines()[-1].endswith("; the same command goes on from there")
    assert (ended.code, ended.left, ended.temporary) == (CODES[how], (), ())
    (kept,) = journal.glob("*.jsonl")
    before = kept.read_text().splitlines()
    again = start(words, tmp_path)
    running.append(again)
    assert again.process.wait(120) == 0, again.errors.read_text()
    assert kept.read_text().splitlines()[: len(before)] == before
