"""Protocols that nobody wrote, with every word of the model: explored, drawn and replayed.

Rule of this file: as the suite asks it of registered protocols; no word is named but to see that it
has occurred.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from functools import cache
from typing import Any
from xml.etree import ElementTree

import pytest

import model.actions
from model.actions import (
    Action,
    Crash,
    Deliver,
    Disturb,
    Disturbance,
    Inject,
    Reread,
    Restart,
    Suspect,
    Timeout,
)
from model.choices import enabled
from model.core import (
    Arrival,
    Effect,
    File,
    Link,
    Lost,
    Property,
    Rewind,
    Save,
    Scope,
    Send,
    Sync,
    Torn,
    When,
)
from model.evidence import Outcome
from model.results.plain import plain, read
from model.results.story import Story, WriteKind
from model.results.verdict import Verdict
from model.system import System
from model.world import DOWN, apply, initial, real_effects, response, survivors, unfold
from proofs.explore.edges import edges
from proofs.explore.explorer import Counterexample, Trace
from proofs.explore.random_attack import attack, pytest_file
from proofs.explore.story import story
from proofs.explore.verdict import verdict
from reports.diagrams.spacetime import svg, text
from reports.diagrams.timeline import timeline
from reports.results import verdicts as output
from tests.proofs.test_searches import Shape, made
from tests.sim.test_drawn import shape_of

RUNS, LENGTH = 200, 30
SAMPLES = range(12)
SMALL = (4, 5, 6, 8, 11, 12, 24, 26, 33, 42, 59)
"""Samples with at most some hundred worlds; the last six are refuted."""


def shape(seed: int) -> Shape:
    """A shape with faults of links, early timers, files that tear and failing nodes."""
    chance = random.Random(seed)
    return shape_of(chance)._replace(
        crashes=2,
        early=1,
        disturbances=2,
        suspicions=chance.random() < 0.5,
        link=Link(*(chance.random() < 0.7 for _ in range(4))),
        files=chance.choice([(), (File("f", tears=True), File("g"))]),
    )


def run(seed: int) -> Trace:
    """A run of a drawn protocol; every other action is a fault, if one is possible."""
    chance = random.Random(seed)
    system = System(*made(shape(seed)))
    actions: list[Action] = []
    worlds = [initial(system)]
    while len(actions) < LENGTH and (possible := enabled(system, worlds[-1])):
        faults = [action for action in possible if isinstance(action, Crash | Suspect | Disturb)]
        actions.append(chance.choice(faults if faults and chance.random() < 0.3 else possible))
        worlds.append(apply(system, worlds[-1], actions[-1]))
    return Trace(system, tuple(actions), tuple(worlds))


@cache
def traces() -> tuple[Trace, ...]:
    return tuple(run(seed) for seed in range(RUNS))


def test_every_kind_of_action_occurs() -> None:
    """Else the tests below would compare nothing."""
    actions = [action for trace in traces() for action in trace.actions]
    kinds = Counter(type(action) for action in actions)
    assert {*kinds} == {Deliver, Timeout, Inject, Reread, Restart, Crash, Suspect, Disturb}
    assert min(kinds.values()) >= 10
    assert {one.how for one in actions if isinstance(one, Disturb)} == {*Disturbance}
    assert any(isinstance(one, Restart) and one.torn for one in actions)
    assert any(isinstance(one, Restart) and any(one.kept) for one in actions)
    assert any(isinstance(one, Timeout) and one.early for one in actions)
    assert any(moment.fails for trace in traces() for moment in story(trace).moments)


@pytest.mark.parametrize("seed", SAMPLES)
def test_the_explorer_follows_the_world(seed: int) -> None:
    """Of the first worlds: all that is enabled, nothing else, and where it leads to."""
    protocol, scope = made(shape(seed))
    system = System(protocol, scope)
    found: dict[Any, list[Any]] = {}
    for before, action, after in edges(protocol, scope, limit=60):
        found.setdefault(before, []).append(action)
        assert apply(system, before, action) == after
    for world, actions in found.items():
        assert sorted(map(repr, actions)) == sorted(map(repr, enabled(system, world)))


def test_a_story_has_a_moment_for_every_part_and_is_json() -> None:
    for trace in traces():
        whole = story(trace)
        pairs = zip(trace.actions, trace.worlds, strict=False)
        parts = [part for one, world in pairs for part, _, _ in unfold(trace.system, world, one)]
        assert [moment.node for moment in whole.moments] == [part.node for part in parts]
        assert read(Story, json.loads(json.dumps(plain(whole)))) == whole


def test_a_message_that_is_neither_taken_nor_lost_is_on_its_way() -> None:
    """The order may be another one; the copy of a doubled message was never sent."""
    for trace in traces():
        whole = story(trace)
        sent = Counter(
            (at, send.by or moment.node, send.to, send.label)
            for at, moment in enumerate(whole.moments)
            for send in moment.sends
            if not send.lost
        )
        taken = [(one.from_, one.node, one.label) for one in whole.moments if one.from_]
        sent.subtract((from_.sent_at, from_.node, node, label) for from_, node, label in taken)
        doubled = sum(
            isinstance(action, Disturb) and action.how is Disturbance.DOUBLE
            for action in trace.actions
        )
        left = Counter(key[1:] for key in sent.elements())
        channels = zip(trace.system.deployment.channels, trace.worlds[-1].channels, strict=True)
        there = Counter(
            (*ends, f"lost {one.node}" if isinstance(one, Lost) else str(one))
            for ends, messages in channels
            for one in messages
        )
        assert sum((there - left).values()) <= doubled
        assert doubled or {*there} == {*left}


def test_every_write_is_in_the_story_where_it_took_place() -> None:
    """And nothing else is: the effects are taken from the model, without a story."""
    kinds: Counter[str] = Counter()
    for trace in traces():
        moments = iter(story(trace).moments)
        for action, world in zip(trace.actions, trace.worlds, strict=False):
            for part, before, _ in unfold(trace.system, world, action):
                effects: tuple[Effect, ...] = ()
                if not isinstance(part, Crash | Suspect | Disturb):
                    effects = real_effects(response(trace.system, before, part).effects)
                    effects = effects[: part.crash_after]
                expected = [
                    (f"rewind to place {one.to}" if isinstance(one, Rewind) else "sync")
                    if isinstance(one, Rewind | Sync)
                    else f"{'save' if one.synced else 'write'} {one.value}"
                    + (f" in {one.name}" if one.name else "")
                    for one in effects
                    if isinstance(one, Save | Sync | Rewind)
                ]
                moment = next(moments)
                assert [write.words for write in moment.writes] == expected
                assert moment.part == (part is not action)
                kinds.update(write.kind for write in moment.writes)
        assert next(moments, None) is None
    assert {*kinds} == {*WriteKind}


def test_a_restart_shows_the_values_that_it_reads() -> None:
    read_back = 0
    for trace in traces():
        moments = iter(story(trace).moments)
        for action, world in zip(trace.actions, trace.worlds, strict=False):
            for part, before, _ in unfold(trace.system, world, action):
                moment = next(moments)
                if not isinstance(part, Restart):
                    assert not moment.reads
                    continue
                node = before.nodes[trace.system.node_at[part.node]]
                site = trace.system.sites[part.node]
                files = [file.name for file in site.files] or [""]
                values = survivors(node.durable, part, site) if site.files else (node.durable,)
                there = {
                    file: f"torn {value.value}" if isinstance(value, Torn) else str(value)
                    for file, value in zip(files, values, strict=True)
                    if value is not None
                }
                assert {one.file: one.label for one in moment.reads if one.label} == there
                read_back += len(there)
    assert read_back > 70


def test_a_crash_in_a_step_names_the_first_effect_that_it_prevented() -> None:
    verbs = {Save: "saving", Send: "sending", Sync: "syncing", Rewind: "going back to place"}
    named: Counter[str] = Counter()
    for trace in traces():
        moments = iter(story(trace).moments)
        for action, world in zip(trace.actions, trace.worlds, strict=False):
            for part, before, _ in unfold(trace.system, world, action):
                moment = next(moments)
                if isinstance(part, Crash | Suspect | Disturb) or part.crash_after is None:
                    assert not moment.undone
                    continue
                effects = real_effects(response(trace.system, before, part).effects)
                left = [
                    verbs[type(one)] for one in effects[part.crash_after :] if type(one) in verbs
                ]
                assert moment.undone.startswith(left[0] if left else "")
                assert bool(moment.undone) == bool(left)
                named.update(left[:1])
    assert {*named} == {*verbs.values()}


def test_rows_are_numbered_as_steps_are_counted() -> None:
    for trace in traces():
        whole = story(trace)
        assert [at for at, one in zip(whole.steps, whole.moments, strict=True) if not one.part] == [
            *range(1, len(trace.actions) + 1)
        ]
        lines = text(whole, width=300).splitlines()
        numbered = [int(line[:4]) for line in lines if re.match(r" *\d+ ", line[:4])]
        assert numbered == [*range(1, len(trace.actions) + 1)]


def test_a_story_is_drawn() -> None:
    for trace in traces()[:60]:
        whole = story(trace)
        root = ElementTree.fromstring(svg(whole, caption="a < b"))
        drawn = text(whole, width=300)
        shown = [e for e in root.iter() if e.tag.endswith("text")]
        assert len(shown) > len(whole.lanes)
        for moment in whole.moments:
            assert moment.label in drawn
        line = timeline(whole)
        for lane, name in enumerate(line.lanes):
            at = trace.system.node_at[name]
            assert line.is_down(lane, len(line.moments) - 1) == (
                trace.worlds[-1].nodes[at].state is DOWN
            )


def test_the_text_of_an_action_is_the_action() -> None:
    """As a found run is written into a test."""
    names = {**vars(model.actions), "Arrival": Arrival}
    for trace in traces():
        for action in trace.actions:
            assert eval(repr(action), names) == action


def test_a_found_run_becomes_a_test_whose_imports_are_all_there() -> None:
    """Its module names every kind of action."""
    protocol, scope = made(shape(1))
    trace = traces()[1]
    tried = protocol.vary(scopes=(protocol.evidence.scopes[0],))
    failure = Counterexample(Property("-", When.ALWAYS, lambda *_: True), trace)
    assert tried.evidence.scopes[0].scope == scope
    source = pytest_file("amnesia", failure, "It happens.")
    names: dict[str, Any] = {}
    exec(compile(source, "a found run", "exec"), names)
    assert names["ACTIONS"] == trace.actions
    assert {kind.__name__ for kind in map(type, sum((t.actions for t in traces()), ()))} <= {*names}


@pytest.mark.parametrize("seed", SMALL)
def test_a_verdict_is_json_and_is_printed(seed: int) -> None:
    """One that is refuted has a run that can be followed."""
    protocol, scope = made(shape(seed)._replace(length=1, crashes=1, disturbances=1))
    found = verdict(protocol, walks=20, examples=1)
    assert read(Verdict, json.loads(json.dumps(plain(found)))) == found
    assert str([*output.verdict(found)][-1]).startswith("drawn: ")
    failure = attack(protocol, walks=100, examples=0, scopes=[scope]).failure
    if failure is None:
        return
    assert found.outcome is not Outcome.HOLDS
    trace = failure.trace
    worlds = [initial(trace.system)]
    for action in trace.actions[: len(trace.worlds) - 1]:
        assert action in enabled(trace.system, worlds[-1])
        worlds.append(apply(trace.system, worlds[-1], action))
    assert tuple(worlds) == trace.worlds
    assert isinstance(scope, Scope)
