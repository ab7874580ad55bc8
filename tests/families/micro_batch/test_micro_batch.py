"""Micro-batches: what a crash at each point leads to, and that batch boundaries do not show."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box, Out, Stream
from model.cep.denotation import evaluate
from model.cep.operator import Operator
from model.choices import enabled, quiescent
from model.core import Arrival, Guarantee, Inputs, OperatorClass, Received, Scope
from model.costs import Gauges, MessageKind, Size
from model.errors import Invalid
from model.events import Body, Event
from model.evidence import Outcome
from model.graph import SINK, SOURCE, Graph, chain
from model.observations import observe
from model.play import Play, timers_last
from model.properties import comparisons, guarantee
from model.protocol import Protocol
from model.protocols.micro_batch.crashes import CrashPoint, replay_crash
from model.protocols.micro_batch.family import MICRO_BATCH
from model.protocols.micro_batch.messages import (
    NO_BATCH,
    Batch,
    MicroBatchDesign,
    Offsets,
    Rows,
    Write,
    show,
    size,
)
from model.protocols.micro_batch.nodes import step
from model.protocols.micro_batch.operators import process_batch, query_of
from model.protocols.micro_batch.protocol import PROTOCOL
from model.protocols.micro_batch.scopes import counting_operator
from model.registry import protocols
from model.system import System
from model.world import replace_item
from proofs.explore.edges import edges
from proofs.explore.explorer import Exploration, explore
from proofs.explore.random_attack import machine
from proofs.explore.strategies import operators, words

A = Arrival(1, "a")
ALL = (PROTOCOL, *PROTOCOL.variants)
NAMED = {protocol.name.partition(":")[2]: protocol for protocol in ALL}
LOGGED_FIRST = [protocol for protocol in ALL if "offsets-after" not in protocol.name]

points = st.sampled_from(CrashPoint)
sizes = st.lists(st.integers(1, 3), min_size=1, max_size=4)
late = st.integers(0, 2)


@cache
def explored(name: str, scope: str) -> Exploration:
    pinned = {pinned.name: pinned for pinned in NAMED[name].evidence.scopes}
    return explore(NAMED[name], pinned[scope].scope)


# --- batches ---------------------------------------------------------------------------------
@given(operators(), words(longest=8), st.lists(st.integers(0, 8), max_size=3))
def test_where_a_stream_is_cut_into_batches_does_not_show(
    operator: Operator, word: tuple[Body, ...], cuts: list[int]
) -> None:
    events = [Event((number,), body) for number, body in enumerate(word, 1)]
    ends = [0, *sorted(min(cut, len(word)) for cut in cuts), len(word)]
    rows = _cut((operator,), events, ends)
    assert [row.body for row in rows] == list(evaluate(operator, word))
    assert [row.sn for row in rows] == sorted({row.sn for row in rows})


@given(operators(), words(longest=8), st.lists(st.integers(0, 8), max_size=3))
def test_a_chain_in_batches_has_the_output_of_its_operators(
    operator: Operator, word: tuple[Body, ...], cuts: list[int]
) -> None:
    """A pattern, and a count of its matches: the second operator takes what the first gives, in
    whatever batches."""
    count = Aggregate("count", 2, 1, group="type")
    events = [Event((number,), body) for number, body in enumerate(word, 1)]
    ends = [0, *sorted(min(cut, len(word)) for cut in cuts), len(word)]
    (counted,) = count.runs((Stream(tuple(Out(body) for body in evaluate(operator, word))),))
    rows = _cut((operator, count), events, ends)
    assert [row.body for row in rows] == [out.body for out in counted.outs]
    assert [row.sn for row in rows] == sorted({row.sn for row in rows})


def _cut(chained: tuple[Operator | Box, ...], events: list[Event], ends: list[int]) -> list[Event]:
    """The rows of the operators, one after the other, over batches with these ends."""
    graph = chain(*((f"q{number}", one) for number, one in enumerate(chained)))
    query = query_of(graph)
    states = query.begin()
    rows: list[Event] = []
    for start, end in pairwise(ends):
        batch = [(0, event) for event in events[start:end]]
        states, produced = process_batch(query, states, batch)
        rows += produced
    return rows


@st.composite
def queries(draw: st.DrawFn) -> Scope:
    graph = chain(("query", draw(operators(("a", "b")))))
    alphabet = tuple(Arrival(gap, type_) for type_ in "ab" for gap in (0, 1, 2))
    return Scope(graph, (("source", Inputs(alphabet, 6)),), draw(st.integers(0, 3)))


class TestAnyOperatorAnyCrashes(machine(PROTOCOL, queries()).TestCase):  # type: ignore[misc]
    settings = settings(max_examples=100, stateful_step_count=50, deadline=None)


@pytest.mark.parametrize("name", ["prompt-acks", "offsets-after-keyed-rows"])
@given(st.data())
@settings(max_examples=30)
def test_the_other_designs_that_hold_do_so_at_any_sequence_of_crashes(
    name: str, data: st.DataObject
) -> None:
    play = Play(NAMED[name], _counted(4, crashes=3))
    for _ in range(40):
        choices = enabled(play.system, play.world)
        if not choices:
            break
        play.do(data.draw(st.sampled_from(choices)))
    play.settle(timers_last)
    assert guarantee(play.system.scope, observe(play.world)) is Guarantee.PRECISE


# --- crash points ----------------------------------------------------------------------------
@given(points, sizes, late)
def test_spark_is_precise_wherever_it_crashes(
    point: CrashPoint, sizes: list[int], late: int
) -> None:
    found = replay_crash(PROTOCOL, point, sizes, late)
    assert (found.guarantee, found.surplus, found.missing) == (Guarantee.PRECISE, 0, 0)


@pytest.mark.parametrize("protocol", LOGGED_FIRST, ids=lambda protocol: protocol.name)
@given(points, sizes, late)
@settings(max_examples=30)
def test_a_logged_batch_runs_again_with_the_same_events_and_no_other(
    protocol: Protocol, point: CrashPoint, sizes: list[int], late: int
) -> None:
    found = replay_crash(protocol, point, sizes, late)
    hit, stores = found.batch, found.stores
    if stores.offsets.id < hit.id:
        assert point is CrashPoint.BEFORE_OFFSETS
        assert found.ran == (Batch(hit.id, hit.start, hit.end + late),)
    else:
        assert stores.offsets == hit
        again = () if stores.commit == hit.id else (hit,)
        fresh = (Batch(hit.id + 1, hit.end, hit.end + late),) if late else ()
        assert found.ran == (*again, *fresh)


@given(points, sizes, late)
def test_a_plain_foreach_batch_repeats_a_batch_written_but_not_committed(
    point: CrashPoint, sizes: list[int], late: int
) -> None:
    found = replay_crash(NAMED["foreach-batch"], point, sizes, late)
    written = found.stores.sink == found.batch and found.stores.commit < found.batch.id
    assert found.surplus == (sizes[-1] if written else 0)
    assert found.missing == 0
    assert found.guarantee is (Guarantee.REPEATING if written else Guarantee.PRECISE)


@given(points, sizes)
def test_acknowledgements_lag_by_one_batch(point: CrashPoint, sizes: list[int]) -> None:
    """What is acknowledged when batch N runs is batch N - 1; before, it is batch N - 2."""
    told = point not in (CrashPoint.BEFORE_OFFSETS, CrashPoint.AFTER_OFFSETS)
    before = sum(sizes[: -1 if told else -2])
    assert replay_crash(PROTOCOL, point, sizes).stores.acked == before


WRITES = {
    CrashPoint.BEFORE_OFFSETS: (0, 0, 0, 0),
    CrashPoint.AFTER_OFFSETS: (1, 0, 0, 0),
    CrashPoint.MID_BATCH: (1, 0, 0, 0),
    CrashPoint.AFTER_STATE: (1, 1, 0, 0),
    CrashPoint.AFTER_SINK: (1, 1, 1, 0),
    CrashPoint.BEFORE_COMMIT: (1, 1, 1, 0),
    CrashPoint.AFTER_COMMIT: (1, 1, 1, 1),
}
"""The last batch in the offset log, the state store, the sink and the commit log."""


@pytest.mark.parametrize("point", CrashPoint, ids=lambda point: point.value)
def test_what_is_durable_at_the_crash(point: CrashPoint) -> None:
    stores = replay_crash(PROTOCOL, point).stores
    assert (stores.offsets.id, stores.state, stores.sink.id, stores.commit) == WRITES[point]
    first = replay_crash(PROTOCOL, CrashPoint.BEFORE_OFFSETS, (1,)).stores
    assert first == (NO_BATCH, -1, -1, NO_BATCH, 0)


WRITTEN = {CrashPoint.AFTER_SINK, CrashPoint.BEFORE_COMMIT}
WRONG: dict[str, dict[CrashPoint, tuple[int, int]]] = {
    "foreach-batch": dict.fromkeys(WRITTEN, (2, 0)),
    "offsets-after": dict.fromkeys((CrashPoint.AFTER_SINK, CrashPoint.BEFORE_OFFSETS), (0, 1)),
    "offsets-after-foreach-batch": dict.fromkeys(
        (*WRITTEN, CrashPoint.BEFORE_OFFSETS, CrashPoint.AFTER_OFFSETS), (2, 0)
    ),
    "eager-acks": dict.fromkeys(WRITTEN, (1, 1)),
    "commit-first": {CrashPoint.AFTER_COMMIT: (0, 2)},
    "state-in-place": {CrashPoint.AFTER_STATE: (3, 3), **dict.fromkeys(WRITTEN, (1, 1))},
}
"""Where a crash shows: surplus and missing rows.  Batches of two, one late event; every variant."""


@pytest.mark.parametrize("protocol", ALL, ids=lambda protocol: protocol.name)
def test_where_a_crash_shows(protocol: Protocol) -> None:
    found = [replay_crash(protocol, point) for point in CrashPoint]
    wrong = {one.point: (one.surplus, one.missing) for one in found if one.surplus or one.missing}
    assert wrong == WRONG.get(protocol.name.partition(":")[2], {})


@pytest.mark.parametrize("protocol", ALL, ids=lambda protocol: protocol.name)
def test_one_crash_at_the_worst_point_is_as_bad_as_any(protocol: Protocol) -> None:
    """The points miss nothing: the weakest guarantee that the explorer finds is found at one."""
    worst = max(replay_crash(protocol, point).guarantee for point in CrashPoint)
    pinned = [p for p in protocol.evidence.scopes if p.operators is OperatorClass.DETERMINISTIC]
    assert worst is max(p.guarantee for p in pinned if p.guarantee is not None)


def test_a_batch_that_is_run_again_says_so() -> None:
    before, mid, after = (
        replay_crash(PROTOCOL, point)
        for point in (CrashPoint.BEFORE_OFFSETS, CrashPoint.MID_BATCH, CrashPoint.AFTER_COMMIT)
    )
    assert (before.batch, before.again, before.same_range) == (Batch(1, 2, 4), (1, 2, 5), False)
    assert (mid.again, mid.same_range) == (Batch(1, 2, 4), True)
    assert (after.again, after.same_range) == (None, None)


@pytest.mark.parametrize("bad", [(), (2, 0)])
def test_sizes_that_are_no_batches_are_refused(bad: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="at least one batch, each of 1 event or more"):
        replay_crash(PROTOCOL, CrashPoint.MID_BATCH, bad)


def test_a_protocol_without_batches_has_no_such_points() -> None:
    with pytest.raises(ValueError, match="upstream-backup has no point 'after state'"):
        replay_crash(protocols()["upstream-backup"], CrashPoint.AFTER_STATE)


# --- worlds ----------------------------------------------------------------------------------
@pytest.mark.parametrize("protocol", ALL, ids=lambda protocol: protocol.name)
def test_batches_regroup_only_if_their_offsets_are_not_logged(protocol: Protocol) -> None:
    found = explored(protocol.name.partition(":")[2], "a running count, two crashes")
    regrouped = found.notes["batches written again with other events"]
    assert (regrouped > 0) is ("offsets-after" in protocol.name)
    assert found.notes["batches run again"] > 0


def test_every_crash_point_is_hit() -> None:
    found = explored("", "a running count, two crashes")
    assert len(found.points) == 5
    assert found.hit == found.points


def test_a_known_id_hides_events_or_lets_them_through_twice() -> None:
    """With offsets logged after the batch: one that has more events the second time loses them,
    one that has fewer leaves the rest to the next id, which the sink does not know."""
    scope = replace(_counted(2), inputs=(("source", Inputs((A,), 2)),))

    def ends(first: int | None) -> set[Guarantee]:
        design = MicroBatchDesign(offsets=Offsets.AFTER, first=first)
        system = System(MICRO_BATCH.design("", design), scope)
        worlds = (world for _, _, world in edges(system.protocol, scope))
        return {guarantee(scope, observe(w)) for w in worlds if quiescent(system, w)}

    assert ends(None) == {Guarantee.PRECISE, Guarantee.GAP}
    assert ends(1) == {Guarantee.PRECISE, Guarantee.REPEATING}


@pytest.mark.parametrize(("name", "missing"), [("", 0), ("prompt-acks", 1)])
def test_the_lag_of_acknowledgements_forgives_a_lost_commit_entry(name: str, missing: int) -> None:
    """Not a crash but damage, which no design is claimed to survive: Spark's does, since the
    events of the last batch are still there."""
    play = Play(NAMED[name], _counted(2))
    play.inject("source", A)
    play.settle(timers_last)
    play.crash("query")
    node = play.node("query")
    damaged = node._replace(durable=node.durable._replace(committed=NO_BATCH.id))
    nodes = replace_item(play.world.nodes, play.system.node_at["query"], damaged)
    play.world = play.world._replace(nodes=nodes)
    play.inject("source", A)
    play.settle(timers_last)
    (((want, got),),) = comparisons(play.system.scope, observe(play.world))
    assert len(set(want) - set(got)) == missing
    assert (want == got) is (not missing)


@pytest.mark.parametrize(("name", "kept"), [("", 1), ("prompt-acks", 0)])
def test_the_lag_keeps_the_last_batch_in_the_source_at_rest(name: str, kept: int) -> None:
    play = Play(NAMED[name], _counted(2))
    for _ in range(2):
        play.inject("source", A)
        play.settle(timers_last)
    source = play.system.sites["source"]
    assert PROTOCOL.behaviour.gauges(source, play.state("source")).buffered == kept


@pytest.mark.parametrize("protocol", ALL, ids=lambda protocol: protocol.name)
def test_every_variant_says_what_it_found(protocol: Protocol) -> None:
    refuted = [p for p in protocol.evidence.scopes if p.expect is Outcome.REFUTED]
    assert protocol.words.finding
    assert all(p.states and p.steps for p in refuted)
    assert all(p.states for p in protocol.evidence.scopes)


# --- what is refused, and what is shown ------------------------------------------------------
QUERY = counting_operator(9)
TWO = Graph(
    (("left", SOURCE), ("right", SOURCE), ("query", QUERY), ("sink", SINK)),
    (("left", "query"), ("right", "query"), ("query", "sink")),
)


FORKED = Graph(
    (("source", SOURCE), ("first", QUERY), ("second", QUERY), ("sink", SINK)),
    (("source", "first"), ("source", "second"), ("first", "sink"), ("second", "sink")),
)


REFUSED = {
    "a merge in a CEP operator": (TWO, "query is a CEP operator with 2 inputs; give it one"),
    "two ends": (
        FORKED,
        "first -> sink and second -> sink; a query has one last operator and one sink",
    ),
    "no operator": (chain(), "source goes to a sink; give an operator"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_graph_that_is_no_query_is_refused(name: str) -> None:
    graph, why = REFUSED[name]
    with pytest.raises(Invalid, match=f"^micro-batch: {why}$"):
        System(PROTOCOL, Scope(graph, ()))


def test_a_message_that_nobody_sends_is_refused() -> None:
    site = System(PROTOCOL, _counted(1)).sites["query"]
    with pytest.raises(TypeError, match="query: nothing to do with"):
        step(site, PROTOCOL.behaviour.boot(site), Received("sink", "hello"))


def test_messages_and_states_in_words() -> None:
    batch = Batch(1, 2, 4)
    event = Event((3,), Body(3, "a"))
    assert show(Rows(batch, (event, event))) == "events #1 3-4"
    assert show(Rows(batch, ())) == "events #1 3-4: 0 of 2"
    assert size(Rows(batch, (event, event))).events == 2
    assert size(Write(batch, (event,))) == Size(MessageKind.EVENT, 1, 0, "rows")
    play = Play(PROTOCOL, _counted(2))
    play.inject("source", A)
    play.settle(timers_last)
    states = {name: play.state(name) for name in play.system.sites}
    shown = {name: show(state) for name, state in states.items()}
    assert shown == {"source": "", "query": "offsets 0, state 0, commit 0", "sink": ""}
    gauges = {
        name: PROTOCOL.behaviour.gauges(play.system.sites[name], state)
        for name, state in states.items()
    }
    assert gauges == {
        "source": Gauges(1, 0, 1),
        "query": Gauges(0, 1, 0),
        "sink": Gauges(0, 0, 0),
    }


# --- help ------------------------------------------------------------------------------------
def _counted(length: int, crashes: int = 1) -> Scope:
    graph = chain(("query", counting_operator(length)))
    return Scope(graph, (("source", Inputs((A,), length)),), crashes)
