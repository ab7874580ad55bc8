"""Sinks whose writes have a price: latency, batches and connections, beside arithmetic."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.boxes.stateless import Relay
from model.core import Received
from model.errors import Invalid
from model.events import Body
from model.graph import chain
from model.protocols.amnesia.protocol import PROTOCOL as AMNESIA
from model.protocols.crb.protocol import PROTOCOL as CRB
from reports.results.simulations import load
from sim.inputs.streams import Workload
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from sim.timed.clock import SimulatedClock
from sim.timed.costs import PS, Costs, SinkCosts, Timer
from sim.timed.network import QueuedInput
from sim.timed.sinks import SinkWriter
from tests.sim.test_hosts import FREE
from tests.sim.test_timed import assert_same, cases, played, word
from tests.sim.test_waiting import NAMES, named, seconds

ONE = chain(("A", Relay()))


# --- a writer alone ----------------------------------------------------------------------------
def written(costs: SinkCosts, arrivals: list[tuple[float, int]]) -> list[tuple[int, float]]:
    """(number, seconds) of each message as it goes on.  arrivals: (seconds, events), in order."""
    clock = SimulatedClock()
    found: list[tuple[int, float]] = []
    message = Received("A", Body(0, "a"))
    inputs = [QueuedInput(message, 0, events) for _, events in arrivals]
    writer = SinkWriter(
        costs, clock.at, lambda queued, now: found.append((inputs.index(queued), now / PS))
    )
    due = [(round(at * PS), queued) for (at, _), queued in zip(arrivals, inputs, strict=True)]
    while due or clock.queue:
        if due and (not clock.queue or due[0][0] <= clock.queue[0][0]):
            now, queued = due.pop(0)
            writer.put(queued, now)
        else:
            clock.happen(*clock.pop())
    assert writer.is_at_rest()
    return found


@pytest.mark.parametrize(
    ("costs", "ends"),
    [
        (SinkCosts(latency_s=1), [1, 2, 3, 4]),  # one after the other
        (SinkCosts(latency_s=1, connections=2), [1, 1, 2, 2]),  # two by two
        (SinkCosts(latency_s=1, batch=2), [1, 2, 2, 3]),  # the first alone, at once
        (SinkCosts(latency_s=1, batch=2, linger_s=5), [1, 1, 2, 2]),  # each batch is full
        (SinkCosts(latency_s=1, batch=9, linger_s=5), [6, 6, 6, 6]),  # none is, after 5 s
        (SinkCosts(latency_s=1, event_s=0.5, batch=2, linger_s=5), [2, 2, 4, 4]),
        (SinkCosts(latency_s=0), [0, 0, 0, 0]),
    ],
)
def test_four_events_at_once(costs: SinkCosts, ends: list[float]) -> None:
    assert [at for _, at in written(costs, [(0, 1)] * 4)] == ends


def test_a_message_without_events_closes_the_batch() -> None:
    """The marker of 1 s has the two events before it written at once, and goes on behind them; the
    event of 1.5 s then waits for its own 10 s."""
    costs = SinkCosts(latency_s=2, batch=5, linger_s=10)
    found = written(costs, [(0, 1), (0.5, 1), (1, 0), (1.5, 1)])
    assert found == [(0, 3.0), (1, 3.0), (2, 3.0), (3, 13.5)]


def test_a_quick_batch_waits_for_a_slow_one_before_it() -> None:
    """A message of four events takes 4 s, the next one, beside it, 1 s: they count in order."""
    costs = SinkCosts(latency_s=0, event_s=1, connections=2)
    assert written(costs, [(0, 4), (0, 1), (0, 1)]) == [(0, 4.0), (1, 4.0), (2, 4.0)]


ARRIVALS = st.lists(
    st.tuples(st.integers(0, 8).map(lambda n: n / 4), st.integers(0, 3)), min_size=1, max_size=25
)
"""(pause, events)"""


@settings(max_examples=200)
@given(
    ARRIVALS,
    st.sampled_from([0.0, 0.5, 2.0]),
    st.sampled_from([0.0, 0.25]),
    st.integers(1, 4),
    st.sampled_from([0.0, 1.0]),
    st.integers(1, 3),
)
def test_every_message_goes_on_in_order(
    pauses: list[tuple[float, int]],
    latency: float,
    event: float,
    batch: int,
    linger: float,
    connections: int,
) -> None:
    """All of them, in their order, none before a write of its own events could end, and the last
    one not later than if each had been written alone after its wait."""
    at, arrivals = 0.0, []
    for pause, events in pauses:
        at += pause
        arrivals.append((at, events))
    costs = SinkCosts(
        latency_s=latency, event_s=event, batch=batch, linger_s=linger, connections=connections
    )
    found = written(costs, arrivals)
    assert [number for number, _ in found] == list(range(len(arrivals)))
    assert all(one <= other for (_, one), (_, other) in pairwise(found))
    latest = 0.0
    for (came, events), (_, ended) in zip(arrivals, found, strict=True):
        takes = latency + events * event if events else 0.0
        assert ended >= came + takes
        latest = max(latest, came + (linger if events else 0.0)) + takes
    assert found[-1][1] <= latest + 1e-9


# --- in a run ----------------------------------------------------------------------------------
def test_an_output_is_out_when_it_is_written() -> None:
    """Events at 1, 2, 3 s; a write takes 1.5 s, so that the second waits for the first."""
    costs = Costs(**FREE, sink=SinkCosts(latency_s=1.5))
    found, _, outputs = played(AMNESIA, Workload("", "", ONE, word("aaa")), costs)
    assert seconds(outputs) == {"sink": [2.5, 4.0, 5.5]}
    assert found.asked.service["sink"] == 9 * PS // 2


def test_an_acknowledgement_comes_after_the_write() -> None:
    """crb: the operator may let go of an output when the sink has written it."""

    def peak(latency: float) -> int:
        sink, never = SinkCosts(latency_s=latency, batch=9), {"checkpoint": Timer(after_s=100.0)}
        costs = Costs(**FREE, sink=sink, timers=never)
        return played(CRB, Workload("", "", ONE, word("a" * 8)), costs)[0].backup_peak

    assert peak(5.0) > peak(0.0)


@pytest.mark.slow
@settings(max_examples=40)
@given(cases(), NAMES, st.integers(1, 3), st.sampled_from([0.0, 1.0]), st.integers(1, 2))
def test_every_run_is_one_that_the_world_allows(
    case: tuple[Any, ...], name: str, batch: int, linger: float, connections: int
) -> None:
    workload, costs, planned = case
    blocking = costs.storage.model_copy(update={"blocking": True})
    sink = SinkCosts(latency_s=1.0, batch=batch, linger_s=linger, connections=connections)
    waits = costs.model_copy(update={"storage": blocking, "sink": sink})
    assert_same(named(name), (workload, waits, planned))


def test_a_sink_that_cannot_keep_up_is_named() -> None:
    """A write of 0.1 s for each result, in two connections; the input lasts as long as it does."""
    sets = ["costs.sink={latency_s=0.1, connections=2}", "failures=[]"]
    asked = read("docs/scenarios/quickstart.toml", overrides(sets))
    slow = simulate(asked)
    share = {one.name: one.busy_share for one in slow.load}["sink"]
    assert share == pytest.approx(slow.metrics.outputs * 0.1 / 2 * PS / asked.ends_ps)
    assert share > 1
    assert "OVERLOAD: the node sink cannot keep up" in "\n".join(load(slow))
    assert slow.same
    assert "costs.sink.latency_s" not in [step.key for step in slow.free_steps]


def test_a_sink_that_is_a_prompt_site_has_a_price_elsewhere(tmp_path: Path) -> None:
    text = Path("docs/scenarios/log-io.toml").read_text(encoding="utf-8")
    (tmp_path / "writes.toml").write_text(text.replace("log-io", "log-io:idempotent-writes", 1))
    with pytest.raises(Invalid, match=r"sink is a prompt site .*price in \[costs.stores.sink\]"):
        read(tmp_path / "writes.toml", overrides(["costs.sink.latency_s=1"]))
