"""The verdicts about savepoints, and the shortest runs behind each finding about them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from model.actions import Crash, Timeout
from model.core import Received, Send
from model.events import Body
from model.evidence import Case, Outcome
from model.play import Play
from model.protocols.unaligned_checkpoints import scopes
from model.protocols.unaligned_checkpoints.instances import SAVEPOINT
from model.protocols.unaligned_checkpoints.messages import (
    CheckpointBarrier,
    CheckpointPart,
    FlowRecord,
    InstanceState,
    show,
)
from model.protocols.unaligned_checkpoints.nodes import step
from model.protocols.unaligned_checkpoints.savepoint_variants import FLAWED_SAVING, SAVING
from model.system import System
from proofs.explore.explorer import Exploration, explore

BY_NAME = {protocol.variant: protocol for protocol in (*SAVING, *FLAWED_SAVING)}


def found(variant: str, case: Case) -> Exploration:
    return explore(BY_NAME[variant], case.scope)


def record(run: int = 0, time: int = 1) -> FlowRecord:
    return FlowRecord(run, Body(time, "a"), frozenset())


def parts(effects: tuple[object, ...]) -> list[CheckpointPart]:
    sends = [one.message for one in effects if isinstance(one, Send)]
    return [one for one in sends if isinstance(one, CheckpointPart)]


# --- the verdicts ----------------------------------------------------------------------------
def test_each_flaw_is_found_and_nothing_else_is() -> None:
    assert all(one.evidence.expected is Outcome.HOLDS for one in SAVING)
    assert all(one.evidence.expected is Outcome.REFUTED for one in FLAWED_SAVING)
    assert (len(SAVING), len(FLAWED_SAVING)) == (5, 5)


@pytest.mark.parametrize(
    ("variant", "case", "steps", "crashes"),
    [
        ("savepoint-overtakes", scopes.A_RELAY, 13, False),
        ("savepoint-uncommitted", scopes.A_RELAY, 15, False),
        ("savepoint-unused", scopes.A_RELAY, 26, True),
        ("savepoint-copied", scopes.TWO_RECORDS_NO_CRASH, 35, False),
    ],
)
def test_a_shortest_run_shows_the_flaw(variant: str, case: Case, steps: int, crashes: bool) -> None:
    exploration = found(variant, case)
    assert exploration.counterexample is not None
    run = exploration.counterexample.trace.actions
    assert len(run) == steps
    assert crashes == any(
        isinstance(one, Crash) or getattr(one, "crash_after", None) is not None for one in run
    )


# --- a stop, step by step --------------------------------------------------------------------
def is_savepoint(action: object) -> bool:
    return isinstance(action, Timeout) and action.timer == SAVEPOINT


def all_else(action: object) -> int | None:
    """The order in which the user asks for no savepoint."""
    return None if is_savepoint(action) else 0


def the_user_first(action: object) -> int:
    return 0 if is_savepoint(action) else 1


def stop(variant: str, before: Callable[[Play], object]) -> Play:
    """A run of two records, which the user stops after these actions."""
    play = Play(BY_NAME[variant], scopes.TWO_RECORDS_NO_CRASH.scope)
    (_, words), *_ = scopes.TWO_RECORDS_NO_CRASH.scope.inputs
    play.inject("source", words.alphabet[0])
    before(play)
    play.inject("source", words.alphabet[0])
    play.settle(the_user_first)
    return play


@pytest.mark.parametrize("variant", ["savepoint", "savepoint-aligned"])
@pytest.mark.parametrize("settles", [False, True])
def test_a_stop_replays_nothing(variant: str, settles: bool) -> None:
    play = stop(variant, lambda play: play.settle(all_else) if settles else None)
    assert play.notes["coordinator", "complete savepoints"] == 1
    assert play.notes["coordinator", "jobs begun from savepoints"] == 1
    assert play.notes["source", "events replayed"] == 0
    assert len(play.outputs("sink")) == 2


def test_the_next_job_after_a_copy_replays() -> None:
    """The savepoint is taken after the first event; the user asks for the next job at the end."""
    play = Play(BY_NAME["savepoint-copied"], scopes.TWO_RECORDS_NO_CRASH.scope)
    (_, words), *_ = scopes.TWO_RECORDS_NO_CRASH.scope.inputs
    play.inject("source", words.alphabet[0])
    play.do(next(one for one in play.ready() if is_savepoint(one)))
    play.settle(all_else)
    play.inject("source", words.alphabet[0])
    play.settle(all_else)
    assert len(play.outputs("sink")) == 2
    play.settle()
    assert play.notes["source", "events replayed"] == 1
    assert len(play.outputs("sink")) == 3


# --- instances -------------------------------------------------------------------------------
def test_a_savepoint_has_no_record_on_its_way() -> None:
    """The barrier waits behind the record of its channel; the part has state alone."""
    site = System(BY_NAME["savepoint"], scopes.A_RELAY.scope).sites["writer"]
    full = InstanceState(inbox=(("source", record()),))
    _, effects = step(site, full, Received("source", CheckpointBarrier(0, 1, saves=True)))
    assert not parts(effects)
    _, effects = step(site, full, Received("source", CheckpointBarrier(0, 1)))
    assert [len(one.part.inputs) for one in parts(effects)] == [1]


def test_a_savepoint_waits_for_records_of_an_instance_that_is_no_more() -> None:
    """No barrier comes behind them; a checkpoint would take them into its snapshot."""
    site = System(BY_NAME["savepoint-aligned"], scopes.A_RELAY.scope).sites["writer"]
    restored = InstanceState(run=1, inbox=(("source.1", record(run=0)),))
    for saves, count in ((True, 0), (False, 1)):
        barrier = CheckpointBarrier(1, 1, saves)
        _, effects = step(site, restored, Received("source", barrier))
        assert len(parts(effects)) == count


def test_words_name_savepoints() -> None:
    assert show(CheckpointBarrier(0, 2, saves=True)) == "barrier of savepoint 2"
