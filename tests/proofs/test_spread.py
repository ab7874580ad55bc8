"""The spread search, with levels in this process: equal to the search of this process."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from docs.examples import amnesia, relay
from model.choices import enabled
from model.core import Guarantee, Scope
from model.errors import Invalid
from model.evidence import Outcome
from model.protocol import Failures, Protocol
from model.registry import protocols
from model.system import System
from model.world import apply, initial
from proofs.explore.explorer import Exploration, Trace, explore
from proofs.explore.spread import rows, search, work
from proofs.explore.spread.search import explore_spread
from tests.proofs.own_levels import OwnLevels, start
from tests.proofs.test_searches import SHAPES, WORLDS, Shape, made
from tests.sizes import FULL


def spread(protocol: Protocol, scope: Scope, start_: Any = start, **how: Any) -> Exploration:
    return explore_spread(start_, partial(System, protocol, scope), protocol, scope, **how)


def steps(found: Exploration) -> tuple[int, bool]:
    """The steps of the counterexample before those that repeat, and whether some do."""
    if found.counterexample is None:
        return -1, False
    circle = found.counterexample.circle
    return len(found.counterexample.trace.actions) - circle, circle > 0


def facts(found: Exploration) -> object:
    """All that both searches find alike; of the shortest counterexamples each may find its own."""
    return replace(found, seconds=0, counterexample=None, trial=None), steps(found)


def failed(found: Exploration) -> bool:
    shown = found.counterexample
    return shown is not None and len(shown.trace.actions) == len(shown.trace.worlds)


def replayed(trace: Trace) -> bool:
    """Does each action of the trace lead from its world to the next, from the initial one on?"""
    return trace.worlds[0] == initial(trace.system) and all(
        action in [*enabled(trace.system, before)] and apply(trace.system, before, action) == after
        for action, (before, after) in zip(trace.actions, pairwise(trace.worlds), strict=False)
    )


def same(protocol: Protocol, scope: Scope, **how: Any) -> Exploration:
    how = {"shapes": True, **how}
    here, there = explore(protocol, scope, **how), spread(protocol, scope, **how)
    if there.counterexample is not None:
        assert replayed(there.counterexample.trace)
    if failed(here) or failed(there):  # the search of this process ends within a level
        assert steps(there) <= steps(here)
    else:
        assert facts(there) == facts(here)
    return there


# --- equal to the search of one process ------------------------------------------------------
# `make test` has the smallest scopes, and all shapes of protocols that Hypothesis draws.
@pytest.mark.parametrize(
    ("protocol", "scope"),
    [
        pytest.param(
            protocol,
            pinned.scope,
            id=f"{name}-{pinned.name}",
            marks=pytest.mark.exhaustive if (pinned.states or 0) >= 100 else [],
        )
        for name, protocol in protocols().items()
        for pinned in protocol.evidence.scopes
        if (pinned.states or 10**9) < 10_000
    ],
)
def test_a_spread_search_finds_the_same(protocol: Protocol, scope: Scope) -> None:
    same(protocol, scope)


@pytest.mark.slow
@given(SHAPES)
@settings(max_examples=150 if FULL else 60)
def test_a_spread_search_of_a_random_protocol_finds_the_same(shape: Shape) -> None:
    same(*made(shape), limit=WORLDS)


def test_a_search_ends_at_the_level_that_passes_its_limit() -> None:
    protocol, scope = relay.PROTOCOL, relay.PROTOCOL.evidence.scopes[0].scope
    found = same(protocol, scope, limit=20)
    assert (found.outcome, found.complete) == (Outcome.UNFINISHED, False)
    assert found.spent == "20 worlds"


def test_progress_counts_the_worlds_that_are_expanded() -> None:
    protocol, scope = relay.PROTOCOL, relay.PROTOCOL.evidence.scopes[0].scope
    reports: list[tuple[str, int, int, str]] = []
    found = spread(protocol, scope, progress=lambda *report: reports.append(report))
    assert len(reports) == found.depth + 1
    assert reports[0][:2] == ("exploring", 1)
    assert reports[-1][1:3] == (found.states, found.states)
    assert all(before[2] == after[1] for before, after in pairwise(reports))
    assert reports[1][3].startswith("level 2: ")


def test_a_search_ends_at_the_level_by_which_what_is_wanted_was_found() -> None:
    protocol = protocols()["amnesia"]
    pinned = next(one for one in protocol.evidence.scopes if one.name == "a merge")
    found = spread(protocol, pinned.scope, until=Guarantee.PRECISE)
    assert found.counterexample is not None
    assert len(found.counterexample.trace.actions) == pinned.steps
    assert found.states < (pinned.states or 0)


def test_a_step_that_fails_is_a_counterexample() -> None:
    def step(site: Any, state: Any, input_: Any) -> Any:
        answer = amnesia.step(site, state, input_)
        return None if site.name == "sink" else answer

    protocol = amnesia.PROTOCOL.vary(step=step, properties=())
    scope = protocol.evidence.scopes[0].scope
    here, there = explore(protocol, scope), spread(protocol, scope)
    assert here.counterexample
    assert there.counterexample
    assert there.counterexample.property.name == here.counterexample.property.name
    assert steps(there) == steps(here)
    assert replayed(there.counterexample.trace)


# --- endless runs ----------------------------------------------------------------------------
ENDLESS = Shape(0, 1, 1, 0, Failures.ANY, 0.5, 0.2, False, (0, 1, 2))


def endless() -> tuple[Protocol, Scope]:
    """A drawn protocol with a run that comes never to rest."""
    for seed in range(100):
        protocol, scope = made(ENDLESS._replace(seed=seed))
        protocol = protocol.vary(properties=())
        found = explore(protocol, scope, limit=WORLDS)
        if found.complete and found.counterexample:
            return protocol, scope
    raise AssertionError("no drawn protocol has an endless run")


def test_an_endless_run_is_found() -> None:
    found = same(*endless())
    assert found.counterexample
    assert found.counterexample.circle > 0


def test_too_many_suspects_are_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proofs.explore.spread.edges.MOST_EDGES", 0)
    monkeypatch.setattr(search, "MOST_EDGES", 0)
    found = spread(*endless())
    assert found.outcome is not Outcome.HOLDS
    assert "was not decided" in found.vacuous[-1]


# --- any process, again ----------------------------------------------------------------------
class Forgetful(OwnLevels):
    """Every part is worked on by a process that begins with nothing; some are worked on twice."""

    def _expand(self, part: int) -> Any:
        work._process_of.cache_clear()
        first = super()._expand(part)
        found, self.found[part] = self.found[part], []
        again = super()._expand(part)
        assert self.found[part] == found
        assert again.focuses == first.focuses
        return again


class Late(OwnLevels):
    """A part is worked on again by a process that has heard the news of the next level."""

    last: tuple[Sequence[bytes], int, Sequence[bytes], Sequence[bytes]] | None = None

    def _expand(self, part: int) -> Any:
        before, self.last = self.last, None
        report = super()._expand(part)
        if before is not None:
            news, other, blocks, found = before
            assert [*self.work.expand(news, other, blocks)] == found
        self.last = [*self.news], part, self.levels[-1].get(part, []), [*self.found[part]]
        return report


@pytest.mark.parametrize("kind", [Forgetful, Late, partial(OwnLevels, parts=1)])
@pytest.mark.parametrize("name", ["two-phase-sink", "upstream-backup-acks:idle-state"])
def test_any_process_does_the_work_and_repeats_it(name: str, kind: Callable[..., Any]) -> None:
    protocol = protocols()[name]
    scope = min(protocol.evidence.scopes, key=lambda one: one.states or 10**9).scope
    found = spread(protocol, scope, lambda *of: nullcontext(kind(*of)))
    assert facts(found) == facts(explore(protocol, scope))


def test_a_value_that_cannot_travel_is_refused() -> None:
    def step(site: Any, state: Any, input_: Any) -> Any:
        _, effects = amnesia.step(site, state, input_)
        return (lambda: 0), effects

    protocol = amnesia.PROTOCOL.vary(step=step)
    with pytest.raises(Invalid, match="cannot go to another process"):
        spread(protocol, protocol.evidence.scopes[0].scope)


def test_memory_is_of_one_process() -> None:
    with pytest.raises(Invalid, match="many processes"):
        spread(relay.PROTOCOL, relay.PROTOCOL.evidence.scopes[0].scope, memory=1)


# --- rows ------------------------------------------------------------------------------------
def block(*worlds: Sequence[int], parents: Sequence[int] = ()) -> bytes:
    return rows.pack(np.array(worlds, np.uint32), [*parents] or 0)


def test_rows_are_admitted_once_with_their_first_parent() -> None:
    found = [block((1, 0), (0, 2), parents=(5, 6)), block((1, 0), (3, 3), parents=(4, 7))]
    (admitted,) = rows.admit(found, [block((3, 3))], 2)
    numbers, parents = rows.unpack(admitted, 2)
    assert {tuple(n): p for n, p in zip(numbers.tolist(), parents.tolist(), strict=True)} == {
        (1, 0): 4,
        (0, 2): 6,
    }
    assert not [*rows.admit([], [admitted], 2)]
    assert not [*rows.admit([admitted], [admitted], 2)]


def test_equal_worlds_belong_to_one_part() -> None:
    worlds = [(at % 7, at % 5) for at in range(200)]
    home: dict[tuple[int, ...], int] = {}
    for part, piece in rows.split(block(*worlds), 2, 4):
        for numbers in rows.unpack(piece, 2)[0].tolist():
            assert home.setdefault(tuple(numbers), part) == part
    assert {*home} == {*worlds}
    assert {*home.values()} == {0, 1, 2, 3}


def test_the_work_can_travel() -> None:
    first = work.SpreadWork("search", 3, partial(System, None, None))  # type: ignore[arg-type]
    assert pickle.loads(pickle.dumps(first)) == first
    assert first != replace(first, search="another")
