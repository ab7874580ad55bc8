"""Progressive recovery: the parts that all designs share.

Rule of this file: no design; protocol.py and variants.py have these.
"""

from __future__ import annotations

from model.core import CHECKPOINTED, CRASHED, REPLAYED, RESTORED, STALE
from model.family import Family
from model.outages import FROM_CHECKPOINT
from model.properties import AS_IF, COMPLETE
from model.protocol import Behaviour, EndNeeds, SinkNeed, SourceNeed
from model.protocols.progressive import messages, nodes
from model.protocols.progressive.design import KNOBS
from model.protocols.progressive.inside import INSIDE, RESTED
from model.protocols.progressive.messages import GLOBAL

SEEN = (CRASHED, RESTORED, CHECKPOINTED, GLOBAL, REPLAYED, STALE)
BEHAVIOUR = Behaviour(
    nodes.deploy,
    nodes.boot,
    nodes.step,
    nodes.recover,
    gauges=nodes.gauges,
    memory=nodes.memory,
    needed=nodes.needed,
    timers=nodes.TIMERS,
    show=messages.show,
    size=messages.size,
    states=messages.states,
    quantities=messages.QUANTITIES,
    knobs=KNOBS,
    outage=FROM_CHECKPOINT,
    interval="punctuate",
    ends=lambda _design: EndNeeds(SourceNeed.KEEPS, SinkNeed.REMEMBERS),
)

PROGRESSIVE_RECOVERY = Family(
    "progressive",
    "Progressive recovery",
    "Su and Zhou, Progressive Recovery, 2016",
    BEHAVIOUR,
    properties=(AS_IF, COMPLETE, RESTED, INSIDE),
    must_occur=SEEN,
)
