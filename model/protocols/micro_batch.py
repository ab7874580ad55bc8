"""Micro-batch recovery, as Spark Structured Streaming does it, and its evidence.

Rule of this file: what is claimed of which design, and the worlds that bear it out.  The nodes
are model.micro_batch.
"""

from __future__ import annotations

from functools import partial

from model.core import (
    Arrival,
    Assumptions,
    Failures,
    Guarantee,
    Inputs,
    OperatorClass,
    PinnedScope,
    Protocol,
    Scope,
)
from model.engines import Engine
from model.graph import chain
from model.micro_batch import (
    Acks,
    Commits,
    Count,
    Design,
    Offsets,
    Sink,
    Versions,
    boot,
    deploy,
    gauges,
    recover,
    show,
    size,
    step,
)
from model.operator import Operator
from model.patterns import sequence
from model.properties import AS_IF, COMPLETE
from model.windows import CountWindows, Splitter, TimeWindows

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC


def _scope(
    engine: Engine, splitter: Splitter, length: int, types: str = "ab", crashes: int = 1
) -> Scope:
    """One query, whose source may emit any word of `length` over the types."""
    alphabet = tuple(Arrival(1, type_) for type_ in types)
    graph = chain(("query", Operator(engine, splitter)))
    return Scope(graph, (("source", Inputs(alphabet, length)),), crashes)


FILTER = (sequence("a"), CountWindows(1, 1))
GRID = (sequence("a", "b"), TimeWindows(2, 2, grid=True))
COUNT = (Count(), CountWindows(99, 99))
PAIRS = (sequence("a", "b"), CountWindows(3, 1))


def _protocol(name: str, design: Design, scopes: tuple[PinnedScope, ...], finding: str) -> Protocol:
    return Protocol(
        name=f"micro-batch:{name}" if name else "micro-batch",
        title="Micro-batches with an offset log and a commit log",
        source="Spark Structured Streaming",
        deploy=partial(deploy, design),
        boot=boot,
        recover=recover,
        step=step,
        gauges=gauges,
        show=show,
        assumes=Assumptions(Failures.ANY),
        claims={
            REPEATABLE: Guarantee.PRECISE,
            CONVERGENT_CAPABLE: Guarantee.PRECISE,
            DETERMINISTIC: Guarantee.PRECISE,
        },
        properties=(AS_IF, COMPLETE),
        scopes=scopes,
        sometimes=("crashes",),
        finding=finding,
        size=size,
    )


D = {
    "": Design(),
    "prompt": Design(acks=Acks.PROMPT),
    "append": Design(sink=Sink.APPEND),
    "after": Design(offsets=Offsets.AFTER),
    "after-append": Design(offsets=Offsets.AFTER, sink=Sink.APPEND),
    "after-row": Design(offsets=Offsets.AFTER, sink=Sink.BY_ROW),
    "row": Design(sink=Sink.BY_ROW),
    "eager": Design(acks=Acks.EAGER),
    "commit-first": Design(commits=Commits.BEFORE_SINK),
    "in-place": Design(versions=Versions.IN_PLACE),
}
PROTOCOL = None
