"""Tasks that write on after their run is over: orphans and woken tasks, fenced and not."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from model.actions import Suspect
from model.boxes.box import Out
from model.core import Arrival, Emit, Guarantee, Lost, Note, Received, Send
from model.events import Body
from model.evidence import Outcome
from model.play import Play, timers_last
from model.protocols.abs import scopes
from model.protocols.abs.design import Fences, Places, WriteMode
from model.protocols.abs.family import ABS
from model.protocols.abs.fencing_variants import FENCED, FENCING_VARIANTS, UNFENCED
from model.protocols.abs.messages import (
    ORPHANED,
    ExternalState,
    FromRun,
    OverseerState,
    Reborn,
    RollBack,
    StreamRecord,
    TaskState,
    WriteAction,
    show,
    size,
)
from model.protocols.abs.nodes import step
from model.protocols.abs.order_variants import ORDER_VARIANTS
from model.protocols.abs.places import place_in, task_at
from model.queues import STALE_NOTE
from model.system import System
from tests.families.abs.explored import explored

BY_NAME = {one.name: one for one in (*FENCING_VARIANTS, *ORDER_VARIANTS)}
AT_ONCE = {fences: replace(FENCED, fences=fences, writes=WriteMode.AT_ONCE) for fences in Fences}


# --- places --------------------------------------------------------------------------------------
def test_the_runs_of_a_task_take_its_places_by_turns() -> None:
    assert [place_in(run, "writer") for run in range(3)] == ["writer", "writer'", "writer"]
    assert {task_at(place_in(run, "writer")) for run in range(3)} == {"writer"}


def test_a_channel_stays_among_places_of_one_kind() -> None:
    system = System(BY_NAME["abs:elsewhere"], scopes.TWO_RELAYS.scope)
    ends = {*system.deployment.channels}
    between = {one for one in ends if {"first", "writer"} == {*map(task_at, one)}}
    assert between == {("first", "writer"), ("first'", "writer'")}
    assert {("source", "first"), ("source", "first'"), ("writer'", "sink")} <= ends
    assert system.deployment.crashable == {"first", "first'", "writer", "writer'"}
    assert {watched for watched, _ in system.deployment.watched} == system.deployment.crashable
    assert {*system.deployment.prompt} == {"coordinator", "sink"}


def test_a_design_with_one_place_has_no_others() -> None:
    system = System(BY_NAME["abs:suspected"], scopes.TWO_RELAYS.scope)
    assert {*system.sites} == {"source", "first", "writer", "sink", "coordinator"}


# --- the coordinator -----------------------------------------------------------------------------
def test_a_task_that_is_lost_is_restarted_elsewhere_at_once() -> None:
    site = System(BY_NAME["abs:elsewhere"], scopes.A_RELAY.scope).sites["coordinator"]
    lost = Received("writer", Lost("writer"))
    state, effects = step(site, OverseerState(run=2, epoch=4), lost)
    assert (state.run, state.down) == (3, frozenset())
    assert [one for one in effects if isinstance(one, Send)] == [
        Send("source", RollBack(3, 4, None)),
        Send("writer'", RollBack(3, 4, None)),
    ]
    for news in (lost, Received("writer", Reborn())):
        assert step(site, state, news) == (state, (STALE_NOTE,)), "a place that no task needs"


def test_a_suspected_task_that_is_up_blocks_a_coordinator_that_waits() -> None:
    exploration = explored(BY_NAME["abs:suspected"], "a relay")
    assert exploration.counterexample is not None
    assert Suspect("writer", "coordinator") in exploration.counterexample.trace.actions


# --- the external system -------------------------------------------------------------------------
@pytest.mark.parametrize("fences", Fences)
def test_a_change_of_an_orphan_is_noted_and_refused_if_there_is_a_fence(fences: Fences) -> None:
    protocol = ABS.design("reading", AT_ONCE[fences])
    site = System(protocol, scopes.A_RELAY.scope).sites["sink"]
    one = Body(1, "a")
    write = WriteAction(1, Out(one))
    state, effects = step(site, ExternalState(), Received("writer'", FromRun(1, write)))
    assert (state.runs, effects) == ((("writer", 1),), (Emit((0, one)),))
    orphan = Received("writer", FromRun(0, write))
    after, effects = step(site, state, orphan)
    assert after == state
    emitted = () if fences is Fences.RUNS else (Emit((0, one)),)
    assert effects == (Note(ORPHANED), *emitted)


def test_a_woken_task_overwrites_a_row_of_its_successor() -> None:
    """The writer is suspected with one event on its way to it, and wakes at the end."""
    rows = {}
    for fences in Fences:
        protocol = replace(BY_NAME["abs:elsewhere-table"], design=AT_ONCE[fences])
        play = Play(protocol, scopes.A_TABLE.scope)
        play.inject("source", Arrival(1, "a"))
        play.do(Suspect("writer", "coordinator"))
        play.settle(lambda action: None if action.node == "writer" else timers_last(action))
        play.inject("source", Arrival(1, "a"))
        play.settle(lambda action: (action.node == "writer", timers_last(action)))
        rows[fences] = [dict(body.data)["value"] for _, body, _ in play.outputs("sink")]
        assert play.notes["sink", ORPHANED.name] == 1
    assert rows == {Fences.NONE: [1, 2, 1], Fences.RUNS: [1, 2]}


# --- the readings --------------------------------------------------------------------------------
@pytest.mark.slow
def test_a_fence_is_needed_where_the_last_write_counts_or_names_are_shared() -> None:
    """Numbered writes need none, and appended outputs come twice in any case."""
    found = {
        (fences, writes): explored(
            ABS.design(
                "reading",
                replace(UNFENCED, fences=fences, writes=writes),
                assumes=BY_NAME["abs:elsewhere"].promise.assumes,
            ),
            "a relay",
        ).guarantee
        for fences, writes in product(Fences, (*WriteMode,))
    }
    differ = {
        writes
        for writes in WriteMode
        if found[Fences.NONE, writes] is not found[Fences.RUNS, writes]
    }
    assert differ == {WriteMode.TWO_PHASES}
    assert found[Fences.RUNS, WriteMode.IDEMPOTENT] is Guarantee.PRECISE
    assert found[Fences.RUNS, WriteMode.AT_ONCE] is Guarantee.REPEATING


@pytest.mark.parametrize("variant", ["elsewhere", "orphans"])
def test_a_row_of_a_table_stays_old_without_a_fence(variant: str) -> None:
    scope = {"elsewhere": "a table of running counts"}.get(
        variant, "coordinator of a table of running counts"
    )
    unfenced = explored(BY_NAME[f"abs:{variant}-table"], scope)
    fenced = explored(BY_NAME[f"abs:{variant}-table-fenced"], scope)
    assert unfenced.guarantee is Guarantee.DIVERGENT
    assert fenced.guarantee is Guarantee.PRECISE


def test_an_event_behind_a_union_has_two_counts() -> None:
    exploration = explored(BY_NAME["abs:at-once-any"], "a running count of a union")
    assert exploration.counterexample is not None
    assert len(exploration.counterexample.trace.actions) == 19
    assert exploration.guarantee is Guarantee.DIVERGENT


def test_each_wrong_form_is_refuted_and_each_right_one_holds() -> None:
    refuted = {
        name.removeprefix("abs:")
        for name, one in BY_NAME.items()
        if one.evidence.expected is Outcome.REFUTED
    }
    unfenced = {"elsewhere-unfenced", "elsewhere-table", "orphans-unfenced", "orphans-table"}
    assert refuted == {"suspected", *unfenced, "at-once-any", "transactional-any"}
    assert {one.design.places for one in FENCING_VARIANTS} == {*Places}


# --- how it looks --------------------------------------------------------------------------------
def test_a_change_with_its_run_looks_like_the_change() -> None:
    write = WriteAction(3, None)  # type: ignore[arg-type]
    assert show(FromRun(2, write)) == "write 3 (run 2)"
    assert size(FromRun(2, write)) == size(write)


def test_records_of_another_run_wait_for_the_restart() -> None:
    """A task in the second place has not been restarted yet when the first record comes."""
    site = System(BY_NAME["abs:elsewhere"], scopes.A_RELAY.scope).sites["writer'"]
    state = BY_NAME["abs:elsewhere"].behaviour.boot(site)
    record = StreamRecord(1, Body(1, "a"), frozenset())
    state, effects = step(site, state, Received("source", record))
    assert isinstance(state, TaskState)
    assert state.held == (("source", record),)
    assert not [one for one in effects if isinstance(one, Send)]
