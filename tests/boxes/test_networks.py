"""Networks of boxes beside the boxes one after the other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from model.boxes.aggregate import Aggregate
from model.boxes.box import Fed, Item, Of, Out
from model.boxes.join import Join
from model.boxes.network import INPUT, OUTPUT, Arc, Network
from model.boxes.stateless import AnyOf, Filter, Map, Relay, Union
from model.errors import Invalid
from model.predicates import Type
from tests.boxes.items import ARRIVALS, fed, items, two_edges


@given(ARRIVALS)
def test_a_chain_in_a_node_is_one_box_after_the_other(arrivals: Any) -> None:
    boxes = (("f", Filter(Type("a"))), ("g", Aggregate("list", 2, 1, of="k")))
    arcs = (Arc(INPUT, "f"), Arc("f", "g"), Arc("g", OUTPUT))
    given_ = items(arrivals)
    between = [Item(0, out.body, out.of) for _, out in fed(Filter(Type("a")), given_)]
    expected = [out for _, out in fed(Aggregate("list", 2, 1, of="k"), between)]
    assert [out for _, out in fed(Network(boxes, arcs), given_)] == expected


@pytest.mark.parametrize(
    ("arcs", "message"),
    [
        ((Arc(INPUT, "f"), Arc("f", "h")), "no box 'h'"),
        ((Arc(INPUT, "f"), Arc("f", "g"), Arc("g", "f")), "a circle of arcs among f, g"),
    ],
)
def test_bad_networks(arcs: tuple[Arc, ...], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        Network((("f", Relay()), ("g", Relay())), arcs)


def test_an_arc_goes_to_the_first_edge_if_it_names_none() -> None:
    assert Arc("f", "g") == Arc("f", "g", 0, 0)


def test_a_network_without_boxes_is_a_wire() -> None:
    box = Network((), (Arc(INPUT, OUTPUT),))
    (item,) = items([(1, "a", 0)])
    assert box.feed(box.begin(1), item) == (Fed((), (Out(item.body, item.of),)),)
    assert (box.horizon, box.period) == (0, 1)


@given(two_edges())
def test_ports_and_edges(given_: list[Item]) -> None:
    """The input edges of the network may be other ones than those of the box."""
    arcs = (Arc(INPUT, "j", port=1, edge=0), Arc(INPUT, "j", port=0, edge=1), Arc("j", OUTPUT))
    swapped = [item._replace(edge=1 - item.edge) for item in given_]
    assert fed(Network((("j", Join(1)),), arcs), given_, 2) == fed(Join(1), swapped, 2)


@given(ARRIVALS)
def test_an_item_goes_along_all_arcs_depth_first(arrivals: Any) -> None:
    boxes = (("z", Map("z")), ("y", Map("y")), ("x", Map("x")), ("u", Union()))
    arcs = (
        Arc(INPUT, "x"),
        Arc("x", "u"),
        Arc("u", OUTPUT),
        Arc("x", "y"),
        Arc("y", "u", edge=1),
        Arc(INPUT, OUTPUT),
        Arc(INPUT, "z"),
        Arc("z", OUTPUT),
    )
    given_ = items(arrivals)
    found = [(at, out.body.type, out.of) for at, out in fed(Network(boxes, arcs), given_)]
    assert found == [
        (at, type_, item.of)
        for at, item in enumerate(given_)
        for type_ in ("x", "y", item.body.type, "z")
    ]


class Edges(Relay):
    """Its state is the number of its edges."""

    def begin(self, edges: int) -> int:
        return edges


def test_each_box_knows_the_number_of_its_edges() -> None:
    boxes = (("f", Edges()), ("g", Edges()), ("h", Edges()))
    arcs = (Arc(INPUT, "f"), Arc("f", "g", edge=2), Arc("f", "g"))
    assert Network(boxes, arcs).begin(1) == (1, 3, 1)


def test_choices_of_several_boxes() -> None:
    """Every choice of the one with every choice of the other."""
    boxes = (("f", AnyOf(("v", "w"))), ("g", AnyOf(("x", "y"))))
    arcs = (Arc(INPUT, "f"), Arc("f", "g"), Arc("f", OUTPUT), Arc("g", OUTPUT))
    box = Network(boxes, arcs)
    (item,) = items([(1, "a", 0)])
    found = ["".join(out.body.type for out in f.outs) for f in box.feed(box.begin(1), item)]
    assert sorted(found) == ["xv", "xw", "yv", "yw"]


def test_a_timeout_of_each_box() -> None:
    """What a box puts out then goes on along its arcs; the other boxes stay as they are."""
    one, two = (Aggregate("list", 2, 1, emits=name, timeout=True) for name in ("one", "two"))
    arcs = (Arc(INPUT, "f"), Arc("f", "g"), Arc("f", OUTPUT), Arc("g", OUTPUT))
    box = Network((("f", one), ("g", two)), arcs)
    state = box.begin(1)
    for item in items([(1, "a", 0)] * 3):
        ((state, _),) = box.feed(state, item)
    first, second = box.expire(state)
    assert first.state[0].open == ()
    assert [out.body.type for out in first.outs] == ["two", "one"]
    assert second.state[0] == state[0]
    assert [(out.body.type, out.of) for out in second.outs] == [
        ("two", frozenset([Of(0, 1), Of(0, 2)]))
    ]
