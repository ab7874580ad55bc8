"""What uncoordinated checkpoints hold, and the shortest runs behind their findings."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from model.actions import Crash
from model.boxes.box import Out
from model.boxes.stateless import Relay
from model.core import Guarantee, Property, Received, When
from model.costs import MessageKind
from model.errors import Invalid
from model.events import Body
from model.evidence import Case, Outcome
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words
from model.properties import AS_IF, COMPLETE
from model.protocols.uncoordinated import scopes
from model.protocols.uncoordinated.deployment import MANAGER, bonds
from model.protocols.uncoordinated.design import INDUCED, Induced, LineDesign, LineRule
from model.protocols.uncoordinated.family import UNCOORDINATED
from model.protocols.uncoordinated.lines import go_back, has_orphans, recovery_line
from model.protocols.uncoordinated.messages import (
    CheckpointTaken,
    Credit,
    LineMoved,
    LoggedRecord,
    LoggingTask,
    NeedsLine,
    ReturnToLine,
    Settled,
    TaskCheckpoint,
    WrittenRecord,
    show,
    size,
)
from model.protocols.uncoordinated.nodes import step
from model.protocols.uncoordinated.properties import CONSISTENT, NO_DOMINO, USEFUL
from model.protocols.uncoordinated.protocol import PROTOCOL
from model.system import System
from proofs.explore.explorer import Exploration, explore
from proofs.explore.story import story
from reports.diagrams import spacetime
from tests.proofs.test_searches import both

BY_NAME = {one.variant: one for one in PROTOCOL.variants}
PICTURE = Path(__file__).parents[3] / "docs/pictures/uncoordinated-domino.svg"
TWO = scopes.TWO_RELAYS.scope.graph
JOINED = bonds(TWO)


def explored(design: LineDesign, case: Case, *properties: Property) -> Exploration:
    return explore(UNCOORDINATED.design("reading", design, properties=properties), case.scope)


@cache
def run_of(variant: str) -> Exploration:
    """The exploration of the only scope of a variant."""
    protocol = BY_NAME[variant]
    (pinned,) = protocol.evidence.scopes
    return explore(protocol, pinned.scope)


# --- the evidence ----------------------------------------------------------------------------
def test_the_evidence_has_two_crashes_and_five_scopes() -> None:
    for one in (PROTOCOL, BY_NAME["index-based"]):
        assert len(one.evidence.scopes) >= 5
        assert any(pinned.scope.crashes == 2 for pinned in one.evidence.scopes)
        assert one.evidence.expected is Outcome.HOLDS
    assert len(PROTOCOL.evidence.mutants) == 21
    refuted = [one for one in PROTOCOL.variants if one.evidence.expected is Outcome.REFUTED]
    assert len(refuted) == 13


# --- the domino effect -----------------------------------------------------------------------
def test_one_crash_undoes_all_checkpoints() -> None:
    found = run_of("domino")
    assert found.counterexample is not None
    trace = found.counterexample.trace
    assert len(trace.actions) == 16
    assert sum(isinstance(action, Crash) for action in trace.actions) == 1
    system, last = trace.system, trace.worlds[-1]
    sent = zip(system.deployment.channels, last.channels, strict=True)
    orders = [
        message
        for (sender, _), messages in sent
        for message in messages
        if sender == MANAGER and isinstance(message, ReturnToLine) and message.checkpoint
    ]
    assert [order.undone for order in orders] == [2, 2]
    assert [order.checkpoint and order.checkpoint.received for order in orders] == [(0,), (0,)]


def test_the_picture_of_the_domino_effect_is_fresh() -> None:
    found = run_of("domino")
    assert found.counterexample is not None
    caption = found.counterexample.property.name
    title = "uncoordinated: the domino effect"
    drawn = spacetime.picture(story(found.counterexample.trace), title=title, caption=caption)
    assert PICTURE.read_text(encoding="utf-8") == drawn.content(".svg")


def test_a_domino_costs_work_and_no_result() -> None:
    found = explored(BY_NAME["domino"].design, scopes.TWO_RELAYS, AS_IF, COMPLETE, CONSISTENT)
    assert found.complete
    assert found.counterexample is None
    assert found.guarantee is Guarantee.PRECISE


def test_an_index_stops_the_domino() -> None:
    found = explored(INDUCED, scopes.TWO_RELAYS, NO_DOMINO, USEFUL)
    assert found.counterexample is None
    late = explored(replace(INDUCED, induced=Induced.AFTER), scopes.TWO_RELAYS, NO_DOMINO)
    assert late.counterexample is not None


def test_no_checkpoint_is_useless_where_messages_go_one_way() -> None:
    for case in (scopes.TWO_RELAYS_AND_TWO_CRASHES, scopes.TWO_RELAYS_AND_TWO_EVENTS):
        found = explored(LineDesign(), case, USEFUL, NO_DOMINO)
        assert found.complete
        assert found.counterexample is None


def test_a_useless_checkpoint_needs_no_fault() -> None:
    found = run_of("useless")
    assert found.counterexample is not None
    assert not any(isinstance(one, Crash) for one in found.counterexample.trace.actions)


# --- recovery lines --------------------------------------------------------------------------
def checkpoint(received: int, made: int, level: int = 0, **more: tuple[int, ...]) -> TaskCheckpoint:
    counts = {"granted": (0,), "credited": (0,), **more}
    one = TaskCheckpoint(level, (), (received,), made)
    return one._replace(granted=counts["granted"], credited=counts["credited"])


NONE, ONE, NEXT = checkpoint(0, 0), checkpoint(1, 1, 1), checkpoint(2, 2, 2)


def test_an_orphan_sends_its_receiver_back() -> None:
    chains = ((NONE, ONE), (NONE, ONE, NEXT))
    assert recovery_line(LineRule.NO_ORPHANS, JOINED, chains) == (1, 1)
    assert recovery_line(LineRule.NEWEST, JOINED, chains) == (1, 2)
    assert recovery_line(LineRule.BY_INDEX, JOINED, chains) == (1, 1)
    assert has_orphans(JOINED, (ONE, NEXT))
    assert not has_orphans(JOINED, (NEXT, ONE))


def test_a_lost_message_sends_its_sender_back_if_nobody_has_a_log() -> None:
    chains = ((NONE, NEXT), (NONE, ONE))
    assert recovery_line(LineRule.NO_ORPHANS, JOINED, chains) == (1, 1)
    assert recovery_line(LineRule.MATCHED, JOINED, chains) == (0, 0)


def test_credits_send_both_back_to_the_beginning() -> None:
    first = (
        NONE,
        checkpoint(1, 1, credited=(1,)),
        checkpoint(2, 2, credited=(2,)),
    )
    second = (NONE, checkpoint(1, 1), checkpoint(2, 2, granted=(1,)))
    assert recovery_line(LineRule.NO_ORPHANS, JOINED, (first, second)) == (0, 0)
    assert go_back(JOINED, (first, second), (0, 1)) == (0, 0)
    assert has_orphans(JOINED, (first[1], second[1]))


# --- words and errors ------------------------------------------------------------------------
OUT = Out(Body(1, "a", ()))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (LoggedRecord(0, 0, 1, OUT), "a1"),
        (LoggedRecord(1, 2, 1, OUT), "a1 (run 1, index 2)"),
        (Credit(0, 1, 3), "credit 3 (index 1)"),
        (CheckpointTaken(0, ONE), "checkpoint: #1 1 in, 1 out"),
        (NeedsLine(), "up again"),
        (ReturnToLine(1, None), "send again"),
        (ReturnToLine(1, NONE), "go back: 0 in, 0 out"),
        (ReturnToLine(1, NONE, 2), "go back: 0 in, 0 out, 2 undone"),
        (LineMoved(0, 2, 1), "line at 2, let go up to 1"),
        (WrittenRecord(1, OUT), "a1"),
        (Settled(1), "settled up to 1"),
        (Settled(1, back=True), "back to 1"),
        (LoggingTask(-1, NONE), "waits"),
        (LoggingTask(0, checkpoint(1, 1, credited=(1,))), "1 in, 1 out, 1 credits"),
    ],
)
def test_messages_are_shown_in_a_few_words(value: object, shown: str) -> None:
    assert show(value) == shown


def test_sizes_name_the_purpose() -> None:
    assert size(LoggedRecord(0, 0, 1, OUT)).kind is MessageKind.EVENT
    assert size(CheckpointTaken(0, ONE)).kind is MessageKind.CHECKPOINT
    assert size(ReturnToLine(1, None)).items == 0
    assert size(ReturnToLine(1, ONE)).items == 1
    assert size(Credit(0, 0, 1)).kind is MessageKind.ACKNOWLEDGEMENT
    assert size(LineMoved(0, 1, 1)).kind is MessageKind.CONTROL


def test_a_graph_that_it_cannot_deploy_is_refused_in_one_line() -> None:
    direct = Graph((("source", SOURCE), ("sink", SINK)), (("source", "sink"),))
    for graph, words in (
        (chain((MANAGER, Relay())), "the manager's"),
        (direct, "goes to a sink"),
        (chain(("first", "nothing")), "give a box"),
    ):
        with pytest.raises(Invalid, match=words):
            System(PROTOCOL, over_words(graph, 1, "a"))


def test_a_node_refuses_a_message_of_nobody() -> None:
    system = System(PROTOCOL, scopes.TWO_RELAYS.scope)
    for site in system.sites.values():
        state = system.protocol.behaviour.boot(site)
        with pytest.raises((TypeError, ValueError, AttributeError)):
            step(site, state, Received("nobody", "nothing"))


def test_the_properties_look_at_every_world() -> None:
    assert {one.when for one in (CONSISTENT, NO_DOMINO, USEFUL)} == {When.ALWAYS}
    assert CONSISTENT.nodes
    assert USEFUL.nodes
    assert NO_DOMINO.messages


@pytest.mark.parametrize("variant", ["", "index-based", "two-way", "domino-of-one-event"])
def test_both_searches_find_the_same(variant: str) -> None:
    protocol = BY_NAME[variant] if variant else PROTOCOL
    found = both(protocol, scopes.TWO_RELAYS.scope)
    (pinned,) = (one for one in protocol.evidence.scopes if one.name == scopes.TWO_RELAYS.name)
    assert found.states == pinned.states
