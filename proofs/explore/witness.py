"""Witnesses: for a scope, a shortest run which shows that its guarantee is no stronger.

Rule of this file: the explorer finds the run; here it only gets the property to refute.
"""

from __future__ import annotations

from model.core import Guarantee
from model.errors import Invalid, nearest
from model.evidence import Outcome, PinnedScope
from model.properties import at_least
from model.protocol import Protocol
from model.results.verdict import WitnessResult
from proofs.explore.culprit.find import find_culprit
from proofs.explore.explorer import explore
from proofs.explore.story import story
from proofs.explore.tasks import WORLD_LIMIT


def choose(protocol: Protocol, name: str | None) -> tuple[PinnedScope, ...]:
    """The scopes that are to have a witness: the named one, or all that are not precise.

    Raises Invalid for an unknown scope, a precise one, or one without a stream.
    """
    strong = {None, Guarantee.PRECISE}
    weak = [one for one in protocol.evidence.scopes if one.guarantee not in strong]
    if all(one.guarantee is None for one in protocol.evidence.scopes):
        raise Invalid(f"{protocol.name}: no scope has a stream, so none has a guarantee")
    if name is None:
        return tuple(weak)
    chosen = [one for one in protocol.evidence.scopes if one.name == name]
    if not chosen:
        names = [one.name for one in protocol.evidence.scopes]
        raise Invalid(f"{protocol.name} has no scope {name!r}{nearest(name, names)}")
    if chosen[0].guarantee is None:
        raise Invalid(f"{protocol.name}, {name}: without a stream there is no guarantee")
    if chosen[0] not in weak:
        raise Invalid(f"{protocol.name}, {name}: it is precise, and no guarantee is stronger")
    return tuple(chosen)


def witness(protocol: Protocol, pinned: PinnedScope) -> WitnessResult:
    """A shortest run to a world at rest with the pinned guarantee of a scope, if there is one."""
    assert pinned.guarantee is not None
    stronger = Guarantee(pinned.guarantee - 1)
    asked = protocol.vary(properties=(at_least(stronger),), needed=None)
    limit = max(WORLD_LIMIT[Outcome.HOLDS], pinned.states or 0)
    found = explore(asked, pinned.scope, until=Guarantee.PRECISE, limit=limit)
    run = found.counterexample and found.counterexample.trace
    drawn = story(run) if run else None
    culprit = find_culprit(found.counterexample, drawn) if found.counterexample and drawn else None
    return WitnessResult(
        protocol=protocol.name,
        scope=pinned.name,
        guarantee=pinned.guarantee,
        not_=stronger,
        states=found.states,
        steps=len(run.actions) if run else None,
        story=drawn,
        culprit=culprit,
    )
