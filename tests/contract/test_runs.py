"""Every pinned run is a run of its protocol, and ends with the guarantee that is pinned."""

from __future__ import annotations

import pytest

from model.evidence import REST, PinnedRun
from model.observations import observe
from model.play import Play
from model.properties import guarantee
from model.protocol import Protocol
from model.registry import protocols
from proofs.classify.graphs import class_of

RUNS = [
    pytest.param(protocol, run, id=f"{name}: {run.name}")
    for name, protocol in protocols().items()
    for run in protocol.evidence.runs
]


def play(protocol: Protocol, run: PinnedRun) -> Play:
    """The end of the run."""
    found = Play(protocol, run.scope)
    for action in (REST, *run.actions, REST):
        if action is REST:
            found.settle()
        else:
            found.follow(action)
    return found


@pytest.mark.parametrize(("protocol", "run"), RUNS)
def test_a_pinned_run_ends_with_its_guarantee(protocol: Protocol, run: PinnedRun) -> None:
    ended = play(protocol, run)
    assert guarantee(run.scope, observe(ended.world)) is run.guarantee
    assert class_of(run.scope) in (run.operators, None)


def test_there_are_pinned_runs() -> None:
    assert RUNS
