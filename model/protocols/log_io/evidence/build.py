"""How a design becomes a protocol of this family.

Rule of this file: what all variants share; no evidence.

The paper claims a recovery "identical to a failure-free execution" (Section 4.4) for operators of
every class, so the claim is precise recovery.
"""

from __future__ import annotations

from typing import Any

from model.core import (
    CRASHED,
    REPLAYED,
    RESENT,
    RESTORED,
    Guarantee,
    Property,
    Quantity,
)
from model.evidence import PinnedScope
from model.family import Family
from model.patches import Reading, patched
from model.properties import AS_IF, COMPLETE
from model.protocol import Protocol
from model.protocols.log_io import behaviour
from model.protocols.log_io.behaviour import BEHAVIOUR
from model.protocols.log_io.design import LogIoDesign
from model.protocols.log_io.measures import DONE
from model.protocols.log_io.quantities import PENDING, TAKEN_EFFECT

CONVERGENT, DIVERGENT = Guarantee.CONVERGENT, Guarantee.DIVERGENT
GAP, PRECISE, REPEATING = Guarantee.GAP, Guarantee.PRECISE, Guarantee.REPEATING
FAILED = (CRASHED, RESTORED, REPLAYED)
"""Where an operator alone crashes that only writes, no output is sent again."""
SEEN = (*FAILED, RESENT)
CHECKED = (*SEEN, PENDING, TAKEN_EFFECT)


LOG_IO = Family(
    "log-io",
    "LOG.io",
    "LOG.io: log-based rollback recovery with lineage, Sections 2 to 4",
    BEHAVIOUR,
    properties=(AS_IF, COMPLETE, DONE),
    must_occur=CHECKED,
)


def build(
    name: str,
    design: LogIoDesign,
    scopes: tuple[PinnedScope, ...],
    finding: str,
    must_occur: tuple[Quantity, ...] = CHECKED,
    properties: tuple[Property, ...] = LOG_IO.properties,
    readings: tuple[Reading, ...] = (),
    **more: Any,
) -> Protocol:
    """A variant.  readings: of the paper, each of which replaces lines of the mended algorithms.
    more: of Family.design."""
    return LOG_IO.design(
        name,
        design,
        scopes,
        finding,
        behaviour=patched(BEHAVIOUR, behaviour.__name__, readings) if readings else None,
        must_occur=must_occur,
        properties=properties,
        **more,
    )
