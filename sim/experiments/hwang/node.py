"""A node between an upstream and a downstream node: a minute of tuples, a crash, a recovery.

Rule of this file: every amount is counted from the tuples and messages of the run; formulas stand
in sim.experiments.hwang.formulas.

Times are in milliseconds.  Upstream sends each tuple over a link to the node, which processes one
after the other and sends outputs on.  Nodes acknowledge, and primaries checkpoint, at moments an
interval apart.  The recovery begins when the failure is discovered, and ends when the secondary has
processed the last tuple that the primary had (Section 4).

Equal to timed runs of the families in what both define (tests/families/standbys/test_kernel.py).
By design other than there: a redirection takes REDIRECT_MS; watermarks, identifiers in checkpoints
and the tuples in an aggregate's state have a size; active standby trims by high watermarks, as
published.  A crash loses what is not on the link yet.  Hwang et al., Sections 5 to 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.results.table import Row
from sim.experiments.hwang.setting import (
    BYTES_A_MS,
    DELAY_MS,
    FILTER_MS,
    ID_BYTES,
    RATE,
    REDIRECT_MS,
    TUPLE_BYTES,
    Answers,
    HwangSetting,
    Phases,
    QueryNetwork,
    Receives,
    StudiedProtocol,
    TupleWork,
)

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]


class NodeSteps(NamedTuple):
    """The work of a node on its input tuples from an empty state on.

    open: for each tuple the windows that it is added to, of all aggregates.  outs: the outputs that
    it makes.  first: for each output, the oldest input tuple that it needs (the low watermark).
    entered: for each tuple, the tuples that enter the state of an aggregate.
    """

    open: Ints
    outs: Ints
    first: Ints
    entered: Ints


def process(network: QueryNetwork, count: int) -> NodeSteps:
    """The work on `count` tuples, numbered from 0."""
    passed = np.arange(count)  # the input tuples that are the input of the next aggregate
    first = np.arange(count)  # the oldest input tuple that each of those needs
    open_, entered = np.zeros(count, np.int64), np.zeros(count, np.int64)
    if not network.aggregates:
        open_ += 1
    for at in range(network.aggregates):
        window, advance = network.windows(at)
        number = np.arange(len(passed))
        np.add.at(open_, passed, np.minimum(number, window - 1) // advance + 1)
        np.add.at(entered, passed, 1)
        closes = (number >= window - 1) & ((number - (window - 1)) % advance == 0)
        opener = number[closes] - (window - 1)
        passed, first = passed[closes], first[opener]
    outs = np.bincount(passed, minlength=count)
    return NodeSteps(open_, outs, first, entered)


def serve(arrivals: Floats, work: Floats) -> Floats:
    """When each of the jobs is done that one server takes one after the other."""
    total = np.cumsum(work)
    begun: Floats = np.maximum.accumulate(arrivals - (total - work))
    return begun + total


def cost(setting: HwangSetting, steps: NodeSteps) -> Floats:
    """The milliseconds that each tuple costs."""
    network = setting.network
    if setting.work is TupleWork.OPEN or not network.aggregates:
        return steps.open * FILTER_MS
    settled = network.aggregates * network.window
    usual = process(network, settled + 10 * network.window).open[settled:]
    return np.full(len(steps.open), usual.mean() * FILTER_MS)


@dataclass(frozen=True, slots=True)
class NodeResult:
    """A run.

    recovery_ms: until the pre-failure state is reached.  duplicates: outputs that downstream gets
    again.  reprocessed: inputs that were processed before.  bytes: by kind, up to the crash.
    processing: work for high availability over ordinary work; a tuple copied into a message, or out
    of one, is taken for as much work as a filter's, and an identifier for a tenth (our choice).
    """

    recovery_ms: float
    duplicates: int
    reprocessed: int
    tuple_bytes: float
    bytes: dict[str, float]
    processing: float = 0.0

    @property
    def overhead(self) -> float:
        """Bytes for high availability over those of ordinary input tuples."""
        return sum(self.bytes.values()) / self.tuple_bytes

    def row(self) -> Row:
        return {
            "recovery_ms": self.recovery_ms,
            "duplicates": self.duplicates,
            "reprocessed": self.reprocessed,
            "overhead": self.overhead,
            "processing": self.processing,
            **{f"bytes {kind}": count / self.tuple_bytes for kind, count in self.bytes.items()},
        }


class Ordinary(NamedTuple):
    """The run without failures: when each tuple is processed, when each output is at downstream."""

    steps: NodeSteps
    sent: Floats
    done: Floats
    received: Floats


TUPLE_MS = TUPLE_BYTES / BYTES_A_MS
ID_MS = FILTER_MS / 10
LEG_MS = ID_BYTES / BYTES_A_MS + DELAY_MS
"""From the start of an acknowledgement to its arrival."""


class Moments(NamedTuple):
    """When things happen in a run.  first: the first input tuple is sent.  crash: of the primary.
    below, here: the first acknowledgements of the downstream node, and of the node itself."""

    first: float
    crash: float
    below: float
    here: float


def run(setting: HwangSetting, seed: int, count: int) -> NodeResult:
    """A run over so many tuples, with a crash in its second half."""
    return run_at(setting, _draw(setting, np.random.default_rng(seed), count), count)


def _draw(setting: HwangSetting, chance: np.random.Generator, count: int) -> Moments:
    first = float(chance.uniform() / RATE * 1000)
    crash = float(chance.uniform(0.5, 1.0) * count / RATE * 1000)
    below, here = (float(own) for own in chance.uniform(0, setting.interval_ms, 2))
    return Moments(first, crash, below, below if setting.phases is Phases.SAME else here)


def run_at(setting: HwangSetting, moments: Moments, count: int) -> NodeResult:
    """The run over so many tuples in which things happen at these moments."""
    crash = moments.crash
    ordinary = _ordinary(setting, moments.first, count)
    ticks_below = np.arange(moments.below, crash, setting.interval_ms)
    ticks = np.arange(moments.here, crash, setting.interval_ms)
    match setting.protocol:
        case StudiedProtocol.PASSIVE:
            return _passive(setting, ordinary, crash, ticks, ticks_below)
        case StudiedProtocol.ACTIVE:
            return _active(setting, ordinary, crash, ticks, ticks_below)
        case StudiedProtocol.UPSTREAM:
            return _upstream(setting, ordinary, crash, ticks, ticks_below)
        case StudiedProtocol.AMNESIA:
            return NodeResult(0.0, 0, 0, _bytes(ordinary, crash), {})


def _ordinary(setting: HwangSetting, first: float, count: int) -> Ordinary:
    steps = process(setting.network, count)
    sent = first + np.arange(count) / RATE * 1000
    size = TUPLE_BYTES / BYTES_A_MS
    arrived = serve(sent, np.full(count, size)) + DELAY_MS
    done = serve(arrived, cost(setting, steps))
    made = np.repeat(done, steps.outs)
    received = serve(made, np.full(len(made), size)) + DELAY_MS
    return Ordinary(steps, sent, done, received)


def _bytes(ordinary: Ordinary, until: float) -> float:
    return float(np.searchsorted(ordinary.sent, until) * TUPLE_BYTES)


def _work(setting: HwangSetting, ordinary: Ordinary, until: float) -> float:
    """The milliseconds of ordinary processing."""
    count = int(np.searchsorted(ordinary.done, until))
    return float(cost(setting, ordinary.steps)[:count].sum())


def _indicators(setting: HwangSetting, ordinary: Ordinary, until: float) -> float:
    """The milliseconds for indicators: one for each tuple that enters an operator."""
    count = int(np.searchsorted(ordinary.done, until))
    entries = int(ordinary.steps.entered[:count].sum()) if setting.network.aggregates else count
    return entries * ID_MS * (2 if setting.precise else 1)


def _replay(setting: HwangSetting, first: int, last: int, state: int) -> float:
    """The milliseconds from the first tuple at the secondary until it has processed the last one.

    state: the first tuple that its state has, `first` if it begins empty.
    """
    if last <= first:
        return 0.0
    steps = process(setting.network, last - state)
    work = cost(setting, steps)[first - state :] + setting.in_front_ms
    if setting.receives is Receives.FIRST:
        return float((work + TUPLE_MS).sum())
    arrivals = np.arange(1, last - first + 1) * TUPLE_MS
    return float(serve(arrivals, work)[-1])


def _known(ordinary: Ordinary, ticks_below: Floats, now: Floats) -> Ints:
    """The outputs of which the node knows at these moments that downstream has received them."""
    received = np.searchsorted(ordinary.received, ticks_below)
    there = ticks_below + LEG_MS
    last = np.searchsorted(there, now, side="right") - 1
    return np.where(last >= 0, received[np.maximum(last, 0)], 0)


def _passive(
    setting: HwangSetting, ordinary: Ordinary, crash: float, ticks: Floats, ticks_below: Floats
) -> NodeResult:
    network, steps = setting.network, ordinary.steps
    upto = np.searchsorted(ordinary.done, ticks)  # the tuples in each checkpoint
    made = np.concatenate([[0], np.cumsum(steps.outs)])
    ids = 2 + 2 * network.inputs + network.aggregates
    known = _known(ordinary, ticks_below, ticks)  # these have left the output queue
    sizes = np.zeros(len(ticks))
    for at, (before, now) in enumerate(zip([0, *upto[:-1]], upto, strict=True)):
        entered = int(steps.entered[before:now].sum())
        if network.aggregates == 1:  # what came and left since then is not in the delta
            entered = min(entered, network.window)
        sizes[at] = TUPLE_BYTES * (entered + max(0, made[now] - max(made[before], known[at])))
    messages = sizes + ID_BYTES * (ids - network.inputs)
    stored = serve(ticks, messages / BYTES_A_MS) + DELAY_MS
    whole = stored - DELAY_MS <= crash  # what has been sent by then arrives
    at = int(np.flatnonzero(whole)[-1])
    first, last = int(upto[at]), int(np.searchsorted(ordinary.done, crash))
    state = max(0, first - network.aggregates * network.window)
    rest = _replay(setting, first, last, state) if last > first else 0.0
    # What is in the output queue, and what is made again; downstream has up to `made[last]`.
    duplicates = 0 if setting.precise else int(made[last] - known[at])
    kinds = {
        "checkpoints": float(messages.sum()),
        "acknowledgements": float(ID_BYTES * network.inputs * len(ticks)),
    }
    copied = 2 * (messages.sum() / TUPLE_BYTES) * FILTER_MS
    return NodeResult(
        REDIRECT_MS + DELAY_MS + rest,
        duplicates,
        last - first,
        _bytes(ordinary, crash),
        kinds,
        float(copied / _work(setting, ordinary, crash)),
    )


def _active(
    setting: HwangSetting, ordinary: Ordinary, crash: float, ticks: Floats, ticks_below: Floats
) -> NodeResult:
    network = setting.network
    at_once = setting.answers is Answers.AT_ONCE
    moments = ticks_below + LEG_MS if at_once else ticks
    moments = moments[moments <= crash]
    reported = _known(ordinary, ticks_below, moments)
    served = int(reported[-1]) if len(moments) else 0
    trims = np.count_nonzero(np.diff(reported, prepend=0))  # nothing new: nothing is reported
    produced = int(np.searchsorted(np.repeat(ordinary.done, ordinary.steps.outs), crash))
    # An output with the very watermark of the last one served is kept ("lower-valued").
    logged = produced - max(0, served - 1)
    known = int(np.searchsorted(ordinary.received, crash + DELAY_MS)) if setting.precise else 0
    again = 0 if setting.precise else logged
    resend = 0.0 if setting.precise else logged * TUPLE_MS
    asked = REDIRECT_MS if setting.precise else 0.0
    ids = ID_BYTES * network.inputs
    tuple_bytes = _bytes(ordinary, crash)
    kinds = {
        "copies": tuple_bytes,
        "acknowledgements": float(2 * ids * len(ticks)),
        "trims": float(ids * trims),
    }
    rest = max(0, produced - known) * TUPLE_MS if setting.precise else resend
    ordinary_ms = _work(setting, ordinary, crash)
    indicators = 2 * _indicators(setting, ordinary, crash) + trims * network.inputs * ID_MS
    processing = 1 + indicators / ordinary_ms
    return NodeResult(asked + rest, again, 0, tuple_bytes, kinds, processing)


def _upstream(
    setting: HwangSetting, ordinary: Ordinary, crash: float, ticks: Floats, ticks_below: Floats
) -> NodeResult:
    network, steps = setting.network, ordinary.steps
    known = _known(ordinary, ticks_below, ticks)
    acknowledged = int(known[-1])
    first = int(steps.first[acknowledged - 1]) if acknowledged else 0
    last = int(np.searchsorted(ordinary.done, crash))
    rest = _replay(setting, first, last, first)
    again = int(process(network, last - first).outs.sum())
    ids = float(ID_BYTES * network.inputs * len(ticks))
    kinds = {"level 0": ids, "level 1": ids}
    if setting.precise:  # upstream does the same: each tuple brings the indicator of one input
        kinds["watermarks"] = ID_BYTES * _bytes(ordinary, crash) / TUPLE_BYTES
    duplicates = 0 if setting.precise else again
    processing = _indicators(setting, ordinary, crash) / _work(setting, ordinary, crash)
    return NodeResult(
        REDIRECT_MS + DELAY_MS + rest,
        duplicates,
        last - first,
        _bytes(ordinary, crash),
        kinds,
        processing,
    )
