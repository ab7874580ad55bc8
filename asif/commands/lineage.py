"""`asif lineage`: what an event was made of, and what it went into, by a log of LOG.io."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from asif.console import JsonOption, print_all, save, write
from model.errors import Invalid

if TYPE_CHECKING:
    from spark_check.log_io.library import Log
    from spark_check.log_io.library.capture import Port


def lineage(
    place: Annotated[
        str, typer.Argument(metavar="LOG", help="A file of SQLite, or a URL of PostgreSQL.")
    ],
    event: Annotated[
        str, typer.Argument(metavar="OPERATOR.PORT#NUMBER", help="An event, as in ledger.book#3.")
    ],
    forward: Annotated[
        bool, typer.Option("--forward", help="What it went into, not what it was made of.")
    ] = False,
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="FROM:TO", help="Only lineage between two ports, as shop.sales:sums.totals."
        ),
    ] = None,
    record: Annotated[
        str | None,
        typer.Option(metavar="JSON", help="A record of the event, whose inputs are wanted."),
    ] = None,
    depends: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OPERATOR.INPUT=OUTPUT",
            help="An attribute of an operator's outputs is one of its inputs'; may be repeated.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Draw the lineage into this folder.")
    ] = None,
    json_: JsonOption = None,
) -> None:
    """Print the lineage of an event: backward, forward, within a scope, or of a record."""
    from reports import commands
    from spark_check.log_io.library import lineage as queries

    if record is not None and (forward or scope):
        raise Invalid("--record: refines lineage backward, and the whole of it; give it alone")
    if out is not None and forward:
        raise Invalid("--out: the picture shows what an event was made of; leave --forward out")
    operator, port, number = _read_event(event)
    with _opened(place) as log:
        try:
            key = queries.find(log, operator, port, number)
        except KeyError:
            raise Invalid(
                f"{place} has no event {event}: was its lineage captured, and is it retained?"
            ) from None
        if record is not None:
            found = _records(log, key, record, depends or [])
        else:
            query = queries.forward if forward else queries.backward
            found = [*map(_row, query(log, key, _ports(log, scope)))]
        result = {"event": event, "forward": forward, "scope": scope, "found": found}
        print_all(commands.lineage(result))
        if out is not None:
            from reports.diagrams.lineage import picture

            graph = queries.graph(log, key, _ports(log, scope))
            write(out / f"{operator}-{port}-{number}.svg", picture(graph))
    save(json_, result)


def _read_event(text: str) -> tuple[str, str, int]:
    operator, dot, rest = text.partition(".")
    port, hash_, number = rest.rpartition("#")
    if not (operator and dot and port and hash_ and number.isdigit()):
        raise Invalid(f"{text}: write OPERATOR.PORT#NUMBER, as in ledger.book#3")
    return operator, port, int(number)


def _opened(place: str) -> Log:
    from sqlite3 import DatabaseError

    from psycopg import Error

    from spark_check.log_io.library import Log

    try:
        return Log(place, read_only=True)
    except FileNotFoundError:
        raise Invalid(f"{place}: no such file; give a log of LOG.io") from None
    except (DatabaseError, Error) as error:
        raise Invalid(f"{place} is no log of LOG.io: {str(error).splitlines()[0]}") from None


def _ports(log: Log, scope: str | None) -> frozenset[Port] | None:
    """The output ports on the paths of a scope."""
    if scope is None:
        return None
    from spark_check.log_io.library.capture import Scope, ports_between
    from spark_check.log_io.library.lineage import connections

    ends = [tuple(one.split(".", 1)) for one in scope.split(":")]
    if len(ends) != 2 or any(len(one) != 2 for one in ends):
        raise Invalid(f"--scope {scope}: write FROM:TO, as in shop.sales:sums.totals")
    (start, end) = ((one[0], one[1]) for one in ends)
    try:
        return ports_between(connections(log), Scope(start, end))
    except ValueError as error:
        raise Invalid(f"--scope {scope}: {error}") from None


def _row(found: Any) -> dict[str, Any]:
    return {
        "event": f"{found.sender}.{found.port}#{found.number}",
        "source": found.is_source,
        "body": found.body.decode(errors="replace"),
    }


def _records(log: Log, key: Any, record: str, depends: list[str]) -> list[dict[str, Any]]:
    from spark_check.log_io.library.records import records_behind

    try:
        wanted = json.loads(record)
    except json.JSONDecodeError as error:
        raise Invalid(f"--record {record}: not JSON: {error}") from None
    try:
        behind = records_behind(log, key, wanted, [*_dependencies(depends)])
    except KeyError as error:
        raise Invalid(f"--depends: a record has no attribute {error}") from None
    return [
        {
            "event": f"{one.event[0]}.{one.event[1] or one.event[2]}#{one.event[3]}",
            "source": True,
            "body": json.dumps(one.record),
        }
        for one in behind
    ]


def _dependencies(texts: list[str]) -> Iterator[Any]:
    from spark_check.log_io.library.records import Dependency

    for text in texts:
        used, equals, made = text.partition("=")
        operator, dot, attribute = used.partition(".")
        if not (equals and dot and operator and attribute and made):
            raise Invalid(f"--depends {text}: write OPERATOR.INPUT=OUTPUT, as in sums.item=item")
        yield Dependency(operator, attribute, made)
