"""LOG.io's slow external systems, and an operator with two processes: whose requests count."""

from __future__ import annotations

from typing import Any

import pytest

from model.boxes.stateless import Relay
from model.core import STALE, Answer, Emit, Lost, Note, Received, Role, Send, Site
from model.errors import Invalid
from model.events import Body
from model.protocols.log_io import slow_systems
from model.protocols.log_io.deployment import SiteKind, SiteSpec, deploy
from model.protocols.log_io.design import (
    Fencing,
    Groups,
    LogIoDesign,
    Processes,
    SlowSystem,
    WriteStatus,
    WriteSupport,
)
from model.protocols.log_io.evidence.shapes import one
from model.protocols.log_io.messages import Assign, Check, Missing, Put, Restore, Success, Write
from model.protocols.log_io.places import LOG
from model.protocols.log_io.processes import (
    EpochProcess,
    Granted,
    Stamped,
    Start,
    execute_for,
    step,
    transact_for,
)
from model.protocols.log_io.protocol import PROTOCOL
from model.protocols.log_io.states import ExternalSystem, Image
from model.protocols.log_io.tables import LogDatabase
from proofs.explore.explorer import explore

A = Body(1, "a")
HAND = slow_systems.HandOver()
SCOPE = one(Relay(), 1, crashes=1)


# --- slow external systems -------------------------------------------------------------------
def run(slow: SlowSystem, *messages: tuple[str, Any]) -> tuple[int, list[Any]]:
    """How many writes a slow external system has executed, and its answers to the operator."""
    design = LogIoDesign(slow=slow)
    site = Site("sink", Role.SINK, SiteSpec(design, SiteKind.OUTPUT), ("op",), ())
    state, effects = ExternalSystem((None,)), list[Any]()
    for sender, message in messages:
        state, more = slow_systems.take(site, state, sender, message)
        effects += more
    executed = sum(isinstance(one, Emit) for one in effects)
    return executed, [one.message for one in effects if isinstance(one, Send) and one.to == "op"]


WRITE, CHECK, CRASH = ("op", Write(1, A)), ("op", Check(1, A)), ("op", Lost("op"))
NEXT = ("sink-hand-0", HAND)


@pytest.mark.parametrize("status", WriteStatus)
def test_after_the_answer_no_an_older_request_takes_effect_in_one_reading_alone(
    status: WriteStatus,
) -> None:
    """The contract of a checkable system: after "no" no older request takes effect."""
    steps = [WRITE, CRASH, CHECK, NEXT]
    if status is WriteStatus.AWAITED:
        assert run(SlowSystem(status), *steps[:-1]) == (0, [])
        assert run(SlowSystem(status), *steps, NEXT) == (1, [Success(1)])
    else:
        executed = 1 if status is WriteStatus.OF_NOW else 0
        assert run(SlowSystem(status), *steps) == (executed, [Missing(1, A)])


def test_an_answer_to_a_node_that_has_crashed_is_lost() -> None:
    assert run(SlowSystem(), WRITE, NEXT) == (1, [Success(1)])
    assert run(SlowSystem(), WRITE, CRASH, NEXT) == (1, [])


def test_requests_of_before_and_after_a_restart_have_two_hands_if_they_have_no_order() -> None:
    slow = SlowSystem(in_order=False)
    second = ("sink-hand-1", HAND)
    assert run(slow, WRITE, CRASH, CHECK, second) == (0, [Missing(1, A)])


# --- two processes ---------------------------------------------------------------------------
def process(name: str) -> Site:
    design = LogIoDesign(processes=Processes())
    spec = SiteSpec(design, SiteKind.OPERATOR, process="op", sinks=frozenset({"sink"}))
    return Site(name, Role.OPERATOR, spec, ("reader",), ("sink",))


def assigns_and_writes(_site: Site, state: Any, _input: Received) -> Answer:
    return state, (Send(LOG, Assign("reader", 1, (1,))), Send("sink", Write(1, A)))


def test_a_process_goes_on_when_the_log_has_granted_its_transaction() -> None:
    site, put = process("op"), Received("reader", Put(1, A))
    state, effects = step(site, EpochProcess(2, None), put, assigns_and_writes)
    assert effects == (Send(LOG, Stamped(2, Assign("reader", 1, (1,)))),)
    state, nothing = step(site, state, put, assigns_and_writes)
    assert nothing == ()
    state, more = step(site, state, Received(LOG, Granted(True, 2)), assigns_and_writes)
    assert more == (Send("sink", Stamped(2, Write(1, A))), *effects)
    assert state.held == ()


def test_a_process_whose_transaction_is_refused_stops() -> None:
    site, put = process("op"), Received("reader", Put(1, A))
    state, _ = step(site, EpochProcess(0, None), put, assigns_and_writes)
    state, _ = step(site, state, Received(LOG, Granted(False, 0)), assigns_and_writes)
    assert state is Image.STOPPED
    assert step(site, state, put, assigns_and_writes) == (state, (Note(STALE),))


def test_a_second_process_starts_once() -> None:
    site, start = process("op-2"), Received("deployer", Start())
    state, effects = step(site, Image.ABSENT, start, assigns_and_writes)
    assert effects == (Send(LOG, Stamped(0, Restore())),)
    assert step(site, state, start, assigns_and_writes) == (state, (Note(STALE),))


def test_the_log_and_external_systems_refuse_an_older_process() -> None:
    design = LogIoDesign(processes=Processes())
    log = Site(LOG, Role.OPERATOR, SiteSpec(design, SiteKind.LOG), (), ())
    tables, effects = transact_for(log, LogDatabase(), "op-2", Stamped(0, Restore()))
    assert effects[0] == Send("op-2", Granted(True, 1))
    assign = Stamped(0, Assign("reader", 1, (1,)))
    assert transact_for(log, tables, "op", assign) == (tables, (Send("op", Granted(False, 0)),))
    sink = Site("sink", Role.SINK, SiteSpec(design, SiteKind.OUTPUT), ("op",), ())
    state, answers = execute_for(sink, ExternalSystem((None,)), "op-2", Stamped(1, Check(1, A)))
    assert answers == (Send("op-2", Missing(1, A)),)
    after, effects = execute_for(sink, state, "op", Stamped(0, Write(1, A)))
    assert after == state
    assert all(isinstance(one, Note) for one in effects)


@pytest.mark.parametrize(
    ("fencing", "writes", "holds"),
    [
        (Fencing.LOG_AND_SYSTEMS, WriteSupport.CHECKABLE, True),
        (Fencing.LOG_AND_SYSTEMS, WriteSupport.PLAIN, False),
        (Fencing.LOG, WriteSupport.CHECKABLE, False),
    ],
)
def test_an_epoch_is_enough_for_checkable_writes_if_external_systems_know_it(
    fencing: Fencing, writes: WriteSupport, holds: bool
) -> None:
    """One event and one fault: a crash, or a suspicion of a process that is up."""
    protocol = PROTOCOL.named("log-io:two-processes")
    design = LogIoDesign(writes=writes, processes=Processes("op", fencing))
    assert (explore(protocol.vary(design=design), SCOPE).counterexample is None) == holds


def test_choices_that_do_not_go_together_are_refused() -> None:
    design = LogIoDesign(processes=Processes(), groups=Groups())
    with pytest.raises(Invalid, match="an operator with two processes writes one by one"):
        deploy(design, SCOPE)


def test_a_graph_without_the_operator_has_one_process_of_each() -> None:
    found = deploy(LogIoDesign(processes=Processes("another")), SCOPE)
    assert found.returning is None
    assert not any(site.spec.process for site in found.sites)
