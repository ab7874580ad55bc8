"""Designs of passive standby, each with its claim and the verdict expected of it.

Rule of this file: no design without its claim; pins.py has what was found.

Claims are the paper's: Table 2 for rollback recovery, Section 6 for precise recovery.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from model.core import (
    CHECKPOINTED,
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
from model.properties import AS_IF, COMPLETE, NOTHING_LOST, at_least
from model.protocols.passive_standby import design as designs
from model.protocols.passive_standby.design import (
    PRECISE,
    PUBLISHED,
    Alone,
    Design,
    Forwards,
    Line,
    Releases,
    Renewal,
)
from model.protocols.passive_standby.messages import QUANTITIES, show, size
from model.protocols.passive_standby.mutants import STORED
from model.protocols.passive_standby.nodes import (
    TIMERS,
    boot,
    deploy,
    gauges,
    memory,
    needed,
    recover,
    step,
)
from model.protocols.passive_standby.pins import PINS
from model.standbys.choices import Again, Deposes, Late, Returns
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
SEEN = (CRASHED, TOOK_OVER, CHECKPOINTED)
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
        name=f"passive-standby:{name}" if name else "passive-standby",
        title="Passive standby",
        source="Hwang et al., ICDE 2005, Sections 5.1 and 6",
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
            ARBITRARY_TOO,
            "If only outputs leave that the secondary has, recovery is precise for arbitrary "
            "networks.",
        ),
        mutants=STORED,
    ),
    _rollback(
        "rollback",
        replace(MENDED, returns=Returns.NEVER),
        "Without questions to downstream, every class recovers as in Table 2.",
    ),
    replace(
        _rollback(
            "rollback-behind",
            replace(MENDED, returns=Returns.NEVER),
            "A recovery type is that of the stream that the next node gets: windows by count there "
            "pair a tuple with its copy.",
        ),
        properties=(at_least(Guarantee.REPEATING),),
    ),
    _rollback("rollback-again", MENDED, "The same after an earlier failure that is over."),
    _rollback(
        "rollback-any",
        MENDED,
        "A second failure before the new secondary has its checkpoint loses the state.",
        assumes=ANY,
    ),
    _rollback(
        "rollback-suspicion",
        MENDED,
        "A primary that is taken for dead is deposed: nothing is lost.",
        assumes=SUSPICIONS,
    ),
    _rollback(
        "published",
        replace(PUBLISHED, returns=Returns.NEVER),
        "As in Table 2, for nodes with one operator.",
    ),
    replace(
        build(
            "published-sweep",
            PUBLISHED,
            "With two operators in a node, a tuple that passes the sweep line is counted twice.",
            claims=TABLE_2,
        ),
        properties=(at_least(Guarantee.REPEATING),),
    ),
    _rollback("published-again", PUBLISHED, "The same after an earlier failure that is over."),
    _rollback(
        "published-any",
        PUBLISHED,
        "A second failure before the new secondary has its checkpoint loses the state.",
        assumes=ANY,
    ),
    _rollback(
        "published-suspicion",
        PUBLISHED,
        "Two primaries go on, and upstream feeds one of them: the other one adds duplicates.",
        assumes=SUSPICIONS,
    ),
    build(
        "published-precise",
        replace(PUBLISHED, again=Again.FROM),
        'To discard the tuples "preceding" the last one received is to send that one again.',
    ),
    build(
        "line-free",
        replace(PRECISE, line=Line.FREE),
        "A tuple that passes the sweep line is in the state of the operator behind it, and "
        "upstream sends it again: the checkpoint is no consistent cut.",
    ),
    build(
        "late-taken",
        replace(PRECISE, late=Late.TAKEN),
        "The last tuples of the dead primary can come after the first ones of the new one: the "
        "question for the last tuple received was answered too early.",
    ),
    build(
        "releases-processed",
        replace(PRECISE, releases=Releases.PROCESSED),
        "If upstream lets go of what the primary has, a checkpoint without it is too old.",
    ),
    build(
        "renewal-delta",
        replace(PRECISE, renewal=Renewal.DELTA),
        "A new secondary that gets only what has changed does not have the rest.",
    ),
    build(
        "renewal-later",
        replace(PRECISE, renewal=Renewal.NOTHING),
        "Until the next input comes, a new secondary has nothing: the second failure may be first.",
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
        "A primary that does not know of its end stays one: after the next failure nobody has the "
        "state.",
        assumes=SUSPICIONS,
        must_occur=(*SEEN, SUSPECTED),
    ),
    build(
        "any",
        PRECISE,
        "Two failures at once lose both states.",
        assumes=ANY,
    ),
    build(
        "forwards-sent",
        replace(ARBITRARY_TOO, forwards=Forwards.SENT),
        "A checkpoint that has been sent can be lost with its primary, and the outputs in it have "
        "left: the secondary may choose another order.",
    ),
    build(
        "forwards-all",
        replace(ARBITRARY_TOO, forwards=Forwards.ALL),
        "Numbers do not identify the tuples of an arbitrary network: another output has the "
        "number.",
    ),
    build(
        "alone-silent",
        replace(ARBITRARY_TOO, alone=Alone.NOTHING, returns=Returns.NEVER),
        '"Only checkpointed tuples" leaves nothing to forward once the secondary is lost for ever.',
    ),
)
