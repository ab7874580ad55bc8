"""Su and Zhou, Section 6: the time until a new host can process (Figure 3), as a distribution.

Rule of this file: the distribution, and its consequences for n hosts; no recovery.

The figure's image is lost.  Its text states the range of 180 samples, 2 to 6 minutes, and Figure 5
takes 3 minutes for the time after which all hosts come at once.  Of all distributions with this
range and this mean, the truncated exponential one assumes least: its entropy is largest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.results.experiment import ExperimentPanel, Parameter, Series, Summary
from model.results.table import Row
from sim.experiments.experiment import Experiment
from sim.experiments.published import value

SOURCE = "Su and Zhou, Section 6"
SAMPLES, HOSTS = 180, 8
LOW, HIGH = value("su-attach-shortest"), value("su-attach-longest")
TOGETHER = value("su-best-case")
BIN = 0.5

Floats = NDArray[np.float64]


class Attach(NamedTuple):
    """A distribution of minutes: its cumulative probabilities at a grid of minutes."""

    minutes: Floats
    below: Floats

    def probability(self, minutes: float) -> float:
        """The probability that a host is there within `minutes`."""
        return float(np.interp(minutes, self.minutes, self.below))

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        """So many random times."""
        drawn: Floats = np.interp(generator.random(count), self.below, self.minutes)
        return drawn

    def mean(self) -> float:
        return self.mean_of_last(1)

    def mean_of_last(self, hosts: int) -> float:
        """The mean time until the last one of `hosts` hosts is there."""
        return float(self.minutes[0] + np.trapezoid(1 - self.below**hosts, self.minutes))


def _attach(density: Floats, minutes: Floats) -> Attach:
    steps = (density[1:] + density[:-1]) / 2 * np.diff(minutes)
    below = np.concatenate([[0.0], np.cumsum(steps)])
    return Attach(minutes, below / below[-1])


def truncated_exponential(mean: float, low: float = LOW, high: float = HIGH) -> Attach:
    """The distribution between low and high with this mean, which is nearer to low."""
    minutes = np.linspace(low, high, 4001)
    short, long = 1e-2, 1e3
    for _ in range(60):
        middle = (short * long) ** 0.5
        found = _attach(np.exp(-(minutes - low) / middle), minutes)
        short, long = (middle, long) if found.mean() < mean else (short, middle)
    return found


@cache
def shapes() -> Mapping[str, Attach]:
    """Our choice first, then others of the same range.  The beta distribution has the same mean;
    it is known as PERT with the mode at 2.5 minutes."""
    minutes = np.linspace(LOW, HIGH, 4001)
    part = (minutes - LOW) / (HIGH - LOW)
    return {
        "truncated exponential": truncated_exponential(TOGETHER),
        "beta": _attach(part**0.5 * (1 - part) ** 3.5, minutes),
        "uniform": _attach(np.ones_like(minutes), minutes),
    }


def attach() -> Attach:
    """The distribution that the experiments take."""
    return next(iter(shapes().values()))


def rows(seed: int, events: int) -> Sequence[Row]:
    """For each shape, its samples by bin, and their extremes."""
    edges = np.arange(LOW, HIGH + BIN / 2, BIN)
    found = []
    for name, shape in shapes().items():
        drawn = shape.draw(np.random.default_rng(seed), events)
        counts = np.histogram(drawn, edges)[0]
        found.append(
            {
                "shape": name,
                "shortest": float(drawn.min()),
                "longest": float(drawn.max()),
                "counts": counts.tolist(),
            }
        )
    return found


def summary(found: Sequence[Row]) -> Summary:
    """The histogram of our choice, the shapes beside each other, and the times for 8 hosts."""
    cells = [_cell(name, shape, found) for name, shape in shapes().items()]
    ours = cells[0]
    values = {
        "attach_shortest": ours["shortest"],
        "attach_longest": ours["longest"],
    }
    return Summary(
        cells=cells,
        values=values,
        notes=[*_notes(cells)],
        panels=[*_panels(found)],
    )


def _cell(name: str, shape: Attach, found: Sequence[Row]) -> Row:
    mine = [row for row in found if row["shape"] == name]
    within = shape.probability(TOGETHER)
    return {
        "shape": name,
        "mean": shape.mean(),
        "within_3": within,
        "all_8_within_3": within**HOSTS,
        "last_of_8": shape.mean_of_last(HOSTS),
        "shortest": float(np.mean([row["shortest"] for row in mine])),
        "longest": float(np.mean([row["longest"] for row in mine])),
    }


def _notes(cells: Sequence[Row]) -> Iterator[str]:
    for cell in cells:
        yield (
            f"{cell['shape']} (mean {cell['mean']:.2f} min): {SAMPLES} samples last from "
            f"{cell['shortest']:.2f} to {cell['longest']:.2f} min; all of {HOSTS} hosts are there "
            f"within {TOGETHER:g} min in {cell['all_8_within_3']:.2%} of the failures; the last "
            f"one comes after {cell['last_of_8']:.2f} min on average"
        )
    yield (
        f"BestCase, all {HOSTS} hosts after {TOGETHER:g} minutes, is no case that a plan could "
        "reach: it is another supply of hosts"
    )


def _panels(found: Sequence[Row]) -> Iterator[ExperimentPanel]:
    edges = np.arange(LOW, HIGH + BIN / 2, BIN)
    name, shape = next(iter(shapes().items()))
    first = next(row["counts"] for row in found if row["shape"] == name)
    below = [shape.probability(edge) for edge in edges]
    expected = [float(share) for share in sum(first) * np.diff(below)]
    places = [float(place) for place in range(len(first))]
    yield ExperimentPanel(
        "time until a new host is ready",
        "minutes, half a minute from",
        f"hosts, of {sum(first)}",
        [
            Series("a sample", places, [float(count) for count in first], "bars"),
            Series("expected", places, expected, "formula"),
        ],
        categories=[f"{edge:g}" for edge in edges[:-1]],
    )
    minutes = [float(one) for one in np.linspace(LOW, HIGH, 81)]
    yield ExperimentPanel(
        f"all of {HOSTS} new hosts are ready",
        "minutes",
        "probability",
        [
            *(
                Series(label, minutes, [one.probability(at) ** HOSTS for at in minutes], "line")
                for label, one in shapes().items()
            ),
            Series("BestCase", [TOGETHER], [1.0], "published"),
        ],
    )


FIG3 = Experiment(
    name="su-fig3",
    title="Time until new hosts are ready (Fig. 3), and until the last of eight is (ours)",
    source=SOURCE,
    parameters=(
        Parameter("samples", SAMPLES, "6"),
        Parameter("range", [LOW, HIGH], "6, in minutes"),
        Parameter("mean", TOGETHER, "our choice: the 3 minutes of BestCase"),
        Parameter("shape", "truncated exponential", "our choice: of largest entropy"),
        Parameter("hosts", HOSTS, "6"),
    ),
    seeds=25,
    events=SAMPLES,
    rows=rows,
    summary=summary,
)
EXPERIMENTS = (FIG3,)
