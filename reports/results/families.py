"""The seconds that each family of protocols took of a report.

Rule of this file: it adds up what the checkers measured; parts run side by side, so the sums are
more than the time that passed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from model.results.report import ReportResults


class FamilySeconds(NamedTuple):
    """parts: the kinds of checks that took time, in order, with their seconds."""

    family: str
    parts: tuple[tuple[str, float], ...]

    @property
    def total(self) -> float:
        return sum(seconds for _, seconds in self.parts)


def family_of(protocol: str) -> str:
    """The family of a protocol or a variant."""
    return protocol.split(":")[0]


def seconds_by_family(results: ReportResults) -> tuple[FamilySeconds, ...]:
    """The seconds of each family that has any, by name."""
    found: dict[str, dict[str, float]] = {}
    for family, part, seconds in _seconds(results):
        parts = found.setdefault(family, {})
        parts[part] = parts.get(part, 0.0) + seconds
    return tuple(
        FamilySeconds(family, tuple(parts.items())) for family, parts in sorted(found.items())
    )


def _seconds(results: ReportResults) -> Iterator[tuple[str, str, float]]:
    """(family, kind of checks, seconds) of everything that was measured."""
    for verdict in results.verdicts:
        family = family_of(verdict.protocol)
        yield family, "worlds and attack", verdict.seconds
        for mutant in verdict.mutants or ():
            yield family, "mutants", mutant.seconds
    for entry in results.proofs:
        yield family_of(entry.protocol), "lemmas", entry.seconds
    for check in results.engine:
        yield check.family, check.machine.engine, check.seconds
    for run in results.runs:
        yield family_of(run.protocol), "flights", run.seconds
