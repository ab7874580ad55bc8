"""Many independent calls of one function, in several processes or on several machines.

Rule of this file: only the type of what such a call ends with; who makes the calls decides how.
"""

from __future__ import annotations

from typing import TypeAlias, TypeVar

R = TypeVar("R")

EndedCall: TypeAlias = tuple[int, R | None, str]
"""(number of the call, its result or None, why there is none)."""
