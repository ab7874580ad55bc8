"""Kafka's transactions, and their evidence.

Rule of this file: no design but the default one, joined with its variants and mutants.
"""

from __future__ import annotations

from model.protocols.kafka_transactions import scopes
from model.protocols.kafka_transactions.design import KafkaDesign
from model.protocols.kafka_transactions.family import KAFKA_TRANSACTIONS, SEEN
from model.protocols.kafka_transactions.messages import (
    ABORT_MARKED,
    MARKED_AGAIN,
    REQUEST_REFUSED,
    TIMED_OUT,
)
from model.protocols.kafka_transactions.mutants import MUTANTS
from model.protocols.kafka_transactions.variants import VARIANTS

PROTOCOL = KAFKA_TRANSACTIONS.design(
    "",
    KafkaDesign(),
    (
        scopes.ONE_EVENT.holds(454),
        scopes.TWO_EVENTS.holds(3_712),
        scopes.A_FILTER.holds(13_855),
        scopes.WINDOWS.holds(20_630),
        scopes.TWO_CRASHES.holds(13_550),
        scopes.COORDINATOR_TWICE.holds(5_203),
        scopes.TIME_OUT.holds(1_682),
        scopes.TIME_OUT_ALONE.holds(280),
        scopes.TIME_OUT.with_two_crashes_of("coordinator", "worker").holds(93_343),
        scopes.TWO_EVENTS.with_two_crashes_of("successor").holds(27_343),
        scopes.THREE_CRASHES_OF_THE_SUCCESSOR.holds(209_242, reduced=106_504),
        scopes.THREE_EVENTS.with_two_crashes_of("worker").holds(47_057, reduced=29_878),
        scopes.NO_CRASH.holds(424),
    ),
    "Results and the place in the input in one transaction, an outcome that is logged before its "
    "markers, an epoch that rises with every end, and a successor that fences before it reads: "
    "precise.",
    must_occur=(*SEEN, REQUEST_REFUSED, TIMED_OUT, MARKED_AGAIN, ABORT_MARKED),
    mutants=MUTANTS,
    variants=VARIANTS,
)
