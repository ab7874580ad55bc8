"""What asynchronous barrier snapshotting holds, and the shortest runs behind each finding."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model.actions import Crash, Deliver
from model.boxes.stateless import Relay
from model.core import Arrival, Guarantee, Received, Send, TimerFired
from model.costs import NO_MEMORY, Gauges, MessageKind, Size
from model.errors import Invalid
from model.events import Body
from model.evidence import Outcome
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.protocols.abs import scopes
from model.protocols.abs.design import AbsDesign, Alignment, Completes, Settles, WriteMode
from model.protocols.abs.messages import (
    AskRun,
    CommitEpoch,
    EndEpoch,
    EpochComplete,
    EpochDue,
    EpochMarker,
    EpochPart,
    ExternalState,
    Kept,
    OverseerState,
    Prepared,
    ReaderState,
    Reborn,
    RollBack,
    RunIs,
    SettleEpoch,
    StreamRecord,
    TaskPart,
    WriteAction,
    show,
    size,
)
from model.protocols.abs.nodes import gauges, memory, step
from model.protocols.abs.protocol import PROTOCOL
from model.protocols.abs.variants import VARIANTS
from model.system import System
from model.words import show_value
from proofs.explore.explorer import Exploration
from tests.families.abs.explored import explored, reading

BY_NAME = {protocol.name: protocol for protocol in (PROTOCOL, *VARIANTS)}


def found(scope: str, **choices: object) -> Exploration:
    """The exploration of a scope in the mended design with these choices."""
    return reading(replace(AbsDesign(), **choices), scope)  # type: ignore[arg-type]


def actions(variant: str, scope: str) -> tuple[object, ...]:
    exploration = explored(BY_NAME[f"abs:{variant}"], scope)
    assert exploration.counterexample is not None
    return tuple(exploration.counterexample.trace.actions)


# --- every mend -----------------------------------------------------------------------------
def test_every_mend_is_needed() -> None:
    """Each variant that is refuted differs from the mended design in what its name says."""
    refuted = {one.name for one in VARIANTS if one.evidence.expected is Outcome.REFUTED}
    assert len(refuted) == 25
    assert PROTOCOL.evidence.expected is Outcome.HOLDS


# --- the findings ----------------------------------------------------------------------------
def test_an_epoch_that_is_complete_at_the_writers_lacks_a_snapshot() -> None:
    """8.1.1 calls the epoch complete when the sinks have their snapshots; a snapshot of an operator
    above may then still be on its way."""
    run = actions("complete-at-writers", "a relay behind pairs")
    assert len(run) == 29
    ends = [one for one in run if isinstance(one, Crash) or getattr(one, "crash_after", None)]
    assert [getattr(one, "node", None) for one in ends] == ["first"]
    late = {"prompt_store": False}
    assert found("a relay behind pairs", completes=Completes.ALL, **late).counterexample is None


def test_a_prompt_store_hides_what_the_writers_do_not_wait_for() -> None:
    early = found("a relay behind pairs", completes=Completes.WRITERS)
    assert early.complete
    assert early.counterexample is None


def test_a_restart_that_drops_what_is_prepared_loses_a_complete_epoch() -> None:
    """The epoch is complete when the writer crashes, and its commit is on its way."""
    run = actions("settle-by-dropping", "a relay")
    assert len(run) == 10
    assert run[-4] == Crash("writer")
    assert run[-1] == Deliver("writer", "coordinator")


def test_neither_way_to_settle_all_is_right() -> None:
    for settles in Settles:
        right = found("a relay", settles=settles).counterexample is None
        assert right is (settles is Settles.BY_EPOCH)


def test_a_transaction_with_the_snapshot_is_no_two_phase_commit() -> None:
    run = actions("transactional-published", "a relay")
    assert len(run) == 12
    assert any(isinstance(one, Deliver) and one.crash_after == 1 for one in run)


@pytest.mark.slow
def test_where_two_inputs_meet_two_alignments_are_right() -> None:
    right = {
        alignment
        for alignment in Alignment
        if found("a union", alignment=alignment).counterexample is None
    }
    assert right == {Alignment.STRICT, Alignment.UNALIGNED}


def test_with_one_input_every_alignment_is_right() -> None:
    for alignment in Alignment:
        assert found("pairs", alignment=alignment).counterexample is None


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["a relay", "pairs", "a coin", "a union"])
def test_writes_need_determinism_unless_they_are_committed_in_two_phases(scope: str) -> None:
    right = {writes for writes in WriteMode if found(scope, writes=writes).counterexample is None}
    numbered = set() if scope == "a union" else {WriteMode.IDEMPOTENT, WriteMode.COUNTED}
    assert right == {WriteMode.TWO_PHASES, *numbered}


def test_a_coin_is_harmless_behind_no_other_writer() -> None:
    """The number of an output names the input that it was made of, whatever the coin says; a second
    writer writes what the coin says the second time."""
    for writes in (WriteMode.IDEMPOTENT, WriteMode.COUNTED):
        assert found("a coin", writes=writes).counterexample is None
        assert found("two writers", writes=writes).counterexample is None
        assert found("a coin before two writers", writes=writes).counterexample is not None
    assert found("a coin before two writers").counterexample is None


def test_an_operator_that_chooses_again_makes_outputs_at_once_convergent() -> None:
    assert found("a coin", writes=WriteMode.AT_ONCE).guarantee is Guarantee.CONVERGENT


# --- what is refused, and how it looks -------------------------------------------------------
def test_a_graph_that_it_cannot_run_is_refused() -> None:
    direct = Graph((("s", SOURCE), ("t", SINK)), (("s", "t"),))
    taken = chain(("coordinator", Relay()))
    nodes = (("l", SOURCE), ("r", SOURCE), ("one", Relay()), ("t", SINK))
    two = Graph(nodes, (("l", "one"), ("r", "one"), ("one", "t")))
    for graph, why in ((direct, "operator that writes"), (taken, "coordinator"), (two, "2 inputs")):
        with pytest.raises(Invalid, match=why):
            System(PROTOCOL, over_words(graph, 1, "a"))


def test_a_node_refuses_what_no_node_sends_it() -> None:
    sites = System(PROTOCOL, scopes.A_RELAY.scope).sites
    senders = {"coordinator": "writer", "source": "coordinator", "sink": "writer"}
    for name, sender in senders.items():
        with pytest.raises(TypeError, match="nothing to do"):
            step(sites[name], PROTOCOL.behaviour.boot(sites[name]), Received(sender, "?"))
    with pytest.raises(TypeError, match="nothing to do"):
        step(sites["writer"], PROTOCOL.behaviour.boot(sites["writer"]), TimerFired("?"))


def test_a_source_with_nothing_new_does_not_ask_for_an_epoch() -> None:
    source = System(PROTOCOL, scopes.A_RELAY.scope).sites["source"]
    state, _ = step(source, ReaderState(), Arrival(1, "a"))
    assert step(source, state, TimerFired("epoch"))[1] == (Send("coordinator", EpochDue(0)),)
    state, _ = step(source, state, Received("coordinator", EndEpoch(0, 1)))
    assert step(source, state, TimerFired("epoch"))[1] == ()


def test_messages_and_states_have_short_names_and_sizes() -> None:
    body = Body(1, "a")
    record = StreamRecord(0, body, frozenset())
    part = TaskPart(None, 1, 1, (("left", record),))
    named = [
        (record, "a@1"),
        (record._replace(run=2), "a@1 (run 2)"),
        (EpochMarker(0, 1), "marker 1"),
        (EpochDue(0), "epoch due"),
        (EndEpoch(0, 1), "end epoch 1"),
        (EpochPart(0, 1, part), "snapshot 1"),
        (EpochComplete(0, 1), "epoch 1 complete"),
        (Reborn(), "up again"),
        (AskRun(), "which run?"),
        (RunIs("writer", 2), "writer is in run 2"),
        (RollBack(1, 0, None), "roll back to 0"),
        (Prepared(1, ()), "pre-commit 1: 0"),
        (CommitEpoch(1), "commit 1"),
        (SettleEpoch(1), "settle at 1"),
    ]
    assert [show(one) for one, _ in named] == [name for _, name in named]
    assert show(7) == ""
    assert show_value(PROTOCOL, 7) == "7"
    assert show(WriteAction(3, None)) == "write 3"  # type: ignore[arg-type]
    assert size(record).kind is MessageKind.EVENT
    assert size(EpochPart(0, 1, part)) == Size(MessageKind.CHECKPOINT, 1, 1, name="snapshots")
    assert size(RollBack(1, 0, None)).kind is MessageKind.RECOVERY
    assert size(SettleEpoch(0)).kind is MessageKind.RECOVERY
    assert size(AskRun()).kind is MessageKind.RECOVERY
    assert size(RunIs("writer", 0)).kind is MessageKind.RECOVERY
    assert size(Kept()) == Size(MessageKind.CHECKPOINT, 0, 1, name="decisions")
    assert size("?").kind is MessageKind.CONTROL


def test_the_coordinator_and_the_external_system_hold_nothing_for_others() -> None:
    sites = System(PROTOCOL, scopes.A_RELAY.scope).sites
    for state in (OverseerState(), ExternalState()):
        assert gauges(sites["sink"], state) == Gauges()
        assert memory(sites["sink"], state) == NO_MEMORY
