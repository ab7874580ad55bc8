"""Designs of asynchronous barrier snapshotting that change one thing, each with its verdict.

Rule of this file: no design without its claim and the verdict expected of it.
"""

from __future__ import annotations

from model.core import REPLAYED, Guarantee
from model.properties import NOTHING_LOST
from model.protocols.abs import scopes
from model.protocols.abs.coordinator_variants import COORDINATOR_VARIANTS, REPEATS
from model.protocols.abs.design import (
    AbsDesign,
    Alignment,
    Completes,
    Generations,
    Settles,
    Sources,
    WriteMode,
)
from model.protocols.abs.engine_variants import ENGINE_VARIANTS
from model.protocols.abs.family import ABS, SEEN
from model.protocols.abs.fencing_variants import FENCING_VARIANTS
from model.protocols.abs.messages import IN_FLIGHT
from model.protocols.abs.order_variants import ORDER_VARIANTS

GAP, REPEATING, PRECISE = Guarantee.GAP, Guarantee.REPEATING, Guarantee.PRECISE
DIVERGENT, CONVERGENT = Guarantee.DIVERGENT, Guarantee.CONVERGENT

VARIANTS = (
    ABS.design(
        "unaligned",
        AbsDesign(alignment=Alignment.UNALIGNED),
        (
            scopes.A_RELAY.holds(796),
            scopes.A_UNION.holds(59_601),
            scopes.A_COUNT_OF_A_UNION.holds(59_601),
            scopes.A_DIAMOND.holds(45_937, reduced=24_312),
            scopes.NO_CRASH.holds(390),
        ),
        "A snapshot at the first marker is right if the records before the other markers are part "
        "of it (9.1).  Their outputs belong to the next epoch, which must end even if no source "
        "has anything new.",
        must_occur=(*SEEN, IN_FLIGHT),
    ),
    ABS.design(
        "late-store",
        AbsDesign(prompt_store=False),
        (
            scopes.A_RELAY.holds(3_531),
            scopes.PAIRS.holds(19_004),
            scopes.TWO_RELAYS.holds(2_598),
            scopes.PAIRS_BEHIND_A_RELAY.holds(33_919, reduced=8_204),
            scopes.A_RELAY_BEHIND_PAIRS.holds(21_532),
            scopes.A_UNION.holds(259_243, reduced=88_632),
            scopes.NO_CRASH.holds(990),
        ),
        "Operators need not wait until their snapshots are stored (8.1.1: asynchronous), if an "
        "epoch is complete when all of them are.",
    ),
    ABS.design(
        "complete-at-writers",
        AbsDesign(completes=Completes.WRITERS, prompt_store=False),
        (scopes.TWO_RELAYS.holds(3_063), scopes.A_RELAY_BEHIND_PAIRS.fails(39_201, 29, GAP)),
        'Section 8.1.1 calls an epoch complete "once all the sink operators have ... executed '
        'their relative snapshots", Section 1 "when all operators checkpoint".  An operator hands '
        "the marker on before its snapshot is stored, so sinks may be faster: a crash then leaves "
        "a complete epoch without the state of this operator.",
    ),
    ABS.design(
        "open",
        AbsDesign(alignment=Alignment.OPEN),
        (scopes.A_RELAY.holds(796), scopes.A_UNION.fails(25_589, 23, REPEATING)),
        "Section 1 lets an operator wait for all markers and does not say that inputs are blocked: "
        "the snapshot then has records from after a marker, and the sources send these again.",
    ),
    ABS.design(
        "first-marker",
        AbsDesign(alignment=Alignment.FIRST),
        (
            scopes.A_UNION.fails(37_227, 10, GAP),
            scopes.A_DIAMOND.fails(40_331, 13, DIVERGENT, reduced=19_217),
        ),
        "Without alignment, records before the second marker come after the snapshot, and no "
        "source sends them again.  Outputs of the last epoch stay uncommitted even without a "
        "crash.",
    ),
    ABS.design(
        "one-run",
        AbsDesign(generations=Generations.TAKEN),
        (
            scopes.A_RELAY.fails(1_008, 11, DIVERGENT),
            scopes.TWO_RELAYS.fails(1_555, 12, GAP),
        ),
        "The paper names no number of the restart.  Without one, what was sent before a restart "
        "and is sent again after it is taken twice, or after the wrong marker.",
    ),
    ABS.design(
        "settle-by-dropping",
        AbsDesign(settles=Settles.DROP),
        (
            scopes.A_RELAY.fails(844, 10, GAP),
            scopes.PAIRS.fails(3_322, 12, GAP),
        ),
        "The paper does not say what a restart does with what is pre-committed.  If it drops all, "
        "a writer that crashes between the complete epoch and its commit loses the epoch.",
    ),
    ABS.design(
        "settle-by-committing",
        AbsDesign(settles=Settles.COMMIT),
        (
            scopes.A_RELAY.fails(910, 13, REPEATING),
            scopes.A_COIN.fails(924, 13, CONVERGENT),
        ),
        "If a restart commits all that is pre-committed, the outputs of an incomplete epoch come "
        "again.",
    ),
    ABS.design(
        "late-system",
        AbsDesign(prompt_system=False),
        (
            scopes.A_RELAY.fails(2_365, 11, GAP),
            scopes.TWO_RELAYS.fails(1_187, 14, GAP),
        ),
        "A writer that makes its snapshot before the external system has answered the pre-commit "
        "may lose it in a crash, and the epoch is complete.",
    ),
    ABS.design(
        "at-once",
        AbsDesign(writes=WriteMode.AT_ONCE),
        (
            scopes.A_RELAY.holds(1_043, REPEATING),
            scopes.PAIRS.holds(3_394, REPEATING),
            scopes.A_RELAY_BEHIND_PAIRS.holds(4_640, REPEATING),
            scopes.A_UNION.holds(42_127, REPEATING),
            scopes.A_DIAMOND.holds(55_443, REPEATING, reduced=26_877),
            scopes.A_COIN.holds(1_057, CONVERGENT),
            scopes.NO_CRASH.holds(362),
        ),
        "Without two-phase commit the outputs since the last complete epoch come twice; an "
        "operator that chooses may choose otherwise the second time.",
        claims=REPEATS,
        properties=(NOTHING_LOST,),
    ),
    ABS.design(
        "transactional",
        AbsDesign(writes=WriteMode.WITH_SNAPSHOT),
        (
            scopes.A_RELAY.holds(806, REPEATING),
            scopes.PAIRS.holds(3_011, REPEATING),
            scopes.A_RELAY_BEHIND_PAIRS.holds(4_347, REPEATING),
            scopes.A_UNION.holds(21_981, REPEATING),
            scopes.A_DIAMOND.holds(34_281, REPEATING, reduced=15_530),
            scopes.A_COIN.holds(820, CONVERGENT),
            scopes.NO_CRASH.holds(362),
        ),
        'Section 9.1 relaxes "write actions are idempotent" to transactions with a log in the '
        "writer.  The writer's transaction alone does not do it: a crash before the epoch is "
        "complete brings its outputs again.",
        claims=REPEATS,
        properties=(NOTHING_LOST,),
    ),
    ABS.design(
        "transactional-published",
        AbsDesign(writes=WriteMode.WITH_SNAPSHOT),
        (
            scopes.A_RELAY.fails(806, 12, REPEATING),
            scopes.PAIRS.fails(3_011, 15, REPEATING),
        ),
        "The same, compared with the precise recovery that Section 9.1 says it ensures.",
    ),
    ABS.design(
        "checked",
        AbsDesign(writes=WriteMode.CHECKED),
        (
            scopes.A_RELAY.fails(776, 16, GAP),
            scopes.PAIRS.fails(3_500, 16, GAP),
        ),
        "A writer that skips an epoch whose transaction is there loses outputs: after a restart "
        "the epoch of this number may end elsewhere.",
    ),
    ABS.design(
        "idempotent",
        AbsDesign(writes=WriteMode.IDEMPOTENT),
        (
            scopes.A_RELAY.holds(963),
            scopes.PAIRS.holds(3_264),
            scopes.A_RELAY_BEHIND_PAIRS.holds(4_624),
            scopes.TWO_WRITERS.holds(1_879),
            scopes.NO_CRASH.holds(362),
        ),
        "With deterministic operators and numbered writes no two-phase commit is needed (9.1).",
    ),
    ABS.design(
        "idempotent-any",
        AbsDesign(writes=WriteMode.IDEMPOTENT),
        (
            scopes.A_UNION.fails(40_819, 10, GAP),
            scopes.A_COUNT_OF_A_UNION.fails(40_819, 10, DIVERGENT),
            scopes.A_DIAMOND.fails(54_833, 13, DIVERGENT, reduced=26_541),
            scopes.A_COIN_BEFORE_TWO_WRITERS.fails(9_179, 9, DIVERGENT),
        ),
        "Idempotent writes need deterministic operators on every path to the writer (9.1): a "
        "union that restarts in another order gives the number of one output to another, and two "
        "writers write different results of an operator that chooses again.",
    ),
    ABS.design(
        "counted",
        AbsDesign(writes=WriteMode.COUNTED),
        (
            scopes.A_RELAY.holds(751),
            scopes.A_RELAY_AND_TWO_CRASHES.holds(2_442),
            scopes.PAIRS.holds(2_919),
            scopes.A_RELAY_BEHIND_PAIRS.holds(4_339),
            scopes.TWO_WRITERS.holds(1_417),
            scopes.NO_CRASH.holds(362),
        ),
        "A writer whose transaction has the number of its last output needs no two-phase commit "
        "either, if operators are deterministic: it leaves out what an earlier transaction wrote.",
    ),
    ABS.design(
        "counted-any",
        AbsDesign(writes=WriteMode.COUNTED),
        (
            scopes.A_UNION.fails(21_401, 19, GAP),
            scopes.A_COUNT_OF_A_UNION.fails(21_401, 19, DIVERGENT),
            scopes.A_COIN_BEFORE_TWO_WRITERS.fails(6_838, 18, DIVERGENT),
        ),
        "With operators that are not deterministic, it leaves out outputs that nobody wrote.",
    ),
    ABS.design(
        "unreplayable-source",
        AbsDesign(sources=Sources.ONCE),
        (
            scopes.A_RELAY.fails(800, 6, GAP),
            scopes.PAIRS.fails(3_483, 7, GAP),
        ),
        "Sources must be replayable (8.1.1, 9.1): what a source does not send again is lost.",
        must_occur=tuple(what for what in SEEN if what is not REPLAYED),
    ),
    *COORDINATOR_VARIANTS,
    *ENGINE_VARIANTS,
    *FENCING_VARIANTS,
    *ORDER_VARIANTS,
)
