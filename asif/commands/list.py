"""`asif list`: protocols and variants, what is claimed, expected, checked and proved."""

from __future__ import annotations

from rich.table import Table

from asif.console import JsonOption, console, save


def list_(json_: JsonOption = None) -> None:
    """Protocols and variants: what is claimed, what is expected, what is checked and proved."""
    from model.registry import protocols
    from proofs.prove.lemma_index import theories

    proved_of = theories()
    rows = [
        {
            "protocol": protocol.name,
            "source": protocol.source,
            "claims": {c.name: g.name for c, g in protocol.claims.items()},
            "expected": protocol.expected.value,
            "scopes": len(protocol.scopes),
            "mutants": len(protocol.mutants),
            "lemmas": len(proved_of[protocol.name].lemmas) if protocol.name in proved_of else 0,
            "finding": protocol.finding,
        }
        for protocol in protocols().values()
    ]
    table = Table("protocol", "expected", "scopes", "mutants", "lemmas", "finding")
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
    save(json_, rows)
