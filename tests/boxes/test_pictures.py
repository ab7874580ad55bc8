"""Witnesses as pictures, line by line: the shortest ones, and what stands in their rows."""

from __future__ import annotations

import pytest

from model.boxes.aggregate import Aggregate
from model.boxes.box import Of, Out
from model.boxes.join import Join
from model.boxes.reorder import Resample
from model.boxes.stateless import AnyOf, Union
from model.core import Arrival, OperatorClass
from model.events import Body
from model.results.grid import CellMark
from proofs.classify.classes import classify
from proofs.classify.figure3 import BOXES
from proofs.classify.pairs import BeginSecond, CopyFails, Expire, Feed, PairEvent, Swap
from proofs.classify.witness import picture, replay, show_body

DETERMINISTIC = OperatorClass.DETERMINISTIC
SIGNS = {CellMark.PLAIN: "", CellMark.DIM: "~", CellMark.BAD: "!"}
PICTURES = {
    ("union", 0): """
        edge 0: a@1, edge 1: b@1; second: swapped | a@1, b@1 | !b@1, a@1
        """,
    ("any-of", 0): """
        a@1 | x@1 | !y@1
        """,
    ("aggregate-timeout", 0): """
        a@1 | |
        timeout in the first | value=a@1 | !nothing
        """,
    ("join-timeout", 0): """
        edge 0: a@1 | |
        timeout in the first | |
        edge 1: b@1 | | !a@1+b@1
        """,
    ("resample", 0): """
        second begins, edge 0 | |
        edge 1: b@1 | |
        second begins, edge 1 | |
        edge 0: a@1 | |
        edge 0: a@2 | |
        edge 1: b@2 | |
        edge 1: b@3 | value=b,b@1 | !value=b@1
        """,
    ("bsort-2", 0): """
        k=2@1 | |
        second begins | |
        k=1@2 | |
        k=1@3 | k=1@2 |
        k=0@4 | k=0@4 | k=0@4
        k=1@5 | k=1@3 | !k=1@2
        """,
    ("aggregate-key-2-2", 1): """
        k=0@1 | |
        second begins | |
        k=0@2 | k=0 value=0,0@2 |
        first fails | |
        k=0@3 | ~ | k=0 value=0,0@3
        k=0@4 | ~k=0 value=0,0@4 | !nothing
        k=0@5 | ~ | k=0 value=0,0@5
        """,
}
CAPTIONS = {
    OperatorClass.REPEATABLE: "a restarted copy puts out something else than the first one did",
    OperatorClass.CONVERGENT_CAPABLE: (
        "a restarted copy puts out other things for ever: the last 2 rows repeat"
    ),
    DETERMINISTIC: "two runs over the same streams put out different things",
}


@pytest.mark.parametrize(("name", "number"), PICTURES, ids=str)
def test_the_picture_of_a_witness(name: str, number: int) -> None:
    named = next(one for one in BOXES if one.name == name)
    witness = classify(named.box, named.alphabet).witnesses[number]
    events = [taken.event for taken in witness.steps]
    edges = len(named.alphabet.edges)
    grid = picture(named.box, edges, events, witness.why, witness.circle)
    assert (grid.caption, grid.columns) == (CAPTIONS[witness.not_of], ("first", "second"))
    rows = [(row.label, *(SIGNS[cell.mark] + cell.text for cell in row.cells)) for row in grid.rows]
    lines = PICTURES[name, number].strip().splitlines()
    assert rows == [tuple(part.strip() for part in line.split("|")) for line in lines]
    assert not any(row.heading for row in grid.rows)


A, B = Arrival(1, "a"), Arrival(2, "b")


def types_of(outs: tuple[Out, ...]) -> str:
    return "".join(out.body.type for out in outs)


def test_a_replay_has_the_times_and_places_of_a_real_run() -> None:
    """A copy that has not begun gets nothing; who fails goes on, so that both can be compared."""
    begun: list[PairEvent] = [Feed(0, A), BeginSecond(1), Feed(1, B), BeginSecond(0)]
    events = [*begun, Feed(0, B), CopyFails(), Feed(1, A)]
    found = replay(Union(), 2, events)
    items = [(item.edge, item.body, item.of) for moment in found for item in moment.got]
    assert items == [
        (0, Body(1, "a"), frozenset([Of(0, 0)])),
        (1, Body(2, "b"), frozenset([Of(1, 0)])),
        (0, Body(3, "b"), frozenset([Of(0, 1)])),
        (1, Body(3, "a"), frozenset([Of(1, 1)])),
    ]
    assert [types_of(one.first) for one in found] == ["a", "", "b", "", "b", "", "a"]
    assert [types_of(one.second) for one in found] == ["", "", "b", "", "b", "", "a"]
    assert [one.event for one in found] == events


def test_a_replay_of_choices_timeouts_and_swaps() -> None:
    assert Feed(0, A) == Feed(0, A, (0, 0))
    types = AnyOf(("x", "y", "z"))
    (moment,) = replay(types, 1, [Feed(0, A, (2, 1))])
    assert types_of(moment.first + moment.second) == "zy"
    box = Aggregate("list", 3, 1, timeout=True)
    for both in (True, False):
        _, moment, after = replay(box, 1, [Feed(0, A), Expire(both, 0), Feed(0, B)])
        assert len(moment.first) == 1
        assert moment.second == (moment.first if both else ())
        assert moment.needed == (None,)
        assert after.needed == (1,)
    (moment,) = replay(Union(), 2, [Swap(((0, A), (1, B)))])
    assert types_of(moment.first + moment.second) == "abba"


def test_the_rows_of_a_timeout_in_both() -> None:
    box = Aggregate("list", 3, 1, timeout=True)
    grid = picture(box, 1, [Feed(0, A), Expire(True, 0)], "why", 0)
    assert [row.label for row in grid.rows] == ["a@1", "timeout"]
    assert grid.caption == "why"


def test_what_is_still_needed() -> None:
    found = replay(Join(1), 2, [Feed(0, A), Feed(0, A), Feed(1, B), Feed(1, B)])
    assert [one.needed for one in found] == [(0, None), (0, None), (0, 0), (None, 0)]
    (only,) = replay(Resample(1), 2, [Feed(1, A)])
    assert only.needed == (None, 0)


def test_bodies_in_short() -> None:
    a, b = Body(1, "a"), Body(2, "b")
    assert show_body(a) == "a@1"
    assert show_body(Body(3, "pair", (a, b))) == "a@1+b@2"
    assert show_body(Body(3, "c", (("k", 1), ("value", ("x", 2))))) == "k=1 value=x,2@3"
