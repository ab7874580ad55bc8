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
    ),
    KAFKA_TRANSACTIONS.design(
        "place-after",
        KafkaDesign(offsets=OffsetCommit.AFTER),
        (scopes.ONE_EVENT.fails(400, 14, REPEATING),),
    ),
    KAFKA_TRANSACTIONS.design(
        "by-generation",
        KafkaDesign(fence=ZombieFence.GENERATION),
        (
            scopes.TWO_EVENTS.holds(4_587),
            scopes.TWO_CRASHES.holds(25_548),
            scopes.TIME_OUT.holds(2_458),
            scopes.NO_CRASH.holds(424),
        ),
    ),
    KAFKA_TRANSACTIONS.design(
        "by-generation-alone",
        KafkaDesign(fence=ZombieFence.GENERATION_ALONE),
        (scopes.ONE_EVENT.fails(644, 15, GAP),),
    ),
    KAFKA_TRANSACTIONS.design(
        "own-ids",
        KafkaDesign(fence=ZombieFence.NOBODY),
        (scopes.ONE_EVENT.fails(531, 15, GAP),),
    ),
    KAFKA_TRANSACTIONS.design(
        "one-epoch",
        KafkaDesign(bump=EpochBump.INIT),
        (
            scopes.TWO_EVENTS.holds(3_712),
            scopes.TWO_CRASHES.holds(13_731),
            scopes.TIME_OUT_ALONE.fails(338, 21, REPEATING),
        ),
    ),
    KAFKA_TRANSACTIONS.design(
        "place-first",
        KafkaDesign(first=FirstRequest.PLACE),
        (scopes.ONE_EVENT.fails(758, 16, REPEATING),),
    ),
    KAFKA_TRANSACTIONS.design(
        "read-uncommitted",
        KafkaDesign(reads=ReaderView.UNCOMMITTED),
        (scopes.ONE_EVENT.fails(544, 10, REPEATING),),
    ),
    KAFKA_TRANSACTIONS.design(
        "unlogged",
        KafkaDesign(logs=False),
        (scopes.ONE_EVENT.holds(468), scopes.TWO_CRASHES.fails(17_106, 17, GAP)),
    ),
    KAFKA_TRANSACTIONS.design(
        "unchecked",
        KafkaDesign(checks=False),
        (scopes.ONE_EVENT.fails(544, 13, REPEATING),),
    ),
)
