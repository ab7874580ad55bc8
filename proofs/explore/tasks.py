"""The tasks of a check: a scope to explore, a random attack, or a mutant to hunt.

Rule of this file: nothing here adds up.  A task is a few words and its result is plain data, so any
process that has the project's code can perform any task, on this machine or on another one.
"""

from __future__ import annotations

import time
from enum import StrEnum
from typing import Any, NamedTuple

from model.errors import Invalid
from model.evidence import Mutant, Outcome, PinnedScope
from model.protocol import Protocol
from model.registry import Subject, subject
from proofs.classify.graphs import class_of
from proofs.explore.explorer import Exploration, explore
from proofs.explore.mutants import Killing, hunt
from proofs.explore.random_attack import Attack, attack, pytest_file
from proofs.explore.search.meter import UNLIMITED, Budget
from proofs.explore.trace_json import story

WALKS = {"quick": 200, "full": 20_000}
"""The number of random walks for each protocol."""

EXAMPLES = {"quick": 40, "full": 1_000}
"""The number of Hypothesis examples for each protocol."""

WORLD_LIMIT = {Outcome.HOLDS: 8_000_000, Outcome.REFUTED: 600_000}
"""The number of worlds after which the exploration of a scope ends.  A scope that is expected to
hold is then reported as incomplete; a scope that is expected to be refuted needs its counterexample
and its guarantee by then."""

RUN_WORLDS = 1_000
"""A random run takes about as long as the exploration of so many worlds."""

HUNT_WALKS, HUNT_EXAMPLES = 5_000, 200
"""The same numbers for each mutant that the explorer does not find."""

NO_ATTACK = Attack(walks=0, examples=0, actions=0, seconds=0.0, failure=None)


class TaskKind(StrEnum):
    SCOPE = "scope"
    ATTACK = "attack"
    MUTANT = "mutant"


class Task(NamedTuple):
    """A part of a check that needs no other part.

    subject: the protocol as `asif check` takes it.  name: of the scope or of the mutant.  worlds:
    about how long the task takes, as a number of explored worlds.  walks, examples: the random runs
    of an attack.  budget: of the exploration of a scope; its worlds are WORLD_LIMIT's if None.
    whole: go on after all that is expected of a refuted scope was found.
    """

    subject: str
    kind: TaskKind
    name: str
    worlds: int
    walks: int = 0
    examples: int = 0
    budget: Budget = UNLIMITED
    whole: bool = True

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
    budget: Budget = UNLIMITED,
    once: bool = False,
) -> tuple[Task, ...]:
    """The tasks of a check of the protocol: scopes, the attack, mutants, as the protocol has them.

    called: the protocol as `asif check` takes it.  walks, examples: as many random runs; None:
    those of the profile.  once: what is expected to be refuted is refuted once: its exploration
    ends when all that is expected was found; and only what holds and is no variant is attacked.
    """
    scopes = [pinned for pinned in protocol.evidence.scopes if pinned.quick or profile == "full"]
    walks = WALKS[profile] if walks is None else walks
    runs = EXAMPLES[profile] if examples is None else examples
    attacked = not once or (
        protocol.evidence.expected is Outcome.HOLDS and ":" not in protocol.name
    )
    attack_ = Task(called, TaskKind.ATTACK, "random attack", runs * RUN_WORLDS, walks, runs)
    return (
        *(
            Task(
                called,
                TaskKind.SCOPE,
                one.name,
                one.states or 0,
                budget=budget,
                whole=not (once and one.expect is Outcome.REFUTED),
            )
            for one in scopes
        ),
        *((attack_,) if attacked else ()),
        *(
            Task(called, TaskKind.MUTANT, one.name, _hunt_worlds(protocol, one))
            for one in protocol.evidence.mutants
            if mutants
        ),
    )


def _hunt_worlds(protocol: Protocol, mutant: Mutant) -> int:
    """The worlds of the scope that shows the mutant; if none is named, of the smallest quick one,
    which most often does."""
    likely = [
        pinned.states or 0
        for pinned in protocol.evidence.scopes
        if (pinned.name == mutant.scope if mutant.scope else pinned.quick)
    ]
    return min(likely, default=0)


def perform(task: Task) -> dict[str, Any]:
    """The result of the task, JSON-able: `row` as in docs/json.md, `seconds`, and of a scope the
    crash points (`points`, `hit`) and what it never tried (`vacuous`).

    Bad input is a result, too ({"invalid": the reason}): it reads the same from every process.
    """
    try:
        return perform_on(subject(task.subject), task)
    except Invalid as error:
        return {"invalid": str(error)}


def perform_on(chosen: Subject, task: Task) -> dict[str, Any]:
    """As `perform`, of a protocol at hand.  Raises Invalid."""
    started = time.perf_counter()
    protocol = chosen.protocol
    match task.kind:
        case TaskKind.SCOPE:
            pinned = next(one for one in protocol.evidence.scopes if one.name == task.name)
            worlds, seconds, memory = task.budget
            usual = max(WORLD_LIMIT[pinned.expect], pinned.states or 0)
            limit = usual if worlds is None else worlds
            found = explore(
                protocol,
                pinned.scope,
                until=None if task.whole else pinned.guarantee,
                limit=limit,
                seconds=seconds,
                memory=memory,
            )
            result = {
                "row": _scope_row(pinned, found, whole=task.whole),
                "points": sorted(map(str, found.points)),
                "hit": sorted(map(str, found.hit)),
                "vacuous": [*found.vacuous],
            }
        case TaskKind.ATTACK:
            attacked = attack(protocol, walks=task.walks, examples=task.examples)
            result = {"row": attack_row(attacked, task.subject)}
        case TaskKind.MUTANT:
            mutant = next(one for one in protocol.evidence.mutants if one.name == task.name)
            result = {"row": _mutant_row(hunt(protocol, mutant, chosen.home, _attack))}
    return {**result, "seconds": time.perf_counter() - started}


def _attack(broken: Protocol) -> Attack:
    return attack(broken, walks=HUNT_WALKS, examples=HUNT_EXAMPLES)


def _scope_row(pinned: PinnedScope, found: Exploration, *, whole: bool) -> dict[str, Any]:
    """whole: the worlds are compared with those that are pinned."""
    counterexample = None
    if found.counterexample is not None:
        trace = found.counterexample.trace
        counterexample = {
            "property": found.counterexample.property.name,
            "steps": len(trace.actions),
            "circle": found.counterexample.circle,
            "pinned": pinned.steps,
            "story": story(trace, found.counterexample.circle),
        }
    steps = None if counterexample is None else counterexample["steps"]
    derived = class_of(pinned.scope)
    as_pinned = (
        (found.complete or pinned.expect is Outcome.REFUTED)
        and found.outcome is pinned.expect
        and (pinned.states in (None, found.states) or not (whole or found.complete))
        and pinned.steps in (None, steps)
        and found.guarantee is pinned.guarantee
        and derived in (pinned.operators, None)
    )
    return {
        "name": pinned.name,
        "operators": pinned.operators.name,
        "derived": None if derived is None else derived.name,
        "crashes": pinned.scope.crashes,
        "expect": pinned.expect.value,
        "outcome": found.outcome.value,
        "as_pinned": as_pinned,
        "states": found.states,
        "pinned": pinned.states,
        "transitions": found.transitions,
        "depth": found.depth,
        "quiescent": found.quiescent,
        "seconds": round(found.seconds, 3),
        "states_per_second": round(found.states / max(found.seconds, 1e-9)),
        "guarantee": found.guarantee.name,
        "expect_guarantee": pinned.guarantee.name,
        "points": len(found.points),
        "hit": len(found.hit),
        "missed": sorted(map(str, found.points - found.hit)),
        "notes": dict(sorted(found.notes.items())),
        "complete": found.complete,
        "spent": found.spent or None,
        "counterexample": counterexample,
    }


def attack_row(attacked: Attack, called: str) -> dict[str, Any]:
    failure = None
    if attacked.failure is not None:
        failure = {
            "by": attacked.by,
            "property": attacked.failure.property.name,
            "steps": len(attacked.failure.trace.actions),
            "story": story(attacked.failure.trace),
            "pytest": pytest_file(called, attacked.failure),
        }
    return {
        "walks": attacked.walks,
        "examples": attacked.examples,
        "actions": attacked.actions,
        "seconds": round(attacked.seconds, 2),
        "failure": failure,
    }


def _mutant_row(killing: Killing) -> dict[str, Any]:
    mutant = killing.mutant
    return {
        "name": mutant.name,
        "module": mutant.module,
        "old": mutant.old,
        "new": mutant.new,
        "by": killing.by,
        "scope": killing.scope,
        "seconds": round(killing.seconds, 2),
        "states": killing.states,
        "steps": killing.steps,
    }
