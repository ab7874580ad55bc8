"""The properties of every recovery protocol: the output is as if nothing had failed.

Rule of this file: no look inside; a property sees only an Observation.
"""

from __future__ import annotations

from functools import lru_cache

from model.core import Arrival, Guarantee, Observation, Property, Scope, When
from model.events import Body
from model.oracle import by_edge, classify, oracle


@lru_cache(maxsize=1 << 16)
def expected_outputs(
    scope: Scope, arrivals: tuple[tuple[Arrival, ...], ...]
) -> tuple[tuple[tuple[Body, ...], ...], ...]:
    """The oracle's output for these arrivals, by sink and input edge."""
    names = [name for name, _ in scope.inputs]
    sinks = oracle(scope.graph, dict(zip(names, arrivals, strict=True)))
    return tuple(sinks.values())


def pairs(scope: Scope, seen: Observation) -> list[tuple[tuple[Body, ...], tuple[Body, ...]]]:
    """The pairs (expected, observed), one for every input edge of every sink."""
    per_sink = expected_outputs(scope, seen.arrivals)
    return [
        (want, got)
        for edges, outputs in zip(per_sink, seen.outputs, strict=True)
        for want, got in zip(edges, by_edge(outputs, len(edges)), strict=True)
    ]


def _no_surprise(scope: Scope, seen: Observation) -> bool:
    return all(got == want[: len(got)] for want, got in pairs(scope, seen))


def _complete(scope: Scope, seen: Observation) -> bool:
    return all(got == want for want, got in pairs(scope, seen))


AS_IF = Property("outputs are a prefix of the failure-free outputs", When.ALWAYS, _no_surprise)
COMPLETE = Property("at rest, all failure-free outputs have been seen", When.QUIESCENT, _complete)


def guarantee(scope: Scope, seen: Observation) -> Guarantee:
    """The strongest recovery type that a quiescent observation allows."""
    return max((classify(want, got) for want, got in pairs(scope, seen)), default=Guarantee.PRECISE)
