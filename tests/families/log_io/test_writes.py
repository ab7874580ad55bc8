"""Writes of LOG.io in groups, and reads of what was written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.stateless import Relay
from model.core import Answer, Emit, Role, Send, Site
from model.errors import Invalid
from model.events import Body
from model.graph import SINK, SOURCE, Graph
from model.parts import over_words
from model.patches import Patched
from model.protocols.log_io.deployment import SiteKind, SiteSpec
from model.protocols.log_io.design import Groups, LogIoDesign, Transfer, WriteSupport
from model.protocols.log_io.evidence.readings import STATUS_OF_GROUP
from model.protocols.log_io.log import transact
from model.protocols.log_io.messages import (
    CheckGroup,
    ExecutedGroup,
    Look,
    MissingGroup,
    Reply,
    Success,
    Write,
    WriteGroup,
)
from model.protocols.log_io.protocol import PROTOCOL
from model.protocols.log_io.states import ExternalSystem
from model.protocols.log_io.surroundings import execute
from model.protocols.log_io.tables import LogDatabase, LoggedEvent
from model.protocols.log_io.writing.groups import send
from model.protocols.log_io.writing.lookup import UNSEEN, Lookup
from model.system import System
from tests.boxes.items import items

A = Body(1, "a")
SURROUNDINGS = "model.protocols.log_io.surroundings"
Execute = Callable[[Site, ExternalSystem, str, Any], Answer]


def writes(*numbers: int) -> tuple[Write, ...]:
    return tuple(Write(number, Body(number, "a")) for number in numbers)


def run(
    design: LogIoDesign, *messages: Any, system: Execute = execute
) -> tuple[list[int], list[Any]]:
    """What the external system shows, and what it answers."""
    site = Site("sink", Role.SINK, SiteSpec(design, SiteKind.OUTPUT), ("op",), ())
    state, shown, answers = ExternalSystem((None,)), [], []
    for message in messages:
        state, effects = system(site, state, "op", message)
        shown += [one.output[1].time for one in effects if isinstance(one, Emit)]
        answers += [one.message for one in effects if isinstance(one, Send)]
    return shown, answers


def messages_of(design: LogIoDesign, *numbers: int) -> list[Any]:
    assert design.groups is not None
    effects = send(design.groups, "sink", writes(*numbers))
    return [one.message for one in effects if isinstance(one, Send)]


@given(st.integers(1, 5), st.data())
def test_a_part_of_a_group_is_completed_once(size: int, data: Any) -> None:
    """The operator crashes after any part of the group, asks, and sends what is missing."""
    numbers = range(1, size + 1)
    design = LogIoDesign(groups=Groups(transfer=Transfer.IN_PARTS))
    part = messages_of(design, *numbers)[: data.draw(st.integers(0, size), label="part")]
    _, (*_, answer) = run(design, *part, CheckGroup(writes(*numbers)))
    missing = answer.writes if isinstance(answer, MissingGroup) else ()
    again = messages_of(design, *(write.number for write in missing)) if missing else []
    shown, answers = run(design, *part, *again)
    assert shown == [*numbers]
    assert not missing or answers == [Success(size)]


@given(st.integers(1, 5), st.integers(0, 5))
def test_the_status_of_a_group_is_a_success_if_all_of_it_has_taken_effect(
    size: int, executed: int
) -> None:
    before = [WriteGroup(writes(*range(1, executed + 1)))] if executed else []
    asked = writes(*range(1, size + 1))
    patched = Patched(SURROUNDINGS, (STATUS_OF_GROUP,), "execute")
    _, (*_, answer) = run(LogIoDesign(), *before, CheckGroup(asked), system=patched)
    assert answer == (Success(size) if size <= executed else MissingGroup(asked))


def test_a_group_is_idempotent_and_a_larger_one_is_another_action() -> None:
    design = LogIoDesign(groups=Groups(), writes=WriteSupport.IDEMPOTENT)
    once = messages_of(design, 1, 2)
    assert run(design, *once, *once)[0] == [1, 2]
    assert run(design, *once, *messages_of(design, 1, 2, 3))[0] == [1, 2, 1, 2, 3]
    assert run(LogIoDesign(writes=WriteSupport.PLAIN), *once, *once)[0] == [1, 2, 1, 2]


ROWS = st.builds(
    LoggedEvent,
    st.just("op"),
    st.sampled_from(["sink", "other"]),
    st.integers(1, 4),
    st.just(0),
    st.just(A),
)


@given(st.lists(ROWS, unique_by=lambda row: row[:3]), st.sets(st.integers(1, 4)))
def test_one_transaction_sets_the_writes_of_a_group_to_done(
    rows: list[LoggedEvent], numbers: set[int]
) -> None:
    executed = ExecutedGroup("sink", tuple(sorted(numbers)))
    tables, effects = transact(LogIoDesign(), LogDatabase(tuple(sorted(rows))), "op", executed)
    done = {row for row in rows if row.receiver == "sink" and row.number in numbers}
    assert effects == ()
    assert {*tables.events} == {*rows} - done


def test_a_read_shows_a_write_from_then_on() -> None:
    for shown in range(3):
        _, answers = run(LogIoDesign(), *writes(*range(1, shown + 1)), Look("op", 1), Look("op", 2))
        assert answers[-2:] == [Reply(int(shown < 1)), Reply(int(shown < 2))]


def test_a_lookup_has_the_answer_of_a_relay_and_one_for_a_write_that_is_not_shown() -> None:
    (item,) = items([(1, "a", 0)])
    box = Lookup("store")
    seen, unseen = box.look((), item)
    assert (seen,) == Relay().feed((), item)
    assert [out.body.type for out in unseen.outs] == [UNSEEN]


def test_a_lookup_of_what_nobody_writes_is_refused() -> None:
    nodes = (("source", SOURCE), ("op", Relay()), ("reader", Lookup("store")), ("sink", SINK))
    edges = (("source", "op"), ("op", "reader"), ("reader", "sink"))
    with pytest.raises(Invalid, match="reader reads 'store'; give a sink that op has"):
        System(PROTOCOL, over_words(Graph(nodes, edges), 1))
