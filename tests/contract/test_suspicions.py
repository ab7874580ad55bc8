"""False suspicions, and nodes that never return: what drivers grant, and how it is shown."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from model.actions import Crash, Deliver, Restart, Suspect
from model.choices import enabled, quiescent
from model.core import SUSPECTED, Arrival, Guarantee, Lost
from model.errors import Invalid
from model.evidence import Outcome
from model.protocol import Assumptions, Failures, Protocol
from model.results.plain import plain, read
from model.results.story import SentFrom, Story
from model.system import System
from model.world import apply, initial
from proofs.explore.explorer import Trace, explore
from proofs.explore.random_attack import attack
from proofs.explore.story import story
from reports.diagrams import spacetime, terminal
from sim.inputs.streams import Workload
from sim.untimed.crashes import UntimedCrash
from sim.untimed.run import run as run_untimed
from tests.contract import groups
from tests.contract.groups import ONE_EVENT, PROTOCOL, SILENT, deploying
from tests.contract.test_failure_groups import content, run
from tests.proofs.test_searches import both

SUSPICIOUS = PROTOCOL.vary(assumes=Assumptions(Failures.ANY, suspicions=True))
TWO = replace(SILENT, crashes=2)
GONE = deploying(PROTOCOL, returning=frozenset())


# --- false suspicions ----------------------------------------------------------------------------
def test_a_suspicion_puts_a_notice_there_and_uses_up_a_fault() -> None:
    system, world = run(SUSPICIOUS, TWO, Suspect("A", "sink"))
    assert content(system, world, "A", "sink") == (Lost("A"),)
    assert world.crashes == 1
    assert world.nodes == initial(system).nodes


def test_only_watched_channels_of_victims_that_are_up_are_suspected() -> None:
    def suspected(protocol: Protocol, scope: Any, *actions: Any) -> set[Any]:
        system, world = run(protocol, scope, *actions)
        return {action for action in enabled(system, world) if isinstance(action, Suspect)}

    every = {Suspect("A", "sink"), Suspect("A", "B"), Suspect("B", "sink")}
    assert suspected(SUSPICIOUS, TWO) == every
    assert suspected(PROTOCOL, TWO) == set()
    assert suspected(SUSPICIOUS, replace(TWO, victims=frozenset({"B"}))) == {Suspect("B", "sink")}
    assert suspected(SUSPICIOUS, TWO, Crash("A")) == {Suspect("B", "sink")}
    assert suspected(SUSPICIOUS, SILENT, Suspect("A", "B")) == set()


def test_a_notice_to_a_node_that_is_down_is_lost() -> None:
    system, world = run(SUSPICIOUS, TWO, Crash("B"), Suspect("A", "B"))
    assert content(system, world, "A", "B") == ()
    assert world.crashes == 0


def test_after_a_single_suspicion_the_next_fault_waits_for_rest() -> None:
    single = PROTOCOL.vary(assumes=Assumptions(Failures.SINGLE, suspicions=True))
    system, world = run(single, TWO, Suspect("A", "sink"))
    assert [*enabled(system, world)] == [Deliver("sink", "A")]
    assert Suspect("A", "sink") in enabled(system, apply(system, world, Deliver("sink", "A")))


def test_worlds_with_a_suspicion_are_as_counted_by_hand() -> None:
    """A notice to B or from A or B to the sink is on its way, or has been taken."""
    crashes = both(PROTOCOL, SILENT).states
    found = both(SUSPICIOUS, SILENT)
    # A taken notice from a node that is up is a new world, but for that of a restarted node.
    assert found.states == crashes + 3 + 1
    assert found.notes[SUSPECTED.name] == 3


def test_both_finders_find_what_a_suspicion_breaks() -> None:
    refuted = SUSPICIOUS.vary(properties=(groups.NEVER_BOTH,))
    refuted = deploying(refuted, together=())
    twice = replace(ONE_EVENT, crashes=2)
    calm = refuted.vary(assumes=Assumptions(Failures.NONE))
    assert explore(calm, replace(twice, crashes=0)).outcome is Outcome.HOLDS
    for trace in (
        explore(refuted, twice, until=Guarantee.PRECISE).counterexample,
        attack(refuted, walks=3_000, examples=0, scopes=[twice]).failure,
        attack(refuted, walks=0, examples=300, scopes=[twice]).failure,
    ):
        assert trace is not None


def test_a_suspicion_is_shown() -> None:
    actions = (Suspect("A", "sink"), Deliver("sink", "A"))
    worlds = [run(SUSPICIOUS, SILENT, *actions[:at])[1] for at in range(3)]
    shown = story(Trace(System(SUSPICIOUS, SILENT), actions, tuple(worlds)))
    assert read(Story, json.loads(json.dumps(plain(shown)))) == shown
    first, second = shown.moments
    assert (first.kind, first.label) == ("suspect", "suspected by sink")
    assert [send.label for send in first.sends] == ["lost A"]
    assert second.from_ == SentFrom("A", 0)
    lines = terminal.text(shown, width=110).splitlines()
    assert any("suspected by sink" in line for line in lines)
    assert not any("✕" in line for line in lines[:-1] if "step" not in line)
    assert "suspected by sink" in spacetime.svg(shown)


# --- nodes that never return ---------------------------------------------------------------------
def test_a_node_that_never_returns_is_at_rest() -> None:
    system, world = run(GONE, SILENT, Crash("A"), Deliver("sink", "A"), Deliver("B", "A"))
    assert quiescent(system, world)
    assert not any(isinstance(action, Restart) for action in enabled(system, world))
    both_kinds = run(deploying(PROTOCOL, returning=frozenset({"B"})), SILENT, Crash("B"))
    assert Restart("B") in enabled(*both_kinds)


def test_a_bad_returning_node_is_one_line() -> None:
    bad = deploying(PROTOCOL, returning=frozenset({"sources"}))
    with pytest.raises(Invalid, match="'sources' return from a crash, which is no site"):
        System(bad, SILENT)


def test_an_untimed_run_ends_without_the_node() -> None:
    events = {"source": (Arrival(1, "a"),) * 3}
    found = run_untimed(GONE, Workload("", "", groups.GRAPH, events), [UntimedCrash("A", 2)])
    assert [outage.node for outage in found.outages] == ["A"]
    assert len(found.outputs[0][0]) == 1  # the first event; A takes no other


def test_suspicions_without_crashes_are_refused() -> None:
    with pytest.raises(Invalid, match="a false suspicion takes the place of a crash"):
        Assumptions(Failures.NONE, suspicions=True)
