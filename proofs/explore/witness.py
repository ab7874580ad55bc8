"""Witnesses: the weakest guarantee of a scope, and a shortest run which shows that it is no
stronger.

Rule of this file: no pin is believed; the explorer finds the guarantee and the run, and the file
only gives it the property to refute.
"""

from __future__ import annotations

from model.core import Guarantee
from model.errors import Invalid, nearest
from model.evidence import Outcome, PinnedScope
from model.properties import at_least
from model.protocol import Protocol
from model.results.verdict import WitnessResult
from proofs.explore.culprit.find import find_culprit
from proofs.explore.explorer import Exploration, explore
from proofs.explore.story import story
from proofs.explore.tasks import WORLD_LIMIT


def choose(protocol: Protocol, name: str | None) -> tuple[PinnedScope, ...]:
    """The scopes that are to have a witness: the named one, or all that have a stream.

    Raises Invalid for an unknown scope, or one without a stream.
    """
    scopes = protocol.evidence.scopes
    streams = tuple(one for one in scopes if one.guarantee is not None)
    if not streams:
        raise Invalid(f"{protocol.name}: no scope has a stream, so none has a guarantee")
    if name is None:
        return streams
    chosen = tuple(one for one in scopes if one.name == name)
    if not chosen:
        names = [one.name for one in scopes]
        raise Invalid(f"{protocol.name} has no scope {name!r}{nearest(name, names)}")
    if chosen[0] not in streams:
        raise Invalid(f"{protocol.name}, {name}: without a stream there is no guarantee")
    return chosen


def witness(protocol: Protocol, pinned: PinnedScope, limit: int | None = None) -> WitnessResult:
    """The weakest guarantee of a scope, and a shortest run to a world at rest that has it.

    limit: the most worlds to explore; None: as many as a check explores.
    """
    assert pinned.guarantee is not None
    if limit is None:
        limit = max(WORLD_LIMIT[Outcome.HOLDS], pinned.states or 0, pinned.reduced or 0)
    seen = _refute(protocol, pinned, Guarantee.PRECISE, limit)
    shown = None
    if seen.guarantee is not Guarantee.PRECISE:
        weaker = Guarantee(seen.guarantee - 1)
        shown = _refute(protocol, pinned, weaker, limit, until=Guarantee.PRECISE).counterexample
    drawn = story(shown.trace) if shown else None
    return WitnessResult(
        protocol=protocol.name,
        scope=pinned.name,
        guarantee=seen.guarantee,
        expect_guarantee=pinned.guarantee,
        not_=Guarantee(seen.guarantee - 1) if shown else None,
        states=seen.states,
        complete=seen.complete,
        crashed=bool(seen.hit),
        ended=_ended(seen),
        steps=len(shown.trace.actions) if shown else None,
        story=drawn,
        culprit=find_culprit(shown, drawn) if shown and drawn else None,
    )


def _refute(
    protocol: Protocol,
    pinned: PinnedScope,
    weakest: Guarantee,
    limit: int,
    until: Guarantee | None = None,
) -> Exploration:
    """The search for a world at rest whose guarantee is weaker than this one."""
    asked = protocol.vary(properties=(at_least(weakest),), needed=None)
    return explore(asked, pinned.scope, until=until, limit=limit)


def _ended(seen: Exploration) -> str | None:
    """A budget; a step that fails, the last one of its run; or the law that a run without end
    breaks."""
    shown = seen.counterexample
    if shown is not None and (shown.circle or len(shown.trace.actions) >= len(shown.trace.worlds)):
        return shown.property.name
    return seen.spent or None
