"""`asif check`: explore every small world, and attack at random."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType

from asif import one_scope
from asif.commands.check_options import (
    AllOption,
    CheckConfOption,
    CheckJsonOption,
    CheckProfileOption,
    CheckWaitOption,
    DutiesOption,
    ExamplesOption,
    LimitOption,
    LongOption,
    MemoryOption,
    MutantsOption,
    NameArgument,
    OperatorsOption,
    OutOption,
    PinOption,
    RunOption,
    ScopeOption,
    SecondsOption,
    SparkOption,
    SpillFreshOption,
    SpillOption,
    UnfinishedOption,
    WalksOption,
    WholeOption,
    WorkersOption,
    YesOption,
)
from asif.commands.duties import print_duties
from asif.commands.pin import PinnedFile, file_to_pin, write_pins
from asif.console import (
    Exact,
    Profile,
    calls_on_spark,
    publish,
    read_bytes,
    refuse_without_master,
    settings,
)
from asif.drawings import FormatOption, pictures
from asif.processes import call_all
from model.errors import Invalid
from model.machine.supervision import resumable

if TYPE_CHECKING:
    from model.calls import EndedCall, Execute
    from model.core import OperatorClass
    from model.results.attack import AttackFailure
    from model.results.verdict import ScopeCounterexample, ScopeVerdict, Verdict
    from proofs.explore.search.meter import Budget
    from proofs.explore.tasks import Task, TaskResult


GOES_WITH_RUN = ("name", "run", "out", "_format", "json_", "long", "force")
"""The parameters that say something about a saved run."""
PAYS_WORLDS = 500_000
"""Processes pay if all tasks together take as long as the exploration of more worlds than this."""


def check(
    name: NameArgument = None,
    all_: AllOption = False,
    mutants: MutantsOption = False,
    operators: OperatorsOption = None,
    duties: DutiesOption = False,
    scope: ScopeOption = None,
    run: RunOption = None,
    profile: CheckProfileOption = Profile.QUICK,
    walks: WalksOption = None,
    examples: ExamplesOption = None,
    workers: WorkersOption = None,
    master: SparkOption = None,
    conf: CheckConfOption = None,
    wait: CheckWaitOption = None,
    limit: LimitOption = None,
    seconds: SecondsOption = None,
    memory: MemoryOption = None,
    spill: SpillOption = None,
    fresh: SpillFreshOption = False,
    whole: WholeOption = False,
    allow_unfinished: UnfinishedOption = False,
    pin: PinOption = False,
    yes: YesOption = False,
    long: LongOption = False,
    out: OutOption = Path("build/check"),
    _format: FormatOption = "svg",
    json_: CheckJsonOption = None,
) -> None:
    """Explore every small world, and attack at random: verdict, coverage, counterexample."""
    budget = _budget(limit, seconds, memory)
    if run is not None:
        _replay(name, run, out, json_, long=long)
        return
    if scope is not None:
        others = {"all": all_, "mutants": mutants, "duties": duties, "pin": pin, "yes": yes}
        runs = {"walks": walks, "examples": examples, "workers": workers, "operators": operators}
        one_scope.refuse({**others, **runs, "profile full": profile is Profile.FULL})
        unasked = _refuse_impure(name, scope, out, json_)
        with resumable() if spill else nullcontext():
            search = partial(one_scope.check_scope, reduce=not whole, fresh=fresh)
            alone = search(name, scope, budget, master, settings(conf), out / "_spark", spill, wait)
        _end_scope(alone, out, json_, unasked, allow_unfinished=allow_unfinished, long=long)
        return
    one_scope.refuse_spill(spill, fresh=fresh)
    file = file_to_pin(None if all_ or duties else name, pin=pin, yes=yes)
    if duties:
        print_duties(name, json_, more=all_ or mutants or operators is not None)
        return
    names, classes = _names(name, all_, mutants), _classes(operators, {"all": all_, "pin": pin})
    unasked = _refuse_impure(name, None, out, json_, pin=pin)
    results = _verdicts(
        names,
        **{"profile": profile.value, "walks": walks, "examples": examples},
        **{"mutants": mutants, "operators": classes, "reduce": not whole, "reach": not all_},
        budget=budget,
        execute=_execute(workers, master, settings(conf), out / "_spark", wait),
    )
    how = {"all_": all_, "long": long, "allow_unfinished": allow_unfinished}
    _end(results, out, json_, file, _readings([] if all_ else names), unasked, **how)


def _replay(name: str | None, run: Path, out: Path, json_: Path | None, *, long: bool) -> None:
    """Replay a saved run, as --run asks for.  Raises Exit if it violates a property."""
    from asif.replay import replay

    one_scope.refuse_with_run(GOES_WITH_RUN)
    result, words = replay(name, run, long=long)
    found = result.counterexample
    files = {} if found is None else _drawing(found, result.protocol, out, f"scope {result.scope}")
    publish([*words[:-1], *map(str, files), words[-1]], result, json_, files, named=False)
    if found is not None:
        raise typer.Exit(1)


def _verdicts(names: Sequence[str], **how: Any) -> list[Verdict]:
    """The verdicts of proofs.explore.verdict, with their progress shown."""
    from asif.progress import show_progress
    from proofs.explore.verdict import verdicts

    with show_progress() as progress:
        return verdicts(names, progress=progress, **how)


def _refuse_impure(
    name: str | None, scope: str | None, out: Path, json_: Path | None, *, pin: bool = False
) -> Invalid | None:
    """End the command if a function of the protocol is impure: a second search may differ.

    The fault that kept all processes from asking is returned, since the search may have a better
    reason; with pin it is raised.  name: None with --all, which stays fast: tests/conformance asks
    the project's own protocols.
    """
    from asif.elsewhere import Unasked, ask_elsewhere
    from model.registry import absolute, subject
    from proofs.explore.purity import impure_verdict

    if name is None:
        return None
    protocol = subject(name).protocol
    with ask_elsewhere([absolute(name)], scope) as asked:
        import_module("proofs.explore.verdict")  # meanwhile: it takes as long
        try:
            impure = next(asked)
        except Unasked as error:
            if pin:
                raise
            return error
    if impure:
        _end([impure_verdict(protocol, impure)], out, json_, None)
    return None


def _end(
    results: Sequence[Verdict],
    out: Path,
    json_: Path | None,
    file: PinnedFile | None,
    readings: Iterable[str] = (),
    unasked: Invalid | None = None,
    *,
    all_: bool = False,
    allow_unfinished: bool = False,
    long: bool = False,
) -> None:
    """Print and write the results; raises Exit if one is not as it should be.

    file: to pin.  readings: lines on the words that a single protocol reads otherwise.  unasked:
    raised in the end if the results are as they should be.
    """
    from model.evidence import Outcome
    from proofs.explore.verdict import good
    from reports.results import verdicts as output

    shown = [one for one in results if not (all_ and good(one, unfinished=allow_unfinished))]
    files = [dict(_failures(one, out)) for one in shown]
    said = [*readings]
    words = chain(
        output.verdicts(results) if all_ else (),
        *(
            _words(one, [*said, *map(str, drawn)], long=long)
            for one, drawn in zip(shown, files, strict=True)
        ),
    )
    drawings = {path: text for drawn in files for path, text in drawn.items()}
    publish(words, results if all_ else results[0], json_, drawings, named=False)
    if file is not None:
        as_said = write_pins(file, results[0])
    else:
        as_said = all(good(result, unfinished=allow_unfinished) for result in results)
        as_said &= all_ or results[0].outcome is not Outcome.REFUTED
    if not as_said:
        raise typer.Exit(1)
    if unasked is not None:
        raise unasked


def _end_scope(
    result: ScopeVerdict,
    out: Path,
    json_: Path | None,
    unasked: Invalid | None,
    *,
    allow_unfinished: bool,
    long: bool,
) -> None:
    """As `_end`, for one scope."""
    from reports.results import verdicts as output

    found = result.scope.counterexample
    files = (
        {} if found is None else _drawing(found, result.protocol, out, f"scope {result.scope.name}")
    )
    words = output.scope(result, below=[*map(str, files)], long=long)
    publish(words, result, json_, files, named=False)
    if not one_scope.good(result, unfinished=allow_unfinished):
        raise typer.Exit(1)
    if unasked is not None:
        raise unasked


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


def _classes(operators: str | None, others: Mapping[str, bool]) -> tuple[OperatorClass, ...]:
    """The classes of the standard operators.  others: options that go with none."""
    from proofs.explore.standard_operators import named

    if operators is None:
        return ()
    for option, given in others.items():
        if given:
            raise Invalid(f"--operators is for one protocol and pins nothing: leave out --{option}")
    return named(operators)


def _budget(limit: int | None, seconds: float | None, memory: str | None) -> Budget:
    from proofs.explore.search.meter import Budget

    return Budget(limit, seconds, None if memory is None else read_bytes(memory))


def _execute(
    workers: int | None,
    master: str | None,
    conf: Mapping[str, str],
    work: Path,
    wait: float | None,
) -> Execute[Task, TaskResult]:
    """Where tasks are performed.  work: the folder for Spark's log and spills."""
    refuse_without_master(master, conf, wait)
    if master is None:
        return in_processes(workers)
    if workers is not None:
        raise Invalid("--workers is for processes of this machine: leave it out with --master")
    return calls_on_spark(work, master, conf, size=1, wait=wait)


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


def _readings(names: Sequence[str]) -> Iterator[str]:
    """The words that protocols read otherwise, and the lines that they have therefore."""
    from model.patches import diff, readings_of
    from model.registry import subject

    for name in names:
        for reading in readings_of(subject(name).protocol.behaviour):
            yield f"{reading.quote}:"
            yield Exact(diff(reading.changes))


def _words(result: Verdict, below: Sequence[str], *, long: bool) -> Iterator[RenderableType]:
    """The output about a verdict.  below: lines for the end of its first part."""
    from reports.results import verdicts as output

    yield from output.verdict(result, below=below, long=long)
    if result.mutants is not None:
        yield from output.mutants(result.mutants)


def _failures(result: Verdict, out: Path) -> Iterator[tuple[Path, str | bytes]]:
    """The files of a refutation: the shortest counterexample as a diagram, and a test that replays
    the failure of the attack."""
    from model.evidence import Outcome

    if result.outcome is not Outcome.REFUTED:
        return
    failure = result.attack.failure
    found = result.shortest or failure
    if found is not None:
        yield from _drawing(found, result.protocol, out, _place(result, found)).items()
    if failure is not None:
        stem = "test_" + result.protocol.replace(":", "_").replace("-", "_")
        yield out / f"{stem}.py", failure.pytest


def _place(result: Verdict, found: ScopeCounterexample | AttackFailure) -> str:
    """The scope of a run; "found at random" of the attack."""
    scopes = (one.name for one in result.scopes if one.counterexample is found)
    return next((f"scope {name}" for name in scopes), "found at random")


def _drawing(
    found: ScopeCounterexample | AttackFailure, protocol: str, out: Path, where: str
) -> Mapping[Path, str | bytes]:
    """The files with the diagram of a run."""
    from reports.diagrams import spacetime

    drawn = spacetime.picture(
        found.story,
        title=f"{protocol}: {found.steps:,} steps, {where}",
        caption=found.property,
        culprit=found.culprit,
    )
    return pictures(drawn, out / protocol.replace(":", "-"))
