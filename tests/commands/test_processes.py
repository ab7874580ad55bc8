"""The pool of processes: every call has its result once, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from asif.processes import call_all, first_of
from model.calls import EndedCall
from model.errors import Invalid
from tests.children import children

ROOT = Path(__file__).parents[2]
FATAL = {3: signal.SIGKILL, 4: signal.SIGTERM}


def squared(number: int) -> int:
    return number * number


def fatal(number: int) -> int:
    if number in FATAL:
        os.kill(os.getpid(), FATAL[number])
        signal.pause()
    if number == 6:
        sys.exit(7)
    return number * number


def raising(number: int) -> int:
    return 1 // number


def refusing(number: int) -> int:
    raise Invalid(f"{number} is no number for this")


def interrupted(number: int) -> int:
    os.kill(os.getpid(), signal.SIGINT)
    return number * number


def pid(_: str) -> int:
    return os.getpid()


def flat(parts: Iterator[list[EndedCall[int]]]) -> list[EndedCall[int]]:
    return [ended for part in parts for ended in part]


# --- calls -----------------------------------------------------------------------------------
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_every_call_has_its_result_once(count: int, workers: int) -> None:
    before = children()
    found = flat(call_all(squared, range(count), workers))
    assert sorted(found) == [(number, number * number, "") for number in range(count)]
    assert children() == before


def test_a_process_goes_on_with_items_of_its_kind() -> None:
    kinds = "abcab"
    assert first_of({0, 1, 2, 3, 4}, kinds, None, set()) == 0
    assert first_of({1, 2, 3, 4}, kinds, None, {"a"}) == 1
    assert first_of({2, 3, 4}, kinds, "b", {"a", "b"}) == 4
    assert first_of({2, 3}, kinds, "b", {"a", "b"}) == 2, "no b waits, and c is not begun"
    assert first_of({3, 4}, kinds, "c", {"a", "b"}) == 3, "all are begun: help with the first one"


def test_a_process_helps_with_another_kind_when_its_own_is_done() -> None:
    items = "ab" * 20
    by = {kind: set[int]() for kind in "ab"}
    for number, process_, _ in flat(call_all(pid, items, 2, kind=str)):
        assert process_ is not None
        by[items[number]].add(process_)
    assert min(map(len, by.values())) == 1, "nobody helps with the kind that is done first"


@pytest.mark.slow
def test_a_process_that_dies_takes_only_its_call_along() -> None:
    found = sorted(flat(call_all(fatal, range(9), 2)))
    assert [number for number, _, _ in found] == [*range(9)]
    died = {number: why for number, result, why in found if result is None}
    assert died == {
        3: "its process was ended by SIGKILL (is there enough memory?)",
        4: "its process was ended by SIGTERM",
        6: "its process ended with exit code 7",
    }
    assert all(result == number * number for number, result, _ in found if number not in died)


@pytest.mark.slow
def test_ctrl_c_does_not_reach_the_processes() -> None:
    """Not even the first ones of a program: the one that has started them ends them."""
    code = (
        "from asif.processes import call_all\n"
        "from tests.commands.test_processes import interrupted\n"
        "print(sorted(ended for part in call_all(interrupted, range(3), 2) for ended in part))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert ran.stdout == "[(0, 0, ''), (1, 1, ''), (2, 4, '')]\n", ran.stderr


def test_a_call_that_raises_is_no_lost_call() -> None:
    before = children()
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        flat(call_all(raising, range(3), 2))
    assert children() == before


def test_bad_input_is_the_same_error_from_a_process() -> None:
    before = children()
    with pytest.raises(Invalid, match=r"^[01] is no number for this$"):
        flat(call_all(refusing, range(3), 2))
    assert children() == before


def test_a_caller_that_stops_early_leaves_no_process() -> None:
    before = children()
    some = call_all(squared, range(50), 2)
    next(some)
    assert len(children() - before) >= 2
    some.close()
    assert children() == before


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 9)), min_size=1, max_size=20),
    st.integers(1, 4),
)
def test_the_first_item_that_has_not_ended_has_begun(
    items: list[tuple[str, int]], workers: int
) -> None:
    """So progress names a task that is under way: items of a kind follow each other."""
    kinds = [kind for kind, _ in sorted(items)]
    waiting, ended = {*range(len(items))}, set[int]()
    busy: dict[int, int] = {}  # when it ends, by item
    now, last = 0, [""] * min(workers, len(items))
    while waiting or busy:
        for kind in last:
            if waiting:
                at = first_of(waiting, kinds, kind, {kinds[one] for one in busy})
                waiting.remove(at)
                busy[at] = now + items[at][1]
        assert min({*range(len(items))} - ended) in busy
        now = min(busy.values())
        done = [at for at, until in busy.items() if until == now]
        ended |= {*done}
        last = [kinds[at] for at in done]
        busy = {at: until for at, until in busy.items() if until > now}
