"""`Fail`: a node crashes by its own step, with its host, and no fault of the scope is used."""

from __future__ import annotations

from typing import Any

import pytest

from model.actions import Restart, Timeout
from model.core import (
    CRASHED,
    Answer,
    Deployment,
    Effect,
    Fail,
    Group,
    Input,
    Link,
    Lost,
    Note,
    Received,
    Save,
    Scope,
    Send,
    SetTimer,
    Site,
    TimerFired,
)
from model.evidence import Outcome
from model.play import Play
from model.protocol import Protocol
from proofs.explore.explorer import explore
from proofs.explore.random_walk import walks
from tests.contract.words import ALONE, DOWN, at_rest, deployed, fails, holds, protocol, site

FAIL = Fail()
ENDLESS = "every run comes to rest (the last 2 steps repeat without end)"


def step(_: Site, state: Any, input_: Input) -> Answer:
    """A worker sends and fails; whoever receives anything remembers it."""
    if isinstance(input_, TimerFired):
        return 1, (Save(1), Send("b", "x"), FAIL)
    assert isinstance(input_, Received)
    return input_.message, ()


def worker(**changes: Any) -> Protocol:
    """The worker never restarts its timer."""
    deployment = deployed(site("a", "go"), site("b"), channels="a-b", crashable="a")
    return protocol(deployment._replace(**changes), step, recover=lambda _, kept: (kept, ()))


def test_its_worlds_without_any_fault() -> None:
    """The timer is set; then the worker is down or up again, and its message on its way or taken:
    1 + 2 * 2."""
    holds(worker(), ALONE, 1 + 2 * 2)


def test_it_happens_in_each_run_once_and_is_counted() -> None:
    found = explore(worker(), ALONE)
    assert (found.notes[CRASHED.name], found.quiescent) == (1, 1)
    (world,) = at_rest(worker(), ALONE)
    assert [node[:3] for node in world.nodes] == [(1, 1, ()), ("x", None, ())]
    assert world.crashes == 0


def test_the_faults_of_the_scope_are_left() -> None:
    """The worker fails first, and the one crash strikes it again."""
    play = Play(worker(), Scope(crashes=1))
    play.do(Timeout("a", "go"))
    assert (play.state("a"), play.world.crashes) == (DOWN, 1)
    play.do(Restart("a"))
    play.crash("a")
    assert (play.state("a"), play.world.crashes) == (DOWN, 0)


def test_a_crash_may_come_before_it_and_not_after_it() -> None:
    """Between the two effects of the step, and between steps: the failure itself is no effect."""
    found = explore(worker(), Scope(crashes=1))
    assert {(len(point.after), point.on) for point in found.points} == {
        (0, ""),
        (1, "timer go"),
    }
    assert found.points == found.hit


def test_a_notice_is_sent_and_a_link_that_resets_loses_the_message() -> None:
    """As in any crash."""
    for changes, sent in (
        ({}, ("x",)),
        ({"watched": frozenset({("a", "b")})}, ("x", Lost("a"))),
        ({"links": {("a", "b"): Link(resets=True)}}, ()),
    ):
        play = Play(worker(**changes), ALONE)
        play.do(Timeout("a", "go"))
        assert play.channel("a", "b") == sent


def test_its_host_goes_down_with_it() -> None:
    """Where no member of a group crashes alone; else the worker alone goes down."""
    for alone, down in ((False, ["a", "b"]), (True, ["a"])):
        group = Group(frozenset("ab"), alone)
        play = Play(worker(together=(group,), crashable=frozenset("ab")), ALONE)
        play.do(Timeout("a", "go"))
        assert [name for name in "ab" if play.state(name) is DOWN] == down


def test_who_does_not_return_stays_down() -> None:
    """The timer is set; the message is on its way, and taken."""
    holds(worker(returning=frozenset()), ALONE, 3)


def writer(*, marks: bool) -> Protocol:
    """A writer fails on its first event; a restart reads the event again unless it was marked."""

    def write(_site: Site, state: Any, _input: Input) -> Answer:
        return state, ((Save("seen"), FAIL) if marks else (FAIL,))

    def recover(_site: Site, durable: Any) -> Answer:
        return durable, () if durable else (SetTimer("event"),)

    return protocol(deployed(site("a", "event")), write, recover=recover)


def test_a_writer_that_fails_again_after_each_restart_never_comes_to_rest() -> None:
    """Down and up again, and so on; walks do not look for circles."""
    found = explore(writer(marks=False), ALONE)
    assert found.outcome is Outcome.REFUTED
    assert found.counterexample is not None
    assert (found.counterexample.property.name, found.counterexample.circle) == (ENDLESS, 2)
    assert walks(writer(marks=False), ALONE, 10, seed=1).rested == 0


def test_a_writer_that_marks_the_event_before_it_fails_comes_to_rest() -> None:
    """The timer is set, down, up."""
    holds(writer(marks=True), ALONE, 3)


@pytest.mark.parametrize(
    ("effects", "why"),
    [
        ((FAIL, Send("b", 1)), "has a Fail among its effects: it is the last effect of a step"),
        ((FAIL, Note(CRASHED)), "has a Fail among its effects: it is the last effect of a step"),
        ((FAIL, FAIL), "has a Fail among its effects: it is the last effect of a step"),
        ((Fail,), "has <class 'model.core.Fail'> among its effects, which is none"),
    ],
)
def test_a_fail_that_is_not_the_last_effect_is_a_failing_step(
    effects: tuple[Effect, ...], why: str
) -> None:
    deployment = deployed(site("a", "go"), site("b"), channels="a-b")
    wrong = protocol(deployment, lambda *_: (0, effects))
    fails(wrong, ALONE, f"a, timer go: {why}")


def test_a_prompt_site_does_not_fail() -> None:
    deployment: Deployment = deployed(site("a", "go"), site("b"), channels="a-b")
    sends = Send("b", 1)
    wrong = protocol(
        deployment._replace(prompt=frozenset("b")),
        lambda site, state, _: (state, (sends if site.name == "a" else FAIL,)),
    )
    fails(wrong, ALONE, "b, int from a: has a Fail among its effects: a prompt site never crashes")
