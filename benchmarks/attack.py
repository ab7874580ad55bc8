"""The random attack without the explorer: how many mutants walks find, and how many Hypothesis.

Rule of this file: no explorer, which finds all of them; both ways attack the same mutants, each
with a fixed number of runs.  The mutants are a sample, the same in every run, unless all are asked
for.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hypothesis import strategies as st
from rich.table import Table

from benchmarks.stages import each
from model.evidence import Mutant
from model.progress import Progress
from model.protocol import Protocol
from model.registry import modules
from proofs.explore.mutants import mutate
from proofs.explore.random_attack import Tally, attack, enlarge, machine, run_machine

WALKS, EXAMPLES = 2_000, 200
SAMPLE = 30


class Hunted(NamedTuple):
    """An attack on a mutant.  seconds: of processor time."""

    found: bool
    seconds: float


def measure_walks(broken: Protocol) -> Hunted:
    started = time.process_time()
    found = attack(broken, walks=WALKS, examples=0).failure is not None
    return Hunted(found, time.process_time() - started)


def measure_hypothesis(broken: Protocol) -> Hunted:
    """Hypothesis does not shrink here, which would take most of the time."""
    started = time.process_time()
    tally = Tally()
    drawn = machine(broken, st.sampled_from(enlarge(broken)), tally)
    run_machine(drawn, EXAMPLES, shrinks=False)
    return Hunted(tally.failure is not None, time.process_time() - started)


class Attacked(NamedTuple):
    """A mutant with its protocol, and the name of the module that has the protocol."""

    home: str
    protocol: Protocol
    mutant: Mutant


def chosen(every: bool) -> Sequence[Attacked]:
    """All mutants, or a sample."""
    known = [
        Attacked(home, protocol, mutant)
        for home, protocol in modules().items()
        for mutant in protocol.evidence.mutants
    ]
    if every:
        return known
    return [known[at] for at in sorted(random.Random(0).sample(range(len(known)), SAMPLE))]


def tables(progress: Progress, every: bool) -> Iterator[Table]:
    title = "mutants" if every else "sampled mutants"
    table = Table(f"{title}, no explorer", "runs each", "found", "of", "seconds")
    walked: list[Hunted] = []
    drawn: list[Hunted] = []
    mutants = chosen(every)
    for one in each(progress, "attack", mutants, lambda one: one.protocol.name):
        broken = mutate(one.protocol, one.mutant, one.home)
        walked.append(measure_walks(broken))
        drawn.append(measure_hypothesis(broken))
    either = [
        Hunted(one.found or other.found, one.seconds + (0 if one.found else other.seconds))
        for one, other in zip(walked, drawn, strict=True)
    ]
    for what, runs, rows in (
        ("walks alone", f"{WALKS:,}", walked),
        ("Hypothesis alone", f"{EXAMPLES:,}", drawn),
        ("walks, then Hypothesis", "both", either),
    ):
        seconds = sum(row.seconds for row in rows)
        found = sum(row.found for row in rows)
        table.add_row(what, runs, str(found), str(len(rows)), f"{seconds:.1f}")
    yield table
