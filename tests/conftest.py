"""Hypothesis profiles: quick (the default, also in CI) always tries the same examples; hunt (of
faults) tries the same ones, and makes none that fails any smaller.

Before the first test that starts Spark, Java learns how that is done quickly.  Files that take
long come first: of several processes, none is left alone with one at the end.  Those that wait for
Spark and those that compute come in turn: so one process computes while another waits.

Python seldom looks for cyclic garbage here: a process that runs many tests keeps much, and to look
at all of it again and again takes a fifth of the time.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, settings

from flink_check.environment import installed
from model.errors import Invalid
from proofs.garbage import SELDOM
from tests.browser.browser import open_browser, skip_without_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from spark_check.runtime.jvm import Jvm

gc.set_threshold(SELDOM, *gc.get_threshold()[1:])

settings.register_profile(
    "quick",
    max_examples=100,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "hunt", parent=settings.get_profile("quick"), phases=[Phase.explicit, Phase.generate]
)
settings.register_profile("full", parent=settings.get_profile("quick"), max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


# Readline, which pytest loads, exports the size of a terminal, and lines are folded to that width.
for name in ("COLUMNS", "LINES"):
    os.environ.pop(name, None)
    os.unsetenv(name)

# A shell that starts the suite in its background has it ignore Ctrl-C, and all that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with Spark and other long files in turn, then the rest."""
    with_spark = _files(items, "spark")
    long = [path for path in _files(items, "slow") if path not in with_spark]
    first = [path for pair in zip_longest(with_spark, long) for path in pair if path]
    rank = {path: number for number, path in enumerate(first)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


def _files(items: list[pytest.Item], marker: str) -> list[Path]:
    return [*dict.fromkeys(item.path for item in items if item.get_closest_marker(marker))]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Where Flink is not installed, a test that starts it is skipped, with the reason; so is one
    that opens a browser, where none is found."""
    if item.get_closest_marker("browser"):
        skip_without_browser()
    if item.get_closest_marker("flink"):
        try:
            installed()
        except Invalid as error:
            pytest.skip(str(error))
    if item.get_closest_marker("spark"):
        _train()


@cache
def _train() -> None:
    """Tried once: later, a fixture may have a Spark, and a process has only one at a time."""
    from spark_check.training import train  # with Spark, which most tests do without

    train()


@pytest.fixture(scope="session")
def jvm() -> Iterator[Jvm]:
    """A Java for the sessions of a process; what is killed or measured has its own."""
    from spark_check.runtime.jvm import Jvm

    with Jvm() as kept:
        yield kept


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser without a window; `browser.new_page(viewport=...)` is a page of a test's own.

    It ends with its file: its processes come and go, and other tests count theirs.
    """
    with open_browser() as opened:
        yield opened
