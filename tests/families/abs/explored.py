"""Explorations of asynchronous barrier snapshotting that several tests look at.

Rule of this file: no verdict; tests compare what is found with what is expected.
"""

from __future__ import annotations

from model.core import Property
from model.evidence import Case
from model.protocol import Protocol
from model.protocols.abs import scopes
from model.protocols.abs.design import AbsDesign
from model.protocols.abs.family import ABS
from proofs.explore.explorer import Exploration, explore

CASES = {case.name: case for case in vars(scopes).values() if isinstance(case, Case)}
_KNOWN: dict[tuple[AbsDesign, tuple[Property, ...], str], Exploration] = {}


def explored(protocol: Protocol, scope: str) -> Exploration:
    """The whole exploration; protocols of one design with the same properties share it."""
    key = (protocol.design, protocol.promise.properties, scope)
    if key not in _KNOWN:
        _KNOWN[key] = explore(protocol, CASES[scope].scope)
    return _KNOWN[key]


def reading(design: AbsDesign, scope: str) -> Exploration:
    """The exploration of a design that claims precise recovery."""
    return explored(ABS.design("reading", design), scope)
