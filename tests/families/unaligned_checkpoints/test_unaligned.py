"""What unaligned checkpoints hold, and the shortest runs behind each finding."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.actions import Crash
from model.boxes.stateless import Relay
from model.core import Arrival, Received, Send, TimerFired
from model.costs import NO_MEMORY, Gauges, MessageKind, Size
from model.errors import Invalid
from model.events import Body
from model.evidence import Case, Outcome
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.protocols.unaligned_checkpoints import scopes
from model.protocols.unaligned_checkpoints.design import Overtaking, Redistribution, UnalignedDesign
from model.protocols.unaligned_checkpoints.family import UNALIGNED_CHECKPOINTS
from model.protocols.unaligned_checkpoints.instances import KEY_GROUPS, key_group, plan
from model.protocols.unaligned_checkpoints.messages import (
    BufferedRecord,
    CheckpointBarrier,
    CheckpointDone,
    CheckpointDue,
    CheckpointPart,
    CommitterState,
    FlowRecord,
    GoBack,
    InjectBarriers,
    InstancePart,
    InstanceState,
    InstanceUp,
    KeeperState,
    KeyState,
    show,
    size,
)
from model.protocols.unaligned_checkpoints.nodes import gauges, memory, step
from model.protocols.unaligned_checkpoints.protocol import PROTOCOL
from model.protocols.unaligned_checkpoints.redistribution import share_out
from model.protocols.unaligned_checkpoints.variants import FLAWED, RIGHT, VARIANTS
from model.system import System
from proofs.explore.explorer import Exploration, explore

BY_NAME = {protocol.variant: protocol for protocol in (PROTOCOL, *VARIANTS)}


def found(variant: str, case: Case) -> Exploration:
    return explore(BY_NAME[variant], case.scope)


def length(variant: str, case: Case) -> int:
    """The steps of a shortest run that refutes the variant."""
    exploration = found(variant, case)
    assert exploration.counterexample is not None
    return len(exploration.counterexample.trace.actions)


def record(key: int, time: int = 1, run: int = 0) -> FlowRecord:
    return FlowRecord(run, Body(time, "a", (("key", key),)), frozenset())


# --- the verdicts ----------------------------------------------------------------------------
def test_each_flaw_is_found_and_nothing_else_is() -> None:
    assert all(one.evidence.expected is Outcome.HOLDS for one in (PROTOCOL, *RIGHT))
    assert all(one.evidence.expected is Outcome.REFUTED for one in FLAWED)
    assert len(FLAWED) == 11


def test_no_buffer_may_be_left_out_of_a_snapshot() -> None:
    assert length("no-inputs", scopes.A_RELAY) == 13
    assert length("no-outputs", scopes.A_RELAY) == 14
    assert length("first-barrier", scopes.A_SILENT_SOURCE) == 16


def test_a_record_needs_the_instance_that_has_the_state_of_its_key() -> None:
    assert length("by-channel", scopes.A_KEY_MOVES) == 18
    assert found("scale-up", scopes.A_KEY_MOVES).counterexample is None


def test_a_pipeline_without_keys_does_not_rescale() -> None:
    """The layout is about keyed operators alone."""
    for case in (scopes.A_RELAY, scopes.PAIRS):
        assert found("scale-up", case).states == found("", case).states


def test_a_sink_is_part_of_the_checkpoint() -> None:
    """The commit is faster than an output of the checkpoint, and no crash is needed."""
    exploration = found("without-sinks", scopes.A_RELAY)
    assert exploration.counterexample is not None
    run = exploration.counterexample.trace.actions
    assert len(run) == 12
    assert not any(
        isinstance(one, Crash) or getattr(one, "crash_after", None) is not None for one in run
    )


# --- back pressure ---------------------------------------------------------------------------
def test_a_checkpoint_needs_no_record_processed() -> None:
    """The barrier and the part leave a full input buffer in one step; aligned, in none."""
    for overtaking, sent in ((Overtaking.ALL, 2), (Overtaking.NONE, 0)):
        protocol = UNALIGNED_CHECKPOINTS.design("reading", UnalignedDesign(overtaking=overtaking))
        site = System(protocol, scopes.A_RELAY.scope).sites["writer"]
        full = InstanceState(inbox=(("source", record(1)), ("source", record(1, 2))))
        state, effects = step(site, full, Received("source", CheckpointBarrier(0, 1)))
        sends = [one for one in effects if isinstance(one, Send)]
        assert len(sends) == sent
        assert len(state.inbox) == (2 if sent else 3)
    assert sends == []


def test_a_snapshot_has_both_buffers() -> None:
    site = System(PROTOCOL, scopes.A_RELAY.scope).sites["writer"]
    full = InstanceState(inbox=(("source", record(1)),), outbox=(("sink", record(1, 2)),))
    _, effects = step(site, full, Received("source", CheckpointBarrier(0, 1)))
    (part,) = (
        one.message.part
        for one in effects
        if isinstance(one, Send) and isinstance(one.message, CheckpointPart)
    )
    assert part.inputs == (BufferedRecord("source", "writer", record(1)),)
    assert part.outputs == (BufferedRecord("writer", "sink", record(1, 2)),)


# --- instances -------------------------------------------------------------------------------
def test_keys_move_in_ranges_of_groups() -> None:
    job = plan(UnalignedDesign((1, 2, 4)), scopes.KEYED)
    for run, count in enumerate((1, 2, 4)):
        owners = {job.owner_of("writer", key, run) for key in range(1, 10)}
        assert owners == {*job.instances("writer", run)}
        assert len(owners) == count
    assert {key_group(key) for key in range(1, 10)} == {*range(KEY_GROUPS)}


def test_inputs_of_a_channel_come_before_its_outputs() -> None:
    job = plan(UnalignedDesign((1, 2)), scopes.EACH_BEHIND_A_RELAY)
    first = BufferedRecord("first", "writer", record(2, 1))
    later = BufferedRecord("first", "writer", record(2, 2))
    parts = (
        ("source", 2),
        ("first", InstancePart(outputs=(later,))),
        ("writer", InstancePart((KeyState(1, "one"), KeyState(2, "two")), inputs=(first,))),
    )
    shared = share_out(job, parts, 1)
    assert shared["writer.1"] == InstancePart((KeyState(2, "two"),), inputs=(first, later))
    assert shared["writer"] == InstancePart((KeyState(1, "one"),))
    assert shared["source"] == 2


def test_buffers_that_stay_with_a_channel_keep_its_number() -> None:
    design = UnalignedDesign((2, 1), redistribution=Redistribution.BY_CHANNEL)
    job = plan(design, scopes.EACH_BEHIND_A_RELAY)
    lost = BufferedRecord("first", "writer.1", record(2))
    shared = share_out(job, (("writer.1", InstancePart(inputs=(lost,))),), 1)
    assert shared["writer"].inputs == (lost,)


# --- refusals and words ---------------------------------------------------------------------
def test_a_graph_that_it_cannot_run_is_refused() -> None:
    direct = Graph((("s", SOURCE), ("t", SINK)), (("s", "t"),))
    taken = chain(("coordinator", Relay()))
    nodes = (("l", SOURCE), ("r", SOURCE), ("one", Relay()), ("t", SINK))
    two = Graph(nodes, (("l", "one"), ("r", "one"), ("one", "t")))
    for graph, why in ((direct, "operator that writes"), (taken, "coordinator"), (two, "2 inputs")):
        with pytest.raises(Invalid, match=why):
            System(PROTOCOL, over_words(graph, 1, "a"))


def test_a_layout_that_it_cannot_run_is_refused() -> None:
    clash = chain(("writer.1", Relay()), ("writer", scopes.BY_KEY))
    with pytest.raises(Invalid, match="instance of another"):
        System(BY_NAME["scale-up"], over_words(clash, 1, "a"))
    for layout in ((0,), (KEY_GROUPS + 1,)):
        protocol = UNALIGNED_CHECKPOINTS.design("reading", UnalignedDesign(layout))
        with pytest.raises(Invalid, match="instances"):
            System(protocol, scopes.A_RELAY.scope)


def test_a_node_refuses_unknown_messages() -> None:
    sites = System(PROTOCOL, scopes.A_RELAY.scope).sites
    senders = {"coordinator": "writer", "source": "coordinator", "sink": "writer", "writer": "?"}
    for name, sender in senders.items():
        with pytest.raises(TypeError, match="nothing to do"):
            step(sites[name], PROTOCOL.behaviour.boot(sites[name]), Received(sender, "?"))
    with pytest.raises(TypeError, match="nothing to do"):
        step(sites["coordinator"], KeeperState(), TimerFired("?"))


def test_a_source_with_nothing_new_does_not_ask_for_a_checkpoint() -> None:
    source = System(PROTOCOL, scopes.A_RELAY.scope).sites["source"]
    state, _ = step(source, PROTOCOL.behaviour.boot(source), Arrival(1, "a"))
    asked = step(source, state, TimerFired("checkpoint"))[1]
    assert asked == (Send("coordinator", CheckpointDue(0, 1)),)
    state, _ = step(source, state, Received("coordinator", InjectBarriers(0, 1)))
    assert step(source, state, TimerFired("checkpoint"))[1] == ()


def test_messages_and_states_have_short_names_and_sizes() -> None:
    part = InstancePart(inputs=(BufferedRecord("a", "b", record(1)),))
    named = [
        (record(1), "a@1"),
        (record(1, run=2), "a@1 (run 2)"),
        (CheckpointBarrier(0, 1), "barrier 1"),
        (CheckpointDue(0, 1), "checkpoint due"),
        (InjectBarriers(0, 1), "begin 1"),
        (CheckpointPart(0, 1, None), "part of 1"),
        (CheckpointPart(0, 1, part), "part of 1 with 1 on the way"),
        (CheckpointDone(0, 1), "1 is complete"),
        (InstanceUp(), "up again"),
        (GoBack(1, 0, None), "go back to 0, run 1"),
        (InstanceState(), ""),
        (KeeperState(number=3), "3 complete"),
    ]
    assert [show(one) for one, _ in named] == [name for _, name in named]
    assert show(7) == ""
    assert size(record(1)).kind is MessageKind.EVENT
    assert size(CheckpointPart(0, 1, part)) == Size(MessageKind.CHECKPOINT, 1, 1, "snapshots")
    assert size(GoBack(1, 0, part)) == Size(MessageKind.RECOVERY, 1, 1, "restarts")
    assert size(InstanceUp()).kind is MessageKind.RECOVERY
    assert size("?").kind is MessageKind.CONTROL


def test_the_coordinator_and_the_sink_hold_nothing_for_others() -> None:
    sites = System(PROTOCOL, scopes.A_RELAY.scope).sites
    for state in (KeeperState(), CommitterState()):
        assert gauges(sites["sink"], state) == Gauges()
        assert memory(sites["sink"], state) == NO_MEMORY


def test_a_table_shows_the_order_that_a_bag_hides() -> None:
    assert replace(scopes.A_TABLE.scope, sinks=scopes.A_BAG.scope.sinks) == scopes.A_BAG.scope
