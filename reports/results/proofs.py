"""What is proved and what is refuted: the lemmas of a protocol, for a page and for a terminal.

Rule of this file: it reads what proofs.prove.prover has written and decides nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from model.errors import Invalid
from model.evidence import Outcome
from reports.diagrams import grid

Entry = Mapping[str, Any]
"""One protocol: its name, its lemmas, seconds."""

_LEMMA = (
    *("name", "statement", "section", "scope", "fragment", "expect", "outcome", "as_expected"),
    *("seconds", "queries", "hypotheses", "erratum"),
)
_QUERY = ("name", "kind", "transition", "invariant", "expect", "answer", "seconds", "grid")


def view(entries: Sequence[Entry]) -> dict[str, Any]:
    """What the templates receive."""
    protocols = []
    for entry in entries:
        _require("proofs", entry, ("protocol", "lemmas", "drift", "seconds"))
        found = [_lemma(lemma, entry["protocol"]) for lemma in entry["lemmas"]]
        protocols.append({**entry, "lemmas": found})
    lemmas = [lemma for entry in protocols for lemma in entry["lemmas"]]
    hypotheses = [hypothesis for lemma in lemmas for hypothesis in lemma["hypotheses"]]
    queries = [query for lemma in lemmas for query in lemma["queries"]]
    return {
        "protocols": protocols,
        "lemmas": lemmas,
        "proved": sum(lemma["outcome"] == Outcome.HOLDS.value for lemma in lemmas),
        "refuted": sum(lemma["outcome"] == Outcome.REFUTED.value for lemma in lemmas),
        "fine": all(lemma["fine"] for lemma in lemmas)
        and not any(one["drift"] for entry in protocols for one in entry["drift"]),
        "errata": [lemma for lemma in lemmas if lemma["erratum"]],
        "hypotheses": len(hypotheses),
        "needed": sum(lemma["needed"] for lemma in lemmas),
        "dropped": sum(lemma["dropped"] for lemma in lemmas),
        "queries": len(queries),
        "opinions": sum(query["cvc5"] is not None for query in queries),
        "agreed": sum(query["cvc5"] == query["answer"] for query in queries),
        "seconds": sum(entry["seconds"] for entry in entries),
    }


def _lemma(lemma: Mapping[str, Any], of: str = "") -> dict[str, Any]:
    """id: of its place on the page.  shown: the counterexamples drawn."""
    where = f"lemma {lemma.get('name')} of {of}"
    _require(where, lemma, _LEMMA)
    queries = [_query(f"{where}, query {q.get('name')}", q) for q in lemma["queries"]]
    dropped = [h["needed"] for h in lemma["hypotheses"] if h["needed"] is not None]
    unneeded = dropped.count(False)
    steps, others = _steps(queries)
    return {
        **lemma,
        "id": f"lemma-{of}-{lemma['name']}",
        "queries": queries,
        "shown": [
            q["grid"] for q in queries if q["grid"] and q["answer"] == "sat" and not q["sometimes"]
        ],
        "steps": steps,
        "others": others,
        "dropped": len(dropped),
        "needed": len(dropped) - unneeded,
        "unneeded": unneeded,
        "verdict": verdict(lemma),
        "fine": lemma["as_expected"] and not unneeded and all(q["fine"] for q in queries),
    }


def _query(where: str, query: Mapping[str, Any]) -> dict[str, Any]:
    """sometimes: it shows only that the hypotheses do not contradict each other.  contradicted:
    another solver says the opposite."""
    _require(where, query, _QUERY)
    cvc5 = query.get("cvc5")
    contradicted = cvc5 not in (None, "unknown", query["answer"])
    return {
        **query,
        "sometimes": query["kind"] == "sometimes",
        "cvc5": cvc5,
        "contradicted": contradicted,
        "fine": query["answer"] == query["expect"] and not contradicted,
    }


def _steps(queries: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The table of a proof by induction, invariants by transitions; and the other queries."""
    cells, others = {}, []
    for query in queries:
        if query["kind"] == "initial":
            cells["initially", query["invariant"]] = query
        elif query["kind"] == "step":
            cells[query["transition"], query["invariant"]] = query
        else:
            others.append(query)
    columns = list(dict.fromkeys(step for step, _ in cells))
    invariants = list(dict.fromkeys(invariant for _, invariant in cells))
    rows = [
        {"invariant": invariant, "cells": [cells.get((step, invariant)) for step in columns]}
        for invariant in invariants
    ]
    return {"columns": columns, "rows": rows}, others


def _require(where: str, value: Mapping[str, Any], fields: Iterable[str]) -> None:
    if missing := [field for field in fields if field not in value]:
        raise Invalid(f"{where}: no field {missing[0]!r}; a report needs it (null if unknown)")


def verdict(lemma: Mapping[str, Any]) -> str:
    """proved, proved within its scope, refuted, or unknown."""
    if lemma["outcome"] == Outcome.HOLDS.value:
        return "proved" if lemma["scope"] == "unbounded" else "proved within scope"
    return str(lemma["outcome"])


def summary(lemma: Mapping[str, Any]) -> Group:
    """One lemma for a terminal: verdict, section, time; the statement; the counterexample."""
    facts = [lemma["section"], lemma["scope"], f"{len(lemma['queries'])} queries"]
    if lemma["hypotheses"]:
        needed = sum(bool(hypothesis["needed"]) for hypothesis in lemma["hypotheses"])
        facts.append(f"{needed} of {len(lemma['hypotheses'])} hypotheses needed")
    facts.append(f"{lemma['seconds']:.1f} s")
    style = "green" if lemma["outcome"] == Outcome.HOLDS.value else "yellow"
    head = Text.assemble((lemma["name"], "bold"), ": ", (verdict(lemma), style))
    if not lemma["as_expected"]:
        head.append(" - NOT AS EXPECTED", style="bold red")
    parts: list[RenderableType] = [head, _indent(Text("; ".join(facts), style="dim"))]
    parts.append(_indent(Text(lemma["statement"])))
    parts += [_indent(grid.style(shown)) for shown in _lemma(lemma)["shown"]]
    return Group(*parts, "")


def _indent(text: Text) -> Padding:
    return Padding(text, (0, 0, 0, 2), expand=False)


def comparison(abstraction: Mapping[str, Any]) -> Group:
    """How the formulas fit what the Python does: how often each transition was taken."""
    taken = ", ".join(f"{n:,} × {name}" for name, n in abstraction["transitions"].items())
    drift = abstraction["drift"]
    verdict_ = ("DRIFT", "bold red") if drift else ("no drift", "green")
    head = Text.assemble((abstraction["name"], "bold"), ": ", verdict_)
    head.append(f" in {abstraction['states']:,} states; {taken}", style="dim")
    parts: list[RenderableType] = [head]
    if drift:
        parts.append(_indent(Text(f"in the scope {drift['scope']}:")))
        parts.append(_indent(grid.style(drift["grid"])))
    return Group(*parts, "")
