"""The size of operators' states: written, sent, read back and held, in every family."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.boxes.box import Item, Out
from model.boxes.panes import Panes
from model.core import Scope
from model.costs import NO_STATES, CarriedStates, StateParts
from model.errors import Invalid
from model.events import Body
from model.graph import chain
from model.log import Log
from model.protocols.abs.messages import EpochPart, RollBack, TaskPart
from model.protocols.active_standby.messages import Copied
from model.protocols.cec.messages import Disk, Kind, Record, Segment
from model.protocols.crb.messages import OperatorCheckpoint, Output, Stable
from model.protocols.passive_standby.messages import Checkpoint
from model.queues import QueueState
from model.standbys.messages import Output as StreamTuple
from model.standbys.producers import OutputQueue
from model.state_parts import count_changed, count_parts
from model.system import System
from sim.scenarios.overrides import overrides
from sim.scenarios.run import ScenarioRun, run, simulate
from sim.scenarios.scenario import Scenario, read
from sim.timed.costs import PS, Costs, Sizes, StateCosts
from sim.timed.state_sizes import StateSizes
from tests.conformance.subjects import PROTOCOLS
from tests.sim.test_catch_up import catching_up, terms

FAMILIES = sorted(name for name in PROTOCOLS if ":" not in name)
MB = 1_000_000
STATE = """\
protocol = "{name}"
[stream]
seconds = 40
rate_per_s = 10.0
arrivals = "constant"
types = {{ a = 1.0, b = 1.0 }}
[[operators]]
name = "match"
pattern = "a, b"
window = 2_000
slide = 1_000
[costs]
timer_s = 1.0
[costs.service]
event_s = 0.0
control_s = 0.0
item_s = 0.0
savepoint_s = 0.0
[costs.link]
delay_s = 0.0
bandwidth_bytes_per_s = 1e18
[costs.storage]
latency_s = 0.0
bandwidth_bytes_per_s = 20e6
[costs.sizes]
event_bytes = 0
control_bytes = 0
item_bytes = 0
saved_bytes = 0
[detector]
keep_alive_s = 0.1
misses = 1
restart_s = 1.0
"""
CRASH = """
[[failures]]
nodes = ["match"]
at_s = 30.05
"""
BYTES = ("costs.state.match.bytes=200_000_000", "costs.state.match.incremental=true")
"""200 MB that the first checkpoint has alone, and every restart reads."""


def made(name: str, folder: Path, *changes: str, crash: str = CRASH) -> Scenario:
    path = folder / "state.toml"
    path.write_text(STATE.format(name=name) + crash)
    return read(path, overrides(changes))


def played(name: str, folder: Path, *changes: str, crash: str = CRASH) -> ScenarioRun:
    scenario = made(name, folder, *changes, crash=crash)
    return run(scenario, scenario.planned)


def restored_ps(ran: ScenarioRun) -> int:
    (outage,) = ran.result.outages[:1]
    assert outage.restored_ps is not None
    return outage.restored_ps


# --- written, sent, read back ------------------------------------------------------------------
READ_S = {
    "abs": 10,
    "active-standby": 0,  # the other replica has the state
    "amnesia": 0,  # nobody has it
    "cec": 10,
    "crb": 10,
    "kafka-transactions": 10,
    "log-io": 10,
    "micro-batch": 10,
    "passive-standby": 0,  # the secondary has a copy in memory
    "progressive": 10,
    "two-phase-sink": 10,
    "unaligned-checkpoints": 10,
    "uncoordinated": 10,
    "upstream-backup": 0,  # the state is made again from events
    "upstream-backup-acks": 0,  # likewise
}
"""By family: the seconds for which a restarted operator waits for 200 MB at 20 MB/s."""


def test_each_family_has_its_row() -> None:
    """The facts that the closed form goes by say the same."""
    outages = {name: PROTOCOLS[name].behaviour.outage for name in FAMILIES}
    assert {name: outage is not None and outage.read for name, outage in outages.items()} == {
        name: seconds > 0 for name, seconds in READ_S.items()
    }


@pytest.mark.parametrize("room", ["", "costs.room=1_000_000"])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_restart_waits_for_the_read(name: str, room: str, tmp_path: Path) -> None:
    """200 MB at 20 MB/s are 10 s, in both loops."""
    rest = [room] if room else []
    without, with_ = (played(name, tmp_path, *changes, *rest) for changes in ((), BYTES))
    assert restored_ps(with_) - restored_ps(without) == READ_S[name] * PS


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_that_hides_its_states_is_found(name: str, tmp_path: Path) -> None:
    """The test above fails for a family that does not say where its states are."""
    scenario = made(name, tmp_path, *BYTES)
    hidden = replace(scenario, protocol=scenario.protocol.vary(states=lambda _value: NO_STATES))
    late = restored_ps(run(scenario, scenario.planned)) - restored_ps(run(hidden, hidden.planned))
    assert late == READ_S[name] * PS


@pytest.mark.parametrize("name", [name for name in FAMILIES if READ_S[name]])
def test_a_state_is_written_at_the_bandwidth(name: str, tmp_path: Path) -> None:
    """The first checkpoint takes 10 s at 20 MB/s; those that follow have no changed part."""
    ran = played(name, tmp_path, *BYTES, crash="")
    assert ran.result.saving_ps == 10 * PS


@pytest.mark.parametrize("name", FAMILIES)
def test_the_memory_of_each_replica_holds_the_state(name: str, tmp_path: Path) -> None:
    """A process pair has the state twice if both replicas have it at all."""
    ran = played(name, tmp_path, *BYTES, crash="")
    peaks = {node for node, peak in ran.result.memory_peaks.items() if peak}
    pair = {"match", "match'"} if name in ("active-standby", "passive-standby") else {"match"}
    assert peaks == pair
    assert {ran.result.memory_peaks[node] for node in peaks} == {200 * MB}


LATER = ("failures.1.at_s=64.5", "stream.seconds=340", "costs.storage.bandwidth_bytes_per_s=20e6")
LOG = ("costs.stores.log.bandwidth_bytes_per_s=20e6",)
HELD_BACK_S = 10 * 0.5 + 10 * 0.5 * 0.5
"""Kafka's new worker commits at the first multiple of 5 s.  The answer to its first request waits
for the service of those that came in the 10 s of the read, and the second for these 5 s' events."""


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in FAMILIES if READ_S[name]])
def test_a_recovery_has_the_read_of_the_closed_form(name: str, tmp_path: Path) -> None:
    """At 50 % load, checkpoints at 60 and 65 s: abs is away for 9.5 + 4 + 10 s, and has to do
    the events of these and of 4.5 s: 51.5 s.  The first checkpoint, of 10 s, is long before."""
    path = tmp_path / "crash.toml"
    path.write_text(catching_up(name, 0.5), encoding="utf-8")
    changes = (*LATER, *(LOG if name == "log-io" else ()))
    without, with_ = (
        simulate(read(path, overrides((*changes, *more)))).failures[0] for more in ((), BYTES)
    )
    wanted = terms(name, 0.5, without)
    wanted = replace(wanted, read_s=wanted.read_s + 10)
    assert with_.recovery_s == pytest.approx(wanted.recovery_s, rel=0.04)
    redirected = (without.redirection_s or 0) + 10
    if name == "kafka-transactions":
        redirected += HELD_BACK_S
    assert with_.redirection_s == pytest.approx(redirected, rel=0.04)


@pytest.mark.slow
def test_a_commit_during_a_replay_holds_events_back(tmp_path: Path) -> None:
    """The new worker of Kafka asks for the place and then for the commit; both answers wait behind
    the events that came before them, and it writes no result meanwhile.  All by pencil: events
    1, 2, 3, ... come at 0.0, 0.2, 0.4 s, and 0.1 s is the service of each."""
    path = tmp_path / "crash.toml"
    path.write_text(catching_up("kafka-transactions", 0.5), encoding="utf-8")
    found = [
        simulate(read(path, overrides((*LATER, *more)))).failures[0].redirection_s
        for more in ((), BYTES)
    ]
    # A worker that is back at 74.1 s has done 300 to 309 at 75 s: 67 events wait.  The place is
    # there at 81.7 s; 33 came after them, and at 85 s it writes the results of these 100.
    # One that is back at 84.1 s has done as many at 85 s: 117 wait, then 58, until 102.5 s.
    assert found == [pytest.approx(85.0 - 74, abs=0.01), pytest.approx(102.5 - 74, abs=0.01)]
    assert (found[1] or 0) - (found[0] or 0) == pytest.approx(10 + HELD_BACK_S, abs=1e-6)


# --- parts and changes -------------------------------------------------------------------------
COUNT = Aggregate("count", 10, 10, by="time", of="type", group="key")


def fed(*items: tuple[int, int]) -> list[Panes]:
    """The states after each of the items (time, key)."""
    states = [COUNT.begin(1)]
    for time, key in items:
        (answer,) = COUNT.feed(states[-1], Item(0, Body(time, "a", (("key", key),))))
        states.append(answer.state)
    return states


def test_parts_are_counted_by_hand() -> None:
    """Three keys, each with a window; then one event of key 2 changes one key and one window."""
    *_, before, after = fed((1, 1), (2, 2), (3, 3), (4, 2))
    assert count_parts(before) == count_parts(after) == StateParts(3, 3)
    assert count_changed(before, after) == StateParts(1, 1)
    assert count_changed(None, after) == StateParts(3, 3)
    assert count_changed(after, after) == StateParts()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4)), max_size=30), st.integers(0, 30))
def test_a_change_is_a_part_of_the_whole(gaps: list[tuple[int, int]], place: int) -> None:
    """As many keys change as come between, and no fewer windows than are new."""
    times = accumulate(gap for gap, _ in gaps)
    states = fed(*((time, key) for time, (_, key) in zip(times, gaps, strict=True)))
    place = min(place, len(states) - 1)
    before, after = states[place], states[-1]
    changed, whole = count_changed(before, after), count_parts(after)
    assert changed.keys == len({key for _, key in gaps[place:]})
    assert whole.windows - count_parts(before).windows <= changed.windows <= whole.windows
    assert count_parts((before, after)).keys == count_parts(before).keys + whole.keys


PRICE = StateCosts(bytes=1_000, key_bytes=10, window_bytes=1)


def sizes(*, incremental: bool) -> StateSizes:
    graph = chain(("count", COUNT))
    price = PRICE.model_copy(update={"incremental": incremental})
    costs = Costs(state={"count": price})
    return StateSizes(System(PROTOCOLS["abs"], Scope(graph)), costs)


def test_checkpoints_follow_each_other() -> None:
    """Whole ones have 1,000 + 10 a key + 1 a window; incremental ones the changes, and after a
    restart the changes since the state that was read."""
    states = fed((1, 1), (2, 2), (3, 3), (4, 2))
    parts = [EpochPart(0, number, TaskPart(state)) for number, state in enumerate(states)]
    whole, changes = sizes(incremental=False), sizes(incremental=True)

    def sent(of: StateSizes, number: int) -> int:
        return of.sent("count", "coordinator", parts[number]).state_bytes

    assert [sent(whole, number) for number in (1, 3, 4)] == [1_011, 1_033, 1_033]
    assert [sent(changes, number) for number in (1, 3, 4)] == [1_011, 22, 11]
    assert sent(changes, 4) == 11  # the same message, when it departs
    back = RollBack(1, 1, TaskPart(states[1]))
    assert changes.sent("coordinator", "count", back).state_bytes == 1_011
    assert sent(changes, 3) == 22


def test_nothing_is_read_before_the_first_checkpoint() -> None:
    found = sizes(incremental=False)
    back = RollBack(1, 0, TaskPart(COUNT.begin(1)))
    assert found.sent("coordinator", "count", back).state_bytes == 0


def test_a_state_of_an_unknown_operator_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"state: no operator 'mach'; did you mean 'match'\?"):
        made("abs", tmp_path, "costs.state.mach.bytes=1")


# --- items are no events -----------------------------------------------------------------------
NO_TUPLES: Log[StreamTuple] = Log()


def test_outputs_and_records_have_the_size_of_events() -> None:
    """Events that are kept to be sent again have the price of events, and no item's."""
    out = StreamTuple(1, Body(1, "a"))
    queue = OutputQueue((), 3, NO_TUPLES.extend((out, out, out)))
    sizes_of = {name: PROTOCOLS[name].behaviour.size for name in ("crb", "cec")}
    shipped = Checkpoint(True, (), (), (), 3, (out, out, out))
    copied = Copied((), (), queue, ((out,),))
    assert PROTOCOLS["passive-standby"].behaviour.size(shipped)[1:] == (0, 0, "checkpoints", 3, 0)
    assert PROTOCOLS["active-standby"].behaviour.size(copied)[1:] == (0, 0, "", 4, 0)
    kept = QueueState(1, 1, QueueState().kept.append(Output((1,), Body(1, "a"), frozenset())))
    stable = Stable(OperatorCheckpoint((), (1,), (1,), kept))
    assert sizes_of["crb"](stable)[1:] == (0, 0, "checkpoints", 1, 0)
    result = Record(Kind.RESULT, 1, 1, None, None, 0, 1, 1, Out(Body(1, "a")))
    opened = Record(Kind.OPEN, 1, 1, (), None, 1, 1, 0)
    disk = Disk(log=Disk().log.append(Segment(1, (result, opened))))
    assert sizes_of["cec"](disk)[1:] == (0, 1, "log", 1, 0)
    costs = Costs(sizes=Sizes(event_bytes=100, control_bytes=40, item_bytes=16, saved_bytes=0))
    assert costs.bytes(sizes_of["cec"](disk)) == 40 + 16 + 100
    assert costs.save_ps(sizes_of["cec"](disk)) == round((0.001 + 116 / 200e6) * PS)


# --- work and pace of replicas -----------------------------------------------------------------
SLOW = ("costs.service.event_s=3e-3",)
WORK = ("costs.work.match.event_s=3e-3",)
PACE = ("costs.service.event_s=1e-3", "costs.slow.match=3.0")


@pytest.mark.parametrize("name", FAMILIES)
def test_work_and_pace_hold_for_each_replica(name: str, tmp_path: Path) -> None:
    """The nodes that run the operator are as busy as if every node had its work."""
    scenario = made(name, tmp_path)
    system = System(scenario.protocol, Scope(scenario.workload.graph))
    nodes = {one for one in system.sites if system.operators_at(one)}
    common, own, slow = (
        played(name, tmp_path, *changes).result.busy_ps for changes in (SLOW, WORK, PACE)
    )
    assert nodes <= common.keys()
    for node in nodes:
        assert common[node] == own[node] == slow[node], node
    assert sum(common[node] for node in nodes) > 0


def test_an_active_standby_doubles_the_work(tmp_path: Path) -> None:
    """Both replicas take 1 ms for an event where all others take 0.5: 100 % more, not 133 %."""
    changes = ("costs.service.event_s=0.5e-3", "costs.work.match.event_s=1e-3")
    found = simulate(made("active-standby", tmp_path, *changes, crash=""))
    assert found.overhead.protection_busy == pytest.approx(1.0)


# --- a store that answers late -----------------------------------------------------------------
def test_a_store_that_is_no_prompt_site_writes_and_reads_at_its_bandwidth(tmp_path: Path) -> None:
    """The coordinator is busy for 10 s with the snapshot, and a restart waits for 10 s."""
    name = "abs:late-store"
    without, with_ = (played(name, tmp_path, *changes) for changes in ((), BYTES))
    assert restored_ps(with_) - restored_ps(without) == 10 * PS
    free, stored = (played(name, tmp_path, *changes, crash="") for changes in ((), BYTES))
    extra = stored.result.busy_ps, free.result.busy_ps
    assert extra[0] == extra[1]  # no operator waits for it
    sent = [one.result.traffic["snapshots"] for one in (free, stored)]
    assert sent[1].service_ps - sent[0].service_ps == 10 * PS


def test_a_new_secondary_gets_the_whole_state_on_the_link(tmp_path: Path) -> None:
    """200 MB beside the bytes without a size; the link sends 20 MB in a second."""
    link = ("costs.link.bandwidth_bytes_per_s=20e6",)
    for name, kind in (("active-standby", "copy"), ("passive-standby", "checkpoints")):
        without, with_ = (played(name, tmp_path, *more, *link) for more in ((), BYTES))
        sent = [one.result.traffic[kind].bytes for one in (without, with_)]
        copies = 1 if kind == "copy" else 2  # the first checkpoint, and that of the new secondary
        assert sent[1] - sent[0] == copies * 200 * MB
        assert with_.result.asked.wire["match'", "match"] == 10 * PS


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (lambda _value: (), r"states returns \(\); return CarriedStates"),
        (lambda _value: CarriedStates((1, 2)), "states returns 2 states for match; give one"),
        (lambda _value: 1 / 0, "states raises ZeroDivisionError"),
    ],
)
def test_wrong_states_are_one_line(states: Any, said: str, tmp_path: Path) -> None:
    scenario = made("abs", tmp_path, *BYTES)
    wrong = replace(scenario, protocol=scenario.protocol.vary(states=states))
    with pytest.raises(Invalid, match=said):
        run(wrong, wrong.planned)


def test_the_page_says_where_each_state_lies() -> None:
    """The families of the rows of docs/reference/costs.md that read, and of those that do not."""
    text = Path("docs/reference/costs.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith(("| in ", "| on ", "| made "))]
    reads = [set(re.findall(r"`([a-z-]+)`", line.split("|")[2])) for line in rows]
    by_hand = [{name for name in READ_S if READ_S[name] == wanted} for wanted in (10, 0)]
    assert [reads[0] | reads[1], reads[2] | reads[3]] == by_hand


def test_a_read_that_takes_time_is_not_said_to_be_free(tmp_path: Path) -> None:
    """A store with a bandwidth reads 200 MB in 10 s, whatever its read_s; one without, in none."""
    price = "costs.stores.coordinator.read_s"
    store = "costs.stores.coordinator={ transaction_s = 0.001"
    for bandwidth, free in ((", bandwidth_bytes_per_s = 20e6", False), ("", True)):
        found = simulate(made("abs", tmp_path, *BYTES, f"{store}{bandwidth} }}"))
        assert (price in [step.key for step in found.free_steps]) is free
