"""The variants of upstream backup: as published, and with one choice made differently.

Rule of this file: no design without its claim, the verdict expected of it, and the length of a
shortest counterexample.
"""

from __future__ import annotations

from functools import partial

from model.cep.numbering import PAIRS, PAIRS_FROM_FIRST_WINDOW, PAIRS_OF_INPUTS, SCALAR
from model.cep.windows import CountWindows
from model.core import (
    CHECKPOINTED,
    CRASHED,
    DISCARDED,
    REPLAYED,
    RESTORED,
    SPANNED,
    Assumptions,
    Failures,
    Guarantee,
    OperatorClass,
    Outcome,
    PinnedScope,
    Protocol,
    Scope,
)
from model.parts import over_words
from model.properties import AS_IF, COMPLETE
from model.protocols.upstream_backup.layouts import Drawing
from model.protocols.upstream_backup.need import needed
from model.protocols.upstream_backup.nodes import (
    KNOBS,
    NOTICES,
    RETAINED,
    Design,
    boot,
    deploy,
    gauges,
    memory,
    recover,
    show,
    size,
    step,
)
from model.protocols.upstream_backup.savepoints import Scheme, Skipping
from model.protocols.upstream_backup.scopes import (
    AB,
    ALIGNED,
    ANY_MATCH,
    CALM,
    CONVERGENT_CAPABLE,
    DETERMINISTIC,
    EVERY,
    LATE,
    PIPELINE,
    REPEATABLE,
    SERIAL,
    SKIPPY,
    TOGGLED,
    UNEVEN_BY_TYPE,
    one,
)


def build(name: str, design: Design, scopes: tuple[PinnedScope, ...], finding: str) -> Protocol:
    return Protocol(
        name=f"upstream-backup:{name}" if name else "upstream-backup",
        title="Upstream backup with savepoints",
        source="Lima et al., Sections II and III",
        deploy=partial(deploy, design),
        boot=boot,
        recover=recover,
        step=step,
        gauges=gauges,
        memory=memory,
        show=show,
        assumes=Assumptions(Failures.ANY),
        claims=dict.fromkeys(sorted({p.operators for p in scopes}), Guarantee.PRECISE),
        properties=(AS_IF, COMPLETE),
        needed=partial(needed, design.scheme.skipping is not Skipping.OFF),
        scopes=scopes,
        must_occur=(CRASHED, SPANNED, RESTORED, REPLAYED, DISCARDED, CHECKPOINTED),
        finding=finding,
        size=size,
        quantities=(NOTICES, RETAINED),
        knobs=KNOBS,
    )


def _refuted(
    name: str,
    scope: Scope,
    steps: int,
    states: int | None = None,
    guarantee: Guarantee = Guarantee.GAP,
    operators: OperatorClass = REPEATABLE,
) -> PinnedScope:
    return PinnedScope(name, scope, operators, Outcome.REFUTED, states, steps, guarantee)


VARIANTS = (
    build(
        "scalar",
        Design(Scheme(SCALAR)),
        (
            PinnedScope("serial processing", SERIAL, DETERMINISTIC, states=11_881),
            _refuted("Fig. 8a in small: every event matches", EVERY, steps=29, states=258_318),
        ),
        "As the paper says (III-B3): scalar numbers are right while windows are processed one "
        "after the other, and wrong in parallel.",
    ),
    build(
        "pairs",
        Design(Scheme(PAIRS)),
        (
            PinnedScope("Fig. 8b in small: every event matches", EVERY, REPEATABLE, states=256_584),
            _refuted("two matches in one window and iteration", ANY_MATCH, steps=12, states=16_454),
            _refuted(
                "first match not in the first window kept",
                LATE,
                steps=15,
                states=31_657,
                guarantee=Guarantee.REPEATING,
            ),
            _refuted(
                "an engine that is not monotone",
                TOGGLED,
                steps=15,
                states=480_521,
            ),
        ),
        "The x:y pairs as published (III-B4) are right for Fig. 8 and not for every engine: two "
        "matches of one window and iteration get one number, even without a failure; the y of the "
        "first match need not be the first window kept; and x counts iterations in which only "
        "dropped windows produced, which a replay does not see.",
    ),
    build(
        "pairs-first-window",
        Design(Scheme(PAIRS_FROM_FIRST_WINDOW)),
        (
            PinnedScope(
                "first match not in the first window kept", LATE, REPEATABLE, states=31_278
            ),
            _refuted(
                "iterations that only dropped windows produced in",
                TOGGLED,
                steps=26,
                states=471_336,
            ),
        ),
        "Sending the number of the first window kept mends y; x stays wrong.",
    ),
    build(
        "pairs-of-inputs",
        Design(Scheme(PAIRS_OF_INPUTS)),
        (
            PinnedScope("an engine that is not monotone", TOGGLED, REPEATABLE, states=471_017),
            _refuted(
                "skipped events are not counted in the replay",
                SKIPPY,
                steps=17,
                states=92_022,
                operators=DETERMINISTIC,
            ),
        ),
        "Counting all input events in x is right until skipped events are left out of the replay.",
    ),
    build(
        "pairs-of-inputs-no-skips",
        Design(Scheme(PAIRS_OF_INPUTS, Skipping.OFF)),
        (
            PinnedScope("no event is skipped", SKIPPY, DETERMINISTIC, states=92_241),
            PinnedScope("no crash", CALM, REPEATABLE, states=7_557),
        ),
        "Without skip ranges x may count all input events.",
    ),
    build(
        "no-skips",
        Design(Scheme(skipping=Skipping.OFF)),
        (
            PinnedScope(
                "count windows",
                over_words(one(AB, CountWindows(3, 2)), 5),
                DETERMINISTIC,
                states=23_787,
            ),
            PinnedScope("no crash", CALM, REPEATABLE, states=7_557),
        ),
        "The base method, with the correct numbering: what skip ranges are compared with.",
    ),
    build(
        "coalesced-skips",
        Design(Scheme(skipping=Skipping.COALESCED)),
        (
            PinnedScope("one input edge", SKIPPY, DETERMINISTIC, states=92_487),
            _refuted("two input edges, a type on each", UNEVEN_BY_TYPE, steps=24, states=20_165),
        ),
        "One skip-ranges array for all input edges, as III-A reads for several edges, deletes "
        "events of another edge that a replay still needs.",
    ),
    build(
        "counted-windows",
        Design(Scheme(drawing=Drawing.NOTHING)),
        (
            _refuted(
                "skipped events do not count",
                SKIPPY,
                steps=17,
                states=45_962,
                operators=DETERMINISTIC,
            ),
        ),
        "Counting the replayed events gives other windows once skipped events are left out.",
    ),
    build(
        "opener-windows",
        Design(Scheme(drawing=Drawing.OPENERS)),
        (
            _refuted(
                "skipped events do not count",
                SKIPPY,
                steps=17,
                states=64_687,
                operators=DETERMINISTIC,
            ),
        ),
        "Saving which events opened windows (III-B5) says where windows begin but not where they "
        "end, nor how many events have passed since: with skip ranges they end elsewhere.",
    ),
    build(
        "neighbours-only",
        Design(ancestors=False),
        (
            PinnedScope(
                "one crash", over_words(PIPELINE, 2, "a"), CONVERGENT_CAPABLE, states=2_976
            ),
            _refuted(
                "adjacent operators, two crashes",
                over_words(ALIGNED, 4, "a", crashes=2),
                steps=34,
                states=329_600,
                guarantee=Guarantee.DIVERGENT,
                operators=DETERMINISTIC,
            ),
        ),
        "As the paper says (II-C): savepoints kept in predecessors alone are lost when adjacent "
        "operators fail together.",
    ),
    build(
        "notices",
        Design(notice_every=1),
        (
            PinnedScope(
                "count windows, two crashes",
                over_words(one(AB, CountWindows(3, 3)), 4, crashes=2),
                DETERMINISTIC,
                states=53_840,
            ),
            PinnedScope(
                "count windows",
                over_words(one(AB, CountWindows(3, 2)), 5),
                DETERMINISTIC,
                states=29_729,
            ),
            PinnedScope("no crash", CALM, REPEATABLE, states=8_862),
        ),
        "The future work of Section IV: skip ranges sent ahead of savepoints are safe, provided "
        "that the window layout travels with them.",
    ),
)
