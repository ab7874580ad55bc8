"""Where the environment is not there, each test that starts Flink is skipped, with the reason."""

from __future__ import annotations

import pytest

from flink_check.environment import FlinkHome, installed
from model.errors import Invalid


@pytest.fixture(scope="session")
def home() -> FlinkHome:
    """The installed environment of the current folder."""
    try:
        return installed()
    except Invalid as error:
        pytest.skip(str(error))
