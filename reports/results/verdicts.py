"""The output of `asif check`: verdicts, scopes and mutants as lines (str) and tables, in order.

Rule of this file: no decision and no printing; it renders model.results.verdict and
model.results.attack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from rich.console import RenderableType
from rich.markup import escape
from rich.table import Column, Table

from model.evidence import Outcome
from model.recovery import WORDS
from model.results.attack import AttackResult, MutantResult
from model.results.verdict import MissedPoint, ScopeResult, ScopeVerdict, Verdict, WitnessResult
from reports.diagrams import terminal
from reports.results.words import steps, word

Output: TypeAlias = Iterator[RenderableType]


def verdict(result: Verdict) -> Output:
    """The output of `asif check`: a row for each scope, then coverage, evidence and guarantees."""
    yield from _scopes(result.scopes)
    yield _attack(result.attack)
    yield f"crash points hit: {result.hit} of {result.points}"
    yield from _missed(result.missed)
    if result.evidence:
        yield "not empty: " + ", ".join(f"{n} {what}" for what, n in result.evidence.items())
    yield from (f"  never happened: {note}" for note in result.missing)
    yield from (f"  vacuous: {why}" for why in result.vacuous)
    yield from _guarantees(result)
    expected = "" if result.expected else " - NOT AS EXPECTED"
    if result.outcome is Outcome.UNFINISHED:
        expected = ", and nothing was refuted; give more worlds, time or memory"
    yield f"{result.protocol}: {result.outcome.value}{expected}"


def _scopes(rows: Sequence[ScopeResult]) -> Output:
    """A row for each scope, and a line for each whose class of operators is worth one."""
    table = Table("scope", "operators", "states", "states/s", "points", "guarantee", "outcome")
    for row in rows:
        outcome = row.outcome.value
        if row.counterexample:
            outcome += f" in {steps(row.counterexample.steps)}"
        elif row.spent:
            outcome += f": {row.spent}"
        if not (row.as_pinned or row.spent):
            outcome += " (not as pinned)"
        table.add_row(
            escape(row.name),
            word(row.operators),
            f"{row.states:,}",
            f"{row.states_per_second:,}",
            f"{row.hit}/{row.points}",
            word(row.guarantee),
            outcome,
        )
    yield table
    if fewer := [row.name for row in rows if row.reduced]:
        yield f"  fewer worlds for the same result (--whole visits all): {', '.join(fewer)}"
    yield from (f"  {line}" for line in _classes(rows))


def scope(result: ScopeVerdict) -> Output:
    """The output of `asif check NAME --scope`."""
    row = result.scope
    yield from _scopes([row])
    yield f"{row.transitions:,} steps, {row.depth} levels, {row.quiescent:,} worlds at rest"
    yield from _missed(row.missed)
    if row.notes:
        yield "not empty: " + ", ".join(f"{n} {note}" for note, n in row.notes.items())
    yield from (f"  vacuous: {why}" for why in result.vacuous)
    yield f"{result.protocol}, {row.name}: {row.outcome.value}"


def _missed(points: Sequence[MissedPoint]) -> Output:
    """The points that were missed, under the reasons, the most frequent one first."""
    for why, _ in Counter(one.why for one in points).most_common():
        yield f"  missed, {why}:"
        yield from (f"    {one.point}" for one in points if one.why == why)


def _attack(tried: AttackResult) -> str:
    found = f"failed: {tried.failure.property}" if tried.failure else "found nothing"
    made = f"{tried.walks} walks, {tried.examples} Hypothesis runs"
    return f"random attack: {made}, {tried.actions} actions, {found}"


def _guarantees(result: Verdict) -> Iterator[str]:
    """The guarantee of each class of operators, and the weakest one in everyday words."""
    for one in result.classes:
        claimed = "nothing" if one.claimed is None else one.claimed.name.lower()
        differs = ""
        if one.operators in result.weaker:
            differs = ", weaker than claimed"
        elif one.operators in result.stronger:
            differs = ", stronger than claimed"
        found = one.found.name.lower()
        yield f"{word(one.operators)} operators: {found} (claimed: {claimed}){differs}"
    if result.found:
        yield f"in everyday words: {WORDS[max(result.found.values())]}"


def _classes(scopes: Sequence[ScopeResult]) -> Iterator[str]:
    """The scopes without a stream, and those whose operators are of another class than the pinned
    one, or of an unknown one."""
    for row in scopes:
        pinned = word(row.operators)
        if row.operators is None:
            yield f"{row.name}: no stream, so no guarantee: the properties alone are judged"
        elif row.derived is None:
            yield f"{row.name}: {pinned} operators, pinned but not derived"
        elif row.derived is not row.operators:
            yield f"{row.name}: {word(row.derived)} operators, pinned as {pinned}"


def verdicts(results: Sequence[Verdict]) -> Output:
    """The output of `asif check --all`: a row for each protocol, then how many are as expected."""
    name = Column("protocol", overflow="fold")  # never cut
    table = Table(name, "outcome", "states", "mutants", "seconds")
    for result in results:
        shortest = result.shortest
        table.add_row(
            escape(result.protocol),
            result.outcome.value + ("" if shortest is None else f" in {steps(shortest.steps)}"),
            f"{result.states:,}",
            f"{result.killed} of {len(result.mutants)}" if result.mutants else "",
            f"{result.seconds:.1f}",
        )
    yield table
    expected = sum(result.expected for result in results)
    yield f"{expected} of {len(results)} protocols and variants are as expected"


def mutants(rows: Sequence[MutantResult]) -> Output:
    table = Table("mutant", "found by", "in scope", "steps", "states", "seconds")
    for row in rows:
        table.add_row(
            escape(row.name),
            row.by or "NOBODY",
            row.scope or "",
            str(row.steps or ""),
            f"{row.states:,}",
            f"{row.seconds:.1f}",
        )
    yield table
    found = sum(row.by is not None for row in rows)
    yield f"mutants found: {found} of {len(rows)}"


def witnesses(name: str, results: Sequence[WitnessResult]) -> Output:
    """The output of `asif witness`: each run, drawn."""
    if not results:
        yield f"{name}: every scope is precise"
    for one in results:
        what = f"{one.protocol}, {escape(one.scope)}: {word(one.guarantee)}"
        if one.story is None or one.steps is None:
            yield f"{what}, and no run in {one.states:,} worlds shows that"
            continue
        yield f"{what}; not {word(one.not_)}, in {steps(one.steps)}:"
        yield terminal.style(one.story, culprit=one.culprit)
