"""The output of the commands: lines (str) and tables, in order.

Rule of this file: no decision and no printing; the file renders the values that proofs and sim
return, and the command line prints them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from model.results.answers import Answer
from model.results.classes import BoxResult
from model.results.engine import EngineCheck
from model.results.experiment import Reproduction
from model.results.explanation import ExplainedTable
from model.results.lineage import LineageResult, LogVerification, PortsResult
from model.results.plans import PlanResult
from model.results.proofs import LemmaResult, ProofResult
from model.results.run import ComparedRun, RealRun, RunViolation
from model.results.simulation import Simulation
from model.results.study import Study
from model.results.which import ProtocolFit
from reports.diagrams import grid
from reports.one_line import one_line
from reports.results import experiments as experiment_results
from reports.results import plans as plan_results
from reports.results import proofs as proof_results
from reports.results import simulations as simulation_results
from reports.results import spark as spark_results
from reports.results.words import word

Output: TypeAlias = Iterator[RenderableType]


def proofs(result: ProofResult, *, long: bool = True) -> Output:
    """The output of `asif prove` for one protocol: its lemmas, each with the unexpected answers.

    long: each lemma in full; otherwise those alone that are not as they should be.
    """
    if not long:
        yield f"{result.protocol}:"
        yield proof_results.table(result.lemmas)
    for lemma in result.lemmas:
        if long or not lemma.fine:
            yield from _lemma(lemma)
    for one in result.drift:
        if long or one.drift:
            yield from proof_results.comparison(one)
    yield from (f"LOST: {one}" for one in result.lost)


def _lemma(lemma: LemmaResult) -> Output:
    yield from proof_results.lemma_in_full(lemma)
    for query in lemma.queries:
        if query.answer is not query.expect:
            yield f"  {query.name}: {query.answer} - EXPECTED {query.expect}"
        if query.cvc5 is Answer.UNKNOWN:
            yield f"  {query.name}: cvc5 cannot decide it in time"
        elif query.contradicted:
            yield f"  {query.name}: CVC5 SAYS {query.cvc5}"
    for hypothesis in lemma.hypotheses:
        if not hypothesis.needed:
            yield f"  NOT NEEDED: {hypothesis.name}"


def run(result: RealRun) -> Output:
    """The output of `asif run`."""
    yield f"{result.input}: {result.pattern}"
    if result.added:
        yield f"added behind your pattern: {' and '.join(result.added)}; --alone leaves them out"
    if result.clock is not None:
        yield f"times are whole multiples of {result.clock}"
    crashes = (f"{crash.node} at event {crash.at_event:,}" for crash in result.crashes)
    yield f"crashes: {', '.join(crashes)}"
    for what, row in (
        ("expected", result.expected),
        ("failure free", result.failure_free),
        ("with crashes", result.with_crashes),
    ):
        yield f"{what:>14}: {row.count:,} outputs, sha256 {row.sha256}"
    if not result.expected.count:
        more = "more flights (--limit)" if result.clock is None else "another --pattern"
        yield f"warning: the pattern never matches here, so this run says little; give {more}"
    yield "the same" if result.same else f"NOT THE SAME: {_differences(result)}"
    yield from map(_violated, result.violations)
    if left_out := result.left_out:
        yield f"one operator alone is deployed; left out: {', '.join(left_out)}"
    other = result.compared
    replayed, peak = f"{result.replayed:,}", f"{result.peak_backup:,} events"
    if other is not None:
        replayed += f" ({other.protocol}: {other.replayed:,})"
        peak += f" ({other.protocol}: {other.peak_backup:,})"
    yield f"events replayed: {replayed}"
    yield f"backup at its peak: {peak}"
    if other is not None and not other.same:
        yield f"{other.protocol}: NOT THE SAME: {_differences(other)}"
    if other is not None:
        yield from (f"{other.protocol}: {_violated(one)}" for one in other.violations)


def _violated(one: RunViolation) -> str:
    by = "" if one.node is None else f", by {one.node}"
    return f"VIOLATED at event {one.at_event:,}{by}: {one.property}"


def _differences(result: RealRun | ComparedRun) -> str:
    missing, surplus = result.missing_outputs, result.surplus_outputs
    if not missing and not surplus:
        return "the order differs"
    return f"{missing:,} outputs are missing, and {surplus:,} are too many"


def simulation(result: Simulation) -> Output:
    """The output of `asif simulate`."""
    yield f"{result.scenario}: {result.protocol}, {result.input}, {result.pattern}"
    if result.knobs:
        yield "knobs: " + ", ".join(f"{k} = {_setting(v)}" for k, v in result.knobs.items())
    yield simulation_results.table(result)
    if result.failures:
        yield simulation_results.failures(result)
    yield from simulation_results.not_crashed(result)
    yield simulation_results.memory(result)
    yield from simulation_results.checkpoints(result)
    yield from simulation_results.load(result)
    yield simulation_results.overhead(result)
    yield from simulation_results.free(result)
    yield from simulation_results.cut_off(result)
    yield from simulation_results.judged(result)
    yield simulation_results.verdict(result)


def study(result: Study) -> Output:
    """The output of `asif simulate --study`."""
    yield f"{result.scenario}: {result.protocol}, {result.input}, {result.pattern}"
    yield simulation_results.study_table(result)
    yield from simulation_results.study_lines(result)


def explanation(tables: Sequence[ExplainedTable], *, long: bool = True) -> Output:
    """The output of `asif simulate --explain`: a table for each table of a scenario.

    long: with all keys; otherwise a row for each name of a table.
    """
    if not long:
        yield from _names_of_tables(tables)
        return
    for found in tables:
        yield f"\n{found.name}: {found.meaning}"
        if not found.keys:
            yield "  (none)"
            continue
        table = Table("key", "value", "unit", "default", "meaning")
        for row in found.keys:
            meaning = (row.default or "required", row.meaning)
            table.add_row(row.key, row.values, row.unit, *meaning)
        yield table


def _names_of_tables(tables: Sequence[ExplainedTable]) -> Output:
    """A row for each name of a table: its keys are counted, and its meaning is in a few words."""
    keys = Counter({found.name: 0 for found in tables})
    for found in tables:
        keys[found.name] += len(found.keys)
    meanings = {found.name: found.meaning for found in reversed(tables)}
    rows = Table("table", Column("keys", justify="right"), "meaning", box=SIMPLE_HEAD)
    for name, count in keys.items():
        rows.add_row(name, f"{count:,}", re.split(r"[:;(]|\.( |$)", meanings[name])[0].strip())
    yield rows


def fits(found: Sequence[ProtocolFit]) -> Output:
    """The output of `asif simulate --which`: a line for each protocol that runs the scenario, one
    for each reason why another does not."""
    width = max(len(one.protocol) for one in found)
    for one in found:
        if one.runs:
            name = f"{one.protocol:{width}}"
            yield f"{name}  runs" + (f" once the file fits it: {one.keys}" if one.keys else "")
    for one in found:
        for why in one.why:
            yield f"{one.protocol:{width}}  cannot: {why}"


def _setting(value: Any) -> str:
    return "off" if value is None else str(value).lower()


def reproduction(result: Reproduction) -> Output:
    """The output of `asif reproduce` for one experiment."""
    yield f"{result.title}\n{result.source}"
    size = f"{result.runs:,} runs of {result.events:,} events, {result.seeds} seeds"
    kept = f", {result.resumed} of them done before" if result.resumed else ""
    yield f"{size}{kept}, {result.seconds:.0f} s"
    yield experiment_results.table(result)
    yield from result.notes


def recovery_plan(result: PlanResult) -> Output:
    """The output of `asif plan`."""
    queries, last = len(result.failed_queries), result.moments[-1]
    yield (
        f"{result.name}: {queries} failed queries cost {result.cost:,}; hosts bring "
        f"{last.resources:,} within {last.at_min:g} minutes"
    )
    yield plan_results.table(result)
    yield from plan_results.lines(result)


def engine_check(result: EngineCheck) -> Output:
    """The output of `asif spark` for one check."""
    yield f"{result.title}, {result.seconds:.0f} s"
    yield spark_results.table(result)
    yield from result.notes
    if spark_results.errors(result):
        yield spark_results.errors_table(result)
    if spark_results.share_rows(result):
        yield spark_results.shares_table(result)
    yield spark_results.summary_line(result)


def classes(results: Sequence[BoxResult], *, in_full: bool) -> Output:
    """The output of `asif classify`: a row for each box; in full also its witnesses, drawn."""
    table = Table(Column("box", no_wrap=True), "class", "in the paper", "pairs")
    for one in results:
        derived = "undecided" if one.class_ is None else word(one.class_)
        paper = "–" if one.paper is None else word(one.paper)
        if one.differs:
            paper += " (differs)"
        pairs = "–" if one.pairs is None else f"{one.pairs:,}"
        table.add_row(one.name, derived, paper, pairs)
    yield table
    for one in results:
        if in_full:
            yield f"{one.title.rstrip('.')}: {one.box}"
        if one.undecided:
            yield f"{one.name}: undecided: {one.undecided}; --limit sets the number"
        for witness in one.witnesses if in_full else ():
            yield f"{one.name} is not {word(witness.not_of)}:"
            yield grid.style(witness.grid)


BODY_CELLS = 400
"""How much of a body a table shows; the JSON has all of it."""


def lineage(result: LineageResult, count: int) -> Output:
    """The output of `asif lineage` about an event: the events, each after those it was made of.

    count: of all events; the result may have the first ones only.
    """
    event, side = result.event, "went into" if result.forward else "was made of"
    if result.reason:
        nothing = f"{side} no event that the log knows"
        yield f"{one_line(event)} {_REASONS.get(result.reason, nothing)}"
        return
    table = Table(Column("event", overflow="fold"), "kind", "body", title=Text(f"{event} {side}"))
    for one in result.found:
        kind = "source" if one.source else one.kind
        table.add_row(*_texts(one.event, kind), Text(one_line(one.body, BODY_CELLS)))
    yield table
    if count > len(result.found):
        yield f"and {count - len(result.found):,} more: --json FILE has all {count:,}"


_REASONS = {
    "source": "is a source event: its operator has taken no input",
    "unused": "has not been used yet",
    "write": "is a write: it went into an external system",
}


def lineage_ports(result: PortsResult) -> Output:
    """The output of `asif lineage` about a log: its ports, where they lead, and their events."""
    if not result.ports:
        yield "the log has no events"
        return
    names = (Column(name, overflow="fold") for name in ("port", "to"))
    table = Table(*names, "numbers", Column("events", justify="right"), "lineage")
    for one in result.ports:
        to = one.to or ("" if one.kind == "output" else f"({one.kind})")
        numbers = f"{one.first}–{one.last}"
        table.add_row(*_texts(one.port, to, numbers, f"{one.events:,}", one.lineage))
    yield table


def log_verification(result: LogVerification) -> Output:
    """The output of `asif lineage LOG --verify`: each table of the log, and its faults."""
    table = Table("table", Column("rows", justify="right"), Column("", overflow="fold"))
    for one in result.tables:
        rows = "?" if one.rows is None else f"{one.rows:,}"
        table.add_row(*_texts(one.table, rows, "; ".join(one.faults) or "whole"))
    yield table
    for fault in result.faults:
        yield one_line(fault)
    yield "the log is whole" if result.whole else "the log is not whole"


def _texts(*cells: str) -> Iterator[Text]:
    """Cells whose names are no markup."""
    return (Text(one_line(cell)) for cell in cells)
