"""Hypothesis profiles: quick (the default, also in CI) always tries the same examples.

Before the first test that starts Spark, Java learns how that is done quickly.  Files that take
long come first: of several processes, none is left alone with one at the end.
"""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "quick",
    max_examples=100,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("full", parent=settings.get_profile("quick"), max_examples=2_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


# A shell that starts the suite in its background has it ignore Ctrl-C, and all that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def long(item: pytest.Item) -> bool:
        return any(item.get_closest_marker(name) for name in ("slow", "spark"))

    first = {item.path for item in items if long(item)}
    items.sort(key=lambda item: item.path not in first)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("spark"):
        from spark_check.training import train  # with Spark, which most tests do without

        train()
