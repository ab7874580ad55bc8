"""Uncoordinated checkpoints: the parts that all designs share.

Rule of this file: no design; protocol.py and variants.py have these.
"""

from __future__ import annotations

from model.core import CHECKPOINTED, CRASHED, DISCARDED, REPLAYED, RESTORED
from model.family import Family
from model.outages import FROM_CHECKPOINT
from model.properties import AS_IF, COMPLETE
from model.protocol import Behaviour, EndNeeds, SinkNeed, SourceNeed
from model.protocols.uncoordinated import deployment, messages, nodes
from model.protocols.uncoordinated.design import KNOBS
from model.protocols.uncoordinated.messages import ADVANCED, UNDONE
from model.protocols.uncoordinated.properties import CONSISTENT, NO_DOMINO

RESTARTED = (CRASHED, CHECKPOINTED, RESTORED, REPLAYED)
SEEN = (*RESTARTED, DISCARDED, UNDONE, ADVANCED)
BEHAVIOUR = Behaviour(
    deployment.deploy,
    nodes.boot,
    nodes.step,
    nodes.recover,
    gauges=nodes.gauges,
    memory=nodes.memory,
    needed=nodes.needed,
    timers=deployment.TIMERS,
    show=messages.show,
    size=messages.size,
    states=messages.states,
    quantities=messages.QUANTITIES,
    knobs=KNOBS,
    outage=FROM_CHECKPOINT,
    interval="checkpoint",
    ends=lambda _design: EndNeeds(SourceNeed.KEEPS, SinkNeed.REMEMBERS),
)

UNCOORDINATED = Family(
    "uncoordinated",
    "Uncoordinated checkpoints",
    "Elnozahy et al., A Survey of Rollback-Recovery Protocols, 2002, Sections 3 and 4",
    BEHAVIOUR,
    properties=(AS_IF, COMPLETE, CONSISTENT, NO_DOMINO),
    must_occur=SEEN,
)
