"""Section 4.4 of LOG.io: "at any point in time, the global state is consistent".

Every reachable world is looked at, also those in the middle of a recovery.  A property sees nodes
at rest only, and the claims are about all worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

import pytest

from model.core import NodeName
from model.evidence import Case
from model.protocol import Protocol
from model.protocols.log_io.deployment import SiteKind
from model.protocols.log_io.design import Garbage, LogIoDesign
from model.protocols.log_io.evidence import scopes
from model.protocols.log_io.evidence.build import build
from model.protocols.log_io.messages import Put
from model.protocols.log_io.places import LOG
from model.protocols.log_io.states import Connected, RunningOperator
from model.protocols.log_io.tables import LogDatabase
from model.system import System
from model.world import World, initial
from proofs.explore.edges import edges

KEEPING = build("", LogIoDesign(garbage=Garbage.NEVER), (), "done rows stay, so that they are seen")


class Port(NamedTuple):
    """A connection between two operators in a world.

    held: the numbers that are in the connection, or on their way out of it.  taken: the greatest
    number that the receiver, if it is up, has acknowledged.
    """

    sender: NodeName
    receiver: NodeName
    held: frozenset[int]
    taken: int


def ports(system: System, world: World) -> Iterator[Port]:
    for site in system.deployment.sites:
        if site.spec.part is not SiteKind.CONNECTION:
            continue
        receiver = system.sites[site.spec.receiver]
        edge = receiver.spec.ins.index(site.name)
        connection = world.nodes[system.node_at[site.name]].state
        assert isinstance(connection, Connected)
        way = world.channels[system.channel_at[site.name, receiver.name]]
        held = frozenset(put.number for put in (*connection.held, *way) if isinstance(put, Put))
        state = world.nodes[system.node_at[receiver.name]].state
        taken = state.last[edge] if isinstance(state, RunningOperator) else 0
        yield Port(receiver.preds[edge], receiver.name, held, taken)


Claim = Callable[[LogDatabase, Port], bool]


def rows(tables: LogDatabase, port: Port, number: int) -> list[tuple[bool, bool]]:
    """(is it assigned, is it done) of each row of the event."""
    key = (port.sender, port.receiver, number)
    return [(row.inset > 0, row.done) for row in tables.events if row[:3] == key]


def is_sent(tables: LogDatabase, port: Port) -> bool:
    """What was received, or is in a connection, its sender's state reflects: the definition."""
    return all(rows(tables, port, number) for number in (*port.held, *range(1, port.taken + 1)))


def is_assigned(tables: LogDatabase, port: Port) -> bool:
    """ "When an event is received (i.e., acknowledged), an InSet_ID has been assigned"."""
    found = [rows(tables, port, number) for number in range(1, port.taken + 1)]
    return all(found) and all(assigned for one in found for assigned, _ in one)


def is_unassigned(tables: LogDatabase, port: Port) -> bool:
    """ "If an event is in the communication channel then no InSet_ID has been assigned"."""
    return all(rows(tables, port, number) == [(False, False)] for number in port.held)


def first_violation(
    claim: Claim, case: Case, crashes: int, protocol: Protocol = KEEPING
) -> int | None:
    """How many actions lead to a world in which the claim is false; None: it is true in all."""
    scope = replace(case.scope, crashes=crashes, victims=None)
    system = System(protocol, scope)
    depths = {initial(system): 0}
    looked_at = 0
    for before, _, after in edges(protocol, scope):
        depths.setdefault(after, depths[before] + 1)
        tables = after.nodes[system.node_at[LOG]].state
        for port in ports(system, after):
            looked_at += bool(port.held) + bool(port.taken)
            if not claim(tables, port):
                return depths[after]
    assert looked_at
    return None


CASES = (
    scopes.A_RELAY,
    scopes.TWO_TYPES,
    scopes.TWO_RELAYS,
    scopes.TWO_PORTS_AND_TWO_FUNCTIONS,
    scopes.WINDOWS_OF_ONE_EVENT_AND_A_RELAY,
)


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
@pytest.mark.parametrize("claim", [is_sent, is_assigned, is_unassigned])
def test_without_failures_the_global_state_is_consistent(claim: Claim, case: Case) -> None:
    assert first_violation(claim, case, 0) is None


@pytest.mark.parametrize("case", CASES, ids=attrgetter("name"))
@pytest.mark.parametrize("claim", [is_sent, is_assigned])
def test_so_it_is_with_failures(claim: Claim, case: Case) -> None:
    assert first_violation(claim, case, 1) is None


def test_with_failures_an_event_in_a_connection_may_be_assigned() -> None:
    """The receiver crashes between the transaction and the removal (Algorithm 2, step 2): the
    claim is of an error-free run, and step 1 discards the event later."""
    assert first_violation(is_unassigned, scopes.A_RELAY, 1) == 3


@pytest.mark.parametrize("claim", [is_sent, is_assigned])
def test_a_log_that_answers_late_refutes_the_claims(claim: Claim) -> None:
    """Not vacuous: an event is sent, or acknowledged, while its transaction is on its way."""
    late = build("", LogIoDesign(garbage=Garbage.NEVER, prompt=False), (), "nobody waits")
    assert first_violation(claim, scopes.A_RELAY, 0, late) is not None
