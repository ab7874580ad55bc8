"""How a design becomes a protocol of this family.

Rule of this file: what all variants share; no evidence.

The paper claims a recovery "identical to a failure-free execution" (Section 4.4) for operators of
every class, so the claim is precise recovery.
"""

from __future__ import annotations

from functools import partial
from typing import Any

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
from model.patches import Patched, Reading
from model.properties import AS_IF, COMPLETE
from model.protocols.log_io import behaviour
from model.protocols.log_io.design import Design
from model.protocols.log_io.measures import DONE
from model.protocols.log_io.quantities import CONFIRMED, PENDING, QUANTITIES

CONVERGENT, DIVERGENT = Guarantee.CONVERGENT, Guarantee.DIVERGENT
GAP, REPEATING = Guarantee.GAP, Guarantee.REPEATING
BEHAVIOUR = behaviour.__name__
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
    readings: tuple[Reading, ...] = (),
) -> Protocol:
    """A variant; the classes of its scopes are those of its claims.

    readings: of the paper, each of which replaces lines of the mended algorithms.
    """
    def function(name: str) -> Any:
        return Patched(BEHAVIOUR, readings, name) if readings else getattr(behaviour, name)

    operators = {pinned.operators for pinned in scopes}
    return Protocol(
        name=f"log-io:{name}" if name else "log-io",
        title="LOG.io",
        source="LOG.io: log-based rollback recovery with lineage, Sections 2 to 4",
        deploy=partial(function("deploy"), design),
        boot=function("boot"),
        recover=function("recover"),
        step=function("step"),
        gauges=function("gauges"),
        show=function("show"),
        size=function("size"),
        memory=function("memory"),
        assumes=Assumptions(Failures.ANY),
        claims={one: Guarantee.PRECISE for one in OperatorClass if one in operators},
        properties=properties,
        scopes=scopes,
        finding=finding,
        must_occur=must_occur,
        quantities=QUANTITIES,
    )
