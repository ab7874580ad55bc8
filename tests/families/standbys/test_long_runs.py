"""Long runs of chains of nodes, too large to explore: are they as if nothing had failed?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.actions import Action, Crash, Inject, Suspect
from model.boxes.stateless import Filter, Map, Relay, Union
from model.choices import enabled
from model.core import Guarantee, Scope
from model.graph import chain
from model.observations import observe
from model.pair_scopes import COPIES, EVERY, PAIRED, SLIDING, after_union, two, windows
from model.parts import over_words
from model.play import Play
from model.predicates import Type
from model.properties import guarantee
from model.protocol import Protocol
from model.protocols.upstream_backup_acks.design import (
    ARBITRARY_TOO,
    PRECISE,
    AbsentInput,
    Cuts,
    Idle,
    InputNames,
    Labels,
    Renews,
    UpstreamBackupAcksDesign,
)
from model.registry import protocols

CONVERGING = (
    *(Relay(), Map("b"), Filter(Type("a")), COPIES),
    *(SLIDING, windows(3, 1, by="time"), windows(2, 1)),
)
BOXES = {
    "passive-standby": (*CONVERGING, PAIRED, EVERY),
    "active-standby": (*CONVERGING, PAIRED, EVERY),
    "upstream-backup-acks": CONVERGING,
}
"""Operators for which each one claims precise recovery."""
ARBITRARY = [f"{name}:arbitrary" for name in BOXES]

INJECT, FAIL, GO_ON, SETTLE = "inject", "fail", "go on", "settle"
ANY_OF = st.integers(0, 20)
STEPS = st.one_of(
    *[st.tuples(st.just(INJECT), ANY_OF)] * 2,
    st.just((SETTLE, 0)),
    st.tuples(st.just(FAIL), ANY_OF),
    *[st.tuples(st.just(GO_ON), ANY_OF)] * 2,
)


def upstream_backup(design: UpstreamBackupAcksDesign) -> Protocol:
    return protocols()["upstream-backup-acks"].vary(design=design)


def recovery(
    protocol: Protocol, boxes: Sequence[Any], gap: int, steps: Sequence[tuple[str, int]]
) -> Guarantee:
    """The recovery type of a run of a chain of nodes."""
    kinds = [kind for kind, _ in steps]
    nodes = chain(*zip("ABC", boxes, strict=False))
    injected, failures = max(1, kinds.count(INJECT)), kinds.count(FAIL)
    scope = over_words(nodes, injected, "a", (1, gap), crashes=failures)
    return recovery_in(protocol, scope, steps)


def recovery_in(protocol: Protocol, scope: Scope, steps: Sequence[tuple[str, int]]) -> Guarantee:
    """The recovery type of a run.

    Each step is to hand out an event, to crash or suspect a node, alone or between two effects, to
    let a node do something, or to wait until nothing is left to do; its number chooses among what
    is possible then.
    """
    play = Play(protocol, scope)
    play.settle()
    for kind, number in steps:
        if kind == SETTLE:
            play.settle()
        elif found := _possible(play, kind):
            play.do(found[number % len(found)])
    play.settle()
    return guarantee(scope, observe(play.world))


def _possible(play: Play, kind: str) -> Sequence[Action]:
    if kind == GO_ON:
        return play.ready()
    actions = enabled(play.system, play.world)
    if kind == INJECT:
        return [a for a in actions if isinstance(a, Inject)]
    return [
        a
        for a in actions
        if isinstance(a, Crash | Suspect) or getattr(a, "crash_after", None) is not None
    ]


@pytest.mark.parametrize("ending", ["", ":suspicion"])
@pytest.mark.parametrize("name", BOXES)
@given(st.data())
def test_chains_of_nodes_recover_precisely(name: str, ending: str, data: st.DataObject) -> None:
    boxes = data.draw(st.lists(st.sampled_from(BOXES[name]), min_size=1, max_size=3))
    steps = data.draw(st.lists(STEPS, min_size=1, max_size=40))
    gap = data.draw(st.integers(2, 3))
    assert recovery(protocols()[name + ending], boxes, gap, steps) is Guarantee.PRECISE


@pytest.mark.parametrize("name", ARBITRARY)
@given(st.data())
def test_unions_recover_precisely_by_determinants(name: str, data: st.DataObject) -> None:
    box = data.draw(st.sampled_from([Relay(), PAIRED, windows(2, 1), windows(3, 2), EVERY]))
    steps = data.draw(st.lists(STEPS, min_size=1, max_size=40))
    kinds = [kind for kind, _ in steps]
    injected = kinds.count(INJECT)
    scope = two(after_union(box), injected, injected, "bc")
    scope = replace(scope, crashes=kinds.count(FAIL), victims=None)
    assert recovery_in(protocols()[name], scope, steps) is Guarantee.PRECISE


@pytest.mark.parametrize("names", InputNames)
def test_a_name_that_begins_anew_hides_what_is_new(names: InputNames) -> None:
    """Five tuples through three nodes, the first of which fails after the fourth one: B discards
    what comes again, and C takes the fifth one for an old one by its number."""
    protocol = upstream_backup(replace(PRECISE, names=names))
    steps = [*[(INJECT, 0)] * 4, (SETTLE, 0), (FAIL, 0), (INJECT, 0)]
    found = recovery(protocol, [Relay()] * 3, 2, steps)
    assert found is (Guarantee.PRECISE if names is InputNames.MARKS else Guarantee.GAP)


def after_two_failures(protocol: Protocol, box: Any, tuples: int) -> Guarantee:
    """The weakest recovery type of runs in which a relay fails, then the node behind it, which has
    the box, when so many tuples have been processed; two more come at the end."""
    calm = [(INJECT, 0), (SETTLE, 0)]
    return max(
        recovery(
            protocol,
            [Relay(), box],
            2,
            [*calm * tuples, (FAIL, 0), (SETTLE, 0), (FAIL, number), (SETTLE, 0), *calm * 2],
        )
        for number in range(8)
    )


@pytest.mark.parametrize("labels", Labels)
def test_an_acknowledgement_without_its_connection_releases_another_tuple(labels: Labels) -> None:
    """A fails when upstream has let go of its first tuple, so the second one is number 1 now; B
    releases number 1, which preceded its open window, and fails: the window is lost."""
    protocol = upstream_backup(replace(PRECISE, labels=labels, idle=Idle.STATE))
    found = after_two_failures(protocol, windows(2, 1), 3)
    assert (found is Guarantee.PRECISE) is (labels is Labels.CONNECTION)


@pytest.mark.parametrize("name", BOXES)
def test_windows_by_count_are_aligned_if_the_state_is_kept(name: str) -> None:
    """Upstream backup keeps their alignment after one failure; after one of the node before, that
    node sends more than the cause."""
    found = after_two_failures(protocols()[name], PAIRED, 4)
    assert (found is Guarantee.PRECISE) is (name != "upstream-backup-acks")


@pytest.mark.parametrize("absent", AbsentInput)
def test_an_input_of_which_nothing_is_held_is_needed_from_the_next_tuple_on(
    absent: AbsentInput,
) -> None:
    """Windows of three tuples, each of which begins two tuples after the one before: a1 a2 b1, then
    b1 b2 b3, in which there is no a.  A restart that begins with a2 is out of line."""
    scope = two(after_union(windows(3, 2)), 3, 3, "b")
    left, right = (INJECT, 0), (INJECT, 1)
    steps = [left, left, right, right, right, (SETTLE, 0), left, (SETTLE, 0), (FAIL, 0)]
    found = recovery_in(upstream_backup(replace(ARBITRARY_TOO, absent=absent)), scope, steps)
    assert (found is Guarantee.PRECISE) is (absent is AbsentInput.NEXT)


@pytest.mark.parametrize("renews", Renews)
def test_a_new_secondary_needs_the_order_of_what_upstream_still_sends(renews: Renews) -> None:
    protocol = upstream_backup(replace(ARBITRARY_TOO, renews=renews))
    scope = replace(two(Union(), 1, 1), crashes=2, victims=None)
    steps = [(INJECT, 1), (FAIL, 0), (SETTLE, 0)]
    found = [
        recovery_in(protocol, scope, [*steps, (FAIL, number), (INJECT, 0)]) for number in range(8)
    ]
    assert (max(found) is Guarantee.PRECISE) is (renews is Renews.LOG)


@pytest.mark.slow
@pytest.mark.parametrize("cuts", Cuts)
def test_upstream_nodes_let_go_at_different_times(cuts: Cuts) -> None:
    """Pairs of a union: a crash at any moment, also between the acknowledgements to two upstream
    nodes.  If the log says nothing of where to begin, the first pair has the second tuple of an old
    one."""
    protocol = upstream_backup(replace(ARBITRARY_TOO, cuts=cuts))
    scope = replace(two(after_union(PAIRED), 5, 5, "b"), victims=None)
    play = Play(protocol, scope)
    play.settle()
    found = Guarantee.PRECISE
    for number in range(6):
        play.do(_possible(play, INJECT)[number % 2])
        for _ in play.steps():
            for failure in _possible(play, FAIL):
                found = max(found, _end(play.branch(), failure))
    assert (found is Guarantee.PRECISE) is (cuts is Cuts.STORED)


def _end(play: Play, failure: Action) -> Guarantee:
    """The recovery type after the failure when all events have come."""
    play.do(failure)
    play.settle()
    while left := _possible(play, INJECT):
        play.do(left[0])
        play.settle()
    return guarantee(play.system.scope, observe(play.world))
