"""`asif check NAME --scope`: one scope alone, in this process or spread over Spark.

Rule of this file: nothing is explored here; proofs.explore does, and Spark keeps the levels.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer._click.globals import get_current_context

from asif.console import levels_on_spark, refuse_without_master
from asif.progress import show_progress
from model.errors import Invalid
from model.evidence import Outcome
from model.registry import absolute, file_of, is_file, subject
from model.results.verdict import ScopeVerdict

if TYPE_CHECKING:
    from proofs.explore.explorer import Exploration
    from proofs.explore.search.meter import Budget
    from proofs.explore.tasks import Task, TaskResult


def refuse(others: Mapping[str, object], alone: str = "scope") -> None:
    """Raise Invalid for the first option that is given and says nothing about one scope, or run.

    alone: the option that names it.
    """
    for option, given in others.items():
        if given is not None and given is not False:
            raise Invalid(f"--{option} is not for one {alone}: leave it out with --{alone}")


def refuse_with_run(kept: Container[str]) -> None:
    """Raise Invalid for the first option on the line that says nothing about a saved run.

    kept: the parameters that go with --run.
    """
    context = get_current_context()
    given = (one for one in context.command.params if one.name not in kept)
    refuse(
        {one.opts[0].removeprefix("--"): _typed(context, one.name or "") for one in given}, "run"
    )


def _typed(context: Any, parameter: str) -> bool:
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


def refuse_spill(spill: Path | None, *, fresh: bool) -> None:
    """Raise Invalid if a folder is given for the worlds of several scopes."""
    if spill is not None or fresh:
        raise Invalid("--spill keeps the worlds of one scope: name it with --scope, too")


def check_scope(
    name: str | None,
    scope: str,
    budget: Budget,
    master: str | None,
    conf: Mapping[str, str],
    work: Path,
    spill: Path | None = None,
    wait: float | None = None,
    *,
    reduce: bool = True,
    fresh: bool = False,
) -> ScopeVerdict:
    """The result of one scope.

    master: Spark's, which then has the levels of the one search; None: this process has them.
    work: the folder for Spark's log and spills.  spill: the folder for the worlds of a search on
    disk, which sees all of them unless the budget sets a limit.  wait: as in levels_on_spark.
    reduce: visit fewer worlds in memory, for the same result.  fresh: forget the worlds in the
    folder.  Raises Invalid.
    """
    from proofs.explore.saturation import measure_reach
    from proofs.explore.tasks import ScopeDone, one_scope, perform_on
    from proofs.explore.vacuity import never_tried_in_all

    if name is None:
        raise Invalid("--scope is for one protocol: give its name")
    refuse_without_master(master, conf, wait)
    if budget.memory is not None and master is not None:
        raise Invalid("--memory is for one process: leave it out with --master")
    if not reduce and master is not None:
        raise Invalid("--whole is for one process: Spark visits every world anyway")
    if spill is not None and master is not None:
        raise Invalid("--spill is for a disk of this machine: leave it out with --master")
    if fresh and spill is None:
        raise Invalid("--fresh forgets the worlds in a folder: give --spill, too")
    chosen, called = subject(name), absolute(name)
    task = one_scope(called, chosen.protocol, scope, budget, reduce=reduce)._replace(shapes=True)
    with (
        _explorer(called, scope, master, conf, work, wait)
        if spill is None
        else _explorer_on_disk(called, chosen.protocol.name, scope, budget.worlds, spill, fresh)
    ) as explore:
        done = perform_on(chosen, task, explore)
    assert isinstance(done, ScopeDone)
    given = () if done.trial is None else never_tried_in_all(chosen.protocol, [done.trial])
    here = master is None and spill is None

    def perform(tasks: Sequence[Task]) -> list[TaskResult]:
        return [perform_on(chosen, one) for one in tasks] if here else []

    reach = measure_reach(chosen.protocol, [task], [done], perform)
    name, as_pinned = chosen.protocol.name, done.row.as_pinned
    return ScopeVerdict(name, done.row, as_pinned, done.vacuous, tuple(given), reach)


@contextmanager
def _explorer(
    called: str,
    scope: str,
    master: str | None,
    conf: Mapping[str, str],
    work: Path,
    wait: float | None,
) -> Iterator[Callable[..., Exploration]]:
    if master is None:
        from proofs.explore.explorer import explore

        yield explore
        return
    from proofs.explore.spread.search import explore_spread
    from proofs.explore.spread.work import system_of

    find = partial(system_of, called, scope)
    with levels_on_spark(work, master, conf, wait) as start, show_progress() as progress:
        yield partial(explore_spread, start, find, progress=progress)


@contextmanager
def _explorer_on_disk(
    called: str, protocol: str, scope: str, limit: int | None, spill: Path, fresh: bool
) -> Iterator[Callable[..., Exploration]]:
    from model.machine.folders import occupied
    from proofs.explore.explorer import explore
    from proofs.explore.search.spill_folder import SpillFolder, about

    asked = about(protocol, scope, file_of(called) if is_file(called) else None)
    folder = SpillFolder(spill, asked, fresh=fresh)
    with occupied(spill), show_progress() as progress:

        def explore_on_disk(*what: Any, **how: Any) -> Exploration:
            return explore(*what, **{**how, "limit": limit}, spill=folder, progress=progress)

        yield explore_on_disk


def good(result: ScopeVerdict, *, unfinished: bool) -> bool:
    """Is the result as pinned, and nothing refuted?  unfinished: a spent budget is good enough."""
    row = result.scope
    so_far = unfinished and row.outcome is Outcome.UNFINISHED and not result.vacuous
    return (result.expected and row.outcome is not Outcome.REFUTED) or so_far
