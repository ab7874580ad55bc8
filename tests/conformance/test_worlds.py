"""Every protocol, explored, walked and attacked; and what it says of its messages and states."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from model.core import COMMON, Emit, Note, Save, Send
from model.costs import MessageKind, Size
from model.evidence import Outcome
from model.results.plain import plain, read
from model.results.verdict import Verdict
from model.system import System, read_gauges, read_memory
from model.world import DOWN, Crash, Suspect, World, apply, enabled, response
from proofs.explore import explorer, tasks, verdict
from proofs.explore.random_walk import walks
from reports import commands
from tests.conformance.subjects import (
    EVERY,
    FAMILIES,
    NAMES,
    PROTOCOLS,
    WORLDS,
    edges,
    explored,
    holds,
    smallest,
)


@EVERY
def test_it_is_explored(name: str) -> None:
    pinned, found = smallest(PROTOCOLS[name]), explored(name)
    assert found.states > 1
    assert found.transitions >= found.states - 1
    assert found.hit if pinned.scope.crashes else not found.hit
    assert found.hit <= found.points
    if pinned.expect is Outcome.HOLDS:
        assert found.counterexample is None
        assert found.guarantee <= pinned.guarantee
    if found.complete:
        assert found.states == (pinned.states or found.states)
        assert found.outcome is pinned.expect


@EVERY
def test_the_explorer_follows_the_world(name: str) -> None:
    """Of the first worlds: all that is enabled, nothing else, and what it leads to."""
    protocol, scope = PROTOCOLS[name], smallest(PROTOCOLS[name]).scope
    system = System(protocol, scope)
    found: dict[World, list[Any]] = {}
    for before, action, after in explorer.edges(protocol, scope, limit=100):
        found.setdefault(before, []).append(action)
        assert apply(system, before, action) == after
    for world, actions in islice(found.items(), 100):
        assert sorted(map(repr, actions)) == sorted(map(repr, enabled(system, world)))


@EVERY
def test_it_is_walked(name: str) -> None:
    protocol, scope = PROTOCOLS[name], smallest(PROTOCOLS[name]).scope
    found, again = (walks(protocol, scope, 30, seed=3) for _ in range(2))
    assert found.steps
    assert (found.count, found.steps, found.rested) == (again.count, again.steps, again.rested)
    assert found.property == again.property
    if found.trace is not None and again.trace is not None:
        assert found.trace[1:] == again.trace[1:]
    if holds(protocol):
        assert found.property is None
        assert found.count == 30


@FAMILIES
def test_its_verdict_is_json_and_is_printed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Explored and attacked as `asif check` does it, with less time."""
    monkeypatch.setattr(tasks, "WORLD_LIMIT", dict.fromkeys(Outcome, WORLDS // 4))
    protocol = PROTOCOLS[name]
    small = protocol.vary(scopes=(replace(smallest(protocol), quick=True),), variants=())
    # Only what holds is attacked more than once: to shrink a failure takes much longer.
    examples = 5 if holds(protocol) else 1
    found = verdict.verdict(small, walks=20, examples=examples)
    assert read(Verdict, json.loads(json.dumps(plain(found)))) == found
    assert found.protocol == name
    attacked = found.attack
    if attacked.failure and attacked.failure.by == "walk":
        assert 0 < attacked.walks <= 20
    else:
        assert (attacked.walks, attacked.examples >= examples) == (20, True)
    assert not (holds(protocol) and found.outcome is Outcome.REFUTED)
    assert str([*commands.verdict(found)][-1]).startswith(f"{name}: ")


@EVERY
def test_messages_and_durable_values_have_sizes(name: str) -> None:
    protocol, seen = PROTOCOLS[name], 0
    for system, before, action, _ in edges(name):
        if isinstance(action, Crash | Suspect):
            continue
        for effect in response(system, before, action).effects:
            if isinstance(effect, Send | Save):
                size = protocol.behaviour.size(effect[-1])
                assert isinstance(size, Size)
                assert isinstance(size.kind, MessageKind)
                assert min(size.events, size.items) >= 0
                assert size.traffic
                seen += 1
    assert seen


@EVERY
def test_notes_are_quantities_that_are_known(name: str) -> None:
    protocol = PROTOCOLS[name]
    known = (*COMMON, *protocol.behaviour.quantities)
    assert len({quantity.name for quantity in known}) == len(known)
    assert {*protocol.evidence.must_occur} <= {*known}
    for system, before, action, _ in edges(name):
        if not isinstance(action, Crash | Suspect):
            for effect in response(system, before, action).effects:
                if isinstance(effect, Note):
                    assert effect.what in known
                    assert effect.times >= 0


@EVERY
def test_everything_can_be_shown(name: str) -> None:
    protocol = PROTOCOLS[name]
    for system, before, action, after in edges(name):
        values = [node.state for node in after.nodes if node.state is not DOWN]
        if not isinstance(action, Crash | Suspect):
            effects = response(system, before, action).effects
            values += [effect[-1] for effect in effects if isinstance(effect, Send | Emit)]
        for value in values:
            shown = protocol.behaviour.show(value)
            assert isinstance(shown, str)
            assert "\n" not in shown


@EVERY
def test_gauges_measure_what_is_known_and_progress_never_decreases(name: str) -> None:
    protocol = PROTOCOLS[name]
    for system, before, _, after in edges(name):
        for node, was, is_ in zip(system.sites, before.nodes, after.nodes, strict=True):
            if DOWN in (was.state, is_.state):
                continue
            earlier, later = (
                read_gauges(system, node, was.state),
                read_gauges(system, node, is_.state),
            )
            assert all(quantity in protocol.behaviour.quantities for quantity, _ in later.own)
            if earlier.progress is not None:
                assert later.progress is not None
                assert earlier.progress <= later.progress
            assert (later.buffered or 0) >= 0
            assert (later.windows or 0) >= 0


@EVERY
def test_the_kind_of_each_timer_is_known(name: str) -> None:
    """Drivers with a clock take the time of each kind from the user; a user's own file may leave
    them out."""
    kinds = {
        timer.partition(":")[0]
        for _, _, _, after in edges(name)
        for node in after.nodes
        for timer in node.timers
    }
    known = PROTOCOLS[name].behaviour.timers
    assert kinds <= known.keys()
    assert all(known.values())


@EVERY
def test_memory_is_amounts_and_a_protocol_that_protects_keeps_something(name: str) -> None:
    protocol, most = PROTOCOLS[name], 0
    for system, _, _, after in edges(name):
        for node, is_ in zip(system.sites, after.nodes, strict=True):
            if is_.state is not DOWN:
                buffers, savepoints, state = read_memory(system, node, is_.state)
                assert min(*buffers, *savepoints, *state) >= 0
                most = max(most, sum((*buffers, *savepoints)))
    assert (most > 0) is protocol.promise.protects


@EVERY
def test_its_evidence_names_what_there_is(name: str) -> None:
    protocol = PROTOCOLS[name]
    scopes = [pinned.name for pinned in protocol.evidence.scopes]
    assert len({*scopes}) == len(scopes)
    assert protocol.promise.claims
    assert protocol.evidence.compare_with in ("", *NAMES)
    of_variants = (
        f"{variant.name.partition(':')[2]}: {pinned.name}"
        for variant in protocol.variants
        for pinned in variant.evidence.scopes
    )
    assert {mutant.scope for mutant in protocol.evidence.mutants} <= {"", *scopes, *of_variants}
    assert len({mutant.name for mutant in protocol.evidence.mutants}) == len(
        protocol.evidence.mutants
    )
