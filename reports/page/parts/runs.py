"""Runs on real input with crashes, beside the same runs without.

Rule of this file: blocks of model.results.run alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model.results.run import ComparedRun, OutputDigest, RealRun
from reports.page.blocks import (
    Block,
    DrawnPicture,
    FactList,
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
from reports.page.formats import counted, joined, slug, time
from reports.results import run as plots

ROOM = "runs"
COLUMNS = (
    "Protocol",
    "As without failures?",
    "#Events",
    "#Crashes",
    "#Results",
    "#Events replayed",
    "#Peak backup, events",
    "#Time",
)


def room(results: Sequence[RealRun]) -> PageRoom:
    """A panel for each run."""
    words = "Each protocol ran on real events; nodes crashed, and the output was compared."
    runs = table("Runs on real input", COLUMNS, [*map(_row, results)])
    return PageRoom(ROOM, "Run on real input", [Sentence(words), runs], [*map(_panel, results)])


def address(run: RealRun) -> str:
    """Where a link finds the run."""
    return f"{ROOM}/{slug(run.protocol)}"


def _row(run: RealRun) -> TableRow:
    same = Word("✓ the same", Ink.GOOD) if run.same else Word("✗ not the same", Ink.BAD)
    numbers = (len(run.crashes), run.with_crashes.count, run.replayed, run.peak_backup)
    cells = [f"{one:,}" for one in (run.events, *numbers)]
    first = Word(run.protocol, to=address(run))
    return TableRow([first, same, *cells, time(run.seconds)], off=not run.same)


def _panel(run: RealRun) -> PagePanel:
    crashes = counted(len(run.crashes), "crash", "crashes")
    count = f"{run.with_crashes.count:,} complex events"
    words = f"The output with {crashes} is identical to the failure-free one: {count}."
    if not run.same:
        words = f"The output with {crashes} differs from the failure-free one: {count} instead of "
        words += f"{run.failure_free.count:,}."
    meta = f"{run.input} · {run.events:,} events · {time(run.seconds)}"
    blocks: list[Block] = [
        Sentence(Word(meta, Ink.DIM)),
        Sentence(words, Ink.GOOD if run.same else Ink.BAD),
        _facts(run),
    ]
    if run.left_out:
        left = ", ".join(run.left_out)
        blocks.append(Sentence(f"One operator alone is deployed; left out: {left}."))
    if run.compared:
        blocks.append(_beside(run, run.compared))
    blocks += _series(run)
    return PagePanel(address(run), f"{run.protocol} on real input", blocks, run.input)


def _facts(run: RealRun) -> FactList:
    edges: list[Words] = [Word(f"{u} → {v}", Ink.CODE) for u, v in run.graph.edges]
    crashes = ", ".join(f"{one.node} at event {one.at_event:,}" for one in run.crashes)
    replayed = f"{run.replayed:,} events; {run.discarded:,} duplicates discarded"
    return FactList(
        [
            ("Pattern", run.pattern),
            ("Graph", joined(edges)),
            ("Crashes", crashes or "none"),
            ("Oracle", _digest(run.expected)),
            ("Failure-free", _digest(run.failure_free)),
            ("With crashes", _digest(run.with_crashes)),
            ("Replayed", replayed),
        ]
    )


def _digest(one: OutputDigest) -> Words:
    return [f"{one.count:,} results, SHA-256 ", Word(one.sha256, Ink.CODE)]


def _beside(run: RealRun, other: ComparedRun) -> Block:
    rows: list[Sequence[Words]] = []
    for name, theirs, ours in (
        ("Events replayed", other.replayed, run.replayed),
        ("Peak backup, events", other.peak_backup, run.peak_backup),
    ):
        saved = f"{100 * (theirs - ours) / theirs:.1f} %" if theirs else "–"
        rows.append([name, f"{theirs:,}", f"{ours:,}", saved])
    columns = ("Metric", f"#{other.protocol}", f"#{run.protocol}", "#Saved")
    drawn = DrawnPicture("Plot: beside the other protocol", plots.compare_bars(run))
    title = f"Beside {other.protocol}"
    return PageSection(title, [table(title, columns, rows), drawn])


def _series(run: RealRun) -> Iterator[Block]:
    if not run.series:
        return
    heights = [height or 0 for point in run.series for height in (point.backup, point.compared)]
    highest = max(heights, default=0)
    rows = [(run.protocol, [one.backup for one in run.series])]
    if run.compared:
        theirs = [one.compared or 0 for one in run.series]
        rows.insert(0, (run.compared.protocol, theirs))
    plain = "\n".join(f"{plots.sparkline(values, highest)}  {name}" for name, values in rows)
    words = "Events that all nodes together keep for others, over the input"
    plain = f"{plain}\na full block is {highest:,}"
    svg = plots.backup_over_input(run)
    yield DrawnPicture("Plot: backup over the input", svg, f"{words}.", plain)
