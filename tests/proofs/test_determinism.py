"""The same seeds give the same bytes, whatever PYTHONHASHSEED is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
from model.evidence import Outcome
from model.registry import protocols
from proofs.explore.explorer import explore
from proofs.explore.random_attack import attack
from proofs.explore.mutants import mutate
from proofs.explore.story import story
from proofs.explore.random_walk import walks

known = protocols()
main = known["upstream-backup"]
for name in ("pairs", "counted-windows"):
    protocol = known[f"upstream-backup:{name}"]
    pinned = next(p for p in protocol.evidence.scopes if p.expect is Outcome.REFUTED)
    found = explore(protocol, pinned.scope)
    print(found.states, found.transitions, sorted(map(str, found.points)))
    print(sorted(found.notes.items()))
    print(found.counterexample.trace.actions, story(found.counterexample.trace))
print(attack(known["log-io:published"], walks=0, examples=100).failure.trace.actions)
mutant = next(m for m in main.evidence.mutants if m.name == "replay out of order")
broken = mutate(main, mutant, "model.protocols.upstream_backup.protocol")
walked = walks(broken, main.evidence.scopes[0].scope, count=3000, seed=3)
print(walked.count, walked.steps, walked.trace.actions, walked.trace.worlds)
"""


def printed(seed: str) -> bytes:
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    command = [sys.executable, "-W", "ignore", "-c", SCRIPT]
    return subprocess.run(command, capture_output=True, check=True, env=environment).stdout


@pytest.mark.slow
def test_two_processes_with_different_hash_seeds_write_the_same_bytes() -> None:
    first = printed("1")
    assert len(first) > 1_000
    assert first == printed("4242")
