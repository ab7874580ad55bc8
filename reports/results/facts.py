"""The facts of a check on an engine as words, and the table of cases that have the same facts.

Rule of this file: it compares no name of a check, a case or a fact; it writes values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from model.results.engine import EngineCase, EngineCheck, Facts

FEWEST = 3
"""Cases from which a table with a column for each fact is easier to read than one of two lists."""

LONGEST = 40
"""Characters of a text that a column has room for."""


class FactsTable(NamedTuple):
    """The cases of a check: a row for each case, a column for each fact.

    columns: the names of the facts.  rows: (case, where it was killed, sign, a cell for each fact).
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, str, tuple[str, ...]], ...]


def facts_table(result: EngineCheck) -> FactsTable | None:
    """The table of the cases; None if there are few, if their facts have different names, or if a
    fact is a list or a long text."""
    cases = result.cases
    names = {tuple(case.predicted) for case in cases}
    if len(cases) < FEWEST or len(names) != 1 or not all(map(_is_plain, cases)):
        return None
    (columns,) = names
    return FactsTable(
        tuple(column.replace("_", " ") for column in columns),
        tuple(
            (
                case.name,
                _places(case),
                "✓" if case.agrees else "✗",
                tuple(_cell(case, column) for column in columns),
            )
            for case in cases
        ),
    )


def listed(values: Facts) -> str:
    """All facts in a line, each with its name."""
    return ", ".join(f"{key.replace('_', ' ')} {value(one)}" for key, one in values.items())


def value(one: Any) -> str:
    """A fact without its name."""
    if one is None:
        return "–"
    if isinstance(one, bool):
        return "yes" if one else "no"
    if isinstance(one, int):
        return f"{one:,}"
    if isinstance(one, str) and len(one) == 64:  # a hash: its beginning is enough
        return one[:12]
    if isinstance(one, list | tuple):
        return "[" + ", ".join(map(value, one)) + "]"
    if isinstance(one, Mapping):
        return "{" + listed(one) + "}"
    return str(one)


def _is_plain(case: EngineCase) -> bool:
    """Are all facts short, and are the same ones seen as predicted?"""
    facts = (*case.predicted.values(), *case.seen.values())
    return case.predicted.keys() == case.seen.keys() and not any(
        isinstance(fact, list | tuple | Mapping) or len(value(fact)) > LONGEST for fact in facts
    )


def _places(case: EngineCase) -> str:
    """The victim of each outage, with the place unless the name of the case has it."""
    return "; ".join(
        kind if place in case.name else f"{kind}: {place}" for kind, place in case.crashed
    )


def _cell(case: EngineCase, column: str) -> str:
    """The fact as it was seen; also as it was predicted if the two differ."""
    seen, predicted = case.seen[column], case.predicted[column]
    return value(seen) if seen == predicted else f"{value(seen)}, predicted {value(predicted)}"
