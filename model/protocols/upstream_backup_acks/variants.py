"""Designs of upstream backup by acknowledgements, each with its claim and the verdict expected.

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
from model.protocols.upstream_backup_acks.design import (
    ARBITRARY_TOO,
    PRECISE,
    PUBLISHED,
    Design,
    Idle,
    Labels,
    Maps,
    Names,
    Oldest,
    Repeats,
)
from model.protocols.upstream_backup_acks.messages import QUANTITIES, show, size
from model.protocols.upstream_backup_acks.mutants import LOGGED, NAMED
from model.protocols.upstream_backup_acks.nodes import (
    TIMERS,
    boot,
    deploy,
    gauges,
    memory,
    needed,
    recover,
    step,
)
from model.protocols.upstream_backup_acks.pins import PINS
from model.standbys.choices import Deposes, Determinants, Late, Newest, Returns
from model.standbys.messages import REJOINED, TOOK_OVER

SINGLE, ANY = Assumptions(Failures.SINGLE), Assumptions(Failures.ANY)
SUSPICIONS = Assumptions(Failures.SINGLE, suspicions=True)
TABLE_2: Mapping[OperatorClass, Guarantee] = {
    REPEATABLE: Guarantee.REPEATING,
    CONVERGENT_CAPABLE: Guarantee.CONVERGENT,
    DETERMINISTIC: Guarantee.DIVERGENT,
    ARBITRARY: Guarantee.DIVERGENT,
}
ROLLBACK: tuple[Property, ...] = (NOTHING_LOST,)
EXACT: tuple[Property, ...] = (AS_IF, COMPLETE)
SEEN = (CRASHED, TOOK_OVER, REPLAYED)
ALL = (*SEEN, RESTORED, REJOINED, DISCARDED, STALE)


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
        name=f"upstream-backup-acks:{name}" if name else "upstream-backup-acks",
        title="Upstream backup by acknowledgements",
        source="Hwang et al., ICDE 2005, Sections 5.2 and 6",
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
VARIANTS = (
    _rollback(
        "rollback",
        replace(MENDED, returns=Returns.NEVER),
        "Without marks on the outputs: repeatable networks repeat, convergent-capable ones "
        "converge.",
    ),
    _rollback(
        "rollback-again",
        MENDED,
        "The same after an earlier failure that is over.",
    ),
    _rollback(
        "rollback-any",
        MENDED,
        "If both replicas fail, both return as secondaries, and nobody leads.",
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
        "After one failure as in Table 2.",
    ),
    build(
        "published-aligned",
        replace(PUBLISHED, returns=Returns.NEVER),
        "Better than Table 2: the cause of an output is the first tuple of a window, so windows by "
        "count stay aligned.",
        claims={DETERMINISTIC: Guarantee.REPEATING},
    ),
    _rollback(
        "published-again",
        PUBLISHED,
        '"Able to tolerate a new failure without further delay": the node has outputs again from '
        "the last one received on, and the next node may need earlier ones.",
    ),
    _rollback(
        "published-any",
        PUBLISHED,
        "If both replicas fail, both return as secondaries, and nobody leads.",
        ANY,
    ),
    _rollback(
        "published-suspicion",
        PUBLISHED,
        "Two primaries acknowledge to one queue: what one of them needs no more, the other may.",
        SUSPICIONS,
    ),
    build(
        "published-repeatable",
        replace(PUBLISHED, repeats=Repeats.LOW),
        '"Indicators therefore uniquely identify tuples": not where one tuple has two outputs.',
    ),
    build(
        "published-convergent",
        replace(PUBLISHED, repeats=Repeats.HIGH),
        "Windows that one tuple closes have one high watermark: the second one is discarded.",
    ),
    build(
        "high-lower",
        replace(PRECISE, repeats=Repeats.HIGH_LOWER),
        "If only lower high watermarks mark duplicates, the last tuple received comes again.",
    ),
    build(
        "high",
        replace(PRECISE, repeats=Repeats.HIGH),
        "Windows that one tuple closes have one high watermark: the second one is discarded.",
    ),
    build(
        "low",
        replace(PRECISE, repeats=Repeats.LOW),
        "One tuple with two outputs: both have its low watermark.",
    ),
    build(
        "newest-made-of",
        replace(PRECISE, newest=Newest.MADE_OF, names=Names.PLACE),
        "An old window that closes late has an older watermark than the output before it: without "
        "any failure it is taken for a duplicate.",
    ),
    build(
        "made-of",
        replace(PRECISE, oldest=Oldest.MADE_OF, returns=Returns.NEVER),
        "The oldest tuple that an output was made of can be younger than one in an open window: "
        "upstream lets go of that one.",
    ),
    build(
        "maps-received",
        replace(PRECISE, maps=Maps.RECEIVED, idle=Idle.STATE, returns=Returns.NEVER),
        "A node that restarts at the cause of what downstream has received does not make again "
        "what downstream has in its windows: the next failure there loses it.",
    ),
    build(
        "labels-place",
        replace(PRECISE, labels=Labels.PLACE, idle=Idle.STATE, returns=Returns.NEVER),
        "A restarted node counts anew: an acknowledgement of its predecessor's tuple releases the "
        "one that has the number now.  A window is lost after the next failure, in runs that are "
        "longer than those of these scopes.",
    ),
    build(
        "names-place",
        replace(PRECISE, names=Names.PLACE, idle=Idle.STATE, returns=Returns.NEVER),
        "A restarted node numbers its outputs from the beginning: to the node after the next one, "
        "new outputs look like old ones.",
    ),
    build(
        "idle-state",
        replace(PRECISE, idle=Idle.STATE),
        "A node that releases all but its state lets queues become empty.  Windows by count with "
        "gaps lose their alignment: their state holds no tuple and is not empty.",
    ),
    replace(
        build(
            "idle-state-permanent",
            replace(PRECISE, idle=Idle.STATE, returns=Returns.NEVER),
            "The same with nodes that never return.",
        ),
        mutants=NAMED,
    ),
    build(
        "idle-state-gaps",
        replace(PRECISE, idle=Idle.STATE),
        "Windows by count with gaps between them: the count of tuples to skip is a state without "
        "a tuple, and is lost.",
    ),
    build(
        "late-taken",
        replace(PRECISE, late=Late.TAKEN),
        "Marks tell late tuples of the dead primary from new ones.",
    ),
    build(
        "any",
        PRECISE,
        "If both replicas fail, both return as secondaries, and nobody leads.",
        assumes=ANY,
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
        "Two primaries acknowledge to one queue.",
        assumes=SUSPICIONS,
        must_occur=(*SEEN, SUSPECTED),
    ),
    build(
        "permanent",
        replace(PRECISE, returns=Returns.NEVER),
        "A primary that never returns does no harm to the outputs.",
    ),
    replace(
        build(
            "arbitrary",
            replace(ARBITRARY_TOO, returns=Returns.NEVER),
            "A restart that follows the logged order, from where the log begins, is precise for "
            "arbitrary networks.",
        ),
        mutants=LOGGED,
    ),
    build(
        "determinants-none",
        replace(ARBITRARY_TOO, determinants=Determinants.NONE, returns=Returns.NEVER),
        "Without determinants the order of a union is another one after a restart.",
    ),
    build(
        "determinants-sent",
        replace(ARBITRARY_TOO, determinants=Determinants.SENT, returns=Returns.NEVER),
        "Determinants that have been sent can be lost with the primary, and their outputs have "
        "left.",
    ),
)
