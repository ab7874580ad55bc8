"""Designs of passive standby, each with its claim and the verdict expected of it.

Rule of this file: no design without its claim and the verdict expected of it.

Claims are the paper's: Table 2 for rollback recovery, Section 6 for precise recovery.
"""

from __future__ import annotations

from dataclasses import replace

from model import pair_scopes as cases
from model.core import (
    SUSPECTED,
    Guarantee,
)
from model.properties import at_least
from model.protocol import Assumptions, Failures
from model.protocols.passive_standby import design as designs
from model.protocols.passive_standby.chains import CHAINS
from model.protocols.passive_standby.design import (
    PRECISE,
    PUBLISHED,
    FirstCheckpoint,
    Forwards,
    Line,
    PassiveStandbyDesign,
    Releases,
)
from model.protocols.passive_standby.family import (
    LETS_GO,
    PASSIVE_STANDBY,
    ROLLBACK,
    SEEN,
)
from model.protocols.passive_standby.lost import NO_RETURN
from model.protocols.passive_standby.mutants import STORED
from model.standbys.choices import Again, Alone, Deposes, LateTuples, NodeReturns, SourceLog

GAP, REPEATING = Guarantee.GAP, Guarantee.REPEATING
DIVERGENT, CONVERGENT = Guarantee.DIVERGENT, Guarantee.CONVERGENT
ANY = Assumptions(Failures.ANY)
SUSPICIONS = Assumptions(Failures.SINGLE, suspicions=True)

MENDED = PassiveStandbyDesign()
ARBITRARY_TOO = designs.ARBITRARY
VARIANTS = (
    PASSIVE_STANDBY.design(
        "arbitrary",
        ARBITRARY_TOO,
        (
            cases.A_RELAY.holds(48_701),
            cases.PAIRS.holds(48_554, reduced=4_177),
            cases.A_UNION.holds(570_713, reduced=8_311),
            cases.PAIRS_OF_A_UNION.holds(1_759_434, quick=False, reduced=15_785),
            cases.NO_CRASH.holds(286),
            cases.A_RELAY_TWO_CRASHES.holds(70_603),
            cases.A_UNION_ANY.holds(623_920, quick=False),
            cases.A_UNION_TWO_CRASHES.holds(773_579, quick=False),
            cases.A_JOIN.holds(1_084_842, reduced=8_752),
            cases.FIGURE_5.holds(None, quick=False, reduced=145_792),
        ),
        "If only outputs leave that the secondary has, recovery is precise for arbitrary networks.",
        behaviour=LETS_GO,
        mutants=STORED,
    ),
    ROLLBACK.design(
        "rollback",
        replace(MENDED, returns=NodeReturns.NEVER),
        (
            cases.A_RELAY.holds(2_244, REPEATING),
            cases.A_FILTER.holds(3_219, REPEATING),
            cases.SLIDING_WINDOWS.holds(4_439, REPEATING),
            cases.PAIRS.holds(1_454, REPEATING),
            cases.EVERY_OTHER_TUPLE.holds(5_465, REPEATING),
            cases.TWO_OPERATORS_IN_A_NODE.holds(1_644, REPEATING),
            cases.PAIRS_OF_A_UNION.holds(53_778, DIVERGENT, reduced=8_773),
            cases.A_JOIN_BY_TIME.holds(108_849, REPEATING, reduced=16_446),
            cases.A_JOIN.holds(33_009, REPEATING, reduced=5_255),
            cases.TWO_CONSUMERS.holds(251_222, REPEATING, reduced=21_283),
            cases.TWO_STREAMS.holds(21_522, REPEATING),
            cases.FIGURE_5.holds(None, DIVERGENT, reduced=57_822),
        ),
        "Without questions to downstream, every class recovers as in Table 2.",
    ),
    ROLLBACK.design(
        "rollback-again",
        MENDED,
        (
            cases.A_RELAY_TWO_CRASHES.holds(78_875, REPEATING, reduced=11_433),
            cases.SLIDING_WINDOWS_TWO_CRASHES.holds(208_533, REPEATING, reduced=20_375),
            cases.PAIRS_TWO_CRASHES.holds(65_261, REPEATING, reduced=9_632),
            cases.PAIRS_OF_A_UNION_TWO_CRASHES.holds(3_298_994, DIVERGENT, quick=False),
        ),
        "The same after an earlier failure that is over.",
    ),
    ROLLBACK.design(
        "rollback-any",
        MENDED,
        (
            cases.A_RELAY_TWO_CRASHES.fails(None, 6, GAP, reduced=380_178),
            cases.SLIDING_WINDOWS_TWO_CRASHES.fails(None, 7, GAP, reduced=768_628),
            cases.PAIRS_TWO_CRASHES.fails(None, 7, GAP, reduced=235_574),
            cases.A_UNION_TWO_CRASHES.fails(None, 6, GAP),
        ),
        "A second failure before the new secondary has its checkpoint loses the state.",
        assumes=ANY,
    ),
    ROLLBACK.design(
        "rollback-suspicion",
        MENDED,
        (
            cases.A_RELAY.holds(107_144, REPEATING, reduced=7_466),
            cases.SLIDING_WINDOWS.holds(257_735, REPEATING, reduced=14_669),
            cases.PAIRS.holds(65_439, REPEATING, reduced=5_885),
            cases.PAIRS_OF_A_UNION.holds(4_792_958, DIVERGENT, quick=False),
        ),
        "A primary that is taken for dead is deposed: nothing is lost.",
        assumes=SUSPICIONS,
    ),
    ROLLBACK.design(
        "published",
        replace(PUBLISHED, returns=NodeReturns.NEVER),
        (
            cases.A_RELAY.holds(3_503, REPEATING),
            cases.A_FILTER.holds(4_658, REPEATING),
            cases.SLIDING_WINDOWS.holds(6_541, REPEATING),
            cases.PAIRS.holds(1_705, REPEATING),
            cases.EVERY_OTHER_TUPLE.holds(7_812, REPEATING),
            cases.PAIRS_OF_A_UNION.holds(86_259, DIVERGENT, reduced=11_453),
            cases.A_JOIN_BY_TIME.holds(163_064, REPEATING, reduced=17_407),
            cases.A_JOIN.holds(51_717, REPEATING, reduced=6_003),
            cases.TWO_CONSUMERS.holds(None, REPEATING, reduced=28_019),
            cases.TWO_STREAMS.holds(32_220, REPEATING, reduced=6_859),
            cases.FIGURE_5.holds(None, DIVERGENT, quick=False, reduced=88_228),
        ),
        "As in Table 2, for nodes with one operator.",
    ),
    ROLLBACK.design(
        "published-sweep",
        PUBLISHED,
        (cases.TWO_OPERATORS_IN_A_NODE.fails(230_678, 26, DIVERGENT),),
        "With two operators in a node, a tuple that passes the sweep line is counted twice.",
        properties=(at_least(Guarantee.REPEATING),),
    ),
    ROLLBACK.design(
        "published-again",
        PUBLISHED,
        (
            cases.A_RELAY_TWO_CRASHES.holds(92_493, REPEATING, reduced=17_969),
            cases.SLIDING_WINDOWS_TWO_CRASHES.holds(231_806, REPEATING, reduced=30_578),
            cases.PAIRS_TWO_CRASHES.holds(57_618, REPEATING, reduced=11_048),
            cases.PAIRS_OF_A_UNION_TWO_CRASHES.holds(4_935_176, DIVERGENT, quick=False),
        ),
        "The same after an earlier failure that is over.",
    ),
    ROLLBACK.design(
        "published-any",
        PUBLISHED,
        (
            cases.A_RELAY_TWO_CRASHES.fails(None, 6, GAP, reduced=701_690),
            cases.SLIDING_WINDOWS_TWO_CRASHES.fails(None, 7, GAP, reduced=1_307_090),
            cases.PAIRS_TWO_CRASHES.fails(None, 7, GAP),
            cases.A_UNION_TWO_CRASHES.fails(None, 6, GAP),
        ),
        "A second failure before the new secondary has its checkpoint loses the state.",
        assumes=ANY,
    ),
    ROLLBACK.design(
        "published-suspicion",
        PUBLISHED,
        (
            cases.A_RELAY.holds(93_960, REPEATING, reduced=10_969),
            cases.SLIDING_WINDOWS.holds(214_842, REPEATING, reduced=20_393),
            cases.PAIRS.holds(44_681, REPEATING, reduced=6_348),
            cases.PAIRS_OF_A_UNION.holds(4_693_941, DIVERGENT, quick=False),
        ),
        "Two primaries go on, and upstream feeds one of them: the other one adds duplicates.",
        assumes=SUSPICIONS,
    ),
    PASSIVE_STANDBY.design(
        "published-precise",
        replace(PUBLISHED, again=Again.FROM),
        (
            cases.A_RELAY.fails(166_726, 10, REPEATING, reduced=12_056),
            cases.PAIRS.fails(74_594, 12, REPEATING, reduced=6_050),
        ),
        'To discard the tuples "preceding" the last one received is to send that one again.',
    ),
    PASSIVE_STANDBY.design(
        "line-free",
        replace(PRECISE, line=Line.FREE),
        (cases.TWO_OPERATORS_IN_A_NODE.fails(428_865, 18, DIVERGENT),),
        "A tuple that passes the sweep line is in the state of the operator behind it, and "
        "upstream sends it again: the checkpoint is no consistent cut.",
    ),
    PASSIVE_STANDBY.design(
        "late-taken",
        replace(PRECISE, late=LateTuples.TAKEN),
        (cases.A_RELAY.fails(174_516, 10, REPEATING, reduced=11_358),),
        "The last tuples of the dead primary can come after the first ones of the new one: the "
        "question for the last tuple received was answered too early.",
    ),
    PASSIVE_STANDBY.design(
        "releases-processed",
        replace(PRECISE, releases=Releases.PROCESSED),
        (cases.PAIRS.fails(None, 15, GAP, reduced=24_435),),
        "If upstream lets go of what the primary has, a checkpoint without it is too old.",
    ),
    PASSIVE_STANDBY.design(
        "renewal-delta",
        replace(PRECISE, renewal=FirstCheckpoint.DELTA),
        (cases.PAIRS_TWO_CRASHES.fails(128_371, 21, GAP),),
        "A new secondary that gets only what has changed does not have the rest.",
    ),
    PASSIVE_STANDBY.design(
        "renewal-later",
        replace(PRECISE, renewal=FirstCheckpoint.NOTHING),
        (cases.PAIRS_TWO_CRASHES.fails(62_805, 19, GAP),),
        "Until the next input comes, a new secondary has nothing: the second failure may be first.",
    ),
    PASSIVE_STANDBY.design(
        "suspicion",
        PRECISE,
        (
            cases.A_RELAY.holds(121_604, reduced=7_893),
            cases.PAIRS.holds(104_924, reduced=6_600),
        ),
        "With the deposition of the old primary, a false suspicion does no harm.",
        assumes=SUSPICIONS,
        must_occur=(*SEEN, SUSPECTED),
    ),
    PASSIVE_STANDBY.design(
        "deposes-nobody",
        replace(PRECISE, deposes=Deposes.NO),
        (cases.A_RELAY_TWO_CRASHES.fails(113_302, 14, GAP),),
        "A primary that does not know of its end stays one: after the next failure nobody has the "
        "state.",
        assumes=SUSPICIONS,
        must_occur=(*SEEN, SUSPECTED),
    ),
    PASSIVE_STANDBY.design(
        "any",
        PRECISE,
        (
            cases.A_RELAY_TWO_CRASHES.fails(None, 6, GAP, reduced=355_415),
            cases.PAIRS_TWO_CRASHES.fails(None, 7, GAP, reduced=328_695),
        ),
        "Two failures at once lose both states.",
        assumes=ANY,
    ),
    PASSIVE_STANDBY.design(
        "forwards-sent",
        replace(ARBITRARY_TOO, forwards=Forwards.SENT),
        (cases.A_UNION.fails(467_159, 16, GAP, reduced=14_578),),
        "A checkpoint that has been sent can be lost with its primary, and the outputs in it have "
        "left: the secondary may choose another order.",
    ),
    PASSIVE_STANDBY.design(
        "forwards-all",
        replace(ARBITRARY_TOO, forwards=Forwards.ALL),
        (cases.A_UNION.fails(None, 14, GAP, reduced=16_439),),
        "Numbers do not identify the tuples of an arbitrary network: another output has the "
        "number.",
    ),
    PASSIVE_STANDBY.design(
        "alone-silent",
        replace(ARBITRARY_TOO, alone=Alone.NOTHING, returns=NodeReturns.NEVER),
        (
            cases.A_UNION.fails(12_496, 10, GAP),
            cases.A_RELAY.fails(1_472, 8, GAP),
        ),
        '"Only checkpointed tuples" leaves nothing to forward once the secondary is lost for ever.',
    ),
    ROLLBACK.design(
        "sources-forget",
        replace(PUBLISHED, returns=NodeReturns.NEVER, sources=SourceLog.NONE),
        (
            cases.A_TUPLE.fails(217, 6, GAP),
            cases.PAIRS.fails(1_736, 7, GAP),
        ),
        "7.5 asks nothing of the sources of the first nodes: a tuple that no checkpoint has is "
        "lost with the primary, unless its source keeps it.",
    ),
    *NO_RETURN,
    *CHAINS,
)
