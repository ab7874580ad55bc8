"""The random attack and the walks: they find what is wrong, nothing else, and can be replayed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.choices import enabled
from model.core import Scope
from model.observations import observe
from model.registry import protocols
from model.system import System
from model.world import apply, initial
from proofs.explore.mutants import mutate
from proofs.explore.random_attack import STEPS, attack, machine, pytest_file
from proofs.explore.random_walk import walks
from proofs.explore.strategies import actions, scopes
from tests.sizes import FULL

PROTOCOLS = protocols()
MAIN = PROTOCOLS["upstream-backup"]
HOME = "model.protocols.upstream_backup.protocol"
KNOWN = {mutant.name: mutant for mutant in MAIN.evidence.mutants}


class TestAnyGraphAnyOperatorsAnyCrashes(machine(MAIN, scopes()).TestCase):  # type: ignore[misc]
    """Operators, graphs, streams, crashes: all drawn."""

    settings = settings(max_examples=150 if FULL else 60, stateful_step_count=STEPS, deadline=None)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "replay the newest event only",
        # To make a failure of Hypothesis smaller takes long.
        pytest.param("replay out of order", marks=pytest.mark.exhaustive),
        pytest.param("a sink takes duplicates", marks=pytest.mark.exhaustive),
        pytest.param("process what arrives before the answer", marks=pytest.mark.exhaustive),
    ],
)
def test_the_attack_finds_mutants_and_shrinks_what_it_finds(name: str) -> None:
    broken = mutate(MAIN, KNOWN[name], HOME)
    found = attack(broken, walks=0, examples=2_000)
    failure = found.failure
    assert found.by == "hypothesis"
    assert failure is not None
    world = initial(failure.trace.system)
    for action in failure.trace.actions:
        assert action in enabled(failure.trace.system, world)
        world = apply(failure.trace.system, world, action)
    assert not failure.property.holds(failure.trace.system.scope, observe(world))
    assert len(failure.trace.actions) <= 25


def test_the_attack_finds_nothing_wrong_with_the_corrected_protocol() -> None:
    found = attack(MAIN, walks=0, examples=60)
    assert found.failure is None
    assert found.examples >= 60
    assert found.actions > found.examples


@pytest.mark.slow
def test_a_failure_becomes_a_pytest_file_that_fails(tmp_path: Path) -> None:
    name = "upstream-backup:pairs"
    failure = attack(PROTOCOLS[name], walks=2_000, examples=0).failure
    assert failure is not None
    file = tmp_path / "test_replay.py"
    file.write_text(pytest_file(name, failure, "It happens."))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 1, ran.stdout
    assert "1 failed" in ran.stdout
    mended = pytest_file("upstream-backup", failure, "It happens.")
    assert name not in mended


def test_walks_come_to_rest_and_find_a_mutant() -> None:
    scope = next(p.scope for p in MAIN.evidence.scopes if p.name == "one event, one match")
    good = walks(MAIN, scope, count=300, seed=7)
    assert (good.count, good.rested, good.trace) == (300, 300, None)
    broken = mutate(MAIN, KNOWN["replay out of order"], HOME)
    bad = walks(broken, scope, count=3_000, seed=7)
    assert bad.property is not None
    assert bad.trace is not None
    assert not bad.property.holds(scope, observe(bad.trace.worlds[-1]))


@settings(max_examples=50)
@given(scopes(), st.data())
def test_what_is_enabled_and_what_it_does_never_vary(scope: Scope, data: st.DataObject) -> None:
    system, again = System(MAIN, scope), System(MAIN, scope)
    world = initial(system)
    for _ in range(12):
        choices = enabled(system, world)
        assert choices == enabled(again, world)
        if not choices:
            return
        action = data.draw(actions(system, world))
        assert action in choices
        after = apply(system, world, action)
        assert after == apply(again, world, action)
        assert hash(after) == hash(apply(again, world, action))
        world = after
