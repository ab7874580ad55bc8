"""`asif simulate`: simulate one timed run of a scenario."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from asif.console import FreshOption, JsonOption, publish
from asif.early import result_file, result_picture
from asif.force import resumption
from asif.names import scenarios
from model.errors import Invalid
from model.machine.supervision import resumable

if TYPE_CHECKING:
    from model.results.explanation import ExplainedTable
    from model.results.simulation import Simulation
    from reports.commands import Output

ScenarioArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="SCENARIO.toml",
        help="A scenario, as in docs/scenarios; with --explain, the name of a protocol.",
        autocompletion=scenarios,
    ),
]
SetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="Replace a value of the file; may be repeated."
    ),
]
PlotOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.SUFFIX",
        help="Plot latency, backup and queues over time: svg, pdf, png.",
        callback=result_picture,
    ),
]
TraceOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Write Chrome trace events, for Perfetto.", callback=result_file
    ),
]
CutOffOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--allow-cut-off", help="Exit with 0 although the input ends before a node caught up."
    ),
]
CaughtUpOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--until-caught-up",
        help="Double the events of the random stream until every recovery has ended.",
    ),
]
ExplainOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--explain",
        help="Print the keys of a scenario and the knobs of a protocol, and simulate nothing.",
    ),
]
LongOption: TypeAlias = Annotated[
    bool, typer.Option("--long", help="Print every key that --explain can print.")
]
WhichOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--which", help="Print which protocols can run the scenario, and why others cannot."
    ),
]
StudyOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--study",
        help="Estimate costs an hour and availability from failure rates (mean_between_s).",
    ),
]


def simulate(
    scenario: ScenarioArgument = None,
    set_: SetOption = None,
    plot: PlotOption = None,
    trace: TraceOption = None,
    allow_cut_off: CutOffOption = False,
    until_caught_up: CaughtUpOption = False,
    explain: ExplainOption = False,
    long: LongOption = False,
    which: WhichOption = False,
    study: StudyOption = False,
    fresh: FreshOption = False,
    json_: JsonOption = None,
) -> None:
    """Simulate one timed run: the costs of recovery, and is the output as if nothing had failed?

    Exit code 1 also means that the input ended before a node had caught up.
    """
    from asif.progress import show_progress
    from reports import commands
    from sim.scenarios import longer, run
    from sim.scenarios import scenario as scenarios
    from sim.scenarios.overrides import overrides

    one_run = bool(plot or trace or until_caught_up or allow_cut_off)
    if long and not explain:
        raise Invalid("--long prints all keys: give --explain, too")
    if explain:
        if which:
            raise Invalid("--explain prints keys, and --which protocols; give one of them")
        if set_ or study or one_run:
            raise Invalid("--explain simulates nothing; give it with --json alone")
        _explain(scenario, json_, long=long)
        return
    if which:
        if study or one_run:
            raise Invalid("--which simulates nothing; give it with --set and --json alone")
        _which(scenario, set_ or (), json_)
        return
    file = _file(scenario, fresh=fresh, study=study)
    if study:
        if one_run:
            raise Invalid("--study has many runs; give it with --set and --json alone")
        _study(file, set_ or (), json_, fresh=fresh)
        return
    draft = scenarios.draft(file).override(overrides(set_ or ()))
    with show_progress() as progress:
        traced = trace is not None
        if until_caught_up:
            result = longer.simulate_until_caught_up(draft, progress=progress, traced=traced)
        else:
            result = run.simulate(scenarios.check_draft(draft), progress=progress, traced=traced)
    drawn = _files(result, plot, trace)
    publish(commands.simulation(result), replace(result, steps=None), json_, drawn)
    if not result.as_promised or (result.metrics.recoveries_cut_off and not allow_cut_off):
        raise typer.Exit(1)


def _files(result: Simulation, plot: Path | None, trace: Path | None) -> dict[Path, str | bytes]:
    """The content of the files that the user asked for."""
    from reports.diagrams.picture import files
    from reports.results import simulation_plots
    from sim.timed.trace import chrome

    drawn: dict[Path, str | bytes] = {}
    if plot is not None:
        drawn |= files(simulation_plots.picture(result), plot)
    if trace is not None:
        drawn[trace] = chrome(result)
    return drawn


def _file(scenario: str | None, *, fresh: bool, study: bool) -> str:
    if scenario is None:
        raise Invalid("simulate: give a scenario, as in docs/scenarios; or --explain")
    if fresh and not study:
        raise Invalid("--fresh is for --study: give both, or neither")
    return scenario


def _explain(protocol: str | None, json_: Path | None, *, long: bool) -> None:
    from model.registry import modules, subject
    from sim.scenarios.explain import explain_knobs, explain_tables

    if protocol is not None and protocol.endswith(".toml"):
        raise Invalid(f"--explain {protocol}: give the name of a protocol, as in asif list")
    tables = explain_tables() if protocol is None else ()
    names = [protocol] if protocol else [family.name for family in modules().values()]
    knobs = [table for name in names for table in explain_knobs(subject(name).protocol)]
    found = (*tables, *knobs)
    publish(_explanation(tables, knobs, long=long or protocol is not None), found, json_)


def _explanation(
    tables: Sequence[ExplainedTable], knobs: Sequence[ExplainedTable], *, long: bool
) -> Output:
    """All keys, or the names of the tables and the way to the rest."""
    from reports import commands

    yield from commands.explanation((*tables, *knobs) if long else tables, long=long)
    if not long:
        yield "knobs and timers of a protocol: asif simulate --explain NAME"
        yield "(--long: every key of every table, with its values, unit, default and meaning)"


def _which(scenario: str | None, set_: Sequence[str], json_: Path | None) -> None:
    from reports import commands
    from sim.scenarios.overrides import overrides
    from sim.scenarios.scenario import draft
    from sim.scenarios.which import which

    if scenario is None:
        raise Invalid("--which: give a scenario, as in docs/scenarios")
    found = which(draft(scenario).override(overrides(set_)))
    publish(commands.fits(found), found, json_)


def _study(scenario: str, set_: Sequence[str], json_: Path | None, *, fresh: bool) -> None:
    from asif.progress import show_progress
    from reports import commands
    from sim.scenarios.overrides import overrides
    from sim.scenarios.scenario import draft
    from sim.sweeps.study import study

    asked = draft(scenario).override(overrides(set_))
    kept = Path("build/study") / f"{asked.path.stem}.jsonl"
    with resumable(), show_progress() as progress:
        result = study(asked, kept, progress, resumption(fresh))
    publish(commands.study(result), result, json_)
    if not result.narrow:
        raise typer.Exit(1)
