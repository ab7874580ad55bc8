"""Reports for the tests in a browser: a few protocols with all kinds of blocks, and one as large as
the registry.

Rule of this file: nothing is explored but a small scope; the large report has the pinned numbers of
the real scopes, and one made-up run for each that is refuted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from model.evidence import Outcome, PinnedScope
from model.protocol import Protocol
from model.registry import protocols
from model.results.attack import AttackResult
from model.results.report import ReportOrigin, ReportResults
from model.results.verdict import MissedPoint, ScopeCounterexample, ScopeResult, Verdict
from proofs.explore.verdict import verdicts
from tests.reports import test_page, test_proof_results

ORIGIN = ReportOrigin("2026-11-28T12:51:06Z", "0123456789ab", "Linux, 2 cores", {"Python": "3.11"})
REFUTED = "micro-batch:commit-first"
"""A protocol whose counterexample is short."""


@cache
def stepped_verdicts() -> Sequence[Verdict]:
    """The verdict on a small protocol, with runs to step through."""
    return verdicts([REFUTED], once=True, walks=1, examples=1, steps=True)


def small() -> ReportResults:
    """A report with every part, real and made up."""
    real = stepped_verdicts()
    proofs = test_proof_results.entries(
        test_proof_results.lemma("skipping"), test_proof_results.REFUTED
    )
    return test_page._results(
        verdicts=(*test_page._results().verdicts, *real), proofs=proofs, origin=ORIGIN
    )


def large() -> ReportResults:
    """A report with a verdict on every protocol and variant, and a run of each refuted scope.  The
    verdict on each family itself, and that on REFUTED, have more of everything than a real one."""
    shown = stepped_verdicts()[0].shortest
    assert shown is not None
    made = [_verdict(one, shown) for one in protocols().values()]
    long = (
        _long(one) if one.protocol == REFUTED or ":" not in one.protocol else one for one in made
    )
    return replace(small(), verdicts=tuple(long))


def _long(one: Verdict) -> Verdict:
    """The verdict with many scopes, missed points, notes and mutants; the last one survived."""
    many = 12 if one.refuted else 60
    scopes = (replace(one.scopes[at % len(one.scopes)], name=f"scope {at}") for at in range(many))
    killed = (replace(test_page.MUTANT, name=f"a mutant, number {at}") for at in range(140))
    missed = (MissedPoint(f"node {at}: on restart", "never so") for at in range(80))
    evidence = {f"a note of this protocol, number {at}": 1_000 + at for at in range(80)}
    return replace(
        one,
        scopes=tuple(scopes),
        missed=tuple(missed),
        evidence=evidence,
        missing=("events replayed",),
        mutants=(*killed, test_page.SURVIVOR),
    )


def _verdict(protocol: Protocol, shown: ScopeCounterexample) -> Verdict:
    scopes = tuple(_scope(one, shown) for one in protocol.evidence.scopes if one.quick)
    refuted = any(one.counterexample for one in scopes)
    found = {one.operators: one.guarantee for one in scopes if one.operators and one.guarantee}
    return Verdict(
        protocol=protocol.name,
        title=protocol.words.title,
        source=protocol.words.source,
        finding=protocol.words.finding,
        outcome=Outcome.REFUTED if refuted else Outcome.HOLDS,
        expected=True,
        claims=protocol.promise.claims,
        found=found,
        weaker=(),
        stronger=(),
        unclaimed=(),
        vacuous=(),
        points=24,
        hit=24,
        missed=(),
        scopes=scopes,
        standard=(),
        untried_classes=(),
        attack=AttackResult(),
        evidence={f"a note of this protocol, number {at}": 1_000 + at for at in range(12)},
        missing=(),
        mutants=None,
        seconds=1.0,
    )


def _scope(pinned: PinnedScope, shown: ScopeCounterexample) -> ScopeResult:
    run = None
    if pinned.expect is Outcome.REFUTED:
        run = replace(shown, steps=pinned.steps or shown.steps, pinned=pinned.steps)
    result = test_page._scope(pinned.name, crashes=pinned.scope.crashes, missed=(), hit=7)
    return replace(
        result,
        operators=pinned.operators,
        derived=pinned.operators,
        expect=pinned.expect,
        outcome=pinned.expect,
        states=pinned.worlds,
        pinned=pinned.worlds,
        guarantee=pinned.guarantee,
        expect_guarantee=pinned.guarantee,
        counterexample=run,
    )
