"""The cost of buffers, in normal operation and in a recovery: our own experiment.

Rule of this file: the paper claims "minimum overhead" for adaptive buffering, and measures none.

Normal operation: the protocol's model in timed runs, on a small graph, beside a formula.  A
punctuation follows `period` after the last global checkpoint, which is complete `complete` after
its own punctuation.  Just before that, a node keeps the tuples since the punctuation before:
2 complete + period.  Recovery: the kernel of Figure 5 on the paper's topology.  Buffers are trimmed
at a global checkpoint, so they grow until all hosts are back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean

import numpy as np

from model.boxes.stateless import Map, Relay, Union
from model.core import Arrival, Inputs, Scope
from model.graph import SINK, SOURCE, Graph
from model.protocols.progressive.protocol import PROTOCOL
from model.results.experiment import ExperimentPanel, Parameter, Series, Summary
from model.results.table import Row
from model.system import System
from sim.experiments.experiment import Experiment
from sim.experiments.su.attach import HIGH
from sim.experiments.su.attach import SOURCE as PAPER
from sim.experiments.su.kernel import Floats, committed, run
from sim.experiments.su.setting import (
    BATCH_S,
    PARAMETERS,
    PER_TWEET,
    PERIOD_S,
    RATE,
    RECOVERY,
    STEP_S,
    STORE_S,
    Drawn,
    draw,
    place,
    reads,
    rules,
    steps,
)
from sim.timed.costs import PS, Costs, LinkCosts, Service, Storage
from sim.timed.record import TimedResult
from sim.timed.simulator import run_timed

SMALL = Graph(
    (
        ("source", SOURCE),
        ("Parser", Map("tag")),
        ("O1", Relay()),
        ("O2", Relay()),
        ("O5", Union()),
        ("Q1", SINK),
        ("Q5", SINK),
    ),
    (
        ("source", "Parser"),
        ("Parser", "O1"),
        ("Parser", "O2"),
        ("O1", "O5"),
        ("O2", "O5"),
        ("O1", "Q1"),
        ("O5", "Q5"),
    ),
)
"""One partition an operator.  Each emits one tuple an input."""
READ = ("source", "Parser", "O1", "O2")
"""Those that others read.  O5 keeps nothing: the application behind it has its results."""
DEPTH = 3
"""Partitions on the longest way."""
PERIODS_S = (0.1, 0.2, 0.4)
BUFFERING = {
    "source": "progressive:source-buffering",
    "adaptive": "progressive",
    "upstream": "progressive:upstream-buffering",
}
TWEET_BYTES, TAG_BYTES = 200, 40
UNTIL_S = 720
LABELS = {"progressive": "adaptive, progressive recovery", "OPC": "source, blocking recovery"}


# --- normal operation ------------------------------------------------------------------------
def timed(buffering: str, period_s: float, events: int) -> TimedResult:
    """A run without failures of the protocol with this buffering."""
    protocol = next(one for one in (PROTOCOL, *PROTOCOL.variants) if one.name == buffering)
    system = System(protocol, Scope(SMALL, (("source", Inputs((), 0)),), 0))
    gap = round(PS / RATE)
    feed = ((at * gap, "source", Arrival(1, "tweet")) for at in range(events))
    costs = Costs(service=Service(savepoint_s=0.0), timer_s=period_s)
    return run_timed(system, feed, costs, lambda *_: None, ends_ps=events * gap)


def complete_s() -> float:
    """From a punctuation to its global checkpoint: on the way each partition stores its part; then
    sink, coordinator and source hear of it, and the coordinator stores it, too."""
    delay, save = LinkCosts().delay_s, Storage().latency_s
    return DEPTH * (delay + save) + 3 * delay + save


def peak(buffering: str, period_s: float) -> float:
    """The formula: tuples and punctuations kept just before a global checkpoint."""
    keepers = len(READ) if buffering == "upstream" else 1
    return keepers * (RATE * (period_s + 2 * complete_s()) + 2)


def _normal(events: int) -> Iterator[Row]:
    for buffering, name in BUFFERING.items():
        for period_s in PERIODS_S:
            result = timed(name, period_s, events)
            yield {
                "what": "normal",
                "buffering": buffering,
                "period_s": period_s,
                "peak": result.backup_peak,
                "mean": result.backup_mean,
                "formula": peak(buffering, period_s),
                "saves": result.saves,
                "messages": sum(row.messages for row in result.traffic.values()),
            }


# --- recovery --------------------------------------------------------------------------------
def kept(drawn: Drawn, policy: str) -> tuple[Floats, Floats]:
    """For each step, the tweets that the source keeps, and the tuples that partitions keep.

    Partitions whose outputs nobody reads keep nothing.  Blocking recovery buffers at the source.
    """
    setting, above = rules(drawn, RECOVERY), reads(drawn.instance)
    front = run(above, place(drawn, policy), setting, steps(UNTIL_S))
    since = committed(front, setting)
    passed = np.arange(1, len(front) + 1)
    source = RATE * STEP_S * (passed - since)
    ended = since > -drawn.behind  # the buffers of partitions are off again
    read = {other for others in above.values() for other in others} - {0}
    tags = RATE * PER_TWEET * STEP_S
    outputs = np.zeros_like(source)
    if policy != "OPC":
        for operator in read:
            outputs += np.where(ended, 0.0, tags * (front[:, operator] + drawn.behind))
    return source, outputs


def _recovery(seed: int) -> Iterator[Row]:
    drawn, each = draw(seed), steps(PERIOD_S)
    for policy in LABELS:
        source, outputs = kept(drawn, policy)
        both = source + outputs
        most = int(both.argmax())
        yield {
            "what": "recovery",
            "policy": policy,
            "kept": both[each // 2 :: each].tolist(),
            "peak": float(both.max()),
            "peak_at_s": most * STEP_S,
            "peak_mb": float((TWEET_BYTES * source + TAG_BYTES * outputs).max()) / 1e6,
        }


# --- the experiment --------------------------------------------------------------------------
def rows(seed: int, events: int) -> Sequence[Row]:
    """A recovery by each policy; the first seed has the timed runs, which draw nothing."""
    normal = _normal(events) if seed == 0 else ()
    return [*normal, *_recovery(seed)]


def summary(found: Sequence[Row]) -> Summary:
    """Formula beside runs, and buffers over time since the failure."""
    normal = [row for row in found if row["what"] == "normal"]
    recoveries = {
        policy: [row for row in found if row.get("policy") == policy] for policy in LABELS
    }
    means = [
        {
            "what": "recovery",
            "policy": policy,
            **{key: mean(row[key] for row in mine) for key in ("peak", "peak_at_s", "peak_mb")},
        }
        for policy, mine in recoveries.items()
    ]
    return Summary(
        cells=[*normal, *means],
        values={},
        notes=[*_notes(normal, means)],
        panels=[_panel_normal(normal), _panel_recovery(recoveries)],
    )


def _notes(normal: Sequence[Row], means: Sequence[Row]) -> Iterator[str]:
    source, adaptive, upstream = (
        next(row for row in normal if row["buffering"] == name) for name in BUFFERING
    )
    same = {key for key in ("peak", "mean", "saves", "messages") if source[key] == adaptive[key]}
    yield (
        f"{len(same)} of 4 measures of adaptive buffering (tuples kept at peak and on average, "
        "writes, messages) are those of source buffering: without failures it costs nothing more"
    )
    off = max(abs(row["peak"] / row["formula"] - 1) for row in normal)
    yield (
        f"upstream buffering keeps {upstream['peak'] / source['peak']:.1f} times as many tuples "
        f"on this graph, and sends {upstream['messages'] - source['messages']} messages more; "
        f"peaks are at most {off:.1%} away from the formula"
    )
    tweets = RATE * (PERIOD_S + STORE_S)
    tags = 5 * PER_TWEET * tweets
    yield (
        f"on the paper's topology, with a period of {PERIOD_S} s: {tweets:,.0f} tweets "
        f"({tweets * TWEET_BYTES / 1e6:.1f} MB) at the source, and {tags:,.0f} more tuples "
        f"({tags * TAG_BYTES / 1e6:.1f} MB) with upstream buffering: its cost in memory is small"
    )
    for cell in means:
        yield (
            f"{cell['policy']}: {cell['peak']:,.0f} tuples ({cell['peak_mb']:.0f} MB) are kept at "
            f"peak, {cell['peak_at_s']:.0f} s after the failure"
        )
    yield (
        "no buffer is trimmed before the last host is back: the source keeps "
        f"{RATE:,.0f} more tweets each second ({RATE * TWEET_BYTES / 1e6:.1f} MB), without a bound"
    )


def _panel_normal(normal: Sequence[Row]) -> ExperimentPanel:
    series = []
    for buffering in BUFFERING:
        mine = [row for row in normal if row["buffering"] == buffering]
        series.append(Series(buffering, PERIODS_S, [row["peak"] for row in mine]))
    for buffering in ("source", "upstream"):
        formula = [peak(buffering, period_s) for period_s in PERIODS_S]
        series.append(Series("formula", PERIODS_S, formula, "formula"))
    return ExperimentPanel("without failures", "punctuation period, s", "kept at peak", series)


def _panel_recovery(recoveries: Mapping[str, Sequence[Row]]) -> ExperimentPanel:
    series = []
    for policy, mine in recoveries.items():
        courses = np.array([row["kept"] for row in mine]) / 1e6
        minutes = (np.arange(courses.shape[1]) + 0.5) * PERIOD_S / 60
        low, high = np.percentile(courses, [10, 90], axis=0)
        series.append(
            Series(
                LABELS[policy],
                minutes.tolist(),
                courses.mean(axis=0).tolist(),
                "line",
                low=low.tolist(),
                high=high.tolist(),
            )
        )
    until = [0.0, HIGH]
    grown = [RATE * (60 * at + PERIOD_S / 2) / 1e6 for at in until]
    series.append(Series("formula", until, grown, "formula"))
    return ExperimentPanel(
        "while recovering", "minutes since the failure", "million tuples kept", series
    )


OVERHEAD = Experiment(
    name="su-overhead",
    title="Source, upstream and adaptive buffering: what is kept (ours)",
    source=PAPER + "; nothing is measured there",
    parameters=(
        Parameter("without failures", "Parser, O1, O2 and O5, one partition each", "our choice"),
        Parameter("periods", list(PERIODS_S), "our choice, in s"),
        Parameter("link, storage", "as scenario files have by default", "our choice"),
        Parameter("bytes", [TWEET_BYTES, TAG_BYTES], "our choice: a tweet, a hashtag"),
        Parameter("recovery", f"as su-fig5, ordered in batches of {BATCH_S} s", "6"),
        *PARAMETERS,
    ),
    seeds=25,
    events=2000,
    rows=rows,
    summary=summary,
    ours=True,
)
EXPERIMENTS = (OVERHEAD,)
