"""The results of a sweep: a run's outcome, its row, the table of all rows; run and resumed.

Rule of this file: the caller decides how runs are executed, on Spark or otherwise.  A table depends
on the sweep alone (except `seconds`): not on the order in which runs ended, and not on
interruptions.
"""

from __future__ import annotations

import json
import traceback
from collections import ChainMap
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from model.calls import Execute, one_by_one
from model.core import Guarantee
from model.errors import Invalid, pass_ctrl_c, words_of
from model.evidence import Outcome
from model.machine import files
from model.machine.journals import RESUME, Resumption, entries, journal
from model.machine.locks import LOCK, held
from model.machine.marks import NAME
from model.progress import Progress, silent
from model.protocol import Protocol
from model.results.plain import MADE_BY
from model.results.simulation import Metrics, Simulation
from model.results.sweep import SweepResult
from model.results.table import Row
from sim.scenarios.run import simulate
from sim.scenarios.scenario import Draft, Scenario, check_draft
from sim.sweeps.grid import Sweep, SweepRun, check, version

TABLE, JOURNAL = "runs.parquet", "_runs.jsonl"
"""Files of a sweep's folder.  Readers of a folder of Parquet files ignore the second."""
REWRITE_FACTOR = 1.1
"""The table is rewritten when it has grown by this factor, so that all rewrites cost little."""

COUNT, NUMBER, TEXT, FLAG = pa.int64(), pa.float64(), pa.string(), pa.bool_()
VERDICT = {
    "same": FLAG,
    "recovery_type": TEXT,
    "as_claimed": FLAG,
    "cut_off": FLAG,
    "expected_outputs": COUNT,
    "missing_outputs": COUNT,
    "surplus_outputs": COUNT,
    "sha256": TEXT,
}
JUDGED = ("as_claimed", "cut_off")
"""Columns of the verdict that follow from the result of a run; the others are in it."""
METRICS = {
    name: COUNT if kind is int else NUMBER
    for name, kind in get_type_hints(Metrics).items()
    if kind in (int, float, float | None)
}
"""The metrics of a run that are one number."""
OVERHEAD = (
    "failures_link_bytes",
    "failures_busy",
    "failures_latency_mean",
    "protection_link_bytes",
    "protection_stream_bytes",
    "protection_busy",
    "protection_busy_part",
)
"""Shares (sim.timed.metrics.overhead); the differences follow from the metrics' columns."""
LOAD = {"busiest_node_share": NUMBER, "busiest_link_share": NUMBER}
"""The busy shares of the busiest node and link, without failures."""


# --- a run -----------------------------------------------------------------------------------
def simulate_run(base: Draft, run: SweepRun) -> Row:
    """Simulate a run: its outcome, of which any error is part.  The row has its id as `run`, its
    columns, `error` and `seconds`."""
    started = perf_counter()
    columns: Row = {}
    error = None
    try:
        scenario = check_draft(base.override(run.overrides))
        columns = _columns(scenario, simulate(scenario))
    except BaseException as raised:  # of a protocol, which may be anybody's
        pass_ctrl_c(raised)
        error = _error_line(raised)
    return {"run": run.id, "error": error, **columns, "seconds": perf_counter() - started}


def _columns(scenario: Scenario, result: Simulation) -> Row:
    shares: dict[str, list[float]] = {"node": [], "link": []}
    for one in result.load:
        shares["link" if one.kind == "link" else "node"].append(one.busy_share)
    return {
        **{name: getattr(result, name) for name in VERDICT if name not in JUDGED},
        "as_claimed": as_claimed(scenario.protocol, result.recovery_type),
        **{name: result.metrics.number(name) for name in METRICS},
        **{f"without_failures_{name}": result.without_failures.number(name) for name in METRICS},
        **{f"overhead_{name}_share": getattr(result.overhead, name) for name in OVERHEAD},
        "cut_off": bool(result.metrics.recoveries_cut_off),
        **{f"busiest_{kind}_share": max(found, default=None) for kind, found in shares.items()},
    }


def as_claimed(protocol: Protocol, recovery_type: str) -> bool:
    """Is the output at least as good as the protocol's weakest claim?  True for protocols that are
    expected to be refuted."""
    if any(pinned.expect is Outcome.REFUTED for pinned in protocol.evidence.scopes):
        return True
    return Guarantee[recovery_type.upper()] <= max(
        protocol.promise.claims.values(), default=Guarantee.GAP
    )


def _error_line(error: BaseException) -> str:
    """The error in one line; with its place in the code, unless the input is wrong."""
    text = words_of(error)
    if isinstance(error, Invalid):
        return text
    last = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(last.filename).name}:{last.lineno}"
    return (
        f"{type(error).__name__}: {text} ({place})" if text else f"{type(error).__name__} ({place})"
    )


# --- the table -------------------------------------------------------------------------------
def table(sweep: Sweep, runs: Sequence[SweepRun], found: Mapping[str, Row]) -> pa.Table:
    """A row for each run that has an outcome, in the order of the runs."""
    fields, types = schema(sweep), parameter_types(sweep)
    rows = [
        {
            **entry,
            **_parameters(sweep, run, types),
            "replay": sweep.replay(run),
            "version": version(),
        }
        for run in runs
        if (entry := found.get(run.id)) is not None
    ]
    return pa.Table.from_pylist(rows, fields)


def schema(sweep: Sweep) -> pa.Schema:
    """Columns and their types: they depend on the sweep's file, never on outcomes."""
    return pa.schema(
        {
            **{"run": TEXT, "scenario": TEXT},
            **parameter_types(sweep),
            **VERDICT,
            **METRICS,
            **{f"without_failures_{name}": type_ for name, type_ in METRICS.items()},
            **{f"overhead_{name}_share": NUMBER for name in OVERHEAD},
            **LOAD,
            **{"error": TEXT, "replay": TEXT, "version": TEXT, "seconds": NUMBER},
        },
        metadata={MADE_BY: NAME},
    )


def metric_columns(sweep: Sweep) -> list[str]:
    """The columns with numbers that are no keys."""
    keys = {axis.name for axis in sweep.axes}
    return [
        field.name
        for field in schema(sweep)
        if field.name not in keys and (pa.types.is_integer(field.type) or field.type == NUMBER)
    ]


def _parameters(sweep: Sweep, run: SweepRun, types: Mapping[str, pa.DataType]) -> Row:
    values = {**_base(sweep), **{override.name: override.value for override in run.overrides}}
    cells = {name: cell(value, types[name]) for name, value in values.items()}
    return {"scenario": sweep.base.path.stem, **cells}


def parameter_types(sweep: Sweep) -> dict[str, pa.DataType]:
    """The types of the two columns that every table has, and of all that is varied."""
    always = {name: _type([value]) for name, value in _base(sweep).items()}
    return always | {axis.name: _type([o.value for o in axis.values]) for axis in sweep.axes}


def _base(sweep: Sweep) -> Row:
    content = sweep.base.content
    return {"protocol": content.get("protocol", ""), "seed": content.get("seed", 0)}


def _type(values: Sequence[Any]) -> pa.DataType:
    kinds = set(map(type, values))
    if any(isinstance(value, int) and abs(value) >= 2**63 for value in values):
        return TEXT  # 64 bits cannot hold it
    for type_, allowed in ((FLAG, {bool}), (COUNT, {int}), (NUMBER, {int, float})):
        if kinds <= allowed:
            return type_
    return TEXT


def cell(value: Any, type_: pa.DataType) -> Any:
    """Tables, lists and mixtures are JSON."""
    if type_ == NUMBER:
        return float(value)
    as_it_is = type_ != TEXT or isinstance(value, str)
    return value if as_it_is else json.dumps(value, default=str)


def _write(path: Path, found: pa.Table, force: bool) -> None:
    content = pa.BufferOutputStream()
    pq.write_table(found, content)
    files.write({path: content.getvalue().to_pybytes()}, force=force)


# --- the sweep -------------------------------------------------------------------------------
def carry_out(
    sweep: Sweep,
    folder: Path,
    execute: Execute[SweepRun, Row] = one_by_one,
    how: Resumption = RESUME,
    *,
    progress: Progress = silent,
) -> SweepResult:
    """Run the points that are not finished, keep each outcome as it comes, and write the table.

    A run whose process died has a row, but is not kept: the next time it is run again.
    """
    started = perf_counter()
    runs = sweep.runs()
    known = {} if how.fresh else entries(folder / JOURNAL, "run")
    check(sweep, known, progress)  # before anything is written
    files.refuse_unwritable([folder / TABLE], force=how.force)
    ids = {run.id for run in runs}
    with (
        held(folder / LOCK, str(folder)),
        journal(folder / JOURNAL, "run", how) as kept,
    ):
        others = len(kept.entries.keys() - ids)
        left = [run for run in runs if run.id not in kept.entries]
        died: dict[str, Row] = {}
        outcomes = ChainMap(kept.entries, died)  # so that the table has all that is kept
        done = len(runs) - len(left)
        progress(sweep.name, done, len(runs))
        written = 0
        with closing(execute(partial(simulate_run, sweep.base), left)) as finished:
            try:
                for ended in finished:
                    kept.add(entry for _, entry, _ in ended if entry is not None)
                    for number, entry, why in ended:
                        if entry is None:
                            run = left[number].id
                            died[run] = {"run": run, "error": f"its process died: {why}"}
                    done += len(ended)
                    progress(sweep.name, done, len(runs))
                    if done > REWRITE_FACTOR * written:
                        _write(folder / TABLE, table(sweep, runs, outcomes), how.force)
                        written = done
            finally:
                _write(folder / TABLE, table(sweep, runs, outcomes), how.force)
    rows = [outcomes[run.id] for run in runs]
    return SweepResult(
        sweep=sweep.name,
        version=version(),
        table=str(folder / TABLE),
        runs=len(runs),
        resumed=len(runs) - len(left),
        others=others,
        failed=sum(row["error"] is not None for row in rows),
        same=sum(row.get("same") is True for row in rows),
        cut_off=sum(row.get("cut_off") is True for row in rows),
        not_as_claimed=sum(row.get("as_claimed") is False for row in rows),
        seconds=perf_counter() - started,
    )
