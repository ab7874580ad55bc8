"""Timers from the start, more sites than the graph has nodes, variants in a FILE.py, and what the
terminal shows of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from asif.duties.sample import deployed
from model.actions import Action, Timeout
from model.choices import enabled, quiescent
from model.core import (
    Answer,
    Arrival,
    Deployment,
    Emit,
    Input,
    Property,
    Received,
    Role,
    Scope,
    Send,
    SetTimer,
    Site,
    TimerFired,
    When,
)
from model.errors import Invalid
from model.events import Body
from model.evidence import Outcome
from model.parts import deploy_graph
from model.system import System
from model.world import initial
from proofs.explore.explorer import explore
from proofs.explore.random_attack import attack
from proofs.explore.random_walk import walks
from proofs.explore.story import story
from reports.diagrams import terminal
from sim.inputs.streams import Workload, graph_for
from sim.scenarios.run import run as timed
from sim.scenarios.scenario import read
from sim.timed.record import LogEntry
from sim.untimed.crashes import UntimedCrash
from sim.untimed.run import run
from tests.conformance.standby import protocol as standby
from tests.conformance.subjects import PROTOCOLS, followed
from tests.contract import restarts

Asif = Callable[..., Any]


# --- timers that are set at boot -----------------------------------------------------------------
def deploy(_design: None, scope: Scope) -> Deployment:
    """As many timers as the operator may have: a restarted node sets its own."""
    deployment = deploy_graph(scope.graph)
    armed = tuple(
        site._replace(timers=("t",)) if site.role is Role.OPERATOR else site
        for site in deployment.sites
    )
    return deployment._replace(sites=armed)


def recover(_site: Site, _durable: None) -> Answer:
    return False, (SetTimer("t"),)


def step(site: Site, state: Any, input_: Input) -> Answer:
    """An operator passes nothing on before its timer has run out."""
    match site.role, input_:
        case Role.OPERATOR, TimerFired("t"):
            return True, ()
        case Role.OPERATOR, Received(_, Body() as body):
            return state, tuple(Send(succ, body) for succ in site.succs) if state else ()
        case Role.SINK, Received(sender, body):
            return state, (Emit((site.preds.index(sender), body)),)
        case Role.SOURCE, Arrival(gap, type_, data):
            body = Body(state + gap, type_, data)
            return body.time, tuple(Send(succ, body) for succ in site.succs)
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


AWAKE = Property(
    "at rest, every operator is awake",
    When.QUIESCENT,
    lambda _, seen: all(state for name, state in seen.states if name == "A"),
    nodes=True,
)
TIMED = restarts.ANY.vary(
    family="timers",
    variant="",
    deploy=deploy,
    boot=lambda site: 0 if site.role is Role.SOURCE else False,
    recover=recover,
    step=step,
    properties=(AWAKE,),
)
ASLEEP = TIMED.vary(deploy=lambda _, scope: deploy_graph(scope.graph))


def test_the_world_starts_with_them() -> None:
    system = System(TIMED, restarts.TWO_CRASHES)
    world = initial(system)
    assert Timeout("A", "t") in enabled(system, world)
    assert not quiescent(system, world)
    assert quiescent(System(ASLEEP, restarts.TWO_CRASHES), initial(System(ASLEEP, system.scope)))


def test_explorer_walks_and_attack_let_them_run_out() -> None:
    scope = restarts.TWO_CRASHES
    assert explore(TIMED, scope).outcome is Outcome.HOLDS
    assert walks(TIMED, scope, 100, seed=1).property is None
    assert attack(TIMED, walks=0, examples=20).failure is None
    assert explore(ASLEEP, scope).outcome is Outcome.REFUTED
    assert walks(ASLEEP, scope, 100, seed=1).property is AWAKE
    assert attack(ASLEEP, walks=0, examples=20).failure is not None


@pytest.mark.parametrize("plans", [(), (UntimedCrash("A", 3),), (UntimedCrash("A", 8),)])
def test_an_untimed_run_lets_them_run_out(plans: tuple[UntimedCrash, ...]) -> None:
    """Also those that a node sets which restarts after the last event."""
    word = tuple(Arrival(1, "a") for _ in range(8))
    workload = Workload("", "", restarts.RELAY, {"source": word})
    actions: list[Action] = []
    found = run(TIMED, workload, plans, restart_after=3, record=actions.append)
    assert actions.count(Timeout("A", "t")) == 1 + len(plans)
    assert found.count == {(): 7, (3,): 2, (8,): 6}[tuple(plan.event for plan in plans)]
    system = deployed(TIMED, workload, len(plans))
    assert quiescent(system, followed(system, actions))


SCENARIO = """\
protocol = "upstream-backup"
[stream]
events = 20
rate_per_s = 100.0
arrivals = "constant"
types = { a = 1.0 }
[[operators]]
name = "A"
pattern = "a"
window = 1
slide = 1
[costs]
timer_s = 0.055
[detector]
keep_alive_s = 0.01
misses = 1
restart_s = 0.01
"""
CRASH = '[[failures]]\nnodes = ["A"]\nat_s = 0.1\n'


@pytest.mark.parametrize("crash", ["", CRASH])
def test_a_timed_run_lets_them_run_out(crash: str, tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SCENARIO + crash)
    asked = replace(read(tmp_path / "small.toml"), protocol=TIMED)
    log: list[LogEntry] = []
    ran = timed(asked, asked.planned, log=log)
    ends = [entry.began_ps / 1e12 for entry in log if isinstance(entry.action, Timeout)]
    assert ends[0] == pytest.approx(0.055)
    assert len(ends) == 1 + bool(crash)
    system = deployed(TIMED, asked.workload, len(asked.planned))
    world = followed(system, [entry.action for entry in sorted(log)])
    assert quiescent(system, world)
    assert [node.state for node in world.nodes] == [*ran.result.states.values()]


# --- more sites than the graph -------------------------------------------------------------------
def test_a_site_beside_the_graph_stands_between_its_neighbours() -> None:
    found = explore(standby.ANY, standby.TWO_CRASHES).counterexample
    assert found is not None
    lanes = ["source", "A", "standby", "sink"]
    assert [site.name for site in found.trace.system.deployment.sites] != lanes
    assert [*story(found.trace).lanes] == lanes
    heading = terminal.text(story(found.trace), width=100).splitlines()[0]
    assert heading.split() == lanes


def test_a_site_beside_the_graph_crashes_in_a_run() -> None:
    word = tuple(Arrival(1, type_) for type_ in "ab" * 6)
    workload = Workload("", "", standby.ONE, {"source": word})
    found = run(standby.PROTOCOL, workload, [UntimedCrash("standby", 4)], restart_after=2)
    assert [outage.node for outage in found.outages] == ["standby"]


# --- variants in a file, and the terminal --------------------------------------------------------
VARIANTS = """
from tests.conformance.standby import protocol as standby

PROTOCOL = standby.PROTOCOL
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "variant",  # the longer name is found like the short one
    ["any", pytest.param("standby:any", marks=pytest.mark.exhaustive)],
)
def test_a_variant_in_a_file_is_checked_like_a_built_in_one(variant: str, asif: Asif) -> None:
    ended = asif(VARIANTS, "check", f"FILE:{variant}", "--examples", "5")
    assert ended.code == 1
    assert ended.result["protocol"] == "standby:any"
    assert (ended.result["outcome"], ended.result["expected"]) == ("refuted", True)
    assert asif(VARIANTS, "check", "FILE", "--examples", "5").code == 0


def test_an_unknown_variant_is_one_line(asif: Asif) -> None:
    ended = asif(VARIANTS, "check", "FILE:ani")
    assert "unknown variant 'ani'; " in ended.line


def test_a_variant_in_a_file_is_run_and_compared(asif: Asif, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("time,type\n1,a\n2,b\n3,a\n4,b\n5,a\n6,b\n")
    window = ("--pattern", "a, b", "--window-size", "4", "--window-slide", "2")
    called = ("run", "--protocol", "FILE:any", "--compare", "upstream-backup")
    ended = asif(VARIANTS, *called, "--events", "e.csv", *window, "--crash", "match@3")
    assert ended.code == 0, ended.out + ended.err
    assert ended.result["protocol"] == "standby:any"
    assert ended.result["compared"]["protocol"] == "upstream-backup"
    assert ended.result["left_out"] == ["recurrence", "summary"]


ATTACKED = """
def step(site, state, input_):
    if site.role is Role.SINK and isinstance(input_, Received) and input_.message.sn[0] > 2:
        return input_.message.sn[0], ()
    return mindful.step(site, state, input_)

PROTOCOL = mindful.PROTOCOL.vary(step=step,
    scopes=(replace(mindful.PROTOCOL.evidence.scopes[0], states=None),),
)
"""


def test_what_only_the_attack_finds_is_drawn_in_the_terminal(asif: Asif, tmp_path: Path) -> None:
    """The third event is lost, and the scope has two; the attack makes it longer."""
    ended = asif(ATTACKED, "check", "FILE", "--examples", "60")
    assert ended.code == 1
    assert [row["outcome"] for row in ended.result["scopes"]] == ["holds"]
    failure = ended.result["attack"]["failure"]
    assert failure["property"].startswith("at rest, all failure-free outputs")
    drawn = " ".join(ended.out.split())
    assert f"Violated in {failure['steps']} steps (random attack): " in drawn
    assert "Property: at rest, all failure-free outputs have been seen" in drawn
    lines = ended.out.splitlines()
    assert any(line.split() == failure["story"]["lanes"] for line in lines)
    assert "a3 ‹" in ended.out
    assert (tmp_path / "build/check/mindful.svg").is_file()
    assert (tmp_path / "build/check/test_mindful.py").is_file()


# --- jobs of sites -------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"runs": {"macth": ("match",)}}, "runs names no site 'macth'; did you mean 'match'"),
        ({"runs": {"match": ("mach",)}}, "match runs 'mach', which is no operator of the graph"),
        ({"storing": frozenset({"disk"})}, "storing names 'disk'; give a site that is not prompt"),
    ],
)
def test_a_site_runs_operators_and_stores_what_it_may(changes: dict[str, Any], said: str) -> None:
    def jobs(_design: None, scope: Scope) -> Deployment:
        return deploy_graph(scope.graph)._replace(**changes)

    protocol = PROTOCOLS["amnesia"].vary(deploy=jobs)
    with pytest.raises(Invalid, match=said):
        System(protocol, Scope(graph_for("a, b", 4, 2)))
