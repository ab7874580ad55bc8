"""The tables of standbys: no cell is better than any evidence about its design."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import pytest

from model.core import Guarantee, OperatorClass
from model.protocol import Protocol
from model.registry import protocols
from reports import standbys
from reports.standbys import CONDITIONS, FAMILIES, KINDS, evidence, tables

ROWS = [
    pytest.param(f"{family}:{kind}{condition.ending}", condition.once)
    for condition in CONDITIONS
    for family in FAMILIES
    for kind in KINDS
]


def cells(lines: list[str], name: str, after: str) -> list[str]:
    """The cells of the row that begins with this name, in the table after this heading."""
    table = lines[lines.index(f"**{after}**") :]
    row = next(line for line in table if line.startswith(f"| `{name}`"))
    return [cell.strip() for cell in row.split("|")[2:-1]]


@pytest.mark.parametrize(("name", "once"), ROWS)
def test_each_scope_of_a_variant_is_evidence_about_its_row(name: str, once: bool) -> None:
    variant = protocols()[name]
    shown = {(one.scope, one.guarantee) for one in evidence(variant, once=once)}
    own = {(one.name, one.guarantee) for one in variant.evidence.scopes}
    assert own <= shown


@pytest.mark.parametrize(
    ("name", "once", "scope"),
    [
        ("passive-standby:published", True, "two operators in a node"),
        ("passive-standby:published-again", False, "two operators in a node"),
        ("passive-standby:rollback", True, "two nodes"),
        ("active-standby:published", True, "another order at the secondary"),
        ("active-standby:published-again", False, "another order at the secondary"),
        ("active-standby:published-any", False, "a pair, two crashes"),
        ("upstream-backup-acks:published-again", False, "two nodes, windows by time, two crashes"),
        ("upstream-backup-acks", False, "a join in the order of time"),
        ("upstream-backup-acks", False, "pairs behind a relay, six tuples"),
        ("upstream-backup-acks:published-repeatable", False, "two relays, three tuples"),
    ],
)
def test_evidence_of_other_variants_of_the_design_counts(name: str, once: bool, scope: str) -> None:
    assert scope in {one.scope for one in evidence(protocols()[name], once=once)}


def test_evidence_of_other_designs_and_wider_assumptions_does_not_count() -> None:
    found = {one.variant for one in evidence(protocols()["active-standby:published"], once=True)}
    assert "active-standby:serves-high" not in found
    assert "active-standby:published-any" not in found
    assert "active-standby:published-suspicion" not in found
    assert "active-standby:published-again" not in found


def test_a_refuted_claim_is_not_printed_as_claimed() -> None:
    lines, after_one = tables(), "After one failure"
    arbitrary = cells(lines, "active-standby:published", after_one)[3]
    assert arbitrary.startswith("**gap** (claimed: divergent;")
    deterministic = cells(lines, "passive-standby:published", after_one)[2]
    assert deterministic.startswith("**divergent** (claimed: repeating;")
    assert cells(lines, "passive-standby:rollback", after_one)[2] == "repeating"
    assert cells(lines, "active-standby:rollback-again", CONDITIONS[1].words)[3] == "divergent"
    assert cells(lines, "passive-standby:suspicion", "Precise recovery, mended")[1] == "(precise)"
    at_the_end = cells(
        lines, "upstream-backup-acks:published-again", "At the end of a chain of nodes"
    )
    assert at_the_end[1] == "**gap** (two nodes, windows by time, two crashes)"
    mended = cells(lines, "upstream-backup-acks:rollback-again", "At the end of a chain of nodes")
    assert mended[1] == "divergent"
    precise = cells(lines, "upstream-backup-acks", "Precise recovery, mended")
    assert precise[0].startswith("**repeating** (claimed: precise;")


def test_a_worse_scope_in_any_variant_of_the_design_changes_the_cell() -> None:
    """The variant that has the scope is none of the rows."""
    known = protocols()
    home = known["passive-standby:sources-forget"]
    variant = known["passive-standby:rollback"]
    worse = replace(variant.evidence.scopes[0], name="planted", guarantee=Guarantee.GAP)
    planted: Protocol = home.vary(design=variant.design, scopes=(worse,))
    assert worse.operators is OperatorClass.REPEATABLE
    everything = {**known, planted.name: planted}
    with mock.patch.object(standbys, "protocols", return_value=everything):
        found = cells(tables(), variant.name, "After one failure")
    where = "`passive-standby:sources-forget`, planted)"
    assert found[0] == f"**gap** (claimed: repeating; {where}"
    assert found[3] == f"**gap** (claimed: divergent; {where}"
    assert cells(tables(), variant.name, "After one failure")[0] == "repeating"
