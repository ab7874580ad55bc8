"""The operator computes what the oracle says, and a replay from a savepoint is exact."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from model.cep.denotation import evaluate
from model.cep.engines import Mealy
from model.cep.numbering import PAIRS, PAIRS_FROM_FIRST_WINDOW, PAIRS_OF_INPUTS, SCALAR
from model.cep.operator import CepState, OpenWindow, Operator, process
from model.cep.patterns import Strategy, sequence
from model.cep.skips import Ranges, covers
from model.cep.windows import CountWindows
from model.events import SN, Body, Event
from model.protocols.upstream_backup.layouts import Drawing
from model.protocols.upstream_backup.savepoints import (
    NumberedOperator,
    Scheme,
    Skipping,
    origin,
    push,
    restore,
    save,
)
from proofs.explore.strategies import operators, words


def events(bodies: Sequence[Body]) -> list[Event]:
    return [Event((number,), body) for number, body in enumerate(bodies, 1)]


def fed(
    operator: Operator, scheme: Scheme, state: NumberedOperator, stream: Sequence[Event]
) -> tuple[NumberedOperator, list[Event]]:
    produced: list[Event] = []
    for event in stream:
        state, outputs = push(operator, scheme, state, 0, event)
        produced += outputs
    return state, produced


@given(operators(), words())
def test_an_operator_computes_what_the_oracle_says(
    operator: Operator, word: tuple[Body, ...]
) -> None:
    scheme = Scheme()
    _, produced = fed(operator, scheme, restore(scheme, origin(scheme, 1)), events(word))
    assert [event.body for event in produced] == list(evaluate(operator, word))
    numbers = [event.sn for event in produced]
    assert numbers == sorted(set(numbers))


@given(operators(), words())
def test_windows_close_once_and_events_settle_once(
    operator: Operator, word: tuple[Body, ...]
) -> None:
    state, opened = CepState(), 0
    closed: list[int] = []
    settled: list[bool] = []
    for body in word:
        state, happened = process(operator, state, body)
        opened += happened.opened
        closed += (window.number for window in (*happened.expired, *happened.filled))
        settled += happened.settled
    assert state.opened == opened
    assert sorted([*closed, *(window.number for window in state.open)]) == [*range(1, opened + 1)]
    assert len(settled) + len(state.queue) == len(word)
    assert not (operator.parallel and state.queue)


def test_boundaries_may_be_decided_elsewhere() -> None:
    """Windows of two events in place of three."""

    class Pairs:
        def opens(self, number: int) -> bool:
            return number == 1

        def completes(self, window: OpenWindow, event: Body) -> bool:
            return event.type == "a" and window.extent.events == 2

    state, closed = CepState(), []
    for time in range(1, 4):
        state, happened = process(ONCE, state, Body(time, "a"), Pairs())
        closed.append([window.number for window in happened.filled])
    assert closed == [[], [1], []]
    assert not state.open


def replay_differs(
    operator: Operator, scheme: Scheme, word: Sequence[Body], saves: Sequence[tuple[int, int]]
) -> bool:
    """Save after some events, for some of the complex events so far; each time, does a replay of
    what the backup still holds, and the rest, give other complex events than the original run?"""
    stream = events(word)
    state = restore(scheme, origin(scheme, 1))
    _, original = fed(operator, scheme, state, stream)
    backup: list[Event] = []
    produced: list[Event] = []
    for place, event in enumerate(stream):
        backup.append(event)
        state, outputs = fed(operator, scheme, state, [event])
        produced += outputs
        for at, back in saves:
            if at != place or back >= len(produced):
                continue
            acked = produced[-1 - back].sn
            saved = save(scheme, operator.splitter, state, acked)
            if saved is None:
                continue
            state, savepoint, (skips,) = saved
            backup = kept(backup, savepoint.trim[0], skips)
            again = restore(scheme, savepoint)
            _, replayed = fed(operator, scheme, again, [*backup, *stream[place + 1 :]])
            if after(replayed, acked) != after(original, acked):
                return True
    return False


def kept(backup: Sequence[Event], trim: SN, skips: Ranges) -> list[Event]:
    return [event for event in backup if event.sn > trim and not covers(skips, event.sn)]


def after(produced: Sequence[Event], acked: SN) -> list[Event]:
    return [event for event in produced if event.sn > acked]


SAVES = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 2)), max_size=4).map(tuple)


@settings(max_examples=400)
@given(operators(), words(), SAVES)
def test_a_replay_from_any_savepoint_is_exact(
    operator: Operator, word: tuple[Body, ...], saves: tuple[tuple[int, int], ...]
) -> None:
    assert not replay_differs(operator, Scheme(), word, saves)


ONCE = Operator(sequence("a"), CountWindows(3, 1))
TWICE = Operator(sequence("a", "b", strategy=Strategy.ANY), CountWindows(3, 1))
GAPPED = Operator(sequence("a"), CountWindows(3, 2))
TOGGLED = Operator(
    Mealy(((("a", 0, 1), ("b", 1, 0)), (("a", 1, 0), ("b", 0, 1)))), CountWindows(3, 1)
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operator", "scheme"),
    [
        pytest.param(ONCE, Scheme(SCALAR), id="scalar"),
        pytest.param(TOGGLED, Scheme(PAIRS), id="pairs"),
        pytest.param(TOGGLED, Scheme(PAIRS_FROM_FIRST_WINDOW), id="pairs, first window"),
        pytest.param(GAPPED, Scheme(PAIRS_OF_INPUTS), id="pairs of inputs"),
        pytest.param(GAPPED, Scheme(drawing=Drawing.NOTHING), id="windows counted again"),
        pytest.param(GAPPED, Scheme(drawing=Drawing.OPENERS), id="openers only"),
    ],
)
def test_the_same_check_finds_what_is_wrong_with_the_rest(
    operator: Operator, scheme: Scheme
) -> None:
    examples = st.tuples(words("ab", longest=7), SAVES)
    word, saves = find(
        examples, lambda drawn: replay_differs(operator, scheme, *drawn), settings=FINDING
    )
    assert replay_differs(operator, scheme, word, saves)
    assert len(word) <= 6


@pytest.mark.slow
def test_and_finds_nothing_wrong_with_the_corrected_one() -> None:
    examples = st.tuples(words("ab", longest=7), SAVES)

    def differs(drawn: tuple[tuple[Body, ...], tuple[tuple[int, int], ...]]) -> bool:
        known = (ONCE, TWICE, GAPPED, TOGGLED)
        return any(replay_differs(operator, Scheme(), *drawn) for operator in known)

    with pytest.raises(NoSuchExample):
        find(examples, differs, settings=FINDING)


FINDING = settings(
    max_examples=1_000, derandomize=True, database=None, deadline=None, phases=tuple(Phase)
)


def test_two_matches_of_one_window_and_iteration_share_a_published_number() -> None:
    scheme = Scheme(PAIRS, Skipping.OFF)
    word = [Body(1, "a"), Body(2, "a"), Body(3, "b")]
    start = restore(scheme, origin(scheme, 1))
    _, produced = fed(TWICE, scheme, start, events(word))
    assert [event.sn for event in produced] == [(1, 1), (1, 1), (1, 2)]
    assert len({event.body for event in produced}) == 2
