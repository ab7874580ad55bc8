"""Progressive recovery as published, and with one choice less mended.

Rule of this file: no design without the verdict that is expected of it.
Su and Zhou, Progressive Recovery, 2016.
"""

from __future__ import annotations

from model.core import (
    Guarantee,
)
from model.protocols.progressive import scopes
from model.protocols.progressive.design import (
    PUBLISHED,
    Accepts,
    Buffering,
    CoordinatorMemory,
    Ends,
    Fence,
    LateFailures,
    Order,
    Outputs,
    ProgressiveDesign,
    Punctuates,
    Sinks,
)
from model.protocols.progressive.family import PROGRESSIVE_RECOVERY, SEEN
from model.protocols.progressive.inside import INSIDE, RESTED
from model.protocols.progressive.messages import WITHDRAWN

GAP, REPEATING, PRECISE = Guarantee.GAP, Guarantee.REPEATING, Guarantee.PRECISE
DIVERGENT, CONVERGENT = Guarantee.DIVERGENT, Guarantee.CONVERGENT

VARIANTS = (
    PROGRESSIVE_RECOVERY.design(
        "published",
        PUBLISHED,
        (
            scopes.ONE_PARTITION.fails(3_029, 12, GAP),
            scopes.A_CHAIN_THREE_TUPLES.fails(123_288, 15, GAP, reduced=21_674),
            scopes.A_TRIANGLE_THE_UNION.fails(29_334, 18, GAP),
        ),
        "Every choice in the reading nearest to the paper's words: results come twice or never, "
        "and states count tuples twice, with one partition and one failure.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "at-once",
        ProgressiveDesign(outputs=Outputs.AT_ONCE),
        (
            scopes.ONE_PARTITION.fails(1_645, 13, REPEATING),
            scopes.A_CHAIN_THREE_TUPLES.fails(21_204, 22, REPEATING),
            scopes.A_TRIANGLE_THE_UNION.fails(1_994, 26, REPEATING),
        ),
        "Results that are handed on before a global checkpoint contains them are handed on again "
        "after the rollback: exactly once inside, at least once outside.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "inside",
        ProgressiveDesign(order=Order.RECOVERY, outputs=Outputs.AT_ONCE),
        (
            scopes.NO_CRASH.holds(541),
            scopes.ONE_PARTITION.holds(1_645, REPEATING),
            scopes.A_CHAIN_THREE_TUPLES.holds(21_204, REPEATING),
        ),
        "If only the states of partitions count, the order may begin with the recovery, and "
        "results need no number: this is the exactly-once processing of the paper.",
        claims=REPEATING,
        properties=(RESTED, INSIDE),
    ),
    PROGRESSIVE_RECOVERY.design(
        "ordered-in-recovery",
        ProgressiveDesign(order=Order.RECOVERY),
        (
            scopes.ONE_PARTITION.holds(1_596),
            scopes.A_TRIANGLE_THE_UNION.fails(7_161, 19, DIVERGENT),
        ),
        "An application that skips the numbers it has seen needs one order before and after the "
        "failure; an order that is turned on in recovery comes too late.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "unordered",
        ProgressiveDesign(order=Order.NEVER),
        (
            scopes.ONE_PARTITION.holds(1_596),
            scopes.A_TRIANGLE_THE_UNION.fails(7_161, 19, DIVERGENT),
        ),
        "Without a fixed order, a partition that fails numbers other tuples in its second run: who "
        "has seen the number skips a tuple that it has not seen.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "committed",
        ProgressiveDesign(order=Order.RECOVERY, outputs=Outputs.COMMITTED),
        (
            scopes.NO_CRASH.holds(783),
            scopes.ONE_PARTITION.holds(2_488),
            scopes.ONE_PARTITION_TWICE.holds(17_486),
            scopes.ONE_PARTITION_THE_COORDINATOR.holds(2_697),
            scopes.A_CHAIN.holds(49_744),
            scopes.A_CHAIN_THREE_TUPLES.holds(28_599),
            scopes.A_CHAIN_BOTH.holds(573_061),
            scopes.A_TRIANGLE_THE_UNION.holds(6_715),
            scopes.A_TRIANGLE_THE_UNION_TWICE.holds(130_829, reduced=55_528),
            scopes.A_DIAMOND.holds(32_879, reduced=11_186),
            scopes.A_DIAMOND_BOTH_SIDES.holds(2_097_500, reduced=481_790),
            scopes.TWO_SOURCES_THREE_TUPLES.holds(433_052, reduced=132_047),
        ),
        "If results wait for their global checkpoint, an order in recovery is enough.  But this "
        "checkpoint needs all partitions, so no query gets a result before all are back: the "
        "recovery is progressive in vain.",
        must_occur=(*SEEN, WITHDRAWN),
    ),
    PROGRESSIVE_RECOVERY.design(
        "skip-seen",
        ProgressiveDesign(accepts=Accepts.UNSEEN, threshold=0),
        (
            scopes.ONE_PARTITION.fails(10_657, 14, GAP),
            scopes.A_CHAIN_THE_SECOND_TWICE.fails(39_965, 19, PRECISE, reduced=17_142),
        ),
        "Who skips only what it has seen takes what is sent before the replay begins, and then "
        "skips the replay.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "skip-nothing",
        ProgressiveDesign(accepts=Accepts.ALL, threshold=0),
        (scopes.ONE_PARTITION.fails(19_637, 12, GAP),),
        "Without numbers, a tuple that comes live and in the replay is processed twice.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "no-epochs",
        ProgressiveDesign(fence=Fence.NONE),
        (
            scopes.ONE_PARTITION.fails(2_507, 13, GAP),
            scopes.ONE_PARTITION_THE_COORDINATOR.fails(3_488, 13, PRECISE),
            scopes.A_CHAIN_THREE_TUPLES.fails(49_946, 17, GAP, reduced=13_459),
        ),
        "Tuples and acknowledgements from before the rollback are taken for those of the replay.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "ends-at-checkpoint",
        ProgressiveDesign(ends=Ends.CHECKPOINT, threshold=0),
        (
            scopes.ONE_PARTITION.holds(7_978),
            scopes.A_CHAIN_THE_SECOND_TWICE.fails(41_821, 30, PRECISE, reduced=15_799),
            scopes.A_CHAIN_THE_SECOND_TWICE_TWO_TUPLES.fails(508_369, 30, GAP, reduced=142_628),
        ),
        "A partition stores its part and fails; the others complete the global checkpoint and turn "
        "their buffers off: what they send before it is back is lost.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "silent-sinks",
        ProgressiveDesign(sinks=Sinks.SILENT),
        (
            scopes.ONE_PARTITION.fails(2_040, 16, GAP),
            scopes.A_CHAIN_THREE_TUPLES.fails(30_440, 22, GAP, reduced=6_909),
        ),
        "If only partitions take part in a checkpoint, results on their way to the application are "
        "in no checkpoint and in no replay.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "stateless-coordinator",
        ProgressiveDesign(coordinator=CoordinatorMemory.STATELESS),
        (
            scopes.ONE_PARTITION.fails(1_594, 13, GAP),
            scopes.ONE_PARTITION_THE_COORDINATOR.fails(2_019, 6, PRECISE),
        ),
        "A coordinator without stable storage does not know the last global checkpoint, and its "
        "second life begins with epochs that were in use.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "punctuated-by-data",
        ProgressiveDesign(punctuates=Punctuates.DATA, threshold=0),
        (scopes.ONE_PARTITION.fails(6_552, 8, PRECISE),),
        "If only data is punctuated, a recovery without new data never ends: the buffers stay on.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "upstream-buffering",
        ProgressiveDesign(buffering=Buffering.UPSTREAM),
        (
            scopes.ONE_PARTITION.holds(2_215),
            scopes.A_CHAIN.holds(45_143),
            scopes.A_CHAIN_THE_SECOND_TWICE.holds(6_331),
            scopes.NO_CRASH.holds(1_339),
        ),
        "Upstream buffering, the rival that the paper finds too expensive, is as right.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "source-buffering",
        ProgressiveDesign(buffering=Buffering.SOURCE, threshold=0),
        (
            scopes.NO_CRASH.holds(541),
            scopes.ONE_PARTITION.holds(1_596),
            scopes.A_CHAIN.holds(3_595),
            scopes.A_CHAIN_THE_SECOND_TWICE.holds(5_834),
        ),
        "Source buffering is right, if every recovery waits for all failed partitions.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "late-failures-wait",
        ProgressiveDesign(late=LateFailures.STAYS),
        (
            scopes.NO_CRASH.holds(541),
            scopes.ONE_PARTITION.holds(1_596),
            scopes.A_CHAIN.holds(16_388),
        ),
        "If failures after the window do not count, the recovery stays blocking, and right.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "overlapping-checkpoints",
        ProgressiveDesign(overlap=True),
        (
            scopes.ONE_PARTITION.holds(4_821),
            scopes.A_CHAIN_THE_SECOND_TWICE.holds(6_331),
            scopes.NO_CRASH.holds(9_456),
        ),
        "Several checkpoints may be under way, if partitions keep all since the global one.",
    ),
    PROGRESSIVE_RECOVERY.design(
        "always-progressive",
        ProgressiveDesign(threshold=0),
        (
            scopes.NO_CRASH.holds(541),
            scopes.ONE_PARTITION.holds(7_938),
            scopes.ONE_PARTITION_THE_COORDINATOR.holds(18_630),
            scopes.A_CHAIN_THE_FIRST_TWICE.holds(33_944, reduced=10_164),
            scopes.A_CHAIN_THE_SECOND_TWICE.holds(33_534, reduced=14_077),
            scopes.A_TRIANGLE_THE_SIDE.holds(6_847),
            scopes.A_TRIANGLE_THE_UNION.holds(35_415, reduced=8_072),
            scopes.A_TRIANGLE_THE_SIDE_TWICE.holds(92_964, reduced=24_288),
            scopes.A_TRIANGLE_THE_UNION_TWICE.holds(860_436, reduced=205_358),
        ),
        "With threshold 0, every recovery is progressive.",
    ),
)
