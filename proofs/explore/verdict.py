"""The verdict: the results of all checkers about a protocol, as plain data.

Rule of this file: no decision that a checker does not make; the file has tasks performed and adds
up.  `--json` writes the dicts that `verdicts` returns, and reports read them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from model.core import Guarantee, OperatorClass
from model.errors import Invalid
from model.evidence import Outcome
from model.progress import Progress, silent
from model.protocol import Protocol
from model.registry import Subject, subject
from proofs.explore.processes import Ended, call_all, usable_cores
from proofs.explore.search.meter import UNLIMITED, Budget
from proofs.explore.tasks import (
    NO_ATTACK,
    Task,
    TaskKind,
    attack_row,
    list_tasks,
    perform,
    perform_on,
)

Result: TypeAlias = dict[str, Any]
Execute: TypeAlias = Callable[
    [Callable[[Task], Result], Sequence[Task]], Generator[list[Ended[Result]], None, None]
]
"""Calls a function with all tasks, and yields results as they come.  Of those that have not ended,
the first one has begun."""

PAYS_WORLDS = 500_000
"""Processes pay if all tasks together take as long as the exploration of more worlds than this."""


def local(workers: int | None = None) -> Execute:
    """An Execute in so many processes of this machine; None: one a core if that pays.

    A process stays with a protocol and its variants as long as it can: their scopes share graphs,
    whose classes it derives once.
    """

    def execute(
        call: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Generator[list[Ended[Result]], None, None]:
        pays = sum(task.worlds for task in tasks) > PAYS_WORLDS
        so_many = workers or (usable_cores() if pays else 1)
        return call_all(call, tasks, so_many, kind=lambda task: task.of)

    return execute


def verdicts(
    names: Sequence[str],
    *,
    profile: str = "quick",
    walks: int | None = None,
    examples: int | None = None,
    mutants: bool = False,
    budget: Budget = UNLIMITED,
    once: bool = False,
    execute: Execute,
    progress: Progress = silent,
) -> list[Result]:
    """Explore every scope of the profile, and attack: a verdict (docs/json.md) for each name.

    names: protocols as `asif check` takes them.  mutants: also hunt those that there are.  budget:
    what the exploration of each scope may cost.  once: refute what is expected to be refuted, and
    look no further there (tasks.list_tasks).  Raises Invalid.
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
                budget=budget,
                once=once,
            ),
        )
        for name in names
        for protocol in [subject(name).protocol]
    ]
    every = [task for _, tasks in plan for task in tasks]
    results = iter(perform_all(perform, every, execute, progress))
    return [assemble(one, profile, tasks, [next(results) for _ in tasks]) for one, tasks in plan]


def verdict(
    protocol: Protocol,
    *,
    profile: str = "quick",
    walks: int | None = None,
    examples: int | None = None,
) -> Result:
    """The verdict on a protocol at hand, without mutants; all in this process."""
    tasks = list_tasks(
        protocol.name, protocol, profile, walks=walks, examples=examples, mutants=False
    )
    call = partial(perform_on, Subject(protocol, home=""))
    return assemble(protocol, profile, tasks, perform_all(call, tasks, local(workers=1)))


def perform_all(
    call: Callable[[Task], Result],
    tasks: Sequence[Task],
    execute: Execute,
    progress: Progress = silent,
) -> list[Result]:
    """The results of the tasks, in their order; {"lost": why} for one whose process died.

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
    found: dict[int, Result] = {}

    def report() -> None:
        """The first task that has not ended is under way."""
        first = next((tasks[at] for at in order if at not in found), None)
        what = "done" if first is None else f"{Path(first.subject).name}, {first.name}"
        progress("checking", len(found), len(tasks), what)

    report()
    with closing(execute(call, [tasks[at] for at in order])) as ended:
        for some in ended:
            for number, result, why in some:
                result = {"lost": why} if result is None else result
                if "invalid" in result:
                    raise Invalid(result["invalid"])
                found[order[number]] = result
                report()
    return [found[at] for at in range(len(tasks))]


def assemble(
    protocol: Protocol, profile: str, tasks: Sequence[Task], results: Sequence[Result]
) -> Result:
    """The verdict of all results.  A task that was lost was never tried, so nothing holds."""
    done: dict[TaskKind, list[Result]] = {kind: [] for kind in TaskKind}
    lost = []
    for task, result in zip(tasks, results, strict=True):
        if "lost" in result:
            lost.append(f"{task.name}: {result['lost']}")
        else:
            done[task.kind].append(result)
    scopes, attacks = done[TaskKind.SCOPE], done[TaskKind.ATTACK]
    rows = [scope["row"] for scope in scopes]
    attacked = attacks[0]["row"] if attacks else attack_row(NO_ATTACK, protocol.name)
    evidence: Counter[str] = Counter()
    found: dict[OperatorClass, Guarantee] = {}
    for row in rows:
        evidence.update(row["notes"])
        operators, guarantee = OperatorClass[row["operators"]], Guarantee[row["guarantee"]]
        found[operators] = max(found.get(operators, Guarantee.PRECISE), guarantee)
    points = {point for scope in scopes for point in scope["points"]}
    hit = {point for scope in scopes for point in scope["hit"]}
    refuted = attacked["failure"] is not None or any(
        row["outcome"] == Outcome.REFUTED.value for row in rows
    )
    claims = protocol.promise.claims
    tried = [operators for operators in claims if any(c <= operators for c in found)]
    weaker = [c.name for c in tried if _found_for(c, found) > claims[c]]
    stronger = [c.name for c in found if c in claims and _found_for(c, found) < claims[c]]
    unclaimed = [operators.name for operators in found if operators not in claims]
    # What is refuted at once need not have done all that would make "holds" trustworthy.
    whole = all(task.whole for task in tasks)
    missing = [
        note.name for note in protocol.evidence.must_occur if whole and not evidence[note.name]
    ]
    vacuous = [f"{one['row']['name']}: {why}" for one in scopes for why in one["vacuous"]]
    vacuous += lost
    if all(task.kind is not TaskKind.SCOPE for task in tasks):
        vacuous.append(f"no scope is explored in the profile {profile}")
    if (
        protocol.behaviour.needed
        and not refuted
        and all(one.scope.crashes for one in protocol.evidence.scopes)
    ):
        vacuous.append("what a restart needs is compared without crashes, and each scope has some")
    explorable = {pinned.operators for pinned in protocol.evidence.scopes}
    vacuous += [
        f"claimed for {operators.name} operators, and no scope has operators of that class"
        for operators in claims
        if operators not in explorable
    ]
    outcome = Outcome.REFUTED if refuted or weaker else Outcome.HOLDS
    unfinished = any(row["outcome"] == Outcome.UNFINISHED.value for row in rows)
    if outcome is Outcome.HOLDS and (unfinished or vacuous):
        outcome = Outcome.UNFINISHED if unfinished else Outcome.VACUOUS
    as_pinned = (
        all(row["as_pinned"] for row in rows)
        and outcome is protocol.evidence.expected
        and not (missing or vacuous or stronger or unclaimed)
    )
    hunted = any(task.kind is TaskKind.MUTANT for task in tasks)
    return {
        "protocol": protocol.name,
        "title": protocol.words.title,
        "source": protocol.words.source,
        "finding": protocol.words.finding,
        "outcome": outcome.value,
        "expected": as_pinned,
        "claims": {operators.name: claim.name for operators, claim in claims.items()},
        "found": {c.name: g.name for c, g in sorted(found.items(), key=lambda item: item[0].name)},
        "weaker": weaker,
        "stronger": stronger,
        "unclaimed": unclaimed,
        "vacuous": vacuous,
        "points": len(points),
        "hit": len(hit),
        "missed": sorted(points - hit),
        "scopes": rows,
        "attack": attacked,
        "evidence": dict(sorted(evidence.items())),
        "missing": missing,
        "mutants": [mutant["row"] for mutant in done[TaskKind.MUTANT]] if hunted else None,
        "seconds": round(sum(one["seconds"] for one in (*scopes, *attacks)), 2),
    }


def good(result: Result, *, unfinished: bool = False) -> bool:
    """Is the verdict as expected, with every hunted mutant found?  unfinished: in scopes where a
    budget was spent, it is good enough that nothing unexpected was found before."""
    ended, refuted = Outcome.UNFINISHED.value, Outcome.REFUTED.value
    wrong = any(row["expect"] == refuted for row in result["scopes"])
    so_far = (
        unfinished
        and result["outcome"] in (ended, refuted if wrong else ended)
        and not result["vacuous"]
        and all(
            row["as_pinned"] or (row["spent"] and row["outcome"] in (ended, row["expect"]))
            for row in result["scopes"]
        )
    )
    found = all(row["by"] is not None for row in result["mutants"] or ())
    return found and (so_far or result["expected"])


def _found_for(operators: OperatorClass, found: Mapping[OperatorClass, Guarantee]) -> Guarantee:
    """What a claim about a class of operators is compared with: the weakest guarantee in the scopes
    of this class and of the classes that it contains; PRECISE if there are none."""
    return max((g for c, g in found.items() if c <= operators), default=Guarantee.PRECISE)
