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
    OperatorClass,
    Property,
    Quantity,
)
from model.evidence import PinnedScope
from model.family import Family
from model.properties import AS_IF, COMPLETE
from model.protocol import Behaviour, Protocol
from model.protocols.log_io.deployment import deploy
from model.protocols.log_io.design import Design
from model.protocols.log_io.display import show, size
from model.protocols.log_io.measures import DONE, gauges, memory
from model.protocols.log_io.nodes import boot, recover, step
from model.protocols.log_io.quantities import CONFIRMED, PENDING, QUANTITIES

CONVERGENT, DIVERGENT = Guarantee.CONVERGENT, Guarantee.DIVERGENT
GAP, REPEATING = Guarantee.GAP, Guarantee.REPEATING
CLASSES = (OperatorClass.REPEATABLE, OperatorClass.DETERMINISTIC, OperatorClass.ARBITRARY)
SEEN = (CRASHED, RESTORED, REPLAYED, RESENT)
CHECKED = (*SEEN, PENDING, CONFIRMED)


BEHAVIOUR = Behaviour(
    deploy,
    boot,
    step,
    recover,
    gauges=gauges,
    show=show,
    size=size,
    memory=memory,
    quantities=QUANTITIES,
)
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
    design: Design,
    scopes: tuple[PinnedScope, ...],
    finding: str,
    must_occur: tuple[Quantity, ...] = CHECKED,
    properties: tuple[Property, ...] = LOG_IO.properties,
    **more: Any,
) -> Protocol:
    """A variant.  more: of Family.design."""
    return LOG_IO.design(
        name, design, scopes, finding, must_occur=must_occur, properties=properties, **more
    )
