"""`asif list`: the families of protocols; `asif list NAME`: a protocol with its variants."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Column, Table

from asif.console import JsonOption, console, publish
from asif.names import protocols

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from model.core import Quantity
    from model.protocol import Protocol
    from model.results.listing import ListedProtocol


def list_(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|FILE.py]", help="A protocol; default: all.", autocompletion=protocols
        ),
    ] = None,
    json_: JsonOption = None,
) -> None:
    """List the protocols, a line each; or the variants of one, with claims and findings."""
    from model.core import COMMON
    from model.registry import modules, subject
    from model.results.listing import listed
    from proofs.garbage import seldom_collected

    with seldom_collected():  # what is imported stays
        chosen = [*modules().values()] if name is None else [subject(name).protocol]
    families = [[listed(one) for one in (main, *main.variants)] for main in chosen]
    if name is None:
        tables = [_families(chosen, families)]
    else:
        quantities = {"every family": COMMON, chosen[0].name: chosen[0].behaviour.quantities}
        tables = [_variants(families[0]), _quantities(quantities)]
    publish(tables, [one for family in families for one in family], json_)


NUMBERS = ("variants", "scopes", "mutants", "lemmas")


def _families(protocols: Sequence[Protocol], families: Iterable[Sequence[ListedProtocol]]) -> Table:
    """A line for each family; its numbers are those of the protocol and its variants."""
    numbers = _fitting(protocols)
    words = (Column(name, no_wrap=True) for name in ("protocol", "verdict"))
    counts = (Column(name, no_wrap=True, justify="right") for name in numbers)
    columns = (*words, *counts, *_folded("title"))
    table = Table(*columns, box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=0)
    for protocol, rows in zip(protocols, families, strict=True):
        found = {
            "variants": len(rows) - 1,
            "scopes": sum(one.scopes for one in rows),
            "mutants": sum(one.mutants for one in rows),
            "lemmas": sum(one.lemmas for one in rows),
        }
        table.add_row(
            protocol.name,
            protocol.evidence.expected.value,
            *(_number(found[name]) for name in numbers),
            protocol.words.title,
        )
    return table


def _fitting(protocols: Sequence[Protocol]) -> Sequence[str]:
    """The first numbers, as many as the longest title leaves room for."""
    name = max(len(protocol.name) for protocol in protocols)
    title = max(len(protocol.words.title) for protocol in protocols)
    room = console.width - name - len(" verdict ") - title
    widths = accumulate(len(f"{name} ") for name in NUMBERS)
    return NUMBERS[: sum(width <= room for width in widths)]


def _variants(rows: Iterable[ListedProtocol]) -> Table:
    table = Table(*_folded("protocol", "expected", "scopes", "mutants", "lemmas", "finding"))
    for row in rows:
        table.add_row(
            row.protocol,
            row.expected.value,
            str(row.scopes),
            _number(row.mutants),
            _number(row.lemmas),
            row.finding,
        )
    return table


def _quantities(quantities: Mapping[str, Sequence[Quantity]]) -> Table:
    table = Table(*_folded("quantity", "of", "unit", "meaning"))
    for of, some in quantities.items():
        for one in some:
            table.add_row(one.name, of, one.unit, one.description)
    return table


def _folded(*names: str) -> list[Column]:
    """Columns whose words are never cut, also in narrow terminals."""
    return [Column(name, overflow="fold") for name in names]


def _number(count: int) -> str:
    return str(count or "")
