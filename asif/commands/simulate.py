"""`asif simulate`: simulate one timed run of a scenario."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from asif.console import JsonOption, print_all, save, write


def simulate(
    scenario: Annotated[
        Path, typer.Argument(metavar="SCENARIO.toml", help="A scenario, as in docs/scenarios.")
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Replace a value of the file; may be repeated."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png", help="Plot latency, backup and queues over time."),
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write Chrome trace events, for Perfetto.")
    ] = None,
    allow_cut_off: Annotated[
        bool,
        typer.Option(
            "--allow-cut-off", help="Exit with 0 although the input ends before a node caught up."
        ),
    ] = False,
    until_caught_up: Annotated[
        bool,
        typer.Option(
            "--until-caught-up",
            help="Double the events of the random stream until every recovery has ended.",
        ),
    ] = False,
    json_: JsonOption = None,
) -> None:
    """Simulate one timed run: the costs of recovery, and is the output as if nothing had failed?

    Exit code 1 also means that the input ended before a node had caught up.
    """
    from reports import commands
    from reports.progress import progress
    from reports.results import simulation_plots
    from sim.scenarios import longer, run
    from sim.scenarios import scenario as scenarios
    from sim.scenarios.overrides import overrides
    from sim.timed.trace import chrome

    draft = scenarios.draft(scenario).override(overrides(set_ or ()))
    with progress() as watch:
        part, traced = partial(watch, "simulating"), trace is not None
        if until_caught_up:
            result = longer.simulate_until_caught_up(draft, watch=part, traced=traced)
        else:
            result = run.simulate(scenarios.check_draft(draft), watch=part, traced=traced)
    print_all(commands.simulation(result))
    if plot is not None:
        write(plot, simulation_plots.over_time_png(result))
    if trace is not None:
        write(trace, chrome(result))
    save(json_, {name: value for name, value in result.items() if name != "steps"})
    cut_off = result["metrics"]["recoveries_cut_off"] and not allow_cut_off
    if not result["same"] or cut_off:
        raise typer.Exit(1)
