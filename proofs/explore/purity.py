"""Impure functions: tables of answers that were made in several processes are compared.

Rule of this file: it asks nothing (proofs.explore.asked) and starts no process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import TypeAlias

from model.evidence import Outcome
from model.protocol import Protocol
from model.results.attack import AttackResult
from model.results.purity import ImpureAnswer
from model.results.verdict import Verdict

SHOWN = 60
"""The largest number of characters of an answer that are shown."""

Asked: TypeAlias = tuple[str, str, str, str, str]
"""function, node, input, digest of the arguments, FILE:LINE of the function."""
AnswerTable: TypeAlias = Mapping[Asked, Sequence[str]]


def loading(name: str, how: str) -> tuple[Asked, tuple[str, ...]]:
    """The row about the import of a protocol and the deployment of its scopes."""
    return ("import and deploy", "", "scopes", "", name), (how,)


def impure_answers(tables: Sequence[AnswerTable]) -> tuple[ImpureAnswer, ...]:
    """The functions with two answers to one question, each function once, in the order asked.

    Only questions that several tables have are compared.  Impure answers lead to other questions,
    but the first one of them is in all tables.
    """
    found: dict[tuple[str, str], ImpureAnswer] = {}
    for asked in dict.fromkeys(one for table in tables for one in table):
        function, node, on, _, place = asked
        texts = [*dict.fromkeys(text for table in tables for text in table.get(asked, ()))]
        if len(texts) > 1 and (function, place) not in found:
            shown = _difference(texts[0], texts[1])
            found[function, place] = ImpureAnswer(function, node, on, place, shown)
    return tuple(found.values())


def why_unasked(tables: Sequence[AnswerTable]) -> str:
    """The reason why no function was asked in any process; "" if one was."""
    if any(len(table) > 1 for table in tables):
        return ""
    return " or ".join(dict.fromkeys(text for table in tables for (text,) in table.values()))


def _difference(one: str, other: str) -> tuple[str, str]:
    """The parts of two texts that differ, each from the beginning of its field on."""
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    start = max(one.rfind(mark, 0, same) + 1 for mark in (" ", "("))
    return _cut(one, start), _cut(other, start)


def _cut(text: str, start: int) -> str:
    rest = text[start:]
    ends: Iterable[int] = (at for mark in (", ", ")") if (at := rest.find(mark, 1)) > 0)
    return rest[: min(*ends, SHOWN, len(rest))]


def impure_verdict(protocol: Protocol, found: tuple[ImpureAnswer, ...]) -> Verdict:
    """The verdict on a protocol with impure functions: nothing is explored, since each run might
    have another result."""
    return Verdict(
        protocol=protocol.name,
        title=protocol.words.title,
        source=protocol.words.source,
        finding=protocol.words.finding,
        outcome=Outcome.IMPURE,
        expected=False,
        claims=dict(protocol.promise.claims),
        found={},
        weaker=(),
        stronger=(),
        unclaimed=(),
        standard=(),
        untried_classes=(),
        vacuous=(),
        points=0,
        hit=0,
        missed=(),
        scopes=(),
        attack=AttackResult(),
        evidence={},
        missing=(),
        mutants=None,
        seconds=0.0,
        impure=found,
    )
