"""The parts of an operator's state: how many there are, and how many have changed.

Rule of this file: no price and no size in bytes; drivers have the prices.

The file knows the states of the boxes that have keys or windows; other states have no parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from model.boxes.panes import ManyPanes, Panes, Turn
from model.boxes.triggered import InputSet, Sets
from model.cep.box import Windows
from model.cep.operator import CepState
from model.costs import StateParts


def count_parts(state: Any) -> StateParts:
    """The parts of a state; a plain tuple has those of the states in it."""
    keys = windows = 0
    for one in _flat(state):
        match one:
            case StateParts():
                keys, windows = keys + one.keys, windows + one.windows
            case Panes() | ManyPanes():
                more, _, groups = one.amounts
                keys, windows = keys + groups, windows + more
            case Sets(open_):
                keys += len(open_)
            case Windows() | CepState():
                windows += len(one.open)
    return StateParts(keys, windows)


def count_changed(before: Any, now: Any) -> StateParts:
    """The parts of a state that are not in the one before; a key changes with its windows."""
    if isinstance(now, StateParts):
        return now
    old = frozenset(part for _, part in _parts(before))
    changed = [(key, part) for key, part in _parts(now) if part not in old]
    keys = {key for key, _ in changed if key is not None}
    windows = sum(not isinstance(part, Turn | InputSet) for _, part in changed)
    return StateParts(len(keys), windows)


def _flat(state: Any) -> Iterator[Any]:
    """The states in a plain tuple, such as that of a network of boxes."""
    if type(state) is tuple:
        for one in state:
            yield from _flat(one)
    else:
        yield state


def _parts(state: Any) -> Iterator[tuple[Any, Any]]:
    """Each part with its key, which the place of the state among others is part of; None: it has no
    key."""
    for at, one in enumerate(_flat(state)):
        match one:
            case Panes() | ManyPanes():
                yield from (((at, turn.key), turn) for turn in one.turns)
                yield from (((at, pane.key), pane) for pane in one.open)
            case Sets(open_):
                yield from (((at, inset.key), inset) for inset in open_)
            case Windows() | CepState():
                yield from ((None, window) for window in one.open)
