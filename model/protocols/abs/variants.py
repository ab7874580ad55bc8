"""Designs of asynchronous barrier snapshotting that change one thing, each with its verdict.

Rule of this file: no design without its claim and the verdict expected of it.
"""

from __future__ import annotations

from model.core import REPLAYED, Guarantee, OperatorClass
from model.properties import NOTHING_LOST
from model.protocols.abs.coordinator_variants import COORDINATOR_VARIANTS
from model.protocols.abs.design import (
    Alignment,
    Completes,
    Design,
    Generations,
    Settles,
    Sources,
    Writes,
)
from model.protocols.abs.family import SEEN, build
from model.protocols.abs.messages import IN_FLIGHT
from model.protocols.abs.scopes import fail, hold, weak

GAP, REPEATING, CONVERGENT = Guarantee.GAP, Guarantee.REPEATING, Guarantee.CONVERGENT
DIVERGENT = Guarantee.DIVERGENT
REPEATS = {
    OperatorClass.REPEATABLE: REPEATING,
    OperatorClass.DETERMINISTIC: REPEATING,
    OperatorClass.ARBITRARY: CONVERGENT,
}
VARIANTS = (
    build(
        "unaligned",
        Design(alignment=Alignment.UNALIGNED),
        hold(a_relay=796, a_union=59_601, a_diamond=45_937, no_crash=390),
        "A snapshot at the first marker is right if the records before the other markers are part "
        "of it (9.1).  Their outputs belong to the next epoch, which must end even if no source "
        "has anything new.",
        must_occur=(*SEEN, IN_FLIGHT),
    ),
    build(
        "late-store",
        Design(prompt_store=False),
        hold(
            a_relay=3_531,
            pairs=19_004,
            two_relays=2_598,
            pairs_behind_a_relay=33_919,
            a_relay_behind_pairs=21_532,
            a_union=259_243,
            no_crash=990,
        ),
        "Operators need not wait until their snapshots are stored (8.1.1: asynchronous), if an "
        "epoch is complete when all of them are.",
    ),
    build(
        "complete-at-writers",
        Design(completes=Completes.WRITERS, prompt_store=False),
        (*hold(two_relays=3_063), *fail(a_relay_behind_pairs=(39_201, 29, GAP))),
        'Section 8.1.1 calls an epoch complete "once all the sink operators have ... executed '
        'their relative snapshots", Section 1 "when all operators checkpoint".  An operator hands '
        "the marker on before its snapshot is stored, so sinks may be faster: a crash then leaves "
        "a complete epoch without the state of this operator.",
    ),
    build(
        "open",
        Design(alignment=Alignment.OPEN),
        (*hold(a_relay=796), *fail(a_union=(25_589, 23, REPEATING))),
        "Section 1 lets an operator wait for all markers and does not say that inputs are blocked: "
        "the snapshot then has records from after a marker, and the sources send these again.",
    ),
    build(
        "first-marker",
        Design(alignment=Alignment.FIRST),
        fail(a_union=(37_227, 10, GAP), a_diamond=(40_331, 13, DIVERGENT)),
        "Without alignment, records before the second marker come after the snapshot, and no "
        "source sends them again.  Outputs of the last epoch stay uncommitted even without a "
        "crash.",
    ),
    build(
        "one-run",
        Design(generations=Generations.TAKEN),
        fail(a_relay=(1_008, 11, DIVERGENT), two_relays=(1_555, 12, GAP)),
        "The paper names no number of the restart.  Without one, what was sent before a restart "
        "and is sent again after it is taken twice, or after the wrong marker.",
    ),
    build(
        "settle-by-dropping",
        Design(settles=Settles.DROP),
        fail(a_relay=(844, 10, GAP), pairs=(3_322, 12, GAP)),
        "The paper does not say what a restart does with what is pre-committed.  If it drops all, "
        "a writer that crashes between the complete epoch and its commit loses the epoch.",
    ),
    build(
        "settle-by-committing",
        Design(settles=Settles.COMMIT),
        fail(a_relay=(910, 13, REPEATING), a_coin=(924, 13, CONVERGENT)),
        "If a restart commits all that is pre-committed, the outputs of an incomplete epoch come "
        "again.",
    ),
    build(
        "late-system",
        Design(prompt_system=False),
        fail(a_relay=(2_365, 11, GAP), two_relays=(1_187, 14, GAP)),
        "A writer that makes its snapshot before the external system has answered the pre-commit "
        "may lose it in a crash, and the epoch is complete.",
    ),
    build(
        "at-once",
        Design(writes=Writes.AT_ONCE),
        (
            *weak(REPEATING, a_relay=1_043, pairs=3_394, a_relay_behind_pairs=4_640),
            *weak(REPEATING, a_union=42_127, a_diamond=55_443),
            *weak(CONVERGENT, a_coin=1_057),
            *hold(no_crash=362),
        ),
        "Without two-phase commit the outputs since the last complete epoch come twice; an "
        "operator that chooses may choose otherwise the second time.",
        REPEATS,
        (NOTHING_LOST,),
    ),
    build(
        "transactional",
        Design(writes=Writes.WITH_SNAPSHOT),
        (
            *weak(REPEATING, a_relay=806, pairs=3_011, a_relay_behind_pairs=4_347),
            *weak(REPEATING, a_union=21_981, a_diamond=34_281),
            *weak(CONVERGENT, a_coin=820),
            *hold(no_crash=362),
        ),
        'Section 9.1 relaxes "write actions are idempotent" to transactions with a log in the '
        "writer.  The writer's transaction alone does not do it: a crash before the epoch is "
        "complete brings its outputs again.",
        REPEATS,
        (NOTHING_LOST,),
    ),
    build(
        "transactional-published",
        Design(writes=Writes.WITH_SNAPSHOT),
        fail(a_relay=(806, 12, REPEATING), pairs=(3_011, 15, REPEATING)),
        "The same, compared with the precise recovery that Section 9.1 says it ensures.",
    ),
    build(
        "checked",
        Design(writes=Writes.CHECKED),
        fail(a_relay=(776, 16, GAP), pairs=(3_500, 16, GAP)),
        "A writer that skips an epoch whose transaction is there loses outputs: after a restart "
        "the epoch of this number may end elsewhere.",
    ),
    build(
        "idempotent",
        Design(writes=Writes.IDEMPOTENT),
        hold(a_relay=963, pairs=3_264, a_relay_behind_pairs=4_624, two_writers=1_879, no_crash=362),
        "With deterministic operators and numbered writes no two-phase commit is needed (9.1).",
    ),
    build(
        "idempotent-any",
        Design(writes=Writes.IDEMPOTENT),
        fail(
            a_union=(40_819, 10, GAP),
            a_diamond=(54_833, 13, DIVERGENT),
            a_coin_before_two_writers=(9_179, 9, DIVERGENT),
        ),
        "Idempotent writes need deterministic operators on every path to the writer (9.1): a "
        "union that restarts in another order gives the number of one output to another, and two "
        "writers write different results of an operator that chooses again.",
    ),
    build(
        "counted",
        Design(writes=Writes.COUNTED),
        hold(
            a_relay=751,
            a_relay_and_two_crashes=2_442,
            pairs=2_919,
            a_relay_behind_pairs=4_339,
            two_writers=1_417,
            no_crash=362,
        ),
        "A writer whose transaction has the number of its last output needs no two-phase commit "
        "either, if operators are deterministic: it leaves out what an earlier transaction wrote.",
    ),
    build(
        "counted-any",
        Design(writes=Writes.COUNTED),
        fail(
            a_union=(21_401, 19, GAP),
            a_coin_before_two_writers=(6_838, 18, DIVERGENT),
        ),
        "With operators that are not deterministic, it leaves out outputs that nobody wrote.",
    ),
    build(
        "unreplayable-source",
        Design(sources=Sources.ONCE),
        fail(a_relay=(800, 6, GAP), pairs=(3_483, 7, GAP)),
        "Sources must be replayable (8.1.1, 9.1): what a source does not send again is lost.",
        must_occur=tuple(what for what in SEEN if what is not REPLAYED),
    ),
    *COORDINATOR_VARIANTS,
)
