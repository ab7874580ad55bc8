"""Protocols as `asif list` has them.

Rule of this file: what a protocol says of itself, and numbers of its evidence.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from model.core import Guarantee, OperatorClass, Quantity
from model.evidence import Outcome
from model.protocol import Failures, Protocol


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
        source=protocol.words.source,
        claims=dict(protocol.promise.claims),
        assumes=protocol.promise.assumes.failures,
        expected=protocol.evidence.expected,
        scopes=len(protocol.evidence.scopes),
        mutants=len(protocol.evidence.mutants),
        lemmas=protocol.evidence.lemmas,
        quantities=tuple(protocol.behaviour.quantities),
        finding=protocol.words.finding,
    )
