"""The result of `asif run`: a run on real events with crashes, beside the run without.

Rule of this file: values only; sim.comparison makes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from model.results.plain import key


@dataclass(frozen=True, slots=True)
class DeployedGraph:
    """The operators of a run, and the edges between them."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class OutputDigest:
    """The number of outputs of a run, and the hash of all of them in order."""

    count: int
    sha256: str


@dataclass(frozen=True, slots=True)
class RunCrash:
    """A crash that happened, at an input event."""

    node: str
    at_event: int


class BackupSample(NamedTuple):
    """The events that all nodes buffer after an input event; compared: with the other protocol."""

    event: int
    backup: int
    compared: int | None


class RunViolation(NamedTuple):
    """A property that does not hold in a run, and where it first did not.

    node: the node whose step, or crash, led there; null: the start or the end of the run.
    at_event: the event that was handed out last, or is to be handed out now.
    """

    property: str
    node: str | None
    at_event: int


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """The same run with another protocol.  violations: with crashes."""

    protocol: str
    same: bool
    missing_outputs: int
    surplus_outputs: int
    replayed: int
    peak_backup: int
    violations: tuple[RunViolation, ...] = ()


@dataclass(frozen=True, slots=True)
class RealRun:
    """missing_outputs, surplus_outputs: with crashes, beside the oracle.  same: are all three
    equal?  violations: the properties that do not hold, but for those that compare outputs: in the
    run without crashes, or else in the run with crashes.  clock, added: only for a file of the
    user's, what a step of its times is, and the operators behind the pattern."""

    protocol: str
    input: str
    events: int
    graph: DeployedGraph
    pattern: str
    left_out: tuple[str, ...]
    expected: OutputDigest
    failure_free: OutputDigest
    with_crashes: OutputDigest
    missing_outputs: int
    surplus_outputs: int
    same: bool
    crashes: tuple[RunCrash, ...]
    replayed: int
    discarded: int
    peak_backup: int
    seconds: float
    compared: ComparedRun | None
    series: tuple[BackupSample, ...]
    clock: str | None = key(absent=True, default=None)
    added: tuple[str, ...] | None = key(absent=True, default=None)
    violations: tuple[RunViolation, ...] = ()

    @property
    def as_promised(self) -> bool:
        """Is the output the same, and does every property hold?"""
        return self.same and not self.violations
