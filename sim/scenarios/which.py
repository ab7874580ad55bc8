"""The protocols that can run a scenario, and why others cannot.

Rule of this file: no run; a protocol is asked to deploy the operators, and then for the keys.
"""

from __future__ import annotations

from collections.abc import Iterator

from model.errors import Invalid, reasons
from model.protocol import Protocol
from model.registry import modules
from model.results.which import ProtocolFit
from sim.inputs.streams import deployed
from sim.scenarios.scenario import Draft, FilledDraft, fill


def which(draft: Draft) -> tuple[ProtocolFit, ...]:
    """An answer of each family, and of the scenario's own protocol if it is none of these.

    Raises Invalid for a scenario that none could run, since a table is wrong.
    """
    filled = fill(draft)
    return tuple(_fit(filled, protocol) for protocol in _asked(filled))


def _asked(filled: FilledDraft) -> Iterator[Protocol]:
    families = [*modules().values()]
    own = filled.protocol()
    if own.name not in [one.name for one in families]:
        yield own
    yield from families


def _fit(filled: FilledDraft, protocol: Protocol) -> ProtocolFit:
    try:
        deployed(protocol, filled.workloads)
    except Invalid as error:
        return ProtocolFit(protocol.name, False, reasons(error))
    try:
        filled.check(protocol.name)
    except Invalid as error:
        return ProtocolFit(protocol.name, True, keys=str(error))
    return ProtocolFit(protocol.name, True)
