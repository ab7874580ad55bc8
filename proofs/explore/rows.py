"""The rows of a check: the result of a search, an attack or a hunt as a frozen value.

Rule of this file: no search of its own; the culprit of a run is found here, once a run is there.
"""

from __future__ import annotations

from model.evidence import Outcome, PinnedScope
from model.protocol import Protocol
from model.results.attack import AttackFailure, AttackResult, MutantResult
from model.results.verdict import ScopeCounterexample, ScopeResult
from proofs.classify.graphs import class_of
from proofs.explore.coverage import missed_points
from proofs.explore.culprit.find import find_culprit
from proofs.explore.explorer import Exploration
from proofs.explore.mutants import Killing
from proofs.explore.random_attack import Attack, pytest_file
from proofs.explore.stepping.run import stepped_failure
from proofs.explore.story import story
from proofs.explore.unexpected import unexpected
from proofs.explore.vacuity import NamedTrial


def scope_result(
    protocol: Protocol,
    pinned: PinnedScope,
    found: Exploration,
    *,
    whole: bool,
    steps: bool = False,
) -> ScopeResult:
    """The result of a scope.  whole: the worlds are compared with those that are pinned.  steps:
    as in proofs.explore.tasks.Task."""
    counterexample = _counterexample(pinned, found, steps=steps)
    length = None if counterexample is None else counterexample.steps
    derived = class_of(pinned.scope)
    guarantee = None if pinned.operators is None else found.guarantee
    judged = guarantee if found.quiescent else None
    worlds = pinned.reduced if found.reduced else pinned.states
    compared = worlds if whole or found.complete else None
    as_pinned = (
        (found.complete or pinned.expect is Outcome.REFUTED)
        and found.outcome is pinned.expect
        and compared in (None, found.states)
        and pinned.steps in (None, length)
        and guarantee is pinned.guarantee
        and derived in (pinned.operators, None)
    )
    return ScopeResult(
        name=pinned.name,
        operators=pinned.operators,
        derived=derived,
        crashes=pinned.scope.crashes,
        expect=pinned.expect,
        outcome=found.outcome,
        as_pinned=as_pinned,
        differs=tuple(unexpected(pinned, found, length, compared)),
        states=found.states,
        pinned=worlds,
        reduced=found.reduced,
        transitions=found.transitions,
        depth=found.depth,
        quiescent=found.quiescent,
        seconds=round(found.seconds, 3),
        states_per_second=round(found.states / max(found.seconds, 1e-9)),
        guarantee=judged,
        expect_guarantee=pinned.guarantee,
        points=len(found.points),
        hit=len(found.hit),
        missed=missed_points(protocol, pinned.scope, found),
        notes=dict(sorted(found.notes.items())),
        complete=found.complete,
        spent=found.spent or None,
        counterexample=counterexample,
    )


def named_trial(pinned: PinnedScope, found: Exploration) -> NamedTrial | None:
    """The trial of a scope, with its name and the class of its operators."""
    if found.trial is None:
        return None
    return NamedTrial(pinned.name, pinned.operators, found.trial)


def _counterexample(
    pinned: PinnedScope, found: Exploration, *, steps: bool
) -> ScopeCounterexample | None:
    shown = found.counterexample
    if shown is None:
        return None
    run = story(shown.trace, shown.circle)
    culprit = find_culprit(shown, run)
    return ScopeCounterexample(
        property=shown.property.name,
        steps=len(shown.trace.actions),
        circle=shown.circle,
        pinned=pinned.steps,
        story=run,
        culprit=culprit,
        run=stepped_failure(shown, culprit) if steps else None,
    )


def attack_result(attacked: Attack, called: str, *, steps: bool = False) -> AttackResult:
    """The result of an attack on the protocol that is `called` so.  steps: as in Task."""
    failure, shown = None, attacked.failure
    if shown is not None:
        run = story(shown.trace)
        culprit = find_culprit(shown, run)
        failure = AttackFailure(
            by="hypothesis" if attacked.examples else "walk",
            property=shown.property.name,
            steps=len(shown.trace.actions),
            story=run,
            pytest=pytest_file(called, shown, culprit.says),
            culprit=culprit,
            run=stepped_failure(shown, culprit) if steps else None,
        )
    seconds = round(attacked.seconds, 2)
    return AttackResult(attacked.walks, attacked.examples, attacked.actions, seconds, failure)


def mutant_result(killing: Killing) -> MutantResult:
    """The result of a hunt."""
    mutant = killing.mutant
    return MutantResult(
        name=mutant.name,
        module=mutant.module,
        old=mutant.old,
        new=mutant.new,
        by=killing.by,
        scope=killing.scope,
        seconds=round(killing.seconds, 2),
        states=killing.states,
        steps=killing.steps,
    )
