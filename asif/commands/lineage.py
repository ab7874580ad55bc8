"""`asif lineage`: the inputs behind an event, and the outputs made of it, by a log of LOG.io."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias
from urllib.parse import quote

import typer

from asif.console import JsonOption, publish
from asif.early import result_folder
from asif.lineage_answers import AnswerOfEvents, AnswerOfRecords, LineageAnswer, json_of
from model.errors import Invalid
from model.results.lineage import (
    LineageResult,
    ListedPort,
    LogVerification,
    PortsResult,
    VerifiedTable,
)

if TYPE_CHECKING:
    from spark_check.log_io.library import Log
    from spark_check.log_io.library.capture import Port
    from spark_check.log_io.library.records import Dependency
    from spark_check.log_io.library.values import Key


LISTED = 100
"""How many events are printed; JSON has all of them."""


class Question(NamedTuple):
    """The question of the user about an event.  scope, record and depends: as written."""

    event: str
    forward: bool
    scope: str | None
    record: str | None
    depends: Sequence[str]


LogArgument: TypeAlias = Annotated[
    str, typer.Argument(metavar="LOG", help="A file of SQLite, or a URL of PostgreSQL.")
]
EventArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="OPERATOR.PORT#NUMBER",
        help="An event, as in ledger.book#3; without one, the ports in the log are listed.",
    ),
]
ForwardOption: TypeAlias = Annotated[
    bool, typer.Option("--forward", help="What it went into, not what it was made of.")
]
ScopeOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="FROM:TO", help="Only lineage between two ports, as shop.sales:sums.totals."
    ),
]
RecordOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="JSON",
        help="An object: only the inputs of the event's records that have its attributes.",
    ),
]
DependsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="OPERATOR.INPUT=OUTPUT",
        help="An attribute of an operator's outputs is one of its inputs'; it excludes no "
        "record that lacks it. May be repeated.",
    ),
]
VerifyOption: TypeAlias = Annotated[
    bool,
    typer.Option("--verify", help="Is the log whole?  Exit 1 if it is not; no event is asked for."),
]
OutOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Draw the lineage into this folder, as SVG.", callback=result_folder
    ),
]


def lineage(
    place: LogArgument,
    event: EventArgument = None,
    forward: ForwardOption = False,
    scope: ScopeOption = None,
    record: RecordOption = None,
    depends: DependsOption = None,
    out: OutOption = None,
    verify: VerifyOption = False,
    json_: JsonOption = None,
) -> None:
    """List the ports of a log, print the lineage of an event (backward, forward, of a record), or
    verify that the log is whole."""
    from reports import commands
    from spark_check.log_io.library.reading import read_log
    from spark_check.log_io.library.values import LogError

    if verify and event is not None:
        raise Invalid("--verify: it is about the whole log; give no event")
    if event is None and (forward or scope or record is not None or depends or out):
        raise Invalid("give an event, as in ledger.book#3: the options are about one")
    if record is not None and (forward or scope):
        raise Invalid("--record: refines lineage backward, and the whole of it; give it alone")
    if depends and record is None:
        raise Invalid("--depends: give the record too, as in --record '{\"greatest\": 103}'")
    try:
        with read_log(place) as log:
            if verify:
                verification = _verified(log)
                publish(commands.log_verification(verification), verification, json_)
                if not verification.whole:
                    raise typer.Exit(1)
            elif event is None:
                ports = PortsResult(tuple(_ports(log)))
                publish(commands.lineage_ports(ports), ports, json_)
            else:
                question = Question(event, forward, scope, record, depends or [])
                answer, asked = _ask(log, question)
                result = _result(log, question, answer, asked)
                drawing = None if out is None else out / f"{_file_name(question)}.svg"
                files = {} if drawing is None else {drawing: answer.picture()}
                as_json = partial(json_of, answer=answer)
                words = commands.lineage(result, answer.count)
                publish(words, result, json_, files, as_json=as_json)
    except LogError as error:
        raise Invalid(str(error)) from None


def _verified(log: Log) -> LogVerification:
    report = log.inspect()
    tables = tuple(VerifiedTable(*one) for one in report.tables)
    return LogVerification(report.is_whole, report.faults, tables)


def _ports(log: Log) -> Iterator[ListedPort]:
    from spark_check.log_io.library.lineage import ports

    for one in ports(log):
        yield ListedPort(
            port=f"{one.operator}.{one.port}",
            kind=one.kind.value,
            to=".".join(one.receiver) if one.receiver else None,
            first=one.numbers[0],
            last=one.numbers[1],
            events=one.events,
            lineage=one.origin.value,
        )


def _ask(log: Log, question: Question) -> tuple[LineageAnswer, Key]:
    """The answer, and the event that was asked for."""
    from spark_check.log_io.library.ancestry import ancestry
    from spark_check.log_io.library.records import records_graph, records_with

    key = _find(log, question.event)
    if question.record is None:
        ports = _scope(log, question.scope)
        if ports is not None and (key[0], key[1] or key[2]) not in ports:
            raise Invalid(f"--scope {question.scope}: {question.event} is not in this scope")
        found = ancestry(log, key, ports, ahead=question.forward)
        return AnswerOfEvents(log, found, question.forward), key
    wanted = _record(question.record)
    records = records_with(log, key, wanted)
    if not records:
        raise Invalid(f"--record {question.record}: {question.event} has no such record")
    graph = records_graph(log, key, records, [*_dependencies(log, question.depends)])
    return AnswerOfRecords(graph, [node for node in graph if node[:4] == key]), key


def _result(log: Log, question: Question, answer: LineageAnswer, asked: Key) -> LineageResult:
    """The result with its first events; json_of writes all of them."""
    found = tuple(islice(answer.events(), LISTED))
    return LineageResult(
        event=question.event,
        forward=question.forward,
        scope=question.scope,
        record=question.record,
        depends=tuple(question.depends),
        reason=None if found else _reason(log, question, asked),
        found=found,
        edges=(),
    )


def _reason(log: Log, question: Question, event: Key) -> str:
    """Why nothing was found.  Raises Invalid if the log cannot know."""
    from spark_check.log_io.library import lineage as queries

    if question.forward:
        if queries.kind_of(event) is queries.EventKind.WRITE:
            return "write"
        return "unused" if queries.is_unused(log, event) else "nothing known"
    origin = queries.origin(log, event)
    if origin is queries.Origin.UNKNOWN:
        port = question.event.partition("#")[0]
        raise Invalid(f"the lineage of {port} was not captured: no scope of the pipeline has it")
    return "source" if origin is queries.Origin.SOURCE else "nothing known"


def _find(log: Log, event: str) -> Key:
    from spark_check.log_io.library.lineage import find

    read = _read("NAME.NAME#([0-9]{1,18})", event)
    if read is None:
        raise Invalid(f"{event}: write OPERATOR.PORT#NUMBER, as in ledger.book#3")
    try:
        return find(log, read[1], read[2], int(read[3]))
    except KeyError:
        raise Invalid(
            f"the log has no event {event}: was its lineage captured, and is it retained?"
        ) from None


def _read(pattern: str, text: str) -> re.Match[str] | None:
    """The parts of an argument, if it is as the pattern says."""
    from spark_check.log_io.library.values import NAME

    return re.fullmatch(pattern.replace(".", r"\.").replace("NAME", f"({NAME.pattern})"), text)


def _scope(log: Log, scope: str | None) -> frozenset[Port] | None:
    """The output ports on the paths of a scope."""
    if scope is None:
        return None
    from spark_check.log_io.library.capture import Scope, ports_between
    from spark_check.log_io.library.lineage import connections, ports

    read = _read("NAME.NAME:NAME.NAME", scope)
    if read is None:
        raise Invalid(f"--scope {scope}: write FROM:TO, as in shop.sales:sums.totals")
    known = [(one.operator, one.port) for one in ports(log)]
    try:
        return ports_between(connections(log), Scope((read[1], read[2]), (read[3], read[4])), known)
    except ValueError as error:
        raise Invalid(f"--scope {scope}: {error}") from None


def _record(text: str) -> dict[str, Any]:
    from spark_check.log_io.library.records import decode_json

    try:
        record = decode_json(text.encode(errors="surrogateescape"))
    except ValueError as error:
        raise Invalid(f"--record {text}: no JSON object: {error}") from None
    if len(record) != 1 or text.lstrip().startswith("["):
        raise Invalid(f'--record {text}: give one JSON object, as in {{"greatest": 103}}')
    return dict(record[0])


def _dependencies(log: Log, texts: Sequence[str]) -> Iterator[Dependency]:
    from spark_check.log_io.library.lineage import ports
    from spark_check.log_io.library.records import Dependency

    known = {one.operator for one in ports(log)} if texts else set()
    for text in texts:
        read = _read("NAME.([^=]+)=([^=]+)", text)
        if read is None:
            raise Invalid(f"--depends {text}: write OPERATOR.INPUT=OUTPUT, as in sums.item=item")
        if read[1] not in known:
            raise Invalid(f"--depends {text}: the log has no operator {read[1]}")
        yield Dependency(read[1], read[2], read[3])


def _file_name(question: Question) -> str:
    """The name of a picture.  No name of a port has a dot, so two questions have two names."""
    parts = re.split("[.:#]", question.event)
    if question.forward:
        parts.append("forward")
    if question.scope is not None:
        parts += ["in", *re.split("[.:]", question.scope)]
    if question.record is not None:
        text = json.dumps([question.record, *question.depends])
        parts += ["record", sha256(text.encode()).hexdigest()[:8]]
    return ".".join(quote(part, safe=" ") for part in parts)
