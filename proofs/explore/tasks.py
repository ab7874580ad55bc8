"""The tasks of a check: a scope to explore, a standard operator, a random attack, or a mutant.

Rule of this file: nothing here adds up.  A task is a few words and its result a frozen value,
so any process that has the project's code can perform any task, on this machine or elsewhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import NamedTuple, TypeAlias

from model.core import Guarantee, OperatorClass
from model.errors import Invalid, unknown
from model.evidence import Mutant, Outcome, PinnedScope
from model.protocol import Protocol
from model.registry import Subject, subject
from model.results.attack import AttackResult, MutantResult
from model.results.reach import LastOne
from model.results.verdict import (
    ScopeResult,
    StandardResult,
)
from proofs.explore.explorer import Exploration, explore
from proofs.explore.mutants import hunt
from proofs.explore.random_attack import Attack, attack
from proofs.explore.reach.gather import LARGEST, MetInScope, without_last
from proofs.explore.reach.seen import SeenShapes
from proofs.explore.rows import attack_result, mutant_result, named_trial, scope_result
from proofs.explore.search.meter import UNLIMITED, Budget
from proofs.explore.standard_operators import standard
from proofs.explore.standard_runs import run_standard
from proofs.explore.vacuity import NamedTrial

WALKS = {"quick": 200, "full": 20_000}
"""The number of random walks for each protocol."""

EXAMPLES = {"quick": 40, "full": 1_000}
"""The number of Hypothesis examples for each protocol."""

WORLD_LIMIT = {Outcome.HOLDS: 8_000_000, Outcome.REFUTED: 600_000}
"""The number of worlds after which the exploration of a scope ends.  A scope that is expected to
hold is then reported as incomplete; a scope that is expected to be refuted needs its counterexample
and its guarantee by then."""

STANDARD_WORLDS = 600_000
"""The number of worlds after which the exploration with a standard operator ends."""

RUN_WORLDS = 1_000
"""The worlds whose exploration takes about as long as a random run."""

HUNT_WALKS, HUNT_EXAMPLES = 5_000, 200
"""The same numbers for each mutant that the explorer does not find."""


class TaskKind(StrEnum):
    SCOPE = "scope"
    OPERATOR = "operator"
    ATTACK = "attack"
    MUTANT = "mutant"
    FEWER = "fewer"


class Task(NamedTuple):
    """A part of a check that needs no other part.

    subject: the protocol as `asif check` takes it.  name: of the scope, the standard operator or
    the mutant.  worlds: about how long the task takes, as a number of explored worlds.  walks,
    examples: the random runs of an attack.  budget: of the exploration of a scope; its worlds are
    WORLD_LIMIT's if None, or STANDARD_WORLDS.  whole: go on after all that is expected of a refuted
    scope was found.  reduce: visit fewer worlds where that gives the same result.  shapes: also
    return those that a scope met.  steps: also return a failing run by steps.  last: of FEWER, the
    part that is taken away from the scope.
    """

    subject: str
    kind: TaskKind
    name: str
    worlds: int
    walks: int = 0
    examples: int = 0
    budget: Budget = UNLIMITED
    whole: bool = True
    reduce: bool = True
    shapes: bool = False
    steps: bool = False
    last: LastOne = LastOne.EVENT

    @property
    def of(self) -> str:
        """The subject, or the protocol of which it is a variant."""
        return self.subject.partition(":")[0]


def list_tasks(
    called: str,
    protocol: Protocol,
    profile: str,
    *,
    walks: int | None,
    examples: int | None,
    mutants: bool,
    operators: Sequence[OperatorClass] = (),
    budget: Budget = UNLIMITED,
    once: bool = False,
    reduce: bool = True,
    shapes: bool = False,
    steps: bool = False,
) -> tuple[Task, ...]:
    """The tasks of a check of the protocol: scopes, the attack, mutants, as the protocol has them.

    operators: the classes of standard operators to run it with.  called: the protocol as `asif
    check` takes it.  walks, examples: as many random runs; None: those of the profile.  once: a
    protocol that is expected to be refuted is refuted once: its exploration ends when all that is
    expected was found; and only a protocol that holds and is no variant is attacked.
    """
    scopes = [pinned for pinned in protocol.evidence.scopes if pinned.quick or profile == "full"]
    walks = WALKS[profile] if walks is None else walks
    runs = EXAMPLES[profile] if examples is None else examples
    attacked = not once or (
        protocol.evidence.expected is Outcome.HOLDS and ":" not in protocol.name
    )
    attack_ = Task(
        called, TaskKind.ATTACK, "random attack", runs * RUN_WORLDS, walks, runs, steps=steps
    )
    search = partial(Task, called, budget=budget, reduce=reduce, steps=steps)
    return (
        *(
            search(
                TaskKind.SCOPE,
                one.name,
                one.worlds,
                whole=not (once and one.expect is Outcome.REFUTED),
                shapes=shapes,
            )
            for one in scopes
        ),
        *(
            search(TaskKind.OPERATOR, one.name, STANDARD_WORLDS)
            for one in standard(protocol, operators)
        ),
        *((attack_,) if attacked else ()),
        *(
            Task(called, TaskKind.MUTANT, one.name, _hunt_worlds(protocol, one))
            for one in protocol.evidence.mutants
            if mutants
        ),
    )


def one_scope(
    called: str, protocol: Protocol, name: str, budget: Budget, *, reduce: bool = True
) -> Task:
    """The task of exploring the scope with this name, whatever its profile.  Raises Invalid."""
    known = {one.name: one for one in protocol.evidence.scopes}
    if name not in known:
        raise unknown(f"scope of {protocol.name}", name, known)
    worlds = known[name].worlds
    return Task(called, TaskKind.SCOPE, name, worlds, budget=budget, reduce=reduce)


def _hunt_worlds(protocol: Protocol, mutant: Mutant) -> int:
    """The worlds of the scope that shows the mutant; if none is named, of the smallest quick one,
    which most often does."""
    likely = [
        pinned.worlds
        for pinned in protocol.evidence.scopes
        if (pinned.name == mutant.scope if mutant.scope else pinned.quick)
    ]
    return min(likely, default=0)


@dataclass(frozen=True, slots=True)
class Done:
    """A task that was performed, and its seconds."""

    row: ScopeResult | StandardResult | AttackResult | MutantResult
    seconds: float


@dataclass(frozen=True, slots=True)
class ScopeDone(Done):
    """hit: the crash points that were.  vacuous: things that it never tried.  trial: the
    other trials; None if it was not explored whole, or is refuted.  shapes: those that it met, if
    they were asked for."""

    row: ScopeResult
    hit: frozenset[str]
    vacuous: tuple[str, ...]
    trial: NamedTrial | None
    shapes: SeenShapes | None = None


@dataclass(frozen=True, slots=True)
class FewerDone:
    """A scope that was explored without its last event or crash.  met: None if it
    is too large, or none of this protocol."""

    last: LastOne
    met: MetInScope | None


@dataclass(frozen=True, slots=True)
class NotDone:
    """A task without a result.  why: its input is bad, or its process died.  lost: the latter."""

    why: str
    lost: bool = False


TaskResult: TypeAlias = Done | FewerDone | NotDone


def perform(task: Task) -> TaskResult:
    """The result of the task.

    Bad input is a result, too: it reads the same from every process.
    """
    try:
        return perform_on(subject(task.subject), task)
    except Invalid as error:
        return NotDone(str(error))


def perform_on(
    chosen: Subject, task: Task, explore: Callable[..., Exploration] = explore
) -> Done | FewerDone:
    """As `perform`, of a protocol at hand.  explore: explores a scope.  Raises Invalid."""
    started = time.perf_counter()
    protocol = chosen.protocol
    match task.kind:
        case TaskKind.SCOPE:
            pinned = next(one for one in protocol.evidence.scopes if one.name == task.name)
            found = _explore(explore, protocol, pinned, task)
            result = partial(scope_result, steps=task.steps)
            return ScopeDone(
                result(protocol, pinned, found, whole=task.whole),
                time.perf_counter() - started,
                frozenset(map(str, found.hit)),
                found.vacuous,
                named_trial(pinned, found),
                found.shapes,
            )
        case TaskKind.OPERATOR:
            seen = partial(_explore, explore, task=task)
            result = partial(scope_result, whole=True, steps=task.steps)
            row = run_standard(protocol, task.name, seen, result)
            return Done(row, time.perf_counter() - started)
        case TaskKind.FEWER:
            return _explore_fewer(explore, protocol, task)
        case TaskKind.ATTACK:
            attacked = attack(protocol, walks=task.walks, examples=task.examples)
            failure = attack_result(attacked, task.subject, steps=task.steps)
            return Done(failure, time.perf_counter() - started)
        case TaskKind.MUTANT:
            mutant = next(one for one in protocol.evidence.mutants if one.name == task.name)
            killing = hunt(protocol, mutant, chosen.home, _attack)
            return Done(mutant_result(killing), time.perf_counter() - started)


def _explore(
    explore: Callable[..., Exploration], protocol: Protocol, pinned: PinnedScope, task: Task
) -> Exploration:
    if not task.reduce:
        explore = partial(explore, reduce=False)
    if task.shapes:
        explore = partial(explore, shapes=True)
    worlds, seconds, memory = task.budget
    usual = max(WORLD_LIMIT[pinned.expect], pinned.states or 0, pinned.reduced or 0)
    if task.kind is TaskKind.OPERATOR:
        usual = STANDARD_WORLDS
    return explore(
        protocol,
        pinned.scope,
        until=None if task.whole else pinned.guarantee or Guarantee.PRECISE,
        limit=usual if worlds is None else worlds,
        seconds=seconds,
        memory=memory,
    )


def _explore_fewer(
    explore: Callable[..., Exploration], protocol: Protocol, task: Task
) -> FewerDone:
    pinned = next(one for one in protocol.evidence.scopes if one.name == task.name)
    scope = without_last(pinned.scope, task.last)
    assert scope is not None, "the task has a scope with something to take away"
    limits = {"limit": LARGEST, "seconds": task.budget.seconds, "memory": task.budget.memory}
    try:
        found = explore(protocol, scope, **limits, reduce=False, shapes=True)
    except Invalid:  # the protocol takes no scope without it
        return FewerDone(task.last, None)
    if not found.complete or found.shapes is None:
        return FewerDone(task.last, None)
    hit = frozenset(map(str, found.hit))
    return FewerDone(task.last, MetInScope(scope, found.states, found.shapes, hit))


def _attack(broken: Protocol) -> Attack:
    return attack(broken, walks=HUNT_WALKS, examples=HUNT_EXAMPLES)
