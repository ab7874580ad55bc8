"""The reach of a check: the shapes that its scopes met, and those new in the last event or crash.

Rule of this file: it adds up and compares the shapes of searches; it explores nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from model.core import Scope
from model.evidence import PinnedScope
from model.properties import compares_outputs
from model.protocol import Protocol
from model.results.reach import (
    AddedByLast,
    GrowingField,
    LastOne,
    LineageComparison,
    MetShapes,
    Reach,
)
from proofs.explore.reach.bounds import bounds_of
from proofs.explore.reach.seen import SeenShapes

LARGEST = 300_000
"""A scope with more worlds is not explored again with one event or one crash fewer."""


@dataclass(frozen=True, slots=True)
class MetInScope:
    """The result of the search of a scope.  hit: the crash points.  reduced: not in all worlds."""

    scope: Scope
    worlds: int
    shapes: SeenShapes
    hit: frozenset[str]
    reduced: bool = False


def without_last(scope: Scope, last: LastOne) -> Scope | None:
    """The scope with one event of each source, or one crash, fewer; None: that leaves none."""
    if last is LastOne.CRASH:
        return replace(scope, crashes=scope.crashes - 1) if scope.crashes else None
    if max((one.length for _, one in scope.inputs), default=0) < 2:
        return None
    fewer = ((name, one._replace(length=max(one.length - 1, 0))) for name, one in scope.inputs)
    return replace(scope, inputs=tuple(fewer))


def largest_of(met: Sequence[MetInScope]) -> int:
    """The place of the scope with the most worlds."""
    return max(range(len(met)), key=lambda at: met[at].worlds)


def reach_of(
    protocol: Protocol,
    pinned: Sequence[PinnedScope],
    met: Sequence[MetInScope],
    fewer: Iterable[tuple[LastOne, MetInScope]],
    by_chance: Sequence[Scope],
) -> Reach:
    """The reach of a check of these scopes, from the shapes that their searches met.

    fewer: the largest scope without its last event or crash.  by_chance: the scopes of
    random runs.
    """
    bounds = bounds_of(protocol, pinned)
    largest = largest_of(met)
    names = [one.name for one in pinned]
    most = [one for one in met if _events(one.scope) == bounds.events]
    growing = {found: None for one in most for found in _growing(one)}
    return Reach(
        scopes=len(pinned),
        largest=names[largest],
        bounds=bounds,
        chance_events=max(map(_events, by_chance), default=0),
        chance_crashes=max((one.crashes for one in by_chance), default=0),
        lineage=_lineage(protocol, met),
        met=_all_met(met),
        reduced=tuple(name for name, one in zip(names, met, strict=True) if one.reduced),
        added=tuple(_added(last, names[largest], met[largest], less) for last, less in fewer),
        growing=tuple(growing),
    )


def _events(scope: Scope) -> int:
    return max((one.length for _, one in scope.inputs), default=0)


def _growing(met: MetInScope) -> Iterable[GrowingField]:
    """The containers that grow to at least one item for each event of a source."""
    return (
        GrowingField(one.node, one.field, one.saved, one.most, _events(met.scope), one.always)
        for one in met.shapes.growing
        if one.most >= _events(met.scope)
    )


def _lineage(protocol: Protocol, met: Sequence[MetInScope]) -> LineageComparison:
    if not any(one.shapes.lineage for one in met):
        return LineageComparison.UNNAMED
    if all(map(compares_outputs, protocol.promise.properties)):
        return LineageComparison.UNCOMPARED
    return LineageComparison.LEFT


def _all_met(met: Sequence[MetInScope]) -> MetShapes:
    shapes = [one.shapes for one in met]
    crashed = frozenset().union(*(one.crashed for one in shapes))
    saved = frozenset().union(*(one.saved for one in shapes))
    lost = frozenset().union(*(one.lost for one in shapes))
    crashable = frozenset().union(*(one.crashable for one in shapes))
    return MetShapes(
        states=len(frozenset().union(*(one.states for one in shapes))),
        inputs=len(frozenset().union(*(one.met for one in shapes))),
        crashed=len(crashed),
        uncrashed=_words(crashable - crashed),
        saves=len(saved),
        unlost=_words(saved - lost),
        number=max(one.number for one in shapes),
        size=max(one.size for one in shapes),
    )


def _added(last: LastOne, name: str, all_: MetInScope, less: MetInScope) -> AddedByLast:
    now, before = all_.shapes, less.shapes
    return AddedByLast(
        last=last,
        scope=name,
        count=all_.scope.crashes if last is LastOne.CRASH else _events(all_.scope),
        states=_words(now.states - before.states),
        inputs=_words(now.met - before.met),
        points=tuple(sorted(all_.hit - less.hit)),
    )


def _words(shapes: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(sorted(": ".join(one) for one in shapes))
