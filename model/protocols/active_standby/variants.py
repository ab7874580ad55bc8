"""Designs of active standby, each with its claim and the verdict expected of it.

Rule of this file: no design without its claim; pins.py has what was found.

Claims are the paper's: Table 2 for rollback recovery, Section 6 for precise recovery.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from model.core import (
    CRASHED,
    DISCARDED,
    REPLAYED,
    RESTORED,
    STALE,
    SUSPECTED,
    Assumptions,
    Failures,
    Guarantee,
    OperatorClass,
    Property,
    Protocol,
    Quantity,
)
from model.pair_scopes import ARBITRARY, CONVERGENT_CAPABLE, DETERMINISTIC, REPEATABLE, pin
from model.properties import AS_IF, COMPLETE, NOTHING_LOST
from model.protocols.active_standby import design as designs
from model.protocols.active_standby.design import (
    PRECISE,
    PUBLISHED,
    Design,
    Joins,
    Renewal,
    Serves,
    Trims,
)
from model.protocols.active_standby.messages import QUANTITIES, show, size
from model.protocols.active_standby.mutants import DETERMINANTS
from model.protocols.active_standby.nodes import (
    TIMERS,
    boot,
    deploy,
    gauges,
    memory,
    needed,
    recover,
    step,
)
from model.protocols.active_standby.pins import PINS
from model.standbys.choices import Again, Deposes, Determinants, Late, Returns
from model.standbys.messages import REJOINED, TOOK_OVER

SINGLE, ANY = Assumptions(Failures.SINGLE), Assumptions(Failures.ANY)
SUSPICIONS = Assumptions(Failures.SINGLE, suspicions=True)
TABLE_2: Mapping[OperatorClass, Guarantee] = {
    REPEATABLE: Guarantee.REPEATING,
    CONVERGENT_CAPABLE: Guarantee.REPEATING,
    DETERMINISTIC: Guarantee.REPEATING,
    ARBITRARY: Guarantee.DIVERGENT,
}
ROLLBACK: tuple[Property, ...] = (NOTHING_LOST,)
EXACT: tuple[Property, ...] = (AS_IF, COMPLETE)
SEEN = (CRASHED, TOOK_OVER)
ALL = (*SEEN, RESTORED, REJOINED, REPLAYED, DISCARDED, STALE)


def build(
    name: str,
    design: Design,
    finding: str,
    *,
    claims: Mapping[OperatorClass, Guarantee] | None = None,
    assumes: Assumptions = SINGLE,
    must_occur: tuple[Quantity, ...] = SEEN,
) -> Protocol:
    """The protocol of a design.  claims: None: precise recovery."""
    scopes = pin(PINS[name])
    found = sorted({pinned.operators for pinned in scopes})
    return Protocol(
        name=f"active-standby:{name}" if name else "active-standby",
        title="Active standby",
        source="Hwang et al., ICDE 2005, Sections 5.3 and 6",
        deploy=partial(deploy, design),
        boot=boot,
        recover=recover,
        step=step,
        gauges=gauges,
        memory=memory,
        show=show,
        assumes=assumes,
        claims={c: Guarantee.PRECISE if claims is None else claims[c] for c in found},
        properties=EXACT if claims is None else ROLLBACK,
        needed=needed if any(not pinned.scope.crashes for pinned in scopes) else None,
        scopes=scopes,
        must_occur=must_occur,
        finding=finding,
        size=size,
        quantities=QUANTITIES,
        timers=TIMERS,
    )


def _rollback(name: str, design: Design, finding: str, assumes: Assumptions = SINGLE) -> Protocol:
    return build(name, design, finding, claims=TABLE_2, assumes=assumes)


MENDED = Design()
ARBITRARY_TOO = designs.ARBITRARY
VARIANTS = (
    replace(
        build(
            "arbitrary",
            replace(ARBITRARY_TOO, returns=Returns.NEVER),
            "If outputs wait until the secondary has their determinants, recovery is precise for "
            "arbitrary networks.",
        ),
        mutants=DETERMINANTS,
    ),
    _rollback(
        "rollback",
        replace(MENDED, returns=Returns.NEVER),
        "Without questions to downstream, every class recovers as in Table 2.",
    ),
    _rollback("rollback-again", MENDED, "The same after an earlier failure that is over."),
    _rollback(
        "rollback-any",
        MENDED,
        "A second failure before the new secondary has its copy loses the state.",
        ANY,
    ),
    _rollback(
        "rollback-suspicion",
        MENDED,
        "A primary that is taken for dead is deposed: nothing is lost.",
        SUSPICIONS,
    ),
    _rollback(
        "published",
        replace(PUBLISHED, returns=Returns.NEVER),
        "As in Table 2 after one failure.",
    ),
    _rollback(
        "published-again",
        PUBLISHED,
        '"Starts with an empty state": a new secondary of a network that is not repeatable does '
        "not have the state when the next failure comes, and after it results are lost.",
    ),
    _rollback(
        "published-any",
        PUBLISHED,
        "A second failure while the first is being repaired loses the state.",
        ANY,
    ),
    _rollback(
        "published-suspicion",
        PUBLISHED,
        "Two primaries send the same outputs: duplicates, and no more.",
        SUSPICIONS,
    ),
    build(
        "published-precise",
        replace(PUBLISHED, again=Again.FROM),
        'To discard the tuples "preceding" the last one received is to send that one again.',
    ),
    build(
        "renewal-new",
        replace(PRECISE, renewal=Renewal.NEW),
        "A new secondary with an empty state is not up to date at the next failure.",
    ),
    build(
        "renewal-kept",
        replace(PRECISE, renewal=Renewal.KEPT),
        "What upstream keeps is not what the state is made of: it lets go of a tuple when both "
        "replicas have it.",
    ),
    build(
        "joins-at-once",
        replace(PRECISE, joins=Joins.AT_ONCE),
        "A copy that is older than the request for tuples: upstream has let go of those between.",
    ),
    build(
        "late-taken",
        replace(PRECISE, late=Late.TAKEN),
        "The last tuples of the dead primary can come after the first ones of the new one.",
    ),
    build(
        "none-greater",
        replace(PRECISE, trims=Trims.NONE_GREATER, serves=Serves.HIGH),
        "Windows that one tuple closes share a high watermark with those that downstream has not.",
    ),
    build(
        "any-lower",
        replace(MENDED, trims=Trims.ANY_LOWER, serves=Serves.HIGH, returns=Returns.NEVER),
        "With two inputs an output can be lower for one and greater for the other.",
        claims=TABLE_2,
    ),
    build(
        "serves-high",
        replace(MENDED, serves=Serves.HIGH, returns=Returns.NEVER),
        "A secondary that takes its inputs in another order discards an output whose inputs are in "
        "no output that downstream has.",
        claims=TABLE_2,
    ),
    build(
        "determinants-sent",
        replace(ARBITRARY_TOO, determinants=Determinants.SENT, returns=Returns.NEVER),
        "Determinants that have been sent can be lost with the primary, and their outputs have "
        "left.",
    ),
    build(
        "determinants-none",
        replace(ARBITRARY_TOO, determinants=Determinants.NONE, returns=Returns.NEVER),
        "Without determinants the secondary has another order, and numbers do not identify its "
        "outputs.",
    ),
    build(
        "suspicion",
        PRECISE,
        "With the deposition of the old primary, a false suspicion does no harm.",
        assumes=SUSPICIONS,
        must_occur=(*SEEN, SUSPECTED),
    ),
    build(
        "deposes-nobody",
        replace(PRECISE, deposes=Deposes.NO),
        "Two primaries: the old one is no secondary, so nobody takes over at the next failure.",
        assumes=SUSPICIONS,
        must_occur=(*SEEN, SUSPECTED),
    ),
    build("any", PRECISE, "Two failures at once lose both states.", assumes=ANY),
)
