"""The findings about Hwang et al.: active standby.

Rule of this file: findings as data; docs/explanation/findings/active-standby.md explains them.
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

CLAIMS = FindingTable(
    "Active standby",
    (
        Finding(
            "A duplicate has a lower-valued high watermark",
            Judgement.REFUTED,
            section="5.3",
            quotes=("a lower-valued high watermark",),
            remark="for another order of inputs: a result is lost after one failure",
            witnesses=(
                ByLemma("standby-other-order"),
                ByTest("tests/contract/test_runs.py", "5 tuples"),
            ),
            mend="compare with the primary's low watermarks",
            mended=("active-standby",),
        ),
        Finding(
            (
                "A tuple with a lower watermark is a duplicate (5.3), or one with no greater "
                "watermark (6)"
            ),
            Judgement.CONTRADICTORY,
            section="5.3, 6",
            quotes=(
                "lower",
                "no greater",
            ),
            remark=(
                'with "lower" the last output received comes again; with "no greater" the second '
                "of two windows that one tuple closes is lost"
            ),
            witnesses=(
                ByScope("upstream-backup-acks:high-lower", "a relay"),
                ByScope("active-standby:none-greater", "two paths"),
                ByScope("upstream-backup-acks:high", "windows that close together"),
            ),
            mend="outputs of one input are counted from the last one back",
            mended=(
                "upstream-backup-acks",
                "active-standby",
            ),
        ),
        Finding(
            (
                "Each secondary trims all logged output tuples that have a high watermark lower "
                "than those of the tuples already received by downstream nodes"
            ),
            Judgement.REFUTED,
            section="5.3",
            quotes=(
                "trims all logged output tuples that have a high watermark lower than",
                "the tuples already received by downstream nodes",
            ),
            remark=(
                "for those that are logged later: a secondary that is behind its primary keeps "
                "them at rest, and so does one that has taken over"
            ),
            witnesses=(
                ByScope("active-standby:overdue-logged", "no crash", "the secondary is behind"),
                ByScope("active-standby:overdue-logged", "a tuple", "it has taken over"),
            ),
            mend="an output that all readers have is not logged, and a primary reports it, too",
            mended=("active-standby:overdue-dropped",),
        ),
        Finding(
            "Starts with an empty state, becomes up-to-date",
            Judgement.REFUTED,
            section="5.3",
            quotes=("Starts with an empty state, becomes up-to-date",),
            remark=(
                "a new secondary is not up to date when the next failure comes, and never for "
                "networks that are not convergent-capable"
            ),
            witnesses=(
                ByScope("active-standby:published-again", "sliding windows, two crashes"),
                ByScope(
                    "active-standby:published-again",
                    "pairs of a union, two crashes",
                    "an arbitrary network",
                ),
                ByScope(
                    "active-standby:joins-at-once",
                    "a relay, two crashes",
                    "the copy is asked for earlier",
                ),
            ),
            mend="the new secondary gets a copy, and asks for it when upstream keeps tuples for it",
            mended=("active-standby",),
        ),
        Finding(
            "Until the secondary receives all determinants involved in generating these tuples",
            Judgement.REFUTED,
            section="6",
            quotes=(
                (
                    "Until the secondary receives all determinants involved in generating these "
                    "tuples"
                ),
            ),
            remark='for those that are sent and not yet there, and for those "involved" alone',
            witnesses=(
                ByScope("active-standby:determinants-sent", "a union"),
                ByScope(
                    "active-standby:alone-silent",
                    "a union, the secondary",
                    "a secondary is lost for ever",
                ),
                ByLemma("determinants-involved", "1 steps"),
            ),
            mend="all earlier determinants, acknowledged; alone, a primary waits for none",
            mended=(
                "active-standby:arbitrary",
                "active-standby:arbitrary-alone",
                "active-standby:arbitrary-again",
            ),
        ),
    ),
)

FINDINGS = (CLAIMS,)
