"""`asif verify-trace`: compare two output logs of any engine."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from asif.console import (
    ConfOption,
    JsonOption,
    WaitOption,
    print_aside,
    publish,
    refuse_without_master,
    settings,
)
from asif.limits import SHOWN, at_most, finite, names

COLUMNS = "COL[,COL]"


class RecoveryType(StrEnum):
    PRECISE = "precise"
    REPEATING = "repeating"
    CONVERGENT = "convergent"
    DIVERGENT = "divergent"
    GAP = "gap"


ReferenceArgument: TypeAlias = Annotated[
    Path, typer.Argument(help="The output of a run without failures.")
]
ActualArgument: TypeAlias = Annotated[
    Path, typer.Argument(help="The output of a run with failures.")
]
KeyOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar=COLUMNS, help="The key of a stream; the order between streams is free."),
]
OrderOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar=COLUMNS, help="The order of rows in a stream; default: as in the files."),
]
IdOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--id", metavar=COLUMNS, help="The identity of a result, whatever its values."),
]
IgnoreOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar=COLUMNS, help="Columns that may differ, such as times of output."),
]
LineageOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="COL", help="The inputs that a row was made of: an array, or text with spaces."
    ),
]


class Sink(StrEnum):
    SEQUENCE = "sequence"
    BAG = "bag"
    SET = "set"
    TABLE = "table"


SinkOption: TypeAlias = Annotated[
    Sink,
    typer.Option(help="How rows compare: in order, in any order, as a set, the last one by --id."),
]
CloseOption: TypeAlias = Annotated[
    float | None,
    typer.Option(
        min=0, metavar="SHARE", help="How far floats may differ, such as 1e-9.", callback=finite
    ),
]
ExpectOption: TypeAlias = Annotated[
    RecoveryType, typer.Option(help="The weakest type that is good enough.")
]
ShowOption: TypeAlias = Annotated[
    int,
    typer.Option(min=1, help="Show so many differences of each kind.", callback=at_most(SHOWN)),
]
SmallMasterOption: TypeAlias = Annotated[
    str | None, typer.Option(help="Set Spark's master, as in local[4]; small logs need none.")
]


def verify_trace(
    reference: ReferenceArgument,
    actual: ActualArgument,
    key: KeyOption = None,
    order: OrderOption = None,
    id_: IdOption = None,
    ignore: IgnoreOption = None,
    lineage: LineageOption = None,
    sink: SinkOption = Sink.SEQUENCE,
    close: CloseOption = None,
    expect: ExpectOption = RecoveryType.PRECISE,
    show: ShowOption = 3,
    master: SmallMasterOption = None,
    conf: ConfOption = None,
    wait: WaitOption = None,
    json_: JsonOption = None,
) -> None:
    """Compare two output logs of any engine (Parquet, CSV, JSON lines): which type of recovery?"""
    from asif.progress import show_progress
    from model.comparison import Shape
    from model.core import Guarantee
    from reports.results import traces
    from spark_check.traces.verify import verify

    given = {"key": key, "order": order, "id": id_, "ignore": ignore}
    columns = {name: names(f"--{name}", texts or ()) for name, texts in given.items()}
    columns["lineage"] = names("--lineage", [] if lineage is None else [lineage])
    refuse_without_master(master, (), wait)
    with show_progress() as progress:
        result = verify(
            reference,
            actual,
            **columns,
            sink=Shape(sink.value),
            close=close,
            expect=Guarantee[expect.name],
            show=show,
            master=master,
            conf=settings(conf),
            wait=wait,
            say=print_aside,
            progress=progress,
        )
    publish(traces.render(result), result, json_)
    if not result.holds:
        raise typer.Exit(1)
