"""The findings about uncoordinated and communication-induced checkpoints.

Rule of this file: findings as data; docs/explanation/findings/uncoordinated.md explains them.
Claims are in our words.  "Survey" is Elnozahy et al., 2002, by the section that is about the
subject; "CheckMate" is Siachamis et al., 2024.  Neither text was compared word by word.
"""

from __future__ import annotations

from model.finding import ByMutant, ByScope, ByTest, Finding, FindingTable, Judgement

TESTS = "tests/families/uncoordinated/test_uncoordinated.py"

UNCOORDINATED = FindingTable(
    "Uncoordinated checkpoints",
    (
        Finding(
            "A consistent recovery line and logs of messages give exactly-once processing",
            Judgement.CONDITIONAL,
            section="Survey 3.1; CheckMate",
            remark=(
                "for every operator, if outputs wait for the line; outputs that leave at once need "
                "deterministic operators"
            ),
            witnesses=(
                ByScope("uncoordinated"),
                ByScope("uncoordinated:at-once"),
                ByScope("uncoordinated:at-once-any", "a union"),
            ),
            mend="a sink passes on what the line has",
            mended=("uncoordinated",),
        ),
        Finding(
            "Checkpoints that nobody coordinates can lead to the domino effect",
            Judgement.CONFIRMED,
            section="Survey 3.1",
            remark="one crash undoes two checkpoints of each operator, which are all",
            witnesses=(
                ByScope("uncoordinated:domino", "a domino", "messages go both ways"),
                ByScope("uncoordinated:domino-of-one-event", "two relays"),
            ),
            mend="communication-induced checkpoints",
            mended=("uncoordinated:index-based",),
        ),
        Finding(
            "The domino effect needs messages both ways",
            Judgement.CONDITIONAL,
            section="(often said)",
            remark=(
                "with logs, a restart never undoes all where messages go one way; without logs "
                "senders go back for lost messages, and a chain of two operators is enough"
            ),
            witnesses=(
                ByScope("uncoordinated"),
                ByScope("uncoordinated:no-log-matched", "two relays and two events"),
            ),
            mend="a checkpoint has the outputs that a receiver may still ask for",
            mended=("uncoordinated",),
        ),
        Finding(
            "The domino effect makes results wrong",
            Judgement.REFUTED,
            section="(not claimed)",
            remark="it costs work; the outputs are those of a run without failures",
            witnesses=(
                ByScope("uncoordinated:two-way"),
                ByTest(f"{TESTS}::test_a_domino_costs_work_and_no_result"),
            ),
        ),
        Finding(
            "A line without orphans needs a log of the messages on their way",
            Judgement.CONFIRMED,
            section="Survey",
            remark="gap without it",
            witnesses=(
                ByScope("uncoordinated:no-log", "two relays"),
                ByMutant("the log is no part of the restart"),
            ),
        ),
        Finding(
            "Receivers discard duplicates by their numbers",
            Judgement.NEEDED,
            section="Survey; CheckMate",
            witnesses=(ByScope("uncoordinated:takes-duplicates", "two relays"),),
        ),
        Finding(
            "A recovery line has no orphans",
            Judgement.CONDITIONAL,
            section="Survey 3.1 and 4",
            remark=(
                "needed if operators are not deterministic; deterministic ones make an orphan "
                "again, with its number, and its receiver discards it"
            ),
            witnesses=(
                ByScope("uncoordinated:orphans", "a union"),
                ByScope("uncoordinated:newest"),
            ),
        ),
        Finding(
            "Checkpoints behind the recovery line are garbage, and no others are",
            Judgement.CONFIRMED,
            section="Survey",
            remark="gap if all but the newest ones are deleted and operators are not deterministic",
            witnesses=(
                ByScope("uncoordinated"),
                ByScope("uncoordinated:keeps-the-newest", "a union"),
            ),
        ),
        Finding(
            "Uncoordinated checkpoints may be useless: in no consistent line",
            Judgement.CONFIRMED,
            section="Survey 3.1 and 3.3",
            remark="without any fault, if messages go both ways; never where they go one way",
            witnesses=(
                ByScope("uncoordinated:useless", "two relays"),
                ByTest(f"{TESTS}::test_no_checkpoint_is_useless_where_messages_go_one_way"),
            ),
        ),
    ),
)

INDUCED = FindingTable(
    "Communication-induced checkpoints",
    (
        Finding(
            "The domino effect cannot occur",
            Judgement.CONFIRMED,
            section="Survey 3.3; CheckMate",
            witnesses=(ByScope("uncoordinated:index-based"),),
        ),
        Finding(
            "Every checkpoint belongs to a consistent line",
            Judgement.CONFIRMED,
            section="Survey 3.3",
            witnesses=(ByScope("uncoordinated:index-based"),),
        ),
        Finding(
            "Checkpoints with the same index form a consistent line",
            Judgement.CONDITIONAL,
            section="Survey 3.3",
            remark=(
                "the first ones with the index that all have reached; a checkpoint that skips an "
                "index stands for it"
            ),
            witnesses=(
                ByScope("uncoordinated:index-line"),
                ByMutant("the line of an index is one checkpoint too new"),
            ),
        ),
        Finding(
            "The line of the highest common index may decide which outputs are final",
            Judgement.REFUTED,
            section="(not considered)",
            remark=(
                "an operator that has nothing more to do never reaches the next index, and outputs "
                "wait for ever"
            ),
            witnesses=(ByScope("uncoordinated:index-line-held", "two relays and two events"),),
            mend="the line by counts of messages decides",
            mended=("uncoordinated:index-based",),
        ),
        Finding(
            "The checkpoint comes before the message is processed",
            Judgement.NEEDED,
            section="Survey 3.3",
            remark="else equal indexes are no consistent line, and checkpoints are useless",
            witnesses=(
                ByScope("uncoordinated:induced-after", "two relays"),
                ByScope("uncoordinated:induced-after-useless", "two relays"),
            ),
        ),
        Finding(
            "Every message carries the index",
            Judgement.CONDITIONAL,
            section="Survey 3.3",
            remark=(
                "credits as well as outputs; not those that a restart sends again, since the "
                "checkpoint of the sender has sent them and older ones are gone"
            ),
            witnesses=(
                ByScope("uncoordinated:index-on-outputs", "two relays"),
                ByScope("uncoordinated:index-not-replayed"),
            ),
        ),
        Finding(
            "Communication-induced checkpoints help a dataflow without cycles",
            Judgement.NOT_NEEDED,
            section="(not claimed)",
            remark="no uncoordinated checkpoint is useless there",
            witnesses=(
                ByScope("uncoordinated"),
                ByScope("uncoordinated:index-one-way"),
            ),
        ),
    ),
)
FINDINGS = (UNCOORDINATED, INDUCED)
