"""The kernel of Hwang et al., Section 7, beside timed runs of the model's families.

A run has a source, a node with its secondary and a sink; tuples are evenly spaced, and the node
crashes once.  Both have the same timers, links and work of a tuple.  What both define is equal.

What the two have by design in different ways, so that the tests convert it:

- The kernel takes REDIRECT_MS for the redirection of streams.  In a timed run it is what the
  messages take: a request and the producer's presentation, each an identifier long.
- A timed run receives tuples while it processes others (Receives.BESIDE) and has one price for a
  tuple at a node (TupleWork.STEADY).  Its primaries of active standby report at once
  (Answers.AT_ONCE).  No filter stands in front of its operator (InFront.NOTHING).
- An Ack of the model has both levels; the kernel counts an identifier for each.
- The model prices no marks of outputs, no identifiers in a checkpoint, and of an aggregate the
  values and not the tuples in its windows.  Tests compare the numbers of tuples and messages.
- A checkpoint that is on its way into the link when the node crashes is lost in the kernel; a timed
  run delivers every message whose step was done.
- The kernel's secondary of active standby compares high watermarks with high ones, as published.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import pytest

import model.protocols.active_standby.design as active
import model.protocols.passive_standby.design as passive
import model.protocols.upstream_backup_acks.design as acks
from model.actions import Deliver, Inject
from model.boxes.aggregate import Aggregate
from model.boxes.stateless import Relay
from model.core import Arrival, Inputs, Scope
from model.graph import chain
from model.protocols.active_standby.messages import Trim
from model.protocols.passive_standby.checkpoints import CHECKPOINT
from model.protocols.passive_standby.messages import Checkpoint
from model.registry import protocols
from model.standbys.choices import NodeReturns
from model.standbys.consumers import ACKNOWLEDGE
from model.standbys.messages import Ack, Last, Output
from model.system import System
from sim.experiments.hwang.node import LEG_MS, Moments, NodeResult, process, run_at
from sim.experiments.hwang.setting import (
    BYTES_A_MS,
    DELAY_MS,
    FILTER,
    FILTER_MS,
    ID_BYTES,
    RATE,
    REDIRECT_MS,
    TUPLE_BYTES,
    Answers,
    HwangSetting,
    InFront,
    QueryNetwork,
    Receives,
    StudiedProtocol,
    TupleWork,
)
from sim.timed.costs import PS, Costs, LinkCosts, Service, Sizes, Timer
from sim.timed.detector import Detector
from sim.timed.failures import TimedCrash
from sim.timed.record import LogEntry
from sim.timed.simulator import run_timed

MS = PS // 1000
COUNT, INTERVAL_MS = 800, 50.0
AGGREGATE = QueryNetwork("windows", aggregates=1, window=20, advance=5)
NETWORKS = {"relay": (FILTER, Relay()), "windows": (AGGREGATE, Aggregate("count", 20, 5))}
FAMILIES: dict[StudiedProtocol, tuple[str, Any, Any]] = {
    StudiedProtocol.PASSIVE: (
        "passive-standby",
        passive.PassiveStandbyDesign(),
        passive.PRECISE,
    ),
    StudiedProtocol.ACTIVE: (
        "active-standby",
        active.ActiveStandbyDesign(serves=active.Serves.HIGH),
        replace(active.PRECISE, serves=active.Serves.HIGH),
    ),
    StudiedProtocol.UPSTREAM: (
        "upstream-backup-acks",
        acks.UpstreamBackupAcksDesign(),
        acks.PRECISE,
    ),
}
SAME = (Moments(0.3, 437.7, 20.0, 20.0), Moments(0.7, 503.4, 12.0, 12.0))
OWN = (Moments(0.7, 455.4, 46.0, 12.0), Moments(0.1, 492.6, 12.0, 46.0))
"""No tuple is at a node when a timer runs out or the node crashes: a timed run evaluates a step
when its input arrives, and the kernel when its work is done.  The first timers run out when the
first tuple has come: before, the model's nodes have nothing to acknowledge.

A timed run has one clock for each kind of timer.  Only a primary of passive standby, which has
checkpoints, can have another one than the sink."""


class Timed(NamedTuple):
    """A timed run: what nodes took, in order, how many outputs the sink passed on, the times of the
    crash and its detection."""

    taken: tuple[tuple[LogEntry, Deliver, Any], ...]
    sent: int
    passed: int
    crash_ps: int
    detected_ps: int

    def by(self, node: str, sender: str, kind: type) -> list[LogEntry]:
        """Where a node takes a message of this kind from this sender."""
        return [
            entry
            for entry, action, message in self.taken
            if (action.node, action.sender) == (node, sender) and isinstance(message, kind)
        ]

    def before_crash(self, node: str, sender: str, kind: type) -> int:
        """How many of these messages had been sent when the node crashed.  All are received before
        the failure is detected, and then none of them is sent for a while."""
        arrived = self.crash_ps + round((LEG_MS + 1) * MS)
        return sum(1 for entry in self.by(node, sender, kind) if entry.done_ps <= arrived)

    def last(self) -> int:
        """The last tuple that the primary processed."""
        return max(place(entry) for entry in self.by("A", "source", Output))

    def since_detection(self, entry: LogEntry) -> float:
        return (entry.done_ps - self.detected_ps) / MS


def place(entry: LogEntry) -> int:
    output = entry.what[1]
    assert isinstance(output, Output)
    return output.place


def work_ms(network: QueryNetwork) -> float:
    return FILTER_MS * (network.window / network.advance if network.aggregates else 1)


def timed(setting: HwangSetting, box: Any, moments: Moments, design: Any = None) -> Timed:
    name, rollback, precise = FAMILIES[setting.protocol]
    chosen = replace(
        design or (precise if setting.precise else rollback), returns=NodeReturns.NEVER
    )
    protocol = protocols()[name].vary(design=chosen)
    system = System(protocol, Scope(chain(("A", box)), (("source", Inputs((), 0)),), 1))
    log: list[LogEntry] = []
    passed: list[Any] = []
    every_s = setting.interval_ms / 1000
    costs = Costs(
        service=Service(event_s=work_ms(setting.network) / 1000, control_s=0, item_s=0),
        sizes=Sizes(event_bytes=TUPLE_BYTES, control_bytes=ID_BYTES, item_bytes=TUPLE_BYTES),
        link=LinkCosts(delay_s=DELAY_MS / 1000, bandwidth_bytes_per_s=BYTES_A_MS * 1000),
        timers={
            ACKNOWLEDGE: Timer(every_s=every_s, phase_s=moments.below / 1000),
            CHECKPOINT: Timer(every_s=every_s, phase_s=moments.here / 1000),
        },
    )
    result = run_timed(
        system,
        ((round((moments.first + at) * MS), "source", Arrival(1, "a")) for at in range(COUNT)),
        costs,
        lambda _sink, _at, output: passed.append(output),
        ends_ps=COUNT * MS,
        detector=Detector(keep_alive_s=0.25, misses=1),
        planned=[TimedCrash(round(moments.crash * MS), ("A",))],
        log=log,
    )
    (outage,) = result.outages
    taken = tuple(
        (entry, entry.action, entry.what[1])
        for entry in sorted(log)
        if isinstance(entry.action, Deliver)
    )
    sent = sum(1 for e in log if isinstance(e.action, Inject) and e.done_ps <= outage.crashed_ps)
    return Timed(taken, sent, len(passed), outage.crashed_ps, outage.detected_ps)


def kernel(setting: HwangSetting, moments: Moments) -> NodeResult:
    return run_at(setting, moments, COUNT)


def point(
    protocol: StudiedProtocol, network: QueryNetwork, *, precise: bool = False
) -> HwangSetting:
    """The reading of the paper that a timed run can express."""
    return HwangSetting(
        protocol,
        network,
        INTERVAL_MS,
        precise,
        work=TupleWork.STEADY,
        receives=Receives.BESIDE,
        answers=Answers.AT_ONCE,
        in_front=InFront.NOTHING,
    )


both_networks = pytest.mark.parametrize("network", NETWORKS)
both_types = pytest.mark.parametrize("precise", [False, True])
same_moments = pytest.mark.parametrize("moments", SAME)
all_moments = pytest.mark.parametrize("moments", [*SAME, *OWN])


def assert_duplicates(setting: HwangSetting, found: Timed, expected: NodeResult) -> None:
    """The sink passes on so many outputs more than a run without a crash."""
    outputs = int(process(setting.network, COUNT).outs.sum())
    assert found.passed - outputs == expected.duplicates


def assert_processed_again(found: Timed, expected: NodeResult) -> None:
    """The secondary is sent what it has to process again, and then has processed it."""
    again = [
        entry for entry in found.by("A'", "source", Output) if entry.began_ps > found.detected_ps
    ]
    assert found.last() - (place(again[0]) - 1) == expected.reprocessed
    (done,) = (entry for entry in again if place(entry) == found.last())
    assert found.since_detection(done) == pytest.approx(
        expected.recovery_ms - REDIRECT_MS + DELAY_MS + 2 * ID_BYTES / BYTES_A_MS
    )


@both_networks
@both_types
@all_moments
def test_passive_standby(network: str, precise: bool, moments: Moments) -> None:
    shape, box = NETWORKS[network]
    setting = point(StudiedProtocol.PASSIVE, shape, precise=precise)
    expected, found = kernel(setting, moments), timed(setting, box, moments)
    checkpoints: list[Checkpoint] = [
        entry.what[1]
        for entry in found.by("A'", "A", Checkpoint)
        if entry.done_ps <= found.detected_ps
    ]
    places = [0, *(one.inlets[0].place for one in checkpoints)]
    entered = [min(now - before, shape.window) for before, now in pairwise(places)]
    outputs = sum(len(one.outputs) for one in checkpoints)
    tuples = outputs + (sum(entered) if shape.aggregates else 0)
    identifiers = (3 + shape.aggregates) * len(checkpoints)
    assert expected.bytes["checkpoints"] == tuples * TUPLE_BYTES + identifiers * ID_BYTES
    sent = found.before_crash("source", "A'", Ack)
    assert expected.bytes["acknowledgements"] == ID_BYTES * sent
    assert_processed_again(found, expected)
    assert_duplicates(setting, found, expected)


@both_networks
def test_a_crash_while_a_checkpoint_is_sent_costs_the_kernel_an_interval(network: str) -> None:
    """The crash is half a millisecond after a checkpoint, and sending it takes more than that."""
    shape, box = NETWORKS[network]
    moments, setting = Moments(0.7, 462.5, 12.0, 12.0), point(StudiedProtocol.PASSIVE, shape)
    expected, found = kernel(setting, moments), timed(setting, box, moments)
    held = found.by("A'", "A", Checkpoint)[-1].what[1].inlets[0].place
    assert held == found.last()
    assert expected.reprocessed == INTERVAL_MS * RATE / 1000


@both_networks
@both_types
@same_moments
def test_active_standby(network: str, precise: bool, moments: Moments) -> None:
    shape, box = NETWORKS[network]
    setting = point(StudiedProtocol.ACTIVE, shape, precise=precise)
    expected, found = kernel(setting, moments), timed(setting, box, moments)
    copies = [e for e in found.by("A'", "source", Output) if place(e) <= found.sent]
    assert expected.bytes["copies"] == TUPLE_BYTES * len(copies)
    sent = [found.before_crash("source", node, Ack) for node in ("A", "A'")]
    assert expected.bytes["acknowledgements"] == ID_BYTES * sum(sent)
    trims = found.before_crash("A'", "A", Trim)
    assert expected.bytes["trims"] == ID_BYTES * trims
    assert_duplicates(setting, found, expected)
    outputs = max(place(entry) for entry in found.by("sink", "A", Output))
    resent = found.by("sink", "A'", Output)
    if precise:  # the sink has all that the primary made, so that only the question takes time
        (answered,) = found.by("A'", "sink", Last)
        assert expected.recovery_ms == REDIRECT_MS
        assert found.since_detection(answered) == pytest.approx(2 * LEG_MS)
        assert place(resent[0]) == outputs + 1
    else:
        (done,) = (entry for entry in resent if place(entry) == outputs)
        assert outputs - (place(resent[0]) - 1) == expected.duplicates
        assert found.since_detection(done) == pytest.approx(expected.recovery_ms + LEG_MS)


@both_networks
@both_types
@same_moments
def test_upstream_backup(network: str, precise: bool, moments: Moments) -> None:
    shape, box = NETWORKS[network]
    setting = point(StudiedProtocol.UPSTREAM, shape, precise=precise)
    expected, found = kernel(setting, moments), timed(setting, box, moments)
    sent = found.before_crash("source", "A", Ack)
    assert expected.bytes["level 0"] == ID_BYTES * sent
    assert expected.bytes["level 1"] == ID_BYTES * sent
    assert ("watermarks" in expected.bytes) is precise
    if precise:
        assert expected.bytes["watermarks"] == ID_BYTES * found.sent
    assert_processed_again(found, expected)
    assert_duplicates(setting, found, expected)


def test_the_mended_rule_of_active_standby_keeps_more_than_the_published_one() -> None:
    """The mended secondary compares high watermarks with low ones: it keeps in addition the outputs
    with a tuple that was in a window when the last one served was made."""
    setting, (_, box) = point(StudiedProtocol.ACTIVE, AGGREGATE), NETWORKS["windows"]
    found = timed(setting, box, SAME[0], active.ActiveStandbyDesign())
    outputs = int(process(AGGREGATE, COUNT).outs.sum())
    more = found.passed - outputs - kernel(setting, SAME[0]).duplicates
    assert more == (AGGREGATE.window - 1) // AGGREGATE.advance
