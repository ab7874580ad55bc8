"""Protocols as `asif list` has them.

Rule of this file: what a protocol says of itself, and numbers of its evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.core import Failures, Guarantee, OperatorClass, Outcome, Protocol, Quantity


@dataclass(frozen=True, slots=True)
class ListedProtocol:
    """A protocol or a variant.  claims: a guarantee by class of operators.  assumes: the failures
    that are granted.  scopes, mutants, lemmas: their numbers."""

    protocol: str
    source: str
    claims: Mapping[OperatorClass, Guarantee]
    assumes: Failures
    expected: Outcome
    scopes: int
    mutants: int
    lemmas: int
    quantities: tuple[Quantity, ...]
    finding: str


def listed(protocol: Protocol) -> ListedProtocol:
    return ListedProtocol(
        protocol=protocol.name,
        source=protocol.source,
        claims=dict(protocol.claims),
        assumes=protocol.assumes.failures,
        expected=protocol.expected,
        scopes=len(protocol.scopes),
        mutants=len(protocol.mutants),
        lemmas=protocol.lemmas,
        quantities=tuple(protocol.quantities),
        finding=protocol.finding,
    )
