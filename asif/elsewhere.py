"""Processes that differ in all that a pure function does not read; each asks a protocol the same.

Rule of this file: no protocol is imported here; asif.another_process is the code of the processes.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from subprocess import DEVNULL, PIPE
from typing import IO

from model.errors import Invalid
from model.machine.children import end, start
from model.results.purity import ImpureAnswer
from proofs.explore.purity import AnswerTable, impure_answers, loading, why_unasked

SEEDS = ("1", "2", "3")
"""The hash seed of each process.  The order of a set of two names differs in one of them with a
probability of 3/4; the seeds are fixed, so that a check always answers the same."""


class Unasked(Invalid):
    """No process could ask a protocol, so nothing is known of its purity."""


@contextmanager
def ask_elsewhere(
    names: Sequence[str], scope: str | None = None
) -> Iterator[Iterator[tuple[ImpureAnswer, ...]]]:
    """A context with the impure functions of each protocol, in the order of the names.

    names: protocols as every process finds them.  scope: in this scope alone.  The processes begin
    at once, and end with the context.  The iterator raises Unasked.
    """
    with ExitStack() as started:
        answers = [started.enter_context(_start(seed, names, scope)) for seed in SEEDS]
        yield (_impure(name, [_table(name, one.readline()) for one in answers]) for name in names)


def _impure(name: str, tables: Sequence[AnswerTable]) -> tuple[ImpureAnswer, ...]:
    impure = impure_answers(tables)
    if not impure and (why := why_unasked(tables)):
        raise Unasked(
            f"{name}: whether its functions are pure was not asked: "
            f"in each process of the check for it, {why}"
        )
    return impure


def _table(name: str, line: bytes) -> AnswerTable:
    """The answers about a protocol; of a process that died, one that no other process has."""
    rows = json.loads(line) if line else [loading(name, "its process ended")]
    return {tuple(asked): texts for asked, texts in rows}


@contextmanager
def _start(seed: str, names: Sequence[str], scope: str | None) -> Iterator[IO[bytes]]:
    """A process that answers a line for each name: its output."""
    environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    task = json.dumps({"number": SEEDS.index(seed), "scope": scope, "names": [*names]})
    process = start(
        [sys.executable, "-P", "-m", "asif.another_process", task],
        output=PIPE,
        errors=DEVNULL,
        environment=environment,
    )
    assert process.stdout is not None
    with process.stdout as answers:
        try:
            yield answers
        finally:
            end(process)
