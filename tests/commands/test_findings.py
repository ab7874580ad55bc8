"""Findings are values: their witnesses exist and say what the verdict says; their pages are fresh.

The numbers of steps are pinned in the families, and other tests explore them.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from model.evidence import Outcome
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
from model.registry import findings, modules, protocols
from proofs.prove.lemma_index import theories
from reports import docs
from reports import findings as pages
from sim.experiments.experiment import experiments

ROOT = Path(__file__).parents[2]
PROTOCOLS = protocols()
MUTANTS = frozenset(mutant.name for one in modules().values() for mutant in one.evidence.mutants)
LEMMAS = {lemma.name: lemma for theory in theories().values() for lemma in theory.lemmas}
TABLES = findings()
EVERY = [
    (family, finding)
    for family, tables in TABLES.items()
    for table in tables
    for finding in table.findings
]


def expected(protocol: Protocol, scope: str = "") -> Outcome:
    """The pinned outcome of a scope; of all scopes if none is named."""
    return pages.pinned(protocol, scope).expect if scope else protocol.evidence.expected


def wrong(witness: Witness) -> str:
    """The name in a witness that the evidence does not have, or nothing."""
    match witness:
        case ByScope(variant, scope):
            known = PROTOCOLS.get(variant)
            if known is None or (
                scope and scope not in [one.name for one in known.evidence.scopes]
            ):
                return f"{variant}, {scope}"
            if not scope and expected(known) is not Outcome.HOLDS:
                return f"{variant} does not hold"
            one = pages.pinned(known, scope) if scope else None
            refuted = one is not None and one.expect is Outcome.REFUTED
            return f"{variant}, {scope}: no steps" if refuted and not (one and one.steps) else ""
        case ByMutant(mutant):
            return "" if mutant in MUTANTS else mutant
        case ByLemma(lemma, size):
            found = LEMMAS.get(lemma)
            sizes = found.erratum.size if found and found.erratum else ""
            return "" if found and sizes.startswith(size) else f"{lemma} ({size})"
        case ByTest(test):
            path, _, function = test.partition("::")
            file = ROOT / path
            if not file.is_file():
                return path
            nodes = ast.parse(file.read_text(encoding="utf-8")).body
            names = [node.name for node in nodes if isinstance(node, ast.FunctionDef)]
            return "" if not function or function in names else test
        case ByExperiment(experiment):
            return "" if experiment in experiments() else experiment
        case ByReading(passages):
            return "" if passages else "no passages"


def refutes(witness: Witness) -> bool:
    """Does the witness speak against a claim?  A test, an experiment, or passages may."""
    match witness:
        case ByScope(variant, scope):
            return expected(PROTOCOLS[variant], scope) is Outcome.REFUTED
        case ByLemma(lemma):
            return LEMMAS[lemma].expect is Outcome.REFUTED
        case _:
            return True


def faults(finding: Finding) -> list[str]:
    """The parts of a finding that the evidence does not support."""
    found = [name for name in map(wrong, finding.witnesses) if name]
    if found:
        return found
    if not finding.witnesses:
        found.append("no witness")
    if finding.verdict is Judgement.REFUTED and not any(map(refutes, finding.witnesses)):
        found.append("no witness refutes it")
    if finding.verdict is Judgement.CONFIRMED and all(map(_only_against, finding.witnesses)):
        # a claim that something is needed is confirmed by a run without it
        found += [] if finding.remark else ["nothing says why a counterexample confirms it"]
    for name in finding.mended:
        if name not in PROTOCOLS or PROTOCOLS[name].evidence.expected is not Outcome.HOLDS:
            found.append(f"mended by {name}")
    found += [f"no words {quote!r}" for quote in finding.quotes if quote not in finding.claim]
    return found


def _only_against(witness: Witness) -> bool:
    return isinstance(witness, ByScope | ByLemma) and refutes(witness)


def test_every_finding_is_that_of_the_evidence() -> None:
    found = {(family, one.claim): faults(one) for family, one in EVERY}
    assert {key: each for key, each in found.items() if each} == {}


def test_every_family_has_findings_and_no_claim_stands_twice() -> None:
    assert [*TABLES] == [one.name for one in modules().values()]
    for family, tables in TABLES.items():
        subjects = [table.subject for table in tables]
        assert len({*subjects}) == len(subjects), family
        for table in tables:
            claims = [one.claim for one in table.findings]
            assert len({*claims}) == len(claims) > 0, table.subject


def test_no_finding_is_lost() -> None:
    """At least as many as the page had rows when people wrote it."""
    assert len(EVERY) >= 233


def test_every_refuted_variant_is_a_witness_or_says_its_finding() -> None:
    witnesses = {
        one.variant for _, found in EVERY for one in found.witnesses if isinstance(one, ByScope)
    }
    refuted = {one.name for one in PROTOCOLS.values() if one.evidence.expected is Outcome.REFUTED}
    assert all(PROTOCOLS[name].words.finding for name in refuted - witnesses)


def first(verdict: Judgement, kind: type[Witness]) -> Finding:
    """A finding with that verdict, all of whose witnesses are of one kind."""
    for _, found in EVERY:
        if found.verdict is verdict and all(isinstance(one, kind) for one in found.witnesses):
            return found
    raise AssertionError(verdict)


@pytest.mark.parametrize(
    "witness",
    [
        ByScope("log-io:lost"),
        ByScope("log-io", "no such scope"),
        ByScope("log-io:smaller-numbers"),
        ByMutant("no such mutant"),
        ByLemma("lost-connection"),
        ByLemma("obsolete-smaller", "5 steps"),
        ByTest("tests/commands/test_nothing.py"),
        ByTest("tests/commands/test_findings.py::test_nothing"),
        ByExperiment("lima-fig0"),
        ByReading(""),
    ],
)
def test_a_wrong_witness_is_noticed(witness: Witness) -> None:
    assert wrong(witness)


def test_a_wrong_finding_is_noticed() -> None:
    right = first(Judgement.REFUTED, ByScope)
    assert faults(right) == []
    for other in (
        replace(right, witnesses=()),
        replace(right, witnesses=(ByScope("log-io"),)),
        replace(right, mended=("log-io:lossy",)),
        replace(right, quotes=("words that nobody wrote",)),
    ):
        assert faults(other), other


# --- pages -------------------------------------------------------------------------------------
@pytest.mark.parametrize("family", TABLES)
def test_the_page_of_a_family_is_fresh(family: str) -> None:
    text = (pages.PAGES / f"{family}.md").read_text(encoding="utf-8")
    assert text == pages.page(family, text), "stale: run `make docs`"


def test_every_page_is_that_of_a_family() -> None:
    assert {path.stem for path in pages.PAGES.glob("*.md")} == {*TABLES}


def test_the_table_of_families_is_fresh() -> None:
    text = docs.FINDINGS.read_text(encoding="utf-8")
    assert text == docs.findings_page(text), "stale: run `make docs`"


def test_a_stale_table_is_renewed() -> None:
    text = (pages.PAGES / "crb.md").read_text(encoding="utf-8")
    assert "| 12 steps" in text
    assert pages.page("crb", text.replace("| 12 steps", "| 13 steps")) == text


def test_a_page_without_the_mark_of_a_table_is_refused() -> None:
    with pytest.raises(ValueError, match=r"crb\.md has marks"):
        pages.page("crb", "no marks")


def test_the_report_has_all_errata() -> None:
    rows = pages.errata([*TABLES])
    assert pages.errata([]) == []
    assert len(rows) == sum(one.verdict in pages.ERRATA for _, one in EVERY)
    assert all(row["claim"] and row["shown_by"] for row in rows)


def test_a_table_has_a_row_for_each_finding() -> None:
    tables: list[FindingTable] = [table for each in TABLES.values() for table in each]
    rows = sum(
        line.startswith("| ") and not line.startswith(("| ---", "| claim | section |"))
        for path in pages.PAGES.glob("*.md")
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    assert rows >= sum(len(table.findings) for table in tables) == len(EVERY)
