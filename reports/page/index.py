"""The first screen of the report: surprises, findings, the matrix, numbers, changes, the date.

Rule of this file: the order of sections; other files make their content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model.results.experiment import Reproduction
from model.results.report import KeptReport, ReportOrigin, ReportResults
from reports.page.blocks import (
    Block,
    FactList,
    FoldedPart,
    Ink,
    ItemList,
    PageSection,
    Sentence,
    TableRow,
    Word,
    Words,
    parts_of,
    table,
)
from reports.page.changes import OutcomeChange, changes, kept
from reports.page.formats import counted, joined, time
from reports.page.matrix import matrix
from reports.page.parts import costs, engine, proofs, runs
from reports.page.ranking import RankedFinding, ranked
from reports.page.surprises import surprises
from reports.results import experiments as experiment_results
from reports.results import proofs as proof_results

TITLE = "Is the output as if nothing had failed?"
FIRST = 6
"""Findings that the first screen shows; the others are behind a line."""
MOST_CHANGES = 12


def first_screen(results: ReportResults, before: KeptReport | None) -> list[Block]:
    """The blocks of the index.  before: the report to compare with; None: there is none."""
    return [
        Sentence(Word(_about(results), Ink.DIM)),
        *_wrong(results),
        *_found(results),
        *_matrix(results),
        *_numbers(results.reproduced),
        *_changed(results, before),
        PageSection("This report", [*_summary(results), _facts(results)], "about"),
    ]


def _about(results: ReportResults) -> str:
    parts = ["Correctness report", f"asif {results.version}", f"{results.profile} profile"]
    if results.origin is not None:
        parts.append(_moment(results.origin))
        parts.append(f"commit {results.origin.commit or 'not known'}")
    return " · ".join(parts)


def _moment(origin: ReportOrigin) -> str:
    return origin.moment.replace("T", " ").replace("Z", " UTC")


# --- surprises ---------------------------------------------------------------------
def _wrong(results: ReportResults) -> Iterator[Block]:
    lines = surprises(results)
    if not lines:
        yield Sentence(f"Everything is as expected: {_expected(results)}", Ink.GOOD)
        yield from (Sentence(f"Skipped: {one}") for one in results.skipped)
        return
    blocks: list[Block] = [
        Sentence([Word("✗ ", Ink.BAD), *parts_of(line)], Ink.BAD) for line in lines[:FIRST]
    ]
    if rest := lines[FIRST:]:
        blocks.append(FoldedPart(f"{len(rest)} more", [ItemList(rest)]))
    blocks += [Sentence(f"Skipped: {one}") for one in results.skipped]
    yield PageSection(f"Not as expected: {len(lines)}", blocks, "surprises")


# --- findings ------------------------------------------------------------------------------
def _found(results: ReportResults) -> Iterator[Block]:
    found = ranked(results)
    if not found:
        return
    shown: list[Block] = [one.card for one in found[:FIRST]]
    if rest := found[FIRST:]:
        kinds = [one.kind for one in rest]
        folded = [
            FoldedPart(f"{title}: {kinds.count(kind)}", _cards(rest, kind))
            for kind, title in enumerate(("Claims of papers", "Engines", "Other readings"))
            if kind in kinds
        ]
        shown += folded
    yield PageSection(f"What was found: {len(found)}", shown, "found")


def _cards(found: Sequence[RankedFinding], kind: int) -> list[Block]:
    return [one.card for one in found if one.kind == kind]


def _matrix(results: ReportResults) -> Iterator[Block]:
    if results.verdicts:
        words = (
            "Below each guarantee: how many variants of the family have it as their weakest one."
        )
        blocks: list[Block] = [Sentence(words), matrix(results)]
        yield PageSection("Families, guarantees and costs", blocks, "families")


# --- published numbers ---------------------------------------------------------------------------
def _numbers(results: Sequence[Reproduction]) -> Iterator[Block]:
    if not results:
        return
    signs = experiment_results.SIGNS
    rows = [
        TableRow(
            [
                Word(one.title, to=costs.address(one)),
                *(str(one.score.get(verdict, 0) or "") for verdict in signs),
                str(one.seeds) if one.as_published else f"{one.seeds}, fewer than published",
            ]
        )
        for one in results
    ]
    columns = ("Experiment", *(f"#{verdict}" for verdict in signs), "#Seeds")
    outside = [row for one in results for row in _outside(one)]
    blocks: list[Block] = [
        Sentence(f"{experiment_results.score(results)}."),
        table("Published numbers by experiment", columns, rows),
    ]
    if outside:
        names = ("Number", "How", "Experiment", "#Published", "#Ours", "#Off by", "Why")
        laid = table("Published numbers outside", names, outside)
        count = sum(one.score.get("outside", 0) for one in results)
        about = Sentence(
            "“Off by” leaves out what is a parameter, as the detection of a failure is. A number "
            "that is found in more ways than one has a row for each way that is outside."
        )
        blocks.append(FoldedPart(f"Outside: {counted(count, 'number')}", [about, laid]))
    yield PageSection("Published numbers", blocks, "numbers")


def _outside(one: Reproduction) -> Iterator[Sequence[Words]]:
    for number in one.numbers:
        if number.scored and experiment_results.sign(number) == "✗":
            link = Word(one.experiment, to=costs.address(one))
            yield [
                number.what,
                number.way,
                link,
                experiment_results.shown(number, number.published),
                experiment_results.beside(number),
                experiment_results.off_by(number),
                number.reason,
            ]


# --- changes -------------------------------------------------------------------------------------
def _changed(results: ReportResults, before: KeptReport | None) -> Iterator[Block]:
    if before is None:
        return
    found = changes(before, kept(results))
    moment = _moment(before.origin) if before.origin else "a date that is not known"
    commit = f", commit {before.origin.commit}" if before.origin and before.origin.commit else ""
    since = f"Compared with the {before.profile} report of {moment}{commit}"
    if not found:
        blocks: list[Block] = [Sentence(f"{since}: no outcome has changed.")]
    else:
        blocks = [Sentence(f"{since}: {counted(len(found), 'outcome')} changed."), _table(found)]
        if rest := found[MOST_CHANGES:]:
            blocks.append(FoldedPart(f"{len(rest)} more", [_table(rest, len(rest))]))
    title = f"Changed since the report of {moment}: {len(found)}"
    yield PageSection(title, blocks, "changes")


def _table(found: Sequence[OutcomeChange], most: int = MOST_CHANGES) -> Block:
    rows: list[Sequence[Words]] = [
        [
            Word(one.address, to=one.address if one.now else ""),
            one.before or Word("new", Ink.DIM),
            one.now or Word("not in this report", Ink.DIM),
        ]
        for one in found[:most]
    ]
    return table("Changed outcomes", ("Part", "Before", "Now"), rows)


# --- the report itself ---------------------------------------------------------------------------
def _summary(results: ReportResults) -> Iterator[Block]:
    items: list[Words] = [_expected(results)]
    view = proof_results.view(results.proofs)
    if view.lemmas:
        lemmas = f"{len(view.lemmas)} lemmas", f"{view.proved} proved", f"{view.refuted} refuted"
        judged = "all as expected" if view.fine else "NOT all as expected"
        items.append([Word(lemmas[0], to=proofs.ROOM), f": {', '.join(lemmas[1:])}, {judged}."])
    items += _real_runs(results)
    cases = [case for one in results.engine for case in one.cases]
    if cases:
        names = " and ".join(dict.fromkeys(one.machine.engine for one in results.engine))
        good = sum(case.agrees for case in cases)
        link = Word(names, to=engine.ROOM)
        items.append(
            [link, f", crashed for real, did as predicted in {good} of {len(cases)} cases."]
        )
    yield ItemList(items)


def _expected(results: ReportResults) -> str:
    verdicts = results.verdicts
    expected = sum(one.expected for one in verdicts)
    states = sum(one.states for one in verdicts)
    words = f"{expected} of {len(verdicts)} protocols and variants are as expected, "
    return f"{words}in {states:,} reachable worlds explored one by one."


def _real_runs(results: ReportResults) -> Iterator[Words]:
    alike: dict[tuple[int, int, bool], list[str]] = {}
    for run in results.runs:
        alike.setdefault((run.events, len(run.crashes), run.same), []).append(run.protocol)
    for (events, crashes, same), protocols in alike.items():
        link = Word(f"{events:,} real events", to=runs.ROOM)
        judged = "the same as" if same else "NOT the same as"
        hit = counted(crashes, "crash", "crashes")
        names = ", ".join(protocols)
        yield ["On ", link, f" with {hit} the output was {judged} without failures ({names})."]


def _facts(results: ReportResults) -> FactList:
    rows: list[tuple[str, Words]] = [("Profile", results.profile), ("Took", time(results.seconds))]
    origin = results.origin
    if origin is not None:
        versions: list[Words] = [f"{name} {version}" for name, version in origin.versions.items()]
        rows = [
            ("Made", origin.moment),
            ("From commit", origin.commit or "not known"),
            ("Machine", origin.machine),
            ("Software versions", joined(versions)),
            *rows,
        ]
    return FactList(rows)
