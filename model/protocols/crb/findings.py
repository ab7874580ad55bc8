"""The findings about checkpoint roll-backward as Sebepou and Magoutis describe it.

Rule of this file: findings as data; docs/explanation/findings/crb.md explains them.
"""

from __future__ import annotations

from model.finding import (
    ByLemma,
    ByScope,
    ByTest,
    Finding,
    FindingTable,
    Judgement,
)

ROLL_BACKWARD = FindingTable(
    "Checkpoint roll-backward",
    (
        Finding(
            "Replay events that postdate the checkpoint, by time",
            Judgement.CONDITIONAL,
            section="I",
            quotes=("events that postdate the checkpoint",),
            remark="refuted for equal times: gap; right if times rise strictly",
            witnesses=(
                ByScope(
                    "crb:replay-by-time", "equal times", "`a1 = a2; a1 [ ] !`, and a2 never comes"
                ),
                ByLemma("checkpoint-by-time", "4 steps"),
                ByLemma("checkpoint-once-by-time"),
            ),
            mend="after the place of the last tuple",
            mended=("crb",),
        ),
        Finding(
            "Replay from that point forward, with that point",
            Judgement.REFUTED,
            section="II.A",
            quotes=("from that point forward",),
            remark="the last tuple of the checkpoint counts twice",
            witnesses=(
                ByScope("crb:replay-from", "one key", "`a1 [ ] ! (a1)`"),
                ByLemma("checkpoint-inclusive", "4 steps"),
            ),
            mend="after the place of the last tuple",
            mended=("crb",),
        ),
        Finding(
            "Replay after the place of the last tuple",
            Judgement.CONFIRMED,
            remark="precise",
            witnesses=(
                ByScope("crb"),
                ByLemma("checkpoint-once"),
            ),
        ),
        Finding(
            "Acknowledge when the checkpoint is taken",
            Judgement.REFUTED,
            section="II.A",
            remark="gap if it is not stored yet",
            witnesses=(
                ByScope("crb:early-acknowledgement", "windows of one tuple", "`a1 [ !`"),
                ByLemma("acknowledge-captured", "3 steps"),
            ),
            mend="acknowledge when it is stored",
            mended=("crb",),
        ),
        Finding(
            "Downstream takes what comes after a restart (no word on it)",
            Judgement.REFUTED,
            section="II.A",
            remark="repeating",
            witnesses=(
                ByScope(
                    "crb:resume-everything",
                    "rising times",
                    "`a1 [ ] !`, and the result of a1 comes again",
                ),
            ),
            mend="downstream asks by number",
            mended=("crb",),
        ),
        Finding(
            "Downstream asks for outputs since the time of its last one",
            Judgement.REFUTED,
            remark="repeating",
            witnesses=(ByScope("crb:resume-since", "rising times", "the same run"),),
            mend="downstream asks by number",
            mended=("crb",),
        ),
        Finding(
            "Downstream asks for outputs later than its last one",
            Judgement.CONDITIONAL,
            remark="refuted for equal times: gap; as good as a number if times rise strictly",
            witnesses=(
                ByScope(
                    "crb:resume-later",
                    "windows of one tuple",
                    "`a1 = a2; a1 a2 [ ] !`, and the result of a2 was on its way",
                ),
            ),
            mend="downstream asks by number",
            mended=("crb",),
        ),
        Finding(
            "The state is checkpointed in-sync with the output queue",
            Judgement.CONFIRMED,
            section="II.A",
            remark=(
                "with the queue of the checkpoint before, a result gets a number that was given, "
                "and is never sent"
            ),
            witnesses=(
                ByScope("crb:parts-apart", "windows of one tuple", "`a1 [ half !`, then a2"),
            ),
        ),
        Finding(
            "The checkpoint includes the output queue",
            Judgement.CONFIRMED,
            section="II.A",
            remark="gap without it",
            witnesses=(
                ByScope(
                    "crb:no-queue",
                    "windows of one tuple",
                    "`a1 [ ] !`, and the result was on its way",
                ),
            ),
        ),
        Finding(
            "A point-in-time consistent view",
            Judgement.CONFIRMED,
            section="II.A",
            quotes=("point-in-time consistent view",),
            remark=(
                "three parts have to be of one moment, whichever; each of them newer than the "
                "others is refuted"
            ),
            witnesses=(
                ByScope("crb:late-windows", "two tuples", "`a1 [ b2 ] !`"),
                ByScope("crb:late-position", "one key", "`a1 [ a2 ] !`"),
                ByScope("crb:late-queue", "one key", "`a1 [ a2 ] !`"),
                ByScope("crb:late-checkpoint"),
            ),
        ),
        Finding(
            "One has to decide what the most recent checkpoint is",
            Judgement.CONFIRMED,
            section="II.A",
            quotes=("One has to decide what the most recent checkpoint is",),
            remark="the previous one has to stay until the new one is whole",
            witnesses=(
                ByScope(
                    "crb:no-previous",
                    "windows of two tuples",
                    "`a1 [ b2 ] [ half !`, then a3; upstream has let go of a1",
                ),
            ),
        ),
        Finding(
            "If upstream has failed as well, it recovers first",
            Judgement.CONFIRMED,
            section="II.A",
            remark="with two crashes of neighbours",
            witnesses=(ByScope("crb"),),
        ),
        Finding(
            "A node that is asked to replay tuples that it has to reconstruct recovers first",
            Judgement.SILENT,
            section="II.A",
            quotes=("asked to replay tuples that it has to reconstruct",),
            remark=(
                "on the answer: if it comes with the first output that downstream does not have, "
                "downstream waits at rest for ever"
            ),
            witnesses=(
                ByScope(
                    "crb:answers-with-output", "a filter", "`a1 !`, and the result was delivered"
                ),
                ByScope("crb:answers-with-output", "two tuples"),
                ByScope("crb:answers-with-output", "adjacent crashes", "two operators"),
            ),
            mend="answer as soon as the last output that downstream has is made again",
            mended=("crb:reconnects",),
        ),
        Finding(
            "Queues preserve results until receiving an acknowledgment",
            Judgement.CONDITIONAL,
            section="II",
            quotes=("until receiving an acknowledgment",),
            remark=(
                "not if the acknowledgement is lost with a crash, or is newer than the queue in "
                "the checkpoint: at rest, queues keep results for ever"
            ),
            witnesses=(
                ByScope(
                    "crb:acknowledges-once", "a filter", "`b1 [ ] !` before the acknowledgement"
                ),
            ),
            mend="consumers acknowledge once more when a restarted producer has answered",
            mended=("crb:reconnects",),
        ),
        Finding(
            "The protocol as published",
            Judgement.REFUTED,
            remark=(
                "by time, after it, downstream takes what comes; two mends make it right, "
                "neither is enough alone"
            ),
            witnesses=(
                ByScope("crb:published", "rising times", "`a1 [ ] !`"),
                ByTest("tests/families/crb/test_readings.py"),
            ),
            mend="a replay by place, and outputs by number",
            mended=("crb",),
        ),
    ),
)

FINDINGS = (ROLL_BACKWARD,)
