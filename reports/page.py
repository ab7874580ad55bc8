"""The correctness report: the same content as one self-contained HTML page and as Markdown.

Rule of this file: no layout and no drawing; the file reads results and writes two files.  The
layout is in templates/, other files draw; the same results give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from model.core import Guarantee
from model.machine import files
from model.recovery import WORDS
from model.results.attack import AttackFailure
from model.results.engine import EngineCheck
from model.results.experiment import ComparedNumber, Reproduction
from model.results.proofs import ProofResult
from model.results.report import ReportResults
from model.results.run import ComparedRun, RealRun
from model.results.simulation import Simulation
from model.results.verdict import ScopeCounterexample, Verdict
from reports import findings
from reports.diagrams import grid, spacetime
from reports.results import bugs, families
from reports.results import experiments as experiment_results
from reports.results import proofs as proof_results
from reports.results import run as plots
from reports.results import simulation_plots as costs
from reports.results import simulations as simulation_results
from reports.results import spark as spark_results
from reports.results import words as result_words

_TEMPLATES = Path(__file__).parent / "templates"

Drawn: TypeAlias = Mapping[str, str]
"""The large pictures by name: <svg> elements, or nothing."""


def pictures(results: ReportResults) -> dict[str, Callable[[], str]]:
    """The calls that draw the large pictures, by name; each takes a while."""
    return {
        **{
            f"drawing scenario {one.scenario}": partial(costs.over_time, one)
            for one in results.simulated
        },
        **{
            f"drawing experiment {one.experiment}": partial(_figure, one)
            for one in results.reproduced
        },
    }


def write(
    results: ReportResults, out: Path, drawn: Drawn | None = None, *, force: bool = False
) -> tuple[Path, Path]:
    """Write report.html and report.md into the folder `out`, and return their paths.

    drawn: the results of `pictures`, of which some may be missing; None: they are drawn here.
    Both files are rendered before either is written, and each replaces an older one at once.
    force: also over files that asif did not write.  Raises Invalid if `out` cannot be written to.
    """
    if drawn is None:
        drawn = {name: draw() for name, draw in pictures(results).items()}
    view = _view(results, drawn)
    pages = {
        out / "report.html": _render("report.html.j2", view),
        out / "report.md": _render("report.md.j2", view),
    }
    files.write(pages, force=force)
    html, markdown = pages
    return html, markdown


def lemmas(entries: Sequence[ProofResult]) -> str:
    """The page "What is proved, what is refuted" alone, in Markdown, without what depends on the
    machine."""
    return _render("proved.md.j2", {"proofs": proof_results.view(entries), "timed": False})


def _render(template: str, view: Mapping[str, Any]) -> str:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=template.endswith(".html.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "number": _number,
        "crashes": _crashes,
        "time": _time,
        "words": result_words.word,
        "differences": result_words.differences,
        "slug": _slug,
        "cell": _cell,
        "bar": findings.escaped,
        "code": _code,
        "grid_html": grid.html,
        "grid_text": grid.text,
        "spacetime_svg": _spacetime_svg,
        "spacetime_text": _spacetime_text,
        "sparkline": plots.sparkline,
        "induction": proof_results.induction,
    }
    rendered = environment.get_template(template).render(view)
    return re.sub(r"\n{3,}", "\n\n", rendered)


# --- what the templates are given --------------------------------------------------------------
class _Group(NamedTuple):
    """The verdicts on a protocol and its variants."""

    name: str
    verdicts: tuple[Verdict, ...]


def _view(results: ReportResults, drawn: Drawn) -> dict[str, Any]:
    verdicts = results.verdicts
    groups = [
        _Group(name, tuple(members))
        for name, members in groupby(verdicts, key=lambda v: families.family_of(v.protocol))
    ]
    runs = [_run(run) for run in results.runs]
    proofs = proof_results.view(results.proofs)
    costs_ = {
        "any": bool(results.simulated or results.reproduced),
        "simulated": [_simulation(one, drawn) for one in results.simulated],
        "reproduced": [_experiment(one, drawn) for one in results.reproduced],
    }
    expected = sum(verdict.expected for verdict in verdicts)
    return {
        "version": results.version,
        "profile": results.profile,
        "seconds": results.seconds,
        "guarantee_words": {one.name.lower(): WORDS[one] for one in Guarantee},
        "groups": groups,
        "verdicts": verdicts,
        "errata": findings.errata([group.name for group in groups]),
        "bugs": bugs.shown(results.bugs),
        "proofs": proofs,
        "operators": results.operators,
        "timed": True,
        "runs": runs,
        "runs_alike": _alike(results.runs),
        "expected": expected,
        "costs": costs_,
        "engine": _engine(results.engine),
        "families": families.seconds_by_family(results),
        "fine": results.fine,
        "skipped": results.skipped,
        "lost": [*results.lost, *(line for one in results.proofs for line in one.lost)],
        "states": sum(verdict.states for verdict in verdicts),
    }


class _Alike(NamedTuple):
    """Protocols whose runs are on as many events, with as many crashes and the same verdict."""

    events: int
    crashes: int
    same: bool
    protocols: tuple[str, ...]


def _alike(runs: Sequence[RealRun]) -> list[_Alike]:
    found: dict[tuple[int, int, bool], list[str]] = {}
    for run in runs:
        found.setdefault((run.events, len(run.crashes), run.same), []).append(run.protocol)
    return [_Alike(*key, tuple(protocols)) for key, protocols in found.items()]


class _ShownSimulation(NamedTuple):
    run: Simulation
    summary: str
    overhead: str
    rows: tuple[tuple[str, list[str]], ...]
    plot: Markup


def _simulation(run: Simulation, drawn: Drawn) -> _ShownSimulation:
    return _ShownSimulation(
        run,
        simulation_results.verdict(run),
        simulation_results.overhead(run),
        tuple(
            (label, simulation_results.values(run, name)) for label, name in simulation_results.ROWS
        ),
        Markup(drawn.get(f"drawing scenario {run.scenario}", "")),
    )


class _ShownEngine(NamedTuple):
    """names: of the engines.  cases, good: how many cases all checks have, and in how many the
    engine did as predicted."""

    names: str
    checks: tuple[spark_results.ShownCheck, ...]
    crashes: list[spark_results.OutageCount]
    cases: int
    good: int


def _engine(results: Sequence[EngineCheck]) -> _ShownEngine:
    cases = [case for one in results for case in one.cases]
    names = dict.fromkeys(one.machine.engine for one in results)
    return _ShownEngine(
        " and ".join(names),
        tuple(map(spark_results.shown, results)),
        spark_results.crashes(results),
        len(cases),
        sum(case.agrees for case in cases),
    )


class _ShownNumber(NamedTuple):
    number: ComparedNumber
    sign: str
    theirs: str
    ours: str
    marked: str


class _ShownExperiment(NamedTuple):
    result: Reproduction
    numbers: tuple[_ShownNumber, ...]
    figure: Markup


def _figure(one: Reproduction) -> str:
    return experiment_results.figure(one) or ""


def _experiment(one: Reproduction, drawn: Drawn) -> _ShownExperiment:
    numbers = (
        _ShownNumber(
            number,
            experiment_results.sign(number),
            experiment_results.shown(number, number.published),
            experiment_results.beside(number),
            experiment_results.marked(number),
        )
        for number in one.numbers
    )
    figure = Markup(drawn.get(f"drawing experiment {one.experiment}", ""))
    return _ShownExperiment(one, tuple(numbers), figure)


class _Beside(NamedTuple):
    """A figure of both protocols, and the share that this protocol saves."""

    name: str
    theirs: int
    ours: int
    share: str


class _ShownRun(NamedTuple):
    """highest: the largest backup in the series, of both protocols."""

    run: RealRun
    backup_plot: Markup
    beside_plot: Markup
    beside: tuple[_Beside, ...]
    highest: int


def _run(run: RealRun) -> _ShownRun:
    heights = [height or 0 for point in run.series for height in (point.backup, point.compared)]
    return _ShownRun(
        run,
        Markup(plots.backup_over_input(run)),
        Markup(plots.compare_bars(run)),
        _beside(run, run.compared) if run.compared else (),
        max(heights, default=0),
    )


def _beside(run: RealRun, other: ComparedRun) -> tuple[_Beside, ...]:
    rows = (
        ("Events replayed", other.replayed, run.replayed),
        ("Peak backup, events", other.peak_backup, run.peak_backup),
    )
    return tuple(
        _Beside(name, theirs, ours, f"{100 * (theirs - ours) / theirs:.1f} %" if theirs else "–")
        for name, theirs, ours in rows
    )


# --- filters -----------------------------------------------------------------------------------
def _number(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _time(seconds: float) -> str:
    if seconds < 0.095:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    return "{} min {} s".format(*divmod(round(seconds), 60))


def _crashes(count: int) -> str:
    return f"{count} crash" if count == 1 else f"{count} crashes"


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _cell(value: object) -> str:
    """The text, escaped for a Markdown table."""
    flat = " ".join(str(value).split())
    return re.sub(r"([\\|`*_<>\[\]])", r"\\\1", flat)


def _code(text: str) -> Markup:
    """The text with each part between backquotes as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def _spacetime_svg(found: ScopeCounterexample | AttackFailure) -> Markup:
    return Markup(spacetime.svg(found.story, caption=found.property, culprit=found.culprit))


def _spacetime_text(found: ScopeCounterexample | AttackFailure) -> str:
    return spacetime.text(found.story, caption=found.property, culprit=found.culprit)
