"""The findings about Hwang et al.: passive standby, and all three methods.

Rule of this file: findings as data; docs/explanation/findings/passive-standby.md explains them.
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
    "Passive standby, and all three methods",
    (
        Finding(
            "Table 2 has the recovery types after one failure",
            Judgement.CONDITIONAL,
            section="5",
            remark=(
                "right for nodes of one operator, joins, two consumers and two output streams; "
                "refuted for two operators in a node (passive standby), and for another order of "
                "inputs (active standby, arbitrary networks); standbys.md has the tables"
            ),
            witnesses=(
                ByScope("passive-standby:published"),
                ByScope("active-standby:published"),
                ByScope("upstream-backup-acks:published"),
                ByScope("passive-standby:published-sweep", "two operators in a node"),
                ByTest("tests/contract/test_runs.py", "another order of five tuples"),
            ),
        ),
        Finding(
            "Passive standby makes no extra requirements on stream sources",
            Judgement.CONTRADICTORY,
            section="5.1, 7.5",
            quotes=("extra requirements on stream sources",),
            remark=(
                "5.1 needs that upstream keeps each tuple until it is safely stored: a source that "
                "keeps nothing loses a tuple that no checkpoint has; with active standby it may "
                "keep nothing, as 7.5 says, and with upstream backup it may not"
            ),
            witnesses=(
                ByScope("passive-standby:sources-forget", "a tuple"),
                ByScope("active-standby:sources-forget"),
                ByScope("upstream-backup-acks:sources-forget", "a tuple"),
            ),
            mend="sources of passive standby log, too, until the secondary has a checkpoint",
            mended=("passive-standby:rollback",),
        ),
        Finding(
            "Table 2 has the recovery type that the application sees",
            Judgement.REFUTED,
            section="3.1",
            remark=(
                "it is the type of the stream that the nodes downstream from the failure "
                "receive; behind a node with windows by count, repetitions are paired with each "
                "other, and the application has a gap"
            ),
            witnesses=(
                ByScope("passive-standby:rollback-behind", "two nodes"),
                ByScope("upstream-backup-acks:rollback-behind", "two nodes"),
                ByScope("active-standby:rollback-behind", "two nodes"),
            ),
            mend="precise recovery in each node",
            mended=("passive-standby",),
        ),
        Finding(
            "Recovery is precise for deterministic networks",
            Judgement.CONFIRMED,
            section="6",
            remark=(
                "with these mends, by exploration, for two nodes, two consumers, two output "
                "streams and two failures, too; with upstream backup for convergent-capable "
                "networks of one input"
            ),
            witnesses=(
                ByScope("passive-standby"),
                ByScope("active-standby"),
                ByScope("upstream-backup-acks"),
            ),
            mend=(
                "tuples keep their numbers after the question (25 steps otherwise, at the second "
                "failure)"
            ),
        ),
        Finding(
            "A failed node assumes the role of the secondary",
            Judgement.REFUTED,
            section="2",
            quotes=("assumes the role of the secondary",),
            remark="two failures at once leave two secondaries, and nobody leads",
            witnesses=(
                ByScope("upstream-backup-acks:any", "a relay, two crashes"),
                ByScope("passive-standby:any", "a relay, two crashes"),
                ByScope("active-standby:any", "a relay, two crashes"),
            ),
            mend="none here: the failures are assumed to come one by one",
        ),
        Finding(
            "Nothing is said on a primary that is taken for dead",
            Judgement.SILENT,
            section="2",
            remark="nothing is lost at once; at the next failure nobody has the state",
            witnesses=(ByScope("passive-standby:deposes-nobody", "a relay, two crashes"),),
            mend="the new primary deposes the old one",
            mended=("passive-standby:suspicion",),
        ),
        Finding(
            "The primary is free to execute operators away from the sweep line",
            Judgement.REFUTED,
            section="5.1",
            quotes=("The primary is free to execute operators away from the sweep line",),
            remark=(
                "for two operators in a node: a tuple that passes the line is in the state "
                "behind it, and is sent again; divergent, not repeating"
            ),
            witnesses=(
                ByScope("passive-standby:published-sweep", "two operators in a node"),
                ByLemma("sweep-line-free"),
            ),
            mend="what passes waits; a queue's end is saved with the operator that moves it",
        ),
        Finding(
            "Discard all tuples preceding the ones identified",
            Judgement.REFUTED,
            section="6",
            quotes=("Discard all tuples preceding the ones identified",),
            remark="to the letter: the tuple identified comes twice",
            witnesses=(ByScope("passive-standby:published-precise", "a relay"),),
            mend="also the tuple identified",
            mended=("passive-standby",),
        ),
        Finding(
            "Asking downstream makes recovery precise",
            Judgement.REFUTED,
            section="6",
            remark="if tuples of the dead primary come after the answer",
            witnesses=(
                ByScope("passive-standby:late-taken", "a relay"),
                ByScope("active-standby:late-taken", "a relay"),
            ),
            mend="who has answered closes the old connection",
            mended=(
                "passive-standby",
                "active-standby",
            ),
        ),
        Finding(
            "The primary can only forward checkpointed tuples",
            Judgement.CONDITIONAL,
            section="6",
            quotes=("can only forward checkpointed tuples",),
            remark=(
                "right if the secondary has the checkpoint; a checkpoint that is only sent can "
                "be lost with the primary"
            ),
            witnesses=(
                ByScope("passive-standby:forwards-sent", "a union"),
                ByScope("passive-standby:alone-silent", "a union", "a primary is lost for ever"),
                ByScope(
                    "passive-standby:alone-silent-up",
                    "a union, the secondary",
                    "a secondary is lost for ever",
                ),
            ),
            mend="an acknowledgement of the secondary; alone, it forwards all",
            mended=(
                "passive-standby:arbitrary",
                "passive-standby:arbitrary-alone",
                "passive-standby:arbitrary-lost",
            ),
        ),
    ),
)

FINDINGS = (CLAIMS,)
