"""A real browser without a window, for the tests of pages: the Chromium of this machine.

Rule of this file: no page of ours; tests open those.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
REQUIRED = "ASIF_BROWSER"
"""The environment variable that CI sets to "required": a machine without a browser fails there."""


def found_browser() -> str | None:
    """The path of a Chromium on this machine; None without one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def skip_without_browser() -> None:
    """Skips the test that runs where no browser is found; fails it where one is required."""
    if found_browser() is None:
        missing = f"no browser: none of {', '.join(NAMES)} (Debian: apt install chromium)"
        if os.environ.get(REQUIRED) == "required":
            pytest.fail(missing)
        pytest.skip(missing)


@contextmanager
def open_browser() -> Iterator[Browser]:
    """The browser, until the context ends."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=found_browser(),
            args=["--no-sandbox"],  # root, as in containers, has none
        )
        yield browser
        browser.close()
