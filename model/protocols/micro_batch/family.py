"""Micro-batch recovery: the parts that all designs share.

Rule of this file: no design; protocol.py and variants.py have these.
"""

from __future__ import annotations

from model.core import CRASHED, DISCARDED, REPLAYED, SPANNED
from model.family import Family
from model.outages import FROM_CHECKPOINT
from model.protocol import Behaviour, EndNeeds, SinkNeed, SourceNeed
from model.protocols.micro_batch import messages, nodes
from model.protocols.micro_batch.messages import AGAIN, BETWEEN, KNOBS, REGROUPED, SEVERAL, TRIMMED

SEEN = (CRASHED, SPANNED, BETWEEN, AGAIN, REPLAYED, SEVERAL, TRIMMED)
DISCARDING = (*SEEN, DISCARDED)
REGROUPING = (*SEEN, REGROUPED)
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
    interval="trigger",
    clocked=frozenset({"trigger"}),
    ends=lambda _design: EndNeeds(SourceNeed.SEEKS, SinkNeed.REMEMBERS),
)

MICRO_BATCH = Family(
    "micro-batch",
    "Micro-batches with an offset log and a commit log",
    "Spark Structured Streaming, MicroBatchExecution",
    BEHAVIOUR,
    must_occur=SEEN,
)
