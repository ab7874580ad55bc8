"""A design of asynchronous barrier snapshotting as a protocol.

Rule of this file: no design; protocol.py, variants.py and coordinator_variants.py have these.
"""

from __future__ import annotations

from functools import partial

from model.core import (
    CHECKPOINTED,
    CRASHED,
    REPLAYED,
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
from model.protocols.abs.deployment import TIMERS, deploy
from model.protocols.abs.design import KNOBS, Design
from model.protocols.abs.messages import EPOCHS, QUANTITIES, show, size
from model.protocols.abs.nodes import boot, gauges, memory, needed, recover, step

SEEN = (CRASHED, CHECKPOINTED, RESTORED, REPLAYED, EPOCHS)
PRECISE = (AS_IF, COMPLETE)


def build(
    name: str,
    design: Design,
    scopes: tuple[PinnedScope, ...],
    finding: str,
    claims: dict[OperatorClass, Guarantee] | None = None,
    properties: tuple[Property, ...] = PRECISE,
    must_occur: tuple[Quantity, ...] = SEEN,
) -> Protocol:
    """The protocol of a design; without claims it claims precise recovery."""
    return Protocol(
        name=f"abs:{name}" if name else "abs",
        title="Asynchronous barrier snapshotting",
        source="LOG.io, Sections 1, 8.1.1 and 9.1",
        deploy=partial(deploy, design),
        boot=boot,
        recover=recover,
        step=step,
        gauges=gauges,
        memory=memory,
        show=show,
        assumes=Assumptions(Failures.ANY),
        claims=claims or dict.fromkeys(sorted({p.operators for p in scopes}), Guarantee.PRECISE),
        properties=properties,
        needed=needed,
        scopes=scopes,
        must_occur=must_occur,
        finding=finding,
        size=size,
        quantities=QUANTITIES,
        knobs=KNOBS,
        timers=TIMERS,
    )
