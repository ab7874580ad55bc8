"""`asif verify-trace`: compare two output logs of any engine."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from asif.console import ConfOption, JsonOption, print_all, save, settings

COLUMNS = "COL[,COL]"


class RecoveryType(StrEnum):
    PRECISE = "precise"
    REPEATING = "repeating"
    CONVERGENT = "convergent"
    DIVERGENT = "divergent"
    GAP = "gap"


def verify_trace(
    reference: Annotated[Path, typer.Argument(help="The output of a run without failures.")],
    actual: Annotated[Path, typer.Argument(help="The output of a run with failures.")],
    key: Annotated[
        list[str] | None,
        typer.Option(
            metavar=COLUMNS, help="The key of a stream; the order between streams is free."
        ),
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option(
            metavar=COLUMNS, help="The order of rows in a stream; default: as in the files."
        ),
    ] = None,
    id_: Annotated[
        list[str] | None,
        typer.Option(
            "--id", metavar=COLUMNS, help="The identity of a result, whatever its values."
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar=COLUMNS, help="Columns that may differ, such as times of output."),
    ] = None,
    lineage: Annotated[
        str | None,
        typer.Option(
            metavar="COL", help="The inputs that a row was made of: an array, or text with spaces."
        ),
    ] = None,
    close: Annotated[
        float | None,
        typer.Option(min=0, metavar="SHARE", help="How far floats may differ, such as 1e-9."),
    ] = None,
    expect: Annotated[
        RecoveryType, typer.Option(help="The weakest type that is good enough.")
    ] = RecoveryType.PRECISE,
    show: Annotated[int, typer.Option(min=1, help="Show so many differences of each kind.")] = 3,
    master: Annotated[
        str | None, typer.Option(help="Set Spark's master, as in local[4]; small logs need none.")
    ] = None,
    conf: ConfOption = None,
    json_: JsonOption = None,
) -> None:
    """Compare two output logs of any engine (Parquet, CSV, JSON lines): which type of recovery?"""
    from model.core import Guarantee
    from reports.progress import progress
    from reports.results import traces
    from spark_check.traces.verify import verify

    with progress() as watch:
        result = verify(
            reference,
            actual,
            key=_columns(key),
            order=_columns(order),
            id=_columns(id_),
            ignore=_columns(ignore),
            lineage=[lineage] if lineage else [],
            close=close,
            expect=Guarantee[expect.name],
            show=show,
            master=master,
            conf=settings(conf),
            tell=watch,
        )
    print_all(traces.render(result))
    save(json_, result)
    if not result["holds"]:
        raise typer.Exit(1)


def _columns(texts: Sequence[str] | None) -> list[str]:
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]
