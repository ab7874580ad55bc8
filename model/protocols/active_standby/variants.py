"""Designs of active standby, each with its claim and the verdict expected of it.

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
from model.properties import AS_IF, COMPLETE
from model.protocol import Assumptions, Failures
from model.protocols.active_standby import design as designs
from model.protocols.active_standby import runs
from model.protocols.active_standby.any_replica import ANY_REPLICA
from model.protocols.active_standby.chains import CHAINS
from model.protocols.active_standby.design import (
    PRECISE,
    PUBLISHED,
    ActiveStandbyDesign,
    Joins,
    Overdue,
    SecondaryStart,
    Serves,
    Trims,
)
from model.protocols.active_standby.family import (
    ACTIVE_STANDBY,
    ALL,
    ROLLBACK,
    SEEN,
)
from model.protocols.active_standby.mutants import DETERMINANTS
from model.protocols.active_standby.properties import LETS_GO
from model.standbys.choices import Again, Deposes, Determinants, LateTuples, NodeReturns, SourceLog

GAP, REPEATING = Guarantee.GAP, Guarantee.REPEATING
DIVERGENT, CONVERGENT = Guarantee.DIVERGENT, Guarantee.CONVERGENT
ANY = Assumptions(Failures.ANY)
SUSPICIONS = Assumptions(Failures.SINGLE, suspicions=True)

MENDED = ActiveStandbyDesign()
ARBITRARY_TOO = designs.ARBITRARY
VARIANTS = (
    ACTIVE_STANDBY.design(
        "arbitrary",
        replace(ARBITRARY_TOO, returns=NodeReturns.NEVER),
        (
            cases.A_RELAY.holds(22_558),
            cases.PAIRS.holds(39_970, reduced=11_736),
            cases.A_UNION.holds(410_747, reduced=34_363),
            cases.PAIRS_OF_A_UNION.holds(6_192_585, quick=False),
            cases.A_JOIN.holds(None, quick=False, reduced=241_682),
            cases.FIGURE_5.holds(None, quick=False, reduced=218_004),
        ),
        "If outputs wait until the secondary has their determinants, recovery is precise for "
        "arbitrary networks.",
        mutants=DETERMINANTS,
    ),
    ROLLBACK.design(
        "rollback",
        replace(MENDED, returns=NodeReturns.NEVER),
        (
            cases.A_RELAY.holds(20_507, REPEATING),
            cases.A_FILTER.holds(27_531, REPEATING),
            cases.SLIDING_WINDOWS.holds(94_073, REPEATING, reduced=8_118),
            cases.PAIRS.holds(20_909, REPEATING),
            cases.WINDOWS_FROM_THE_FIRST_TUPLE.holds(
                2_353_300, REPEATING, quick=False, reduced=80_123
            ),
            cases.PAIRS_OF_A_UNION.holds(7_870_502, DIVERGENT, quick=False),
            cases.A_JOIN_BY_TIME_THREE_TUPLES.holds(None, REPEATING, reduced=30_506),
            cases.A_JOIN.holds(None, REPEATING, quick=False, reduced=93_059),
            cases.TWO_CONSUMERS.holds(None, REPEATING, reduced=22_405),
            cases.TWO_STREAMS.holds(211_300, REPEATING, reduced=15_762),
            cases.FIGURE_5.holds(None, DIVERGENT, quick=False, reduced=205_367),
        ),
        "Without questions to downstream, every class recovers as in Table 2.",
        runs=(runs.B_IS_THERE,),
    ),
    ROLLBACK.design(
        "rollback-again",
        MENDED,
        (
            cases.A_RELAY_TWO_CRASHES.holds(365_727, REPEATING, reduced=53_603),
            cases.SLIDING_WINDOWS_TWO_CRASHES.holds(
                1_448_651, REPEATING, quick=False, reduced=141_263
            ),
            cases.PAIRS_TWO_CRASHES.holds(323_930, REPEATING, reduced=73_959),
            cases.PAIRS_OF_A_UNION_TWO_CRASHES.holds(
                None, DIVERGENT, quick=False, reduced=5_568_641
            ),
        ),
        "The same after an earlier failure that is over.",
    ),
    ROLLBACK.design(
        "rollback-any",
        MENDED,
        (
            cases.A_RELAY_TWO_CRASHES.fails(None, 12, GAP, reduced=1_842_090),
            cases.A_PAIR_TWO_CRASHES.fails(None, 15, GAP, reduced=227_269),
            cases.SLIDING_WINDOWS_TWO_CRASHES.fails(None, 15, GAP),
        ),
        "A second failure before the new secondary has its copy loses the state.",
        assumes=ANY,
    ),
    ROLLBACK.design(
        "rollback-suspicion",
        MENDED,
        (
            cases.A_RELAY.holds(465_341, REPEATING, reduced=45_985),
            cases.PAIRS.holds(333_011, REPEATING, reduced=53_655),
            cases.SLIDING_WINDOWS.holds(1_889_580, REPEATING, quick=False, reduced=133_901),
            cases.PAIRS_OF_A_UNION.holds(None, DIVERGENT, quick=False, reduced=3_212_462),
        ),
        "A primary that is taken for dead is deposed: nothing is lost.",
        assumes=SUSPICIONS,
    ),
    ROLLBACK.design(
        "published",
        replace(PUBLISHED, returns=NodeReturns.NEVER),
        (
            cases.A_RELAY.holds(35_913, REPEATING, reduced=4_190),
            cases.A_FILTER.holds(44_204, REPEATING, reduced=6_438),
            cases.SLIDING_WINDOWS.holds(168_575, REPEATING, reduced=10_902),
            cases.PAIRS.holds(24_499, REPEATING),
            cases.WINDOWS_FROM_THE_FIRST_TUPLE.holds(7_646_137, REPEATING, quick=False),
            cases.PAIRS_OF_A_UNION.holds(16_738_103, DIVERGENT, quick=False),
            cases.A_JOIN_BY_TIME_THREE_TUPLES.holds(None, REPEATING, reduced=30_935),
            cases.A_JOIN.holds(None, REPEATING, quick=False, reduced=100_489),
            cases.TWO_CONSUMERS.holds(None, REPEATING, reduced=44_164),
            cases.TWO_STREAMS.holds(337_942, REPEATING, reduced=24_876),
            cases.FIGURE_5.holds(None, DIVERGENT, quick=False, reduced=410_792),
        ),
        "As in Table 2 after one failure, but for arbitrary networks: a secondary with another "
        "order of inputs can discard a result that downstream does not have.",
        runs=(runs.B_IS_LOST,),
    ),
    ROLLBACK.design(
        "published-again",
        PUBLISHED,
        (
            cases.A_RELAY_TWO_CRASHES.holds(511_452, REPEATING, reduced=60_353),
            cases.SLIDING_WINDOWS_TWO_CRASHES.fails(
                2_516_583, 21, GAP, quick=False, reduced=197_356
            ),
            cases.A_PAIR_TWO_CRASHES.fails(69_008, 21, GAP, reduced=10_463),
            cases.PAIRS_OF_A_UNION_TWO_CRASHES.fails(None, 27, GAP, quick=False, reduced=4_185_715),
        ),
        '"Starts with an empty state": a new secondary of a network that is not repeatable does '
        "not have the state when the next failure comes, and after it results are lost.",
    ),
    ROLLBACK.design(
        "published-any",
        PUBLISHED,
        (
            cases.A_RELAY_TWO_CRASHES.fails(None, 10, GAP),
            cases.PAIRS_TWO_CRASHES.fails(None, 11, GAP),
            cases.SLIDING_WINDOWS_TWO_CRASHES.fails(None, 11, GAP),
        ),
        "A second failure while the first is being repaired loses the state.",
        assumes=ANY,
    ),
    ROLLBACK.design(
        "published-suspicion",
        PUBLISHED,
        (
            cases.A_RELAY.holds(461_230, REPEATING, reduced=35_415),
            cases.PAIRS.holds(437_683, REPEATING, reduced=43_185),
            cases.SLIDING_WINDOWS.holds(2_099_895, REPEATING, quick=False, reduced=113_022),
            cases.PAIRS_OF_A_UNION.holds(None, DIVERGENT, quick=False, reduced=2_001_873),
        ),
        "Two primaries send the same outputs: duplicates, and no more.",
        assumes=SUSPICIONS,
    ),
    ACTIVE_STANDBY.design(
        "published-precise",
        replace(PUBLISHED, again=Again.FROM),
        (cases.A_RELAY.fails(491_324, 8, REPEATING, reduced=40_628),),
        'To discard the tuples "preceding" the last one received is to send that one again.',
    ),
    ACTIVE_STANDBY.design(
        "renewal-new",
        replace(PRECISE, renewal=SecondaryStart.NEW),
        (
            cases.A_RELAY_TWO_CRASHES.fails(578_562, 25, GAP, reduced=46_992),
            cases.PAIRS_TWO_CRASHES.fails(None, 19, GAP, reduced=105_414),
        ),
        "A new secondary with an empty state is not up to date at the next failure.",
    ),
    ACTIVE_STANDBY.design(
        "renewal-kept",
        replace(PRECISE, renewal=SecondaryStart.KEPT),
        (
            cases.A_RELAY_TWO_CRASHES.fails(843_907, 31, GAP, reduced=52_794),
            cases.PAIRS_TWO_CRASHES.fails(1_809_815, 22, GAP, quick=False, reduced=123_914),
        ),
        "What upstream keeps is not what the state is made of: it lets go of a tuple when both "
        "replicas have it.",
    ),
    ACTIVE_STANDBY.design(
        "joins-at-once",
        replace(PRECISE, joins=Joins.AT_ONCE),
        (cases.A_RELAY_TWO_CRASHES.fails(985_506, 36, GAP, reduced=108_466),),
        "A copy that is older than the request for tuples: upstream has let go of those between.",
    ),
    ACTIVE_STANDBY.design(
        "late-taken",
        replace(PRECISE, late=LateTuples.TAKEN),
        (cases.A_RELAY.fails(780_625, 8, REPEATING),),
        "The last tuples of the dead primary can come after the first ones of the new one.",
    ),
    ACTIVE_STANDBY.design(
        "none-greater",
        replace(PRECISE, trims=Trims.NONE_GREATER, serves=Serves.HIGH),
        (
            cases.WINDOWS_THAT_CLOSE_TOGETHER.fails(
                1_964_872, 25, DIVERGENT, quick=False, reduced=95_616
            ),
            cases.TWO_PATHS.fails(39_273, 21, DIVERGENT, reduced=4_779),
        ),
        "Windows that one tuple closes share a high watermark with those that downstream has not.",
    ),
    ROLLBACK.design(
        "any-lower",
        replace(MENDED, trims=Trims.ANY_LOWER, serves=Serves.HIGH, returns=NodeReturns.NEVER),
        (cases.A_UNION.fails(584_941, 18, GAP, reduced=35_206),),
        "With two inputs an output can be lower for one and greater for the other.",
    ),
    ROLLBACK.design(
        "serves-high",
        replace(MENDED, serves=Serves.HIGH, returns=NodeReturns.NEVER),
        (
            cases.A_RELAY.holds(20_507, REPEATING),
            cases.PAIRS_OF_A_UNION.holds(7_905_094, DIVERGENT, quick=False),
        ),
        "A secondary that takes its inputs in another order discards an output whose inputs are in "
        "no output that downstream has.",
        runs=(runs.B_IS_LOST,),
    ),
    ACTIVE_STANDBY.design(
        "determinants-sent",
        replace(ARBITRARY_TOO, determinants=Determinants.SENT, returns=NodeReturns.NEVER),
        (cases.A_UNION.fails(508_096, 11, GAP, reduced=86_927),),
        "Determinants that have been sent can be lost with the primary, and their outputs have "
        "left.",
    ),
    ACTIVE_STANDBY.design(
        "determinants-none",
        replace(ARBITRARY_TOO, determinants=Determinants.NONE, returns=NodeReturns.NEVER),
        (cases.A_UNION.fails(439_033, 10, GAP, reduced=27_210),),
        "Without determinants the secondary has another order, and numbers do not identify its "
        "outputs.",
    ),
    ACTIVE_STANDBY.design(
        "suspicion",
        PRECISE,
        (
            cases.A_RELAY.holds(392_878, reduced=48_462),
            cases.PAIRS.holds(384_203, reduced=65_535),
        ),
        "With the deposition of the old primary, a false suspicion does no harm.",
        assumes=SUSPICIONS,
        must_occur=(*SEEN, SUSPECTED),
    ),
    ACTIVE_STANDBY.design(
        "deposes-nobody",
        replace(PRECISE, deposes=Deposes.NO),
        (cases.A_TUPLE_TWO_CRASHES.fails(12_490, 19, GAP),),
        "Two primaries: the old one is no secondary, so nobody takes over at the next failure.",
        assumes=SUSPICIONS,
        must_occur=(*SEEN, SUSPECTED),
    ),
    ACTIVE_STANDBY.design(
        "any",
        PRECISE,
        (cases.A_RELAY_TWO_CRASHES.fails(None, 10, GAP, reduced=1_389_036),),
        "Two failures at once lose both states.",
        assumes=ANY,
    ),
    ACTIVE_STANDBY.design(
        "overdue-logged",
        PRECISE,
        (cases.NO_CRASH.fails(1_543, 15), cases.A_TUPLE.fails(7_244, 19)),
        "A secondary that is behind, or has taken over, logs outputs that all readers have, and "
        "keeps them until the next release.",
        properties=(AS_IF, COMPLETE, LETS_GO),
    ),
    ACTIVE_STANDBY.design(
        "overdue-dropped",
        replace(PRECISE, overdue=Overdue.DROPPED),
        (
            cases.NO_CRASH.holds(1_550),
            cases.NO_CRASH_A_FILTER.holds(2_677),
            cases.NO_CRASH_SLIDING_WINDOWS.holds(8_090),
            cases.A_TUPLE_TWO_CRASHES.holds(11_104),
            cases.A_RELAY.holds(286_126, reduced=29_189),
            cases.PAIRS.holds(282_930, reduced=39_730),
        ),
        "If no replica logs outputs that all readers have, and a primary reports these, too, each "
        "replica lets go, after a failure as well.",
        properties=(AS_IF, COMPLETE, LETS_GO),
        must_occur=ALL,
    ),
    ROLLBACK.design(
        "sources-forget",
        replace(PUBLISHED, returns=NodeReturns.NEVER, sources=SourceLog.NONE),
        (
            cases.A_TUPLE.holds(614, REPEATING),
            cases.A_RELAY.holds(35_913, REPEATING, reduced=4_190),
        ),
        "Sources that send to both replicas need not keep anything: 7.5 is right.",
    ),
    *ANY_REPLICA,
    *CHAINS,
)
