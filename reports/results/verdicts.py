"""The output of `asif check`: verdicts, scopes and mutants as lines (str) and tables, in order.

Rule of this file: no decision and no printing; it renders model.results.verdict and
model.results.attack.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from rich.console import RenderableType
from rich.table import Column, Table

from model.core import Guarantee, OperatorClass
from model.evidence import Outcome
from model.recovery import WORDS
from model.results.attack import AttackResult, MutantResult
from model.results.verdict import (
    MissedPoint,
    ScopeResult,
    ScopeVerdict,
    StandardResult,
    Verdict,
    WitnessResult,
)
from model.words import listed
from reports.diagrams import terminal
from reports.results import reach
from reports.results.refutation import refutation
from reports.results.words import differences, steps, word

Output: TypeAlias = Iterator[RenderableType]

MOST_ROWS, FEW_ROWS = 12, 4
"""The largest number of scopes in the table where all hold, and where some are surprising."""


def verdict(result: Verdict, *, below: Sequence[str] = (), long: bool = False) -> Output:
    """The output of `asif check`: the culprit and its run, then scopes, evidence and guarantees.

    below: lines that stand above the last one.  long: every scope and crash point, and the notes.
    """
    if result.impure:
        yield from _impure(result)
        return
    refuted = result.outcome is Outcome.REFUTED
    if refuted:
        yield from _shown_run(result, long=long)
    yield from _scopes(result.scopes, result.standard, long=long)
    yield _attack(result.attack)
    if long or not refuted:
        yield f"crash points hit: {result.hit} of {result.points}"
        yield from _missed(result.missed, long=long)
        yield from _notes(result.evidence)
    yield from (f"  never happened: {note}" for note in result.missing)
    yield from (f"  vacuous: {why}" for why in result.vacuous)
    if result.reach is not None:
        yield from reach.paragraph(result.reach, long=long)
    yield from _guarantees(result)
    yield from below
    yield from _more(result, long=long)
    expected = "" if result.expected else " - NOT AS EXPECTED"
    if result.outcome is Outcome.UNFINISHED:
        expected = ", and nothing was refuted; give more worlds, time or memory"
    by = ""
    if classes := result.refuted_with:
        by = f" with {listed([word(one) for one in classes])} operators; its own scopes hold"
    yield f"{result.protocol}: {result.outcome.value}{by}{expected}"


def _shown_run(result: Verdict, *, long: bool) -> Output:
    """The shortest run of a scope that violates a property; without one, that of the attack."""
    shortest, failure = result.shortest, result.attack.failure
    if shortest is not None:
        rows = (*result.scopes, *result.ran)
        scope = next(row.name for row in rows if row.counterexample is shortest)
        yield from refutation(shortest, f"scope {scope}", long=long)
    elif failure is not None:
        yield from refutation(failure, "random attack", long=long)


def _impure(result: Verdict) -> Iterator[str]:
    """The functions that gave two answers, in place of a verdict."""
    for one in result.impure:
        whose = f" of {one.node}" if one.node else ""
        answers = " and ".join(one.answers)
        yield f"impure: {one.function}{whose} on {one.on} ({one.place}) answers {answers}"
    yield (
        "The same question had two answers, in processes with another clock, environment, hash seed"
        "\nor order of questions.  A function reads its arguments alone; nothing was explored."
    )
    yield f"{result.protocol}: {result.outcome.value} - NOT AS EXPECTED"


def _scopes(
    own: Sequence[ScopeResult], standard: Sequence[StandardResult] = (), *, long: bool
) -> Output:
    """A row for each scope, also of standard operators, refuted ones first, and a line for each
    that is worth one.

    Scopes that hold as expected share a line if there are many, or if others are refuted.
    """
    surprising = [row for row in own if not _is_usual(row)]
    usual = [row for row in own if _is_usual(row)]
    surprising.sort(key=lambda row: row.counterexample is None)
    room = max(0, (FEW_ROWS if surprising else MOST_ROWS) - len(surprising))
    if long or len(usual) <= room:
        room = len(own)
    shown, rest = [*surprising, *usual[:room]], usual[room:]
    yield _table(shown, standard, long=long)
    yield from (f"  {line}" for line in _standard(standard))
    if rest:
        worlds = sum(row.states for row in rest)
        yield f"  {len(rest)} more scopes hold as expected, {worlds:,} states (--long)"
    fewer = [row.name for row in own if row.reduced]
    if long and fewer:
        yield f"  fewer worlds for the same result (--whole visits all): {', '.join(fewer)}"
    yield from (f"  {line}" for line in _classes(own))


def _is_usual(row: ScopeResult) -> bool:
    return row.outcome is Outcome.HOLDS and row.as_pinned


def _table(own: Sequence[ScopeResult], standard: Sequence[StandardResult], *, long: bool) -> Table:
    numbers = ["states", *(["states/s"] if long else []), "points"]
    table = Table("scope", "operators", *numbers, "guarantee", Column("outcome", min_width=10))
    rows = (*own, *(one.scope for one in standard if one.scope is not None))
    unhurt = {id(one.scope) for one in standard if one.unhurt}
    for row in rows:
        outcome = row.outcome.value
        if row.counterexample:
            outcome += f" in {steps(row.counterexample.steps)}"
            outcome += ", without a failure" * (id(row) in unhurt)
        elif row.spent:
            outcome += f": {row.spent}"
        if otherwise := differences(row):
            outcome += f" ({', '.join(otherwise)})"
        table.add_row(
            row.name,
            word(row.operators),
            f"{row.states:,}",
            *([f"{row.states_per_second:,}"] if long else []),
            f"{row.hit}/{row.points}",
            word(row.guarantee),
            outcome,
            end_section=row is own[-1] and len(rows) > len(own),
        )
    return table


def _standard(results: Sequence[StandardResult]) -> Iterator[str]:
    """The standard operators that say nothing about recovery, each with the reason."""
    for one in results:
        if one.scope is None:
            yield f"{one.name}: not deployed: {one.why}"
        elif one.unhurt:
            yield (
                f"{one.name}: wrong without a failure; a protocol that is made for other operators "
                "raises Invalid in deploy"
            )


def scope(result: ScopeVerdict, *, below: Sequence[str] = (), long: bool = False) -> Output:
    """The output of `asif check NAME --scope`; below and long as for `verdict`."""
    row = result.scope
    if row.counterexample is not None:
        yield from refutation(row.counterexample, f"scope {row.name}", long=long)
    yield from _scopes([row], long=long)
    yield f"{row.transitions:,} steps, {row.depth} levels, {row.quiescent:,} worlds at rest"
    if long or row.counterexample is None:
        yield from _missed(row.missed, long=long)
        yield from _notes(row.notes)
    yield from (f"  vacuous: {why}" for why in result.vacuous)
    yield from (f"  not tried by this scope alone: {why}" for why in result.untried)
    if result.reach is not None:
        yield from reach.paragraph(result.reach, long=long)
    yield from below
    yield f"{result.protocol}, {row.name}: {row.outcome.value}"


def _notes(found: Mapping[str, int]) -> Iterator[str]:
    if found:
        yield "not empty: " + ", ".join(f"{times} {note}" for note, times in found.items())


def _missed(points: Sequence[MissedPoint], *, long: bool) -> Iterator[str]:
    """The reasons why points were missed, the most frequent one first, and the points if `long`."""
    for why, count in Counter(one.why for one in points).most_common():
        yield f"  {count} missed, {why}:" if long else f"  {count} missed, {why}"
        if long:
            yield from (f"    {one.point}" for one in points if one.why == why)


def _more(result: Verdict, *, long: bool) -> Iterator[str]:
    """The option that prints the rest, if there is some."""
    refuted = result.outcome is Outcome.REFUTED
    if not long and (result.missed or (refuted and result.evidence)):
        yield "(--long: every scope, crash point and note)"


def _attack(tried: AttackResult) -> str:
    found = f"failed: {tried.failure.property}" if tried.failure else "found nothing"
    made = f"{tried.walks} walks, {tried.examples} Hypothesis runs"
    return f"random attack: {made}, {tried.actions} actions, {found}"


def _guarantees(result: Verdict) -> Iterator[str]:
    """The guarantee of each class of operators, also in everyday words, and the other classes.

    Where a budget ended a search, more worlds may have a weaker guarantee: it holds so far.  A
    refuted protocol needs no other class yet.
    """
    ended = {row.operators for row in (*result.scopes, *result.ran) if row.spent}
    said: dict[tuple[Guarantee, str], list[str]] = {}
    broken = _broken(result)
    for one in sorted(result.classes):
        claimed = "nothing" if one.claimed is None else one.claimed.word
        differs = ""
        if one.operators in result.weaker or one.found > (one.claimed or one.found):
            differs = ", weaker than claimed"
        elif one.operators in result.stronger:
            differs = ", stronger than claimed"
        so_far = " so far" * (one.operators in ended and one.found is not Guarantee.GAP)
        found = one.found.word + so_far
        yield f"{word(one.operators)} operators: {found} (claimed: {claimed}){differs}"
        if one.found is not Guarantee.PRECISE or one.operators not in broken:
            said.setdefault((one.found, so_far), []).append(word(one.operators))
    if result.outcome is Outcome.VACUOUS:
        said = {}  # they say nothing
    for (guarantee, so_far), classes in sorted(said.items()):
        yield f"in everyday words{so_far}: {WORDS[guarantee]}, for {listed(classes)} operators"
    if result.untried_classes and (result.standard or not result.refuted):
        asked = {one.operators for one in result.standard}
        all_asked = asked.issuperset(result.untried_classes)
        offer = "" if all_asked else " (--operators all tries each class)"
        yield f"not tried: {listed([word(one) for one in result.untried_classes])} operators{offer}"


def _broken(result: Verdict) -> set[OperatorClass | None]:
    """The classes in which a run violates a property.  If they are precise at rest, that run is
    none of those that their guarantee is about."""
    broken = {row.operators for row in result.refuted}
    if result.attack.failure is not None:
        broken |= {row.operators for row in result.scopes}
    return broken


def _classes(scopes: Sequence[ScopeResult]) -> Iterator[str]:
    """The scopes without a stream, and those whose operators are of another class than their case
    says, or of an unknown one."""
    for row in scopes:
        said = word(row.operators)
        if row.operators is None:
            yield f"{row.name}: no stream, so no guarantee: the properties alone are judged"
        elif row.derived is None:
            yield f"{row.name}: {said} operators, as its case says; the class was not derived"
        elif row.derived is not row.operators:
            yield f"{row.name}: {word(row.derived)} operators; its case says {said}"


def verdicts(results: Sequence[Verdict]) -> Output:
    """The output of `asif check --all`: a row for each protocol, then how many are as expected."""
    name = Column("protocol", overflow="fold")  # never cut
    table = Table(name, "outcome", "states", "mutants", "seconds")
    for result in results:
        shortest = result.shortest
        table.add_row(
            result.protocol,
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
            row.name,
            row.by or "NOBODY",
            row.scope or "",
            str(row.steps or ""),
            f"{row.states:,}",
            f"{row.seconds:.1f}",
        )
    yield table
    found = sum(row.by is not None for row in rows)
    yield f"mutants found: {found} of {len(rows)}"


_UNHURT = ", in which no crash came"


def witnesses(name: str, results: Sequence[WitnessResult]) -> Output:
    """The output of `asif witness`: a line for each scope, and each run, drawn."""
    precise = all(one.expected and one.guarantee is Guarantee.PRECISE for one in results)
    if precise and len(results) > 1:
        worlds, crashed = sum(one.states for one in results), any(one.crashed for one in results)
        scopes = f"{len(results)} scopes, {worlds:,} worlds{_UNHURT * (not crashed)}"
        yield f"{name}: every scope is precise ({scopes})"
        return
    for one in results:
        yield _weakest(one)
        if one.story is not None:
            yield terminal.style(one.story, culprit=one.culprit)


def _weakest(one: WitnessResult) -> str:
    """The weakest guarantee of a scope, and the extent of the search that found it."""
    found = f"{one.protocol}, {one.scope}: {word(one.guarantee)}"
    if not one.complete:
        found += f" so far, in {one.states:,} worlds"
    elif one.not_ is None:
        found += f", in {one.states:,} worlds{_UNHURT * (not one.crashed)}"
    if one.guarantee is not one.expect_guarantee:
        found += f" (expected: {word(one.expect_guarantee)})"
    if one.ended:
        found += f"; {'violated' if one.complete else 'the search ended'}: {one.ended}"
    if one.not_ is None or one.steps is None:
        return found
    return f"{found}; not {word(one.not_)}, in {steps(one.steps)}:"
