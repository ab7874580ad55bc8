"""Every protocol as people see it: the list of protocols, and runs as diagrams."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from asif.cli import main
from model.actions import Crash
from model.results.plain import plain, read
from model.results.story import Story
from model.world import unfold
from proofs.explore.story import story
from reports.diagrams import run_list, spacetime, terminal
from reports.diagrams.timeline import timeline
from tests.conformance.subjects import EVERY, NAMES, PROTOCOLS, SAMPLES


def crashed(name: str) -> Story:
    """A run with a crash, if any of the random ones has one."""
    runs = sorted(
        SAMPLES[name].traces, key=lambda run: any(isinstance(a, Crash) for a in run.actions)
    )
    return story(runs[-1])


@EVERY
def test_a_run_is_a_story(name: str) -> None:
    for trace in SAMPLES[name].traces:
        shown_run = story(trace)
        assert read(Story, json.loads(json.dumps(plain(shown_run)))) == shown_run
        assert sorted(shown_run.lanes) == sorted(trace.system.sites)
        taken = zip(trace.worlds, trace.actions, strict=False)
        steps = sum(len([*unfold(trace.system, world, action)]) for world, action in taken)
        assert len(shown_run.moments) == steps  # those of prompt sites are moments, too


@EVERY
def test_lanes_stand_in_the_order_of_the_data(name: str) -> None:
    """A channel along which only data goes leads to the right."""
    trace = SAMPLES[name].traces[0]
    lanes = story(trace).lanes
    ends = {*trace.system.deployment.channels}
    for sender, receiver in ends:
        site = trace.system.sites[receiver]
        if sender in site.preds and (receiver, sender) not in ends:
            assert lanes.index(sender) < lanes.index(receiver)


@EVERY
def test_a_run_is_drawn(name: str) -> None:
    shown_run = crashed(name)
    svg = spacetime.svg(shown_run, caption="a run")
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert spacetime.svg(shown_run, caption="a run") == svg
    text = terminal.text(shown_run, caption="a run")
    listed = run_list.is_too_narrow(timeline(shown_run), terminal.WIDTH)
    shown_lanes = {moment.node for moment in shown_run.moments} if listed else shown_run.lanes
    assert all(lane in text for lane in shown_lanes)
    assert text.count("\n") >= len(shown_run.moments)
    with (console := Console(width=100)).capture() as shown:
        console.print(terminal.style(shown_run))
    assert "Violated: a run" in text
    assert shown.get() == terminal.text(shown_run)


def test_all_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["asif", "list", "--json", str(tmp_path / "list.json")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out
    rows = {row["protocol"]: row for row in json.loads((tmp_path / "list.json").read_text())}
    assert sorted(rows) == NAMES
    for name, row in rows.items():
        assert row["expected"] == PROTOCOLS[name].evidence.expected.value
        assert row["scopes"] == len(PROTOCOLS[name].evidence.scopes)
        assert row["claims"]
