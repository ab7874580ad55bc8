"""`Group(members, alone=False)`: the nodes of a process or host fall together, and none alone."""

from __future__ import annotations

from typing import Any

import pytest

from model.actions import Crash, Timeout
from model.choices import enabled
from model.core import (
    Answer,
    Group,
    Input,
    Observation,
    Property,
    Received,
    Scope,
    Send,
    Site,
    TimerFired,
    When,
)
from model.errors import Invalid
from model.protocol import Assumptions, Failures, Protocol
from model.system import System
from proofs.explore.explorer import explore
from tests.contract.words import DOWN, deployed, holds, protocol, reachable, refuted, site
from tests.proofs.test_searches import both

HOST = frozenset({"a", "b"})


def whole(_scope: Scope, seen: Observation) -> bool:
    return len({name for name, _ in seen.states} & HOST) != 1


TOGETHER = Property("both are up, or none", When.ALWAYS, whole, nodes=True)


def host(*properties: Property, alone: bool, **changes: Any) -> Protocol:
    """Two nodes on one host that do nothing and never come back."""
    deployment = deployed(site("a"), site("b"), crashable="a b", together=(Group(HOST, alone),))
    gone = deployment._replace(**{"returning": frozenset(), **changes})
    return protocol(gone, lambda *_: (0, ()), *properties)


def test_one_fault_takes_down_all() -> None:
    """Both up, both down."""
    holds(host(TOGETHER, alone=False), Scope(crashes=1), 2)


def test_else_each_may_crash_alone() -> None:
    """Both up, one down or the other, both down."""
    refuted(host(TOGETHER, alone=True), Scope(crashes=1), 1)
    assert both(host(alone=True), Scope(crashes=1)).states == 4


def test_without_a_crash_nothing_happens() -> None:
    assert both(host(alone=False), Scope(crashes=0)).states == 1


def test_each_comes_back_by_itself() -> None:
    """Both up; after the fault each of the two is down or up: 1 + 2 * 2."""
    assert both(host(alone=False, returning=HOST), Scope(crashes=1)).states == 1 + 2 * 2


def test_a_host_of_which_one_has_not_come_back_crashes_again() -> None:
    """With a budget of two: both up; then any of 4 worlds with one left; of these, those where one
    is up at least may crash: any of 4 with none left."""
    holds(host(alone=False, returning=HOST), Scope(crashes=2), 1 + 4 + 4)


def test_a_second_fault_waits_until_all_are_back_if_failures_are_single() -> None:
    """Both up; 4 worlds with one fault left, of which the one at rest may crash: 4 with none."""
    single = host(alone=False, returning=HOST).vary(assumes=Assumptions(Failures.SINGLE))
    holds(single, Scope(crashes=2), 1 + 4 + 4)
    system = System(single, Scope(crashes=2))
    for world in reachable(system):
        up = [node.state is not DOWN for node in world.nodes]
        crashes = any(isinstance(action, Crash) for action in enabled(system, world))
        assert crashes == (all(up) and world.crashes > 0)


def test_its_crashes_name_the_group_and_are_listed_once() -> None:
    system = System(host(alone=False), Scope(crashes=1))
    (world, *_) = reachable(system)
    assert enabled(system, world) == (
        Crash("a", False, ("a", "b")),
        Crash("a", True, ("a", "b")),
    )


def test_a_victim_of_a_bound_group_does_not_crash_without_the_others() -> None:
    """A scope that lets one of them crash lets nobody crash."""
    found = both(host(alone=False), Scope(crashes=1, victims=frozenset("a")))
    assert found.states == 1
    (why,) = (one for one in found.vacuous if one.startswith("crashes: 1 granted, and none could"))
    assert why.endswith("with a group that is not among them; name its members, too")


def relay(*, alone: bool) -> Protocol:
    """A node hands a message to the next one on its host, which then keeps it; nobody else does."""

    def step(site: Site, state: Any, input_: Input) -> Answer:
        match site.name, input_:
            case "a", TimerFired():
                return "handed", (Send("b", 1), Send("c", 1))
            case _, Received():
                return "has it", ()
        raise AssertionError(input_)

    def seen_by_all(_scope: Scope, seen: Observation) -> bool:
        """While both are up, b has the message that a handed on."""
        states = dict(seen.states)
        return states.get("a") != "handed" or states.get("b") in ("has it", None)

    deployment = deployed(
        *(site("a", "go"), site("b"), site("c")),
        channels="a-b a-c",
        crashable="a b",
        together=(Group(HOST, alone),),
    )
    rest = Property("at rest, b has what a handed on", When.QUIESCENT, seen_by_all, nodes=True)
    return protocol(deployment, step, rest, recover=lambda *_: ("new", ()))


def test_what_is_handed_on_within_a_host_is_lost_with_both_or_not_at_all() -> None:
    """Where b crashes alone and comes back, a never learns of it: go, crash, restart, and c
    receives its message."""
    assert explore(relay(alone=False), Scope(crashes=1)).counterexample is None
    found = explore(relay(alone=True), Scope(crashes=1)).counterexample
    assert found is not None
    assert len(found.trace.actions) == 4


def test_a_crash_in_a_step_takes_the_host_down() -> None:
    """After the first of two effects: the message within the host is lost, c receives none."""
    system = System(relay(alone=False), Scope(crashes=1))
    (world, *_) = reachable(system)
    steps = [action for action in enabled(system, world) if isinstance(action, Timeout)]
    assert steps == [Timeout("a", "go"), Timeout("a", "go", 1, ("a", "b"))]


BAD: dict[str, tuple[Any, str]] = {
    "no frozenset": (
        (Group(("a", "b"), alone=False),),  # type: ignore[arg-type]
        "words: deploy gives a failure group of ('a', 'b'); give a frozenset of sites",
    ),
    "one member": (
        (Group(frozenset("a"), alone=False),),
        "words: deploy gives a failure group of 1 (a); give two sites or more",
    ),
    "an unknown member": (
        (Group(frozenset("az"), alone=False),),
        "words: deploy gives a failure group a, z, and no site 'z' may crash; there are",
    ),
    "twice, of both kinds": (
        (Group(HOST, alone=False), Group(HOST)),
        "words: deploy gives the failure group a, b twice",
    ),
    "two hosts of one node": (
        (Group(HOST, alone=False), Group(frozenset("bc"), alone=False)),
        "words: deploy gives 'b' to two failure groups with alone=False; give it to one",
    ),
}


@pytest.mark.parametrize(("together", "line"), BAD.values(), ids=BAD)
def test_a_wrong_word_is_one_line(together: Any, line: str) -> None:
    sites = (site("a"), site("b"), site("c"))
    deployment = deployed(*sites, crashable="a b c", together=together)
    with pytest.raises(Invalid) as raised:
        System(protocol(deployment, lambda *_: (0, ())), Scope())
    assert line in str(raised.value)


def test_a_process_on_a_rack_may_be_in_two_groups() -> None:
    """The rack takes down the process and c, and c may crash alone: with nobody returning, any
    of: all up, the process down, c down, all down."""
    process, rack = Group(HOST, alone=False), Group(frozenset("abc"))
    sites = (site("a"), site("b"), site("c"))
    deployment = deployed(*sites, crashable="a b c", together=(process, rack))
    tried = protocol(deployment._replace(returning=frozenset()), lambda *_: (0, ()), TOGETHER)
    holds(tried, Scope(crashes=1), 4)
