"""Stories: the story of a random run has the events of the run, no more and no less."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from typing import NamedTuple
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from model.actions import Action
from model.cep.one_run import one_run
from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.choices import enabled
from model.core import Arrival, Inputs, Scope
from model.costs import MessageKind
from model.errors import Invalid
from model.graph import SINK, SOURCE, Graph, chain
from model.protocol import Protocol
from model.registry import protocols
from model.results.plain import plain, read
from model.results.story import MomentKind, SentFrom, Story, StoryMessage, StoryMoment
from model.system import System, read_gauges
from model.words import show_value
from model.world import DOWN, World, apply, initial, unfold
from proofs.explore.explorer import Trace
from proofs.explore.story import story
from reports.diagrams.spacetime import style, svg, text
from reports.diagrams.timeline import timeline
from tests.contract import groups

_PAIR = Operator(one_run("a", "b"), CountWindows(3, 1))
_WORD = Inputs((Arrival(1, "a"), Arrival(2, "b", (("delay_min", 3),))), 4)
_GRAPHS = (
    chain(("A", _PAIR)),
    chain(("A", _PAIR), ("B", Operator(sequence("match"), CountWindows(1, 1)))),
    Graph(
        (("s1", SOURCE), ("s2", SOURCE), ("A", _PAIR), ("sink", SINK)),
        (("s1", "A"), ("s2", "A"), ("A", "sink")),
    ),
)


def _deploys(protocol: Protocol, graph: Graph) -> bool:
    try:
        protocol.deploy(Scope(graph, ()))
    except Invalid:
        return False
    return True


_BUILT_IN = tuple((p, g) for p in protocols().values() for g in _GRAPHS if _deploys(p, g))
_DEPLOYED = (*_BUILT_IN, *[(groups.PROTOCOL, _GRAPHS[1])] * (len(_BUILT_IN) // 4))
"""In every fifth run, group crashes and notices."""


class Run(NamedTuple):
    """A random run of a protocol in a small graph, with up to three crashes: which of
    the enabled actions was chosen each time.  Short to print, unlike the trace."""

    deployed: int
    choices: list[int]

    @property
    def trace(self) -> Trace:
        protocol, graph = _DEPLOYED[self.deployed]
        inputs = tuple((name, _WORD) for name, spec in graph.nodes if spec is SOURCE)
        system = System(protocol, Scope(graph, inputs, crashes=3))
        worlds: list[World] = [initial(system)]
        actions: list[Action] = []
        for choice in self.choices:
            possible = enabled(system, worlds[-1])
            if not possible:
                break
            actions.append(possible[choice % len(possible)])
            worlds.append(apply(system, worlds[-1], actions[-1]))
        return Trace(system, tuple(actions), tuple(worlds))


def _parts(trace: Trace) -> tuple[list[Action], list[World]]:
    """The actions and worlds of the run, with the steps of prompt sites among them."""
    actions, worlds = [], [trace.worlds[0]]
    for action, before in zip(trace.actions, trace.worlds, strict=False):
        for part, _, after in unfold(trace.system, before, action):
            actions.append(part)
            worlds.append(after)
    return actions, worlds


runs = st.builds(
    Run,
    st.integers(0, len(_DEPLOYED) - 1),
    st.lists(st.integers(0, 99), max_size=60),
)


def _sends(shown_run: Story) -> list[tuple[int, str, StoryMessage]]:
    return [
        (at, send.by or moment.node, send)
        for at, moment in enumerate(shown_run.moments)
        for send in moment.sends
    ]


# --- the story ---------------------------------------------------------------------------------
@given(runs)
def test_a_moment_for_every_action_and_a_lane_for_every_node(run: Run) -> None:
    trace = run.trace
    shown_run = story(trace)
    actions, _ = _parts(trace)
    assert [m.node for m in shown_run.moments] == [a.node for a in actions]
    assert sorted(shown_run.lanes) == sorted(trace.system.sites)
    # A coordinator has a lane as well; a site may stand for several nodes of the graph.
    order = [name for name in trace.system.scope.graph.order() if name in trace.system.sites]
    assert [name for name in shown_run.lanes if name in order] == order
    assert read(Story, json.loads(json.dumps(plain(shown_run)))) == shown_run
    assert story(trace) == shown_run


@given(runs)
def test_each_take_has_its_send_and_no_send_is_taken_twice(run: Run) -> None:
    shown_run = story(run.trace)
    sent = Counter(
        (at, node, send.to, send.label) for at, node, send in _sends(shown_run) if not send.lost
    )
    latest: dict[tuple[str, str], int] = {}
    for at, moment in enumerate(shown_run.moments):
        assert (moment.from_ is not None) == (moment.kind is MomentKind.DELIVER)
        if moment.from_:
            sender, sent_at = moment.from_.node, moment.from_.sent_at
            assert sent_at < at
            assert sent_at >= latest.get((sender, moment.node), 0)  # FIFO
            latest[sender, moment.node] = sent_at
            sent[sent_at, sender, moment.node, moment.label] -= 1
    assert min(sent.values(), default=0) >= 0


@given(runs)
def test_what_is_neither_taken_nor_lost_is_still_in_its_channel(run: Run) -> None:
    trace = run.trace
    shown_run = story(trace)
    left: dict[tuple[str, str], list[str]] = {}
    for _, node, send in _sends(shown_run):
        if not send.lost:
            left.setdefault((node, send.to), []).append(send.label)
    for moment in shown_run.moments:
        if moment.from_:
            ends = moment.from_.node, moment.node
            assert left[ends].pop(0) == moment.label
    channels = zip(trace.system.deployment.channels, trace.worlds[-1].channels, strict=True)
    assert {ends: labels for ends, labels in left.items() if labels} == {
        ends: [show_value(trace.system.protocol, message) for message in channel]
        for ends, channel in channels
        if channel
    }


@given(runs)
def test_messages_are_lost_only_in_crashes_of_their_ends(run: Run) -> None:
    trace = run.trace
    shown_run = story(trace)
    at_node = trace.system.node_at
    _, worlds = _parts(trace)
    for at, node, send in _sends(shown_run):
        if send.lost:
            later = worlds[at:]
            ends = at_node[node], at_node[send.to]
            assert any(world.nodes[end].state is DOWN for world in later for end in ends)


@given(runs)
def test_results_states_and_crashes_are_those_of_the_run(run: Run) -> None:
    trace = run.trace
    shown_run = story(trace)
    emitted = sum(len(moment.emits) for moment in shown_run.moments)
    assert emitted == sum(map(len, trace.worlds[-1].outputs))
    stops = [m for m in shown_run.moments if m.kind is MomentKind.CRASH or m.cut is not None]
    suspicions = [m for m in shown_run.moments if m.kind is MomentKind.SUSPECT]
    assert len(stops + suspicions) == trace.worlds[0].crashes - trace.worlds[-1].crashes
    assert all((m.state, m.backup, m.windows) == ("", None, None) for m in stops)
    _, worlds = _parts(trace)
    for moment, before, after in zip(shown_run.moments, worlds, worlds[1:], strict=False):
        assert [*moment.with_] == [
            name
            for name, was, is_ in zip(trace.system.sites, before.nodes, after.nodes, strict=True)
            if was.state is not DOWN and is_.state is DOWN and name != moment.node
        ]
        state = after.nodes[trace.system.node_at[moment.node]].state
        if state is not DOWN:
            gauges = read_gauges(trace.system, moment.node, state)
            assert (moment.windows, moment.backup) == (gauges.windows, gauges.buffered)
    # A protocol that protects nothing keeps nothing, and neither does a coordinator.
    keeping = {name for name, spec in trace.system.scope.graph.nodes if spec is not SINK}
    kept = [m.backup for m in shown_run.moments if m not in stops and m.node in keeping]
    assert trace.system.protocol.promise.protects or not any(isinstance(one, int) for one in kept)


def test_arrivals_show_gap_and_attributes() -> None:
    graph = _GRAPHS[0]
    system = System(_DEPLOYED[0][0], Scope(graph, (("source", _WORD),)))
    before = initial(system)
    action = enabled(system, before)[1]
    trace = Trace(system, (action,), (before, apply(system, before, action)))
    assert story(trace).moments[0].label == "b (gap 2, delay_min=3)"


# --- what a diagram reads out of it ------------------------------------------------------------
@given(runs)
def test_arrows_are_the_messages_and_down_stretches_are_the_down_worlds(run: Run) -> None:
    trace = run.trace
    shown_run = story(trace)
    _, worlds = _parts(trace)
    line = timeline(shown_run)
    assert [(a.sent_at, line.lanes[a.sender], a.label) for a in line.arrows] == [
        (at, node, send.label) for at, node, send in _sends(shown_run)
    ]
    taken = [(a.taken_at, a.sent_at) for a in line.arrows if a.taken_at is not None]
    assert sorted(taken) == [
        (at, moment.from_.sent_at) for at, moment in enumerate(shown_run.moments) if moment.from_
    ]
    for lane, name in enumerate(line.lanes):
        node = trace.system.node_at[name]
        assert [line.is_down(lane, at) for at in range(len(line.moments))] == [
            world.nodes[node].state is DOWN for world in worlds[1:]
        ]


@given(runs)
@settings(max_examples=50)
def test_svg_is_well_formed_and_shows_everything(run: Run) -> None:
    shown_run = story(run.trace)
    drawn = svg(shown_run, caption="a < b & c")
    root = ElementTree.fromstring(drawn)
    shown = ["".join(element.itertext()) for element in root.iter() if element.tag.endswith("text")]
    needed = [send.label for _, _, send in _sends(shown_run)]
    needed += [name for name in shown_run.lanes for _ in range(2)]
    needed += [f"⇒ {emitted}" for moment in shown_run.moments for emitted in moment.emits]
    assert not Counter(needed) - Counter(shown)
    assert "Violated: a < b & c" in shown
    assert re.findall(r"https?://[^\"]*", drawn) == ["http://www.w3.org/2000/svg"]
    assert drawn == svg(shown_run, caption="a < b & c")


@given(runs, st.booleans())
@settings(max_examples=50)
def test_nothing_in_the_svg_is_outside_its_frame(run: Run, repeats: bool) -> None:
    circle = len(run.trace.actions) if repeats else 0
    root = ElementTree.fromstring(svg(story(run.trace, circle)))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for element in root.iter("{http://www.w3.org/2000/svg}text"):
        x, y = float(element.attrib["x"]), float(element.attrib["y"])
        length = 6.65 * len(element.text or "")
        anchor = element.attrib["text-anchor"]
        left = {"start": x, "middle": x - length / 2, "end": x - length}[anchor]
        assert left >= 0
        assert left + length <= width
        assert 0 <= y <= height


@given(runs, st.integers(40, 160))
@settings(max_examples=50)
def test_text_keeps_its_width_and_numbers_every_action(run: Run, width: int) -> None:
    shown_run = story(run.trace)
    lines = text(shown_run, width=width, caption="p").splitlines()
    assert max(map(len, lines)) <= width
    assert lines[-1] == "Violated: p"
    numbered = [int(line[:3]) for line in lines if re.match(r" *\d+ ", line[:4])]
    assert numbered == list(range(1, len(run.trace.actions) + 1))
    console = Console(file=io.StringIO(), width=width, color_system=None)
    with console.capture() as printed:
        console.print(style(shown_run))
    assert printed.get().splitlines() == text(shown_run, width=width).splitlines()


@given(runs)
@settings(max_examples=50)
def test_text_with_room_shows_every_message_and_result_whole(run: Run) -> None:
    shown_run = story(run.trace)
    drawn = text(shown_run, width=300)
    for at, _, send in _sends(shown_run):
        assert send.label in drawn, at
    for moment in shown_run.moments:
        assert moment.label in drawn
        assert all(f"⇒ {emitted}" in drawn for emitted in moment.emits)


_EVENT = MessageKind.EVENT


@pytest.mark.parametrize(
    ("moment", "complaint"),
    [
        (StoryMoment("X", MomentKind.TIMEOUT), "moment 0 is of 'X', which has no lane"),
        (
            StoryMoment("A", MomentKind.TIMEOUT, sends=(StoryMessage("X", "m", False, _EVENT),)),
            "moment 0 sends to 'X', which has no lane",
        ),
        (
            StoryMoment("A", MomentKind.DELIVER, from_=SentFrom("B", 0)),
            "A takes what B never sent",
        ),
    ],
)
def test_a_story_that_cannot_be_is_refused(moment: StoryMoment, complaint: str) -> None:
    with pytest.raises(Invalid, match=complaint):
        timeline(Story(("A", "B"), (moment,)))


@pytest.mark.parametrize("kind", MessageKind)
def test_every_kind_of_message_and_timers_are_drawn(kind: MessageKind) -> None:
    barrier = StoryMessage("B", "barrier 1", False, kind)
    done = StoryMessage("A", "done 1", True, kind)
    shown_run = Story(
        ("A", "B"),
        (
            StoryMoment("A", MomentKind.TIMEOUT, "checkpoint", sends=(barrier,)),
            StoryMoment(
                "B", MomentKind.DELIVER, "barrier 1", from_=SentFrom("A", 0), sends=(done,)
            ),
        ),
    )
    for drawn in (svg(shown_run), text(shown_run)):
        assert "timer checkpoint" in drawn
        assert "barrier 1" in drawn
        assert "done 1" in drawn
