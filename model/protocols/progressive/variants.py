"""Progressive recovery as published, and with one choice less mended.

Rule of this file: no design without the verdict that is expected of it.
Su and Zhou, Progressive Recovery, 2016.
"""

from __future__ import annotations

from dataclasses import replace

from model.core import CHECKPOINTED, SUSPECTED, Guarantee
from model.protocol import Assumptions, Failures
from model.protocols.progressive import scopes
from model.protocols.progressive.design import (
    PUBLISHED,
    Accepts,
    Batches,
    Buffering,
    CoordinatorMemory,
    Ends,
    Fence,
    LateFailures,
    Numbers,
    Order,
    Outputs,
    ProgressiveDesign,
    Punctuates,
    Sinks,
    Suspicion,
)
from model.protocols.progressive.family import PROGRESSIVE_RECOVERY, SEEN
from model.protocols.progressive.inside import INSIDE, RESTED
from model.protocols.progressive.messages import BLOCKING, GLOBAL, PROGRESSIVE, REJOINED, WITHDRAWN
from model.protocols.progressive.others import OTHERS

GAP, REPEATING, PRECISE = Guarantee.GAP, Guarantee.REPEATING, Guarantee.PRECISE
DIVERGENT, CONVERGENT = Guarantee.DIVERGENT, Guarantee.CONVERGENT
IN_PROGRESS = (*SEEN, PROGRESSIVE)
SUSPICIONS = Assumptions(Failures.ANY, suspicions=True)

VARIANTS = (
    PROGRESSIVE_RECOVERY.design(
        "published",
        replace(PUBLISHED, threshold=0),
        (
            scopes.ONE_PARTITION.fails(14_980, 12, GAP),
            scopes.A_CHAIN_THREE_TUPLES.fails(1_049_440, 15, GAP, reduced=69_647),
            scopes.A_TRIANGLE_THE_UNION.fails(444_438, 19, GAP, reduced=48_421),
        ),
        "Every choice in the reading nearest to the paper's words: results come twice or never, "
        "and states lose tuples, with one partition and one failure.",
        must_occur=IN_PROGRESS,
    ),
    PROGRESSIVE_RECOVERY.design(
        "at-once",
        ProgressiveDesign(outputs=Outputs.AT_ONCE, threshold=0),
        (
            scopes.ONE_PARTITION.fails(8_367, 13, REPEATING),
            scopes.A_CHAIN_THREE_TUPLES.fails(142_928, 21, REPEATING, reduced=29_318),
            scopes.A_TRIANGLE_THE_UNION.fails(36_311, 25, REPEATING, reduced=8_352),
        ),
        "Results that are handed on before a global checkpoint contains them are handed on again "
        "after the rollback: exactly once inside, at least once outside.",
        must_occur=IN_PROGRESS,
    ),
    PROGRESSIVE_RECOVERY.design(
        "inside",
        ProgressiveDesign(order=Order.RECOVERY, outputs=Outputs.AT_ONCE, threshold=0),
        (
            scopes.NO_CRASH.holds(541),
            scopes.ONE_PARTITION.holds(8_367, REPEATING),
            scopes.A_TRIANGLE_THE_UNION.holds(89_952, REPEATING, reduced=20_366),
            scopes.A_CHAIN_THREE_TUPLES.holds(142_928, REPEATING, reduced=29_318),
        ),
        "If only the states of partitions count, the order may begin with the recovery, and "
        "results need no number: this is the exactly-once processing of the paper.",
        claims=REPEATING,
        must_occur=IN_PROGRESS,
        properties=(RESTED, INSIDE),
    ),
    PROGRESSIVE_RECOVERY.design(
        "ordered-in-recovery",
        ProgressiveDesign(order=Order.RECOVERY, threshold=0),
        (
            scopes.ONE_PARTITION.holds(7_938),
            scopes.A_TRIANGLE_THE_UNION.fails(88_288, 22, DIVERGENT, reduced=19_822),
        ),
        "An application that skips the numbers it has seen needs one order before and after the "
        "failure; an order that is turned on in recovery comes too late.",
        must_occur=IN_PROGRESS,
    ),
    PROGRESSIVE_RECOVERY.design(
        "unordered",
        ProgressiveDesign(order=Order.NEVER, threshold=0),
        (
            scopes.ONE_PARTITION.holds(7_938),
            scopes.A_TRIANGLE_THE_UNION.fails(130_214, 18, DIVERGENT, reduced=20_079),
        ),
        "Without a fixed order, a partition that fails numbers other tuples in its second run: who "
        "has seen the number skips a tuple that it has not seen.",
        must_occur=IN_PROGRESS,
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
            scopes.A_TRIANGLE_THE_UNION_AND_THE_COORDINATOR.holds(
                None, quick=False, reduced=86_468
            ),
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
        ProgressiveDesign(fence=Fence.NONE, threshold=0),
        (
            scopes.ONE_PARTITION.fails(10_642, 13, GAP),
            scopes.ONE_PARTITION_THE_COORDINATOR.fails(28_157, 13, PRECISE),
            scopes.A_CHAIN_THREE_TUPLES.fails(345_296, 17, GAP, reduced=45_286),
        ),
        "Tuples and acknowledgements from before the rollback are taken for those of the replay.",
        must_occur=IN_PROGRESS,
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
        ProgressiveDesign(sinks=Sinks.SILENT, threshold=0),
        (
            scopes.ONE_PARTITION.fails(9_483, 22, GAP),
            scopes.A_CHAIN_THREE_TUPLES.fails(212_330, 31, GAP, reduced=22_986),
        ),
        "If only partitions take part in a checkpoint, results on their way to the application are "
        "in no checkpoint and in no replay.",
        must_occur=IN_PROGRESS,
    ),
    PROGRESSIVE_RECOVERY.design(
        "stateless-coordinator",
        ProgressiveDesign(coordinator=CoordinatorMemory.STATELESS, threshold=0),
        (
            scopes.ONE_PARTITION.fails(7_820, 13, GAP),
            scopes.ONE_PARTITION_THE_COORDINATOR.fails(20_563, 6, PRECISE),
        ),
        "A coordinator without stable storage does not know the last global checkpoint, and its "
        "second life begins with epochs that were in use.",
        must_occur=IN_PROGRESS,
    ),
    PROGRESSIVE_RECOVERY.design(
        "punctuated-by-data",
        ProgressiveDesign(punctuates=Punctuates.DATA, threshold=0),
        (scopes.ONE_PARTITION.fails(6_552, 8, PRECISE),),
        "The paper's punctuations are periodic.  If only data were punctuated, a recovery without "
        "new data would never end: the punctuation that ends it is of a period without data.",
        must_occur=IN_PROGRESS,
    ),
    PROGRESSIVE_RECOVERY.design(
        "number-a-sender",
        ProgressiveDesign(numbers=Numbers.SENDER),
        (
            scopes.NO_CRASH.holds(541),
            scopes.NO_CRASH_TWO_SHARES.fails(881, 12, GAP),
        ),
        "A partition gets the tuples of its key.  If a sender has one counter, the next tuple on a "
        "connection has not the next number: without any failure nothing goes on.",
        must_occur=(CHECKPOINTED, GLOBAL),
    ),
    PROGRESSIVE_RECOVERY.design(
        "number-a-sender-unseen",
        ProgressiveDesign(numbers=Numbers.SENDER, accepts=Accepts.UNSEEN, threshold=0),
        (
            scopes.TWO_SHARES_ONE.fails(83_336, 26, GAP, reduced=16_298),
            scopes.TWO_SHARES_ONE_TWO_TUPLES.fails(1_867_553, 17, GAP, reduced=221_657),
        ),
        "As the paper has it, with one counter a sender, a partition skips numbers seen "
        "before: that works without failures, and loses the replay, as with one partition.",
        must_occur=IN_PROGRESS,
    ),
    PROGRESSIVE_RECOVERY.design(
        "batches-marked",
        ProgressiveDesign(batches=Batches.MARKED, threshold=0),
        (
            scopes.NO_CRASH.holds(2_389),
            scopes.NO_CRASH_A_DIAMOND.holds(3_569),
            scopes.ONE_PARTITION.holds(28_365),
            scopes.A_CHAIN.holds(83_572),
            scopes.A_TRIANGLE_THE_UNION.holds(85_961, reduced=19_156),
            scopes.A_TRIANGLE_THE_SIDE_TWICE.holds(325_568, reduced=68_957),
            scopes.A_DIAMOND.holds(324_092, reduced=60_310),
        ),
        "No second punctuation comes while a checkpoint waits for the last host.  Batches that end "
        "apart from punctuations let a partition with several inputs go on meanwhile.",
        must_occur=IN_PROGRESS,
    ),
    PROGRESSIVE_RECOVERY.design(
        "idle-periods",
        ProgressiveDesign(idle=2, threshold=0),
        (
            scopes.NO_CRASH.holds(3_347),
            scopes.ONE_PARTITION.holds(44_424),
            scopes.A_CHAIN.holds(273_762),
            scopes.A_TRIANGLE_THE_UNION.holds(203_059, reduced=60_453),
        ),
        "Periods without data, at any time, change nothing but numbers.",
        must_occur=IN_PROGRESS,
    ),
    PROGRESSIVE_RECOVERY.design(
        "suspicion",
        ProgressiveDesign(suspicion=Suspicion.ASKED),
        (
            scopes.NO_CRASH.holds(541),
            scopes.ONE_PARTITION.holds(2_289),
            scopes.ONE_PARTITION_TWICE.holds(30_543, reduced=11_658),
            scopes.ONE_PARTITION_THE_COORDINATOR.holds(4_521),
            scopes.A_CHAIN.holds(212_853),
            scopes.A_TRIANGLE_THE_UNION.holds(3_353),
            scopes.TWO_SOURCES.holds(31_254),
        ),
        "A partition that is taken for dead gets each order, too, as a question: if it is up, it "
        "goes back like the others, or confirms that it is there, with the parts that it has.",
        must_occur=(*SEEN, SUSPECTED, BLOCKING, PROGRESSIVE),
        assumes=SUSPICIONS,
    ),
    PROGRESSIVE_RECOVERY.design(
        "suspicion-progressive",
        ProgressiveDesign(suspicion=Suspicion.ASKED, threshold=0),
        (
            scopes.NO_CRASH.holds(541),
            scopes.ONE_PARTITION.holds(20_967),
            scopes.ONE_PARTITION_TWICE.holds(881_572, reduced=148_419),
            scopes.ONE_PARTITION_THE_COORDINATOR.holds(92_514, reduced=21_409),
            scopes.A_CHAIN.holds(487_463, quick=False),
            scopes.A_CHAIN_THE_FIRST_TWICE.holds(256_697, reduced=51_998),
            scopes.A_CHAIN_THE_SECOND_TWICE.holds(257_885, reduced=72_945),
            scopes.A_TRIANGLE_THE_UNION.holds(88_579, reduced=17_555),
            scopes.A_TRIANGLE_THE_SIDE_TWICE.holds(683_255, reduced=121_657),
            scopes.TWO_SOURCES.holds(2_334_587, quick=False, reduced=698_321),
        ),
        "The same with threshold 0: the others go on without a partition that is up, and it "
        "rejoins as soon as it answers.",
        must_occur=(*SEEN, SUSPECTED, PROGRESSIVE, REJOINED),
        assumes=SUSPICIONS,
    ),
    PROGRESSIVE_RECOVERY.design(
        "suspicion-awaited",
        ProgressiveDesign(),
        (
            scopes.ONE_PARTITION.fails(1_826, 3),
            scopes.A_CHAIN.fails(42_389, 5),
        ),
        "A heartbeat is late, and the coordinator waits for the return of a partition that is up: "
        "the recovery never ends.",
        assumes=SUSPICIONS,
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
            scopes.ONE_PARTITION_THREE_TIMES.holds(93_178, reduced=24_219),
            scopes.ONE_PARTITION_TWICE_THREE_TUPLES.holds(470_560, reduced=104_338),
            scopes.ONE_PARTITION_THE_COORDINATOR.holds(18_630),
            scopes.A_CHAIN_THE_FIRST_TWICE.holds(33_944, reduced=10_164),
            scopes.A_CHAIN_THE_SECOND_TWICE.holds(33_534, reduced=14_077),
            scopes.A_CHAIN_THE_SECOND_TWICE_THREE_TUPLES.holds(2_292_128, reduced=506_600),
            scopes.TWO_SHARES_ONE.holds(75_756, reduced=15_260),
            scopes.TWO_SHARES_ONE_TWO_TUPLES.holds(1_527_305, reduced=179_932),
            scopes.TWO_SHARES_ONE_TWICE.holds(980_867, reduced=205_166),
            scopes.A_TRIANGLE_THE_SIDE.holds(6_847),
            scopes.A_TRIANGLE_THE_UNION.holds(35_415, reduced=8_072),
            scopes.A_TRIANGLE_THE_SIDE_TWICE.holds(92_964, reduced=24_288),
            scopes.A_TRIANGLE_THE_UNION_TWICE.holds(860_436, reduced=205_358),
            scopes.A_TRIANGLE_THE_UNION_AND_THE_COORDINATOR.holds(
                None, quick=False, reduced=390_618
            ),
        ),
        "With threshold 0, every recovery is progressive.",
    ),
    *OTHERS,
)
