"""A coordinator of asynchronous barrier snapshotting that crashes, alone and with other nodes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from model.actions import Crash, Deliver, Restart
from model.core import Guarantee, Received, Save, Send, Step
from model.events import Body
from model.protocols.abs import scopes
from model.protocols.abs.coordinator_variants import COORDINATOR_VARIANTS, KEEPS_ALL
from model.protocols.abs.design import (
    AbsDesign,
    CoordinatorRestart,
    CoordinatorStorage,
    Decides,
    Sources,
)
from model.protocols.abs.family import ABS
from model.protocols.abs.messages import (
    EndEpoch,
    EpochComplete,
    EpochMarker,
    EpochPart,
    Kept,
    OverseerState,
    Prepared,
    Reborn,
    RollBack,
    RunIs,
    StreamRecord,
    TaskState,
)
from model.protocols.abs.nodes import recover, step
from model.protocols.abs.protocol import PROTOCOL
from model.system import System
from proofs.explore.explorer import explore
from tests.families.abs.explored import CASES, explored, reading

BY_NAME = {protocol.name: protocol for protocol in COORDINATOR_VARIANTS}
MENDED = BY_NAME["abs:coordinator"]


def real(step_: Step) -> list[Save | Send]:
    return [one for one in step_.effects if isinstance(one, Save | Send)]


# --- what may crash --------------------------------------------------------------------------
def test_the_coordinator_crashes_only_in_designs_that_say_so() -> None:
    scope = scopes.A_RELAY.scope
    assert "coordinator" not in System(PROTOCOL, scope).deployment.crashable
    deployment = System(MENDED, scope).deployment
    assert "coordinator" in deployment.crashable
    assert "coordinator" not in deployment.prompt


# --- which choices are right -----------------------------------------------------------------
@pytest.mark.slow
def test_one_choice_of_each_kind_is_right() -> None:
    """Of all designs whose coordinator may crash, exactly the mended one survives all scopes."""
    scopes = ("coordinator and a relay", "coordinator of a relay", "coordinator of a relay thrice")
    kept = [one for one in CoordinatorStorage if one is not CoordinatorStorage.NEVER_FAILS]
    right = []
    for keeps, decides, returns in product(kept, Decides, CoordinatorRestart):
        design = AbsDesign(coordinator=keeps, decides=decides, returns=returns)
        protocol = ABS.design("reading", design)
        runs = (explore(protocol, CASES[scope].scope, until=Guarantee.PRECISE) for scope in scopes)
        if all(run.counterexample is None for run in runs):
            right.append((keeps, decides, returns))
    keeps, first = CoordinatorStorage.EPOCHS_AND_RUNS, Decides.STORED_FIRST
    assert right == [
        (keeps, first, CoordinatorRestart.ROLLS_BACK),
        (keeps, first, CoordinatorRestart.ASKS),
    ]


def test_every_crash_point_of_the_coordinator_is_hit() -> None:
    """Each save and each message of a step, also of a recovery, is a point, and a scope hits it."""
    scopes = (
        "coordinator of a relay twice",
        "coordinator of pairs twice",
        "coordinator of two relays twice",
        "coordinator and a relay",
    )
    found = [explored(MENDED, name) for name in scopes]
    hit = {point for one in found for point in one.hit}
    assert not {point for one in found for point in one.points} - hit
    within = {point.after for point in hit if point.node == "coordinator" and point.on == "restart"}
    rolls = [("Save",), ("Save", "RollBack to source")]
    assert {*rolls, ("Save", "RollBack to source", "RollBack to first")} <= within
    amid = {point.after for point in hit if point.on == "Reborn from writer"}
    assert {*rolls} <= amid, "the coordinator crashes during the recovery of another node"


# --- the findings ----------------------------------------------------------------------------
@pytest.mark.parametrize("variant", ["coordinator-keeps-nothing", "coordinator-announces-first"])
def test_a_crash_amid_the_news_of_an_epoch_loses_its_records(variant: str) -> None:
    """The source knows of the complete epoch, and the restarted coordinator does not."""
    exploration = explored(BY_NAME[f"abs:{variant}"], "coordinator of a relay")
    assert exploration.counterexample is not None
    actions = exploration.counterexample.trace.actions
    cut = next(at for at, one in enumerate(actions) if getattr(one, "crash_after", None))
    assert actions[cut : cut + 3] == (
        Deliver("coordinator", "writer", 1),
        Deliver("source", "coordinator"),
        Restart("coordinator"),
    )


def test_one_number_for_two_runs_needs_two_crashes() -> None:
    design = replace(KEEPS_ALL, coordinator=CoordinatorStorage.EPOCHS)
    assert reading(design, "coordinator of a relay").counterexample is None
    twice = reading(design, "coordinator of a relay twice")
    assert twice.counterexample is not None
    crashes = [
        one
        for one in twice.counterexample.trace.actions
        if isinstance(one, Crash) or getattr(one, "crash_after", None)
    ]
    assert [one.node for one in crashes] == ["coordinator", "coordinator"]


# --- its steps -------------------------------------------------------------------------------
def site_of(design: AbsDesign, name: str = "coordinator") -> object:
    return System(ABS.design("reading", design), scopes.A_RELAY.scope).sites[name]


def test_the_decision_is_durable_before_any_node_knows_of_it() -> None:
    for decides in Decides:
        site = site_of(replace(KEEPS_ALL, decides=decides))
        state = OverseerState(1, 4, begun=True, coming=(("source", 7),))
        part = Received("writer", EpochPart(1, 5, None))
        effects = real(step(site, state, part))  # type: ignore[arg-type]
        save = Save(Kept(1, 5, (("source", 7), ("writer", None))))
        news = [Send(name, EpochComplete(1, 5)) for name in ("source", "writer")]
        first = decides is Decides.STORED_FIRST
        assert effects == ([save, *news] if first else [*news, save])


def test_a_restart_makes_the_number_of_the_run_durable_first() -> None:
    kept = Kept(2, 4, (("source", 7), ("writer", None)))
    state, effects = recover(site_of(KEEPS_ALL), kept)  # type: ignore[arg-type]
    sends = [Send("source", RollBack(3, 4, 7)), Send("writer", RollBack(3, 4, None))]
    assert [one for one in effects if isinstance(one, Save | Send)] == [
        Save(kept._replace(run=3)),
        *sends,
    ]
    assert (state.run, state.epoch, state.down) == (3, 4, frozenset())


def test_a_restarted_coordinator_restarts_again_for_a_node_that_it_thought_up() -> None:
    site = site_of(KEEPS_ALL)
    state, _ = recover(site, Kept(2, 4))  # type: ignore[arg-type]
    again = step(site, state, Received("writer", Reborn()))  # type: ignore[arg-type]
    assert again.state.run == 4


def test_a_late_answer_restarts_no_node() -> None:
    site = site_of(replace(KEEPS_ALL, returns=CoordinatorRestart.ASKS))
    state, _ = recover(site, Kept(2, 4))  # type: ignore[arg-type]
    for name in ("source", "writer"):
        state, _ = step(site, state, Received(name, RunIs(name, 5)))  # type: ignore[arg-type]
    assert state.run == 6
    late = step(site, state, Received("writer", RunIs("writer", 5)))  # type: ignore[arg-type]
    assert late.state == state
    assert not real(late)


def test_a_coordinator_that_goes_on_ends_the_epoch_under_way_once_more() -> None:
    site = site_of(replace(KEEPS_ALL, returns=CoordinatorRestart.GOES_ON))
    state, effects = recover(site, Kept(2, 4))  # type: ignore[arg-type]
    assert Send("source", EndEpoch(2, 5)) in effects
    assert state.begun


# --- what else the paper asks for ------------------------------------------------------------
def test_a_marker_blocks_its_input_and_no_other() -> None:
    """8.1.1: an operator "blocks the channel from where the new marker has been received"."""
    scope = scopes.A_UNION.scope
    site = System(PROTOCOL, scope).sites["writer"]
    state = PROTOCOL.behaviour.boot(site)

    def take(state: TaskState, sender: str, message: object) -> Step:
        return step(site, state, Received(sender, message))

    from_left, from_right = (StreamRecord(0, Body(1, type_), frozenset()) for type_ in "lr")
    state, _ = take(state, "left", EpochMarker(0, 1))
    state, _ = take(state, "left", from_left)
    assert state.taken == 0
    state, _ = take(state, "right", from_right)
    assert (state.taken, [sender for sender, _ in state.held]) == (1, ["left"])
    state, effects = take(state, "right", EpochMarker(0, 1))
    prepared, part = (one.message for one in effects if isinstance(one, Send))
    assert (part.part.taken, state.taken, state.held) == (1, 2, ())
    assert prepared == Prepared(1, prepared.outs, 1)
    assert [body.type for body, _ in prepared.outs] == ["r"]


def test_a_source_that_sends_nothing_again_loses_what_no_epoch_has() -> None:
    lost = reading(AbsDesign(sources=Sources.ONCE), "a relay").counterexample
    assert lost is not None
    assert len(lost.trace.actions) == 6
