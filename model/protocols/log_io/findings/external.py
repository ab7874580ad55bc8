"""The findings about LOG.io: read and write actions on external systems, word by word.

Rule of this file: findings as data; docs/explanation/findings/log-io.md explains them.
"""

from __future__ import annotations

from model.finding import ByScope, Finding, FindingTable, Judgement

EXTERNAL = FindingTable(
    "External systems",
    (
        Finding(
            "A read action is done with its last output",
            Judgement.REFUTED,
            section="Algorithm 1, step 2.c(3); Algorithm 6, step 3",
            remark=(
                "an effect without an event has no last output: the action is never done, and each "
                "restart resumes it; step 3 never completes an empty replayable one either"
            ),
            witnesses=(ByScope("log-io:empty-reads-never-end", "a poll", "without a crash"),),
            mend="a transaction without outputs ends an empty action",
            mended=("log-io:empty-reads",),
        ),
        Finding(
            "A read action that is not complete is executed again",
            Judgement.REFUTED,
            section="Algorithm 6, step 4; 2.2",
            remark=(
                "for a read that removes the events that it shows, as of a queue: stored or not, "
                "the second read finds nothing, and the event is lost; to go on with a store that "
                "is not complete does not help a crash before the store"
            ),
            witnesses=(
                ByScope("log-io:destructive-reads", "a queue of one event"),
                ByScope(
                    "log-io:destructive-reads-from-the-store",
                    "a queue of one event",
                    "from the store",
                ),
            ),
            mend=(
                "the queue keeps an event until the reader acknowledges it, when the action is "
                "complete, and again after a restart"
            ),
            mended=("log-io:acknowledged-reads",),
        ),
        Finding(
            "A read action is replayable if its effect is a subsequence of a later one",
            Judgement.REFUTED,
            section="2.2; Algorithm 1, step 3.a",
            quotes=("subsequence",),
            remark=(
                "for a reader that goes on at an index: [a, c] is read, then it is [a, b, c]; c is "
                "shown twice, and b never"
            ),
            witnesses=(ByScope("log-io:subsequence-by-offset", "a relay and a crash"),),
            mend="an earlier effect is a prefix, or the reader goes on after the greatest key",
            mended=("log-io", "log-io:subsequence-by-key"),
        ),
        Finding(
            "Two consecutive executions of an idempotent write are as one",
            Judgement.CONDITIONAL,
            section="2.2; 4.4, case 2",
            quotes=("Two consecutive executions",),
            remark=(
                "right for a place with one writer; a write of another operator between the two is "
                "overwritten: first, second, first again"
            ),
            witnesses=(
                ByScope("log-io:overwriting-writes", "two writers of one system"),
                ByScope("log-io:idempotent-writes", "two writers of one system"),
            ),
            mend="writes are checkable, or a place has one writer",
            mended=("log-io", "log-io:idempotent-writes"),
        ),
    ),
)
