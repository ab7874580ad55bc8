"""The order of inputs, logged at the secondary: determinants of upstream backup.

Rule of this file: the log and what waits for it; nodes.py processes tuples, and knows when.

Upstream sends again what the lost state was made of; the new primary processes it in the order of
the log, and only then goes on in an order of its own.  Tuples are named by their numbers, so the
inputs of a node must come from sources.
Hwang et al., Section 6.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from model.standbys.messages import Determinant, Output

Entry: TypeAlias = tuple[int, int]
"""A tuple that was processed next: its input, its place."""
Cut: TypeAlias = tuple[int, ...]
"""For each input the place of the first tuple that a restart needs."""


class Label(NamedTuple):
    """An input tuple of a node: how many producers of its stream came before, and its number."""

    connection: int = 0
    place: int = 0


class Arrived(NamedTuple):
    """A tuple that has not been processed."""

    edge: int
    label: Label
    output: Output


class Journal(NamedTuple):
    """What a primary keeps so that a secondary can follow it.

    spare: has it a secondary?  cut: where the log begins, as the secondary knows.  entries: what
    was processed since.  order: what is still to be followed.  pending: tuples that wait for their
    turn.  waiting: outputs that may not leave yet.
    """

    spare: bool
    cut: Cut
    entries: tuple[Entry, ...] = ()
    order: tuple[Entry, ...] = ()
    pending: tuple[Arrived, ...] = ()
    waiting: tuple[Output, ...] = ()


class Renewed(NamedTuple):
    """All entries that a restart needs, for a new secondary."""

    entries: tuple[Entry, ...]
    cut: Cut


def since(entries: Iterable[Entry], cut: Cut) -> tuple[Entry, ...]:
    """The entries that a restart from the cut follows."""
    return tuple((edge, place) for edge, place in entries if place >= cut[edge])


def later(one: Cut, other: Cut) -> Cut:
    return tuple(map(max, one, other))


def admit(journal: Journal, arrived: Arrived) -> Journal:
    """The journal with a tuple that waits; one before the cut is needed no more."""
    if arrived.output.place < journal.cut[arrived.edge]:
        return journal
    return journal._replace(pending=(*journal.pending, arrived))


def begin_at(journal: Journal, edge: int, start: int) -> Journal:
    """The journal when a producer begins after `start`: what it does not send has no turn."""
    order = tuple(one for one in journal.order if one[0] != edge or one[1] > start)
    return journal._replace(order=order)


def turn(journal: Journal) -> tuple[Journal, Arrived | None]:
    """The tuple that is processed next, if it is there."""
    for at, one in enumerate(journal.pending):
        if not journal.order or (one.edge, one.output.place) == journal.order[0]:
            pending = (*journal.pending[:at], *journal.pending[at + 1 :])
            return journal._replace(pending=pending, order=journal.order[1:]), one
    return journal, None


def follow(entries: tuple[Entry, ...], cut: Cut, one: Determinant) -> tuple[tuple[Entry, ...], Cut]:
    """The log of a secondary with one more determinant."""
    cut = later(cut, one.cut)
    return since((*entries, (one.edge, one.place)), cut), cut
