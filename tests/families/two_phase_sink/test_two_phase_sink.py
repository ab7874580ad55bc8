"""Which choices of a two-phase-commit sink are right, and the runs behind the findings."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from model.actions import Crash, Deliver, Disturb, Timeout
from model.boxes.box import Out
from model.boxes.stateless import Relay
from model.core import EARLY, Arrival, Emit, Guarantee, Received, Send
from model.costs import MessageKind
from model.errors import Invalid
from model.events import Body, Event
from model.evidence import Case, Outcome
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.protocols.two_phase_sink import scopes
from model.protocols.two_phase_sink.design import (
    CommitMoment,
    ExpiryRule,
    Isolation,
    RestorePolicy,
    SecondCommit,
    TransactionalIds,
    TwoPhaseDesign,
)
from model.protocols.two_phase_sink.family import TWO_PHASE_SINK
from model.protocols.two_phase_sink.messages import (
    SINK_EXPIRED,
    BrokerState,
    CommitPrepared,
    JobCheckpoint,
    PrepareTransaction,
    RestoreWriter,
    SinkTransaction,
    TransactionPrepared,
    WriteResult,
    show,
    size,
)
from model.protocols.two_phase_sink.nodes import boot, step
from model.protocols.two_phase_sink.protocol import PROTOCOL
from model.system import System
from proofs.explore.explorer import Counterexample, Exploration, explore

ALL = {protocol.variant: protocol for protocol in (PROTOCOL, *PROTOCOL.variants)}


def found(case: Case, **choices: object) -> Exploration:
    """The exploration of a scope in the right design but for these choices."""
    design = replace(TwoPhaseDesign(), **choices)  # type: ignore[arg-type]
    return explore(TWO_PHASE_SINK.design("reading", design), case.scope)


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
    assert max(crashes) == 2
    assert len(PROTOCOL.evidence.mutants) >= 5
    assert any(pinned.scope.early for pinned in PROTOCOL.evidence.scopes)


# --- choices ---------------------------------------------------------------------------------
def test_a_restart_settles_by_its_checkpoint_and_in_no_other_way() -> None:
    for restores in RestorePolicy:
        assert holds(scopes.ONE_EVENT, restores=restores) is (restores is RestorePolicy.SETTLE)


def test_without_time_outs_every_rule_of_them_is_right() -> None:
    for expires, flushes in product(ExpiryRule, (True, False)):
        assert holds(scopes.TWO_CRASHES, expires=expires, flushes=flushes)


def test_with_time_outs_a_prepared_transaction_has_none_and_the_job_waits_for_it() -> None:
    right = {
        (expires, flushes)
        for expires, flushes in product(ExpiryRule, (True, False))
        if holds(scopes.TIME_OUT, expires=expires, flushes=flushes)
    }
    assert right == {(ExpiryRule.OPEN, True)}


def test_a_time_out_of_all_transactions_frees_readers_from_one_that_a_restart_left() -> None:
    """The price of KIP-939: with its rule nothing ends the transaction.  Without early time-outs
    the rules differ in that alone."""
    left = {"restores": RestorePolicy.KEEP}
    spared = found(scopes.TIME_OUT, **left, expires=ExpiryRule.OPEN)
    assert spared.guarantee is Guarantee.GAP
    assert spared.counterexample is not None
    assert any(isinstance(one, Crash) for one in spared.counterexample.trace.actions)
    lost = found(scopes.TIME_OUT, **left, expires=ExpiryRule.ALL)
    assert lost.counterexample is not None
    early = [one for one in lost.counterexample.trace.actions if isinstance(one, Timeout)]
    assert [one.early for one in early if one.timer.startswith("expire")] == [True]


def test_an_id_that_is_used_again_needs_two_transactions_at_once() -> None:
    for ids in TransactionalIds:
        assert holds(scopes.ONE_EVENT, ids=ids)
        assert holds(scopes.TWO_EVENTS, ids=ids) is (ids is not TransactionalIds.ONE)
        assert holds(scopes.TWO_JOBS, ids=ids) is (ids is not TransactionalIds.SHARED)


def test_without_a_crash_commits_may_come_first_twice_or_be_seen_early() -> None:
    assert holds(scopes.NO_CRASH, commits=CommitMoment.PREPARED)
    assert holds(scopes.NO_CRASH, again=SecondCommit.APPLIED)
    assert holds(scopes.NO_CRASH, reads=Isolation.UNCOMMITTED)


@pytest.mark.parametrize("fences", [True, False])
@pytest.mark.parametrize("numbered", [True, False])
def test_requests_that_travel_need_a_fence_and_restorations_that_travel_a_number(
    fences: bool, numbered: bool
) -> None:
    late = {"late": True, "fences": fences, "numbered": numbered}
    assert holds(scopes.LATE_REQUEST, **late) is fences
    assert holds(scopes.LATE_REQUEST_AND_TIME_OUT, **late) is numbered


# --- the runs behind the findings ------------------------------------------------------------
def test_a_time_out_during_an_outage_needs_no_crash_to_lose_a_checkpoint() -> None:
    run = refutation("short-time-out", scopes.TIME_OUT).trace.actions
    assert not any(isinstance(one, Crash) or getattr(one, "crash_after", None) for one in run)
    assert [one.early for one in run if isinstance(one, Timeout)] == [False, True]


def test_a_job_notices_an_expired_transaction_and_begins_again() -> None:
    exploration = found(scopes.TIME_OUT)
    assert exploration.notes[SINK_EXPIRED.name]
    assert exploration.notes[EARLY.name]
    assert exploration.counterexample is None


def test_two_jobs_with_one_prefix_lose_a_result_of_the_one_that_is_up() -> None:
    run = refutation("shared-ids", scopes.TWO_JOBS).trace.actions
    (crashed,) = (one.node for one in run if isinstance(one, Crash))
    last = run[-1]
    assert isinstance(last, Deliver)
    assert {crashed, last.node} <= {"A", "B", "left", "right"}


def test_a_restoration_of_a_dead_job_is_overtaken() -> None:
    run = refutation("late-restoration", scopes.LATE_REQUEST_AND_THREE_CRASHES).trace.actions
    assert len([one for one in run if isinstance(one, Disturb)]) == 1
    assert [one.node for one in run if isinstance(one, Crash)] == ["job", "job"]


# --- steps -----------------------------------------------------------------------------------
def system_of(case: Case, **choices: object) -> System:
    design = replace(TwoPhaseDesign(), **choices)  # type: ignore[arg-type]
    return System(TWO_PHASE_SINK.design("reading", design), case.scope)


def test_results_that_overtake_each_other_keep_their_order() -> None:
    site = system_of(scopes.LATE_REQUEST, late=True).sites["system"]
    of, state = SinkTransaction(1, 1), boot(site)
    bodies = [Body(time, "a", ()) for time in (1, 2)]
    writes = [WriteResult(of, place, Out(body)) for place, body in enumerate(bodies)]
    for message in (writes[1], PrepareTransaction(of, 2), writes[0]):
        state, effects = step(site, state, Received("job", message))
    assert effects == (Send("job", TransactionPrepared(of, alive=True)),)
    _, effects = step(site, state, Received("job", CommitPrepared(of)))
    emitted = [effect.output for effect in effects if isinstance(effect, Emit)]
    assert emitted == [(0, body) for body in bodies]


def test_a_scope_without_early_time_outs_has_none() -> None:
    for case, timed in ((scopes.TWO_CRASHES, False), (scopes.TIME_OUT, True)):
        assert system_of(case).sites["system"].config.timed is timed


def test_other_graphs_are_refused_in_one_line() -> None:
    behind = chain(("first", Relay()), ("second", Relay()))
    direct = Graph((("s", SOURCE), ("t", SINK)), (("s", "t"),))
    for graph in (behind, direct):
        with pytest.raises(Invalid, match="a job is an operator between source and sink"):
            System(PROTOCOL, over_words(graph, 1))


def test_messages_have_sizes_and_a_line() -> None:
    of = SinkTransaction(2, 3)
    kinds = {
        MessageKind.EVENT: Event((1,), Body(1, "a", ())),
        MessageKind.CHECKPOINT: JobCheckpoint(1, (), of),
        MessageKind.CONTROL: CommitPrepared(of),
        MessageKind.ACKNOWLEDGEMENT: TransactionPrepared(of, alive=False),
        MessageKind.RECOVERY: RestoreWriter(of),
    }
    assert {kind: size(value).kind for kind, value in kinds.items()} == {one: one for one in kinds}
    lines = [show(value) for value in kinds.values()]
    assert lines[1:] == [
        "checkpoint at 1, t3 (epoch 2)",
        "commit t3 (epoch 2)",
        "t3 (epoch 2) is aborted",
        "restore from t3 (epoch 2)",
    ]
    assert show(BrokerState(())) == ""


def test_a_step_with_an_unknown_input_raises() -> None:
    system = system_of(scopes.ONE_EVENT)
    for name in ("job", "system"):
        with pytest.raises(TypeError, match="nothing to do"):
            step(system.sites[name], boot(system.sites[name]), Arrival(1, "a"))
