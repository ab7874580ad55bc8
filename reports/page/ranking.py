"""Findings, in order: claims of papers, reports about engines, other readings; within each by
the guarantee that is lost, then by the fewest steps.

Rule of this file: the order and the words; the findings are the families', the runs the results'.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from model.core import Guarantee
from model.finding import ByLemma, ByScope, Finding, Judgement
from model.registry import findings
from model.results.bugs import BugResult
from model.results.report import ReportResults
from model.results.verdict import ScopeResult, Verdict
from reports import findings as finding_words
from reports.page.blocks import FindingCard, Ink, Word, Words, coded, parts_of, said
from reports.page.formats import counted
from reports.page.parts import bugs
from reports.page.thumbnails import thumbnail
from reports.page.variant import address
from reports.results.families import family_of

CLAIM, ENGINE, READING = range(3)
"""The kinds of findings, in order: claims of papers, reports about engines, other readings."""
LOST = {
    Guarantee.REPEATING: "results come twice",
    Guarantee.CONVERGENT: "results come again with other content",
    Guarantee.DIVERGENT: "results stay others",
    Guarantee.GAP: "results are missing or have other content",
}
"""The loss that each guarantee below precise stands for, in everyday words."""


class FoundRun(NamedTuple):
    """The smallest run that shows a finding."""

    scope: ScopeResult
    protocol: str
    steps: int


class RankedFinding(NamedTuple):
    """kind: CLAIM, ENGINE or READING.  judgement: the place of the verdict, the worst first.  run:
    None: a lemma or a test shows it."""

    kind: int
    judgement: int
    run: FoundRun | None
    card: FindingCard

    @property
    def order(self) -> tuple[int, int, int, int]:
        """The key by which findings are sorted."""
        if self.run is None:
            return self.kind, 1, self.judgement, 0
        lost = self.run.scope.guarantee or Guarantee.PRECISE
        return self.kind, 0, -lost.value, self.run.steps


def ranked(results: ReportResults) -> list[RankedFinding]:
    """All findings about the protocols and bugs of these results, the weightiest first."""
    verdicts = {one.protocol: one for one in results.verdicts}
    found = [*_claims(verdicts), *filter(None, map(_engine, results.bugs))]
    return sorted(found, key=lambda one: one.order)


# --- claims of papers ----------------------------------------------------------------------------
def _claims(verdicts: dict[str, Verdict]) -> Iterator[RankedFinding]:
    families = {family_of(name): one for name, one in reversed(verdicts.items())}
    worst = [one for one in Judgement if one in finding_words.ERRATA]
    for family, tables in findings().items():
        if family not in families:
            continue
        for one in (found for table in tables for found in table.findings):
            if one.verdict in worst:
                kind = READING if one.claim.startswith("(") else CLAIM
                run = _shortest(one, verdicts)
                card = _claim_card(family, families[family], one, run)
                yield RankedFinding(kind, worst.index(one.verdict), run, card)


def _shortest(one: Finding, verdicts: dict[str, Verdict]) -> FoundRun | None:
    """The shortest of the runs that show the finding."""
    runs = []
    for witness in one.witnesses:
        if isinstance(witness, ByScope) and witness.variant in verdicts:
            for scope in verdicts[witness.variant].scopes:
                if scope.name == witness.scope and scope.counterexample is not None:
                    runs.append(FoundRun(scope, witness.variant, scope.counterexample.steps))
    return min(runs, key=lambda run: run.steps, default=None)


def _claim_card(family: str, about: Verdict, one: Finding, run: FoundRun | None) -> FindingCard:
    paper = about.source.partition(",")[0].partition(":")[0]
    source = ", ".join(filter(None, (paper, _section(one.section))))
    verdict: list[str | Word] = [Word(one.verdict.value, Ink.REFUTED)]
    if one.remark:
        verdict += [": ", *parts_of(coded(one.remark))]
    claim = coded(finding_words.claim(one))
    if run is None:
        return FindingCard(source, claim, verdict, _without_run(family, one), to=family)
    return FindingCard(source, claim, verdict, _run(run), _picture(run), address(run.protocol))


def _section(section: str) -> str:
    """The section as a citation has it."""
    if not section or section.startswith("("):
        return ""
    return f"Section {section}" if section[:1].isdigit() else section


def _without_run(family: str, one: Finding) -> Words:
    lemmas = [witness for witness in one.witnesses if isinstance(witness, ByLemma)]
    if lemmas:
        size = f", {lemmas[0].size}" if lemmas[0].size else ""
        return f"Shown by the lemma {lemmas[0].lemma}{size}."
    shown = finding_words.shown_by(one)
    return [*parts_of(coded(f"Shown by: {shown}")), "."] if shown else f"See {family}."


def _run(run: FoundRun) -> Words:
    return [
        "Smallest run: ",
        Word(counted(run.steps, "step"), to=address(run.protocol)),
        f"{_lost(run.scope)} ({run.protocol}).",
    ]


def _lost(scope: ScopeResult) -> str:
    lost = LOST.get(scope.guarantee) if scope.guarantee else None
    if lost and scope.guarantee:
        return f"; {lost} ({scope.guarantee.word})"
    found = scope.counterexample
    return f"; violated: {found.property}" if found else ""


def _picture(run: FoundRun) -> str:
    found = run.scope.counterexample
    return "" if found is None else thumbnail(found.story, found.culprit)


# --- reports about engines -----------------------------------------------------------------------
def _engine(one: BugResult) -> RankedFinding | None:
    flawed = one.flawed
    if flawed is None or flawed.shortest is None:
        return None
    scope = next(row for row in flawed.refuted if row.counterexample is flawed.shortest)
    run = FoundRun(scope, flawed.protocol, flawed.shortest.steps)
    to = bugs.address(one.file)
    words = said("Smallest run: ", Word(counted(run.steps, "step"), to=to), f"{_lost(scope)}.")
    mended = f" as reported; as mended: {one.fixed.outcome.value}"
    verdict = said(Word("refuted", Ink.REFUTED), mended)
    card = FindingCard(f"{one.engine}, {one.report}", one.about, verdict, words, _picture(run), to)
    return RankedFinding(ENGINE, 0, run, card)
