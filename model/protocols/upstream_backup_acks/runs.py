"""Runs of upstream backup by acknowledgements in scopes that are too large to explore.

Rule of this file: actions and their result as data; tests/contract/test_runs.py plays them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from model.actions import Action, Crash, Inject
from model.boxes.stateless import Relay
from model.core import Arrival, Guarantee, NodeName, OperatorClass
from model.evidence import REST, PinnedRun
from model.graph import chain
from model.pair_scopes import DETERMINISTIC, PAIRED, REPEATABLE, windows
from model.parts import over_words


def _calm(tuples: int) -> Iterator[Action | None]:
    """So many tuples, each of which is processed before the next one comes."""
    for _ in range(tuples):
        yield from (Inject("source", Arrival(1, "a")), REST)


def _behind_a_relay(
    name: str,
    box: Any,
    operators: OperatorClass,
    tuples: tuple[int, int, int],
    failures: tuple[NodeName, NodeName],
) -> PinnedRun:
    """A gap in a chain of a relay A and a node B with this box.

    tuples: before the first failure, between the two, and after the second one.
    """
    before, between, after = (tuple(_calm(number)) for number in tuples)
    first, second = map(Crash, failures)
    return PinnedRun(
        name,
        over_words(chain(("A", Relay()), ("B", box)), sum(tuples), "a", crashes=2),
        operators,
        (*before, first, REST, *between, second, REST, *after),
        Guarantee.GAP,
    )


OUT_OF_LINE = _behind_a_relay(
    "pairs behind a relay, six tuples", PAIRED, DETERMINISTIC, (4, 0, 2), ("A", "B")
)
"""The restarted A sends more than the cause of the last output: the pairs of B begin elsewhere."""

ANOTHER_TUPLE_IS_RELEASED = _behind_a_relay(
    "overlapping windows, four tuples", windows(2, 1), REPEATABLE, (3, 0, 1), ("A", "B")
)
"""The acknowledgement of a tuple of the dead A releases the one that has its number now."""

NUMBERED_ANEW = _behind_a_relay(
    "two relays, three tuples", Relay(), REPEATABLE, (1, 1, 1), ("A", "A'")
)
"""Each replica of A numbers its outputs from 1: to the application behind B new ones look old."""
