"""A two-phase-commit sink: the parts that all designs share.

Rule of this file: no design; protocol.py and variants.py have these.
"""

from __future__ import annotations

from model.core import CHECKPOINTED, CRASHED, REPLAYED, RESTORED
from model.family import Family
from model.outages import FROM_CHECKPOINT
from model.protocol import Behaviour, EndNeeds, SinkNeed, SourceNeed
from model.protocols.two_phase_sink import messages, nodes
from model.protocols.two_phase_sink.messages import SINK_COMMITTED

SEEN = (CRASHED, RESTORED, CHECKPOINTED, REPLAYED, SINK_COMMITTED)
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
    outage=FROM_CHECKPOINT,
    interval="checkpoint",
    ends=lambda _design: EndNeeds(SourceNeed.SEEKS, SinkNeed.TRANSACTS),
)

TWO_PHASE_SINK = Family(
    "two-phase-sink",
    "A two-phase-commit sink with time-outs",
    "Apache Flink, TwoPhaseCommitSinkFunction; FLIP-319 and KIP-939",
    BEHAVIOUR,
    must_occur=SEEN,
)
