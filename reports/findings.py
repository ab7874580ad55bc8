"""The findings of the families as rows of tables: for docs/explanation/findings and the report.

Rule of this file: words and layout only; the numbers come from pinned scopes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

from model.evidence import PinnedScope
from model.finding import (
    ByExperiment,
    ByLemma,
    ByMutant,
    ByReading,
    ByScope,
    ByTest,
    Finding,
    FindingTable,
    Judgement,
    Witness,
)
from model.protocol import Protocol
from model.registry import findings, protocols

PAGES = Path(__file__).parent.parent / "docs" / "explanation" / "findings"
_MARKED = re.compile(r"<!-- findings: (.+?) -->\n.*?<!-- end of findings -->", re.DOTALL)
ERRATA = frozenset({Judgement.REFUTED, Judgement.CONDITIONAL, Judgement.CONTRADICTORY})
"""The verdicts after which a sentence of a paper has to be changed."""


def page(family: str, text: str) -> str:
    """The page of a family with its tables between their marks.  Raises KeyError for a mark without
    a table, ValueError for a table without a mark."""
    tables = {table.subject: table for table in findings()[family]}
    marked = _MARKED.findall(text)
    if sorted(marked) != sorted(tables):
        raise ValueError(
            f"docs/explanation/findings/{family}.md has marks for {marked}, not {[*tables]}"
        )

    def fresh(mark: re.Match[str]) -> str:
        rows = "\n".join(_lines(tables[mark[1]]))
        return f"<!-- findings: {mark[1]} -->\n\n{rows}\n\n<!-- end of findings -->"

    return _MARKED.sub(fresh, text)


def overview() -> list[str]:
    """A table with a line a family: its title, and its findings by verdict."""
    known = protocols()
    judgements = [one for one in Judgement if one is not Judgement.OPEN]
    lines = [_row("family", "title", "findings", *[one.value for one in judgements])]
    lines.append(_row(*["---"] * (3 + len(judgements))))
    for family, counted in counts().items():
        name = f"[{family}](findings/{family}.md)"
        cells = [str(counted[one] or "") for one in judgements]
        lines.append(_row(name, known[family].words.title, str(counted.total()), *cells))
    return lines


def counts() -> Mapping[str, Counter[Judgement]]:
    """The findings of each family by verdict."""
    return {
        family: Counter(one.verdict for table in tables for one in table.findings)
        for family, tables in findings().items()
    }


def errata(families: Container[str]) -> list[dict[str, str]]:
    """The claims of these families that have to be changed, as the report shows them."""
    return [
        {
            "family": family,
            "claim": claim(one),
            "section": one.section,
            "verdict": verdict(one),
            "shown_by": shown_by(one),
            "mend": mend(one),
        }
        for family, tables in findings().items()
        for table in tables
        for one in table.findings
        if family in families and one.verdict in ERRATA
    ]


# --- cells -------------------------------------------------------------------------------------
def claim(finding: Finding) -> str:
    """The claim, with quotation marks around the words of the paper."""
    text = finding.claim
    for quote in finding.quotes:
        text = text.replace(quote, f'"{quote}"', 1)
    return text


def verdict(finding: Finding) -> str:
    word = finding.verdict.value
    return f"{word}: {finding.remark}" if finding.remark else word


def shown_by(finding: Finding) -> str:
    return "; ".join(_shown(witness) for witness in finding.witnesses)


def mend(finding: Finding) -> str:
    """The correction, and the variants that hold with it."""
    names = " and ".join(f"`{name}`" for name in finding.mended)
    if not names:
        return finding.mend
    held = f"{names} {'hold' if len(finding.mended) > 1 else 'holds'}"
    return f"{finding.mend} ({held})" if finding.mend else held


def _shown(witness: Witness) -> str:
    match witness:
        case ByScope():
            return _scope(witness)
        case ByMutant(mutant, steps):
            return f'mutant "{mutant}"' + (f" ({steps} steps)" if steps else "")
        case ByLemma(lemma, size):
            return f"lemma `{lemma}`" + (f" ({size})" if size else "")
        case ByTest(test, shows):
            path = test.partition("::")[0]
            return f"{shows} (`{path}`)" if shows else f"`{path}`"
        case ByExperiment(experiment, shows):
            command = f"`asif reproduce {experiment}`"
            return f"{shows} ({command})" if shows else command
        case ByReading(passages):
            return f"passages compared: {passages}"


def _scope(witness: ByScope) -> str:
    variant, scope, run = witness
    if not scope:
        return f"`{variant}` holds"
    steps = pinned(protocols()[variant], scope).steps
    shown = f": {run}" if run else ""
    if steps is None:
        return f"`{variant}`, {scope}: holds{shown}"
    return f"{steps} steps{shown} (`{variant}`)"


def pinned(protocol: Protocol, scope: str) -> PinnedScope:
    """The scope of that name.  Raises KeyError."""
    for one in protocol.evidence.scopes:
        if one.name == scope:
            return one
    raise KeyError(f"{protocol.name} has no scope {scope!r}")


# --- Markdown ----------------------------------------------------------------------------------
def _lines(table: FindingTable) -> Iterator[str]:
    yield _row("claim", "section", "verdict", "shown by", "correction")
    yield _row(*["---"] * 5)
    for one in table.findings:
        yield _row(claim(one), one.section, verdict(one), shown_by(one), mend(one))


def escaped(cell: str) -> str:
    """Markdown of a cell: a bar does not end it."""
    return cell.replace("|", "\\|")


def _row(*cells: str) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"


def write() -> None:
    """Renew the tables of all pages in docs/explanation/findings."""
    for family in findings():
        path = PAGES / f"{family}.md"
        path.write_text(page(family, path.read_text(encoding="utf-8")), encoding="utf-8")
