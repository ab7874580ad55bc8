"""Claims about classes of operators, compared with the guarantees that were found.

Rule of this file: no search; results in, classes out.  A class contains those before it, so a claim
about it covers them, and a scope of one of them may contradict the claim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from model.core import Guarantee, OperatorClass
from model.evidence import Outcome
from model.results.verdict import ScopeResult, StandardResult, Verdict

Claims = Mapping[OperatorClass, Guarantee]


class Compared(NamedTuple):
    """The classes for which less was found than is claimed, more, or something unclaimed."""

    weaker: tuple[OperatorClass, ...]
    stronger: tuple[OperatorClass, ...]
    unclaimed: tuple[OperatorClass, ...]


def guarantees(scopes: Sequence[ScopeResult]) -> dict[OperatorClass, Guarantee]:
    """The weakest guarantee of each class of operators; none without a stream."""
    found: dict[OperatorClass, Guarantee] = {}
    for row in scopes:
        if row.operators is not None and row.guarantee is not None:
            found[row.operators] = max(found.get(row.operators, Guarantee.PRECISE), row.guarantee)
    return dict(sorted(found.items(), key=lambda item: item[0].name))


def compare(claims: Claims, found: Claims) -> Compared:
    """A claim is compared with the weakest guarantee of all classes that its class contains."""
    tried = [operators for operators in claims if any(c <= operators for c in found)]
    return Compared(
        tuple(c for c in tried if _found_for(c, found) > claims[c]),
        tuple(c for c in found if c in claims and _found_for(c, found) < claims[c]),
        tuple(c for c in found if not _is_covered(c, claims)),
    )


def untried_classes(found: Claims) -> tuple[OperatorClass, ...]:
    """The classes without an operator in any scope; none where no scope has a stream."""
    return tuple(one for one in OperatorClass if found and one not in found)


def with_standard(own: Verdict, ran: Sequence[StandardResult]) -> Verdict:
    """The verdict with the results of standard operators.

    A class that no claim covers may be refuted as it likes: then the protocol is refuted, and yet
    as expected.  A result that is wrong without a failure says nothing about recovery: the class
    has no guarantee from it.
    """
    if not ran:
        return own
    rows = [one.scope for one in ran if one.scope is not None]
    found = guarantees((*own.scopes, *(one.scope for one in ran if one.scope and not one.unhurt)))
    weaker = compare(own.claims, found).weaker
    refuted = [row for row in rows if row.outcome is Outcome.REFUTED]
    contradicts = [row for row in refuted if _is_covered(row.operators, own.claims)]
    vacuous = (
        *own.vacuous,
        *(f"{one.name}: {why}" for one in ran for why in one.vacuous),
        *(() if rows else ("the protocol was deployed with no standard operator",)),
    )
    return replace(
        own,
        outcome=_outcome(own, rows, refuted=bool(refuted or weaker), vacuous=bool(vacuous)),
        expected=own.expected
        and weaker == own.weaker
        and vacuous == own.vacuous
        and all(row.outcome is not Outcome.UNFINISHED for row in rows)
        and (own.outcome is Outcome.REFUTED or not contradicts),
        found=found,
        weaker=weaker,
        vacuous=vacuous,
        standard=tuple(ran),
        untried_classes=untried_classes(found),
    )


def _outcome(own: Verdict, rows: Sequence[ScopeResult], *, refuted: bool, vacuous: bool) -> Outcome:
    if refuted or own.outcome is Outcome.REFUTED:
        return Outcome.REFUTED
    if Outcome.UNFINISHED in (own.outcome, *(row.outcome for row in rows)):
        return Outcome.UNFINISHED
    return Outcome.VACUOUS if vacuous else own.outcome


def _is_covered(operators: OperatorClass | None, claims: Claims) -> bool:
    """Is there a claim about the class, or about one that contains it?"""
    return operators is not None and any(operators <= one for one in claims)


def _found_for(operators: OperatorClass, found: Claims) -> Guarantee:
    """The guarantee with which a claim about a class is compared: the weakest one in the scopes of
    this class and of the classes that it contains; PRECISE if there are none."""
    return max((g for c, g in found.items() if c <= operators), default=Guarantee.PRECISE)
