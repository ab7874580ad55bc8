"""Designs of checkpoint roll-backward that change one thing, each with the verdict expected of it.

Rule of this file: no design without its claim and the verdict expected of it.

The paper names no guarantee; "to reach the pre-failure state" (I) is read as a claim of precise
recovery for deterministic operators.
"""

from __future__ import annotations

from model.core import Guarantee
from model.properties import AS_IF, COMPLETE
from model.protocols.crb import scopes
from model.protocols.crb.design import (
    PUBLISHED,
    Acknowledges,
    CrbDesign,
    Instant,
    Mode,
    Parts,
    Previous,
    Queue,
    Reminds,
    Replays,
    RestartAnswers,
    Resumes,
)
from model.protocols.crb.family import CRB, SEEN
from model.protocols.crb.properties import ANSWERED, QUEUES_EMPTY
from model.queues import Stamp

GAP, REPEATING, PRECISE = Guarantee.GAP, Guarantee.REPEATING, Guarantee.PRECISE
DIVERGENT, CONVERGENT = Guarantee.DIVERGENT, Guarantee.CONVERGENT

VARIANTS = (
    CRB.design(
        "synchronous",
        CrbDesign(mode=Mode.SYNCHRONOUS),
        (
            scopes.WINDOWS_OF_ONE_TUPLE.holds(8_158),
            scopes.WINDOWS_OF_TWO_TUPLES.holds(16_512),
            scopes.EQUAL_TIMES.holds(19_624),
            scopes.TWO_CRASHES.holds(25_864),
            scopes.AN_AGGREGATE_OF_AN_AGGREGATE.holds(15_760),
            scopes.NO_CRASH.holds(689),
        ),
        "An operator that waits while its checkpoint is stored is as right as one that goes on.",
        must_occur=SEEN,
    ),
    CRB.design(
        "late-checkpoint",
        CrbDesign(windows=Instant.COMPLETION, position=Instant.COMPLETION, queue=Queue.COMPLETION),
        (
            scopes.WINDOWS_OF_ONE_TUPLE.holds(10_712),
            scopes.WINDOWS_OF_TWO_TUPLES.holds(22_370),
            scopes.NO_CRASH.holds(1_165),
        ),
        "If all parts of a checkpoint are read when it is stored, it is as right as one that is "
        "read when it begins: what counts is that the parts are of one moment.",
    ),
    CRB.design(
        "late-windows",
        CrbDesign(windows=Instant.COMPLETION),
        (scopes.WINDOWS_OF_ONE_TUPLE.holds(11_796), scopes.TWO_TUPLES.fails(3_598, 14, GAP)),
        "Without the copy of copy-on-write the windows hold tuples after the position: a replay "
        "puts them in once more.  It does no harm to windows of one tuple.",
    ),
    CRB.design(
        "late-position",
        CrbDesign(position=Instant.COMPLETION),
        (
            scopes.WINDOWS_OF_ONE_TUPLE.fails(12_300, 14, GAP),
            scopes.ONE_KEY.fails(5_470, 13, GAP),
        ),
        "With the position at which storing ends, the tuples that came meanwhile are in no window "
        "and are not replayed.",
    ),
    CRB.design(
        "late-queue",
        CrbDesign(queue=Queue.COMPLETION),
        (
            scopes.WINDOWS_OF_ONE_TUPLE.fails(17_100, 16, REPEATING),
            scopes.ONE_KEY.fails(6_305, 15, REPEATING),
        ),
        "An output queue that is newer than the windows has outputs that the replay makes again, "
        "under new numbers.",
    ),
    CRB.design(
        "no-queue",
        CrbDesign(queue=Queue.NEVER),
        (
            scopes.WINDOWS_OF_ONE_TUPLE.fails(8_382, 11, GAP),
            scopes.ONE_KEY.fails(3_441, 13, GAP),
        ),
        "If the output queue is no part of the checkpoint, outputs on their way at the crash are "
        "lost: no replay makes them again.",
    ),
    CRB.design(
        "parts-apart",
        CrbDesign(parts=Parts.APART),
        (scopes.WINDOWS_OF_ONE_TUPLE.fails(10_588, 15, GAP),),
        "New windows with the queue of the checkpoint before: results between the two are in "
        "neither, and the next result gets the number of the first of them.",
    ),
    CRB.design(
        "no-previous",
        CrbDesign(previous=Previous.DROPPED),
        (scopes.WINDOWS_OF_TWO_TUPLES.fails(25_078, 21, GAP),),
        "If the previous checkpoint goes before the new one is whole, a crash between the two "
        "leaves nothing, and upstream has let go of the tuples.",
    ),
    CRB.design(
        "early-acknowledgement",
        CrbDesign(acknowledges=Acknowledges.CAPTURED),
        (
            scopes.WINDOWS_OF_ONE_TUPLE.fails(12_930, 11, GAP),
            scopes.ONE_KEY.fails(4_880, 13, GAP),
        ),
        "If upstream may let go when a checkpoint is captured, a crash before it is stored loses "
        "its tuples.",
    ),
    CRB.design(
        "replay-by-time",
        CrbDesign(stamp=Stamp.TIME),
        (
            scopes.RISING_TIMES.holds(19_498),
            scopes.ONE_KEY.holds(4_131),
            scopes.WINDOWS_OF_ONE_TUPLE.fails(11_666, 12, GAP),
            scopes.EQUAL_TIMES.fails(28_952, 11, GAP),
        ),
        "A replay after the time of the checkpoint leaves out tuples with the same time that are "
        "not in it.  Times that rise strictly are as good as places.",
    ),
    CRB.design(
        "replay-from",
        CrbDesign(replays=Replays.FROM),
        (
            scopes.WINDOWS_OF_ONE_TUPLE.fails(13_432, 13, REPEATING),
            scopes.ONE_KEY.fails(4_848, 12, GAP),
        ),
        'Read as inclusive, "from that point forward" puts the last tuple of the checkpoint in '
        "once more.",
    ),
    CRB.design(
        "resume-later",
        CrbDesign(resumes=Resumes.LATER),
        (scopes.RISING_TIMES.holds(18_360), scopes.WINDOWS_OF_ONE_TUPLE.fails(10_742, 13, GAP)),
        "Downstream that knows outputs by time, and asks for later ones, never gets a second "
        "output of the same time.",
    ),
    CRB.design(
        "resume-since",
        CrbDesign(resumes=Resumes.SINCE),
        (
            scopes.RISING_TIMES.fails(21_909, 10, REPEATING),
            scopes.WINDOWS_OF_ONE_TUPLE.fails(13_571, 10, REPEATING),
        ),
        "Downstream that asks for outputs since the time of its last one gets this one again.",
    ),
    CRB.design(
        "resume-everything",
        CrbDesign(resumes=Resumes.EVERYTHING),
        (
            scopes.RISING_TIMES.fails(25_575, 10, REPEATING),
            scopes.ONE_KEY.fails(4_503, 12, REPEATING),
        ),
        "Downstream that takes what comes gets what was made since the checkpoint twice.",
    ),
    CRB.design(
        "answers-with-output",
        CrbDesign(),
        (
            scopes.A_FILTER.fails(5_738, 12),
            scopes.TWO_TUPLES.fails(2_768, 15),
            scopes.AN_AGGREGATE_OF_AN_AGGREGATE.fails(35_210, 14),
            scopes.ADJACENT_CRASHES.fails(58_944, 16, reduced=10_500),
        ),
        "An operator that has made again all that downstream has, and makes nothing more, never "
        "answers: downstream waits, and acknowledges nothing.",
        properties=(AS_IF, COMPLETE, ANSWERED),
    ),
    CRB.design(
        "acknowledges-once",
        CrbDesign(answers=RestartAnswers.MADE_AGAIN),
        (scopes.A_FILTER.fails(5_627, 10), scopes.TWO_TUPLES.fails(2_726, 10)),
        "A crash loses an acknowledgement that is due, or the queue of a checkpoint is older than "
        "one that came; nobody acknowledges again.",
        properties=(AS_IF, COMPLETE, ANSWERED, QUEUES_EMPTY),
    ),
    CRB.design(
        "reconnects",
        CrbDesign(answers=RestartAnswers.MADE_AGAIN, reminds=Reminds.ANSWERED),
        (
            scopes.WINDOWS_OF_ONE_TUPLE.holds(17_056),
            scopes.WINDOWS_OF_TWO_TUPLES.holds(37_032),
            scopes.EQUAL_TIMES.holds(42_252),
            scopes.TWO_CRASHES.holds(61_284),
            scopes.THREE_CRASHES.holds(183_065, reduced=35_037),
            scopes.A_FILTER.holds(8_432),
            scopes.AN_AGGREGATE_OF_AN_AGGREGATE.holds(51_915, reduced=6_319),
            scopes.A_FILTER_UPSTREAM.holds(62_396),
            scopes.ADJACENT_CRASHES.holds(101_968, reduced=13_469),
            scopes.NO_CRASH.holds(1_165),
        ),
        "An answer as soon as the last output that downstream has is made again, and an "
        "acknowledgement after each answer: at rest nobody waits, and queues are empty.",
        properties=(AS_IF, COMPLETE, ANSWERED, QUEUES_EMPTY),
    ),
    CRB.design(
        "published",
        PUBLISHED,
        (
            scopes.RISING_TIMES.fails(14_107, 9, REPEATING),
            scopes.WINDOWS_OF_ONE_TUPLE.fails(9_778, 9, GAP),
            scopes.EQUAL_TIMES.fails(22_274, 10, GAP),
        ),
        "As published, with times and no numbers: outputs since the checkpoint come twice, and "
        "tuples with the time of the checkpoint are lost.",
        must_occur=SEEN,
    ),
    CRB.design(
        "published-later",
        CrbDesign(mode=Mode.SYNCHRONOUS, stamp=Stamp.TIME, resumes=Resumes.LATER),
        (
            scopes.RISING_TIMES.holds(10_456),
            scopes.ONE_KEY.holds(2_617),
            scopes.WINDOWS_OF_ONE_TUPLE.fails(7_602, 10, GAP),
            scopes.EQUAL_TIMES.fails(18_612, 10, GAP),
        ),
        "With times that rise strictly at every operator, times can stand for numbers everywhere.",
        must_occur=SEEN,
    ),
)
