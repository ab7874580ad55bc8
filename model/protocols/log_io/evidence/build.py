"""How a design becomes a protocol of this family.

Rule of this file: what all variants share; no evidence.

The paper claims a recovery "identical to a failure-free execution" (Section 4.4) for operators of
every class, so the claim is precise recovery.
"""

from __future__ import annotations

from functools import partial

from model.core import (
    CRASHED,
    REPLAYED,
    RESENT,
    RESTORED,
    Assumptions,
    Failures,
    Guarantee,
    OperatorClass,
    PinnedScope,
    Property,
    Protocol,
    Quantity,
)
from model.properties import AS_IF, COMPLETE
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


def build(
    name: str,
    design: Design,
    scopes: tuple[PinnedScope, ...],
    finding: str,
    must_occur: tuple[Quantity, ...] = CHECKED,
    properties: tuple[Property, ...] = (AS_IF, COMPLETE, DONE),
) -> Protocol:
    """A variant; the classes of its scopes are those of its claims."""
    operators = {pinned.operators for pinned in scopes}
    return Protocol(
        name=f"log-io:{name}" if name else "log-io",
        title="LOG.io",
        source="LOG.io: log-based rollback recovery with lineage, Sections 2 to 4",
        deploy=partial(deploy, design),
        boot=boot,
        recover=recover,
        step=step,
        gauges=gauges,
        show=show,
        size=size,
        memory=memory,
        assumes=Assumptions(Failures.ANY),
        claims={one: Guarantee.PRECISE for one in OperatorClass if one in operators},
        properties=properties,
        scopes=scopes,
        finding=finding,
        must_occur=must_occur,
        quantities=QUANTITIES,
    )
