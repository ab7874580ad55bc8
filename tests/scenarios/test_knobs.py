"""Knobs of families in scenarios: they are read, refused, and every value is a run of the model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from asif.duties.runs import FAILURE, SCENARIO
from asif.duties.sample import deployed
from model.choices import quiescent
from model.errors import Invalid
from model.knobs import settings, turn
from model.protocol import Knob
from model.registry import modules, protocols
from sim.scenarios.run import run, simulate
from sim.timed.record import LogEntry
from tests.conformance.subjects import followed
from tests.conformance.test_runs import bare
from tests.sim.test_scenarios import GOOD, written


def words(knob: Knob) -> list[Any]:
    """Values that users may write."""
    return [word for word, _ in knob.choices] or [knob.least, knob.least + 2]


def turned() -> Iterator[Any]:
    for protocol in modules().values():
        for knob in protocol.behaviour.knobs:
            for word in words(knob):
                yield pytest.param(
                    protocol.name, knob.name, word, id=f"{protocol.name}-{knob.name}-{word}"
                )


@pytest.mark.parametrize("name", sorted(protocols()))
def test_knobs_are_fields_of_the_design(name: str) -> None:
    protocol = protocols()[name]
    if not protocol.behaviour.knobs:
        return
    known = {field.name for field in fields(protocol.design)}
    for knob in protocol.behaviour.knobs:
        assert knob.name in known
        assert knob.description.endswith(".")
    assert list(settings(protocol)) == [knob.name for knob in protocol.behaviour.knobs]


@pytest.mark.parametrize(("name", "knob", "word"), [*turned()])
def test_what_is_set_is_read_back(name: str, knob: str, word: Any) -> None:
    protocol = protocols()[name]
    found = turn(protocol, knob, word)
    assert settings(found) == {**settings(protocol), knob: word}
    assert found.name == protocol.name
    for other in protocol.behaviour.knobs:
        for also in words(other):
            if other.name != knob:
                assert settings(turn(found, other.name, also))[knob] == word


@pytest.mark.parametrize(("name", "knob", "word"), [*turned()])
def test_a_timed_run_with_a_knob_is_one_that_the_world_allows(
    name: str, knob: str, word: Any, tmp_path: Path
) -> None:
    toml = f'"{word}"' if isinstance(word, str) else str(word).lower()
    text = SCENARIO.format(name=name) + FAILURE + f"[knobs]\n{knob} = {toml}\n"
    asked = written(tmp_path, text)
    assert settings(asked.protocol)[knob] == word
    log: list[LogEntry] = []
    ran = run(asked, asked.planned, log=log)
    system = deployed(asked.protocol, asked.workload, len(asked.planned))
    world = followed(system, [entry.action for entry in sorted(log)])
    assert quiescent(system, world)
    assert [node.state for node in world.nodes] == [*ran.result.states.values()]
    assert [node.durable for node in world.nodes] == [*ran.result.durable.values()]
    for passed, outputs in zip(ran.emissions.values(), bare(world), strict=True):
        assert tuple(output for _, output in passed) == outputs
    assert simulate(asked).same


def test_a_knob_is_the_variant_with_this_value(tmp_path: Path) -> None:
    """The variants with one other field are what their knobs are turned to."""
    rest = GOOD.partition("\n")[2]
    for name, knobs, variant in (
        ("upstream-backup", "notice_every = 1", "upstream-backup:notices"),
        ("crb", 'mode = "synchronous"', "crb:synchronous"),
        ("micro-batch", 'acks = "prompt"', "micro-batch:prompt-acks"),
    ):
        one = rest if name != "micro-batch" else only_the_first(rest)
        text = f'protocol = "{name}"\n{one}\n[knobs]\n{knobs}\n'
        by_knob = simulate(written(tmp_path, text))
        by_name = simulate(written(tmp_path, f'protocol = "{variant}"\n{one}'))
        assert by_knob.metrics == by_name.metrics
        assert by_knob.knobs == by_name.knobs


def only_the_first(text: str) -> str:
    head, _, tail = text.partition('[[operators]]\nname = "pair"')
    head += tail[tail.index("\n[costs.service]") :]
    return head.replace('nodes = ["match", "pair"]', 'nodes = ["match"]')


def test_a_variant_keeps_its_own_value() -> None:
    assert settings(protocols()["upstream-backup:notices"])["notice_every"] == 1
    assert settings(protocols()["upstream-backup"])["notice_every"] is None


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ("notice = 5", "upstream-backup has no knob 'notice'; did you mean 'notice_every'?"),
        ("notice_every = 0", "notice_every = 0: give a whole number from 1"),
        ("notice_every = true", "notice_every = true: give a whole number from 1"),
        ('notice_every = "5"', "notice_every = '5': give a whole number from 1"),
        ("ancestors = 1", "ancestors = 1: give true or false"),
        ("ancestors = [1]", "ancestors = [1]: give true or false"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(tmp_path: Path, knobs: str, message: str) -> None:
    with pytest.raises(Invalid) as error:
        written(tmp_path, f"{GOOD}\n[knobs]\n{knobs}\n")
    line = GOOD.count("\n") + 3
    assert str(error.value).startswith(f"{tmp_path / 'bad.toml'}:{line}: {message}")
    assert "\n" not in str(error.value)


def test_a_protocol_without_knobs_says_so() -> None:
    bare_one = protocols()["crb"].vary(knobs=())
    with pytest.raises(Invalid, match="crb has no knob 'mode'; it has none"):
        turn(bare_one, "mode", "synchronous")


# --- timers ----------------------------------------------------------------------------------
@pytest.mark.parametrize("name", [protocol.name for protocol in modules().values()])
def test_every_timer_that_fires_has_a_meaning(name: str, tmp_path: Path) -> None:
    asked = written(tmp_path, SCENARIO.format(name=name) + FAILURE)
    log: list[LogEntry] = []
    run(asked, asked.planned, log=log)
    fired = {entry.what[1].partition(":")[0] for entry in log if entry.what[0] == "timer"}
    assert fired <= protocols()[name].behaviour.timers.keys()


@pytest.mark.parametrize("name", sorted(protocols()))
def test_settings_are_json(name: str) -> None:
    """Also those of variants that are wrong, whose values users cannot write."""
    found = settings(protocols()[name])
    assert json.loads(json.dumps(found)) == found
