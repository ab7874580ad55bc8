"""The log's tables in the worlds of a scope.

Rule of this file: no test.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from model.core import Scope
from model.protocol import Protocol
from model.protocols.log_io.places import LOG
from model.protocols.log_io.protocol import PROTOCOL
from model.protocols.log_io.tables import LogDatabase
from model.system import System
from proofs.explore.edges import edges


def every_world(protocol: Protocol, scope: Scope) -> Iterator[LogDatabase]:
    """The tables of all worlds of a scope, also of those that are not at rest."""
    system = System(protocol, scope)
    for _, _, world in edges(protocol, scope):
        tables = world.nodes[system.node_at[LOG]].state
        assert isinstance(tables, LogDatabase)
        yield tables


def whole(variant: str, scope: Scope) -> LogDatabase:
    """The tables with the most rows, without crashes."""
    tables = every_world(PROTOCOL.named(variant), replace(scope, crashes=0))
    return max(tables, key=lambda one: (len(one.used), len(one.data)))
