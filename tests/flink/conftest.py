"""The installed Flink of the tests; tests/conftest.py skips them where it is missing."""

from __future__ import annotations

import pytest

from flink_check.environment import FlinkHome, installed


@pytest.fixture(scope="session")
def home() -> FlinkHome:
    """The environment of the current folder.  Raises Invalid without one."""
    return installed()
