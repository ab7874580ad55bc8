"""A call in a process of its own: its result, its exception, its death, and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from model.machine.children import wait_ended
from model.machine.own_process import call_apart
from tests.children import children


def square(number: int) -> int:
    return number * number


def die(how: int | str) -> None:
    """By this signal; or without a word, by this exit code."""
    if isinstance(how, str):
        os._exit(int(how))
    os.kill(os.getpid(), how)
    time.sleep(60)


def divide(number: int) -> float:
    return 1 / number


def test_results_come_back_each_time() -> None:
    before = children()
    assert [call_apart(square, number) for number in range(50)] == [
        (number * number, "") for number in range(50)
    ]
    assert children() == before


@pytest.mark.parametrize(
    ("how", "why"),
    [
        (signal.SIGKILL, "it was ended by SIGKILL (is there enough memory?)"),
        (signal.SIGTERM, "it was ended by SIGTERM"),
        ("3", "it ended with exit code 3"),
        ("0", "it ended with exit code 0"),
    ],
)
def test_a_death_is_its_own_alone(how: int | str, why: str) -> None:
    assert call_apart(die, how) == (None, why)


def test_an_exception_is_raised_here() -> None:
    with pytest.raises(ZeroDivisionError):
        call_apart(divide, 0)


def test_the_process_ends_with_its_parent() -> None:
    code = (
        "import time; from model.machine.own_process import call_apart\n"
        "call_apart(lambda _: (print('started', flush=True), time.sleep(600)), 0)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"started\n"
        family = psutil.Process(parent.pid).children()
        assert len(family) == 1
        parent.kill()
        wait_ended(family)
