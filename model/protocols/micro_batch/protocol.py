"""Micro-batch recovery, as Spark Structured Streaming does it, and its evidence.

Rule of this file: what is claimed of which design, and the worlds that bear it out.  The nodes are
model.protocols.micro_batch.nodes.  Designs that change one thing stand beside Spark's, each with
its verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from model.cep.engines import Engine, Fed, Matches
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows, Splitter, TimeWindows
from model.core import (
    Arrival,
    Assumptions,
    Failures,
    Guarantee,
    Inputs,
    Mutant,
    OperatorClass,
    Outcome,
    PinnedScope,
    Protocol,
    Scope,
)
from model.events import Body
from model.graph import chain
from model.properties import AS_IF, COMPLETE
from model.protocols.micro_batch.messages import (
    Acks,
    Commits,
    Design,
    Offsets,
    Sink,
    Versions,
    show,
    size,
)
from model.protocols.micro_batch.nodes import boot, deploy, gauges, recover, step

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT_CAPABLE = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC

Counts: TypeAlias = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Count:
    """A running count a type: with every event, how many like it the window has had."""

    def begin(self) -> Counts:
        return ()

    def feed(self, state: Counts, event: Body) -> Fed:
        counts = dict(state)
        count = counts.get(event.type, 0) + 1
        counts[event.type] = count
        match = (Body(event.time, event.type, (("count", count),)),)
        return Fed(tuple(sorted(counts.items())), (match,), True)

    def close(self, state: Counts) -> Matches:
        return ()


def counting(length: int) -> Operator:
    """A running count over a stream of up to `length` events: every event gives a row, and a row
    says how often the events before it were counted."""
    return Operator(Count(), CountWindows(length, length))


# --- worlds ----------------------------------------------------------------------------------
def _scope(
    engine: Engine, splitter: Splitter, length: int, types: str = "ab", crashes: int = 1
) -> Scope:
    """One query, whose source may emit any word of `length` over the types."""
    alphabet = tuple(Arrival(1, type_) for type_ in types)
    graph = chain(("query", Operator(engine, splitter)))
    return Scope(graph, (("source", Inputs(alphabet, length)),), crashes)


A, AB = sequence("a"), sequence("a", "b")
ALONE, GRID, SLIDING, ALL = (
    CountWindows(1, 1),
    TimeWindows(2, 2, grid=True),
    CountWindows(3, 1),
    CountWindows(9, 9),
)

SCOPES = (
    PinnedScope("stateless", _scope(A, ALONE, 4), REPEATABLE, states=76_690),
    PinnedScope("time windows on a grid", _scope(AB, GRID, 4), CONVERGENT_CAPABLE, states=76_690),
    PinnedScope("count windows", _scope(AB, SLIDING, 4), DETERMINISTIC, states=76_690),
    PinnedScope("a running count", _scope(Count(), ALL, 4), DETERMINISTIC, states=76_690),
    PinnedScope(
        "a running count, two crashes",
        _scope(Count(), ALL, 3, crashes=2),
        DETERMINISTIC,
        states=81_559,
    ),
    PinnedScope(
        "a running count, three crashes",
        _scope(Count(), ALL, 4, "a", crashes=3),
        DETERMINISTIC,
        states=201_429,
        quick=False,
    ),
)


# --- protocols -------------------------------------------------------------------------------
SEEN = (
    "crashes",
    "windows that spanned a crash",
    "restarts between batches",
    "batches run again",
    "events replayed",
    "batches of several events",
    "events trimmed",
)
DISCARDED = (*SEEN, "duplicates discarded")
REGROUPED = (*SEEN, "batches written again with other events")


def _protocol(
    name: str,
    design: Design,
    scopes: tuple[PinnedScope, ...],
    must_occur: tuple[str, ...],
    finding: str,
    claim: Guarantee = Guarantee.PRECISE,
) -> Protocol:
    return Protocol(
        name=f"micro-batch:{name}" if name else "micro-batch",
        title="Micro-batches with an offset log and a commit log",
        source="Spark Structured Streaming, MicroBatchExecution",
        deploy=partial(deploy, design),
        boot=boot,
        recover=recover,
        step=step,
        gauges=gauges,
        show=show,
        assumes=Assumptions(Failures.ANY),
        claims={REPEATABLE: claim, CONVERGENT_CAPABLE: claim, DETERMINISTIC: claim},
        properties=(AS_IF, COMPLETE),
        scopes=scopes,
        must_occur=must_occur,
        finding=finding,
        size=size,
    )


SHARED = (
    ("stateless", _scope(A, ALONE, 3), REPEATABLE),
    ("time windows on a grid", _scope(AB, GRID, 4), CONVERGENT_CAPABLE),
    ("a running count", _scope(Count(), ALL, 3), DETERMINISTIC),
    ("a running count, two crashes", _scope(Count(), ALL, 3, "a", crashes=2), DETERMINISTIC),
)
"""The worlds in which the variants are compared."""


def _holds(*pins: int) -> tuple[PinnedScope, ...]:
    """The shared worlds, with how many there are of each."""
    return tuple(
        PinnedScope(name, scope, operators, states=states)
        for (name, scope, operators), states in zip(SHARED, pins, strict=False)
    )


def _fails(guarantee: Guarantee, *pins: tuple[int, int]) -> tuple[PinnedScope, ...]:
    """The last of the shared worlds: how many, and the steps of a shortest counterexample."""
    return tuple(
        PinnedScope(name, scope, operators, Outcome.REFUTED, states, steps, guarantee)
        for (name, scope, operators), (states, steps) in zip(
            SHARED[-len(pins) :], pins, strict=True
        )
    )


VARIANTS = (
    _protocol(
        "foreach-batch",
        Design(sink=Sink.APPEND),
        _fails(Guarantee.REPEATING, (13_394, 11), (77_162, 15), (13_954, 11), (13_973, 11)),
        SEEN,
        "A sink that appends what it is given sees a batch again that was written but not "
        "committed: whole, under the same id and with the same events, since its offsets were "
        "logged.",
        Guarantee.REPEATING,
    ),
    _protocol(
        "offsets-after",
        Design(offsets=Offsets.AFTER),
        _fails(Guarantee.GAP, (12_776, 17), (78_256, 19), (13_072, 17), (15_025, 17)),
        (*REGROUPED, "duplicates discarded"),
        "A batch whose offsets are not logged may come again with other events under the same id. "
        "A sink that knows ids drops the new events with the old: knowing ids is worse here than "
        "knowing nothing.",
    ),
    _protocol(
        "offsets-after-foreach-batch",
        Design(offsets=Offsets.AFTER, sink=Sink.APPEND),
        _fails(Guarantee.REPEATING, (13_277, 11), (78_372, 15), (14_098, 11), (17_933, 11)),
        REGROUPED,
        "A sink that appends loses nothing when batches regroup; what it repeats need not be a "
        "whole batch any more.",
        Guarantee.REPEATING,
    ),
    _protocol(
        "offsets-after-keyed-rows",
        Design(offsets=Offsets.AFTER, sink=Sink.BY_ROW),
        _holds(12_632, 78_000, 12_784, 14_056),
        (*REGROUPED, "duplicates discarded"),
        "A sink that knows rows by the event that triggered them does not need the offset log to "
        "come first: it is there for sinks that know batches.",
    ),
    _protocol(
        "eager-acks",
        Design(acks=Acks.EAGER),
        _fails(Guarantee.GAP, (22_676, 13), (131_114, 17), (23_482, 13), (26_926, 13)),
        DISCARDED,
        "If the source may trim the events of the batch under way, that batch cannot run again.",
    ),
    _protocol(
        "prompt-acks",
        Design(acks=Acks.PROMPT),
        _holds(14_724, 88_884, 14_724, 13_152),
        DISCARDED,
        "The lag of one batch is not needed against crashes: acknowledging a batch as soon as it "
        "is in the commit log is as safe, and the source keeps one batch less.",
    ),
    _protocol(
        "commit-first",
        Design(commits=Commits.BEFORE_SINK),
        _fails(Guarantee.GAP, (10_508, 7), (64_892, 11), (10_572, 7), (8_658, 7)),
        SEEN,
        "A batch that is in the commit log is not run again, whether the sink has taken it or not.",
    ),
    _protocol(
        "state-in-place",
        Design(versions=Versions.IN_PLACE),
        (*_holds(14_830), *_fails(Guarantee.GAP, (87_404, 11), (15_490, 9), (17_212, 9))),
        DISCARDED,
        "A batch that runs again on the state that it has left counts its events twice. Without "
        "state that outlives an event it does no harm.",
    ),
)

NODES = "model.protocols.micro_batch.nodes"
MUTANTS = (
    Mutant(
        "run a batch again from the newest state",
        NODES,
        "return next(v for v in query.versions if v.batch == batch.id - 1)",
        "return query.versions[-1]",
        "time windows on a grid",
    ),
    Mutant(
        "keep only the newest state",
        NODES,
        "kept = (before, version) if design.versions is Versions.KEPT else (version,)",
        "kept = (version,)",
    ),
    Mutant(
        "write the state that the batch began with",
        NODES,
        "version = Version(batch.id, after)",
        "version = Version(batch.id, before.state)",
        "time windows on a grid",
    ),
    Mutant(
        "acknowledge the batch being planned",
        NODES,
        "effects.append(Send(source, Commit(batch.start)))",
        "effects.append(Send(source, Commit(batch.end)))",
    ),
    Mutant(
        "begin a batch where the last one began",
        NODES,
        "batch = Batch(last.id + 1, last.end, state.latest)",
        "batch = Batch(last.id + 1, last.start, state.latest)",
    ),
    Mutant(
        "do not run a logged batch again",
        NODES,
        "if batch.id == query.committed:",
        "if batch.id >= query.committed:",
    ),
    Mutant(
        "ask for too little after a restart",
        NODES,
        "ask = Send(site.preds[0], Ask(batch.end))",
        "ask = Send(site.preds[0], Ask(batch.end + 1))",
    ),
    Mutant(
        "forget what was heard of during a batch",
        NODES,
        "return _ready(QueryState(query, batch, Phase.IDLE, state.latest), tuple(effects))",
        "return _ready(QueryState(query, batch, Phase.IDLE, batch.end), tuple(effects))",
    ),
    Mutant(
        "the sink takes the last batch again",
        NODES,
        "if sink is Sink.BY_BATCH and batch.id <= state.batch.id:",
        "if sink is Sink.BY_BATCH and batch.id < state.batch.id:",
    ),
    Mutant(
        "the source trims one event too many",
        NODES,
        "kept = state.kept.trim(lambda event: event.sn[0] <= end)",
        "kept = state.kept.trim(lambda event: event.sn[0] <= end + 1)",
    ),
    Mutant(
        "the source hands out one event too few",
        NODES,
        "events = tuple(e for e in state.kept if batch.start < e.sn[0] <= batch.end)",
        "events = tuple(e for e in state.kept if batch.start < e.sn[0] < batch.end)",
    ),
)

PROTOCOL = replace(
    _protocol(
        "",
        Design(),
        SCOPES,
        DISCARDED,
        "Offsets before the batch, the state before it kept, the commit log last, and a sink that "
        "takes no batch id twice: precise for every operator and set of crashes explored, although "
        "batches that were not logged regroup.",
    ),
    variants=VARIANTS,
    mutants=MUTANTS,
)
