"""The summary of `su-fig5`: values beside the paper's, notes and the figure.

Rule of this file: no run is made here; sim.experiments.su.figure5 makes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import mean

import numpy as np

from model.results.experiment import ExperimentPanel, Series, Summary
from model.results.table import Row
from sim.experiments.su.attach import HOSTS, TOGETHER, attach
from sim.experiments.su.setting import (
    ALWAYS,
    BATCH_S,
    COMMITTED,
    CORES,
    FRESH_S,
    NEVER,
    PERIOD_S,
    POLICIES,
    RECOVERY,
    STEP_S,
    STORE_S,
)

QUERIES = 15
LOW, HIGH = 10, 90
"""The percentiles of a band."""

WAYS = {
    NEVER: "without order",
    RECOVERY: "as published, ordered recovery",
    COMMITTED: "results at global checkpoints",
    ALWAYS: "mended, always ordered",
}
SHOWN = ("BestCase", "progressive", "OPC")
"""The policies of the paper."""


def summary(found: Sequence[Row]) -> Summary:
    """Means over the seeds by policy and way, the trends of the paper, and courses with bands."""
    courses = [row for row in found if row["what"] == "course"]
    latencies = [row for row in found if row["what"] == "latency"]
    loads = [row for row in found if row["what"] == "load"]
    cells = [
        mean_of([row for row in courses if (row["policy"], row["way"]) == (policy, way)])
        for policy in POLICIES
        for way in WAYS
    ]
    return Summary(
        cells=cells,
        values=_values(cells, courses),
        notes=[*_notes(cells), *_notes_placement(cells, courses), *_notes_loads(loads)],
        panels=[*_panels(courses), _panel_latency(cells, latencies), _panel_loads(loads)],
    )


def mean_of(rows: Sequence[Row]) -> Row:
    """Means over the runs of one policy and one way."""
    begins = [_begin(row) for row in rows]
    return {
        "policy": rows[0]["policy"],
        "way": rows[0]["way"],
        "runs": len(rows),
        "stable_latency_s": mean(row["stable_s"] for row in rows),
        "first_query_s": mean(row["first_s"] for row in rows),
        "last_query_s": mean(row["last_s"] for row in rows),
        "first_result_s": mean(row["first_result_s"] for row in rows),
        "first_relative": mean(row["relative"][at] for row, at in zip(rows, begins, strict=True)),
        "available": mean(mean(row["available"]) for row in rows),
        "available_before_last": mean(_before_last(row, "available") for row in rows),
        "busiest_cores": mean(row["busiest_cores"] for row in rows),
        "formula_s": mean(row["formula_s"] for row in rows),
        "fresh": mean(mean(row["fresh"]) for row in rows),
        "first_fresh_s": mean(_first_from(row["fresh"]) * PERIOD_S for row in rows),
        "all_fresh_s": mean(_all_from(row, "fresh") * PERIOD_S for row in rows),
        "all_available_s": mean(_all_from(row, "available") * PERIOD_S for row in rows),
    }


def _begin(row: Row) -> int:
    """The first interval in which a query is recovered; the last one if none ever is."""
    courses = row["relative"]
    return next((at for at, one in enumerate(courses) if one is not None), len(courses) - 1)


def _before_last(row: Row, what: str) -> float:
    """The largest number before the last query is recovered."""
    return float(max(row[what][: int(row["last_s"] / PERIOD_S)], default=0.0))


def _first_from(counts: Sequence[float]) -> int:
    """The first interval with a query; the end if there is none."""
    return next((at for at, count in enumerate(counts) if count), len(counts))


def _all_from(row: Row, what: str) -> int:
    """The interval from which on all queries are; the end if there is none."""
    short = [at for at, count in enumerate(row[what]) if count < QUERIES]
    return short[-1] + 1 if short else 0


# --- beside the paper ------------------------------------------------------------------------
def _values(cells: Sequence[Row], found: Sequence[Row]) -> dict[str, float]:
    """The values that published numbers are compared with."""
    first = _by_seed(found, lambda row: row["relative"][_begin(row)])
    at = {(cell["policy"], cell["way"]): cell for cell in cells}
    values = {
        "opc_over_best": mean(
            opc / best for opc, best in zip(first["OPC"], first["BestCase"], strict=True)
        ),
        "attach_last_over_together": attach().mean_of_last(HOSTS) / TOGETHER,
    }
    for name, way in {"order_queries": NEVER, "order_queries_ordered": RECOVERY}.items():
        best, progressive, opc = (
            at[policy, way]["available"] for policy in ("BestCase", "progressive", "OPC")
        )
        values[name] = float(best > progressive > opc)
    best, progressive, opc = (
        mean(_when_opc_begins(found, policy)) for policy in ("BestCase", "progressive", "OPC")
    )
    values["order_latency"] = float(best < progressive < opc)
    best, opc = (
        at[policy, NEVER]["all_available_s"] - at[policy, NEVER]["last_query_s"]
        for policy in ("BestCase", "OPC")
    )
    values["opc_stable_later"] = float(opc > best)
    return values


def _by_seed(
    found: Sequence[Row], measure: Callable[[Row], float]
) -> Mapping[str, Sequence[float]]:
    return {
        policy: [measure(row) for row in found if row["policy"] == policy and row["way"] == NEVER]
        for policy in POLICIES
    }


def _when_opc_begins(found: Sequence[Row], policy: str) -> Sequence[float]:
    """For each seed, the mean relative latency of recovered queries when OPC begins."""
    begins = {row["seed"]: _begin(row) for row in found if row["policy"] == "OPC"}
    return _by_seed(found, lambda row: row["relative"][begins[row["seed"]]])[policy]


def _notes(cells: Sequence[Row]) -> Iterator[str]:
    for cell in cells:
        if cell["way"] != NEVER:
            continue
        yield (
            f"{cell['policy']}: queries are recovered from {cell['first_query_s']:.0f} to "
            f"{cell['last_query_s']:.0f} s, all are available from {cell['all_available_s']:.0f} "
            f"s on; on average over time {cell['available']:.1f} of {QUERIES} are"
        )
    at = {(cell["policy"], cell["way"]): cell for cell in cells}
    mine = {way: at["progressive", way] for way in WAYS}
    yield (
        "progressive, before the last query is recovered: up to "
        f"{mine[NEVER]['available_before_last']:.1f} queries are available, and "
        f"{mine[RECOVERY]['available_before_last']:.1f} with order preservation; a tuple "
        f"waits {BATCH_S / 2} s for the end of its batch, more than 0.2 times the latency of "
        f"{mine[NEVER]['stable_latency_s']:.2f} s"
    )
    for (policy, way), cell in at.items():
        if policy not in ("progressive", "OPC"):
            continue
        yield (
            f"{policy}, {WAYS[way]}: latency {cell['stable_latency_s']:.2f} s without failures; "
            f"first results {cell['first_result_s']:.0f} s after the failure, results newer than "
            f"{FRESH_S} s from {cell['first_fresh_s']:.0f} s on, of all queries "
            f"from {cell['all_fresh_s']:.0f} s on"
        )
    yield (
        "results that wait for a global checkpoint wait for the last host, and then for the "
        "partition that is furthest behind, whatever the plan is; so they are as late as with OPC. "
        "Without failures they wait for half a period and for storing, "
        f"{PERIOD_S / 2 + STORE_S:g} s"
    )
    yield (
        "relative latency flatters what is slow without failures: it is the smallest for results "
        f"that wait for checkpoints ({mine[COMMITTED]['first_relative']:.0f} at the beginning, "
        f"{mine[NEVER]['first_relative']:.0f} at once)"
    )


def _notes_placement(cells: Sequence[Row], found: Sequence[Row]) -> Iterator[str]:
    at = {(row["policy"], row["way"], row["seed"]): row for row in found}
    seeds = {row["seed"] for row in found}
    same = sum(
        at["progressive", NEVER, seed]["available"] == at["topological", NEVER, seed]["available"]
        for seed in seeds
    )
    yield (
        f"topological order, not blocking, has the same course as the greedy plan in {same} of "
        f"{len(seeds)} runs: the gain over OPC comes from not blocking"
    )
    for cell in cells:
        if cell["way"] == NEVER and cell["policy"] in SHOWN:
            yield (
                f"{cell['policy']}: the busiest host needs {cell['busiest_cores']:.2f} of "
                f"{CORES:g} cores to keep pace; by the formula, all hosts have caught up at "
                f"{cell['formula_s']:.0f} s"
            )
    yield (
        "progressive recovery fills a host before the next one is there, so its busiest host needs "
        "more cores than with BestCase and OPC: under load, that host catches up last of all"
    )


# --- the figure ------------------------------------------------------------------------------
def _panels(found: Sequence[Row]) -> Iterator[ExperimentPanel]:
    since = "minutes since the failure"
    yield ExperimentPanel(
        "mean relative latency of recovered queries",
        since,
        "RL",
        [_course(found, policy, NEVER, "relative", policy) for policy in SHOWN],
        log="y",
    )
    for title, way in (
        ("available queries", NEVER),
        ("available queries, ordered recovery", RECOVERY),
    ):
        yield ExperimentPanel(
            title,
            since,
            "queries with RL < 1.2",
            [_course(found, policy, way, "available", policy) for policy in SHOWN],
        )
    yield ExperimentPanel(
        "queries with new results, also of the mends",
        since,
        f"queries, results newer than {FRESH_S} s",
        [
            _course(found, "progressive", NEVER, "fresh", "progressive"),
            _course(found, "OPC", NEVER, "fresh", "OPC"),
            _course(found, "progressive", COMMITTED, "fresh", "at global checkpoints"),
            _course(found, "progressive", ALWAYS, "fresh", "mended"),
        ],
    )


def _panel_latency(cells: Sequence[Row], latencies: Sequence[Row]) -> ExperimentPanel:
    """The cost of the two mends without failures.

    The formula is without the time to process a batch: a tuple waits for the end of its batch, half
    of it on average, in whole steps.
    """
    stable = {cell["way"]: cell["stable_latency_s"] for cell in cells}
    batches = sorted({row["batch_s"] for row in latencies})
    found = [
        mean(row["stable_s"] for row in latencies if row["batch_s"] == batch) for batch in batches
    ]
    waits = [stable[NEVER] + (batch - STEP_S) / 2 for batch in batches]
    ends = [batches[0], batches[-1]]
    return ExperimentPanel(
        "latency without failures",
        "batch, s",
        "s",
        [
            Series("mended", batches, found),
            Series("at global checkpoints", ends, [stable[COMMITTED]] * 2, "line"),
            Series("formula", batches, waits, "formula"),
        ],
        log="xy",
    )


def _by_load(loads: Sequence[Row], policy: str, what: str) -> Sequence[float]:
    """The means over the seeds, for each load."""
    times = sorted({row["tuple_s"] for row in loads})
    return [
        mean(row[what] for row in loads if (row["policy"], row["tuple_s"]) == (policy, tuple_s))
        for tuple_s in times
    ]


def _panel_loads(loads: Sequence[Row]) -> ExperimentPanel:
    percent = {policy: [100 * load for load in _by_load(loads, policy, "load")] for policy in SHOWN}
    minutes = {
        (policy, what): [found / 60 for found in _by_load(loads, policy, what)]
        for policy in SHOWN
        for what in ("found_s", "formula_s")
    }
    return ExperimentPanel(
        "all operators have caught up",
        "load of all cores, %",
        "minutes since the failure",
        [
            *(Series(policy, percent[policy], minutes[policy, "found_s"]) for policy in SHOWN),
            *(
                Series("formula", percent[policy], minutes[policy, "formula_s"], "formula")
                for policy in SHOWN
            ),
        ],
    )


def _notes_loads(loads: Sequence[Row]) -> Iterator[str]:
    off = [row["found_s"] / row["formula_s"] - 1 for row in loads]
    yield (
        f"in {len(loads)} runs, operators have caught up at most {max(off):.1%} later than by the "
        "formula, in which no host waits for another one"
    )
    for policy in SHOWN:
        share = _by_load(loads, policy, "load")
        found = _by_load(loads, policy, "found_s")
        yield f"{policy}, all operators have caught up: " + ", ".join(
            f"{at:.0f} s with a load of {load:.0%}" for load, at in zip(share, found, strict=True)
        )


def _course(found: Sequence[Row], policy: str, way: str, what: str, label: str) -> Series:
    """The mean over the seeds that have a value, and a band."""
    courses = np.array(
        [row[what] for row in found if (row["policy"], row["way"]) == (policy, way)], np.float64
    )
    there = ~np.isnan(courses).all(axis=0)
    courses = courses[:, there]
    minutes = (np.flatnonzero(there) + 0.5) * PERIOD_S / 60
    low, high = np.nanpercentile(courses, [LOW, HIGH], axis=0)
    return Series(
        label,
        minutes.tolist(),
        np.nanmean(courses, axis=0).tolist(),
        "line",
        low=low.tolist(),
        high=high.tolist(),
    )
