"""Walks find what needs a crash, a long run or a look at rest, and what they find is shrunk."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from docs.examples import forgetful, standby
from model.choices import enabled
from model.core import Guarantee, When
from model.evidence import PinnedScope
from model.observations import first_violation
from model.protocol import Protocol
from model.registry import protocols
from model.world import apply, initial
from proofs.explore import random_walk
from proofs.explore.explorer import Counterexample, explore
from proofs.explore.mutants import mutate
from proofs.explore.random_attack import attack, targets
from proofs.explore.shrinker import replay, shrink
from tests.sizes import smallest

PROTOCOLS = protocols()
MAIN = PROTOCOLS["upstream-backup"]
HOME = "model.protocols.upstream_backup.protocol"
CRASHING, RESTING = forgetful.PROTOCOL, standby.PROTOCOL.named("standby:any")
WALKED = {**PROTOCOLS, "forgetful": CRASHING, "standby": RESTING}
SCOPES = [
    (name, pinned)
    for name, protocol in WALKED.items()
    for pinned in protocol.evidence.scopes
    if pinned.steps and (pinned.states or 10**6) < 60_000
]
LEAST = smallest(SCOPES).values()
REFUTED = [
    pytest.param(
        WALKED[name],
        pinned,
        id=f"{name}, {pinned.name}",
        # `make test` has some of each family.
        marks=[] if pinned.worlds < 1_000 or (name, pinned) in LEAST else pytest.mark.exhaustive,
    )
    for name, pinned in SCOPES
]


def walks_find_all(walks: Callable[..., random_walk.Walks]) -> bool:
    """Do the walks come to rest, crash, and look at properties of outputs and of nodes at rest?"""
    whole = walks(MAIN, MAIN.evidence.scopes[0].scope, 20, seed=1)
    crashed = walks(CRASHING, CRASHING.evidence.scopes[0].scope, 200, seed=1).property
    resting = walks(RESTING, RESTING.evidence.scopes[0].scope, 200, seed=1).property
    gap = PROTOCOLS["micro-batch:commit-first"]
    lost = walks(gap, gap.evidence.scopes[0].scope, 200, seed=1).property
    return (
        whole.rested == whole.count == 20
        and crashed is not None
        and resting is standby.READY
        and lost is not None
    )


MUTANTS = {
    "it never crashes": ("if faults and (not choices or choose() < FAULTS):", "if False:"),
    "it stops too early": ("for _ in range(STEPS):", "for _ in range(9):"),
    "it judges nothing at rest": (
        "if judged[key] is not None:",
        "if own and judged[key] is not None:",
    ),
    "it does not look at nodes": (
        "key = pick[not own](numbers), not own",
        "key = pick[False](numbers), not own",
    ),
}


def test_walks_crash_come_to_rest_and_look_there() -> None:
    assert walks_find_all(random_walk.walks)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_of_the_walks_misses_something(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = MUTANTS[name]
    source = Path(str(random_walk.__file__)).read_text("utf-8")
    assert source.count(old) == 1
    broken = ModuleType("broken_walk")
    monkeypatch.setitem(sys.modules, broken.__name__, broken)  # dataclass looks there
    exec(source.replace(old, new), broken.__dict__)
    assert not walks_find_all(broken.__dict__["walks"])


@pytest.mark.parametrize(("protocol", "pinned"), REFUTED)
def test_what_a_walk_finds_is_shrunk_to_a_run_of_the_model(
    protocol: Protocol, pinned: PinnedScope
) -> None:
    found = random_walk.walks(protocol, pinned.scope, 20_000, seed=1)
    assert found.property is not None
    assert found.trace is not None
    failure = shrink(Counterexample(found.property, found.trace))
    system, actions, worlds = failure.trace
    assert pinned.steps is not None
    assert pinned.steps <= len(actions) <= len(found.trace.actions)
    world = initial(system)
    for at, action in enumerate(actions):
        assert (world, first_violation(system, world)) == (worlds[at], None)
        assert action in enabled(system, world)
        world = apply(system, world, action)
    assert (world, first_violation(system, world)) == (worlds[-1], failure.property)
    for at in range(len(actions)):
        rest = actions[:at] + actions[at + 1 :]
        assert replay(system, rest, len(actions) - 1) is None
    assert shrink(Counterexample(found.property, found.trace)).trace.actions == actions


def test_an_attack_walks_first_and_counts_what_it_did() -> None:
    refuted = PROTOCOLS["micro-batch:commit-first"]
    found = attack(refuted, walks=400, examples=100)
    assert (found.by, found.examples) == ("walk", 0)
    assert 0 < found.walks <= 400
    assert found.failure is not None
    assert found.failure.trace.system.scope in targets(refuted)
    again = attack(refuted, walks=400, examples=100).failure
    assert again is not None
    assert again.trace.actions == found.failure.trace.actions
    held = attack(MAIN, walks=50, examples=1)
    assert (held.by, held.walks, held.failure) == (None, 50, None)
    assert held.examples >= 1


def test_walks_go_through_pinned_and_enlarged_scopes(monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[Any] = []
    plain = random_walk.walks

    def spy(protocol: Protocol, scope: Any, count: int, seed: int) -> random_walk.Walks:
        walked.append((scope, count))
        return plain(protocol, scope, 0, seed)

    monkeypatch.setattr(random_walk, "walks", spy)
    attack(MAIN, walks=1_000, examples=0)
    assert [scope for scope, _ in walked] == list(targets(MAIN))
    assert {*(pinned.scope for pinned in MAIN.evidence.scopes)} < {scope for scope, _ in walked}
    assert {count for _, count in walked} <= {1_000 // len(walked), 1_000 // len(walked) + 1}


@pytest.mark.slow
def test_walks_find_mutants_that_need_a_late_crash() -> None:
    for name in ("seed from the wrong window", "lose the replicas of the nodes below"):
        mutant = next(mutant for mutant in MAIN.evidence.mutants if mutant.name == name)
        found = attack(mutate(MAIN, mutant, HOME), walks=5_000, examples=0)
        assert found.by == "walk"


def test_a_run_that_needs_no_action_stays_as_it_is() -> None:
    failure = explore(
        RESTING, RESTING.evidence.scopes[0].scope, until=Guarantee.PRECISE
    ).counterexample
    assert failure is not None
    assert len(shrink(failure).trace.actions) == len(failure.trace.actions)
    assert failure.property.when is When.QUIESCENT
