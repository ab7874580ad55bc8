"""The tables of docs/explanation/standbys.md: the weakest guarantee that any evidence shows.

Rule of this file: a cell is the weakest of all evidence about its design, whichever variant has it;
nothing is explored here.
Hwang et al., Tables 2 and 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from model.core import Guarantee, OperatorClass, Scope
from model.graph import SINK, SOURCE
from model.protocol import Assumptions, Failures, Protocol
from model.registry import protocols
from model.standbys.choices import NodeReturns
from model.standbys.streams import without_streams

FAMILIES = ("passive-standby", "upstream-backup-acks", "active-standby")


class Condition(NamedTuple):
    """A condition of Table 2, with the ending of the variants that have it.

    once: one failure and no more.
    """

    words: str
    ending: str
    once: bool = False


CONDITIONS = (
    Condition("After one failure", "", once=True),
    Condition("After an earlier failure that is over", "-again"),
    Condition("If a second failure may come at once", "-any"),
    Condition("After a false suspicion", "-suspicion", once=True),
)
KINDS = {"published": "as published", "rollback": "mended"}
MENDED = {
    "": "also after an earlier failure",
    ":arbitrary": "with determinants, or outputs that wait",
    ":any": "two failures at once",
    ":suspicion": "after a false suspicion",
}
"""The endings of the variants of precise recovery."""
PUBLISHED = {
    "passive-standby:published-precise": ("the readers are asked", OperatorClass.DETERMINISTIC),
    "upstream-backup-acks:published-repeatable": ("low watermarks", OperatorClass.REPEATABLE),
    "upstream-backup-acks:published-convergent": (
        "high watermarks",
        OperatorClass.CONVERGENT_CAPABLE,
    ),
    "active-standby:published-precise": ("the readers are asked", OperatorClass.DETERMINISTIC),
}
"""The variants of Section 6: how an output is known again, and the widest class in Table 4."""
WIDEST = {
    "passive-standby": OperatorClass.DETERMINISTIC,
    "upstream-backup-acks": OperatorClass.CONVERGENT_CAPABLE,
    "active-standby": OperatorClass.DETERMINISTIC,
}
"""The widest class in Table 4 without determinants, or outputs that wait."""


class Shown(NamedTuple):
    """A piece of evidence: in the scope of the variant, this guarantee is the strongest one.

    chain: does one node that may fail stand behind another one?
    """

    variant: str
    scope: str
    operators: OperatorClass
    guarantee: Guarantee
    chain: bool


def tables() -> list[str]:
    """The lines between the marks of the page."""
    known = protocols()
    lines: list[str] = []
    for condition in CONDITIONS:
        lines += [f"**{condition.words}**", "", *_head("rollback recovery")]
        for variant, words in _of_table_2(condition):
            alone = [one for one in evidence(variant, once=condition.once) if not one.chain]
            claims = known[f"{variant.family}:published"].promise.claims
            cells = [_cell(alone, variant, one, claims[one]) for one in OperatorClass]
            lines.append(join(f"`{variant.name}` ({words})", *cells))
        lines.append("")
    lines += ["**At the end of a chain of nodes**", "", *_head("rollback recovery")]
    for condition in CONDITIONS[:2]:
        for variant, words in _of_table_2(condition):
            behind = [one for one in evidence(variant, once=condition.once) if one.chain]
            cells = [_end_of_chain(behind, one) for one in OperatorClass]
            when = condition.words.lower()
            lines.append(join(f"`{variant.name}` ({words}), {when}", *cells))
    lines += ["", "**Precise recovery, as published**", "", *_head("")]
    lines += [_precise(known[name], *described) for name, described in PUBLISHED.items()]
    lines += ["", "**Precise recovery, mended**", "", *_head("")]
    for family in FAMILIES:
        for ending, words in MENDED.items():
            widest = OperatorClass.ARBITRARY if ending == ":arbitrary" else WIDEST[family]
            lines.append(_precise(known[family + ending], words, widest))
    return lines


def _of_table_2(condition: Condition) -> list[tuple[Protocol, str]]:
    known = protocols()
    return [
        (known[f"{family}:{kind}{condition.ending}"], words)
        for family in FAMILIES
        for kind, words in KINDS.items()
    ]


def evidence(variant: Protocol, *, once: bool = False) -> list[Shown]:
    """All evidence about the design of the variant, under assumptions that its own ones include.

    That of the variant itself comes first.  once: of runs with one failure; it makes no difference
    there whether the failed node comes back.
    """
    first = sorted(protocols().values(), key=lambda other: other.name != variant.name)
    return [
        shown
        for other in first
        if _is_included(other, variant, once)
        for crashes, shown in _shown(other)
        if not once or crashes <= 1
    ]


def _shown(variant: Protocol) -> Iterable[tuple[int, Shown]]:
    """Each scope and run of the variant, with the number of its crashes."""
    for pinned in variant.evidence.scopes:
        if pinned.operators is not None and pinned.guarantee is not None:
            yield (
                pinned.scope.crashes,
                Shown(
                    variant.name,
                    pinned.name,
                    pinned.operators,
                    pinned.guarantee,
                    _is_chain(pinned.scope),
                ),
            )
    for run in variant.evidence.runs:
        yield (
            run.scope.crashes,
            Shown(variant.name, run.name, run.operators, run.guarantee, _is_chain(run.scope)),
        )


def _is_included(other: Protocol, variant: Protocol, once: bool) -> bool:
    """Has the other one the same design, and no run that this one does not have?

    Where no node comes back there are fewer runs.
    """
    if other.family != variant.family:
        return False
    assumes = _is_wider(variant.promise.assumes, other.promise.assumes)
    designs = [variant.design, replace(variant.design, returns=NodeReturns.NEVER)]
    if once:
        designs.append(replace(variant.design, returns=NodeReturns.YES))
    return assumes and other.design in designs


def _is_wider(assumes: Assumptions, than: Assumptions) -> bool:
    failures = assumes.failures in (than.failures, Failures.ANY)
    return failures and (assumes.suspicions or not than.suspicions)


def _is_chain(scope: Scope) -> bool:
    graph = without_streams(scope.graph)
    nodes = {name for name, spec in graph.nodes if spec not in (SOURCE, SINK)}
    return any(above in nodes and below in nodes for above, below in graph.edges)


# --- rows ------------------------------------------------------------------------------------
def _end_of_chain(found: Sequence[Shown], operators: OperatorClass) -> str:
    """The weakest guarantee of a class for the application behind the last node; bold where
    something is lost, which no rollback recovery does."""
    included = [one for one in found if one.operators <= operators]
    weakest = max((one.guarantee for one in included), default=Guarantee.PRECISE)
    if weakest is Guarantee.GAP:
        return f"**gap** ({next(one.scope for one in included if one.guarantee is weakest)})"
    return weakest.word if any(one.operators is operators for one in included) else ""


def _precise(variant: Protocol, words: str, widest: OperatorClass) -> str:
    """The row of a variant.  widest: the widest class for which recovery is claimed to be precise;
    others are shown without a claim."""
    found = evidence(variant)
    cells = [
        _cell(found, variant, one, Guarantee.PRECISE if one <= widest else Guarantee.GAP)
        for one in OperatorClass
    ]
    return join(f"`{variant.name}`, {words}", *cells)


def _cell(
    found: Sequence[Shown], variant: Protocol, operators: OperatorClass, claim: Guarantee
) -> str:
    """The weakest guarantee of a class, which includes the classes before it.

    Bold: weaker than claimed.  In parentheses: only other variants, with fewer runs, have a scope
    of this class.  Empty: none has, and nothing is weaker.
    """
    included = [one for one in found if one.operators <= operators]
    weakest = max((one.guarantee for one in included), default=Guarantee.PRECISE)
    word = weakest.word
    if weakest > claim:
        shown = next(one for one in included if one.guarantee is weakest)
        where = "" if shown.variant == variant.name else f"`{shown.variant}`, "
        return f"**{word}** (claimed: {claim.word}; {where}{shown.scope})"
    homes = {one.variant for one in included if one.operators is operators}
    if not homes:
        return ""
    return word if variant.name in homes else f"({word})"


def _head(corner: str) -> list[str]:
    classes = [one.word for one in OperatorClass]
    return [join(corner, *classes), join(*["---"] * (1 + len(classes)))]


def join(*cells: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |"
