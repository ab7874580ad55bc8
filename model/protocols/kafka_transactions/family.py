"""Kafka's transactions: the parts that all designs share.

Rule of this file: no design; protocol.py and variants.py have these.
"""

from __future__ import annotations

from model.core import CRASHED, REPLAYED, RESTORED, SUSPECTED
from model.family import Family
from model.outages import OutageTerms, Since
from model.protocol import Assumptions, Behaviour, EndNeeds, Failures, SinkNeed, SourceNeed
from model.protocols.kafka_transactions import messages, nodes
from model.protocols.kafka_transactions.messages import COMMIT_MARKED

SEEN = (CRASHED, SUSPECTED, RESTORED, REPLAYED, COMMIT_MARKED)
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
    outage=OutageTerms(restart=False, read=True, again=Since.CHECKPOINT),
    interval="commit",
    ends=lambda _design: EndNeeds(SourceNeed.SEEKS, SinkNeed.TRANSACTS),
)

KAFKA_TRANSACTIONS = Family(
    "kafka-transactions",
    "Transactions that consume, process and produce",
    "Apache Kafka, KIP-98, KIP-447 and KIP-890",
    BEHAVIOUR,
    assumes=Assumptions(Failures.ANY, suspicions=True),
    must_occur=SEEN,
)
