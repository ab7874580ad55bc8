"""The variants of upstream backup: as published, and with one choice made differently.

Rule of this file: no design without its claim, the verdict expected of it, and the length of a
shortest counterexample.
"""

from __future__ import annotations

from model.cep.numbering import PAIRS, PAIRS_FROM_FIRST_WINDOW, PAIRS_OF_INPUTS, SCALAR
from model.cep.windows import CountWindows
from model.core import (
    Guarantee,
)
from model.evidence import Case
from model.parts import over_words
from model.protocols.upstream_backup import scopes
from model.protocols.upstream_backup.design import UpstreamBackupDesign
from model.protocols.upstream_backup.family import UPSTREAM_BACKUP, WITHOUT_SKIPS
from model.protocols.upstream_backup.layouts import Drawing
from model.protocols.upstream_backup.savepoints import Scheme, Skipping
from model.protocols.upstream_backup.scopes import (
    AB,
    ALIGNED,
    ANY_MATCH,
    CONVERGENT_CAPABLE,
    DETERMINISTIC,
    EVERY,
    PIPELINE,
    REPEATABLE,
    SKIPPY,
    TOGGLED,
    UNEVEN_BY_TYPE,
    one,
)

GAP, REPEATING, PRECISE = Guarantee.GAP, Guarantee.REPEATING, Guarantee.PRECISE
DIVERGENT, CONVERGENT = Guarantee.DIVERGENT, Guarantee.CONVERGENT

VARIANTS = (
    UPSTREAM_BACKUP.design(
        "scalar",
        UpstreamBackupDesign(Scheme(SCALAR)),
        (
            scopes.SERIAL_PROCESSING.holds(11_881),
            Case("Fig. 8a in small: every event matches", EVERY, REPEATABLE).fails(
                258_318, 29, GAP, reduced=19_797
            ),
        ),
        "As the paper says (III-B3): scalar numbers are right while windows are processed one "
        "after the other, and wrong in parallel.",
    ),
    UPSTREAM_BACKUP.design(
        "pairs",
        UpstreamBackupDesign(Scheme(PAIRS)),
        (
            Case("Fig. 8b in small: every event matches", EVERY, REPEATABLE).holds(
                256_584, reduced=19_670
            ),
            Case("two matches in one window and iteration", ANY_MATCH, REPEATABLE).fails(
                16_454, 12, GAP
            ),
            scopes.TWO_RUNS_IN_ONE_ITERATION.fails(11_581, 13, GAP),
            scopes.RUNS_THAT_CONSUME.holds(10_899),
            scopes.FIRST_MATCH_NOT_IN_THE_FIRST_WINDOW_KEPT.fails(31_657, 15, REPEATING),
            scopes.AN_ENGINE_THAT_IS_NOT_MONOTONE.fails(480_521, 15, GAP),
        ),
        "The x:y pairs as published (III-B4) are right for Fig. 8 and not for every engine: two "
        "matches of one window and iteration get one number, even without a failure; the y of the "
        "first match need not be the first window kept; and x counts iterations in which only "
        "dropped windows produced, which a replay does not see.",
    ),
    UPSTREAM_BACKUP.design(
        "pairs-first-window",
        UpstreamBackupDesign(Scheme(PAIRS_FROM_FIRST_WINDOW)),
        (
            scopes.FIRST_MATCH_NOT_IN_THE_FIRST_WINDOW_KEPT.holds(31_278),
            Case("iterations that only dropped windows produced in", TOGGLED, REPEATABLE).fails(
                471_336, 26, GAP
            ),
            scopes.RUNS_THAT_SKIP.fails(303_236, 34, GAP),
        ),
        "Sending the number of the first window kept mends y; x stays wrong.",
    ),
    UPSTREAM_BACKUP.design(
        "pairs-of-inputs",
        UpstreamBackupDesign(Scheme(PAIRS_OF_INPUTS)),
        (
            scopes.AN_ENGINE_THAT_IS_NOT_MONOTONE.holds(471_017),
            Case("skipped events are not counted in the replay", SKIPPY, DETERMINISTIC).fails(
                92_022, 17, GAP
            ),
        ),
        "Counting all input events in x is right until skipped events are left out of the replay.",
    ),
    UPSTREAM_BACKUP.design(
        "pairs-of-inputs-no-skips",
        UpstreamBackupDesign(Scheme(PAIRS_OF_INPUTS, Skipping.OFF)),
        (
            Case("no event is skipped", SKIPPY, DETERMINISTIC).holds(92_241),
            scopes.TWO_RUNS_IN_ONE_ITERATION.fails(11_578, 13, GAP),
            scopes.NO_CRASH.holds(7_557),
        ),
        "Without skip ranges x may count all input events, if one event completes one match of a "
        "window: two have one number, as with the published pairs.",
        behaviour=WITHOUT_SKIPS,
    ),
    UPSTREAM_BACKUP.design(
        "no-skips",
        UpstreamBackupDesign(Scheme(skipping=Skipping.OFF)),
        (
            Case("count windows", over_words(one(AB, CountWindows(3, 2)), 5), DETERMINISTIC).holds(
                23_787
            ),
            scopes.NO_CRASH.holds(7_557),
        ),
        "The base method, with the correct numbering: what skip ranges are compared with.",
        behaviour=WITHOUT_SKIPS,
    ),
    UPSTREAM_BACKUP.design(
        "coalesced-skips",
        UpstreamBackupDesign(Scheme(skipping=Skipping.COALESCED)),
        (
            Case("one input edge", SKIPPY, DETERMINISTIC).holds(92_487),
            Case("two input edges, a type on each", UNEVEN_BY_TYPE, REPEATABLE).fails(
                20_165, 24, GAP
            ),
        ),
        "One skip-ranges array for all input edges, as III-A reads for several edges, deletes "
        "events of another edge that a replay still needs.",
    ),
    UPSTREAM_BACKUP.design(
        "counted-windows",
        UpstreamBackupDesign(Scheme(drawing=Drawing.NOTHING)),
        (scopes.SKIPPED_EVENTS_DO_NOT_COUNT.fails(45_962, 17, GAP),),
        "Counting the replayed events gives other windows once skipped events are left out.",
    ),
    UPSTREAM_BACKUP.design(
        "opener-windows",
        UpstreamBackupDesign(Scheme(drawing=Drawing.OPENERS)),
        (scopes.SKIPPED_EVENTS_DO_NOT_COUNT.fails(64_687, 17, GAP),),
        "Saving which events opened windows (III-B5) says where windows begin but not where they "
        "end, nor how many events have passed since: with skip ranges they end elsewhere.",
    ),
    UPSTREAM_BACKUP.design(
        "neighbours-only",
        UpstreamBackupDesign(ancestors=False),
        (
            Case("one crash", over_words(PIPELINE, 2, "a"), CONVERGENT_CAPABLE).holds(2_976),
            Case(
                "adjacent operators, two crashes",
                over_words(ALIGNED, 4, "a", crashes=2),
                DETERMINISTIC,
            ).fails(329_600, 34, DIVERGENT, reduced=42_576),
        ),
        "As the paper says (II-C): savepoints kept in predecessors alone are lost when adjacent "
        "operators fail together.",
    ),
    UPSTREAM_BACKUP.design(
        "notices",
        UpstreamBackupDesign(notice_every=1),
        (
            Case(
                "count windows, two crashes",
                over_words(one(AB, CountWindows(3, 3)), 4, crashes=2),
                DETERMINISTIC,
            ).holds(53_840, reduced=11_246),
            Case("count windows", over_words(one(AB, CountWindows(3, 2)), 5), DETERMINISTIC).holds(
                29_729
            ),
            scopes.NO_CRASH.holds(8_862),
        ),
        "The future work of Section IV: skip ranges sent ahead of savepoints are safe, provided "
        "that the window layout travels with them.",
    ),
)
