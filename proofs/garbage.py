"""Cyclic garbage: how to look for it seldom, where there is little.

Rule of this file: it changes when Python looks, and nothing else.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 1_000_000
"""The new values, still there, after which Python looks for cyclic garbage; usually 700."""


@contextmanager
def seldom_collected() -> Iterator[None]:
    """A context in which Python seldom looks for cyclic garbage.

    A search keeps nearly all that it makes, and makes no circles; without this, Python looks at the
    same values again and again, which takes a sixth of the time.
    """
    usual = gc.get_threshold()
    gc.set_threshold(SELDOM, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)
