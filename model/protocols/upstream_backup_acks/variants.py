"""Designs of upstream backup by acknowledgements, each with its claim and the verdict expected.

Rule of this file: no design without its claim and the verdict expected of it.

Claims are the paper's: Table 2 for rollback recovery, Section 6 for precise recovery.
"""

from __future__ import annotations

from dataclasses import replace

from model import pair_scopes as cases
from model.core import (
    CRASHED,
    SUSPECTED,
    Guarantee,
)
from model.pair_scopes import DETERMINISTIC
from model.properties import NOTHING_LOST
from model.protocol import Assumptions, Failures
from model.protocols.upstream_backup_acks import runs
from model.protocols.upstream_backup_acks.chains import CHAINS
from model.protocols.upstream_backup_acks.design import (
    ARBITRARY_TOO,
    PRECISE,
    PUBLISHED,
    Idle,
    InputNames,
    Labels,
    Maps,
    Oldest,
    Repeats,
    UpstreamBackupAcksDesign,
)
from model.protocols.upstream_backup_acks.family import (
    LETS_GO,
    ROLLBACK,
    SEEN,
    UPSTREAM_BACKUP_ACKS,
)
from model.protocols.upstream_backup_acks.mutants import LOGGED, NAMED
from model.standbys.choices import Deposes, Determinants, LateTuples, Newest, NodeReturns, SourceLog
from model.standbys.messages import TOOK_OVER

GAP, REPEATING = Guarantee.GAP, Guarantee.REPEATING
DIVERGENT, CONVERGENT = Guarantee.DIVERGENT, Guarantee.CONVERGENT
ANY = Assumptions(Failures.ANY)
SUSPICIONS = Assumptions(Failures.SINGLE, suspicions=True)

MENDED = UpstreamBackupAcksDesign()
VARIANTS = (
    ROLLBACK.design(
        "rollback",
        replace(MENDED, returns=NodeReturns.NEVER),
        (
            cases.A_RELAY.holds(12_520, REPEATING),
            cases.A_FILTER.holds(16_268, REPEATING),
            cases.SLIDING_WINDOWS_FOUR_TUPLES.holds(
                1_829_141, CONVERGENT, quick=False, reduced=10_021
            ),
            cases.WINDOWS_FROM_THE_FIRST_TUPLE.holds(
                2_606_252, DIVERGENT, quick=False, reduced=12_580
            ),
            cases.PAIRS_OF_A_UNION.holds(7_530_588, DIVERGENT, quick=False),
            cases.A_JOIN_BY_TIME.holds(None, REPEATING, reduced=28_526),
            cases.A_JOIN.holds(None, REPEATING, reduced=8_205),
            cases.TWO_CONSUMERS.holds(None, REPEATING, reduced=10_104),
            cases.TWO_STREAMS.holds(124_374, REPEATING, reduced=5_178),
            cases.FIGURE_5.holds(None, DIVERGENT, reduced=58_987),
        ),
        "Without marks on the outputs: repeatable networks repeat, convergent-capable ones "
        "converge.",
    ),
    ROLLBACK.design(
        "rollback-again",
        MENDED,
        (
            cases.A_RELAY_TWO_CRASHES.holds(61_444, REPEATING, reduced=5_540),
            cases.SLIDING_WINDOWS_FOUR_TUPLES_TWO_CRASHES.holds(9_862_783, CONVERGENT, quick=False),
            cases.WINDOWS_FROM_THE_FIRST_TUPLE_TWO_CRASHES.holds(
                12_796_820, DIVERGENT, quick=False
            ),
            cases.PAIRS_OF_A_UNION_TWO_CRASHES.holds(None, DIVERGENT, quick=False, reduced=227_752),
        ),
        "The same after an earlier failure that is over.",
    ),
    ROLLBACK.design(
        "rollback-any",
        MENDED,
        (
            cases.A_RELAY_TWO_CRASHES.fails(None, 5, GAP, reduced=215_366),
            cases.SLIDING_WINDOWS_TWO_CRASHES.fails(None, 6, GAP, reduced=609_595),
            cases.PAIRS_TWO_CRASHES.fails(None, 6, GAP, reduced=152_795),
            cases.A_UNION_TWO_CRASHES.fails(None, 5, GAP),
        ),
        "If both replicas fail, both return as secondaries, and nobody leads.",
        assumes=ANY,
    ),
    ROLLBACK.design(
        "rollback-suspicion",
        MENDED,
        (
            cases.A_RELAY.holds(99_345, REPEATING, reduced=3_066),
            cases.SLIDING_WINDOWS_FOUR_TUPLES.holds(19_128_813, CONVERGENT, quick=False),
            cases.WINDOWS_FROM_THE_FIRST_TUPLE.holds(None, DIVERGENT, quick=False, reduced=47_334),
            cases.PAIRS_OF_A_UNION.holds(None, DIVERGENT, quick=False, reduced=38_965),
        ),
        "A primary that is taken for dead is deposed: nothing is lost.",
        assumes=SUSPICIONS,
    ),
    ROLLBACK.design(
        "published",
        replace(PUBLISHED, returns=NodeReturns.NEVER),
        (
            cases.A_RELAY.holds(20_694, REPEATING),
            cases.A_FILTER.holds(25_110, REPEATING),
            cases.SLIDING_WINDOWS_FOUR_TUPLES.holds(5_276_056, CONVERGENT, quick=False),
            cases.WINDOWS_FROM_THE_FIRST_TUPLE.holds(6_759_333, DIVERGENT, quick=False),
            cases.PAIRS_OF_A_UNION.holds(14_328_759, DIVERGENT, quick=False),
            cases.A_JOIN_BY_TIME.holds(None, REPEATING, reduced=34_158),
            cases.A_JOIN.holds(None, REPEATING, quick=False, reduced=11_546),
            cases.TWO_CONSUMERS.holds(None, REPEATING, reduced=35_857),
            cases.TWO_STREAMS.holds(188_250, REPEATING, reduced=8_485),
            cases.FIGURE_5.holds(None, DIVERGENT, quick=False, reduced=294_416),
        ),
        "After one failure as in Table 2.",
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "published-aligned",
        replace(PUBLISHED, returns=NodeReturns.NEVER),
        (
            cases.PAIRS.holds(11_317, REPEATING),
            cases.EVERY_OTHER_TUPLE.holds(114_885, REPEATING, reduced=3_075),
        ),
        "Better than Table 2: the cause of an output is the first tuple of a window, so windows by "
        "count stay aligned.",
        claims={DETERMINISTIC: Guarantee.REPEATING},
        properties=(NOTHING_LOST,),
    ),
    ROLLBACK.design(
        "published-again",
        PUBLISHED,
        (
            cases.A_RELAY_TWO_CRASHES.holds(57_418, REPEATING, reduced=8_313),
            cases.SLIDING_WINDOWS_FOUR_TUPLES_TWO_CRASHES.holds(
                14_718_216, CONVERGENT, quick=False
            ),
            cases.WINDOWS_FROM_THE_FIRST_TUPLE_TWO_CRASHES.holds(
                18_099_865, DIVERGENT, quick=False
            ),
            cases.PAIRS_OF_A_UNION_TWO_CRASHES.holds(None, DIVERGENT, quick=False, reduced=571_594),
        ),
        '"Able to tolerate a new failure without further delay": the node has outputs again from '
        "the last one received on, and the next node may need earlier ones.",
    ),
    ROLLBACK.design(
        "published-any",
        PUBLISHED,
        (
            cases.A_RELAY_TWO_CRASHES.fails(None, 5, GAP, reduced=286_232),
            cases.SLIDING_WINDOWS_TWO_CRASHES.fails(None, 6, GAP, reduced=765_089),
            cases.PAIRS_TWO_CRASHES.fails(None, 6, GAP, reduced=151_598),
            cases.A_UNION_TWO_CRASHES.fails(None, 5, GAP),
        ),
        "If both replicas fail, both return as secondaries, and nobody leads.",
        assumes=ANY,
    ),
    ROLLBACK.design(
        "published-suspicion",
        PUBLISHED,
        (
            cases.A_RELAY.holds(100_765, REPEATING, reduced=4_249),
            cases.SLIDING_WINDOWS_FOUR_TUPLES.holds(29_164_995, CONVERGENT, quick=False),
            cases.WINDOWS_FROM_THE_FIRST_TUPLE.holds(None, DIVERGENT, quick=False, reduced=59_731),
            cases.PAIRS_OF_A_UNION.holds(None, DIVERGENT, quick=False, reduced=84_663),
        ),
        "Two primaries acknowledge to one queue: what one of them needs no more, the other may.",
        assumes=SUSPICIONS,
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "published-repeatable",
        replace(PUBLISHED, repeats=Repeats.LOW),
        (
            cases.A_RELAY.holds(43_443, reduced=2_150),
            cases.TWO_PATHS.fails(4_279, 8, DIVERGENT),
            cases.A_JOIN_BY_TIME.fails(None, 15, GAP, reduced=39_600),
        ),
        '"Indicators therefore uniquely identify tuples": not where one tuple has two outputs.',
        runs=(runs.NUMBERED_ANEW,),
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "published-convergent",
        replace(PUBLISHED, repeats=Repeats.HIGH),
        (
            cases.SLIDING_WINDOWS.holds(174_764, reduced=4_253),
            cases.A_JOIN_BY_TIME.holds(None, reduced=44_110),
            cases.WINDOWS_THAT_CLOSE_TOGETHER.fails(175_363, 11, DIVERGENT, reduced=6_061),
        ),
        "Windows that one tuple closes have one high watermark: the second one is discarded.",
        runs=(runs.NUMBERED_ANEW,),
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "high-lower",
        replace(PRECISE, repeats=Repeats.HIGH_LOWER),
        (
            cases.A_RELAY.fails(53_872, 9, REPEATING, reduced=2_044),
            cases.SLIDING_WINDOWS.fails(215_879, 12, REPEATING, reduced=4_178),
        ),
        "If only lower high watermarks mark duplicates, the last tuple received comes again.",
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "high",
        replace(PRECISE, repeats=Repeats.HIGH),
        (
            cases.TWO_PATHS.fails(5_438, 8, DIVERGENT),
            cases.WINDOWS_THAT_CLOSE_TOGETHER.fails(241_739, 11, DIVERGENT, reduced=6_282),
        ),
        "Windows that one tuple closes have one high watermark: the second one is discarded.",
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "low",
        replace(PRECISE, repeats=Repeats.LOW),
        (cases.TWO_PATHS.fails(5_438, 8, DIVERGENT),),
        "One tuple with two outputs: both have its low watermark.",
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "newest-made-of",
        replace(PRECISE, newest=Newest.MADE_OF, names=InputNames.PLACE),
        (cases.WINDOWS_BY_KEY.fails(None, 14, GAP, reduced=174_768),),
        "An old window that closes late has an older watermark than the output before it: without "
        "any failure it is taken for a duplicate.",
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "made-of",
        replace(PRECISE, oldest=Oldest.MADE_OF, returns=NodeReturns.NEVER),
        (
            cases.A_WINDOW_BESIDE_A_MAP.fails(None, 20, DIVERGENT, reduced=10_448),
            cases.WINDOWS_BY_KEY.fails(7_052_780, 25, GAP, quick=False),
        ),
        "The oldest tuple that an output was made of can be younger than one in an open window: "
        "upstream lets go of that one.",
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "maps-received",
        replace(PRECISE, maps=Maps.RECEIVED, idle=Idle.STATE, returns=NodeReturns.NEVER),
        (
            cases.A_RELAY.holds(14_212),
            cases.TWO_NODES_TWO_CRASHES.fails(330_931, 29, GAP, reduced=19_657),
        ),
        "A node that restarts at the cause of what downstream has received does not make again "
        "what downstream has in its windows: the next failure there loses it.",
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "labels-place",
        replace(PRECISE, labels=Labels.PLACE, idle=Idle.STATE, returns=NodeReturns.NEVER),
        (
            cases.A_RELAY.holds(14_212),
            cases.TWO_NODES_THAT_RELAY_TWO_CRASHES.holds(175_869, reduced=11_715),
        ),
        "A restarted node counts anew: an acknowledgement of its predecessor's tuple releases the "
        "one that has the number now.  A window is lost after the next failure, in runs that are "
        "longer than those of these scopes.",
        runs=(runs.ANOTHER_TUPLE_IS_RELEASED,),
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "names-place",
        replace(PRECISE, names=InputNames.PLACE, idle=Idle.STATE, returns=NodeReturns.NEVER),
        (cases.TWO_RELAYS.fails(270_292, 25, GAP, reduced=6_905),),
        "A restarted node numbers its outputs from the beginning: to the node after the next one, "
        "new outputs look like old ones.",
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "idle-state",
        replace(PRECISE, idle=Idle.STATE),
        (
            cases.A_RELAY.holds(61_564, reduced=2_424),
            cases.SLIDING_WINDOWS.holds(190_297, reduced=4_233),
            cases.NO_CRASH.holds(197),
            cases.NO_CRASH_A_FILTER.holds(318),
        ),
        "A node that releases all but its state lets queues become empty.  Windows by count with "
        "gaps lose their alignment: their state holds no tuple and is not empty.",
        behaviour=LETS_GO,
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "idle-state-permanent",
        replace(PRECISE, idle=Idle.STATE, returns=NodeReturns.NEVER),
        (
            cases.A_RELAY.holds(14_212),
            cases.TWO_NODES_THAT_RELAY_TWO_CRASHES.holds(175_869, reduced=11_715),
            cases.TWO_NODES_OVERLAPPING_WINDOWS_TWO_CRASHES.holds(23_819_056, quick=False),
            cases.TWO_RELAYS.holds(270_292, reduced=6_905),
        ),
        "The same with nodes that never return.",
        mutants=NAMED,
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "idle-state-gaps",
        replace(PRECISE, idle=Idle.STATE),
        (cases.EVERY_OTHER_TUPLE.fails(423_367, 15, GAP, reduced=6_691),),
        "Windows by count with gaps between them: the count of tuples to skip is a state without "
        "a tuple, and is lost.",
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "late-taken",
        replace(PRECISE, late=LateTuples.TAKEN),
        (cases.A_RELAY.holds(69_143, reduced=2_367),),
        "Marks tell late tuples of the dead primary from new ones.",
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "any",
        PRECISE,
        (cases.A_RELAY_TWO_CRASHES.fails(None, 5, GAP, reduced=180_071),),
        "If both replicas fail, both return as secondaries, and nobody leads.",
        assumes=ANY,
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "suspicion",
        PRECISE,
        (
            cases.A_RELAY.holds(82_994, reduced=2_930),
            cases.SLIDING_WINDOWS.holds(336_960, reduced=6_382),
        ),
        "With the deposition of the old primary, a false suspicion does no harm.",
        assumes=SUSPICIONS,
        must_occur=(*SEEN, SUSPECTED),
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "deposes-nobody",
        replace(PRECISE, deposes=Deposes.NO),
        (cases.A_RELAY_TWO_CRASHES.fails(121_558, 9, GAP, reduced=12_589),),
        "Two primaries acknowledge to one queue.",
        assumes=SUSPICIONS,
        must_occur=(*SEEN, SUSPECTED),
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "permanent",
        replace(PRECISE, returns=NodeReturns.NEVER),
        (
            cases.A_RELAY.holds(9_940),
            cases.A_WINDOW_BESIDE_A_MAP.holds(987_026, reduced=6_903),
            cases.SLIDING_WINDOWS_FOUR_TUPLES.holds(1_272_765, quick=False, reduced=9_232),
            cases.WINDOWS_BY_KEY.holds(6_623_294, quick=False),
            cases.TWO_NODES_THAT_RELAY_TWO_CRASHES.holds(175_869, reduced=11_715),
        ),
        "A primary that never returns does no harm to the outputs.",
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "arbitrary",
        replace(ARBITRARY_TOO, returns=NodeReturns.NEVER),
        (
            cases.A_RELAY.holds(21_429),
            cases.PAIRS.holds(17_835),
            cases.EVERY_OTHER_TUPLE.holds(141_321, reduced=7_125),
            cases.A_UNION.holds(1_122_408, reduced=12_850),
            cases.A_JOIN.holds(None, reduced=40_777),
            cases.A_JOIN_BY_TIME.holds(None, quick=False, reduced=175_493),
            cases.FIGURE_5.holds(None, quick=False, reduced=118_161),
        ),
        "A restart that follows the logged order, from where the log begins, is precise for "
        "arbitrary networks.",
        mutants=LOGGED,
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "determinants-none",
        replace(ARBITRARY_TOO, determinants=Determinants.NONE, returns=NodeReturns.NEVER),
        (cases.A_UNION.fails(584_493, 14, REPEATING, reduced=5_110),),
        "Without determinants the order of a union is another one after a restart.",
    ),
    UPSTREAM_BACKUP_ACKS.design(
        "determinants-sent",
        replace(ARBITRARY_TOO, determinants=Determinants.SENT, returns=NodeReturns.NEVER),
        (cases.A_UNION.fails(341_807, 15, REPEATING, reduced=10_580),),
        "Determinants that have been sent can be lost with the primary, and their outputs have "
        "left.",
    ),
    ROLLBACK.design(
        "sources-forget",
        replace(PUBLISHED, returns=NodeReturns.NEVER, sources=SourceLog.NONE),
        (cases.A_TUPLE.fails(171, 6, GAP),),
        "Sources have to log what they send, as 7.5 says: nobody else has it.",
        must_occur=(CRASHED, TOOK_OVER),
    ),
    *CHAINS,
)
