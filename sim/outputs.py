"""The outputs of sinks, as a value that can be compared and named.

Rule of this file: no knowledge of a driver.
"""

from __future__ import annotations

import hashlib
import json

from model.events import Body

Outputs = tuple[tuple[tuple[Body, ...], ...], ...]
"""The outputs by sink and input edge (the order between edges does not count)."""


def digest(outputs: Outputs) -> str:
    """The SHA-256 of the outputs as compact JSON: [sink][edge][body], a body [time, type, data]."""
    text = json.dumps(outputs, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def count(outputs: Outputs) -> int:
    return sum(len(bodies) for edges in outputs for bodies in edges)
