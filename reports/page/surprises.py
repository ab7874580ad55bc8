"""Everything in a report that is not as expected, a line each with a link.

Rule of this file: the same question as `ReportResults.fine`; a report that is not fine has a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model.results.report import ReportResults
from model.results.verdict import ScopeResult
from reports.page.blocks import Word, Words
from reports.page.formats import counted
from reports.page.parts import bugs, costs, engine, operators, proofs, runs
from reports.page.variant import address
from reports.results import simulations as simulation_results
from reports.results import words as result_words


def surprises(results: ReportResults) -> list[Words]:
    """A line for each thing that is not as expected, and for each that was lost."""
    return [
        *(["LOST: ", one] for one in lost(results)),
        *_verdicts(results),
        *_bugs(results),
        *_proofs(results),
        *_operators(results),
        *_runs(results),
        *_engines(results),
    ]


def lost(results: ReportResults) -> list[str]:
    """A line for each process that died, and its work with it."""
    return [*results.lost, *(line for one in results.proofs for line in one.lost)]


def _verdicts(results: ReportResults) -> Iterator[Words]:
    for one in results.verdicts:
        link = Word(one.protocol, to=address(one.protocol))
        if not one.expected:
            yield [link, f": {one.outcome.value}, not as expected{_why(one.scopes)}"]
        survivors = [mutant.name for mutant in one.mutants or () if not mutant.by]
        if survivors:
            count = counted(len(survivors), "mutant")
            yield [link, f": {count} survived ({', '.join(survivors)})"]


def _why(scopes: Sequence[ScopeResult]) -> str:
    whys = [
        f"{one.name}: {one.outcome.value}, {', '.join(result_words.differences(one))}"
        for one in scopes
        if one.differs
    ]
    return f" ({'; '.join(whys)})" if whys else ""


def _bugs(results: ReportResults) -> Iterator[Words]:
    for one in results.bugs:
        if not one.expected:
            yield [Word(one.report, to=bugs.address(one.file)), ": a form is not as expected"]


def _proofs(results: ReportResults) -> Iterator[Words]:
    for entry in results.proofs:
        for lemma in entry.lemmas:
            if not lemma.fine:
                link = Word(lemma.name, to=proofs.address(entry, lemma))
                yield ["Lemma ", link, f" of {entry.protocol}: {lemma.verdict}, not as expected"]
        for one in entry.drifting:
            link = Word(entry.protocol, to=proofs.ROOM)
            yield ["The formulas of ", link, f" drift from the Python: {one.name}"]


def _operators(results: ReportResults) -> Iterator[Words]:
    for one in results.operators.figure_2:
        if one.found is not one.paper:
            link = Word(f"{one.before} → {one.after}", to=operators.ROOM)
            yield [link, f": {one.found.word}, in the paper {one.paper.word}"]


def _runs(results: ReportResults) -> Iterator[Words]:
    for one in results.simulated:
        if not one.same:
            link = Word(one.scenario, to=costs.address(one))
            yield [link, f": {simulation_results.verdict(one)}"]
    for run in results.runs:
        if not run.same:
            link = Word(run.protocol, to=runs.address(run))
            yield [link, ": NOT the same output with crashes as without, on real input"]


def _engines(results: ReportResults) -> Iterator[Words]:
    for one in results.engine:
        if not one.holds:
            yield [Word(one.title, to=engine.address(one)), ": not as predicted"]
