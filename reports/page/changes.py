"""Changes between two reports: the outcomes that are others, new, or gone.

Rule of this file: no time and no date is an outcome; the same results give no change.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from model.results.report import KeptReport, ReportResults
from model.results.verdict import Verdict
from reports.page.parts import bugs, costs, engine, proofs, runs
from reports.page.variant import address
from reports.results import experiments as experiment_results


class OutcomeChange(NamedTuple):
    """before: "" of something new; now: "" of something that this report does not have."""

    address: str
    before: str
    now: str


def kept(results: ReportResults) -> KeptReport:
    """The outcomes of these results."""
    outcomes = dict(_outcomes(results))
    return KeptReport(results.version, results.profile, results.origin, outcomes)


def changes(before: KeptReport, now: KeptReport) -> list[OutcomeChange]:
    """The outcomes that differ, in the order of this report; those that are gone come last."""
    every = dict.fromkeys((*now.outcomes, *before.outcomes))
    pairs = [
        OutcomeChange(one, before.outcomes.get(one, ""), now.outcomes.get(one, "")) for one in every
    ]
    return [one for one in pairs if one.before != one.now]


def _outcomes(results: ReportResults) -> Iterator[tuple[str, str]]:
    for one in results.verdicts:
        yield address(one.protocol), _verdict(one)
    for bug in results.bugs:
        yield bugs.address(bug.file), "; ".join(map(_verdict, bug.forms))
    for entry in results.proofs:
        for lemma in entry.lemmas:
            good = "as expected" if lemma.fine else "NOT as expected"
            yield proofs.address(entry, lemma), f"{lemma.verdict}, {good}"
    for simulated in results.simulated:
        same = "the same" if simulated.same else "NOT the same"
        yield costs.address(simulated), f"{same}, {simulated.sha256[:12]}"
    for again in results.reproduced:
        for number in again.numbers:
            ours = experiment_results.shown(number, number.ours)
            name = f"{costs.address(again)}/{number.id}, {number.way}"
            yield name, f"{ours}, {number.verdict}" if number.scored else ours
    for run in results.runs:
        alike = "the same" if run.same else "NOT the same"
        yield runs.address(run), f"{alike}, {run.with_crashes.count:,} results"
    for check in results.engine:
        agreed = sum(case.agrees for case in check.cases)
        yield engine.address(check), f"as predicted in {agreed} of {len(check.cases)} cases"


def _verdict(one: Verdict) -> str:
    words = one.outcome.value
    if one.shortest is not None:
        words += f" in {one.shortest.steps} steps"
    levels = dict.fromkeys(found.word for found in one.found.values())
    words += "".join(f", {level}" for level in levels)
    if one.mutants is not None:
        words += f", {one.killed} of {len(one.mutants)} mutants killed"
    return words + ("" if one.expected else ", NOT as expected")
