"""Explorations of asynchronous barrier snapshotting that several tests look at.

Rule of this file: no verdict; tests compare what is found with what is expected.
"""

from __future__ import annotations

from functools import partial

from model.core import Property
from model.protocol import Protocol
from model.protocols.abs.design import Design
from model.protocols.abs.family import build
from model.protocols.abs.scopes import SCOPES
from proofs.explore.explorer import Exploration, explore

_KNOWN: dict[tuple[Design, tuple[Property, ...], str], Exploration] = {}


def explored(protocol: Protocol, scope: str) -> Exploration:
    """The whole exploration; protocols of one design with the same properties share it."""
    assert isinstance(protocol.deploy, partial)
    key = (protocol.deploy.args[0], protocol.properties, scope)
    if key not in _KNOWN:
        _KNOWN[key] = explore(protocol, SCOPES[scope].scope)
    return _KNOWN[key]


def reading(design: Design, scope: str) -> Exploration:
    """The exploration of a design that claims precise recovery."""
    return explored(build("reading", design, (), ""), scope)
