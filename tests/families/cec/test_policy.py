"""The policies of Section III.A and the two estimates of q and u, compared with a scan of a log."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.protocols.cec.policy import (
    Differences,
    Footprint,
    Positions,
    Prices,
    due,
    gain,
    worth,
)

CHECK = "check"
WORDS = st.integers(0, 40).flatmap(
    lambda length: st.lists(
        st.sampled_from(["a", "b", "c", CHECK]), min_size=length, max_size=length
    )
)
"""A tuple of a key enters, or the window with the oldest footprint is checkpointed."""


class Written(NamedTuple):
    """A record.  closes: is it a result?  input: how many tuples had entered."""

    key: str
    closes: bool
    input: int


class Operator:
    """Count windows of `size` tuples, their log, and both estimates."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.held: dict[str, int] = {}
        self.log: list[Written] = []
        self.inputs = 0
        self.positions, self.differences = Positions(), Differences()

    def run(self, word: Iterable[str]) -> Operator:
        for action in word:
            if action == CHECK:
                self.check()
            else:
                self.enter(action)
        return self

    def enter(self, key: str) -> None:
        self.inputs += 1
        self.positions, self.differences = self.positions.enter(), self.differences.enter()
        if key not in self.held:
            self._leave(key)
        self.held[key] = self.held.get(key, 0) + 1
        if self.held[key] == self.size:
            del self.held[key]
            self.log.append(Written(key, True, self.inputs))
            self.positions = self.positions.close(key)
            self.differences = self.differences.close(key)

    def check(self) -> None:
        if self.held:
            self._leave(self.log[-self.extent()].key)

    def _leave(self, key: str) -> None:
        self.log.append(Written(key, False, self.inputs))
        self.positions, self.differences = self.positions.leave(key), self.differences.leave(key)

    def footprints(self) -> list[Footprint]:
        """The newest footprints of the open windows, by a scan of the whole log, oldest first."""
        newest = {written.key: (at, written) for at, written in enumerate(self.log, 1)}
        open_ = sorted((at, one.input) for at, one in newest.values() if not one.closes)
        return [Footprint(*one) for one in open_]

    def extent(self) -> int:
        found = self.footprints()
        return len(self.log) - found[0].record + 1 if found else 0

    def replay(self) -> int:
        found = self.footprints()
        return self.inputs - found[0].input if found else 0


# --- estimates -----------------------------------------------------------------------------------
@given(WORDS, st.integers(1, 4))
def test_positions_give_what_a_scan_of_the_log_finds(word: list[str], size: int) -> None:
    ran = Operator(size).run(word)
    assert ran.positions.sizes() == (ran.extent(), ran.replay())


@given(WORDS, st.integers(1, 4))
def test_differences_never_give_more(word: list[str], size: int) -> None:
    ran = Operator(size).run(word)
    q, u = ran.differences.sizes()
    assert q <= ran.extent()
    assert u <= ran.replay()


@given(WORDS)
def test_differences_are_right_until_a_window_closes(word: list[str]) -> None:
    ran = Operator(size=99).run(word)
    assert ran.differences.sizes() == ran.positions.sizes()


def test_the_shortest_stream_on_which_differences_are_wrong() -> None:
    """Count windows of 2, a1 b2 b3: b closes between a and the end of the log."""
    wrong = [
        "".join(word)
        for length in range(4)
        for word in product("ab", repeat=length)
        if (ran := Operator(2).run(word)).differences.sizes() != ran.positions.sizes()
    ]
    assert wrong == ["abb", "baa"]
    ran = Operator(2).run("abb")
    assert ran.positions.sizes() == (3, 2)
    assert ran.differences.sizes() == (2, 1)


@pytest.mark.parametrize("times", [1, 10, 100])
def test_the_drift_of_differences_has_no_bound(times: int) -> None:
    """One slow window, and a fast one that opens and closes: a target of 3 is never passed."""
    ran = Operator(2).run("a" + "bb" * times)
    assert ran.positions.sizes() == (1 + 2 * times, 2 * times)
    assert ran.differences.sizes() == (2, 1)
    assert Operator(2).run("a" + "bb" * times + "b").differences.sizes() == (3, 2)


# --- targets -------------------------------------------------------------------------------------
@given(*[st.integers(0, 5)] * 4)
def test_a_checkpoint_is_due_beyond_either_target(q: int, u: int, most_q: int, most_u: int) -> None:
    assert due(q, u, most_q, most_u) == (not (q <= most_q and u <= most_u))


# --- costs and benefits --------------------------------------------------------------------------
@given(WORDS, st.integers(1, 4))
def test_a_checkpoint_of_the_oldest_gains_what_is_said(word: list[str], size: int) -> None:
    """Also: the extent never grows, whatever the paper says of a tuple that is added."""
    ran = Operator(size).run(word)
    footprints = ran.footprints()
    if not footprints:
        return
    here = Footprint(len(ran.log) + 1, ran.inputs)
    dead, inputs = gain(footprints[0], footprints[1] if len(footprints) > 1 else here)
    before = ran.extent(), ran.replay()
    ran.check()
    assert (ran.extent(), ran.replay()) == (before[0] - dead, before[1] - inputs)
    assert dead >= 0
    assert inputs >= 0


def test_the_last_of_many_that_were_open_at_once_gains_nothing() -> None:
    """N windows that opened in a row need N G_checks, and the extent stays N."""
    ran = Operator(9).run("abc")
    for _ in range(3):
        assert gain(*ran.footprints()[:2])[0] == 0
        ran.check()
        assert ran.extent() == 3


PRICES = st.builds(
    Prices, *[st.floats(1e-9, 1e-3, allow_nan=False)] * 3, st.floats(0, 10, allow_nan=False)
)
GAINS = st.tuples(st.integers(0, 10**6), st.integers(0, 10**6))


@given(GAINS, GAINS, PRICES)
def test_what_is_worth_it_stays_so_if_it_gains_more(
    one: tuple[int, int], more: tuple[int, int], prices: Prices
) -> None:
    if worth(*one, prices):
        assert worth(one[0] + more[0], one[1] + more[1], prices)


@given(GAINS, PRICES)
def test_what_gains_nothing_or_meets_no_crash_is_not_worth_it(
    one: tuple[int, int], prices: Prices
) -> None:
    assert not worth(0, 0, prices)
    assert not worth(*one, prices._replace(crashes=0))


@given(st.integers(0, 1000), st.integers(0, 1000), PRICES)
def test_a_record_weighs_more_than_a_tuple_if_it_costs_more(
    some: int, more: int, prices: Prices
) -> None:
    """The reason why Q is chosen smaller than U."""
    prices = prices._replace(scan=max(prices.scan, prices.replay))
    if worth(some, some + more, prices):
        assert worth(some + more, some, prices)


def test_worth_is_seconds_saved_against_seconds_spent() -> None:
    prices = Prices(scan=30e-6, replay=18e-6, check=2.4e-6, crashes=0.01)
    assert not worth(7, 1, prices)  # 0.01 * 228 us
    assert worth(7, 2, prices)  # 0.01 * 246 us
