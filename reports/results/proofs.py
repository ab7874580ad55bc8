"""The lemmas of a protocol, proved or refuted, for a page and for a terminal.

Rule of this file: it adds up and sorts answers, and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from model.results.answers import QueryKind
from model.results.proofs import (
    AbstractionResult,
    LemmaOutcome,
    LemmaResult,
    ProofResult,
    QueryResult,
)
from reports.diagrams import grid


@dataclass(frozen=True, slots=True)
class ProofsView:
    """The lemmas of all protocols, for templates.

    dropped, needed: hypotheses.  opinions: the answers of the second solver; agreed: those that
    are the same as the first one's.
    """

    protocols: tuple[ProofResult, ...]

    @property
    def lemmas(self) -> list[LemmaResult]:
        return [lemma for entry in self.protocols for lemma in entry.lemmas]

    @property
    def proved(self) -> int:
        return sum(lemma.outcome is LemmaOutcome.HOLDS for lemma in self.lemmas)

    @property
    def refuted(self) -> int:
        return sum(lemma.outcome is LemmaOutcome.REFUTED for lemma in self.lemmas)

    @property
    def fine(self) -> bool:
        return all(entry.fine for entry in self.protocols)

    @property
    def errata(self) -> list[tuple[ProofResult, LemmaResult]]:
        return [
            (entry, lemma)
            for entry in self.protocols
            for lemma in entry.lemmas
            if lemma.erratum is not None
        ]

    @property
    def dropped(self) -> int:
        return sum(len(lemma.hypotheses) for lemma in self.lemmas)

    @property
    def needed(self) -> int:
        return sum(lemma.needed for lemma in self.lemmas)

    @property
    def queries(self) -> list[QueryResult]:
        return [query for entry in self.protocols for query in entry.queries()]

    @property
    def opinions(self) -> int:
        return sum(query.cvc5 is not None for query in self.queries)

    @property
    def agreed(self) -> int:
        return sum(query.cvc5 is query.answer for query in self.queries)

    @property
    def seconds(self) -> float:
        return sum(entry.seconds for entry in self.protocols)


def view(entries: Sequence[ProofResult]) -> ProofsView:
    """The lemmas as the templates receive them."""
    return ProofsView(tuple(entries))


class Induction(NamedTuple):
    """The table of a proof by induction: for each invariant the query of each transition (None:
    there is none).  others: the queries that are no part of it."""

    columns: tuple[str | None, ...]
    rows: tuple[tuple[str | None, tuple[QueryResult | None, ...]], ...]
    others: tuple[QueryResult, ...]


def induction(lemma: LemmaResult) -> Induction:
    """The queries of a lemma, those of an induction as a table."""
    cells: dict[tuple[str | None, str | None], QueryResult] = {}
    others = []
    for query in lemma.queries:
        if query.kind is QueryKind.INITIAL:
            cells["initially", query.invariant] = query
        elif query.kind is QueryKind.STEP:
            cells[query.transition, query.invariant] = query
        else:
            others.append(query)
    columns = tuple(dict.fromkeys(step for step, _ in cells))
    rows = tuple(
        (invariant, tuple(cells.get((step, invariant)) for step in columns))
        for invariant in dict.fromkeys(invariant for _, invariant in cells)
    )
    return Induction(columns, rows, tuple(others))


INDENT = 2
"""The indent of the lines below the name of a lemma."""


def table(lemmas: Iterable[LemmaResult]) -> Table:
    """A row for each lemma, with its verdict."""
    right = partial(Column, justify="right")
    rows = Table("lemma", "verdict", "section", right("queries"), right("seconds"))
    for one in lemmas:
        numbers = f"{len(one.queries):,}", f"{one.seconds:.1f}"
        rows.add_row(one.name, one.verdict, one.section, *numbers)
    return rows


def lemma_in_full(lemma: LemmaResult) -> Iterator[RenderableType]:
    """One lemma for a terminal: verdict, section, time; the statement; the counterexample."""
    facts = [lemma.section, lemma.scope, f"{len(lemma.queries)} queries"]
    if lemma.hypotheses:
        facts.append(f"{lemma.needed} of {len(lemma.hypotheses)} hypotheses needed")
    facts.append(f"{lemma.seconds:.1f} s")
    style = "green" if lemma.outcome is LemmaOutcome.HOLDS else "yellow"
    head = Text.assemble((lemma.name, "bold"), ": ", (lemma.verdict, style))
    if not lemma.as_expected:
        head.append(" - NOT AS EXPECTED", style="bold red")
    yield head
    yield Text(" " * INDENT + "; ".join(facts), style="dim")
    yield Text(" " * INDENT + lemma.statement)
    yield from (grid.style(shown, indent=INDENT) for shown in lemma.counterexamples)
    yield ""


def comparison(abstraction: AbstractionResult) -> Iterator[RenderableType]:
    """How the formulas fit the Python: how often each transition was taken."""
    taken = ", ".join(f"{n:,} × {name}" for name, n in abstraction.transitions.items())
    drift = abstraction.drift
    verdict = ("DRIFT", "bold red") if drift else ("no drift", "green")
    head = Text.assemble((abstraction.name, "bold"), ": ", verdict)
    head.append(f" in {abstraction.states:,} states; {taken}", style="dim")
    yield head
    if drift:
        yield f"{' ' * INDENT}in the scope {drift.scope}:"
        yield grid.style(drift.grid, indent=INDENT)
    yield ""
