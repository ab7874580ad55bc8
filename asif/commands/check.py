"""`asif check`: explore every small world, and attack at random."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from asif.commands.duties import print_duties
from asif.commands.pin import PinnedFile, file_to_pin, write_pins
from asif.console import (
    CONF_HELP,
    JSON_HELP,
    PROFILE_HELP,
    Profile,
    calls_on_spark,
    console,
    print_all,
    read_bytes,
    save,
    settings,
    write,
)
from asif.processes import call_all
from model.errors import Invalid

if TYPE_CHECKING:
    from model.calls import EndedCall, Execute
    from model.results.attack import AttackFailure
    from model.results.verdict import ScopeCounterexample, ScopeVerdict, Verdict
    from proofs.explore.search.meter import Budget
    from proofs.explore.tasks import Task, TaskResult


PAYS_WORLDS = 500_000
"""Processes pay if all tasks together take as long as the exploration of more worlds than this."""
TRY, FAR, WRITE = "What to try", "How far", "What to write"
"""The groups of options in the help."""

NameArgument: TypeAlias = Annotated[
    str | None, typer.Argument(metavar="[NAME|FILE.py[:VARIANT]]", help="A protocol.")
]
AllOption: TypeAlias = Annotated[
    bool,
    typer.Option("--all", help="Check every registered protocol and variant.", rich_help_panel=TRY),
]
MutantsOption: TypeAlias = Annotated[
    bool, typer.Option("--mutants", help="Hunt the mutants as well.", rich_help_panel=TRY)
]
DutiesOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--duties", help="Check the rules that every protocol keeps, alone.", rich_help_panel=TRY
    ),
]
ScopeOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scope",
        metavar="SCOPE",
        help="Explore this scope alone; with --master, all of Spark explores it.",
        rich_help_panel=TRY,
    ),
]
CheckProfileOption: TypeAlias = Annotated[
    Profile, typer.Option(help=PROFILE_HELP, rich_help_panel=FAR)
]
WalksOption: TypeAlias = Annotated[
    int | None, typer.Option(min=0, help="Set the number of random walks.", rich_help_panel=FAR)
]
ExamplesOption: TypeAlias = Annotated[
    int | None,
    typer.Option(min=1, help="Set the number of random runs by Hypothesis.", rich_help_panel=FAR),
]
WorkersOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Set the number of processes; default: one a core, if that pays.",
        rich_help_panel=FAR,
    ),
]
SparkOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Check on Spark, as in spark://host:7077; default: here.", rich_help_panel=FAR
    ),
]
CheckConfOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help=CONF_HELP, rich_help_panel=FAR),
]
LimitOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Explore a scope up to the level that passes so many worlds.",
        rich_help_panel=FAR,
    ),
]
SecondsOption: TypeAlias = Annotated[
    float | None,
    typer.Option(min=0, help="Explore a scope no longer than that.", rich_help_panel=FAR),
]
MemoryOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Explore a scope until its process has so much, as in 4GiB.", rich_help_panel=FAR
    ),
]
SpillOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Keep the worlds of --scope on disk: go on there, whatever they need.",
        rich_help_panel=FAR,
    ),
]
WholeOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--whole", help="Visit every world, also where fewer show the same.", rich_help_panel=FAR
    ),
]
UnfinishedOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--allow-unfinished", help="Exit 0 when such a budget is spent.", rich_help_panel=FAR
    ),
]
OutOption: TypeAlias = Annotated[
    Path,
    typer.Option(help="Write diagrams and replaying tests to this folder.", rich_help_panel=WRITE),
]
PinOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--pin", help="Write the numbers that are found into FILE.py.", rich_help_panel=WRITE
    ),
]
YesOption: TypeAlias = Annotated[
    bool, typer.Option("--yes", help="Let --pin write without a question.", rich_help_panel=WRITE)
]
CheckJsonOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help=JSON_HELP, rich_help_panel=WRITE),
]


def check(
    name: NameArgument = None,
    all_: AllOption = False,
    mutants: MutantsOption = False,
    duties: DutiesOption = False,
    scope: ScopeOption = None,
    profile: CheckProfileOption = Profile.QUICK,
    walks: WalksOption = None,
    examples: ExamplesOption = None,
    workers: WorkersOption = None,
    master: SparkOption = None,
    conf: CheckConfOption = None,
    limit: LimitOption = None,
    seconds: SecondsOption = None,
    memory: MemoryOption = None,
    spill: SpillOption = None,
    whole: WholeOption = False,
    allow_unfinished: UnfinishedOption = False,
    pin: PinOption = False,
    yes: YesOption = False,
    out: OutOption = Path("build/check"),
    json_: CheckJsonOption = None,
) -> None:
    """Explore every small world, and attack at random: verdict, coverage, counterexample."""
    from asif import one_scope
    from asif.progress import show_progress
    from proofs.explore.verdict import verdicts

    budget = _budget(limit, seconds, memory)
    if scope is not None:
        others = {"all": all_, "mutants": mutants, "duties": duties, "pin": pin, "yes": yes}
        runs = {"walks": walks, "examples": examples, "workers": workers}
        one_scope.refuse({**others, **runs, "profile full": profile is Profile.FULL})
        where = master, settings(conf), out / "_spark", spill
        alone = one_scope.check_scope(name, scope, budget, *where, reduce=not whole)
        _end_scope(alone, out, json_, allow_unfinished=allow_unfinished)
        return
    if spill is not None:
        raise Invalid("--spill keeps the worlds of one scope: name it with --scope, too")
    file = file_to_pin(None if all_ or duties else name, pin=pin, yes=yes)
    if duties:
        print_duties(name, json_, more=all_ or mutants)
        return
    names = _names(name, all_, mutants)
    execute = _execute(workers, master, settings(conf), out / "_spark")
    with show_progress() as progress:
        results = verdicts(
            names,
            profile=profile.value,
            walks=walks,
            examples=examples,
            mutants=mutants,
            budget=budget,
            reduce=not whole,
            execute=execute,
            progress=progress,
        )
    if not all_:
        _show_readings(*names)
    _end(results, out, json_, file, all_=all_, allow_unfinished=allow_unfinished)


def _end(
    results: Sequence[Verdict],
    out: Path,
    json_: Path | None,
    file: PinnedFile | None,
    *,
    all_: bool,
    allow_unfinished: bool,
) -> None:
    """Print and write the results; raises Exit if one is not as it should be.  file: to pin."""
    from model.evidence import Outcome
    from proofs.explore.verdict import good
    from reports.results import verdicts as output

    if all_:
        print_all(output.verdicts(results))
    for result in results:
        if not (all_ and good(result, unfinished=allow_unfinished)):
            _show(result, out)
    save(json_, results if all_ else results[0])
    if file is not None:
        as_said = write_pins(file, results[0])
    else:
        as_said = all(good(result, unfinished=allow_unfinished) for result in results)
        as_said &= all_ or results[0].outcome is not Outcome.REFUTED
    if not as_said:
        raise typer.Exit(1)


def _end_scope(
    result: ScopeVerdict, out: Path, json_: Path | None, *, allow_unfinished: bool
) -> None:
    """As `_end`, for one scope."""
    from asif.one_scope import good
    from reports.results import verdicts as output

    print_all(output.scope(result))
    if result.scope.counterexample is not None:
        _draw(result.scope.counterexample, result.protocol, out)
    save(json_, result)
    if not good(result, unfinished=allow_unfinished):
        raise typer.Exit(1)


def _names(name: str | None, all_: bool, mutants: bool) -> list[str]:
    """The protocols to check, as every process finds them."""
    from model.registry import absolute, protocols, subject

    if (name is None) != all_:
        raise Invalid("check: give either a protocol or --all; `asif list` has the protocols")
    if name is None:
        return [*protocols()]
    protocol = subject(name).protocol
    if mutants and not protocol.evidence.mutants:
        raise Invalid(f"{protocol.name} has no mutants")
    return [absolute(name)]


def _budget(limit: int | None, seconds: float | None, memory: str | None) -> Budget:
    from proofs.explore.search.meter import Budget

    if seconds is not None and math.isnan(seconds):
        raise Invalid("--seconds nan: write a number, as in 60")
    return Budget(limit, seconds, None if memory is None else read_bytes(memory))


def _execute(
    workers: int | None, master: str | None, conf: Mapping[str, str], work: Path
) -> Execute[Task, TaskResult]:
    """Where tasks are performed.  work: the folder for Spark's log and spills."""
    if master is None:
        if conf:
            raise Invalid("--conf is for Spark: give --master, too")
        return in_processes(workers)
    if workers is not None:
        raise Invalid("--workers is for processes of this machine: leave it out with --master")
    return calls_on_spark(work, master, conf, size=1)


def in_processes(workers: int | None = None) -> Execute[Task, TaskResult]:
    """An Execute in processes of this machine; workers: how many; None: one a core if that pays.

    A process stays with a protocol and its variants as long as it can: their scopes share graphs,
    whose classes it derives once.
    """

    def execute(
        call: Callable[[Task], TaskResult], tasks: Sequence[Task]
    ) -> Generator[list[EndedCall[TaskResult]], None, None]:
        pays = sum(task.worlds for task in tasks) > PAYS_WORLDS
        return call_all(call, tasks, workers or (None if pays else 1), kind=lambda task: task.of)

    return execute


def _show_readings(name: str) -> None:
    """Show the words that the protocol reads otherwise, and the lines that it has therefore."""
    from model.patches import diff, readings_of
    from model.registry import subject

    for reading in readings_of(subject(name).protocol.behaviour):
        console.print(f"{reading.quote}:", markup=False, highlight=False)
        console.print(diff(reading.changes), markup=False, highlight=False, soft_wrap=True)


def _show(result: Verdict, out: Path) -> None:
    from model.evidence import Outcome
    from reports.results import verdicts as output

    print_all(output.verdict(result))
    if result.outcome is Outcome.REFUTED:
        _write_failures(result, out)
    if result.mutants is not None:
        print_all(output.mutants(result.mutants))


def _write_failures(result: Verdict, out: Path) -> None:
    """Write the shortest counterexample as a diagram, and a test that replays the failure of the
    attack."""
    failure = result.attack.failure
    found = result.shortest or failure
    if found is not None:
        _draw(found, result.protocol, out)
    if failure is not None:
        stem = "test_" + result.protocol.replace(":", "_").replace("-", "_")
        write(out / f"{stem}.py", failure.pytest)


def _draw(found: ScopeCounterexample | AttackFailure, protocol: str, out: Path) -> None:
    """Print and write the diagram of a run."""
    from reports.diagrams import spacetime, terminal

    story, law, culprit = found.story, found.property, found.culprit
    console.print(terminal.style(story, caption=law, culprit=culprit))
    stem = protocol.replace(":", "-")
    write(out / f"{stem}.svg", spacetime.svg(story, caption=law, culprit=culprit))
