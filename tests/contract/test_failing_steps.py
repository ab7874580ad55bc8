"""A step that fails is a finding: its scope, node and input, the run that led there, exit 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from docs.examples import amnesia
from model.core import Answer, Emit, Input, Received, Role, Send, Site
from model.errors import Invalid, StepFailed
from model.evidence import Outcome
from model.protocol import Protocol
from proofs.explore.explorer import Trace, explore
from proofs.explore.random_attack import attack
from proofs.explore.random_walk import walks
from proofs.explore.story import story
from reports.diagrams import spacetime, terminal
from sim.scenarios.run import simulate
from sim.scenarios.scenario import Scenario, read
from tests.contract.conftest import HEAD

Asif = Callable[..., Any]
BASE = amnesia.PROTOCOL

WRONG = {
    "raises": ("raise KeyError('gone')", "KeyError: 'gone' (line "),
    "ends the process": ("raise SystemExit(0)", "SystemExit: 0 (line "),
    "no answer": ("return None", "returns None, not a pair (state, tuple of effects)"),
    "no pair": ("return (state,)", "not a pair (state, tuple of effects)"),
    "a list of effects": ("return state, []", "not a pair (state, tuple of effects)"),
    "no effect": ("return state, ('x',)", "has 'x' among its effects, which is none"),
    "an unknown node": (
        "return state, (Send('sinc', 1),)",
        "sends to 'sinc': no channel goes there; ",
    ),
    "no sink": ("return state, (Emit((0, 1)),)", "emits an output, which only sinks do"),
    "no hash": ("return [state], ()", "as the state: unhashable type: 'list'"),
    "no hash inside": ("return (state, [1]), ()", "as the state: unhashable type: 'list'"),
}
TEXT = """
def wrong(site, state, input_):
    {wrong}

def step(site, state, input_):
    if site.role is Role.OPERATOR and isinstance(input_, Received):
        return wrong(site, state, input_)
    return amnesia.step(site, state, input_)

PROTOCOL = amnesia.PROTOCOL.vary(step=step)
"""
RECOVER = """
def recover(site, durable):
    {wrong}

PROTOCOL = amnesia.PROTOCOL.vary(recover=recover)
"""
BOOT = """
def boot(site):
    if site.role is Role.OPERATOR:
        raise KeyError('gone')
    return amnesia.boot(site)

PROTOCOL = amnesia.PROTOCOL.vary(boot=boot)
"""


def loaded(text: str) -> Protocol:
    """The PROTOCOL of a text; its lines have no file."""
    names: dict[str, Any] = {}
    exec(compile(HEAD + text, "own.py", "exec"), names)
    protocol: Protocol = names["PROTOCOL"]
    return protocol


def cases() -> list[Any]:
    """(text, node of the failing step, what it was on, why)"""
    found = []
    for at, (what, (wrong, why)) in enumerate(WRONG.items()):
        found.append(pytest.param(TEXT.format(wrong=wrong), "Body from source", why, id=what))
        recovery = RECOVER.format(wrong=wrong.replace("state", "durable"))
        # `.ci/run` has all in steps, and three in restarts, which are called in the same way.
        marks = () if at < 3 else pytest.mark.exhaustive
        found.append(pytest.param(recovery, "restart", why, id=f"recover: {what}", marks=marks))
    return found


STEP = pytest.mark.parametrize(("text", "on", "why"), cases())


# --- asif check --------------------------------------------------------------------------------
@STEP
def test_a_check_finds_it(text: str, on: str, why: str, asif: Asif, tmp_path: Path) -> None:
    ended = asif(text, "check", "FILE", "--examples", "20")
    assert ended.code == 1
    assert ended.result["outcome"] == "refuted"
    (scope,) = ended.result["scopes"]
    found = scope["counterexample"]
    assert scope["name"] == "two events"
    assert found["property"].startswith(f"every step answers (A, {on}: ")
    assert why in found["property"]
    assert found["steps"] == 2 == len(found["story"]["moments"])
    assert found["story"]["moments"][-1]["node"] == "A"
    assert found["story"]["moments"][-1]["state"] == "this step fails"
    failure = ended.result["attack"]["failure"]
    assert failure["property"] == found["property"]
    assert "this step fails" in ended.out
    assert f"A, {on}" in " ".join(ended.out.split())
    assert (tmp_path / "build/check/amnesia.svg").read_text().count("<svg")


def test_a_boot_that_raises_is_found(asif: Asif) -> None:
    ended = asif(BOOT, "check", "FILE", "--examples", "5")
    assert ended.code == 1
    (scope,) = ended.result["scopes"]
    assert scope["counterexample"]["property"].startswith("every step answers (A, boot: KeyError")
    assert scope["counterexample"]["steps"] == 0
    assert "A, boot: KeyError: 'gone'" in " ".join(ended.out.split())
    protocol = loaded(BOOT)
    walked = walks(protocol, amnesia.SMALL, 3, seed=1)
    assert walked.property is not None
    assert walked.trace is not None
    assert walked.trace.actions == ()


@pytest.mark.slow
@STEP
def test_explorer_walk_and_attack_find_the_same(text: str, on: str, why: str) -> None:
    protocol = loaded(text)
    explored = explore(protocol, amnesia.SMALL)
    assert explored.outcome is Outcome.REFUTED
    assert not explored.complete
    assert explored.counterexample is not None
    walked = walks(protocol, amnesia.SMALL, 200, seed=1)
    attacked = attack(protocol, walks=0, examples=20).failure
    assert attacked is not None
    assert walked.property is not None
    assert walked.trace is not None
    traces: list[tuple[str, Trace]] = [
        (explored.counterexample.property.name, explored.counterexample.trace),
        (walked.property.name, walked.trace),
        (attacked.property.name, attacked.trace),
    ]
    for name, trace in traces:
        assert f"A, {on}: " in name
        assert why in name
        assert len(trace.actions) == len(trace.worlds)
        told = story(trace)
        assert "this step fails" in terminal.text(told)
        assert spacetime.svg(told)


# --- runs over whole streams -------------------------------------------------------------------
RUN = ("run", "--protocol", "FILE", "--events", "e.csv", "--pattern", "a", "--window-size", "2")


@STEP
def test_an_untimed_run_ends_with_one_line(
    text: str, on: str, why: str, asif: Asif, tmp_path: Path
) -> None:
    (tmp_path / "e.csv").write_text("time,type\n1,a\n2,b\n3,a\n4,a\n")
    ended = asif(text, *RUN, "--window-slide", "1", "--crash", "match@2")
    assert ended.code == 1
    assert ended.err.count("\n") == 1
    assert ended.err.startswith("asif: a step fails: match, ")
    assert why in ended.err
    assert on in ended.err or "its last step" in ended.err


SCENARIO = """\
protocol = "upstream-backup"
[stream]
events = 20
rate_per_s = 100.0
types = { a = 1.0, b = 1.0 }
[[operators]]
name = "match"
pattern = "a, b"
window = 30
slide = 30
[[failures]]
nodes = ["match"]
at_event = 5
"""


def scenario(folder: Path, protocol: Protocol) -> Scenario:
    """A scenario's file names registered protocols only."""
    (folder / "small.toml").write_text(SCENARIO)
    return replace(read(folder / "small.toml"), protocol=protocol)


@STEP
def test_a_timed_run_names_the_step(text: str, on: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(StepFailed) as failed:
        simulate(scenario(tmp_path, loaded(text)), traced=True)
    assert failed.value.node == "match"
    assert failed.value.on in (on, "its last step", "a step")
    assert why in str(failed.value)


def test_a_timed_run_names_a_boot_that_raises(tmp_path: Path) -> None:
    with pytest.raises(StepFailed, match=r"match, boot: KeyError: 'gone' \(line "):
        simulate(scenario(tmp_path, loaded(BOOT)))


BAD = {
    "gauges": ("gauges=lambda site, state: 1 / 0", "gauges raises ZeroDivisionError"),
    "show": ("show=lambda value: 1 / 0", "show raises ZeroDivisionError"),
    "size": ("size=lambda value: 1 / 0", "size raises ZeroDivisionError"),
    "memory": ("memory=lambda site, state: 1 / 0", "memory raises ZeroDivisionError"),
    "no memory": ("memory=lambda site, state: None", "memory returns None; return Memory"),
    "no size": ("size=lambda value: None", "size returns None; return Size"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_timed_run_refuses_a_protocol_that_cannot_be_priced_or_shown(
    what: str, tmp_path: Path
) -> None:
    change, why = BAD[what]
    protocol = loaded(f"PROTOCOL = amnesia.PROTOCOL.vary({change})")
    with pytest.raises(Invalid, match=why):
        simulate(scenario(tmp_path, protocol), traced=True)


def test_gauges_that_raise_later_are_no_failing_step(tmp_path: Path) -> None:
    """At the start they are right."""
    protocol = loaded(
        "def later(site, state):\n"
        "    if state != amnesia.boot(site):\n        raise KeyError('late')\n"
        "    return Gauges(buffered=0)\n"
        "PROTOCOL = amnesia.PROTOCOL.vary(gauges=later)"
    )
    with pytest.raises(Invalid, match="gauges raises KeyError: 'late'"):
        simulate(scenario(tmp_path, protocol))


# --- outputs -----------------------------------------------------------------------------------
def emits_alone(site: Site, state: Any, input_: Input) -> Answer:
    """Without the number of the input edge."""
    if site.role is Role.SINK and isinstance(input_, Received):
        return state, (Emit(input_.message),)
    if site.role is Role.OPERATOR and isinstance(input_, Received):
        return state, tuple(Send(succ, input_.message) for succ in site.succs)
    return amnesia.step(site, state, input_)


def test_an_output_without_its_edge_is_a_failing_step(tmp_path: Path) -> None:
    protocol = BASE.vary(step=emits_alone)
    found = explore(protocol, amnesia.SMALL).counterexample
    assert found is not None
    assert "sink, Body from A: emits Body(" in found.property.name
    with pytest.raises(StepFailed, match="emits Body"):
        simulate(scenario(tmp_path, protocol))


# --- mutants -----------------------------------------------------------------------------------
MUTANT = """
def step(site, state, input_):
    return mindful.step(site, state, input_)

PROTOCOL = mindful.PROTOCOL.vary(
    step=step,
    mutants=(
        Mutant(
            "the relay stumbles",
            __name__,
            "return mindful.step(site, state, input_)",
            "return mindful.step(site, 1 // (site.role is not Role.OPERATOR) and state, input_)",
        ),
        Mutant("nothing is deployed", __name__, "step=step,", "deploy=lambda *_: 1 / 0,"),
    ),
)
"""


def test_in_a_mutant_a_failing_step_is_found(asif: Asif) -> None:
    ended = asif(MUTANT, "check", "FILE", "--mutants", "--examples", "5")
    assert ended.code == 0, ended.out + ended.err
    stumbles, undeployed = ended.result["mutants"]
    assert (stumbles["by"], stumbles["steps"], stumbles["scope"]) == ("explorer", 2, "two crashes")
    assert (undeployed["by"], undeployed["steps"]) == ("deployment", 0)
    assert "mutants found: 2 of 2" in ended.out
