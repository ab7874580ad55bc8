"""Designs of Kafka's transactions that change one thing, each with its verdict.

Rule of this file: no design without its claim and the verdict expected of it.
"""

from __future__ import annotations

from model.core import Guarantee
from model.protocols.kafka_transactions import scopes
from model.protocols.kafka_transactions.design import (
    EpochBump,
    FirstRequest,
    KafkaDesign,
    OffsetCommit,
    ReaderView,
    ZombieFence,
)
from model.protocols.kafka_transactions.family import KAFKA_TRANSACTIONS

GAP, REPEATING = Guarantee.GAP, Guarantee.REPEATING
VARIANTS = (
    KAFKA_TRANSACTIONS.design(
        "place-before",
        KafkaDesign(offsets=OffsetCommit.BEFORE),
        (scopes.ONE_EVENT.fails(433, 11, GAP),),
        "A place that is committed before the transaction of the results loses them if the "
        "worker is lost between the two.",
    ),
    KAFKA_TRANSACTIONS.design(
        "place-after",
        KafkaDesign(offsets=OffsetCommit.AFTER),
        (scopes.ONE_EVENT.fails(400, 14, REPEATING),),
        "A place that is committed after the transaction of the results repeats them if the "
        "worker is lost between the two.",
    ),
    KAFKA_TRANSACTIONS.design(
        "by-generation",
        KafkaDesign(fence=ZombieFence.GENERATION),
        (
            scopes.TWO_EVENTS.holds(4_341),
            scopes.TWO_CRASHES.holds(25_195),
            scopes.TIME_OUT.holds(2_458),
            scopes.NO_CRASH.holds(424),
        ),
        "With a transactional id for each worker, the generation of the group is fence enough"
        " if the transactions of other members are aborted first and the group answers only "
        "its newest member (KIP-447).",
    ),
    KAFKA_TRANSACTIONS.design(
        "by-generation-alone",
        KafkaDesign(fence=ZombieFence.GENERATION_ALONE),
        (scopes.ONE_EVENT.fails(644, 15, GAP), scopes.TIME_OUT.fails(3_070, 16, GAP)),
        "The generation alone is no fence: the place of the worker may be in its transaction "
        "when the group is joined, and the transaction of a dead worker hides all later "
        "results.",
    ),
    KAFKA_TRANSACTIONS.design(
        "own-ids",
        KafkaDesign(fence=ZombieFence.NOBODY),
        (scopes.ONE_EVENT.fails(531, 15, GAP), scopes.TIME_OUT.fails(2_659, 16, GAP)),
        "Without a fence a worker that was taken for dead commits events that its successor has "
        "taken over.",
    ),
    KAFKA_TRANSACTIONS.design(
        "one-epoch",
        KafkaDesign(bump=EpochBump.INIT),
        (
            scopes.TWO_EVENTS.holds(3_712),
            scopes.TWO_CRASHES.holds(13_560),
            scopes.TIME_OUT_ALONE.fails(338, 21, REPEATING),
        ),
        "If all transactions of a producer have one epoch, a result after a time-out joins "
        "the next transaction and counts twice (KIP-890); without time-outs one epoch for "
        "each takeover is right.",
    ),
    KAFKA_TRANSACTIONS.design(
        "by-generation-one-epoch",
        KafkaDesign(fence=ZombieFence.GENERATION, bump=EpochBump.INIT),
        (scopes.ONE_EVENT.fails(665, 20, GAP),),
        "With an id for each worker, the end of the other member's transaction has to raise its "
        "epoch: else a late result of a zombie opens a transaction that nobody ends.",
    ),
    KAFKA_TRANSACTIONS.design(
        "place-first",
        KafkaDesign(first=FirstRequest.PLACE),
        (scopes.ONE_EVENT.fails(758, 16, REPEATING),),
        "A successor that asks for the place before it ends the transaction of its "
        "predecessor begins too early: the transaction may still be committed.",
    ),
    KAFKA_TRANSACTIONS.design(
        "read-uncommitted",
        KafkaDesign(reads=ReaderView.UNCOMMITTED),
        (scopes.ONE_EVENT.fails(544, 10, REPEATING),),
        "Kafka's consumers read uncommitted results by default: those of aborted "
        "transactions, too.",
    ),
    KAFKA_TRANSACTIONS.design(
        "unlogged",
        KafkaDesign(logs=False),
        (scopes.ONE_EVENT.holds(468), scopes.TWO_CRASHES.fails(16_911, 17, GAP)),
        "Without an entry in the log before the markers, a coordinator that crashes between "
        "two markers leaves half of a commit; it takes a second crash to see it.",
    ),
    KAFKA_TRANSACTIONS.design(
        "unchecked",
        KafkaDesign(checks=False),
        (scopes.ONE_EVENT.fails(544, 13, REPEATING),),
        "If the partition takes results with an old epoch, those of a worker that was taken "
        "for dead join the transaction of its successor.",
    ),
)
