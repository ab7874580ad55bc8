"""On a real engine: the checks whose processes were killed or whose files were damaged.

Rule of this file: blocks of model.results.engine; reports.results.spark counts and compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model.results.engine import EngineCheck
from reports.page.blocks import (
    Block,
    DrawnPicture,
    Ink,
    PagePanel,
    PageRoom,
    PageSection,
    Sentence,
    TableRow,
    Word,
    Words,
    table,
)
from reports.page.formats import slug, time
from reports.results import spark

ROOM = "engine"
_PREDICTED = (
    "Predicted against measured; on the dotted line they are equal.  Measured: the median.  Mean, "
    "line: the median error if the mean of all other runs, or a line through them over their "
    "events, predicted each run."
)
SIGN = "As predicted?"
ERRORS = ("Time", "Crash", "#Runs", "#Measured", "#Median error", "#Middle half", "#Mean", "#Line")


def room(results: Sequence[EngineCheck]) -> PageRoom:
    """A panel for each check."""
    names = " and ".join(dict.fromkeys(one.machine.engine for one in results))
    words = (
        f"The same protocols on {names}, whose processes were killed or whose files were damaged."
    )
    words += "  The outcome is compared with the predictions of the model and the simulator."
    rows = [*map(_row, results)]
    columns = ("Check", "Engine", "Engine version", "As predicted?", "#Cases", "#Crashes", "#Time")
    blocks: list[Block] = [Sentence(words), table("Checks on engines", columns, rows)]
    counts = [*map(_count, spark.crashes(results))]
    if counts:
        outages = ("Killed or damaged", "#Times", "By check", "#Cases as predicted")
        blocks.append(PageSection("Crashes by kind", [table("Crashes by kind", outages, counts)]))
    return PageRoom(ROOM, "On a real engine", blocks, [*map(_panel, results)])


def address(one: EngineCheck) -> str:
    """Where a link finds the check."""
    return f"{ROOM}/{slug(one.machine.engine)}-{slug(one.check)}"


def _row(one: EngineCheck) -> TableRow:
    good = sum(case.agrees for case in one.cases)
    sign = Word("✓ as predicted", Ink.GOOD) if one.holds else Word("✗ not as predicted", Ink.BAD)
    return TableRow(
        [
            Word(one.title, to=address(one)),
            one.machine.engine,
            one.machine.version,
            sign,
            f"{good} of {len(one.cases)}",
            str(sum(len(case.crashed) for case in one.cases)),
            time(one.seconds),
        ],
        off=not one.holds,
    )


def _count(one: spark.OutageCount) -> TableRow:
    checks = ", ".join(f"{check} {times}" for check, times in one.checks)
    tone = Ink.GOOD if one.agreed == one.cases else Ink.BAD
    good = Word(f"{one.agreed} of {one.cases}", tone)
    return TableRow([one.kind, str(one.times), checks, good])


def _panel(one: EngineCheck) -> PagePanel:
    shown = spark.shown(one)
    facts = f"{one.machine.engine} · {one.check} · {one.profile} profile · {time(one.seconds)}"
    blocks: list[Block] = [
        Sentence(Word(facts, Ink.DIM)),
        Sentence(f"{shown.summary}.", Ink.GOOD if one.holds else Ink.BAD),
        *(Sentence(Word(note, Ink.DIM)) for note in one.notes),
        *_times(shown),
    ]
    if shown.shares:
        rows: list[Sequence[Words]] = [[part, share] for part, share in shown.shares]
        columns = ("Part of the outage", "#Share of the variance")
        blocks.append(table("Shares of the variance", columns, rows))
    if shown.over_time:
        words = f"Over time; dotted as predicted, solid as seen on {one.machine.engine}."
        blocks.append(DrawnPicture(f"Plot: {one.title} over time", shown.over_time, words))
    blocks += _cases(shown)
    return PagePanel(address(one), f"{one.machine.engine}: {one.title}", blocks, one.check)


def _times(shown: spark.ShownCheck) -> Iterator[Block]:
    if shown.plot:
        yield DrawnPicture("Plot: predicted against measured", shown.plot, _PREDICTED)
    if shown.errors:
        rows: list[Sequence[Words]] = [[*one] for one in shown.errors]
        yield table("Errors of predicted times", ERRORS, rows)


def _cases(shown: spark.ShownCheck) -> Iterator[Block]:
    if not shown.rows:
        return
    cases: Block
    if shown.facts:
        columns = ("Case", "Killed or damaged", *map(str.capitalize, shown.facts.columns), SIGN)
        rows = [
            TableRow([name, places, *cells, _sign(sign)], off=sign != "✓")
            for name, places, sign, cells in shown.facts.rows
        ]
    else:
        columns = ("Case", "Predicted", f"Seen on {shown.result.machine.engine}", SIGN)
        rows = [
            TableRow([name, predicted, seen, _sign(sign)], off=sign != "✓")
            for name, predicted, seen, sign in shown.rows
        ]
    cases = table(f"Cases: {shown.result.title}", columns, rows)
    yield PageSection("The case" if len(rows) == 1 else f"All {len(rows)} cases", [cases])


def _sign(sign: str) -> Word:
    return Word(sign, Ink.GOOD if sign == "✓" else Ink.BAD)
