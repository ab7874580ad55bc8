"""The random attack without the explorer: how many mutants walks find, and how many Hypothesis.

Rule of this file: no explorer, which finds all of them; both ways attack the same mutants, each
with a fixed number of runs.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table

from model.protocol import Protocol
from model.registry import modules
from proofs.explore.mutants import mutate
from proofs.explore.random_attack import Tally, attack, enlarge, machine, run_machine

WALKS, EXAMPLES = 2_000, 200


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


def main() -> None:
    table = Table("attack on mutants, no explorer", "runs each", "found", "of", "seconds")
    walked: list[Hunted] = []
    drawn: list[Hunted] = []
    for home, protocol in modules().items():
        for mutant in protocol.evidence.mutants:
            broken = mutate(protocol, mutant, home)
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
    Console().print(table)


if __name__ == "__main__":
    main()
