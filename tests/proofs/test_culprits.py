"""The culprit of every run that is refuted: each claim of it is found again by other means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from model.actions import Inject
from model.choices import enabled, quiescent
from model.core import Guarantee, When
from model.evidence import Outcome, PinnedScope
from model.observations import first_violation, observe
from model.oracle import by_edge
from model.properties import allowed_outputs
from model.protocol import Protocol
from model.registry import protocols, subject
from model.results.culprit import Culprit, CulpritKind
from model.results.plain import plain, read
from model.results.story import Story
from model.world import World, apply
from proofs.explore.culprit.decided import find_decided
from proofs.explore.culprit.find import find_culprit
from proofs.explore.explorer import Counterexample, Trace, explore
from proofs.explore.story import show_output, story

SMALL, TINY = 3_000, 300
"""Scopes with as many worlds are explored here; and their continuations are followed one by one."""
ENGINES = Path("docs/how-to/engines")


def refuted_scopes(most: int) -> Iterator[tuple[str, PinnedScope]]:
    """The quick scopes that are refuted, up to this number of worlds, by protocol."""
    for name, protocol in protocols().items():
        for pinned in protocol.evidence.scopes:
            if pinned.expect is Outcome.REFUTED and pinned.quick and pinned.worlds <= most:
                yield name, pinned


def sample() -> list[tuple[str, PinnedScope]]:
    """The smallest refuted scope of each family, and of each variant with few worlds."""
    found = sorted(refuted_scopes(SMALL), key=lambda one: one[1].worlds)
    families = {name.partition(":")[0]: (name, pinned) for name, pinned in reversed(found)}
    return [*families.values(), *found[:25]]


def shown(protocol: Protocol, pinned: PinnedScope) -> tuple[Counterexample, Story, Culprit]:
    found = explore(protocol, pinned.scope, until=Guarantee.PRECISE).counterexample
    assert found is not None
    told = story(found.trace, found.circle)
    return found, told, find_culprit(found, told)


def ids(cases: list[tuple[str, PinnedScope]]) -> list[str]:
    return [f"{name}, {pinned.name}" for name, pinned in cases]


@pytest.mark.parametrize(("name", "pinned"), sample(), ids=ids(sample()))
def test_each_claim_about_a_run_is_true(name: str, pinned: PinnedScope) -> None:
    check_claims(*shown(protocols()[name], pinned))


@pytest.mark.exhaustive  # the sample above is of every family
@pytest.mark.parametrize(("name", "pinned"), [*refuted_scopes(10**9)])
def test_each_claim_about_every_run_is_true(name: str, pinned: PinnedScope) -> None:
    check_claims(*shown(protocols()[name], pinned))


def check_claims(found: Counterexample, told: Story, culprit: Culprit) -> None:
    assert culprit.says.endswith(".")
    assert "Body(" not in culprit.says.replace(culprit.result, "")
    assert read(Culprit, plain(culprit)) == culprit
    pointed = [told.moments[moment].emits[emit] for moment, emit in culprit.wrong]
    match culprit.kind:
        case CulpritKind.MISSING | CulpritKind.STUCK if culprit.result:
            check_missing(found, culprit)
            assert culprit.result in culprit.says
        case CulpritKind.TWICE | CulpritKind.MADE_UP | CulpritKind.COUNTED_TWICE:
            assert pointed
            assert {*pointed} == {culprit.result}
            check_surplus(found, culprit)
        case CulpritKind.OUT_OF_ORDER:
            assert pointed == [culprit.result]
        case CulpritKind.STUCK:
            assert found.circle
        case kind:
            assert kind in (CulpritKind.STATE, CulpritKind.FAILED_STEP)
    if culprit.lost is not None:
        check_lost(told, culprit)
    if culprit.decided is not None:
        assert 0 <= culprit.decided < len(told.moments)


def label_counts(found: Counterexample) -> tuple[Counter[str], list[Counter[str]]]:
    """How often each result was observed, and how often each allowed output has it."""
    system, world = found.trace.system, found.trace.worlds[-1]
    graph = system.scope.graph
    ends = [
        (name, edge)
        for name in system.sink_at
        if name in dict(graph.nodes)
        for edge in range(len(graph.preds(name)))
    ]
    observed: Counter[str] = Counter()
    for name, edge in ends:
        bodies = by_edge(world.outputs[system.sink_at[name]], edge + 1)[edge]
        observed.update(
            show_output(system.protocol, system.sites[name], (edge, one)) for one in bodies
        )
    allowed = [
        Counter(
            show_output(system.protocol, system.sites[name], (edge, out.body))
            for (name, edge), edge_outs in zip(ends, outs, strict=True)
            for out in edge_outs
        )
        for outs in allowed_outputs(system.scope, observe(world).arrivals)
    ]
    return observed, allowed


def check_missing(found: Counterexample, culprit: Culprit) -> None:
    """Some allowed output has the result more often than the run."""
    observed, allowed = label_counts(found)
    assert any(one[culprit.result] > observed[culprit.result] for one in allowed)
    if found.property.when is When.QUIESCENT:
        assert quiescent(found.trace.system, found.trace.worlds[-1])


def check_surplus(found: Counterexample, culprit: Culprit) -> None:
    """Some allowed output has the result less often than the run; a made-up one, not at all."""
    observed, allowed = label_counts(found)
    least = min(one[culprit.result] for one in allowed)
    assert observed[culprit.result] > least
    assert (least > 0) == (culprit.kind is CulpritKind.TWICE)


def check_lost(told: Story, culprit: Culprit) -> None:
    """The moment is one in which something goes."""
    assert culprit.lost is not None
    moment = told.moments[culprit.lost.moment]
    fault = moment.down or moment.kind.value == "disturb" or any(one.lost for one in moment.sends)
    assert fault or culprit.lost.moment == culprit.decided
    assert culprit.lost.node in told.lanes


# --- the moment that decides -----------------------------------------------------------------------
def is_right(trace: Trace, start: World) -> bool:
    """Does some continuation with the events of the run come to rest with all properties kept?

    With model.choices and model.world alone.
    """
    system, arrivals = trace.system, trace.worlds[-1].arrivals
    seen, waiting = {start}, [start]
    while waiting:
        world = waiting.pop()
        if first_violation(system, world) is not None:
            continue
        after = [
            (action, apply(system, world, action)) for action in enabled(system, world)
        ]
        kept = [
            (action, one)
            for action, one in after
            if all(had == whole[: len(had)] for had, whole in zip(one.arrivals, arrivals, strict=True))
        ]
        if quiescent(system, world) and not any(
            isinstance(action, Inject) and action.crash_after is None for action, _ in kept
        ):
            return True
        waiting += [one for _, one in kept if one not in seen]
        seen |= {one for _, one in kept}
    return False


@pytest.mark.parametrize(
    ("name", "pinned"), [*refuted_scopes(TINY)], ids=ids([*refuted_scopes(TINY)])
)
def test_the_moment_that_decides_is_the_first_one(name: str, pinned: PinnedScope) -> None:
    trace = shown(protocols()[name], pinned)[0].trace
    right = [is_right(trace, world) for world in trace.worlds]
    assert find_decided(trace, 10**6) == (right.index(False) if False in right else None)
    assert right == sorted(right, reverse=True), "nobody gets right again"


def test_a_budget_that_is_too_small_decides_nothing() -> None:
    name, pinned = next(refuted_scopes(SMALL))
    trace = shown(protocols()[name], pinned)[0].trace
    assert find_decided(trace, 0) is None
    assert find_decided(trace, 10**6) is not None


# --- sentences ---------------------------------------------------------------------------------
SENTENCES = {
    "amnesia, a relay": (
        "a@1 (step 1) never comes: the last copy of a@1 was on its way to A, which crashed in step "
        "2.  After that, no continuation is right."
    ),
}


@pytest.mark.parametrize(("case", "says"), SENTENCES.items(), ids=[*SENTENCES])
def test_the_sentence(case: str, says: str) -> None:
    """One for each kind; of engines the reported bug."""
    called, _, scope = case.partition(", ")
    file, colon, variant = called.partition(":")
    path = ENGINES / f"{file}.py"
    protocol = subject(f"{path}{colon}{variant}" if path.exists() else called).protocol
    pinned = next(one for one in protocol.evidence.scopes if one.name == scope)
    assert shown(protocol, pinned)[2].says == says
