"""Runs by steps, and runs by hand: both are what model.play does."""

from __future__ import annotations

import json
from functools import cache
from threading import Thread
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asif.explore.answers import PageAnswers, read_address
from asif.explore.server import LocalServer, listen
from model.actions import Crash
from model.choices import enabled, quiescent
from model.core import Guarantee
from model.errors import Invalid, StepFailed
from model.observations import first_violation
from model.play import Play
from model.registry import protocols, subject
from model.results.explored import ChoiceKind, ExploredWorld, PropertyState, SavedRun
from model.results.plain import plain, read
from model.results.steps import SteppedRun
from model.words import in_full, show_value
from model.world import DOWN
from proofs.explore.culprit.find import find_culprit
from proofs.explore.explorer import Counterexample, explore
from proofs.explore.random_attack import pytest_of_run
from proofs.explore.stepping.by_hand import Walker
from proofs.explore.stepping.expected import output_text
from proofs.explore.stepping.nodes import show_node
from proofs.explore.stepping.run import stepped_failure
from proofs.explore.stepping.saved_runs import replay_saved, saved_run
from proofs.explore.story import story

WALKED = ("micro-batch", "log-io", "two-phase-sink:unflushed", "progressive:suspicion-awaited")
"""Protocols with timers, prompt sites, files whose writes get lost, false suspicions."""

ENDLESS = "docs/how-to/engines/arroyo_1099.py:stops"
"""Its last steps repeat without end."""


@cache
def server(name: str) -> LocalServer:
    protocol = protocols()[name]
    made = listen(PageAnswers(name, protocol, protocol.evidence.scopes[0]), 0)
    Thread(target=made.serve_forever, daemon=True).start()
    return made


def ask(name: str, scope: str, run: str) -> ExploredWorld:
    """The answer of the server about the world at an address."""
    port = server(name).server_port
    asked = urlencode({"scope": scope, "run": run})
    with urlopen(f"http://127.0.0.1:{port}/world?{asked}") as answer:
        return read(ExploredWorld, json.load(answer))


def folded(run: SteppedRun) -> dict[str, tuple[bool, dict[str, str]]]:
    """Of each node after the last step, whether it is up, and its fields."""
    found: dict[str, tuple[bool, dict[str, str]]] = {}
    for step in run.steps:
        for name, change in step.nodes.items():
            fields = {} if change.whole else dict(found[name][1])
            for gone in change.gone:
                del fields[gone]
            found[name] = change.up, {**fields, **change.fields}
    return found


@settings(max_examples=30)
@given(st.sampled_from(WALKED), st.lists(st.integers(0, 10**6), max_size=14))
def test_a_walk_through_the_server_is_a_play(name: str, picks: list[int]) -> None:
    protocol = protocols()[name]
    pinned = protocol.evidence.scopes[0]
    play, address, broken = Play(protocol, pinned.scope), [], ""
    for pick in picks:
        possible = enabled(play.system, play.world)
        if not possible:
            break
        address.append(pick % len(possible))
        try:
            play.follow(possible[address[-1]])
        except StepFailed:
            address.pop()
            break
        violated = first_violation(play.system, play.world)
        broken = broken or (violated.name if violated else "")
    seen = ask(name, pinned.name, ".".join(map(str, address)))
    assert seen.address == tuple(address)
    assert len(seen.run.steps) == len(address) + 1
    places = [one.choice for one in seen.choices]
    places += [crash.choice for one in seen.choices for crash in one.crashes]
    assert sorted(places) == [*range(len(enabled(play.system, play.world)))]
    assert seen.rests is quiescent(play.system, play.world)
    assert seen.broken == broken
    assert seen.left.crashes == play.world.crashes
    shown = folded(seen.run)
    for site, at in play.system.node_at.items():
        node = play.world.nodes[at]
        assert shown[site] == (node.state is not DOWN, show_node(play.system, site, node).fields)
    for (sender, receiver), channel in zip(
        play.system.deployment.channels, play.world.channels, strict=True
    ):
        flying = [
            one.label
            for one in seen.run.messages
            if (one.from_, one.to) == (sender, receiver) and one.ended is None
        ]
        assert sorted(flying) == sorted(show_value(protocol, message) for message in channel)
    emitted = [(out.at, out.text) for step in seen.run.steps for out in step.emits]
    for sink, at in play.system.sink_at.items():
        texts = [
            output_text(play.system, sink, play.world, place)
            for place in range(len(play.world.outputs[at]))
        ]
        assert [text for site, text in emitted if site == sink] == texts


def failure(name: str) -> Counterexample:
    protocol = protocols()[name]
    pinned = next(one for one in protocol.evidence.scopes if one.steps)
    found = explore(protocol, pinned.scope, until=Guarantee.PRECISE).counterexample
    assert found is not None
    return found


def by_steps(name: str) -> SteppedRun:
    found = failure(name)
    return stepped_failure(found, find_culprit(found, story(found.trace)))


def test_a_missing_result_has_the_step_that_lost_it_and_the_step_beside_that_has_it() -> None:
    run = by_steps("micro-batch:commit-first")
    assert len(run.steps) == 8
    assert run.culprit is not None
    assert (run.culprit.step, run.culprit.lost) == (5, 5)
    assert run.differs is not None
    assert (run.differs.parts, run.differs.step) == (5, None)
    assert run.unfailed is not None
    whole = (*run.steps[: run.differs.parts], *run.unfailed.steps)
    assert run.differs.unfailed is not None
    assert [out.text for out in whole[run.differs.unfailed].emits] == ["match@1(a@1)"]
    assert run.beside[:6] == (0, 1, 2, 3, 4, 5)
    assert run.steps[5].down == ("query",)
    assert run.steps[5].undone == "sending write #0 1-1 to sink"
    assert [one.seen for one in run.steps[1].expects or ()] == [False]


def test_a_result_that_comes_twice_is_surplus_in_its_step() -> None:
    run = by_steps("log-io:published")
    assert [[out.surplus for out in step.emits] for step in run.steps if step.emits] == [
        [False],
        [True],
    ]
    assert run.culprit is not None
    assert run.culprit.step == 7
    assert run.differs is not None
    assert run.differs.step == 7
    assert read(SteppedRun, json.loads(json.dumps(plain(run)))) == run


@pytest.mark.parametrize(
    ("name", "scope", "step"),
    [
        ("abs:settle-by-committing", "a relay", 13),
        ("abs:settle-by-committing", "a coin", None),
        ("log-io:ports-in-turn", "two ports and two functions", None),
    ],
)
def test_another_allowed_output_is_no_difference(name: str, scope: str, step: int | None) -> None:
    """A coin falls anew in the run beside it."""
    protocol = protocols()[name]
    pinned = next(one for one in protocol.evidence.scopes if one.name == scope)
    found = explore(protocol, pinned.scope, until=Guarantee.PRECISE).counterexample
    assert found is not None
    run = stepped_failure(found, find_culprit(found, story(found.trace)))
    assert run.differs is not None
    assert run.differs.step == step
    assert step is None or any(out.surplus for out in run.steps[step].emits)


def test_a_run_of_forty_steps_has_forty_kilobytes_at_most() -> None:
    protocol = protocols()["micro-batch"]
    play = Play(protocol, protocol.evidence.scopes[0].scope)
    address: list[int] = []
    while len(address) < 40 and (possible := enabled(play.system, play.world)):
        inside = [one for one in possible if not isinstance(one, Crash)]
        action = (inside or possible)[len(address) % len(inside or possible)]
        address.append(possible.index(action))
        play.do(action)
    walker = Walker(protocol, protocol.evidence.scopes[0])
    run = walker.look(tuple(address)).run
    assert len(run.steps) > 20
    size = len(json.dumps(plain(run), separators=(",", ":"), ensure_ascii=False))
    assert size < 1_000 * len(run.steps), size


@pytest.mark.parametrize("text", ["a", "1..2", "-1", "٣", "1." * 3, "1" * 10])
def test_an_address_is_numbers(text: str) -> None:
    with pytest.raises(Invalid, match="no address of a state"):
        read_address(text)


def test_an_address_names_possible_actions_alone() -> None:
    protocol = protocols()["micro-batch"]
    walker = Walker(protocol, protocol.evidence.scopes[0])
    with pytest.raises(Invalid, match=r"choice 2 is 99, and the world there offers \d+ actions"):
        walker.look((0, 99))
    with pytest.raises(Invalid, match="at most 2,000 are shown"):
        walker.look((0,) * 2_001)


def test_a_saved_run_is_replayed_by_what_it_does_and_not_by_its_places() -> None:
    found = failure("micro-batch:commit-first")
    protocol = protocols()["micro-batch:commit-first"]
    pinned = next(one for one in protocol.evidence.scopes if one.steps)
    saved = saved_run(protocol.name, pinned.name, found.trace, found.property.name)
    assert read(SavedRun, json.loads(json.dumps(plain(saved)))) == saved
    trace, broken = replay_saved(protocol, saved)
    assert trace.actions == found.trace.actions
    assert broken is not None
    assert broken.property.name == found.property.name
    with pytest.raises(Invalid, match=r"action \d+: the protocol offers no \w+\(.* there"):
        replay_saved(protocols()["micro-batch"], saved)


def test_a_value_without_text_and_a_large_one_are_shown() -> None:
    assert in_full(tuple(range(100))).endswith("…)")
    nested: tuple[object, ...] = ()
    for _ in range(200):
        nested = (nested,)
    assert len(in_full(nested)) == 402


def test_a_step_without_a_place_for_a_crash_has_the_reason() -> None:
    protocol = protocols()["abs"]
    pinned = next(one for one in protocol.evidence.scopes if one.name == "a relay")
    walker = Walker(protocol, pinned)
    seen: set[str] = set()
    address: tuple[int, ...] = ()
    for _ in range(12):
        possible = [one for one in walker.look(address).choices if one.kind is not ChoiceKind.FAULT]
        for one in possible:
            assert bool(one.refused) is bool(one.effects and not one.crashes), one
            seen.add(one.refused)
        address = (*address, possible[0].choice)
    assert seen == {
        "",
        "source does not crash in this scope.",
        "A crash before or after its one effect is a crash of writer between two steps.",
    }


def test_a_saved_run_has_the_crash_of_a_step_in_its_words() -> None:
    protocol = protocols()["micro-batch:commit-first"]
    pinned = next(one for one in protocol.evidence.scopes if one.steps)
    found = failure(protocol.name)
    saved = saved_run(protocol.name, pinned.name, found.trace, found.property.name)
    crash = "query takes events #0 1-1 of source, and crashes, before sending write #0 1-1 to sink"
    assert saved.actions[4].says == crash
    run = stepped_failure(found, find_culprit(found, story(found.trace)))
    for one, step in zip(saved.actions, run.steps[1:], strict=True):
        assert one.says == step.says + (f", before {step.undone}" if step.undone else "")


def test_a_run_by_hand_has_the_culprit_of_its_counterexample() -> None:
    found = failure("micro-batch:commit-first")
    protocol = protocols()["micro-batch:commit-first"]
    pinned = next(one for one in protocol.evidence.scopes if one.steps)
    walker = Walker(protocol, pinned)
    address = walker.address_of(found.trace.actions)
    culprit = walker.look(address).run.culprit
    assert culprit == by_steps(protocol.name).culprit
    assert walker.look(address[:-1]).run.culprit is None


def test_a_run_without_end_is_refuted_wherever_it_is_walked() -> None:
    """On the page, in its saved file and in its test, as the search finds it."""
    protocol = subject(ENDLESS).protocol
    scope = "one event"
    pinned = next(one for one in protocol.evidence.scopes if one.name == scope)
    shown = explore(protocol, pinned.scope, until=Guarantee.PRECISE).counterexample
    assert shown is not None
    assert shown.circle > 1
    walker = Walker(protocol, pinned)
    address = walker.address_of(shown.trace.actions)
    for steps in range(len(address) + 1):
        world = walker.look(address[:steps])
        whole = steps == len(address)
        assert world.broken == (shown.property.name if whole else "")
        assert world.run.circle == (shown.circle if whole else 0)
    assert PropertyState(shown.property.name, False, False) in world.properties
    assert world.run.culprit is not None
    assert "repeat without end" in world.run.culprit.says
    saved = saved_run(protocol.name, scope, shown.trace, world.broken)
    trace, broken = replay_saved(protocol, saved)
    assert trace.actions == shown.trace.actions
    assert broken is not None
    assert (broken.property.name, broken.circle) == (shown.property.name, shown.circle)
    with pytest.raises(AssertionError):
        run_test(pytest_of_run(ENDLESS, scope, shown.trace.actions, world.broken))
    run_test(pytest_of_run(ENDLESS, scope, shown.trace.actions[:-1], ""))


def run_test(text: str) -> None:
    """Run the test of a generated module."""
    module: dict[str, Any] = {}
    exec(text, module)
    module["test_the_run_is_as_if_nothing_had_failed"]()
