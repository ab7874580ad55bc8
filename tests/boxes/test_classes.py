"""Classes of boxes: Figure 3, random boxes beside the bare definitions, witnesses replayed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.boxes.box import Box, Fed, Item, Out, answer
from model.boxes.join import Join
from model.boxes.stateless import Union
from model.core import Arrival, OperatorClass
from model.events import Body
from proofs.classify.classes import Classified, classify
from proofs.classify.figure3 import BOXES, BoxCase
from proofs.classify.pairs import BeginSecond, CopyFails, Undecided, confluence, explore, restarts
from proofs.classify.streams import Alphabet
from proofs.classify.witness import WitnessStep, replay

REPEATABLE = OperatorClass.REPEATABLE
CONVERGENT = OperatorClass.CONVERGENT_CAPABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY

DERIVED = {
    "filter": REPEATABLE,
    "map": REPEATABLE,
    "relay": REPEATABLE,
    "join": ARBITRARY,
    "join-ordered": REPEATABLE,
    "join-count-ordered": REPEATABLE,
    "join-timeout": ARBITRARY,
    "bsort-1": REPEATABLE,
    "bsort-2": CONVERGENT,
    "resample": CONVERGENT,
    "aggregate-count-2-1": REPEATABLE,
    "aggregate-count-2-2": DETERMINISTIC,
    "aggregate-count-3-2": DETERMINISTIC,
    "aggregate-key-2-1": REPEATABLE,
    "aggregate-key-2-2": DETERMINISTIC,
    "aggregate-grid-2-2": CONVERGENT,
    "aggregate-grid-2-1": CONVERGENT,
    "aggregate-key-grid-2-2": CONVERGENT,
    "aggregate-first-2-1": CONVERGENT,
    "aggregate-first-2-2": DETERMINISTIC,
    "aggregate-timeout": ARBITRARY,
    "union": ARBITRARY,
    "union-ordered": REPEATABLE,
    "triggered-2": DETERMINISTIC,
    "triggered-1-2": DETERMINISTIC,
    "counted-2": DETERMINISTIC,
    "any-of": ARBITRARY,
}


@pytest.mark.parametrize("named", BOXES, ids=lambda named: named.name)
def test_figure_3(named: BoxCase) -> None:
    found = classify(named.box, named.alphabet)
    assert found.operators is DERIVED[named.name]
    check_witnesses(named.box, len(named.alphabet.edges), found)


def check_witnesses(box: Box, edges: int, found: Classified) -> None:
    """There is a witness against each narrower class, and a run of the box shows what it says."""
    against = [witness.not_of for witness in found.witnesses]
    if found.operators is ARBITRARY:
        assert against == [DETERMINISTIC]
    else:
        assert against == [one for one in (REPEATABLE, CONVERGENT) if one < found.operators]
    for witness in found.witnesses:
        moments = replay(box, edges, [taken.event for taken in witness.steps])
        wrong = moments[len(moments) - max(witness.circle, 1)]
        if witness.not_of is CONVERGENT:
            assert wrong.first != wrong.second
        elif witness.not_of is DETERMINISTIC:
            assert bodies(moments, "first") != bodies(moments, "second")
        else:
            check_not_repeated(moments)


def check_not_repeated(moments: list[WitnessStep]) -> None:
    """The second copy puts out what the first one did not, or leaves out what it alone should."""
    failed = next(
        (at for at, m in enumerate(moments) if isinstance(m.event, CopyFails)), len(moments)
    )
    before = [out for moment in moments[:failed] for out in moment.first]
    after = bodies(moments[failed:], "first")
    said = [out for moment in moments for out in moment.second]
    for cut in range(len(said) + 1):  # duplicates first, in order, and then the rest
        rest = iter(before)
        repeats = all(any(is_again(dup, out) for out in rest) for dup in said[:cut])
        assert not (repeats and [out.body for out in said[cut:]] == after)


def is_again(duplicate: Out, out: Out) -> bool:
    """Is it the same, and made of nothing else?"""
    return duplicate.body == out.body and duplicate.of <= out.of


def bodies(moments: list[WitnessStep], copy: str) -> list[Body]:
    return [out.body for moment in moments for out in getattr(moment, copy)]


# --- random boxes beside the definitions ---------------------------------------------------------
@dataclass(frozen=True)
class Machine(Box):
    """A table: (state, edge, type) -> (next state, output or None)."""

    table: tuple[tuple[int, int | None], ...]
    states: int
    edges = None

    def begin(self, _edges: int) -> int:
        return 0

    def feed(self, state: int, item: Item) -> tuple[Fed, ...]:
        at = (item.edge * 2 + "ab".index(item.body.type)) * self.states + state
        after, out = self.table[at]
        outs = () if out is None else (Out(Body(0, str(out)), item.of),)
        return (Fed(after, outs),)


@st.composite
def machines(draw: st.DrawFn, edges: int) -> Machine:
    states = draw(st.integers(1, 3))
    row = st.tuples(st.integers(0, states - 1), st.sampled_from([None, None, 0, 1]))
    size = edges * 2 * states
    return Machine(tuple(draw(st.lists(row, min_size=size, max_size=size))), states)


LETTERS = (Arrival(1, "a"), Arrival(1, "b"))


@given(machines(edges=1))
@settings(max_examples=60)
def test_a_machine_with_one_edge(box: Machine) -> None:
    found = classify(box, Alphabet((LETTERS,)))
    check_witnesses(box, 1, found)
    if found.operators <= CONVERGENT:
        assert not differs_for_ever(box)
    else:
        assert differs_for_ever(box)
    assert (found.operators is REPEATABLE) == (repeats(box) and not differs_for_ever(box))


def step(box: Machine, state: int, letter: str) -> tuple[int, int | None]:
    return box.table["ab".index(letter) * box.states + state]


def reachable(box: Machine) -> set[int]:
    found = {0}
    while more := {step(box, s, x)[0] for s in found for x in "ab"} - found:
        found |= more
    return found


def differs_for_ever(box: Machine) -> bool:
    """Is there a run of two copies with more differences than there are pairs of states?

    One of the pairs in which they differ then comes twice.
    """
    pairs = {(s, t) for s in range(box.states) for t in range(box.states)}
    begun = {(s, 0) for s in reachable(box)}
    most = dict.fromkeys(pairs, 0)
    for _ in range(len(pairs) * (len(pairs) + 1)):
        most = {
            (s, t): max(
                (step(box, s, x)[1] != step(box, t, x)[1])
                + most[step(box, s, x)[0], step(box, t, x)[0]]
                for x in "ab"
            )
            for s, t in pairs
        }
    return any(most[pair] > len(pairs) for pair in begun)


def repeats(box: Machine) -> bool:
    """For short words: does a copy that starts anywhere say what the first one says?

    A machine keeps no lineage, so a copy needs nothing, and each output counts at once.
    """
    for start in reachable(box):
        for word in itertools.chain.from_iterable(
            itertools.product("ab", repeat=length) for length in range(1, 7)
        ):
            for failed in range(len(word) + 1):
                one, two = start, 0
                for at, letter in enumerate(word):
                    (one, said), (two, again) = step(box, one, letter), step(box, two, letter)
                    if said != again and (at >= failed or again is not None):
                        return False
    return True


@given(machines(edges=2))
@settings(max_examples=25)
def test_a_machine_with_two_edges_is_deterministic_if_all_orders_say_the_same(
    box: Machine,
) -> None:
    found = classify(box, Alphabet((LETTERS, LETTERS), ahead=2))
    check_witnesses(box, 2, found)
    same = all(
        len({said(box, order) for order in orders(one, two)}) == 1
        for one in itertools.product("ab", repeat=2)
        for two in itertools.product("ab", repeat=2)
    )
    if found.operators is not ARBITRARY:
        assert same
    if not same:
        assert found.operators is ARBITRARY


def orders(one: tuple[str, ...], two: tuple[str, ...]) -> list[tuple[tuple[int, str], ...]]:
    if not one or not two:
        return [(*((0, x) for x in one), *((1, x) for x in two))]
    return [((0, one[0]), *rest) for rest in orders(one[1:], two)] + [
        ((1, two[0]), *rest) for rest in orders(one, two[1:])
    ]


def said(box: Machine, order: Any) -> tuple[int | None, ...]:
    state, found = 0, []
    for edge, letter in order:
        state, out = box.table[(edge * 2 + "ab".index(letter)) * box.states + state]
        found += [] if out is None else [out]
    return tuple(found)


@dataclass(frozen=True)
class Late(Box):
    """Hands every item on; until the first b, one item late."""

    def feed(self, state: Any, item: Item) -> tuple[Fed, ...]:
        if item.body.type == "b" or state == "in time":
            return answer("in time", *(Out(i.body, i.of) for i in (*held(state), item)))
        return answer((item,), *(Out(i.body, i.of) for i in held(state)))


def held(state: Any) -> tuple[Item, ...]:
    return state if isinstance(state, tuple) else ()


def test_a_restarted_copy_may_be_late_for_ever() -> None:
    """It puts out what the first one would put out, so it is of every class."""
    assert classify(Late(), Alphabet((LETTERS,)))[:2] == (REPEATABLE, ())


@dataclass(frozen=True)
class WithTheFirst(Box):
    """Puts out every item with the type of the first one, which it holds for ever."""

    def feed(self, state: tuple[Item, ...], item: Item) -> tuple[Fed, ...]:
        (first,) = state or (item,)
        body = Body(item.body.time, item.body.type + first.body.type)
        return answer((first,), Out(body, item.of | first.of))


@dataclass(frozen=True)
class WithTheFirstUntilB(WithTheFirst):
    """Forgets the first item if a b comes next; else it holds it for ever."""

    def feed(self, state: tuple[Item, ...], item: Item) -> tuple[Fed, ...]:
        if len(state) < 2 and item.body.type == "b":
            return answer(())
        ((_, outs),) = super().feed(state[:1], item)
        return answer((*state, item)[:1] * (1 + bool(state)), *outs)


def test_no_witness_ends_where_the_first_copy_can_no_longer_fail() -> None:
    letters = (*LETTERS, Arrival(1, "c"))
    assert classify(WithTheFirstUntilB(), Alphabet((letters,)))[:2] == (REPEATABLE, ())


def test_a_restart_begins_with_all_that_is_needed() -> None:
    """A copy that begins later would differ for ever, but who holds the first item needs it."""
    assert classify(WithTheFirst(), Alphabet((LETTERS,)))[:2] == (REPEATABLE, ())


# --- limits --------------------------------------------------------------------------------------
def test_too_many_pairs_are_undecided() -> None:
    named = next(one for one in BOXES if one.name == "resample")
    with pytest.raises(Undecided, match="more than 10 pairs"):
        classify(named.box, named.alphabet, limit=10)


def test_the_limit_counts_pairs_of_each_question() -> None:
    """As many as the larger question needs are enough, and one fewer is not."""
    named = next(one for one in BOXES if one.name == "filter")
    start, steps = restarts(named.box, named.alphabet)
    needed = len(explore(start, steps, named.box, 100))
    assert classify(named.box, named.alphabet, limit=needed) == classify(named.box, named.alphabet)
    with pytest.raises(Undecided, match=f"more than {needed - 1} pairs of states"):
        classify(named.box, named.alphabet, limit=needed - 1)


def test_the_number_of_pairs_is_that_of_both_questions() -> None:
    named = next(one for one in BOXES if one.name == "filter")
    graphs = [
        explore(*question(named.box, named.alphabet), named.box, 100)
        for question in (confluence, restarts)
    ]
    assert classify(named.box, named.alphabet).pairs == sum(map(len, graphs))


def test_a_witness_begins_its_second_copy_later() -> None:
    named = next(one for one in BOXES if one.name == "aggregate-count-2-2")
    (first, _) = classify(named.box, named.alphabet).witnesses
    events = [taken.event for taken in first.steps]
    assert isinstance(events[1], BeginSecond)
    assert len(events) == 4


@pytest.mark.parametrize("gap", [1, 2, 3, 7])
def test_a_union_is_arbitrary_whatever_its_gaps(gap: int) -> None:
    """Also where an edge is further ahead after one item than edges are compared otherwise."""
    alphabet = Alphabet(((Arrival(1, "a"),), (Arrival(gap, "b"),)))
    assert classify(Union(), alphabet, 10_000).operators is OperatorClass.ARBITRARY


@pytest.mark.parametrize("gap", [1, 2, 5, 7])
def test_a_join_in_the_order_of_arrival_is_arbitrary_whatever_its_gaps(gap: int) -> None:
    """Also where one edge has ever more items than the other: no bound on items stops the streams
    before the first items meet."""
    alphabet = Alphabet(((Arrival(1, "a"),), (Arrival(gap, "b"),)))
    assert classify(Join(9), alphabet, 10_000).operators is OperatorClass.ARBITRARY
