"""The generator of the tables in the pages of docs, and of build/docs/protocols.md: `python -m
reports.docs` writes them from the registry and from pinned evidence.

Rule of this file: no change outside the marks; people write nothing between the marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from model.evidence import Outcome, PinnedScope
from model.outages import Since
from model.patches import diff, readings_of
from model.plans.design import MEANT, READINGS
from model.plans.evidence import WORSE, Worse
from model.protocol import Protocol
from model.registry import modules
from reports import engine_page, findings, pipelines, standbys
from reports.standbys import join

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "reference" / "protocols.md"
LONG = DOCS.parent / "build" / "docs" / "protocols.md"
PLANS = DOCS / "how-to" / "plans.md"
STANDBYS = DOCS / "explanation" / "standbys.md"
RECOVERIES = DOCS / "reference" / "recoveries.md"
PIPELINES = DOCS / "reference" / "pipelines.md"
ENGINES = {"Spark": DOCS / "reference" / "spark.md", "Flink": DOCS / "reference" / "flink.md"}
"""The page of each engine, by its name in a sentence."""
FINDINGS = DOCS / "explanation" / "findings.md"
BEGIN, END = "<!-- generated -->", "<!-- end of generated -->"


def page(text: str) -> str:
    """The page with a line for each protocol between its marks."""
    return between(text, _overview())


def long_page() -> str:
    """Every pinned scope and every mutant."""
    return "\n".join(["# Protocols and their pinned evidence", "", *_protocols()])


def between(text: str, lines: Sequence[str]) -> str:
    """The text with these lines between its marks.  Raises ValueError unless it has both marks."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return "\n".join([before + BEGIN, "", *lines, END + after])


def _overview() -> list[str]:
    rows = [
        "| protocol | claims | expected | scopes | of them refuted | most worlds |",
        "|---|---|---|---|---|---|",
    ]
    known = modules().values()
    variants = (one for protocol in known for one in (protocol, *protocol.variants))
    return [*rows, *map(_line, variants), ""]


def _line(variant: Protocol) -> str:
    scopes = variant.evidence.scopes
    refuted = sum(pinned.expect is Outcome.REFUTED for pinned in scopes)
    expected = Outcome.REFUTED if refuted else Outcome.HOLDS
    worlds = max((pinned.states or 0 for pinned in scopes), default=0)
    return join(
        variant.name,
        _claims(variant),
        expected.value,
        str(len(scopes)),
        str(refuted or ""),
        f"{worlds:,}" if worlds else "",
    )


def _claims(variant: Protocol) -> str:
    """The guarantee that is claimed; with its classes of operators where they differ."""
    claims = variant.promise.claims
    if len({*claims.values()}) == 1:
        return next(iter(claims.values())).word
    return ", ".join(f"{one.word}: {claims[one].word}" for one in claims)


def _protocols() -> list[str]:
    parts: list[str] = []
    for protocol in modules().values():
        parts += [f"## {protocol.words.title}", "", f"{protocol.words.source}.", ""]
        for variant in (protocol, *protocol.variants):
            parts += _variant(variant)
        if protocol.evidence.mutants:
            parts += ["### Mutants", "", "One line of a module each, replaced.", ""]
        for mutant in protocol.evidence.mutants:
            parts += [f"- **{mutant.name}** (`{mutant.module}`)", "", "  ```diff"]
            parts += [f"  - {mutant.old}", f"  + {mutant.new}", "  ```", ""]
    return parts


def _variant(variant: Protocol) -> list[str]:
    head = [f"### {variant.name}", "", variant.words.finding, ""]
    for reading in readings_of(variant.behaviour):
        head += [f"{reading.quote}.", "", "```diff", diff(reading.changes), "```", ""]
    table = [
        "| scope | operators | crashes | expected | worlds | guarantee | profile |",
        "|---|---|---|---|---|---|---|",
    ]
    return [*head, *table, *(_row(pinned) for pinned in variant.evidence.scopes), ""]


def _row(pinned: PinnedScope) -> str:
    expected = pinned.expect.value
    if pinned.expect is Outcome.REFUTED and pinned.steps is not None:
        expected += f" in {pinned.steps} steps"
    return join(
        pinned.name,
        "" if pinned.operators is None else pinned.operators.word,
        str(pinned.scope.crashes),
        expected,
        f"{pinned.states:,}" if pinned.states is not None else "",
        "" if pinned.guarantee is None else pinned.guarantee.word,
        "quick" if pinned.quick else "full",
    )


def plans_page(text: str) -> str:
    """The page about plans with its readings between its marks."""
    rows = [
        "| reading | what differs | smallest instance, any priorities | equal priorities |",
        "|---|---|---|---|",
    ]
    for name, design in READINGS.items():
        changed = [
            f"{field}: {getattr(design, field).value}"
            for field in design.__dataclass_fields__
            if getattr(design, field) != getattr(MEANT, field)
        ]
        words = "; ".join(changed) or "as far as one can know"
        rows.append(join(f"`{name}`", words, *map(_worse, WORSE[name])))
    return between(text, [*rows, ""])


def _worse(found: Worse | None) -> str:
    """An instance in a few words."""
    if found is None:
        return "none up to 3 queries"
    costs = ", ".join(f"{name} {price}" for name, price in found.instance.prices.items())
    weighted = {query.priority for query in found.instance.queries} != {1}
    queries = ", ".join(
        f"{query.name} = {' + '.join(sorted(query.operators))}"
        + (f" (priority {query.priority})" if weighted else "")
        for query in found.instance.queries
    )
    return f"{costs}; {queries}; R = {found.resources}: {found.ours} of {found.best}"


def findings_page(text: str) -> str:
    """The page about findings with its table of families between its marks."""
    return between(text, [*findings.overview(), ""])


def results_page(text: str, engine: str) -> str:
    """The page about an engine with the results of its checks between its marks.  engine: its name
    in a sentence."""
    results = engine_page.kept(engine_page.RESULTS / engine.lower())
    return between(text, [*engine_page.lines(results, engine)])


def pipelines_page(text: str) -> str:
    """The page about pipelines with the table of families between its marks."""
    return between(text, pipelines.lines())


def standbys_page(text: str) -> str:
    """The page about high availability with its tables of guarantees between its marks."""
    return between(text, [*standbys.tables(), ""])


def recoveries_page(text: str) -> str:
    """The page about recoveries with the terms of each family between its marks."""
    rows = [
        "| protocol | D | rs | rd | age: the events since | backlog |",
        "|---|---|---|---|---|---|",
    ]
    for protocol in modules().values():
        terms = protocol.behaviour.outage
        if terms is not None:
            applies = (True, terms.restart, terms.read)
            words = ["yes" if one else "" for one in applies]
            again = "" if terms.again is Since.NOTHING else terms.again.value
            rows.append(join(f"`{protocol.name}`", *words, again, "yes" if terms.backlog else ""))
    return between(text, [*rows, ""])


if __name__ == "__main__":
    findings.write()
    FINDINGS.write_text(findings_page(FINDINGS.read_text(encoding="utf-8")), encoding="utf-8")
    STANDBYS.write_text(standbys_page(STANDBYS.read_text(encoding="utf-8")), encoding="utf-8")
    PIPELINES.write_text(pipelines_page(PIPELINES.read_text(encoding="utf-8")), encoding="utf-8")
    for engine, path in ENGINES.items():
        path.write_text(results_page(path.read_text(encoding="utf-8"), engine), encoding="utf-8")
    RECOVERIES.write_text(recoveries_page(RECOVERIES.read_text(encoding="utf-8")), encoding="utf-8")
    PLANS.write_text(plans_page(PLANS.read_text(encoding="utf-8")), encoding="utf-8")
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    LONG.parent.mkdir(parents=True, exist_ok=True)
    LONG.write_text(long_page(), encoding="utf-8")
