"""The verdict: the results of all checkers about a protocol, as plain data.

Rule of this file: no decision that a checker does not make; the file runs checkers and adds up.
`--json` writes the dict that `verdict` returns, and reports read it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from model.core import Guarantee, OperatorClass, Outcome, PinnedScope, Protocol
from model.progress import Progress, silent
from proofs.explore.explorer import Exploration, explore
from proofs.explore.mutants import Killing, hunt
from proofs.explore.random_attack import Attack, attack, pytest_file
from proofs.explore.trace_json import story

WALKS = {"quick": 400, "full": 20_000}
"""The number of random walks for each protocol."""

EXAMPLES = {"quick": 100, "full": 1_000}
"""The number of Hypothesis examples for each protocol."""

HUNT_WALKS, HUNT_EXAMPLES = 5_000, 200
"""The same numbers for each mutant that the explorer does not find."""

WORLD_LIMIT = {Outcome.HOLDS: 8_000_000, Outcome.REFUTED: 600_000}
"""The number of worlds after which the exploration of a scope ends.  A scope that is expected to
hold is then reported as incomplete; a scope that is expected to be refuted needs its counterexample
and its guarantee by then."""


def verdict(
    protocol: Protocol,
    *,
    profile: str = "quick",
    walks: int | None = None,
    examples: int | None = None,
    called: str | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Explore every scope of the profile, then attack; return the verdict (docs/json.md).

    called: the name or file that `asif check` received, for the replaying test; the protocol's name
    if None.
    """
    started = time.perf_counter()
    scopes = [pinned for pinned in protocol.scopes if pinned.quick or profile == "full"]
    parts = len(scopes) + 1
    explored: list[tuple[PinnedScope, Exploration]] = []
    for done, pinned in enumerate(scopes):
        progress(protocol.name, done, parts, pinned.name)
        explored.append((pinned, explore(protocol, pinned.scope, limit=WORLD_LIMIT[pinned.expect])))
    progress(protocol.name, parts - 1, parts, "random attack")
    attacked = attack(
        protocol,
        walks=WALKS[profile] if walks is None else walks,
        examples=EXAMPLES[profile] if examples is None else examples,
    )
    progress(protocol.name, parts, parts, "done")

    evidence: Counter[str] = Counter()
    points: set[str] = set()
    hit: set[str] = set()
    found: dict[OperatorClass, Guarantee] = {}
    for pinned, exploration in explored:
        evidence.update(exploration.notes)
        points.update(map(str, exploration.points))
        hit.update(map(str, exploration.hit))
        operators = pinned.operators
        found[operators] = max(found.get(operators, Guarantee.PRECISE), exploration.guarantee)
    refuted = attacked.failure is not None or any(
        exploration.outcome is Outcome.REFUTED for _, exploration in explored
    )
    claims = protocol.claims
    tried = [operators for operators in claims if any(c <= operators for c in found)]
    weaker = [c.name for c in tried if _found_for(c, found) > claims[c]]
    stronger = [c.name for c in tried if _found_for(c, found) < claims[c]]
    unclaimed = [operators.name for operators in found if operators not in claims]
    missing = [note.name for note in protocol.must_occur if not evidence[note.name]]
    vacuous = [f"{pinned.name}: {why}" for pinned, one in explored for why in one.vacuous]
    if not scopes:
        vacuous.append(f"no scope is explored in the profile {profile}")
    explorable = {pinned.operators for pinned in protocol.scopes}
    vacuous += [
        f"claimed for {operators.name} operators, and no scope has operators of that class"
        for operators in claims
        if operators not in explorable
    ]
    rows = [_scope_row(pinned, exploration) for pinned, exploration in explored]
    outcome = Outcome.REFUTED if refuted or weaker else Outcome.HOLDS
    if outcome is Outcome.HOLDS and vacuous:
        outcome = Outcome.VACUOUS
    as_pinned = (
        all(row["as_pinned"] for row in rows)
        and outcome is protocol.expected
        and not (missing or vacuous or stronger or unclaimed)
    )
    return {
        "protocol": protocol.name,
        "title": protocol.title,
        "source": protocol.source,
        "finding": protocol.finding,
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
        "attack": _attack_row(attacked, called or protocol.name),
        "evidence": dict(sorted(evidence.items())),
        "missing": missing,
        "mutants": None,
        "seconds": round(time.perf_counter() - started, 2),
    }


def _found_for(operators: OperatorClass, found: Mapping[OperatorClass, Guarantee]) -> Guarantee:
    """What a claim about a class of operators is compared with: the weakest guarantee in the scopes
    of this class and of the classes that it contains; PRECISE if there are none."""
    return max((g for c, g in found.items() if c <= operators), default=Guarantee.PRECISE)


def mutation(protocol: Protocol, home: str, progress: Progress = silent) -> list[dict[str, Any]]:
    """Hunt every mutant of the protocol; home: the name of the module that holds it."""
    rows = []
    for done, mutant in enumerate(protocol.mutants):
        progress("mutants", done, len(protocol.mutants), mutant.name)
        rows.append(_mutant_row(hunt(protocol, mutant, home, _attack)))
    progress("mutants", len(rows), len(rows), "done")
    return rows


def _attack(broken: Protocol) -> Attack:
    return attack(broken, walks=HUNT_WALKS, examples=HUNT_EXAMPLES)


def _scope_row(pinned: PinnedScope, found: Exploration) -> dict[str, Any]:
    counterexample = None
    if found.counterexample is not None:
        trace = found.counterexample.trace
        counterexample = {
            "property": found.counterexample.property.name,
            "steps": len(trace.actions),
            "pinned": pinned.steps,
            "story": story(trace),
        }
    steps = None if counterexample is None else counterexample["steps"]
    as_pinned = (
        (found.complete or pinned.expect is Outcome.REFUTED)
        and found.outcome is pinned.expect
        and pinned.states in (None, found.states)
        and pinned.steps in (None, steps)
        and found.guarantee is pinned.guarantee
    )
    return {
        "name": pinned.name,
        "operators": pinned.operators.name,
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
        "counterexample": counterexample,
    }


def _attack_row(attacked: Attack, called: str) -> dict[str, Any]:
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
