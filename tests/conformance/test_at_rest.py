"""The waits and leaks of nodes at rest, family by family: none that is not listed here.

Rule of this file: a probe of states and gauges; docs/explanation/limits.md has the runs.
"""

from __future__ import annotations

import pytest

from model.core import Observation, Property, Scope, When
from model.evidence import Outcome, PinnedScope
from model.protocol import Protocol
from model.system import System, read_gauges
from proofs.explore.explorer import explore
from tests.conformance.subjects import PROTOCOLS

SMALL = 20_000
"""Worlds of the scopes that are probed, as pinned."""
WAITING = frozenset({"request", "owed", "asked", "pending", "unconnected", "came", "captured"})
"""The fields of states that say that somebody waits, unless they are empty, None or False."""
KEEPS = {
    "abs": "",
    "active-standby": "Replica",
    "amnesia": "",
    "cec": "NodeState QueueState",
    "crb": "CrbOperator QueueState",
    "kafka-transactions": "QueueState WorkerState",
    "log-io": "LogDatabase QueueState",
    "micro-batch": "BatchSource",
    "passive-standby": "Primary",
    "progressive": "",
    "two-phase-sink": "QueueState",
    "unaligned-checkpoints": "",
    "uncoordinated": "LoggingTask",
    "upstream-backup": "OperatorNode SourceNode",
    "upstream-backup-acks": "SourceQueue",
}
"""The states that keep more at rest than is needed, or than a family gives no number for; "" of a
family that has none."""
WAITS = {
    "crb": "CrbOperator.owed CrbSink.inlet.request",
    "micro-batch": "BatchSource.asked",
    "upstream-backup": "OperatorNode.operator.pending",
}
"""The fields that are not empty at rest.  `crb:reconnects` mends the first; the others hold the
last request, and matches that wait for later events."""


@pytest.fixture(autouse=True)
def worlds_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The probe looks at the worlds of a search, not at the corruptions that are tried after it."""
    monkeypatch.setattr("proofs.explore.explorer.try_scope", lambda *_: None)


def waits(state: object, path: str, depth: int = 0) -> set[str]:
    """The fields of a state that wait for something, as paths."""
    found: set[str] = set()
    if depth > 2 or not isinstance(state, tuple) or not hasattr(state, "_fields"):
        return found
    for name, value in zip(state._fields, state, strict=True):
        full = any(value) if type(value) is tuple else value not in (None, False, 0)
        if name in WAITING and full:
            found.add(f"{path}.{name}")
        found |= waits(value, f"{path}.{name}", depth + 1)
    return found


def probe(protocol: Protocol, pinned: PinnedScope) -> tuple[set[str], set[str]]:
    """The states that keep too much at rest, and the fields that wait, in all worlds of a scope."""
    system = System(protocol, pinned.scope)
    keeps: set[str] = set()
    fields: set[str] = set()

    def look(scope: Scope, seen: Observation) -> bool:
        needed = protocol.behaviour.needed
        most = needed(scope, seen) if needed else {}
        for name, state in seen.states:
            if (read_gauges(system, name, state).buffered or 0) > most.get(name, 0):
                keeps.add(type(state).__name__)
            fields.update(waits(state, type(state).__name__))
        return True

    looking = protocol.vary(properties=(Property("probe", When.QUIESCENT, look, nodes=True),))
    explore(looking, pinned.scope, limit=SMALL, reduce=False)
    return keeps, fields


def small(protocol: Protocol) -> list[PinnedScope]:
    """The quick scopes of at most SMALL worlds that hold."""
    return [
        one
        for one in protocol.evidence.scopes
        if one.expect is Outcome.HOLDS and one.quick and 0 < one.worlds <= SMALL
    ]


def test_each_family_of_the_project_is_listed() -> None:
    assert {*KEEPS} == {name for name in PROTOCOLS if ":" not in name}
    assert {*KEEPS} >= {*WAITS}


@pytest.mark.parametrize("name", KEEPS)
def test_at_rest_the_listed_ones_keep_and_wait_and_nobody_else(name: str) -> None:
    keeps: set[str] = set()
    fields: set[str] = set()
    for pinned in small(PROTOCOLS[name]):
        more, waiting = probe(PROTOCOLS[name], pinned)
        keeps |= more
        fields |= waiting
    assert keeps == {*KEEPS[name].split()}
    assert fields == {*WAITS.get(name, "").split()}


@pytest.mark.parametrize("variant", ["", "reconnects"])
def test_the_probe_finds_who_waits(variant: str) -> None:
    """A consumer of crb waits, and keeps its producer from letting go; mended, nobody does."""
    name = f"crb:{variant}" if variant else "crb"
    (pinned,) = (one for one in PROTOCOLS[name].evidence.scopes if one.name == "a filter")
    keeps, fields = probe(PROTOCOLS[name], pinned)
    assert bool(keeps) is bool(fields) is (not variant)
