"""The CEP operator as a stateful operator of Spark, compared with the model and with SQL.

Rule of this file: the streams and queries, and what is compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import pandas as pd
from pyspark.sql import SparkSession

from engine_check.check import Check, CheckSetting, engine_case
from model.cep.merge import InputQueue, ready
from model.cep.operator import CepState, Operator, process
from model.events import NOTHING, Body, Event
from model.graph import SINK, SOURCE, Graph
from model.log import Log
from model.oracle import assign_times, oracle
from model.results.engine import EngineCase
from sim.inputs.flights import departures, flight_workload
from spark_check.operator.outcome import differing_keys, outcome, sent
from spark_check.operator.queries import RandomQuery, draw_query, operator
from spark_check.operator.sql import Simple, SqlMatch, answer
from spark_check.operator.stateful import (
    ROCKSDB,
    EventRow,
    KeyedOperators,
    MatchRow,
    StreamedRun,
    advance,
    body,
    events,
    match_rows,
    row,
    stream_batches,
)
from spark_check.runtime.session import BRIEF, session

Stream: TypeAlias = Sequence[Body]
"""The merged input of an operator."""
Streams: TypeAlias = Mapping[tuple[str, str], Stream]
"""By (query, key)."""


class ProfileSize(NamedTuple):
    """departures: None for all.  batches: of them, and of the random queries."""

    departures: int | None
    batches: int
    queries: int
    query_batches: int


SIZES = {"quick": ProfileSize(8_000, 2, 200, 3), "full": ProfileSize(None, 12, 4_000, 5)}
FEW = 2
"""Batches of the matches of other operators, which are few."""

CARRIER = {
    "very late ones an hour": Simple("grid", 60, 60, "how many", "very late"),
    "late ones of 20, every 5": Simple("count", 20, 5, "how many", "late"),
    "two cancelled in a row": Simple("grid", 120, 60, "strict", "cancelled", "cancelled"),
    "late, then cancelled": Simple("opened", 60, 60, "next", "late", "cancelled", "on time"),
    "any very late and cancelled": Simple("grid", 30, 15, "any", "very late", "cancelled"),
}
"""The queries about each carrier's departures; sizes in minutes or departures."""


# --- what the model says ---------------------------------------------------------------------
def run_in_loop(queries: Mapping[str, Operator], streams: Streams) -> list[MatchRow]:
    """What the model's operator finds in a plain loop: no batches, nothing kept or restored."""
    done: list[MatchRow] = []
    for (name, key), stream in streams.items():
        state = CepState()
        for n, one in enumerate(stream, 1):
            state, happened = process(queries[name], state, one)
            done += match_rows(name, key, n, happened.produced)
    return sorted(done)


def merge(streams: Sequence[Stream], mark: int) -> Iterator[Body]:
    """What the model's merge takes of these inputs when nothing before `mark` will follow."""
    if len(streams) == 1:  # nothing to merge, and a long log is slow to take apart
        yield from streams[0]
        return
    none: Log[Event] = Log()
    inlets = [
        InputQueue(none.extend(Event((n,), one) for n, one in enumerate(stream, 1)), NOTHING, mark)
        for stream in streams
    ]
    while (edge := ready(tuple(inlets))) is not None:
        yield inlets[edge].queue.first().body
        inlets[edge] = inlets[edge]._replace(queue=inlets[edge].queue.rest())


# --- comparing -------------------------------------------------------------------------------
def answers(rows: Iterable[MatchRow], names: Iterable[str]) -> list[SqlMatch]:
    """In the terms of SQL, which does not order the complex events of one trigger and window."""
    wanted = set(names)
    return sorted(
        SqlMatch(one.query, one.key, one.n, one.window, one.time, one.data)
        for one in rows
        if one.query in wanted
    )


def compare(
    name: str, queries: Mapping[str, Operator], streams: Streams, ran: StreamedRun, **details: Any
) -> EngineCase:
    """Compare the model's matches in a loop with those of Spark's operator."""
    started = perf_counter()
    expected = run_in_loop(queries, streams)
    rate = sum(map(len, streams.values())) / (perf_counter() - started)
    return engine_case(
        name,
        {**outcome(expected), "batches": list(ran.handed), "states": len(streams)},
        {**outcome(ran.found), "batches": list(ran.batches), "states": ran.states},
        {
            "rows a second": round(ran.rate),
            "rows a second in a plain loop": round(rate),
            "keys that differ": differing_keys(expected, ran.found)[:5],
            **details,
        },
    )


def compare_with_sql(
    name: str, spark: SparkSession, work: Path, simple: Mapping[str, Simple], ran: StreamedRun
) -> EngineCase:
    """Compare SQL's matches in the rows streamed there with those of Spark's operator."""
    started = perf_counter()
    expected = answer(spark, simple.items(), events(spark, work))
    seconds = perf_counter() - started
    seen = answers(ran.found, simple)
    return engine_case(
        name,
        outcome(expected),
        outcome(seen),
        {"seconds": round(seconds, 1), "keys that differ": differing_keys(expected, seen)[:5]},
    )


# --- flights ---------------------------------------------------------------------------------
def run_graph(
    spark: SparkSession, work: Path, graph: Graph, bodies: Sequence[Body], batches: int
) -> tuple[list[EngineCase], tuple[Body, ...]]:
    """Run the operators of a graph with one source, a job for each level, whose matches are
    streamed to the next: the cases, and the events that reach the sink.  An operator is a key."""
    (source,) = (name for name, spec in graph.nodes if spec is SOURCE)
    (sink,) = (name for name, spec in graph.nodes if spec is SINK)
    passed = {source: list(bodies)}
    cases: list[EngineCase] = []
    waiting = [name for name in graph.order() if name not in (source, sink)]
    while waiting:
        level = [name for name in waiting if all(pred in passed for pred in graph.preds(name))]
        waiting = [name for name in waiting if name not in level]
        queries, streams = {}, {}
        for name in level:
            inputs = [passed[pred] for pred in graph.preds(name)]
            queries[name] = graph.specs[name]
            streams[name, ""] = list(merge(inputs, bodies[-1].time))
        rows = cut(streams, FEW if cases else batches)
        ran = stream_batches(spark, work / level[0], rows, KeyedOperators(queries))
        cases.append(compare(f"flights: {', '.join(level)}", queries, streams, ran))
        for name in level:
            passed[name] = [body(one) for one in ran.found if one.query == name]
    (last,) = graph.preds(sink)
    return cases, tuple(passed[last])


def run_by_carrier(
    spark: SparkSession, work: Path, departures: pd.DataFrame, batches: int
) -> list[EngineCase]:
    """The same queries about every carrier, in the model and in SQL."""
    passed: dict[str, list[Body]] = defaultdict(list)
    columns = (departures[name].tolist() for name in ("carrier", "minute", "went"))
    for carrier, minute, went in zip(*columns, strict=True):
        passed[carrier].append(Body(minute, went))
    streams = {(name, carrier): stream for name in CARRIER for carrier, stream in passed.items()}
    queries = {name: operator(simple) for name, simple in CARRIER.items()}
    ran = stream_batches(spark, work, cut(streams, batches), KeyedOperators(queries))
    return [
        compare("flights by carrier", queries, streams, ran),
        compare_with_sql("flights by carrier, in SQL", spark, work, CARRIER, ran),
    ]


def cut(streams: Streams, batches: int) -> Iterator[list[EventRow]]:
    """The rows of a batch at a time; each stream is cut into equal parts."""
    for batch in range(batches):
        rows = []
        for (name, key), stream in streams.items():
            first, end = (at * len(stream) // batches for at in (batch, batch + 1))
            part = enumerate(stream[first:end], first + 1)
            rows += [row(name, key, n, one) for n, one in part]
        yield rows


# --- random queries --------------------------------------------------------------------------
def run_random(
    spark: SparkSession,
    work: Path,
    seeds: Iterable[int],
    batches: int,
    operators: type[KeyedOperators] = KeyedOperators,
) -> list[EngineCase]:
    """Random queries over random streams, each a key, in one job."""
    all_ = {str(seed): draw_query(seed, batches) for seed in seeds}
    queries = {name: one.operator for name, one in all_.items()}
    streams = {(name, ""): one.stream for name, one in all_.items()}
    rows = [
        [at for name, one in all_.items() for at in part(name, one, batch)]
        for batch in range(batches)
    ]
    ran = stream_batches(spark, work, rows, operators(queries))
    anew = chain(*(forgetful(name, one, batches) for name, one in all_.items()))
    across = differing_keys(run_in_loop(queries, streams), anew)
    simple = {name: one.simple for name, one in all_.items() if one.simple}
    details = {"queries that need what earlier batches left": len(across)}
    return [
        compare(f"{len(all_):,} random queries", queries, streams, ran, **details),
        compare_with_sql(f"{len(simple):,} of them, in SQL", spark, work, simple, ran),
    ]


def part(name: str, one: RandomQuery, batch: int) -> list[EventRow]:
    """The rows of one batch of a random query."""
    return [
        row(name, "", n, body)
        for n, (body, at) in enumerate(zip(one.stream, one.batches, strict=True), 1)
        if at == batch
    ]


def forgetful(name: str, one: RandomQuery, batches: int) -> Iterator[MatchRow]:
    """The matches if every batch began anew."""
    for batch in range(batches):
        yield from advance(one.operator, CepState(), part(name, one, batch))[1]


# --- the check -------------------------------------------------------------------------------
def run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    """Run all cases in a session with the state store of the operator."""
    brief = BRIEF if setting.profile == "quick" else {}
    with session(setting.work, conf={**ROCKSDB, **brief}, jvm=setting.shared) as spark:
        return cases(spark, setting)


def cases(spark: SparkSession, setting: CheckSetting) -> tuple[EngineCase, ...]:
    """All of them in one session."""
    size, work = SIZES[setting.profile], setting.work
    workload = flight_workload(size.departures)
    (arrivals,) = workload.events.values()
    setting.report("operator", 0, 3)
    done, reached = run_graph(
        spark, work / "graph", workload.graph, assign_times(arrivals), size.batches
    )
    ((expected,),) = oracle(workload.graph, workload.events).values()
    done.append(engine_case("flights: at the sink", sent(expected), sent(reached)))
    setting.report("operator", 1, 3)
    flown = departures(size.departures)
    done += run_by_carrier(spark, work / "carriers", flown, size.batches)
    setting.report("operator", 2, 3)
    done += run_random(spark, work / "random", range(size.queries), size.query_batches)
    setting.report("operator", 3, 3)
    return tuple(done)


CHECK = Check(
    "operator",
    "The CEP operator, run by Spark",
    run,
    (
        "Spark keeps the operator's state as one value for each key (RocksDB) and hands rows to it;"
        " the model's own function processes an event.",
        "Predictions come from the model in a plain loop, at the sink from the oracle, and in the"
        " cases called SQL from a formulation in Spark SQL that shares no code with the model.",
    ),
)
