"""What sinks passed on, as a value that can be compared and named.

Rule of this file: nothing here knows a driver.
"""

from __future__ import annotations

import hashlib
import json

from model.events import Body

Outputs = tuple[tuple[tuple[Body, ...], ...], ...]
"""What the sinks passed on: by sink, by input edge (between edges there is no order to keep)."""


def digest(outputs: Outputs) -> str:
    """SHA-256 of the outputs as compact JSON: [sink][edge][body] with body [time, type, data]."""
    text = json.dumps(outputs, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def count(outputs: Outputs) -> int:
    return sum(len(bodies) for edges in outputs for bodies in edges)
