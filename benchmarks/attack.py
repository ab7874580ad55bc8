"""The random attack without the explorer: how many mutants walks find, and how many Hypothesis.

Rule of this file: no number of its own that `asif check --mutants` does not use; both ways attack
the same mutants.
"""

from __future__ import annotations

import time
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from model.core import Protocol
from model.registry import modules
from proofs.explore.mutants import mutate
from proofs.explore.random_attack import attack
from proofs.explore.verdict import HUNT_EXAMPLES, HUNT_WALKS


class Hunted(NamedTuple):
    """An attack on a mutant.  seconds: of processor time."""

    found: bool
    seconds: float


def measure_attack(broken: Protocol, walks: int, examples: int) -> Hunted:
    started = time.process_time()
    failure = attack(broken, walks=walks, examples=examples).failure
    return Hunted(failure is not None, time.process_time() - started)


def main() -> None:
    table = Table("attack on mutants, no explorer", "runs each", "found", "of", "seconds")
    walked: list[Hunted] = []
    drawn: list[Hunted] = []
    for home, protocol in modules().items():
        for mutant in protocol.mutants:
            broken = mutate(protocol, mutant, home)
            walked.append(measure_attack(broken, HUNT_WALKS, 0))
            drawn.append(measure_attack(broken, 0, HUNT_EXAMPLES))
    either = [
        Hunted(one.found or other.found, one.seconds + (0 if one.found else other.seconds))
        for one, other in zip(walked, drawn, strict=True)
    ]
    for what, runs, rows in (
        ("walks alone", f"{HUNT_WALKS:,}", walked),
        ("Hypothesis alone", f"{HUNT_EXAMPLES:,}", drawn),
        ("walks, then Hypothesis", "both", either),
    ):
        seconds = sum(row.seconds for row in rows)
        found = sum(row.found for row in rows)
        table.add_row(what, runs, str(found), str(len(rows)), f"{seconds:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
