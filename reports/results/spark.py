"""Checks on a real engine: outages, predictions of the model, observations, errors of times.

Rule of this file: it reads the values of model.results.engine, and decides nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from model.results.engine import EngineCase, EngineCheck
from reports import palette
from reports.diagrams.canvas import plot
from reports.diagrams.picture import Picture
from reports.results.facts import FactsTable, facts_table, listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
ALL = "all"
"""All kinds of crashes."""
SIZE = 8.6, 3.6
SHARES = "part of the outage", "share of the variance"
ERRORS = ("time", "crash", "runs", "measured", "median error", "middle half", "mean", "line")
"""The columns of a table of errors."""


class Error(NamedTuple):
    """The relative error of predicted times, |predicted - measured| / measured, over some runs."""

    what: str
    kind: str
    runs: int
    measured: float
    """The median of the measured times, in seconds."""
    median: float
    low: float
    high: float
    """The middle half of the runs lies between low and high."""
    constant: float | None
    """The median error if the mean of all other runs predicted each run; None if it cannot."""
    line: float | None
    """The same for a line through all other runs, over their events."""


class OutageCount(NamedTuple):
    """The outages of one kind: how many, how many in which checks, in how many cases, and in how
    many of these cases the engine did as predicted."""

    kind: str
    times: int
    checks: tuple[tuple[str, int], ...]
    cases: int
    agreed: int


def summary_line(result: EngineCheck) -> str:
    """One line: did the engine do what the model predicted?"""
    if result.error is not None:
        return f"{result.check}: DID NOT END: {result.error}"
    cases = result.cases
    good = sum(case.agrees for case in cases)
    crashes = sum(len(case.crashed) for case in cases)
    after = f", after {crashes} crash{'' if crashes == 1 else 'es'}" if crashes else ""
    if result.holds:
        where = "the one case" if good == 1 else f"all {good} cases"
        engine = result.machine.engine
        return f"{result.check}: {engine} did as predicted in {where}{after}"
    return f"{result.check}: NOT AS PREDICTED in {len(cases) - good} of {len(cases)} cases{after}"


def table(result: EngineCheck) -> Table:
    """A row for each case, with the prediction and the observation."""
    rows = Table("case", "predicted", "seen", "")
    for case in result.cases:
        rows.add_row(*map(Text, row(case)))  # lists are no markup
    return rows


def row(case: EngineCase) -> tuple[str, str, str, str]:
    """(case, predicted, seen, sign); an observation that was predicted is not repeated."""
    predicted, seen = case.predicted, case.seen
    other = {key: seen.get(key) for key in seen if seen.get(key) != predicted.get(key)}
    other |= {key: None for key in predicted if key not in seen}
    return (
        case.name,
        listed(predicted),
        "the same" if case.agrees else listed(other),
        "✓" if case.agrees else "✗",
    )


def crashes(results: Sequence[EngineCheck]) -> list[OutageCount]:
    """The outages by kind, the most frequent first."""
    checks: dict[str, Counter[str]] = {}
    agreed: dict[str, list[bool]] = {}
    for one in results:
        for case in one.cases:
            kinds = _kinds(case)
            for kind in kinds:
                checks.setdefault(kind, Counter())[one.check] += 1
            for kind in set(kinds):
                agreed.setdefault(kind, []).append(case.agrees)
    found = [
        OutageCount(kind, count.total(), tuple(count.items()), len(agreed[kind]), sum(agreed[kind]))
        for kind, count in checks.items()
    ]
    return sorted(found, key=lambda one: (-one.times, one.kind))


def errors(result: EngineCheck) -> list[Error]:
    """The errors of predicted times: a row for each quantity and kind of crash; all kinds last."""
    found = []
    for what in sorted(_timed(result)):
        cases = [case for case in result.cases if what in case.seconds]
        predicted, measured = np.array([case.seconds[what] for case in cases]).T
        events = [case.events.get(what, 0) for case in cases]
        every = np.ones(len(cases))
        off = abs(predicted - measured) / measured
        constant = _left_out(np.column_stack([every]), measured)
        line = _left_out(np.column_stack([every, events]), measured)
        for kind in (*sorted({kind for case in cases for kind in _kinds(case)}), ALL):
            mine = [kind == ALL or kind in _kinds(case) for case in cases]
            rivals = _median(constant[mine]), _median(line[mine])
            runs, took = sum(mine), float(np.median(measured[mine]))
            found.append(Error(what, kind, runs, took, *_spread(off[mine]), *rivals))
    return found


def _left_out(known: Matrix, measured: Vector) -> Vector:
    """The relative error of each run when a least-squares fit to all others predicts it; nan where
    they cannot.

    known: a row for each run.  The error of a fit to all runs, divided by 1 - the leverage of the
    run, is that of the fit without it.
    """
    fit = known @ np.linalg.pinv(known)
    free = 1 - np.diag(fit)
    error = abs(measured - fit @ measured)
    possible = (free > 1e-9) & (np.linalg.matrix_rank(known) == known.shape[1])
    relative: Vector = np.full(len(free), np.nan)
    np.divide(error, free * measured, out=relative, where=possible)
    return relative


def _median(off: Vector) -> float | None:
    return None if np.isnan(off).any() else float(np.median(off))


def errors_table(result: EngineCheck) -> Table:
    rows = Table(*ERRORS)
    for line in error_rows(result):
        rows.add_row(*line)
    return rows


def shares_table(result: EngineCheck) -> Table:
    rows = Table(*SHARES)
    for line in share_rows(result):
        rows.add_row(*line)
    return rows


def error_rows(result: EngineCheck) -> list[tuple[str, ...]]:
    """The errors as cells of a table with the columns ERRORS; where there is one kind of crash, no
    line for all kinds."""
    found = errors(result)
    kinds = Counter(error.what for error in found)
    return [
        (
            error.what,
            error.kind,
            str(error.runs),
            f"{error.measured:.1f} s",
            f"{error.median:.1%}",
            f"{error.low:.1%} to {error.high:.1%}",
            _share(error.constant),
            _share(error.line),
        )
        for error in found
        if error.kind != ALL or kinds[error.what] != 2
    ]


def share_rows(result: EngineCheck) -> list[tuple[str, str]]:
    """The parts of the outages, each with its share of their variance, as cells of a table with the
    columns SHARES; none where the check has no shares."""
    shares = (share for case in result.cases for share in (case.shares or {}).items())
    return [(part, f"{share:.0%}") for part, share in shares]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def predicted_picture(result: EngineCheck) -> Picture:
    """Predicted against measured times."""
    name = f"predicted-{_named(result)}"
    return plot(partial(_panels, result), *SIZE, name=name, about=_about(result))


def _named(result: EngineCheck) -> str:
    """The check with its engine: two engines may have checks of one name."""
    return f"{result.machine.engine.lower()}-{result.check}"


def over_time_picture(result: EngineCheck) -> Picture:
    """Counts over time, predicted and seen."""
    names = _counted(result)
    about = f"{', '.join(names)} over time, predicted and seen on {result.machine.engine}."
    return plot(
        partial(_count_panels, result), *SIZE, name=f"over-time-{_named(result)}", about=about
    )


class ShownCheck(NamedTuple):
    """The part of a check that a page shows."""

    result: EngineCheck
    summary: str
    rows: tuple[tuple[str, str, str, str], ...]
    facts: FactsTable | None
    errors: list[tuple[str, ...]]
    shares: list[tuple[str, str]]
    plot: Markup
    over_time: Markup


def shown(result: EngineCheck) -> ShownCheck:
    """The values that a page shows of a check."""
    return ShownCheck(
        result,
        summary_line(result),
        tuple(map(row, result.cases)),
        facts_table(result),
        error_rows(result),
        share_rows(result),
        Markup(predicted_picture(result).svg if _timed(result) else ""),
        Markup(over_time_picture(result).svg if _counted(result) else ""),
    )


def _kinds(case: EngineCase) -> list[str]:
    """The kind of each outage of a case."""
    return [outage.kind for outage in case.crashed]


def _spread(off: Vector) -> tuple[float, float, float]:
    middle, low, high = np.quantile(off, [0.5, 0.25, 0.75])
    return float(middle), float(low), float(high)


def _timed(result: EngineCheck) -> list[str]:
    return list(dict.fromkeys(what for case in result.cases for what in case.seconds))


def _counted(result: EngineCheck) -> list[str]:
    return list(dict.fromkeys(what for case in result.cases for what in case.over_time))


def _panels(result: EngineCheck, figure: Figure) -> None:
    """Draw a panel for each quantity, with a mark for each kind of crash."""
    names = _timed(result)
    figure.suptitle(_title(result), fontsize=10)
    grid = figure.subplots(1, len(names), squeeze=False)
    for axes, what in zip(grid[0], names, strict=True):
        _panel(axes, result, what)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)


def _title(result: EngineCheck) -> str:
    machine = result.machine
    return f"{result.title} ({result.check}) on {machine.engine} {machine.version}"


def _panel(axes: Axes, result: EngineCheck, what: str) -> None:
    points: dict[str, list[tuple[float, float]]] = {}
    for case in result.cases:
        if what in case.seconds:
            kind = " and ".join(dict.fromkeys(_kinds(case))) or "no crash"
            points.setdefault(kind, []).append(case.seconds[what])
    times = [second for pairs in points.values() for pair in pairs for second in pair]
    margin = 0.1 * max(max(times) - min(times), 0.5 * max(times))
    ends = max(min(times) - margin, 0), max(times) + margin
    axes.axline((0, 0), slope=1, color=palette.FG, linewidth=0.8, linestyle=":")
    for at, (kind, pairs) in enumerate(sorted(points.items())):
        look = palette.look_of(at)
        predicted, measured = zip(*pairs, strict=True)
        axes.plot(
            predicted,
            measured,
            look.mark,
            color=look.colour,
            markersize=4.5,
            alpha=0.75,
            label=kind,
        )
    off = next(e for e in errors(result) if (e.what, e.kind) == (what, ALL))
    axes.set_title(f"{what}\nmedian error {off.median:.1%}", fontsize=10, loc="left")
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_aspect("equal")
    axes.locator_params(nbins=5)  # for both axes, so that ticks meet on the diagonal
    axes.set_xlabel("predicted, s")
    axes.set_ylabel("measured, s")
    axes.grid(visible=True)


def _count_panels(result: EngineCheck, figure: Figure) -> None:
    """Draw a panel for each count; cases with the same name share a colour."""
    names = _counted(result)
    figure.suptitle(_title(result), fontsize=10)
    grid = figure.subplots(1, len(names), squeeze=False)
    for axes, what in zip(grid[0], names, strict=True):
        cases = [case for case in result.cases if what in case.over_time]
        lines = (steps for one in cases for steps in one.over_time[what])
        end = 1.05 * max((at for steps in lines for at, _ in steps), default=1)
        labels = dict.fromkeys(one.name for one in cases)
        chosen = {name: palette.look_of(at).colour for at, name in enumerate(labels)}
        for one in cases:
            predicted, seen = one.over_time[what]
            for steps, line, kind in ((predicted, ":", "predicted"), (seen, "-", "seen")):
                path = [(0, 0), *steps]
                times, counts = zip(*path, (end, path[-1][1]), strict=True)
                look = {"color": chosen[one.name], "linestyle": line, "alpha": 0.75}
                label = f"{one.name}, {kind}"
                axes.step(times, counts, where="post", label=label, **look)
        axes.set_title(what, fontsize=10, loc="left")
        axes.set_xlabel("seconds")
        axes.yaxis.get_major_locator().set_params(integer=True)
        axes.grid(visible=True)
    handles, found = grid[0][0].get_legend_handles_labels()
    once = dict(zip(found, handles, strict=True))  # repeated cases have one entry
    figure.legend(once.values(), once.keys(), loc="outside lower center", ncols=4)


def _about(result: EngineCheck) -> str:
    offs = (
        f"{e.what}: median error {e.median:.0%} over {e.runs} runs"
        for e in errors(result)
        if e.kind == ALL
    )
    return "Predicted against measured seconds. " + "; ".join(offs) + "."
