"""No input of any command ends in a traceback, in silence, or without an end.

Rule of this file: no example; `tests/fuzz/commands.py` makes the cases, `case.py` judges them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import commands
from tests.fuzz.case import Answered, Case, faults
from tests.fuzz.client import answering

QUICK, MANY = 150, 100_000
"""Cases of `make test`, and of `make test-all`."""
PARTS = 100


@pytest.fixture(scope="module")
def answer() -> Iterator[Callable[[Case], Answered]]:
    with answering() as answered:
        yield answered


def check(answer: Callable[[Case], Answered], case: Case) -> None:
    answered = answer(case)
    found = [*faults(answered)]
    assert not found, f"{found}\n{case}\n{answered.out}\n{answered.err}\n{answered.details}"


@pytest.mark.slow
def test_no_input_is_answered_by_a_fault(answer: Callable[[Case], Answered]) -> None:
    @settings(max_examples=QUICK, suppress_health_check=list(HealthCheck))
    @given(st.randoms(use_true_random=False))
    def any_case(pick: Random) -> None:
        check(answer, commands.case(pick))

    any_case()


@pytest.mark.exhaustive  # `.ci/run` answers 150 cases
@pytest.mark.timeout(24 * 3_600)
@pytest.mark.parametrize("part", range(PARTS))
def test_none_of_many_inputs_is(part: int, answer: Callable[[Case], Answered]) -> None:
    for number in range(MANY // PARTS):
        check(answer, commands.case(Random(f"{part}:{number}")))
