"""Costs of recovery: simulated scenarios, and published experiments run again.

Rule of this file: blocks of results; the pictures come from those who call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from model.results.experiment import ComparedNumber, Reproduction
from model.results.report import ReportResults
from model.results.simulation import Simulation
from model.results.table import Row
from reports.page.blocks import (
    Block,
    DrawnPicture,
    FoldedPart,
    Ink,
    ItemList,
    PagePanel,
    PageRoom,
    PageSection,
    Sentence,
    TableRow,
    Word,
    Words,
    table,
)
from reports.page.formats import slug, time
from reports.results import experiments as experiment_results
from reports.results import simulation_plots
from reports.results import simulations as simulation_results

ROOM = "costs"
Drawn: TypeAlias = Mapping[str, str]
"""The large pictures by name: <svg> elements, or nothing."""
_MEANT = (
    "The simulator runs the same protocols with time: links have delay and bandwidth, nodes are "
    "busy while they work, and a detector notices failures.  Each run is compared with the same "
    "run without failures, and its output with that of the oracle."
)
_OVER_TIME = (
    "Recoveries by phase: the failure is noticed, the node runs, has its state, is where it was, "
    "has an empty queue.  Then over time: latency of outputs, events kept upstream, messages that "
    "wait at nodes."
)
_TONES = {"✓": Ink.GOOD, "✗": Ink.BAD}
NUMBERS = ("Number", "Section", "#Published", "#Ours", "#Off by", "Verdict", "How", "Why")


def pictures(results: ReportResults) -> dict[str, Callable[[], str]]:
    """The calls that draw the large pictures, by name; each takes a while."""
    return {
        **{_name(one): partial(simulation_plots.over_time, one) for one in results.simulated},
        **{_name(one): partial(_figure, one) for one in results.reproduced},
    }


def _name(one: Simulation | Reproduction) -> str:
    if isinstance(one, Simulation):
        return f"drawing scenario {one.scenario}"
    return f"drawing experiment {one.experiment}"


def _figure(one: Reproduction) -> str:
    return experiment_results.figure(one) or ""


def room(results: ReportResults, drawn: Drawn) -> PageRoom:
    """A panel for each scenario and each experiment."""
    blocks: list[Block] = []
    if results.simulated:
        columns = ("Scenario", "Protocol", "As without failures?", "#Recovery", "#Sent, events")
        rows = [*map(_scenario_row, results.simulated)]
        title = "Simulated scenarios"
        blocks.append(PageSection(title, [Sentence(_MEANT), table(title, columns, rows)]))
    if results.reproduced:
        names = ("Experiment", "Paper", *(f"#{one}" for one in experiment_results.SIGNS))
        rows = [*map(_experiment_row, results.reproduced)]
        title = "Published experiments, run again"
        score = Sentence(f"{experiment_results.score(results.reproduced)}.")
        blocks.append(PageSection(title, [score, table(title, names, rows)]))
    panels = [
        *(_scenario(one, drawn.get(_name(one), "")) for one in results.simulated),
        *(_experiment(one, drawn.get(_name(one), "")) for one in results.reproduced),
    ]
    return PageRoom(ROOM, "What recovery costs", blocks, panels)


def address(one: Simulation | Reproduction) -> str:
    """Where a link finds the scenario or the experiment."""
    return f"{ROOM}/{slug(one.scenario if isinstance(one, Simulation) else one.experiment)}"


# --- scenarios -----------------------------------------------------------------------------------
def _scenario_row(one: Simulation) -> TableRow:
    same = Word("✓ the same", Ink.GOOD) if one.same else Word("✗ not the same", Ink.BAD)
    costs = [simulation_results.values(one, name)[0] for name in ("recovery_s", "link_event_bytes")]
    return TableRow(
        [Word(one.scenario, to=address(one)), one.protocol, same, *costs], off=not one.same
    )


def _scenario(one: Simulation, svg: str) -> PagePanel:
    summary = f"{simulation_results.verdict(one)}."
    blocks: list[Block] = [
        Sentence(Word(f"{one.protocol} · {one.input} · {one.pattern}", Ink.DIM)),
        Sentence(summary, Ink.GOOD if one.same else Ink.BAD),
        Sentence(f"{simulation_results.overhead(one)}."),
    ]
    if svg:
        blocks.append(DrawnPicture(f"Plot: {one.scenario} over time", svg, _OVER_TIME))
    rows: list[Sequence[Words]] = [
        [label.strip(), *simulation_results.values(one, name)]
        for label, name in simulation_results.ROWS
    ]
    columns = ("Metric", "#With failures", "#Without", "#Unprotected")
    blocks.append(PageSection("All numbers", [table("All numbers", columns, rows)]))
    return PagePanel(address(one), one.scenario, blocks, f"{one.protocol} {summary}")


# --- experiments ---------------------------------------------------------------------------------
def _experiment_row(one: Reproduction) -> TableRow:
    counts = [str(one.score.get(verdict, 0) or "") for verdict in experiment_results.SIGNS]
    return TableRow([Word(one.title, to=address(one)), one.source, *counts])


def _experiment(one: Reproduction, svg: str) -> PagePanel:
    seeds = f"{one.seeds} seed{'' if one.seeds == 1 else 's'}"
    seeds += "" if one.as_published else " (fewer than published)"
    facts = f"{one.source} · {one.runs:,} runs of {one.events:,} events · {seeds}"
    blocks: list[Block] = [Sentence(Word(f"{facts} · {time(one.seconds)}", Ink.DIM))]
    if svg:
        blocks.append(DrawnPicture(f"Figure: {one.title}", svg))
    if one.notes:
        blocks.append(ItemList([*one.notes]))
    if one.numbers:
        rows = [*map(_number, one.numbers)]
        title = "Published numbers and ours"
        blocks.append(PageSection(title, [table(title, NUMBERS, rows)]))
    blocks += _cells(one.cells)
    parameters: list[Sequence[Words]] = [
        [p.name, str(p.value), str(p.source)] for p in one.parameters
    ]
    if parameters:
        laid = table("Parameters", ("Parameter", "Value", "From"), parameters)
        blocks.append(FoldedPart("Parameters", [laid]))
    words = f"{one.experiment} {one.source}"
    return PagePanel(address(one), one.title, blocks, words)


def _number(one: ComparedNumber) -> TableRow:
    sign = experiment_results.sign(one)
    verdict = f"{sign} {one.verdict}" if one.scored else one.mark
    return TableRow(
        [
            one.what,
            one.section,
            experiment_results.shown(one, one.published),
            experiment_results.beside(one),
            experiment_results.off_by(one),
            Word(verdict, _TONES.get(sign, Ink.PLAIN)),
            one.way,
            "; ".join(filter(None, (one.reason, experiment_results.marked(one)))),
        ]
    )


def _cells(cells: Sequence[Row]) -> Iterator[Block]:
    if cells:
        columns = [f"#{name}" for name in cells[0]]
        rows: list[Sequence[Words]] = [[_cell(value) for value in one.values()] for one in cells]
        yield FoldedPart("All cells of the figure", [table("All cells", columns, rows)])


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, int | float) else str(value)
