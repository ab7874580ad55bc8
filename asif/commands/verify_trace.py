"""`asif verify-trace`: two output logs of any engine."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from asif.console import ConfOption, JsonOption, MasterOption, print_all, save, settings

COLUMNS = "COL[,COL]"


class RecoveryType(StrEnum):
    PRECISE = "precise"
    REPEATING = "repeating"
    CONVERGENT = "convergent"
    DIVERGENT = "divergent"
    GAP = "gap"


def verify_trace(
    reference: Annotated[Path, typer.Argument(help="Output of a run without failures.")],
    actual: Annotated[Path, typer.Argument(help="Output of a run with some.")],
    key: Annotated[
        list[str] | None,
        typer.Option(metavar=COLUMNS, help="Names the streams: between them any order will do."),
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option(metavar=COLUMNS, help="How rows stand in a stream; else as in the files."),
    ] = None,
    id_: Annotated[
        list[str] | None,
        typer.Option("--id", metavar=COLUMNS, help="Names a result, whatever it says."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar=COLUMNS, help="Need not agree: times of output.")
    ] = None,
    expect: Annotated[
        RecoveryType, typer.Option(help="What is good enough.")
    ] = RecoveryType.PRECISE,
    show: Annotated[int, typer.Option(min=1, help="Differences shown, of each kind.")] = 3,
    master: MasterOption = "local[*]",
    conf: ConfOption = None,
    json_: JsonOption = None,
) -> None:
    """Two output logs of any engine (Parquet, CSV, JSON lines): which type of recovery was it?"""
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
