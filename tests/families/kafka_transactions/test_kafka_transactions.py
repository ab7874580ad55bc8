"""Which choices of Kafka's transactions are right, and the runs behind the findings."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from model.actions import Crash, Suspect, Timeout
from model.boxes.box import Out
from model.boxes.stateless import Relay
from model.core import Arrival, Emit, Guarantee, Received, Send
from model.costs import MessageKind
from model.errors import Invalid
from model.events import Body, Event
from model.evidence import Case, Outcome
from model.graph import chain
from model.parts import over_words
from model.play import Play, timers_last
from model.protocols.kafka_transactions import scopes
from model.protocols.kafka_transactions.design import (
    EpochBump,
    FirstRequest,
    KafkaDesign,
    OffsetCommit,
    ReaderView,
    ZombieFence,
)
from model.protocols.kafka_transactions.family import KAFKA_TRANSACTIONS
from model.protocols.kafka_transactions.messages import (
    AddPlace,
    EndMarker,
    GroupState,
    InitProducer,
    InputPlace,
    PlaceAdded,
    ProduceRecord,
    ProducerFenced,
    ResultPartition,
    TransactionTag,
    WorkerPhase,
    show,
    size,
)
from model.protocols.kafka_transactions.nodes import boot, step
from model.protocols.kafka_transactions.protocol import PROTOCOL
from model.system import System
from proofs.explore.explorer import Counterexample, Exploration, explore

ALL = {protocol.variant: protocol for protocol in (PROTOCOL, *PROTOCOL.variants)}
A = Arrival(1, "a")


def found(case: Case, **choices: object) -> Exploration:
    """The exploration of a scope in the right design but for these choices."""
    design = replace(KafkaDesign(), **choices)  # type: ignore[arg-type]
    return explore(KAFKA_TRANSACTIONS.design("reading", design), case.scope)


def holds(case: Case, **choices: object) -> bool:
    exploration = found(case, **choices)
    assert exploration.complete
    return exploration.counterexample is None


def refutation(variant: str, case: Case) -> Counterexample:
    exploration = explore(ALL[variant], case.scope, until=Guarantee.PRECISE)
    assert exploration.counterexample is not None
    return exploration.counterexample


# --- pins ------------------------------------------------------------------------------------
def test_every_scope_has_exact_pins() -> None:
    """tests/proofs/test_explorer.py compares them with the worlds that are found."""
    for pinned in (pinned for one in ALL.values() for pinned in one.evidence.scopes):
        assert pinned.states is not None
        assert (pinned.steps is None) is (pinned.expect is Outcome.HOLDS)


def test_the_evidence_is_as_much_as_a_family_owes() -> None:
    crashes = [pinned.scope.crashes for pinned in PROTOCOL.evidence.scopes]
    assert len(crashes) >= 5
    assert max(crashes) == 3
    assert len(PROTOCOL.evidence.mutants) >= 5
    assert any(pinned.scope.early for pinned in PROTOCOL.evidence.scopes)


# --- choices ---------------------------------------------------------------------------------
def test_the_place_belongs_into_the_transaction() -> None:
    weakest = {
        offsets: found(scopes.ONE_EVENT, offsets=offsets).guarantee for offsets in OffsetCommit
    }
    assert weakest == {
        OffsetCommit.WITHIN: Guarantee.PRECISE,
        OffsetCommit.BEFORE: Guarantee.GAP,
        OffsetCommit.AFTER: Guarantee.REPEATING,
    }


def test_one_id_or_a_generation_that_aborts_first_fences_a_zombie() -> None:
    right = {fence for fence in ZombieFence if holds(scopes.TWO_EVENTS, fence=fence)}
    assert right == {ZombieFence.EPOCH, ZombieFence.GENERATION}


def test_with_time_outs_the_same_fences_are_right() -> None:
    right = {fence for fence in ZombieFence if holds(scopes.TIME_OUT, fence=fence)}
    assert right == {ZombieFence.EPOCH, ZombieFence.GENERATION}


def test_one_epoch_is_right_for_one_id_until_a_time_out_strikes() -> None:
    for bump, fence in product(EpochBump, (ZombieFence.EPOCH, ZombieFence.GENERATION)):
        crashed = holds(scopes.ONE_EVENT, bump=bump, fence=fence)
        assert crashed is (bump is EpochBump.EACH or fence is ZombieFence.EPOCH)
        timed = holds(scopes.TIME_OUT_ALONE, bump=bump, fence=fence)
        assert timed is (bump is EpochBump.EACH)


def test_without_a_fault_every_choice_is_right() -> None:
    choices: list[tuple[str, object]] = [("logs", False), ("checks", False)]
    choices += (("offsets", one) for one in OffsetCommit)
    choices += (("fence", one) for one in ZombieFence)
    choices += (("first", one) for one in FirstRequest)
    choices += (("reads", one) for one in ReaderView)
    for name, choice in choices:
        assert holds(scopes.NO_CRASH, **{name: choice})


def test_half_a_commit_needs_two_crashes() -> None:
    assert holds(scopes.TWO_EVENTS, logs=False)
    assert holds(scopes.COORDINATOR_TWICE, logs=False)
    run = refutation("unlogged", scopes.TWO_CRASHES).trace.actions
    within = [one for one in run if getattr(one, "crash_after", None) is not None]
    assert [one.node for one in within] == ["coordinator"]
    assert len([one for one in run if isinstance(one, Crash)]) == 1


# --- the runs behind the findings ------------------------------------------------------------
def test_a_zombie_is_suspected_and_never_crashes() -> None:
    """Both shortest runs have a successor that takes over from a worker that is up."""
    for variant in ("unchecked", "place-first"):
        run = refutation(variant, scopes.ONE_EVENT).trace.actions
        crashed = {one.node for one in run if isinstance(one, Crash)}
        assert "worker" not in crashed
        assert crashed or any(isinstance(one, Suspect) for one in run)


def test_a_result_after_a_time_out_counts_twice_with_one_epoch() -> None:
    run = refutation("one-epoch", scopes.TIME_OUT_ALONE).trace.actions
    early = [one for one in run if isinstance(one, Timeout) and one.early]
    assert [one.timer for one in early] == ["expire:worker"]


def test_a_fenced_worker_stays_idle() -> None:
    play = Play(PROTOCOL, scopes.TWO_EVENTS.scope)
    play.inject("source", A)
    play.do(Suspect("worker", "successor"))
    play.settle(timers_last)
    assert play.node("worker").state.phase is WorkerPhase.IDLE
    assert play.node("successor").state.phase is WorkerPhase.RUNNING
    assert [output[1].type for output in play.world.outputs[0]] == ["a"]


# --- steps -----------------------------------------------------------------------------------
def system_of(case: Case, **choices: object) -> System:
    design = replace(KafkaDesign(), **choices)  # type: ignore[arg-type]
    return System(KAFKA_TRANSACTIONS.design("reading", design), case.scope)


def test_readers_wait_for_the_first_open_transaction() -> None:
    site = system_of(scopes.ONE_EVENT, fence=ZombieFence.GENERATION).sites["topic"]
    one, other = (Body(time, "a", ()) for time in (1, 2))
    state = ResultPartition()
    for producer, body in (("worker", one), ("successor", other)):
        state, effects = step(
            site, state, Received(producer, ProduceRecord(producer, 1, Out(body)))
        )
        assert effects == ()
    state, effects = step(
        site, state, Received("coordinator", EndMarker("successor", 2, commits=True))
    )
    assert not any(isinstance(effect, Emit) for effect in effects)
    _, effects = step(site, state, Received("coordinator", EndMarker("worker", 2, commits=True)))
    assert [effect for effect in effects if isinstance(effect, Emit)] == [
        Emit((0, one)),
        Emit((0, other)),
    ]


def test_the_group_refuses_an_old_generation_if_it_counts_them() -> None:
    for fence in ZombieFence:
        site = system_of(scopes.ONE_EVENT, fence=fence).sites["group"]
        state = GroupState(InputPlace(0, ()), generation=2)
        add = AddPlace("worker", 1, TransactionTag(), InputPlace(1, ()))
        _, effects = step(site, state, Received("worker", add))
        (answer,) = (effect.message for effect in effects if isinstance(effect, Send))
        counts = fence in (ZombieFence.GENERATION, ZombieFence.GENERATION_ALONE)
        assert answer == PlaceAdded(TransactionTag(), accepted=not counts)


def test_a_scope_without_early_time_outs_has_none() -> None:
    for case, timed in ((scopes.TWO_CRASHES, False), (scopes.TIME_OUT, True)):
        assert system_of(case).sites["coordinator"].config.timed is timed


def test_other_graphs_and_names_are_refused_in_one_line() -> None:
    behind = chain(("first", Relay()), ("second", Relay()))
    with pytest.raises(Invalid, match="give one operator between source and sink"):
        System(PROTOCOL, over_words(behind, 1))
    with pytest.raises(Invalid, match="a node has the name 'group', which is taken"):
        System(PROTOCOL, over_words(chain(("group", Relay())), 1))


def test_messages_have_sizes_and_a_line() -> None:
    values = {
        MessageKind.EVENT: Event((1,), Body(1, "a", ())),
        MessageKind.CHECKPOINT: AddPlace("worker", 1, TransactionTag(), InputPlace(1, ())),
        MessageKind.CONTROL: EndMarker("worker", 2, commits=False),
        MessageKind.ACKNOWLEDGEMENT: PlaceAdded(TransactionTag(), accepted=False),
        MessageKind.RECOVERY: InitProducer(),
    }
    assert {kind: size(value).kind for kind, value in values.items()} == {
        one: one for one in values
    }
    assert [show(value) for value in values.values()][1:] == [
        *("place 1", "abort marker, epoch 2", "place refused", "init")
    ]
    assert show(ProducerFenced()) == "fenced"
    assert show(ResultPartition()) == ""


def test_a_step_with_an_unknown_input_raises() -> None:
    system = system_of(scopes.ONE_EVENT)
    for name in ("worker", "coordinator", "group", "topic"):
        with pytest.raises(TypeError, match="nothing to do"):
            step(system.sites[name], boot(system.sites[name]), A)
