"""An example of every kind of picture, and the kinds themselves, found in the code.

Rule of this file: a kind is a function of a module that returns a Picture; nothing is checked here.
"""

from __future__ import annotations

import ast
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import networkx

from asif import reduction_picture
from model.results.experiment import ExperimentPanel, Reproduction, Series
from model.results.interval import Interval
from model.results.sweep import SweepGroup, SweepSummary
from reports import architecture
from reports.diagrams import lineage, spacetime
from reports.diagrams.picture import Picture
from reports.results import (
    choose_plots,
    experiments,
    panels,
    plans,
    run,
    simulation_plots,
    spark,
    sweep_plots,
)
from sim.plans.compare import compare
from sim.plans.read import read
from tests.choose.test_choice import formula_choice
from tests.reports.test_drawings import RUN
from tests.reports.test_page import _run
from tests.reports.test_simulation_results import ran
from tests.reports.test_spark_results import COUNTED, TIMED

ROOT = Path(__file__).parents[2]
ROOMS = ("asif", "reports", "sim", "proofs", "engine_check", "spark_check", "flink_check")


def kinds() -> set[str]:
    """The names of all functions of modules that return a Picture, as module.function."""
    return {
        f"{'.'.join(path.relative_to(ROOT).with_suffix('').parts)}.{node.name}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if "Picture" in (text := path.read_text(encoding="utf-8"))
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef) and _returns_a_picture(node)
    } - {"reports.diagrams.canvas.plot"}


def _returns_a_picture(node: ast.FunctionDef) -> bool:
    returns = "" if node.returns is None else ast.unparse(node.returns)
    return "Picture" in returns.split(" | ")


def reproduction(*, as_published: bool = False, experiment: str = "mine") -> Reproduction:
    """An experiment with every kind of series, and an outlier among its bars."""
    xs = [1.0, 2.0, 5.0, 10.0]
    points = ExperimentPanel(
        "Recovery",
        "interval, s",
        "recovery, s",
        (
            Series("upstream backup", xs, [1, 2, 4, 9], low=[0.5, 1, 3, 7], high=[1.5, 3, 5, 11]),
            Series("passive standby", xs, [3, 2.5, 2, 1.5], names=["a", "b", "c", "d"]),
            Series("mean", xs, [2, 2, 3, 5], "line"),
            Series("published", xs, [1.2, 2.2, 4.4, 8], "published"),
        ),
    )
    formula = Series("formula", xs, [1, 2, 5, 10], "formula")
    bars = ExperimentPanel(
        "Bytes",
        "strategy",
        "bytes",
        (
            Series("upstream backup", [0, 1, 2], [40, 52, 16_400], "bars"),
            Series("passive standby", [0, 1, 2], [35, 49, 61], "bars"),
        ),
        categories=("all", "some", "none"),
    )
    with_formula = points._replace(title="By the formula", series=(*points.series[:1], formula))
    return Reproduction(
        experiment=experiment,
        title="A figure",
        source="Somebody et al., 2005, Section 7",
        parameters=(),
        seeds=1,
        events=1000,
        as_published=as_published,
        runs=1,
        resumed=0,
        cells=(),
        values={},
        notes=(),
        panels=(points, bars, with_formula),
        numbers=(),
        score={},
        seconds=1.0,
    )


def _fig9() -> Picture:
    found = reproduction(experiment="lima-fig9")
    cells = [
        {
            **{"slide": slide, "interval": interval, "mode": mode},
            **{
                name: size * (10.0 + interval + at) / panel.scale
                for panel in experiments.PANELS
                for name, size in (
                    *((panel.value, 1.0), (panel.deviation, 0.1)),
                    *((panel.low, 0.9), (panel.high, 1.1)),
                )
                if name is not None
            },
        }
        for slide in (1, 10)
        for interval in (10, 100, 1000)
        for at, mode in enumerate(("off", "on", "notices", "corrected"))
    ]
    for name in ("value", "high"):
        if (key := getattr(experiments.PANELS[0], name)) is not None:
            cells[0][key] = 16_400.0 / experiments.PANELS[0].scale
    return experiments.lima_fig9(replace(found, cells=tuple(cells)))


def _experiment() -> Picture:
    found = experiments.picture(reproduction(as_published=True))
    assert found is not None
    return found


def _sweep() -> Picture:
    groups = tuple(
        SweepGroup(
            parameters={"protocol": name, "interval_s": interval},
            chosen=interval == 10,
            runs=2,
            failed=0,
            cut_off=int(interval == 100),
            same=2,
            metrics={
                metric: Interval(2, (at + 1) * interval / 10, 0.1, 0.2)
                for metric in (*sweep_plots.OVER_A_KEY, sweep_plots.OVERHEAD)
            },
        )
        for at, name in enumerate(("abs", "upstream-backup", "log-io:published"))
        for interval in (1, 10, 100)
    )
    summary = SweepSummary("mine", "mine.toml", ("protocol", "interval_s"), 0.95, groups)
    return sweep_plots.picture(summary)


def _lineage() -> Picture:
    graph = networkx.DiGraph()
    for name in ("shop.sales", "sums.totals", "ledger.book"):
        for number in (1, 2):
            body = b'{"item": "tea", "price": 103}'
            graph.add_node(
                (name, number), name=f"{name}#{number}", body=body, is_source=name == "shop.sales"
            )
    graph.add_edges_from(
        ((one, number), ("sums.totals", 1)) for one in ("shop.sales",) for number in (1, 2)
    )
    graph.add_edge(("sums.totals", 1), ("ledger.book", 1))
    graph.add_edge(("sums.totals", 2), ("ledger.book", 1))
    graph.remove_node(("ledger.book", 2))
    return lineage.picture(graph, ("ledger.book", 1), title="ledger.book#1")


def _choice() -> Picture:
    with tempfile.TemporaryDirectory() as folder:
        return choose_plots.picture(formula_choice(Path(folder)))


EXAMPLES: Mapping[str, Callable[[], Picture]] = {
    "asif.reduction_picture.picture": lambda: reduction_picture.picture(reduction_picture.draw()),
    "reports.architecture.picture": architecture.picture,
    "reports.diagrams.lineage.picture": _lineage,
    "reports.diagrams.spacetime.picture": lambda: spacetime.picture(
        RUN, title="p: 4 steps, scope words", caption="output_as_if"
    ),
    "reports.results.choose_plots.picture": _choice,
    "reports.results.experiments.lima_fig9": _fig9,
    "reports.results.experiments.picture": _experiment,
    "reports.results.panels.picture": lambda: panels.picture(reproduction()),
    "reports.results.plans.picture": lambda: plans.picture(
        compare(read(ROOT / "docs/plans/figure1.toml"))
    ),
    "reports.results.run.backup_picture": lambda: run.backup_picture(_run()),
    "reports.results.run.compared_picture": lambda: run.compared_picture(_run()),
    "reports.results.simulation_plots.picture": lambda: simulation_plots.picture(ran("quickstart")),
    "reports.results.spark.over_time_picture": lambda: spark.over_time_picture(COUNTED),
    "reports.results.spark.predicted_picture": lambda: spark.predicted_picture(TIMED),
    "reports.results.sweep_plots.picture": _sweep,
}
"""An example of each kind, by its function."""


@cache
def example(kind: str) -> Picture:
    """The example of this kind, drawn once."""
    return EXAMPLES[kind]()


def examples() -> Iterator[tuple[str, Picture]]:
    return ((kind, example(kind)) for kind in EXAMPLES)
