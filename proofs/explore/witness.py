"""Witnesses: for a scope, a shortest run which shows that its guarantee is no stronger.

Rule of this file: the explorer finds the run; here it only gets the property to refute.
"""

from __future__ import annotations

from typing import Any

from model.core import Guarantee
from model.errors import Invalid, nearest
from model.evidence import Outcome, PinnedScope
from model.properties import at_least
from model.protocol import Protocol
from proofs.explore.explorer import explore
from proofs.explore.tasks import WORLD_LIMIT
from proofs.explore.trace_json import story


def choose(protocol: Protocol, name: str | None) -> tuple[PinnedScope, ...]:
    """The scopes that are to have a witness: the named one, or all that are not precise.

    Raises Invalid for an unknown scope, or a precise one.
    """
    weak = [one for one in protocol.evidence.scopes if one.guarantee is not Guarantee.PRECISE]
    if name is None:
        return tuple(weak)
    chosen = [one for one in protocol.evidence.scopes if one.name == name]
    if not chosen:
        names = [one.name for one in protocol.evidence.scopes]
        raise Invalid(f"{protocol.name} has no scope {name!r}{nearest(name, names)}")
    if chosen[0] not in weak:
        raise Invalid(f"{protocol.name}, {name}: it is precise, and no guarantee is stronger")
    return tuple(chosen)


def witness(protocol: Protocol, pinned: PinnedScope) -> dict[str, Any]:
    """A shortest run to a world at rest with the pinned guarantee of a scope, JSON-able.

    not: the next stronger guarantee.  story: None if no world at rest has so weak a guarantee.
    """
    stronger = Guarantee(pinned.guarantee - 1)
    asked = protocol.vary(properties=(at_least(stronger),), needed=None)
    limit = max(WORLD_LIMIT[Outcome.HOLDS], pinned.states or 0)
    found = explore(asked, pinned.scope, until=Guarantee.PRECISE, limit=limit)
    run = found.counterexample and found.counterexample.trace
    return {
        "protocol": protocol.name,
        "scope": pinned.name,
        "guarantee": pinned.guarantee.name,
        "not": stronger.name,
        "states": found.states,
        "steps": len(run.actions) if run else None,
        "story": story(run) if run else None,
    }
