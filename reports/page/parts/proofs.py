"""Proved and refuted: a table of lemmas, each with its queries in a panel.

Rule of this file: blocks of lemmas; no solver is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model.results.proofs import (
    UNBOUNDED,
    AbstractionResult,
    HypothesisResult,
    LemmaResult,
    ProofResult,
    QueryResult,
)
from reports.page.blocks import (
    Block,
    FoldedPart,
    GridDrawing,
    Ink,
    ItemList,
    PagePanel,
    PageRoom,
    PageSection,
    Sentence,
    TableRow,
    Word,
    Words,
    said,
    table,
)
from reports.page.formats import counted, joined, slug, time
from reports.page.markdown import lines_of, text
from reports.results import proofs as proof_results

TITLE = "What is proved, what is refuted"
ROOM = "proofs"
_MEANT = (
    "“Unbounded” means any number of events, windows, nodes and crashes, for any deterministic "
    "engine.  A bounded lemma says up to what.  A query is “unsat” if it has no counterexample "
    "and “sat” if it has one; queries that begin with “sometimes” show that the hypotheses do not "
    "contradict each other."
)
_ALONE = """\
<!-- generated: make docs -->

Each lemma is asked of Z3 by `asif prove`, and of cvc5 by the tests. *Unbounded* means any number of
events, windows, nodes and crashes, and any deterministic engine; what is bounded says up to what.
How a proof is made, and how to write one for your protocol, is in `docs/how-to/proofs.md`; the same
findings as runs of the model are in `docs/explanation/findings.md`.
"""
COLUMNS = ("Lemma", "Verdict", "Section", "Scope", "#Queries", "#Hypotheses needed", "#Time")


def room(entries: Sequence[ProofResult]) -> PageRoom:
    """The lemmas of all protocols."""
    found = proof_results.view(entries)
    blocks: list[Block] = [
        Sentence(_summary(entries, timed=True), Ink.GOOD if found.fine else Ink.BAD),
        Sentence(_MEANT),
        *_errata(entries),
    ]
    for entry in entries:
        rows = [_row(entry, lemma) for lemma in entry.lemmas]
        inside = [table(f"Lemmas of {entry.protocol}", COLUMNS, rows), *_drift(entry.drift)]
        title = f"{entry.protocol}: {counted(len(rows), 'lemma')}"
        blocks.append(FoldedPart(title, inside, open=not entry.fine))
    panels = [_panel(entry, lemma) for entry in entries for lemma in entry.lemmas]
    return PageRoom(ROOM, TITLE, blocks, panels)


def lemmas(entries: Sequence[ProofResult]) -> str:
    """The page of lemmas alone, in Markdown, without times of this machine."""
    blocks: list[Block] = [Sentence(_summary(entries, timed=False)), *_errata(entries)]
    for entry in entries:
        inside = [
            PageSection(
                [lemma.name, f": {lemma.verdict}", *_otherwise(lemma)],
                _lemma(lemma, timed=False),
                address(entry, lemma),
            )
            for lemma in entry.lemmas
        ]
        blocks.append(PageSection(f"Lemmas of {entry.protocol}", inside))
    return text([f"# {TITLE}", "", _ALONE, *lines_of(blocks, 3)])


def address(entry: ProofResult, lemma: LemmaResult) -> str:
    """Where a link finds the lemma."""
    return f"{ROOM}/{slug(entry.protocol)}/{lemma.name}"


def _summary(entries: Sequence[ProofResult], *, timed: bool) -> str:
    found = proof_results.view(entries)
    judged = "all as expected" if found.fine else "NOT all as expected"
    words = f"Lemmas: {found.proved} proved, {found.refuted} refuted by a counterexample, {judged}"
    words += f": {len(found.queries):,} queries to Z3"
    words += f" in {time(found.seconds)}" if timed else ""
    if found.dropped:
        words += f"; {found.needed} of {found.dropped} hypotheses, dropped one at a time, "
        words += "turn out to be needed"
    if timed and found.opinions:
        words += f".  A second solver, cvc5, agrees on {found.agreed:,} of {found.opinions:,}"
    return f"{words}."


def _errata(entries: Sequence[ProofResult]) -> Iterator[Block]:
    rows: list[Sequence[Words]] = []
    for entry, lemma in proof_results.view(entries).errata:
        erratum = lemma.erratum
        assert erratum is not None
        link = Word(lemma.name, to=address(entry, lemma))
        rows.append([erratum.claim, erratum.section, erratum.size, erratum.correction, link])
    if rows:
        columns = ("Claim", "Section", "Smallest counterexample", "Correction", "Lemma")
        yield PageSection("Errata", [table("Claims that lemmas refute", columns, rows)])


def _row(entry: ProofResult, lemma: LemmaResult) -> TableRow:
    scope = Word(lemma.scope, Ink.STRONG if lemma.scope == UNBOUNDED else Ink.PLAIN)
    needed = f"{lemma.needed} of {len(lemma.hypotheses)}" if lemma.hypotheses else "–"
    return TableRow(
        [
            Word(lemma.name, to=address(entry, lemma)),
            [_chip(lemma), *_otherwise(lemma)],
            lemma.section,
            scope,
            f"{len(lemma.queries):,}",
            needed,
            time(lemma.seconds),
        ],
        off=not lemma.fine,
    )


def _chip(lemma: LemmaResult) -> Word:
    tones = {"holds": Ink.HOLDS, "refuted": Ink.REFUTED}
    return Word(lemma.verdict, tones.get(lemma.outcome.value, Ink.BAD))


def _otherwise(lemma: LemmaResult) -> list[Word]:
    if lemma.as_expected:
        return []
    same = lemma.outcome is lemma.expect
    return [Word(" ✗ not as expected" if same else f" ✗ expected: {lemma.expect.value}", Ink.BAD)]


def _panel(entry: ProofResult, lemma: LemmaResult) -> PagePanel:
    blocks = _lemma(lemma, timed=True)
    head = Sentence([_chip(lemma), *_otherwise(lemma)])
    title = f"{entry.protocol}: {lemma.name}"
    return PagePanel(address(entry, lemma), title, [head, *blocks], lemma.statement, _chip(lemma))


def _lemma(lemma: LemmaResult, *, timed: bool) -> list[Block]:
    facts = f"{lemma.section}; {lemma.scope}; {lemma.fragment}"
    facts += f"; {counted(len(lemma.queries), 'query', 'queries')}"
    facts += f" in {time(lemma.seconds)}" if timed else ""
    blocks: list[Block] = [Sentence(lemma.statement), Sentence(Word(f"{facts}.", Ink.DIM))]
    blocks += map(GridDrawing, lemma.counterexamples)
    blocks += _queries(lemma) if timed else _surprising(lemma)
    blocks += _hypotheses(lemma.hypotheses, timed=timed)
    return blocks


def _surprising(lemma: LemmaResult) -> Iterator[Block]:
    odd = [said(_answer(one), f" {one.name}") for one in lemma.queries if not one.fine]
    if odd:
        yield ItemList(odd)


def _queries(lemma: LemmaResult) -> Iterator[Block]:
    laid = proof_results.induction(lemma)
    blocks: list[Block] = []
    if laid.columns:
        rows: list[Sequence[Words]] = [
            [invariant or "", *("" if one is None else _timed(one) for one in cells)]
            for invariant, cells in laid.rows
        ]
        columns = ("Invariant", *(step or "" for step in laid.columns))
        blocks.append(table(f"Induction: {lemma.name}", columns, rows))
    if laid.others:
        blocks.append(ItemList([joined([_timed(one), one.name], " ") for one in laid.others]))
    for one in laid.others:
        if one.sometimes and one.grid:
            blocks.append(FoldedPart(f"The run found: {one.name}", [GridDrawing(one.grid)]))
    title = counted(len(lemma.queries), "query", "queries")
    yield FoldedPart(title, blocks, open=not lemma.as_expected)


def _answer(one: QueryResult) -> Word:
    words = f"{'✓' if one.fine else '✗'} {one.answer.value}"
    words += "" if one.answer is one.expect else f", expected: {one.expect.value}"
    words += f", cvc5: {one.cvc5.value}" if one.contradicted and one.cvc5 else ""
    return Word(words, Ink.GOOD if one.fine else Ink.BAD)


def _timed(one: QueryResult) -> Words:
    return [_answer(one), " ", Word(time(one.seconds), Ink.DIM)]


def _hypotheses(found: Sequence[HypothesisResult], *, timed: bool) -> Iterator[Block]:
    if not found:
        return
    items: list[Words] = []
    for one in found:
        sign = Word("✓ needed: ", Ink.GOOD) if one.needed else Word("✗ not needed: ", Ink.BAD)
        why = f"without “{one.name}” there is a counterexample to “{one.by}”"
        words = why if one.needed else f"without “{one.name}” no counterexample is found"
        items.append([sign, words, *([Word(f" {time(one.seconds)}", Ink.DIM)] if timed else [])])
    blocks: list[Block] = [ItemList(items)]
    if timed:
        drawn = [(one.name, one.grid) for one in found if one.grid is not None]
        blocks += [FoldedPart(f"Without “{name}”", [GridDrawing(grid)]) for name, grid in drawn]
    title = counted(len(found), "hypothesis", "hypotheses")
    yield FoldedPart(title, blocks, open=not all(one.needed for one in found))


def _drift(found: Sequence[AbstractionResult]) -> Iterator[Block]:
    if not found:
        return
    rows = []
    for one in found:
        verdict = Word("✓ no drift", Ink.GOOD)
        if one.drift is not None:
            words = f"✗ drift in the scope {one.drift.scope}: {one.drift.what}"
            verdict = Word(words, Ink.BAD)
        taken = ", ".join(f"{name}: {times:,}" for name, times in one.transitions.items())
        rows.append(TableRow([one.name, verdict, f"{one.states:,}", taken], off=bool(one.drift)))
    columns = ("Formulas of", "Compared with the Python", "#States", "Transitions taken")
    yield FoldedPart(
        "The formulas compared with the Python",
        [
            table("Formulas compared with the Python", columns, rows),
            *(GridDrawing(one.drift.grid) for one in found if one.drift is not None),
        ],
        open=any(one.drift for one in found),
    )
