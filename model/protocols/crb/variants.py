"""Designs of checkpoint roll-backward that change one thing, each with the verdict expected of it.

Rule of this file: no design without its claim and the verdict expected of it.

The paper names no guarantee; "to reach the pre-failure state" (I) is read as a claim of precise
recovery for deterministic operators.
"""

from __future__ import annotations

from functools import partial

from model.core import (
    CHECKPOINTED,
    CRASHED,
    REPLAYED,
    RESTORED,
    STALE,
    Assumptions,
    Failures,
    Guarantee,
    PinnedScope,
    Protocol,
    Quantity,
)
from model.properties import AS_IF, COMPLETE
from model.protocols.crb.design import (
    KNOBS,
    PUBLISHED,
    Acknowledges,
    Design,
    Instant,
    Mode,
    Parts,
    Previous,
    Queue,
    Replays,
    Resumes,
)
from model.protocols.crb.messages import HELD_BACK, OVERTAKEN, QUANTITIES, SCRATCH, TORN, show, size
from model.protocols.crb.nodes import TIMERS, boot, deploy, gauges, memory, needed, recover, step
from model.protocols.crb.scopes import fail, hold
from model.queues import TRIMMED, Stamp

GAP, REPEATING = Guarantee.GAP, Guarantee.REPEATING
SEEN = (CRASHED, RESTORED, CHECKPOINTED, REPLAYED, STALE, TORN, SCRATCH, HELD_BACK, TRIMMED)
BESIDE = (*SEEN, OVERTAKEN)


def build(
    name: str,
    design: Design,
    scopes: tuple[PinnedScope, ...],
    finding: str,
    must_occur: tuple[Quantity, ...] = BESIDE,
) -> Protocol:
    return Protocol(
        name=f"crb:{name}" if name else "crb",
        title="Checkpoint roll-backward",
        source="Sebepou and Magoutis, CEC, 2011, Section II.A",
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
        needed=needed,
        scopes=scopes,
        must_occur=must_occur,
        finding=finding,
        size=size,
        quantities=QUANTITIES,
        knobs=KNOBS,
        timers=TIMERS,
    )


VARIANTS = (
    build(
        "synchronous",
        Design(mode=Mode.SYNCHRONOUS),
        hold(
            windows_of_one_tuple=8_158,
            windows_of_two_tuples=16_512,
            equal_times=19_624,
            two_crashes=25_864,
            an_aggregate_of_an_aggregate=15_760,
            no_crash=689,
        ),
        "An operator that waits while its checkpoint is stored is as right as one that goes on.",
        SEEN,
    ),
    build(
        "late-checkpoint",
        Design(windows=Instant.COMPLETION, position=Instant.COMPLETION, queue=Queue.COMPLETION),
        hold(windows_of_one_tuple=10_712, windows_of_two_tuples=22_370, no_crash=1_165),
        "If all parts of a checkpoint are read when it is stored, it is as right as one that is "
        "read when it begins: what counts is that the parts are of one moment.",
    ),
    build(
        "late-windows",
        Design(windows=Instant.COMPLETION),
        (*hold(windows_of_one_tuple=11_796), *fail(two_tuples=(3_598, 14, GAP))),
        "Without the copy of copy-on-write the windows hold tuples after the position: a replay "
        "puts them in once more.  It does no harm to windows of one tuple.",
    ),
    build(
        "late-position",
        Design(position=Instant.COMPLETION),
        fail(windows_of_one_tuple=(12_300, 14, GAP), one_key=(5_470, 13, GAP)),
        "With the position at which storing ends, the tuples that came meanwhile are in no window "
        "and are not replayed.",
    ),
    build(
        "late-queue",
        Design(queue=Queue.COMPLETION),
        fail(
            windows_of_one_tuple=(17_100, 16, REPEATING),
            one_key=(6_305, 15, REPEATING),
        ),
        "An output queue that is newer than the windows has outputs that the replay makes again, "
        "under new numbers.",
    ),
    build(
        "no-queue",
        Design(queue=Queue.NEVER),
        fail(windows_of_one_tuple=(8_382, 11, GAP), one_key=(3_441, 13, GAP)),
        "If the output queue is no part of the checkpoint, outputs on their way at the crash are "
        "lost: no replay makes them again.",
    ),
    build(
        "parts-apart",
        Design(parts=Parts.APART),
        fail(windows_of_one_tuple=(10_588, 15, GAP)),
        "New windows with the queue of the checkpoint before: results between the two are in "
        "neither, and the next result gets the number of the first of them.",
    ),
    build(
        "no-previous",
        Design(previous=Previous.DROPPED),
        fail(windows_of_two_tuples=(25_078, 21, GAP)),
        "If the previous checkpoint goes before the new one is whole, a crash between the two "
        "leaves nothing, and upstream has let go of the tuples.",
    ),
    build(
        "early-acknowledgement",
        Design(acknowledges=Acknowledges.CAPTURED),
        fail(windows_of_one_tuple=(12_930, 11, GAP), one_key=(4_880, 13, GAP)),
        "If upstream may let go when a checkpoint is captured, a crash before it is stored loses "
        "its tuples.",
    ),
    build(
        "replay-by-time",
        Design(stamp=Stamp.TIME),
        (
            *hold(rising_times=19_498, one_key=4_131),
            *fail(windows_of_one_tuple=(11_666, 12, GAP), equal_times=(28_952, 11, GAP)),
        ),
        "A replay after the time of the checkpoint leaves out tuples with the same time that are "
        "not in it.  Times that rise strictly are as good as places.",
    ),
    build(
        "replay-from",
        Design(replays=Replays.FROM),
        fail(windows_of_one_tuple=(13_432, 13, REPEATING), one_key=(4_848, 12, GAP)),
        'Read as inclusive, "from that point forward" puts the last tuple of the checkpoint in '
        "once more.",
    ),
    build(
        "resume-later",
        Design(resumes=Resumes.LATER),
        (*hold(rising_times=18_360), *fail(windows_of_one_tuple=(10_742, 13, GAP))),
        "Downstream that knows outputs by time, and asks for later ones, never gets a second "
        "output of the same time.",
    ),
    build(
        "resume-since",
        Design(resumes=Resumes.SINCE),
        fail(rising_times=(21_909, 10, REPEATING), windows_of_one_tuple=(13_571, 10, REPEATING)),
        "Downstream that asks for outputs since the time of its last one gets this one again.",
    ),
    build(
        "resume-everything",
        Design(resumes=Resumes.EVERYTHING),
        fail(rising_times=(25_575, 10, REPEATING), one_key=(4_503, 12, REPEATING)),
        "Downstream that takes what comes gets what was made since the checkpoint twice.",
    ),
    build(
        "published",
        PUBLISHED,
        fail(
            rising_times=(14_107, 9, REPEATING),
            windows_of_one_tuple=(9_778, 9, GAP),
            equal_times=(22_274, 10, GAP),
        ),
        "As published, with times and no numbers: outputs since the checkpoint come twice, and "
        "tuples with the time of the checkpoint are lost.",
        SEEN,
    ),
    build(
        "published-later",
        Design(mode=Mode.SYNCHRONOUS, stamp=Stamp.TIME, resumes=Resumes.LATER),
        (
            *hold(rising_times=10_456, one_key=2_617),
            *fail(windows_of_one_tuple=(7_602, 10, GAP), equal_times=(18_612, 10, GAP)),
        ),
        "With times that rise strictly at every operator, times can stand for numbers everywhere.",
        SEEN,
    ),
)
