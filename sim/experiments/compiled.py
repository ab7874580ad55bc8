"""Decorators for the loops of kernels: numba compiles them, and Python runs them as they are where
there is no numba.

Rule of this file: no loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

try:
    import numba
except ImportError:
    COMPILED = False

    def compiled(function: F) -> F:
        return function

    inlined = compiled
else:
    COMPILED = True

    # Nothing is allocated here, so no references need counting, which would take half the time.
    OPTIONS: dict[str, Any] = {"cache": True, "_nrt": False}

    def compiled(function: F) -> F:
        jitted: F = numba.njit(**OPTIONS)(function)
        return jitted

    def inlined(function: F) -> F:
        """Compiled into its callers: a call would pass seven words for each array."""
        jitted: F = numba.njit(**OPTIONS, forceinline=True)(function)
        return jitted
