"""The crash points that no crash has struck, each with the reason.

Rule of this file: no search.  A search meets every world, and counts a point as hit wherever a
crash is granted.  So a point that was missed exists in worlds alone that grant none, and the scope
says why they do not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from model.core import Scope
from model.protocol import Failures, Protocol
from model.results.verdict import MissedPoint
from proofs.explore.evidence import ScopeCrashPoint
from proofs.explore.explorer import Exploration

ENDED = "the search ended before"
NO_CRASH = "no scope with it grants a crash"
NOT_WHOLE = "only while a member of the group is down, or after the last crash of a scope"
BEFORE_REST = "only after the last crash of a scope, or before recovery has ended (single failures)"
LAST = "only after the last crash of a scope"


class ScopePoints(NamedTuple):
    """The crash points of a scope that grants so many crashes."""

    crashes: int
    hit: frozenset[str]
    missed: tuple[MissedPoint, ...]


def missed_points(protocol: Protocol, scope: Scope, found: Exploration) -> tuple[MissedPoint, ...]:
    """The points that a search of the scope has missed, in order."""
    points = sorted(found.points - found.hit, key=str)
    return tuple(MissedPoint(str(p), _why(protocol, scope, found, p)) for p in points)


def _why(protocol: Protocol, scope: Scope, found: Exploration, point: ScopeCrashPoint) -> str:
    if not found.complete:
        return ENDED
    if not scope.crashes:
        return NO_CRASH
    if point.group:
        return NOT_WHOLE
    single = protocol.promise.assumes.failures is Failures.SINGLE
    return BEFORE_REST if single and scope.crashes > 1 else LAST


def missed_in_all(scopes: Iterable[ScopePoints]) -> tuple[MissedPoint, ...]:
    """The points that no scope hits, in order, with the reason of the scope that grants most
    crashes."""
    why: dict[str, str] = {}
    hit: set[str] = set()
    for scope in sorted(scopes, key=lambda one: one.crashes):
        hit |= scope.hit
        why |= {one.point: one.why for one in scope.missed}
    return tuple(MissedPoint(point, why[point]) for point in sorted(why.keys() - hit))
