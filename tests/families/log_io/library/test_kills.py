"""A pipeline is killed at every statement and effect, restarted, and compared with a run without
failures: outputs, external effects, lineage rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from docs.examples.log_io import pipeline
from docs.examples.log_io.pipeline import Writes
from spark_check.log_io.library import (
    Capture,
    Context,
    Event,
    InputSet,
    Log,
    Operator,
    Replay,
    Transaction,
    recovery,
)
from spark_check.log_io.library.database import Database
from tests.families.log_io.library.children import (
    Outcome,
    Run,
    outcome,
    run_and_kill,
    run_and_kill_each,
    small_process,
    without_bodies,
)
from tests.families.log_io.library.conftest import Fresh

LINEAGE, NOTHING = pipeline.captured(), Capture()


def ended(
    place: str,
    folder: Path,
    capture: Capture,
    readings: int,
    kills: tuple[int, ...],
    run: Run = run_and_kill,
) -> tuple[Outcome, int]:
    """The outcome of a run with these kills, and how many there were."""
    folder.mkdir()
    killed = sum(run(place, folder, capture, readings, at) for at in kills)
    assert not run(place, folder, capture, readings, None)
    return outcome(place, folder, capture), killed


def assert_as_without_failures(found: Outcome, clean: Outcome, readings: int) -> None:
    """A reading that a crash cut short may be followed by another one, which shows other amounts;
    the run is as one in which the till showed at once what was used."""
    assert len(found.used) == readings
    assert found.effects == pipeline.expected(found.used)
    assert found.left == clean.left
    assert without_bodies(found.lineage) == without_bodies(clean.lineage)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fresh", "capture", "readings"),
    [
        # .ci/run has the same kills with lineage, which writes more, in both databases
        pytest.param("sqlite", NOTHING, 1, id="SQLite", marks=pytest.mark.exhaustive),
        pytest.param("sqlite", LINEAGE, 1, id="SQLite with lineage"),
        pytest.param(
            *("sqlite", LINEAGE, 2), id="SQLite, two readings", marks=pytest.mark.exhaustive
        ),
        pytest.param("postgresql", LINEAGE, 1, id="PostgreSQL with lineage"),
    ],
    indirect=["fresh"],
)
def test_a_kill_at_every_statement(
    fresh: Fresh, tmp_path: Path, capture: Capture, readings: int
) -> None:
    """The n-th statement of the first run, for every n; at times one of the second run, too."""
    with small_process() as call:
        run = partial(call, run_and_kill)
        clean, _ = ended(fresh(), tmp_path / "clean", capture, readings, (), run)
        assert clean.effects == pipeline.expected(clean.used)
        assert bool(clean.lineage) == (capture == LINEAGE)
        at, repeated, killed = 0, 0, 1
        while killed:
            at += 1
            kills = (at, 20 + at % 37) if at % 4 == 0 else (at,)
            found, killed = ended(fresh(), tmp_path / str(at), capture, readings, kills, run)
            assert_as_without_failures(found, clean, readings)
            repeated += found.read - readings
    assert at > 100 * readings
    assert repeated  # some kills cut a reading short


# --- the test above finds faults: each of these is found at some kill -------------------------
def never_seen(_self: Context, _event: Event) -> bool:
    return False


def forget_inputs(_database: Database, _operator: str, _context: Context) -> list[Replay]:
    return []


def forget_numbers(_self: Context) -> str:
    return Context().to_json()


def never_done(self: Writes, _write: Event) -> bool:
    return False


def forget_keys(database: Database, operator: str, context: Context) -> list[Replay]:
    """An Input Set comes back by its number alone."""
    found = original_fetch(database, operator, context)
    return [one._replace(in_set=one.in_set._replace(key="alert")) for one in found]


@contextmanager
def commit_each(
    _self: Database, write_waiting: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Each statement is a transaction."""
    yield
    write_waiting()


def stay_undone(self: Transaction, event: Event) -> None:
    """A write is never marked as done."""


def context_first(self: Operator, event: Event, in_sets: Sequence[InputSet]) -> None:
    """UpdateContext (Table 7) as a step of its own: numbers that the stored state has not seen."""
    self.log.update_context(self.name, self._context.see(event, in_sets))
    original_process(self, event, in_sets)


def one_by_one(self: Operator, keys: Sequence[str], done: Sequence[Event]) -> None:
    """Each Input Set that an input completes ends in a transaction of its own (Listing 2)."""
    for one in [[key] for key in keys] or [[]]:
        original_generate(self, one, done)


original_process, original_generate = Operator._process, Operator._generate
original_fetch = recovery.fetch_ack_events
MUTANTS: dict[str, tuple[Any, str, Any]] = {
    "the context is stored before the state": (Operator, "_process", context_first),
    "an Input Set has a transaction of its own": (Operator, "_generate", one_by_one),
    "a replayed input triggers": (Context, "has_seen", never_seen),
    "undone inputs are not replayed": (recovery, "fetch_ack_events", forget_inputs),
    "numbers are not stored": (Context, "to_json", forget_numbers),
    "a pending write is not checked": (Writes, "is_done", never_done),
    "an Input Set has no key": (recovery, "fetch_ack_events", forget_keys),
    "a transaction is not atomic": (Database, "transaction", commit_each),
    "a write stays undone": (Transaction, "done_event", stay_undone),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_kill_finds_each_mutant(
    mutant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    clean, _ = ended(str(tmp_path / "clean.db"), tmp_path / "clean", LINEAGE, 2, ())
    monkeypatch.setattr(*MUTANTS[mutant])

    def finds(at: int) -> bool:
        place, folder = str(tmp_path / f"{at}.db"), tmp_path / str(at)
        try:
            found, _ = ended(place, folder, LINEAGE, 2, (at,))
            assert_as_without_failures(found, clean, 2)
        except AssertionError:
            return True
        return False

    assert any(finds(at * 104 % 251) for at in range(1, 251))  # neighbours find the same
    capfd.readouterr()  # what failing children print


# --- each operator in a process of its own ----------------------------------------------------
@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 8, 13])
def test_operators_in_processes_of_their_own(fresh: Fresh, tmp_path: Path, seed: int) -> None:
    """They run at the same time, and each one is killed at another moment, again and again."""
    place, rounds = fresh(), 0
    Log(place, LINEAGE).close()
    with small_process() as call:
        while not at_rest(place, tmp_path):
            at = [seed * (rounds + 2) + 17 * n for n, _ in enumerate(pipeline.OPERATORS)]
            call(run_and_kill_each, place, tmp_path, LINEAGE, 2, at)
            rounds += 1
    found = outcome(place, tmp_path, LINEAGE)
    assert rounds > 1
    assert found.effects == pipeline.expected(found.used)


def at_rest(place: str, folder: Path) -> bool:
    found = outcome(place, folder, LINEAGE)
    return len(found.used) == 2 and not found.left
