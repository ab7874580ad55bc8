"""A crash to come in a batch of an engine.

Rule of this file: no point of a batch; a family says which points its batches have.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

P = TypeVar("P", bound=str)


class BatchCrash(NamedTuple, Generic[P]):
    """A crash at a point of batch 0, 1, ... of its incarnation."""

    point: P
    batch: int = 0

    def __str__(self) -> str:
        return f"{self.point}, batch {self.batch + 1}"
