"""Hosts with shared cores and links: beside arithmetic, other runs, and worlds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from model.boxes.stateless import Relay
from model.errors import Invalid
from model.graph import SINK, SOURCE, Graph
from model.protocols.amnesia.protocol import PROTOCOL as AMNESIA
from sim.inputs.streams import Workload
from sim.scenarios.overrides import overrides
from sim.scenarios.run import simulate
from sim.scenarios.scenario import read
from sim.timed.costs import PS, Costs, HostCosts, LinkCosts, Service, Sizes, Storage
from sim.timed.failures import TimedCrash
from sim.timed.hosts import TimedHost
from tests.sim.test_timed import LEDGER, assert_same, cases, played, word
from tests.sim.test_waiting import NAMES, named, odd_costs, one_crash, seconds

FREE: dict[str, Any] = {
    "service": Service(event_s=0, control_s=0, item_s=0, savepoint_s=0),
    "sizes": Sizes(event_bytes=100, control_bytes=0),
    "link": LinkCosts(delay_s=0, bandwidth_bytes_per_s=None),
}
SIDE_BY_SIDE = Graph(
    (
        *(("source", SOURCE), ("A", Relay()), ("B", Relay())),
        *(("near", SINK), ("far", SINK)),
    ),
    (("source", "A"), ("source", "B"), ("A", "near"), ("B", "far")),
)
CHAIN = Graph(
    (("source", SOURCE), ("A", Relay()), ("B", Relay()), ("sink", SINK)),
    (("source", "A"), ("A", "B"), ("B", "sink")),
)


def on_one(cores: int, *nodes: str, **more: Any) -> dict[str, HostCosts]:
    return {"one": HostCosts(nodes=nodes, cores=cores, **more)}


# --- cores -----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("cores", "near", "far"), [(1, [1, 3, 5], [2, 4, 6]), (2, [1, 2, 3], [1, 2, 3])]
)
def test_two_operators_take_turns_at_a_core(
    cores: int, near: list[float], far: list[float]
) -> None:
    """Three events at 0 s, to both operators, of 1 s each.  A asks first, then B, and then each
    asks again when its step is over: A, B, A, B, A, B; with two cores, side by side."""
    costs = Costs(**FREE | {"service": Service(event_s=1.0)}, hosts=on_one(cores, "A", "B"))
    workload = Workload("", "", SIDE_BY_SIDE, word("aaa", gap=0))
    found, _, outputs = played(AMNESIA, workload, costs)
    assert seconds(outputs) == {"near": near, "far": far}
    assert found.asked.hosts == {"one": 6 * PS // cores}
    assert found.busy_ps == {"A": 3 * PS, "B": 3 * PS}


def test_a_node_that_waits_for_its_disk_has_no_core() -> None:
    """Both operators have an event of 1 s and a write of 5 s: A writes from 1 s on, and B from 2 s
    on, while A still writes."""
    costs = Costs(
        **FREE | {"service": Service(event_s=1.0)},
        storage=Storage(latency_s=5.0, bandwidth_bytes_per_s=None),
        timer_s=100.0,
        hosts=on_one(1, "A", "B"),
    )
    found, _, outputs = played(LEDGER, Workload("", "", SIDE_BY_SIDE, word("b", gap=0)), costs)
    passed = seconds(outputs)
    assert (passed["near"][0], passed["far"][0]) == (6.0, 7.0)
    assert found.asked.hosts["one"] < 3 * PS


def test_a_crash_gives_the_core_back() -> None:
    """A has the core from 0 to 4 s, and crashes at 1 s: B has it from 1 s to 5 s."""
    costs = Costs(**FREE | {"service": Service(event_s=4.0)}, hosts=on_one(1, "A", "B"))
    workload = Workload("", "", SIDE_BY_SIDE, word("a", gap=0))
    _, _, outputs = played(AMNESIA, workload, costs, [TimedCrash(PS, ("A",))])
    assert seconds(outputs) == {"near": [], "far": [5.0]}


def test_a_node_elsewhere_has_a_core_of_its_own() -> None:
    costs = Costs(**FREE | {"service": Service(event_s=1.0)}, hosts=on_one(1, "A"))
    workload = Workload("", "", SIDE_BY_SIDE, word("aaa", gap=0))
    _, _, outputs = played(AMNESIA, workload, costs)
    assert seconds(outputs) == {"near": [1, 2, 3], "far": [1, 2, 3]}


# --- links -----------------------------------------------------------------------------------
def test_a_host_sends_over_one_link() -> None:
    """Both operators send 100 bytes at 0 s: at 100 bytes a second, the one in 1 s and the other
    in 2 s; the source, which is elsewhere, sends in no time."""
    costs = Costs(**FREE, hosts=on_one(2, "A", "B", bandwidth_bytes_per_s=100.0))
    found, _, outputs = played(AMNESIA, Workload("", "", SIDE_BY_SIDE, word("a", gap=0)), costs)
    assert seconds(outputs) == {"near": [1.0], "far": [2.0]}
    assert found.asked.wire["one", "other hosts"] == 2 * PS
    assert ("A", "near") not in found.asked.wire


def test_messages_within_a_host_take_no_bandwidth() -> None:
    """From A to B 0.25 s in place of the link's 4 s of delay and 1 s for 100 bytes."""
    costs = Costs(
        **FREE | {"link": LinkCosts(delay_s=4.0, bandwidth_bytes_per_s=100.0)},
        hosts=on_one(2, "A", "B", within_s=0.25),
    )
    _, _, outputs = played(AMNESIA, Workload("", "", CHAIN, word("a", gap=0)), costs)
    assert seconds(outputs) == {"sink": [5.0 + 0.25 + 5.0]}


# --- properties ------------------------------------------------------------------------------
@pytest.mark.slow
@settings(max_examples=40)
@given(cases(), odd_costs(), NAMES, st.booleans())
def test_with_a_core_for_each_node_a_host_changes_nothing(
    case: tuple[Any, ...], costs: Costs, name: str, crashes: bool
) -> None:
    """All operators on one host, with a delay between them as between hosts."""
    workload, planned = case[0], one_crash(case) if crashes else ()
    link = costs.link.model_copy(update={"bandwidth_bytes_per_s": None})
    costs = costs.model_copy(update={"link": link})
    nodes = tuple(name for name in workload.graph.specs)
    hosts = on_one(len(nodes), *nodes, within_s=link.delay_s)
    expected, _, outputs = played(named(name), workload, costs, planned)
    placed = costs.model_copy(update={"hosts": hosts})
    found, _, passed = played(named(name), workload, placed, planned)
    assert passed == outputs
    for each in ("notes", "busy_ps", "outages", "ended_ps", "lost", "in_vain", "states"):
        assert getattr(found, each) == getattr(expected, each), each


@pytest.mark.slow
@settings(max_examples=40)
@given(cases(), NAMES, st.integers(1, 2), st.sampled_from([None, 100.0]))
def test_every_run_is_one_that_the_world_allows(
    case: tuple[Any, ...], name: str, cores: int, bandwidth: float | None
) -> None:
    workload, costs, planned = case
    blocking = costs.storage.model_copy(update={"blocking": True})
    nodes = tuple(sorted(workload.graph.specs))[:3]
    hosts = on_one(cores, *nodes, bandwidth_bytes_per_s=bandwidth, within_s=0.5)
    waits = costs.model_copy(update={"storage": blocking, "hosts": hosts})
    found, log = assert_same(named(name), (workload, waits, planned))
    assert most_at_once(log, nodes) <= cores
    assert sum(found.asked.hosts.values()) * cores <= cores * found.ended_ps


def most_at_once(log: Any, nodes: tuple[str, ...]) -> int:
    """The largest number of services at one time: of steps that are no restarts."""
    steps = [one for one in log if one.rank and one.action.node in nodes]
    return max((_serving(steps, one.began_ps) for one in steps), default=0)


def _serving(steps: list[Any], at: int) -> int:
    return len({one.action.node for one in steps if one.began_ps <= at < one.served_ps})


def test_the_check_finds_cores_that_nobody_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = Costs(**FREE | {"service": Service(event_s=1.0)}, hosts=on_one(1, "A", "B"))
    workload = Workload("", "", SIDE_BY_SIDE, word("aaa", gap=0))
    _, log, _ = played(AMNESIA, workload, costs)
    assert most_at_once(log, ("A", "B")) == 1
    monkeypatch.setattr(TimedHost, "ask", lambda *_: True)
    _, log, _ = played(AMNESIA, workload, costs)
    assert most_at_once(log, ("A", "B")) == 2


# --- in a scenario ---------------------------------------------------------------------------
PLACED = """\
protocol = "upstream-backup"
unit_s = 0.001

[stream]
seconds = 20
rate_per_s = 100
arrivals = "constant"
types = { a = 1.0, b = 1.0 }

[[operators]]
name = "left"
pattern = "a, b"
window = 200
slide = 100

[[operators]]
name = "right"
pattern = "b, a"
window = 200
slide = 100
inputs = ["source"]

[[operators]]
name = "both"
pattern = "left, right"
window = 200
slide = 100
inputs = ["left", "right"]

[costs.service]
event_s = 4e-3
control_s = 0.0
savepoint_s = 0.0
item_s = 0.0

[costs.hosts.big]
nodes = ["left", "right"]
cores = 1

[costs.hosts.small]
nodes = ["both", "sink"]
cores = 1

[[failures]]
host = "big"
at_s = 5.0
"""


def written(folder: Path, text: str, *sets: str) -> Any:
    (folder / "placed.toml").write_text(text)
    return read(folder / "placed.toml", overrides(sets))


def test_two_operators_on_a_core_are_as_busy_as_both(tmp_path: Path) -> None:
    """100 events a second of 4 ms each, for two operators: 40 % each, and 80 % of the core.  The
    crash of the host is one of both."""
    result = simulate(written(tmp_path, PLACED))
    shares = {(one.kind, one.name): one.busy_share for one in result.load}
    assert shares["node", "left"] == pytest.approx(0.4, abs=0.001)
    assert shares["host", "big"] == pytest.approx(0.8, abs=0.001)
    assert {one.node for one in result.failures} == {"left", "right"}
    assert {one.expected_catch_up_s for one in result.failures} == {None}
    assert result.same
    free = [step.key for step in result.free_steps]
    assert "costs.hosts.small.within_s" in free
    assert "costs.hosts.big.within_s" not in free  # nothing is sent from left to right


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ('costs.hosts.big.nodes=["lefd"]', "hosts: no node 'lefd'; did you mean 'left'?"),
        ('failures=[{host="bog", at_s=1}]', "host: no host 'bog'; did you mean 'big'?"),
        ('failures=[{host="big", nodes=["left"], at_s=1}]', "give one of nodes and host"),
        ("failures=[{at_s=1}]", "give one of nodes and host"),
        ('costs.hosts.big.nodes=["left", "both"]', "both is on big and on small; place it once"),
        ("costs.hosts.big.cores=0", "cores = 0: it should be greater than or equal to 1"),
        ('costs.hosts.small.nodes=["sink"]|failures=[{host="small", at_s=1}]', "no operator is on"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, sets: str, message: str) -> None:
    with pytest.raises(Invalid, match=message.replace("?", r"\?")) as error:
        written(tmp_path, PLACED, *sets.split("|"))
    assert "\n" not in str(error.value)


def test_a_prompt_site_is_on_no_host() -> None:
    sets = ['costs.hosts.big={nodes=["coordinator"], cores=1}']
    with pytest.raises(Invalid, match="'coordinator' is a prompt site, on no host"):
        read(Path("docs/scenarios/abs.toml"), overrides(sets))


def test_hosts_and_a_node_that_does_not_wait_exclude_each_other() -> None:
    with pytest.raises(ValidationError, match="blocking"):
        Costs(hosts=on_one(1, "A"), storage=Storage(blocking=False))
