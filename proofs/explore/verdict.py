"""The verdict: the results of all checkers about a protocol.

Rule of this file: no decision that a checker does not make; the file has tasks performed and adds
up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from model.calls import Execute, one_by_one
from model.core import OperatorClass
from model.errors import Invalid
from model.evidence import Outcome
from model.progress import Progress, silent
from model.protocol import Protocol
from model.registry import Subject, subject
from model.results.attack import AttackResult, MutantResult
from model.results.verdict import ScopeResult, StandardResult, Verdict
from proofs.explore.claims import compare, guarantees, untried_classes, with_standard
from proofs.explore.coverage import ScopePoints, missed_in_all
from proofs.explore.saturation import measure_reach
from proofs.explore.search.meter import UNLIMITED, Budget
from proofs.explore.tasks import (
    Done,
    NotDone,
    ScopeDone,
    Task,
    TaskKind,
    TaskResult,
    list_tasks,
    perform,
    perform_on,
)
from proofs.explore.vacuity import never_tried_in_all


def verdicts(
    names: Sequence[str],
    *,
    profile: str = "quick",
    walks: int | None = None,
    examples: int | None = None,
    mutants: bool = False,
    operators: Sequence[OperatorClass] = (),
    budget: Budget = UNLIMITED,
    once: bool = False,
    reduce: bool = True,
    reach: bool = False,
    steps: bool = False,
    execute: Execute[Task, TaskResult] = one_by_one,
    progress: Progress = silent,
) -> list[Verdict]:
    """Explore every scope of the profile, and attack: a verdict for each name.

    names: protocols as `asif check` takes them.  mutants: also hunt those that there are.
    operators: also run a standard operator of each of these classes.  budget: what the exploration
    of each scope may cost.  once: refute what is expected to be refuted, and look no further there
    (tasks.list_tasks).  reduce: visit fewer worlds where that gives the same result.  reach: also
    measure the reach of a protocol that is not refuted.  steps: also return failing runs by steps.
    Raises Invalid.
    """
    plan = [
        (
            protocol,
            list_tasks(
                name,
                protocol,
                profile,
                walks=walks,
                examples=examples,
                mutants=mutants,
                operators=operators,
                budget=budget,
                once=once,
                reduce=reduce,
                shapes=reach,
                steps=steps,
            ),
        )
        for name in names
        for protocol in [subject(name).protocol]
    ]
    every = [task for _, tasks in plan for task in tasks]
    results = iter(perform_all(perform, every, execute, progress))
    more = partial(perform_all, perform, execute=execute, progress=progress) if reach else None
    return [
        _judge(one, profile, tasks, [next(results) for _ in tasks], more) for one, tasks in plan
    ]


def verdict(
    protocol: Protocol,
    *,
    profile: str = "quick",
    walks: int | None = None,
    examples: int | None = None,
    reach: bool = False,
) -> Verdict:
    """The verdict on a protocol at hand, without mutants; all in this process."""
    tasks = list_tasks(
        protocol.name,
        protocol,
        profile,
        walks=walks,
        examples=examples,
        mutants=False,
        shapes=reach,
    )
    call = partial(perform_all, partial(perform_on, Subject(protocol, home="")))
    return _judge(protocol, profile, tasks, call(tasks), call if reach else None)


def _judge(
    protocol: Protocol,
    profile: str,
    tasks: Sequence[Task],
    results: Sequence[TaskResult],
    more: Callable[[Sequence[Task]], Sequence[TaskResult]] | None,
) -> Verdict:
    """The verdict of all results.  more: performs more tasks, to measure the reach; None: it is not
    measured."""
    found = assemble(protocol, profile, tasks, results)
    if more is None or found.outcome is Outcome.REFUTED:
        return found
    return replace(found, reach=measure_reach(protocol, tasks, results, more))


def perform_all(
    call: Callable[[Task], TaskResult],
    tasks: Sequence[Task],
    execute: Execute[Task, TaskResult] = one_by_one,
    progress: Progress = silent,
) -> list[TaskResult]:
    """The results of the tasks, in their order; of one whose process died, that it is lost.

    Tasks of one protocol follow each other: who performs one has cached what the next one needs.
    The protocol with the longest task comes first, and of each the longest task, so that no core
    waits for one at the end.  Raises Invalid.
    """
    longest: dict[str, int] = {}
    for task in tasks:
        longest[task.of] = max(longest.get(task.of, 0), task.worlds)

    def rank(at: int) -> tuple[int, str, int]:
        return -longest[tasks[at].of], tasks[at].of, -tasks[at].worlds

    order = sorted(range(len(tasks)), key=rank)
    found: dict[int, TaskResult] = {}

    def report() -> None:
        """The first task that has not ended is under way."""
        first = next((tasks[at] for at in order if at not in found), None)
        what = "done" if first is None else f"{Path(first.subject).name}, {first.name}"
        progress("checking", len(found), len(tasks), what)

    report()
    with closing(execute(call, [tasks[at] for at in order])) as ended:
        for some in ended:
            for number, result, why in some:
                result = NotDone(why, lost=True) if result is None else result
                if isinstance(result, NotDone) and not result.lost:
                    raise Invalid(result.why)
                found[order[number]] = result
                report()
    return [found[at] for at in range(len(tasks))]


def assemble(
    protocol: Protocol, profile: str, tasks: Sequence[Task], results: Sequence[TaskResult]
) -> Verdict:
    """The verdict of all results.  A task that was lost was never tried, so nothing holds."""
    done = [one for one in results if isinstance(one, Done)]
    ended = [one for one in done if isinstance(one, ScopeDone)]
    scopes = tuple(one.row for one in ended)
    mutants = tuple(one.row for one in done if isinstance(one.row, MutantResult))
    attacks = (one.row for one in done if isinstance(one.row, AttackResult))
    attack = next(attacks, AttackResult())
    refuted = attack.failure is not None or any(one.outcome is Outcome.REFUTED for one in scopes)
    evidence = sum((Counter(row.notes) for row in scopes), Counter[str]())
    hit = frozenset[str]().union(*(one.hit for one in ended))
    missed = missed_in_all(ScopePoints(one.row.crashes, one.hit, one.row.missed) for one in ended)
    # What is refuted at once need not have done all that would make "holds" trustworthy.
    whole = all(task.whole for task in tasks)
    missing = tuple(
        one.name for one in protocol.evidence.must_occur if whole and not evidence[one.name]
    )
    vacuous = (
        *(f"{one.row.name}: {why}" for one in ended for why in one.vacuous),
        *(
            f"{task.name}: {one.why}"
            for task, one in zip(tasks, results, strict=True)
            if isinstance(one, NotDone)
        ),
        *_never_tried(protocol, profile, tasks, refuted=refuted),
        *(() if refuted else _never_tried_in_all(protocol, tasks, ended)),
    )
    found = guarantees(scopes)
    weaker, stronger, unclaimed = compare(protocol.promise.claims, found)
    outcome = _outcome(scopes, refuted=refuted or bool(weaker), vacuous=bool(vacuous))
    own = Verdict(
        protocol=protocol.name,
        title=protocol.words.title,
        source=protocol.words.source,
        finding=protocol.words.finding,
        outcome=outcome,
        expected=all(row.as_pinned for row in scopes)
        and outcome is protocol.evidence.expected
        and not (missing or vacuous or stronger or unclaimed),
        claims=dict(protocol.promise.claims),
        found=found,
        weaker=weaker,
        stronger=stronger,
        unclaimed=unclaimed,
        vacuous=vacuous,
        points=len(hit) + len(missed),
        hit=len(hit),
        missed=missed,
        scopes=scopes,
        standard=(),
        untried_classes=untried_classes(found),
        attack=attack,
        evidence=dict(sorted(evidence.items())),
        missing=missing,
        mutants=mutants if any(task.kind is TaskKind.MUTANT for task in tasks) else None,
        seconds=round(sum(d.seconds for d in done if not isinstance(d.row, MutantResult)), 2),
    )
    return with_standard(own, [d.row for d in done if isinstance(d.row, StandardResult)])


def _never_tried(
    protocol: Protocol, profile: str, tasks: Sequence[Task], *, refuted: bool
) -> Iterator[str]:
    """What the tasks do not try, though a claim needs it, a sentence each."""
    if all(task.kind is not TaskKind.SCOPE for task in tasks):
        yield f"no scope is explored in the profile {profile}"
    if (
        protocol.behaviour.needed
        and not refuted
        and all(one.scope.crashes for one in protocol.evidence.scopes)
    ):
        yield "what a restart needs is compared without crashes, and each scope has some"
    explorable = {pinned.operators for pinned in protocol.evidence.scopes}
    for one in protocol.promise.claims:
        if one not in explorable:
            yield f"claimed for {one.name} operators, and no scope has operators of that class"


def _never_tried_in_all(
    protocol: Protocol, tasks: Sequence[Task], ended: Sequence[ScopeDone]
) -> Iterator[str]:
    """The things that no scope tries, if all are explored whole."""
    trials = [one.trial for one in ended if one.trial is not None]
    if len(trials) == sum(task.kind is TaskKind.SCOPE for task in tasks):
        yield from never_tried_in_all(protocol, trials)


def _outcome(scopes: Sequence[ScopeResult], *, refuted: bool, vacuous: bool) -> Outcome:
    if refuted:
        return Outcome.REFUTED
    if any(row.outcome is Outcome.UNFINISHED for row in scopes):
        return Outcome.UNFINISHED
    return Outcome.VACUOUS if vacuous else Outcome.HOLDS


def good(result: Verdict, *, unfinished: bool = False) -> bool:
    """Is the verdict as expected, with every hunted mutant found?  unfinished: in scopes where a
    budget was spent, it is good enough that nothing unexpected was found before."""
    wrong = any(row.expect is Outcome.REFUTED for row in result.scopes)
    so_far = (
        unfinished
        and result.outcome in (Outcome.UNFINISHED, *((Outcome.REFUTED,) if wrong else ()))
        and not result.vacuous
        and all(
            row.as_pinned or (row.spent and row.outcome in (Outcome.UNFINISHED, row.expect))
            for row in result.scopes
        )
    )
    found = all(row.by is not None for row in result.mutants or ())
    return found and (so_far or result.expected)
