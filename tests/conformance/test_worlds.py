"""Every protocol, explored, walked and attacked."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from asif.duties.sample import WORLDS
from model.choices import enabled
from model.evidence import Outcome
from model.results.plain import plain, read
from model.results.verdict import Verdict
from model.system import System
from model.world import World, apply
from proofs.explore import tasks, verdict
from proofs.explore.edges import edges
from proofs.explore.random_walk import walks
from reports.results import verdicts as output
from tests.conformance.subjects import EVERY, FAMILIES, PROTOCOLS, SAMPLES


@EVERY
def test_it_is_explored(name: str) -> None:
    """The duty "as pinned" has the result; these are the explorer's own counts."""
    scope, found = SAMPLES[name].smallest.scope, SAMPLES[name].explored
    assert found.transitions >= found.states - 1
    assert scope.crashes or not found.hit
    assert found.hit <= found.points


@EVERY
def test_the_explorer_follows_the_world(name: str) -> None:
    """Of the first worlds: all that is enabled, nothing else, and what it leads to."""
    protocol, scope = PROTOCOLS[name], SAMPLES[name].smallest.scope
    system = System(protocol, scope)
    found: dict[World, list[Any]] = {}
    for before, action, after in edges(protocol, scope, limit=100):
        found.setdefault(before, []).append(action)
        assert apply(system, before, action) == after
    for world, actions in islice(found.items(), 100):
        assert sorted(map(repr, actions)) == sorted(map(repr, enabled(system, world)))


@EVERY
def test_it_is_walked(name: str) -> None:
    protocol, scope = PROTOCOLS[name], SAMPLES[name].smallest.scope
    found, again = (walks(protocol, scope, 30, seed=3) for _ in range(2))
    assert found.steps
    assert (found.count, found.steps, found.rested) == (again.count, again.steps, again.rested)
    assert found.property == again.property
    if found.trace is not None and again.trace is not None:
        assert found.trace[1:] == again.trace[1:]
    if SAMPLES[name].holds:
        assert found.property is None
        assert found.count == 30


@FAMILIES
def test_its_verdict_is_json_and_is_printed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Explored and attacked as `asif check` does it, with less time."""
    monkeypatch.setattr(tasks, "WORLD_LIMIT", dict.fromkeys(Outcome, WORLDS // 4))
    protocol = PROTOCOLS[name]
    small = protocol.vary(scopes=(replace(SAMPLES[name].smallest, quick=True),), variants=())
    # Only what holds is attacked more than once: to shrink a failure takes much longer.
    examples = 5 if SAMPLES[name].holds else 1
    found = verdict.verdict(small, walks=20, examples=examples)
    assert read(Verdict, json.loads(json.dumps(plain(found)))) == found
    assert found.protocol == name
    attacked = found.attack
    if attacked.failure and attacked.failure.by == "walk":
        assert 0 < attacked.walks <= 20
    else:
        assert (attacked.walks, attacked.examples >= examples) == (20, True)
    assert not (SAMPLES[name].holds and found.outcome is Outcome.REFUTED)
    assert str([*output.verdict(found)][-1]).startswith(f"{name}: ")
