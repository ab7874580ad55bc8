"""docs/findings.md says what the evidence says: names of protocols and lemmas, steps of runs.

The numbers of steps are pinned in the families, and other tests explore them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.evidence import Outcome
from model.registry import protocols
from proofs.prove.lemma_index import theories

TEXT = (Path(__file__).parents[2] / "docs" / "findings.md").read_text(encoding="utf-8")
PROTOCOLS = protocols()
FAMILIES = frozenset(name.partition(":")[0] for name in PROTOCOLS)
LEMMAS = frozenset(lemma.name for theory in theories().values() for lemma in theory.lemmas)

QUOTED = re.compile(r"`([a-z0-9-]+(?::[a-z0-9-]+)?)`")
NAMES = r"((?:`[a-z0-9:-]+`(?:, | and )?)+)"
HOLD = re.compile(NAMES + r" holds?\b")
OF_LEMMAS = re.compile(r"\blemmas? " + NAMES)
RUNS = re.compile(r"([^()`]*(?:\([^()`]*\)[^()`]*)*)\((`[a-z0-9-]+:[^()]*)\)")
"""In a cell: numbers of steps, and in parentheses the variants with such shortest runs."""
ELSEWHERE = re.compile(r"\b(\d+) steps, (`[a-z0-9:-]+`)|(`[a-z0-9:-]+`), (\d+) steps")
SHORT = re.compile(r"`([a-z0-9-]+)` \((\d+)(?: steps)?\)")
"""A variant without the name of its family, and the steps of its shortest run."""


def variants_in(text: str) -> list[str]:
    """The names of protocols that a text quotes, registered or not."""
    families = ((name, name.partition(":")) for name in QUOTED.findall(text))
    return [name for name, (family, colon, _) in families if colon and family in FAMILIES]


def steps_of(name: str) -> set[int]:
    found = PROTOCOLS.get(name)
    return {scope.steps for scope in found.evidence.scopes if scope.steps} if found else set()


def runs_in(text: str) -> Iterator[tuple[set[int], list[str]]]:
    """(numbers, variants) of the column "shortest run" of each table, and of sentences."""
    column = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.replace("\\|", "").split("|")]
        if not line.startswith("|"):
            column = None
        elif "shortest run" in cells:
            column = cells.index("shortest run")
        elif column is not None:
            for numbers, names in RUNS.findall(cells[column]):
                yield (
                    {int(number) for number in re.findall(r"\b\d+\b", numbers)},
                    variants_in(names),
                )
    for before, name, other, after in ELSEWHERE.findall(text):
        yield {int(before or after)}, variants_in(name or other)


def faults(text: str) -> list[str]:
    """What a text says and the evidence does not."""
    found = [f"no protocol {name}" for name in variants_in(text) if name not in PROTOCOLS]
    lemmas = (name for names in OF_LEMMAS.findall(text) for name in QUOTED.findall(names))
    found += [f"no lemma {name}" for name in lemmas if name not in LEMMAS]
    for steps, names in runs_in(text):
        pinned = [steps_of(name) for name in names]
        if names and (
            steps - set().union(*pinned) or (steps and not all(steps & p for p in pinned))
        ):
            found.append(f"{names}: {steps} steps, and {pinned} are pinned")
    for name, number in SHORT.findall(text):
        same = [steps_of(f"{family}:{name}") for family in FAMILIES]
        if int(number) not in set().union(*same):
            found.append(f"{name}: {number} steps")
    holds = (name for names in HOLD.findall(text) for name in variants_in(names))
    for name in holds:
        scopes = PROTOCOLS[name].evidence.scopes if name in PROTOCOLS else ()
        found += [f"{name}: {one.name}" for one in scopes if one.expect is not Outcome.HOLDS]
    return found


def test_the_findings_are_those_of_the_evidence() -> None:
    assert faults(TEXT) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("`log-io:lossy`", "`log-io:lost`"),
        ("lemma `lossy-connection`", "lemma `lost-connection`"),
        ("7 steps (`log-io:smaller-numbers`)", "8 steps (`log-io:smaller-numbers`)"),
        ("10 steps for two functions, 15 for groups", "10 steps for two functions, 14 for groups"),
        ("(5 steps, `log-io:outputs-before-writes`)", "(6 steps, `log-io:outputs-before-writes`)"),
        ("(`log-io:replay-published`, 6 steps)", "(`log-io:replay-published`, 7 steps)"),
        ("`smaller-numbers` (7)", "`smaller-numbers` (8)"),
        ("`log-io:idempotent-groups` hold", "`log-io:idempotent-groups-anew` hold"),
    ],
)
def test_a_wrong_finding_is_noticed(right: str, wrong: str) -> None:
    assert right in TEXT
    assert len(faults(TEXT.replace(right, wrong, 1))) > len(faults(TEXT))
