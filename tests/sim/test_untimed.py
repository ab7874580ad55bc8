"""Runs over whole streams: each is one that the world allows, and crashes change no output."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.actions import Action, Crash, Restart
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows, TimeWindows
from model.core import Arrival, Inputs, Scope
from model.errors import Invalid
from model.graph import SINK, SOURCE, Graph, chain
from model.oracle import oracle
from model.play import Play
from model.protocol import Protocol
from model.protocols.upstream_backup.protocol import PROTOCOL
from model.results.plain import plain
from model.world import World
from sim.comparison import compare
from sim.inputs.flights import flight_crashes, flight_workload
from sim.inputs.streams import Workload, graph_for
from sim.outputs import digest
from sim.untimed.crashes import UntimedCrash, UntimedOutage, crash_plans, crashable
from sim.untimed.run import UntimedResult, run

NO_SKIPS = PROTOCOL.named("upstream-backup:no-skips")
NAMES = st.sampled_from(["upstream-backup", "upstream-backup:no-skips", "upstream-backup:notices"])
"""Not the protocols themselves: a failing example prints its arguments."""

A = ("A", Operator(one_run("a", "b"), CountWindows(3, 2), "x"))
B = ("B", Operator(one_run("b", "a"), TimeWindows(3, 1), "y"))
C = ("C", Operator(one_run("x", "y"), CountWindows(2, 1), "z"))
LINE = chain(A, ("D", Operator(sequence("x"), CountWindows(2, 1))))
NODES = [name for name, spec in LINE.nodes if spec not in (SOURCE, SINK)]
DIAMOND = Graph(
    (("source", SOURCE), A, B, C, ("sink", SINK)),
    (("source", "A"), ("source", "B"), ("A", "C"), ("B", "C"), ("C", "sink")),
)
MERGE = Graph(
    (("left", SOURCE), ("right", SOURCE), A, ("near", SINK), ("far", SINK)),
    (("left", "A"), ("right", "A"), ("A", "near"), ("A", "far")),
)
GRAPHS = (LINE, DIAMOND, MERGE, graph_for("a, b", 3, 1))

ARRIVALS = st.builds(Arrival, st.integers(0, 2), st.sampled_from("ab"), st.just(()))


@st.composite
def cases(draw: st.DrawFn, most: int) -> tuple[Workload, list[UntimedCrash]]:
    """A workload, and crashes that may turn out not to be possible."""
    graph = draw(st.sampled_from(GRAPHS))
    sources = [name for name, spec in graph.nodes if spec is SOURCE]
    words = {name: tuple(draw(st.lists(ARRIVALS, min_size=1, max_size=most))) for name in sources}
    workload = Workload("", "", graph, words)
    nodes = [name for name, spec in graph.nodes if spec not in (SOURCE, SINK)]
    crash = st.builds(
        UntimedCrash, st.sampled_from(nodes), st.integers(1, workload.size), st.integers(0, 4)
    )
    return workload, draw(st.lists(crash, max_size=3))


def driven(
    protocol: Protocol, workload: Workload, crashes: Sequence[UntimedCrash], away: int
) -> tuple[UntimedResult, list[Action]] | None:
    actions: list[Action] = []
    try:
        return run(protocol, workload, crashes, restart_after=away, record=actions.append), actions
    except Invalid:
        return None


def followed(protocol: Protocol, workload: Workload, actions: Sequence[Action]) -> World:
    """The world that the actions lead to, each of them enabled when it is taken."""
    inputs = tuple((name, Inputs(tuple(word), len(word))) for name, word in workload.events.items())
    play = Play(protocol, Scope(workload.graph, inputs, crashes=3))
    play.follow(*actions)
    assert not play.ready()
    return play.world


def expected(workload: Workload) -> object:
    return tuple(oracle(workload.graph, workload.events).values())


@settings(max_examples=120, deadline=None)
@given(cases(8), st.integers(0, 3), NAMES)
def test_every_run_is_one_that_the_world_allows(
    case: tuple[Workload, list[UntimedCrash]], away: int, name: str
) -> None:
    workload, crashes = case
    done = driven(PROTOCOL.named(name), workload, crashes, away)
    if done is None:
        return
    ran, actions = done
    world = followed(PROTOCOL.named(name), workload, actions)
    assert world.arrivals == tuple(workload.events.values())
    assert len(ran.outages) == len(crashes) == 3 - world.crashes
    for edges, outputs in zip(ran.outputs, world.outputs, strict=True):
        for edge, bodies in enumerate(edges):
            assert bodies == tuple(body for at, body in outputs if at == edge)


@settings(max_examples=150, deadline=None)
@given(cases(30), st.integers(0, 5), NAMES)
def test_crashes_change_no_output(
    case: tuple[Workload, list[UntimedCrash]], away: int, name: str
) -> None:
    workload, crashes = case
    done = driven(PROTOCOL.named(name), workload, crashes, away)
    if done is not None:
        assert done[0].outputs == expected(workload)


def word(text: str) -> dict[str, tuple[Arrival, ...]]:
    return {"source": tuple(Arrival(1, type_) for type_ in text)}


def test_a_crash_between_two_effects_is_cut_there() -> None:
    workload = Workload("", "", DIAMOND, word("abab" * 3))
    done = driven(
        PROTOCOL, workload, [UntimedCrash("C", 5, 2), UntimedCrash("B", 9), UntimedCrash("C", 9)], 2
    )
    assert done is not None
    ran, actions = done
    faults = [action for action in actions if isinstance(action, Crash | Restart)]
    cuts = [getattr(action, "crash_after", None) for action in actions]
    assert any(cut is not None for cut in cuts) or Crash("C") in faults
    assert ran.outages[1:] == (UntimedOutage("B", 9), UntimedOutage("C", 9))
    assert faults[-4:] == [Crash("B"), Crash("C"), Restart("B"), Restart("C")]
    assert ran.outputs == expected(workload)


def test_a_crash_can_strike_a_recovery() -> None:
    workload = Workload("", "", LINE, word("ab" * 10))
    done = driven(PROTOCOL, workload, [UntimedCrash("A", 5), UntimedCrash("A", 8, 1)], 3)
    assert done is not None
    ran, actions = done
    assert Restart("A", 1) in actions  # after the first of two hellos
    assert ran.outages == (UntimedOutage("A", 5), UntimedOutage("A", 8))
    assert ran.outputs == expected(workload)


@pytest.mark.parametrize(
    ("crashes", "message"),
    [
        (["A@5", "A@7"], "crash A@7: the node is down then; it restarts 3 events after a crash"),
        (["A@20+500"], r"crash A@20\+500: from event 20 on the node has fewer than 500 effects"),
        (["A@5+1", "A@5+1"], r"crashes A@5\+1 and A@5\+1 strike at the same effect"),
    ],
)
def test_crashes_that_cannot_happen(crashes: list[str], message: str) -> None:
    workload = Workload("", "", LINE, word("ab" * 10))
    planned = crash_plans(crashes, NODES, workload.size)
    with pytest.raises(Invalid, match=message):
        run(PROTOCOL, workload, planned, restart_after=3)


def test_crashes_as_people_write_them() -> None:
    assert crash_plans(["D@7+2", " A@5 "], NODES, 9) == (
        UntimedCrash("A", 5),
        UntimedCrash("D", 7, 2),
    )
    assert [str(plan) for plan in crash_plans(["A@5", "D@7+2"], NODES, 9)] == ["A@5", "D@7+2"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A", "crash 'A': write NODE@EVENT or NODE@EVENT+EFFECTS, as in match@100"),
        ("match@-1", "crash 'match@-1': write NODE@EVENT or NODE@EVENT+EFFECTS, as in match@100"),
        ("mtch@5", "crash 'mtch@5': no node 'mtch' may crash; did you mean 'match'?"),
        (
            "sink@5",
            "crash 'sink@5': no node 'sink' may crash; there are 'match', 'recurrence', 'summary'",
        ),
        ("match@0", "crash 'match@0': there is no event 0; there are 1 to 9"),
        ("match@10", "crash 'match@10': there is no event 10; there are 1 to 9"),
    ],
)
def test_bad_crashes(text: str, message: str) -> None:
    with pytest.raises(Invalid) as error:
        crash_plans([text], ["match", "recurrence", "summary"], 9)
    assert str(error.value) == message


# --- real input ------------------------------------------------------------------------------
@lru_cache
def some_flights() -> Workload:
    return flight_workload(6000)


def test_flights_are_in_order_and_of_every_class() -> None:
    events = some_flights().events["source"]
    assert len(events) == 6000
    assert events[0] == Arrival(5 * 60 + 15, "on time@EWR")  # the first departure of the year
    assert all(arrival.gap >= 0 for arrival in events)
    assert len({arrival.type for arrival in events}) == 12  # four classes at three airports


@pytest.mark.slow
def test_crashes_change_nothing_of_a_week_of_flights() -> None:
    workload = some_flights()
    crashes = [
        *flight_crashes(workload.size),
        # All operators at once, one of them again between two effects of its recovery.
        *(f"{name}@5000" for name in ("EWR", "JFK", "LGA", "region")),
        "EWR@5050+3",
    ]
    beats: list[tuple[int, int]] = []

    def beat(_stage: str, done: int, of: int, _what: str = "") -> None:
        beats.append((done, of))

    planned = crash_plans(crashes, crashable(PROTOCOL, workload), workload.size)
    found = compare(PROTOCOL, NO_SKIPS, workload, planned, progress=beat)
    assert json.loads(json.dumps(plain(found))) == plain(found)
    assert found.same
    assert found.compared is not None
    assert found.compared.same
    assert found.failure_free.count >= 10
    assert found.failure_free == found.with_crashes == found.expected
    assert len(found.crashes) == len(crashes)
    assert found.replayed < found.compared.replayed
    assert found.discarded > 0
    assert 0 < len(found.series) <= 600
    assert found.series[-1].event == 6000
    assert max(point.backup for point in found.series) == found.peak_backup
    assert beats == sorted(beats)
    assert beats[-1] == (4 * 6000, 4 * 6000)


def test_a_wrong_output_is_not_the_same() -> None:
    """The comparison can fail: a protocol that forgets skipped events counts windows wrongly."""
    broken = PROTOCOL.named("upstream-backup:counted-windows")
    workload = Workload("", "", chain(A), word("aabab" * 20))
    verdicts = [
        compare(broken, NO_SKIPS, workload, [UntimedCrash("A", event)], restart_after=0).same
        for event in range(5, 40)
    ]
    assert not all(verdicts)


def test_the_hash_is_of_the_outputs_alone() -> None:
    workload = Workload("", "", LINE, word("ab" * 10))
    free, crashed = (
        run(PROTOCOL, workload),
        run(PROTOCOL, workload, [UntimedCrash("A", 9)], restart_after=2),
    )
    assert digest(free.outputs) == digest(crashed.outputs)
    assert free.notes != crashed.notes
    less = replace(workload, events=word("ab" * 8))
    assert digest(free.outputs) != digest(run(PROTOCOL, less).outputs)
