"""Readings of a paper that are refuted, each by a smallest run.

Rule of this file: no formula; it is given a system from which something is left out.  Each search
says that nothing smaller will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from model.evidence import Outcome
from model.results.answers import QueryKind
from model.results.grid import Grid
from model.results.proofs import Erratum
from proofs.prove.grounding import Sizes
from proofs.prove.lemma import Given, Lemma
from proofs.prove.query import SolverQuery, smallest
from proofs.prove.transition import TransitionSystem, bounded


def refuted(
    section: str,
    name: str,
    statement: str,
    system: TransitionSystem,
    broken: tuple[str, int, Sizes],
    erratum: tuple[str, str] | None = None,
) -> Lemma:
    """broken: an invariant, the steps of a smallest run that breaks it, and the size of its world.
    erratum: the claim of the paper, and the correct one."""
    claim, steps, sizes = broken
    world = ", ".join(f"{sort}s: {size}" for sort, size in sizes.items())
    return Lemma(
        name=name,
        statement=statement,
        section=section,
        expect=Outcome.REFUTED,
        build=partial(_search, system, claim, steps, sizes),
        scope=f"runs of up to {steps} steps, {world}",
        fragment="finite",
        erratum=erratum and Erratum(erratum[0], section, f"{steps} steps", erratum[1]),
    )


def _search(
    system: TransitionSystem, claim: str, steps: int, sizes: Sizes, _: Given
) -> Iterator[SolverQuery]:
    def run(depth: int, kind: QueryKind) -> SolverQuery:
        return bounded(system, claim, depth, kind, sizes)

    yield from smallest(run, range(1, steps + 1))


def shortest(
    system: TransitionSystem,
    claim: str,
    steps: int,
    sizes: Sizes | None = None,
    assuming: Sequence[Any] = (),
    draw: Callable[[Any], Grid] | None = None,
) -> Iterator[SolverQuery]:
    """No run of fewer steps breaks the claim, in a world of any size; one of so many does, in a
    world of these sizes of which something more is assumed.  draw: in place of a table of states.
    """
    for depth in range(steps):
        yield bounded(system, claim, depth)
    found = bounded(system, claim, steps, QueryKind.COUNTEREXAMPLE, sizes, assuming)
    yield replace(found, show=draw or found.show)
