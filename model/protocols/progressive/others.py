"""Designs of progressive recovery while a failed partition stays down: do other queries go on?

Rule of this file: no partition restarts here; variants.py has the designs in which all do.

The claim is a gap, since the query that is down has no results; GOES_ON is about the others.
Su and Zhou, Progressive Recovery, 2016, Section 1: "progressively recover the outputs of queries as
early as possible"; Section 4.
"""

from __future__ import annotations

from model.core import CHECKPOINTED, CRASHED, Guarantee
from model.properties import AS_IF
from model.protocols.progressive import scopes
from model.protocols.progressive.design import (
    Batches,
    Outputs,
    ProgressiveDesign,
    Replacements,
)
from model.protocols.progressive.family import PROGRESSIVE_RECOVERY
from model.protocols.progressive.messages import BLOCKING, PROGRESSIVE
from model.protocols.progressive.queries import GOES_ON

NEVER, GAP = Replacements.NEVER, Guarantee.GAP
SEEN = (CRASHED, CHECKPOINTED, PROGRESSIVE)
OTHERS = (
    PROGRESSIVE_RECOVERY.design(
        "others-go-on",
        ProgressiveDesign(threshold=0, replacements=NEVER),
        (
            scopes.NO_CRASH_TWO_QUERIES.holds(1_913),
            scopes.ONE_QUERY_DOWN.holds(32_345, GAP, reduced=6_192),
            scopes.THE_OTHER_QUERY_DOWN.holds(34_308, GAP, reduced=6_569),
            scopes.ONE_SHARE_DOWN.holds(4_762, GAP),
        ),
        "While a partition is down, the queries without it have all of their results, if their "
        "partitions have one input.",
        claims=GAP,
        must_occur=SEEN,
        properties=(AS_IF, GOES_ON),
    ),
    PROGRESSIVE_RECOVERY.design(
        "others-wait-at-a-union",
        ProgressiveDesign(threshold=0, replacements=NEVER),
        (scopes.A_QUERY_BESIDE_A_UNION_DOWN.fails(9_594, 20, GAP),),
        "A partition with several inputs waits for a punctuation, and the next one waits for the "
        "checkpoint under way, which needs the partition that is down.",
        claims=GAP,
        must_occur=SEEN,
        properties=(AS_IF, GOES_ON),
    ),
    PROGRESSIVE_RECOVERY.design(
        "others-overlap",
        ProgressiveDesign(threshold=0, replacements=NEVER, overlap=True),
        (
            scopes.NO_CRASH_TWO_QUERIES.holds(20_168),
            scopes.ONE_QUERY_DOWN.holds(380_384, GAP, reduced=29_552),
            scopes.ONE_SHARE_DOWN.holds(9_195, GAP),
            scopes.A_QUERY_BESIDE_A_UNION_DOWN.holds(21_403, GAP),
        ),
        "If sources punctuate while a checkpoint is under way, as the paper's periods have it, "
        "the queries without the failed partition go on.",
        claims=GAP,
        must_occur=SEEN,
        properties=(AS_IF, GOES_ON),
    ),
    PROGRESSIVE_RECOVERY.design(
        "others-marked",
        ProgressiveDesign(threshold=0, replacements=NEVER, batches=Batches.MARKED),
        (
            scopes.NO_CRASH_A_DIAMOND.holds(3_569),
            scopes.ONE_QUERY_DOWN.holds(150_559, GAP, reduced=14_055),
            scopes.A_QUERY_BESIDE_A_UNION_DOWN.holds(13_014, GAP),
        ),
        "So they do if batches end apart from punctuations.",
        claims=GAP,
        must_occur=SEEN,
        properties=(AS_IF, GOES_ON),
    ),
    PROGRESSIVE_RECOVERY.design(
        "others-blocked",
        ProgressiveDesign(replacements=NEVER),
        (scopes.ONE_QUERY_DOWN.fails(18_870, 11, GAP), scopes.ONE_SHARE_DOWN.fails(3_347, 11, GAP)),
        "Below the threshold a recovery waits for the failed partition, and every query with it.",
        claims=GAP,
        must_occur=(CRASHED, CHECKPOINTED, BLOCKING),
        properties=(AS_IF, GOES_ON),
    ),
    PROGRESSIVE_RECOVERY.design(
        "others-committed",
        ProgressiveDesign(outputs=Outputs.COMMITTED, threshold=0, replacements=NEVER),
        (
            scopes.ONE_QUERY_DOWN.fails(46_468, 19, GAP, reduced=9_524),
            scopes.ONE_SHARE_DOWN.fails(5_002, 19, GAP),
        ),
        "Results that wait for their global checkpoint wait for all partitions.",
        claims=GAP,
        must_occur=SEEN,
        properties=(AS_IF, GOES_ON),
    ),
    PROGRESSIVE_RECOVERY.design(
        "others-wait-for-the-coordinator",
        ProgressiveDesign(threshold=0, replacements=NEVER),
        (scopes.ONE_QUERY_AND_THE_COORDINATOR_DOWN.fails(257_537, 11, GAP, reduced=36_887),),
        "A coordinator that restarts waits for every partition, and the notice of one that failed "
        "meanwhile does not come again.",
        claims=GAP,
        must_occur=SEEN,
        properties=(AS_IF, GOES_ON),
    ),
)
