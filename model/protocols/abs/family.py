"""Asynchronous barrier snapshotting: the parts that all designs share.

Rule of this file: no design; protocol.py and the three files of variants have these.
"""

from __future__ import annotations

from model.core import CHECKPOINTED, CRASHED, REPLAYED, RESTORED
from model.family import Family
from model.outages import FROM_CHECKPOINT
from model.protocol import Behaviour, CheckpointNotes
from model.protocols.abs import deployment, messages, nodes
from model.protocols.abs.design import KNOBS
from model.protocols.abs.messages import ABANDONED, BEGUN, EPOCHS

SEEN = (CRASHED, CHECKPOINTED, RESTORED, REPLAYED, EPOCHS)
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
    checkpoints=CheckpointNotes(BEGUN, EPOCHS, ABANDONED),
    knobs=KNOBS,
    outage=FROM_CHECKPOINT,
)

ABS = Family(
    "abs",
    "Asynchronous barrier snapshotting",
    "LOG.io, Sections 1, 8.1.1 and 9.1",
    BEHAVIOUR,
    must_occur=SEEN,
)
