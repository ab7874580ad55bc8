"""`asif list`: protocols and variants, their claims, scopes, mutants, lemmas and findings."""

from __future__ import annotations

from rich.table import Column, Table

from asif.console import JsonOption, console, save


def list_(json_: JsonOption = None) -> None:
    """List protocols and variants: claims, expected outcomes, scopes, mutants, lemmas, findings."""
    from model.core import COMMON
    from model.registry import modules, protocols

    rows = [
        {
            "protocol": protocol.name,
            "source": protocol.words.source,
            "claims": {c.name: g.name for c, g in protocol.promise.claims.items()},
            "assumes": protocol.promise.assumes.failures.name,
            "expected": protocol.evidence.expected.value,
            "scopes": len(protocol.evidence.scopes),
            "mutants": len(protocol.evidence.mutants),
            "lemmas": protocol.evidence.lemmas,
            "quantities": [quantity._asdict() for quantity in protocol.behaviour.quantities],
            "finding": protocol.words.finding,
        }
        for protocol in protocols().values()
    ]
    name = Column("protocol", overflow="fold")  # whole, also in narrow terminals
    table = Table(name, "expected", "scopes", "mutants", "lemmas", "finding")
    for row in rows:
        table.add_row(
            str(row["protocol"]),
            str(row["expected"]),
            str(row["scopes"]),
            str(row["mutants"] or ""),
            str(row["lemmas"] or ""),
            str(row["finding"]),
        )
    console.print(table)
    counted = Table("quantity", "of", "unit", "meaning")
    families = {protocol.name: protocol.behaviour.quantities for protocol in modules().values()}
    for family, quantities in {"every family": COMMON, **families}.items():
        for quantity in quantities:
            counted.add_row(quantity.name, family, quantity.unit, quantity.description)
    console.print(counted)
    save(json_, rows)
