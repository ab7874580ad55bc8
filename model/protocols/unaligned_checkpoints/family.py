"""Unaligned checkpoints: the parts that all designs share.

Rule of this file: no design; protocol.py and variants.py have these.
"""

from __future__ import annotations

from model.core import CHECKPOINTED, CRASHED, REPLAYED, RESTORED
from model.family import Family
from model.outages import FROM_CHECKPOINT
from model.protocol import Behaviour, CheckpointNotes
from model.protocols.unaligned_checkpoints import deployment, messages, nodes
from model.protocols.unaligned_checkpoints.design import KNOBS
from model.protocols.unaligned_checkpoints.messages import (
    ABORTED,
    BEGUN_CHECKPOINTS,
    FINISHED_CHECKPOINTS,
    INJECTED,
    OVERTAKEN,
)

SEEN = (CRASHED, CHECKPOINTED, RESTORED, REPLAYED, FINISHED_CHECKPOINTS)
ON_THE_WAY = (*SEEN, OVERTAKEN, INJECTED)
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
    checkpoints=CheckpointNotes(BEGUN_CHECKPOINTS, FINISHED_CHECKPOINTS, ABORTED),
    knobs=KNOBS,
    outage=FROM_CHECKPOINT,
)

UNALIGNED_CHECKPOINTS = Family(
    "unaligned-checkpoints",
    "Unaligned checkpoints with rescaling",
    "Flink, FLIP-76 and FLINK-19801",
    BEHAVIOUR,
    must_occur=ON_THE_WAY,
)
