"""Input Sets that overlap, and a slow bank: the second example is killed at every statement and
effect, and pays each hour once."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from docs.examples.log_io import hours
from docs.examples.log_io.bank import Bank
from docs.examples.log_io.external import Watch
from spark_check.log_io.library import Capture, Event, Log, Operator, Sink, write_action
from tests.families.log_io.library.children import (
    do_nothing,
    small_process,
    start_work,
    was_killed,
)
from tests.families.log_io.library.conftest import Fresh
from tests.families.log_io.library.tables import log_outputs
from tests.families.log_io.library.test_kills import one_by_one

ANSWERS = "SELECT COUNT(*) FROM request WHERE answer = ?"
LEFT = "SELECT DISTINCT inset_key FROM event_log WHERE status = 'undone'"


def run_hours(place: str, folder: Path, at: int | None) -> bool:
    """Run the pipeline in a child; was it killed before statement or effect `at`?"""

    def work(log: Log, watch: Watch) -> None:
        hours.run(log, folder, watch)

    return was_killed(start_work(place, Capture(), at, work))


def ask(folder: Path, query: str, *values: str) -> list[Any]:
    """Rows of the bank."""
    bank = Bank(folder / "bank.db", do_nothing)
    try:
        return bank._database.execute(query, values).fetchall()
    finally:
        bank.close()


def paid(folder: Path) -> list[str]:
    return [f"{at} {text}" for at, text in ask(folder, "SELECT number, text FROM payment")]


def ended(place: str, folder: Path, kills: Sequence[int], run: Any = run_hours) -> tuple[bool, int]:
    """Is each hour paid once, and only the window of the last hour open?  The number of kills."""
    folder.mkdir()
    killed = sum(run(place, folder, at) for at in kills)
    assert not run(place, folder, None)
    with Log(place, synchronous="OFF") as log:
        open_ = [key for (key,) in log.database.execute(LEFT)]
    return paid(folder) == hours.expected(folder) and open_ == ["14"], killed


@pytest.mark.slow
@pytest.mark.parametrize(
    "fresh",
    [
        "sqlite",
        # .ci/run has the same kills with SQLite, and those of test_kills.py with PostgreSQL
        pytest.param("postgresql", marks=pytest.mark.exhaustive),
    ],
    indirect=True,
)
def test_a_kill_at_every_statement(fresh: Fresh, tmp_path: Path) -> None:
    """The n-th statement of the first run, for every n; at times one of the second run, too."""
    with small_process() as call:
        at, refused, killed = 0, 0, 1
        while killed:
            at += 1
            folder, kills = tmp_path / str(at), (at, 20 + at % 37) if at % 4 == 0 else (at,)
            right, killed = ended(fresh(), folder, kills, partial(call, run_hours))
            assert right, at
            ((count,),) = ask(folder, ANSWERS, "refused")
            refused += count
    assert at > 100
    assert refused  # kills left requests behind, which the bank found in its queue later


# --- a write under way: a kill after its request has left --------------------------------------
def no_fence(self: hours.Payments, write: Event) -> bool:
    """A look into the book alone: "no" while the request is still in the queue."""
    return self.bank.has_paid(write.number)


def one_session(self: hours.Payments, bank: Bank) -> None:
    """A restarted payer goes on with the session of the one before."""
    self.bank = bank
    ((latest,),) = bank._database.execute("SELECT MAX(number) FROM session").fetchall()
    self.session = latest or bank.begin_session()


def work_once(self: Bank) -> None:
    """Execute the oldest request that waits, if its number is a new one."""
    oldest, number, text = self._database.execute(
        "SELECT id, number, text FROM request WHERE answer IS NULL ORDER BY id"
    ).fetchone()
    if not self.has_paid(number):
        row = number, text
        self._database.execute("INSERT INTO payment (number, text) VALUES (?, ?)", row)
    self._database.execute("UPDATE request SET answer = 'paid' WHERE id = ?", (oldest,))


UNFENCED = ((hours.Payments, "is_done", no_fence), (hours.Payments, "__init__", one_session))


WAYS: dict[str, tuple[Sequence[tuple[Any, str, Any]], int, int]] = {
    "a fence": ((), 1, 1),
    "each number once": ((*UNFENCED, (Bank, "_work", work_once)), 1, 0),
    "neither": (UNFENCED, 2, 0),
}
"""The changes to the example, the payments, and the requests that are refused."""


@pytest.mark.parametrize("way", WAYS)
def test_a_kill_after_a_request_has_left(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """The bank answers "no", and comes to the request later: it may pay twice."""
    changes, payments, refused = WAYS[way]
    for one in changes:
        monkeypatch.setattr(*one)
    with Log(place, synchronous="OFF") as log:
        log_outputs(log, write_action("payer", "bank", 1, b"rent"))
    assert was_killed(start_work(place, Capture(), None, partial(pay, tmp_path, dies=True)))
    assert (paid(tmp_path), ask(tmp_path, "SELECT number FROM request")) == ([], [(1,)])
    assert not was_killed(start_work(place, Capture(), None, partial(pay, tmp_path, dies=False)))
    assert paid(tmp_path) == ["1 rent"] * payments
    assert ask(tmp_path, ANSWERS, "refused") == [(refused,)]


def pay(folder: Path, log: Log, _watch: Watch, *, dies: bool) -> None:
    """The payer starts; it may be killed when its request has left."""

    def watch(effect: str) -> None:
        if dies and effect == "wait: the request has left":
            os.kill(os.getpid(), signal.SIGKILL)

    Sink(log, "payer", "bank", hours.Payments(Bank(folder / "bank.db", watch))).recover()


# --- the kills find faults ----------------------------------------------------------------------
MUTANTS: dict[str, Sequence[tuple[Any, str, Any]]] = {
    "an Input Set has a transaction of its own": [(Operator, "_generate", one_by_one)],
    "a no is no promise": UNFENCED,
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_kill_finds_each_mutant(
    mutant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for one in MUTANTS[mutant]:
        monkeypatch.setattr(*one)

    def finds(at: int) -> bool:
        return not ended(str(tmp_path / f"{at}.db"), tmp_path / str(at), (at,))[0]

    assert any(finds(at * 104 % 251) for at in range(1, 251))  # neighbours find the same
