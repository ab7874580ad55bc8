"""What an aggregate makes of the items of a window, item by item.

Rule of this file: a fold is a value with a name, printable and the same in every process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from model.errors import Invalid


class Fold(NamedTuple):
    """begin: before the first value.  add(so far, value).  result(so far)."""

    begin: Any
    add: Callable[[Any, Any], Any]
    result: Callable[[Any], Any] = lambda value: value


FOLDS: Mapping[str, Fold] = {
    "count": Fold(0, lambda count, _: count + 1),
    "sum": Fold(0, lambda total, value: total + value),
    "max": Fold(None, lambda best, value: value if best is None else max(best, value)),
    "min": Fold(None, lambda best, value: value if best is None else min(best, value)),
    "mean": Fold(
        (0, 0),
        lambda so_far, value: (so_far[0] + value, so_far[1] + 1),
        lambda so_far: so_far[0] / so_far[1] if so_far[1] else None,
    ),
    "list": Fold((), lambda values, value: (*values, value)),
}


def check_fold(box: str, name: str) -> None:
    """Raises Invalid for a fold that does not exist."""
    if name not in FOLDS:
        raise Invalid(f"{box}: no fold {name!r}; there are {', '.join(FOLDS)}")
