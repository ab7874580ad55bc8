"""Runs of protocols that nobody wrote, with every word of the core: each is one of the world."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.actions import Action
from model.core import Arrival, File, Inputs, Scope
from model.errors import Invalid
from model.oracle import by_edge
from model.play import Play
from model.protocol import Failures, Protocol
from model.system import System
from sim.inputs.streams import Workload
from sim.timed.costs import Costs, Storage
from sim.untimed.crashes import UntimedCrash
from sim.untimed.run import run
from tests.proofs.test_searches import SHAPES, Shape, made
from tests.sim.test_timed import played

ENOUGH = 150
"""Actions of a run; many drawn protocols never come to rest."""


class Enough(Exception):
    """The run has been long enough."""


class Record(list[Any]):
    """The actions of a run, up to ENOUGH."""

    def append(self, action: Any) -> None:
        super().append(action)
        if len(self) == ENOUGH:
            raise Enough


def drawn(shape: Shape, events: int) -> tuple[Protocol, Workload, System]:
    protocol, scope = made(shape)
    word = tuple(Arrival(1, "a") for _ in range(events))
    inputs = (("source", Inputs(word[:1], events)),)
    system = System(protocol, Scope(scope.graph, inputs, crashes=9))
    return protocol, Workload("", "", scope.graph, {"source": word}), system


def plans_of(draw: st.DataObject, system: System, events: int) -> list[UntimedCrash]:
    """Crashes of nodes and of failure groups; some turn out not to be possible."""
    struck = [(name,) for name in sorted(system.alone)] + [*system.groups]
    if not struck:
        return []
    one = st.tuples(st.sampled_from(struck), st.integers(1, events), st.integers(0, 3))
    return [
        UntimedCrash(names[0], event, effects, names[1:])
        for names, event, effects in draw.draw(st.lists(one, max_size=3))
    ]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(SHAPES, st.integers(1, 4), st.integers(0, 2), st.data())
def test_every_untimed_run_is_one_that_the_world_allows(
    shape: Shape, events: int, away: int, draw: st.DataObject
) -> None:
    protocol, workload, system = drawn(shape, events)
    plans = plans_of(draw, system, events)
    actions: list[Action] = Record()
    found = None
    with suppress(Invalid, Enough):
        found = run(protocol, workload, plans, restart_after=away, record=actions.append)
    play = Play(protocol, Scope(workload.graph, system.scope.inputs, crashes=len(plans)))
    play.follow(*actions)
    if found is not None:
        assert not play.ready()
        edges = [len(system.sites[name].preds) for name in system.sink_at]
        assert found.outputs == tuple(map(by_edge, play.world.outputs, edges))
        assert play.world.arrivals == tuple(workload.events.values())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"files": (File("f"),)}, "a timed run has not files of a site"),
        ({"fails": 1.0}, "a timed run has not the effect Fail"),
        ({"rewinds": 1.0}, "a timed run has not the effect Rewind"),
        ({"patient": True, "timers": 1.0}, "a timed run has not the effect CancelTimer"),
        ({"prompt": "B sink"}, "a timed run has not a prompt site that sends to another"),
    ],
)
@pytest.mark.parametrize("room", [None, 9])
def test_a_timed_run_refuses_in_one_line(
    change: dict[str, Any], message: str, room: int | None
) -> None:
    shape = Shape(3, 2, 1, 0, Failures.ANY, 1.0, 0.0, False, (0, 1))
    protocol, workload, _ = drawn(shape._replace(**change), 2)
    costs = Costs(storage=Storage(blocking=True), room=room)
    with pytest.raises(Invalid, match=message):
        played(protocol, workload, costs)
