"""Many independent calls of one function: in this process, in several, or on several machines.

Rule of this file: no process and no machine; an Execute decides where calls are made.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Mapping, Sequence
from contextlib import closing
from itertools import chain
from typing import Generic, NamedTuple, TypeAlias, TypeVar, cast

from model.progress import Progress, silent

T = TypeVar("T")
R = TypeVar("R")
K = TypeVar("K", bound=Hashable)

EndedCall: TypeAlias = tuple[int, R | None, str]
"""(number of the call, its result, ""); if its process died, (number, None, the reason)."""

Execute: TypeAlias = Callable[
    [Callable[[T], R], Sequence[T]], Generator[Sequence[EndedCall[R]], None, None]
]
"""Calls a function with each item, and yields results as they come, some at a time.  Of the calls
that have not ended, the first one has begun.  A process that dies takes only its call along."""


def one_by_one(
    call: Callable[[T], R], items: Sequence[T]
) -> Generator[list[EndedCall[R]], None, None]:
    """An Execute in this process."""
    for number, item in enumerate(items):
        yield [(number, call(item), "")]


class GatheredCalls(NamedTuple, Generic[K, R]):
    """found: the results by name.  lost: by name, why the process of a call died."""

    found: dict[K, R]
    lost: dict[K, str]


def gather(
    execute: Execute[Callable[[], R], R],
    calls: Mapping[K, Callable[[], R]],
    stage: str,
    progress: Progress = silent,
) -> GatheredCalls[K, R]:
    """The results of all calls, in the order of their names."""
    names = [*calls]
    found: dict[K, R] = {}
    lost: dict[K, str] = {}
    progress(stage, 0, len(names))
    with closing(execute(_make, [*calls.values()])) as ended:
        for number, result, why in chain.from_iterable(ended):
            name = names[number]
            if why:
                lost[name] = why
            else:
                found[name] = cast(R, result)
            progress(stage, len(found) + len(lost), len(names), str(name))
    return GatheredCalls(
        {name: found[name] for name in names if name in found},
        {name: lost[name] for name in names if name in lost},
    )


def _make(call: Callable[[], R]) -> R:
    return call()
