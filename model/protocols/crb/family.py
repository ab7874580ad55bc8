"""Checkpoint roll-backward: the parts that all designs share.

The paper names no guarantee; "to reach the pre-failure state" (I) is read as a claim of precise
recovery for deterministic operators.

Rule of this file: no design; protocol.py and variants.py have these.
"""

from __future__ import annotations

from model.core import CHECKPOINTED, CRASHED, REPLAYED, RESTORED, STALE
from model.family import Family
from model.outages import FROM_CHECKPOINT
from model.protocol import Behaviour
from model.protocols.crb import deployment, messages, nodes
from model.protocols.crb.design import KNOBS
from model.protocols.crb.messages import HELD_BACK, OVERTAKEN, SCRATCH, TORN
from model.queues import TRIMMED

SEEN = (CRASHED, RESTORED, CHECKPOINTED, REPLAYED, STALE, TORN, SCRATCH, HELD_BACK, TRIMMED)
BESIDE = (*SEEN, OVERTAKEN)
BEHAVIOUR = Behaviour(
    deployment.deploy,
    nodes.boot,
    nodes.step,
    nodes.recover,
    gauges=nodes.gauges,
    memory=nodes.memory,
    needed=nodes.needed,
    timers=nodes.TIMERS,
    background=frozenset({nodes.STORE}),
    show=messages.show,
    size=messages.size,
    states=messages.states,
    quantities=messages.QUANTITIES,
    knobs=KNOBS,
    outage=FROM_CHECKPOINT,
)

CRB = Family(
    "crb",
    "Checkpoint roll-backward",
    "Sebepou and Magoutis, CEC, 2011, Section II.A",
    BEHAVIOUR,
    must_occur=BESIDE,
)
