"""Properties in runs: every state of an untimed run is judged, and the end of a timed one."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from asif.cli import main
from model.core import Deployment, Observation, Property, Scope, When
from model.graph import NO_GRAPH
from model.properties import AS_IF, COMPLETE, NOTHING_LOST, compares_outputs
from model.protocol import Protocol
from model.registry import subject
from model.results.run import RunViolation
from sim.inputs.streams import Workload
from sim.untimed.driver import UntimedRun
from sim.untimed.run import run

TWO_PHASE = Path("docs/how-to/engines/two_phase.py")
NO_STREAM = Workload("", "", NO_GRAPH, {})

JUDGED = """\
from asif.protocol import AS_IF, COMPLETE, Property, When
from model.registry import protocols

ONE = Property("one message at a time", When.ALWAYS, lambda _, seen: {one}, messages=True)
REST = Property("all are up at rest", When.QUIESCENT, lambda _, seen: {rest}, nodes=True)
PROTOCOL = protocols()["upstream-backup"].vary(
    family="judged", variants=(), properties=(AS_IF, COMPLETE, ONE, REST), compare_with=""
)
"""
SCENARIO = """\
protocol = "{name}"
seed = 7
[stream]
events = 40
rate_per_s = 200.0
types = {{ a = 1.0, b = 1.0 }}
[[operators]]
name = "match"
pattern = "a, b"
window = 20
slide = 10
"""
NUMBERS = count()
AT_ONCE = "sum(len(sent) for _, sent in seen.messages) < 2"
UP = "'match' in dict(seen.states)"


def voting(needed: int) -> Protocol:
    """Two managers prepare, the third one aborts; the coordinator decides after so many votes."""
    protocol = subject(str(TWO_PHASE)).protocol

    def deploy(_design: Any, scope: Scope) -> Deployment:
        deployed = protocol.behaviour.deploy(needed, scope)
        timers = {"tm": (), "one": ("prepare",), "two": ("prepare",), "three": ("abort",)}
        sites = (site._replace(timers=timers[site.name]) for site in deployed.sites)
        return deployed._replace(sites=tuple(sites))

    return protocol.vary(deploy=deploy)


def test_a_decision_after_the_first_vote_is_found_in_a_run_that_rests_well() -> None:
    """At rest all have committed, so only a state on the way shows it."""
    found = run(voting(1), NO_STREAM)
    assert found.violations == (RunViolation("no manager commits while another aborts", "one", 0),)
    assert run(voting(3), NO_STREAM).violations == ()


def test_a_run_reports_the_first_violation_of_each_property() -> None:
    protocol = voting(3)
    asked = [0, 0]

    def counted(place: int, bound: int) -> Property:
        def holds(_scope: Scope, _seen: Observation) -> bool:
            asked[place] += 1
            return asked[place] < bound

        return Property(f"asked {bound} times", When.ALWAYS, holds, nodes=True)

    found = run(protocol.vary(properties=(counted(0, 1), counted(1, 3))), NO_STREAM)
    assert [one.property for one in found.violations] == ["asked 1 times", "asked 3 times"]
    assert found.violations[0].node is None  # the start
    assert asked == [1, 3]


@pytest.mark.parametrize("name", ["upstream-backup", "amnesia", "passive-standby", "log-io"])
def test_families_are_not_judged_after_every_action(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They pay nothing for it: their properties of every world compare outputs."""
    assert compares_outputs(AS_IF)
    assert compares_outputs(COMPLETE)
    assert compares_outputs(NOTHING_LOST)
    looked: list[object] = []
    monkeypatch.setattr(UntimedRun, "_look", lambda *given: looked.append(given))
    assert not run(subject(name).protocol, workload()).violations
    assert not looked


def workload() -> Workload:
    from asif.duties.sample import Sample

    return Sample(subject("upstream-backup").protocol, "upstream-backup").workload


# --- commands ----------------------------------------------------------------------------------
@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{type_},{at}" for at, type_ in enumerate("ababab"))
    (tmp_path / "events.csv").write_text(f"type,time\n{rows}\n")
    return tmp_path


def judged(folder: Path, one: str = "True", rest: str = "True") -> str:
    """A file with a protocol of these properties; each is a module of its own."""
    name = f"judged_{next(NUMBERS)}.py"
    (folder / name).write_text(JUDGED.format(one=one, rest=rest))
    return name


def ran(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["asif", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


RUN = ("run", "--events", "events.csv", "--pattern", "a, b", "--protocol")


def test_asif_run_names_event_node_and_property(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The restarted operator says hello both ways at once; it restarts when the input has ended."""
    given = judged(folder, one=AT_ONCE), "--alone", "--json", "found.json"
    assert ran(monkeypatch, *RUN, *given) == 1
    printed = capsys.readouterr().out
    assert "\nthe same\n" in printed
    assert "VIOLATED at event 6, by match: one message at a time" in printed
    found = json.loads((folder / "found.json").read_text())
    assert found["same"]
    assert found["violations"] == [
        {"property": "one message at a time", "node": "match", "at_event": 6}
    ]


def test_asif_run_judges_the_end_by_properties_at_rest(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(monkeypatch, *RUN, judged(folder, rest=f"not ({UP})")) == 1
    assert "VIOLATED at event 6: all are up at rest" in capsys.readouterr().out
    assert ran(monkeypatch, *RUN, judged(folder, rest=UP)) == 0
    assert "VIOLATED" not in capsys.readouterr().out


def test_another_protocol_is_judged_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = judged(folder, one=AT_ONCE)
    assert ran(monkeypatch, *RUN, judged(folder), "--compare", other) == 0
    assert "judged: VIOLATED at event 6, by recurrence" in capsys.readouterr().out


def test_asif_simulate_judges_the_end_and_says_that_it_judges_no_more(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = folder / "judged.toml"
    scenario.write_text(SCENARIO.format(name=judged(folder, one=AT_ONCE, rest=UP)))
    assert ran(monkeypatch, "simulate", "judged.toml", "--json", "found.json") == 0
    line = "judged at the end alone, and by asif run in every world: one message at a time"
    assert line in capsys.readouterr().out
    found = json.loads((folder / "found.json").read_text())
    assert found["judged_at_end"] == ["one message at a time"]
    assert found["violations"] == []
    scenario.write_text(SCENARIO.format(name=judged(folder, rest=f"not ({UP})")))
    assert ran(monkeypatch, "simulate", "judged.toml") == 1
    assert "VIOLATED at the end: all are up at rest" in capsys.readouterr().out
