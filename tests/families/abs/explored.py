"""Explorations of asynchronous barrier snapshotting that several tests look at.

Rule of this file: no verdict; tests compare what is found with what is expected.
"""

from __future__ import annotations

from model.evidence import Case
from model.protocol import Protocol
from model.protocols.abs import scopes
from model.protocols.abs.design import AbsDesign
from model.protocols.abs.family import ABS
from proofs.explore.explorer import Exploration, explore

CASES = {case.name: case for case in vars(scopes).values() if isinstance(case, Case)}
_KNOWN: list[tuple[Protocol, str, Exploration]] = []


def explored(protocol: Protocol, scope: str) -> Exploration:
    """The whole exploration; protocols that behave and promise the same share it."""
    same = (protocol.design, protocol.behaviour, protocol.promise, scope)
    for known, where, exploration in _KNOWN:
        if (known.design, known.behaviour, known.promise, where) == same:
            return exploration
    exploration = explore(protocol, CASES[scope].scope)
    _KNOWN.append((protocol, scope, exploration))
    return exploration


def reading(design: AbsDesign, scope: str) -> Exploration:
    """The exploration of a design that claims precise recovery."""
    return explored(ABS.design("reading", design), scope)
