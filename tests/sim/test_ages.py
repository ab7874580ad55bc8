"""The ages of events: found in the messages of every family, and usual by the time of the input."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.core import Role
from model.costs import MessageKind
from model.events import Body, Event
from model.registry import modules
from model.system import size_of
from sim.scenarios.run import run
from sim.scenarios.scenario import read
from sim.timed.ages import SLACK, STRETCHES, AgeRecord, DataStep, times_of
from sim.timed.record import LogEntry

FAMILIES = {protocol.name: protocol for protocol in modules().values()}
SCENARIO = """\
protocol = "{name}"
unit_s = 0.001
[stream]
events = 40
rate_per_s = 100.0
types = {{ a = 1.0, b = 1.0 }}
[[operators]]
name = "match"
pattern = "a, b"
window = 20
slide = 10
"""


def step(oldest: int, age: int, *, sender: str = "source", service: int = 0) -> DataStep:
    return DataStep("match", sender, (oldest,), oldest + age, oldest + age + service)


def test_the_time_of_a_complex_event_is_that_of_its_trigger() -> None:
    inner = Body(3, "a", ())
    assert [*times_of(("batch", Event((1,), Body(7, "m", (inner,))), [inner]))] == [7]
    assert [*times_of((Body(1, "a"), Body(2, "b")))] == [1, 2]
    assert not [*times_of("no event")]


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_every_message_with_events_says_when_they_were_handed_out(
    name: str, tmp_path: Path
) -> None:
    """As many times as its size has events: else a node would never be late by them."""
    path = tmp_path / "small.toml"
    path.write_text(SCENARIO.format(name=name), encoding="utf-8")
    log: list[LogEntry] = []
    ran = run(read(path), (), log=log)
    operators = {site.name for site in ran.system.sites.values() if site.role is Role.OPERATOR}
    seen = 0
    for entry in log:
        if not hasattr(entry.action, "sender") or entry.action.node not in operators:
            continue
        size = size_of(FAMILIES[name], entry.what[1])
        if size.kind is MessageKind.EVENT:
            assert len([*times_of(entry.what[1])]) == size.events
            seen += size.events
    assert seen >= 40


def test_a_burst_makes_no_other_time_late() -> None:
    """Ages of 9 s are usual in the burst of the first stretches, and not at the end."""
    width = 1_000
    record = AgeRecord(frozenset({"match"}), STRETCHES * width - 1, 1)
    for stretch in range(STRETCHES):
        record.add(step(stretch * width, 9_000 if stretch < 3 else 10))
    usual = record.usual()
    assert usual.width == width
    assert usual.usual(step(0, 0)) == 9_000 + 9_000 // SLACK
    assert usual.usual(step(3 * width, 0)) == 9_000 + 9_000 // SLACK  # next to the burst
    assert usual.usual(step(30 * width, 0)) == 10
    assert usual.usual(step(10**9, 0)) == 10  # a timer's results come after the input


def test_senders_are_kept_apart() -> None:
    record = AgeRecord(frozenset({"match"}), 10, 1)
    record.add(step(0, 500, sender="slow"))
    record.add(step(0, 5, sender="fast", service=95))
    usual = record.usual()
    assert usual.senders("match") == {"slow", "fast"}
    assert usual.usual(step(0, 0, sender="fast")) == 5 + 100 // SLACK
    assert usual.usual(step(0, 0, sender="nobody")) == 0
    assert usual.senders("pair") == frozenset()


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), min_size=1))
def test_no_event_of_the_run_without_failures_is_late(rows: list[tuple[int, int]]) -> None:
    record = AgeRecord(frozenset({"match"}), max(oldest for oldest, _ in rows), 1)
    for oldest, age in rows:
        record.add(step(oldest, age))
    usual = record.usual()
    assert all(age <= usual.usual(step(oldest, age)) for oldest, age in rows)
    assert sum(usual.events["match"]["source"]) == len(rows)
