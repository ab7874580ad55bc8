"""Indicators: the input tuples that an output is made of, and the duplicates that they show.

Rule of this file: no tuple is processed, and nothing is sent.
Hwang et al., Sections 5.2 and 6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from model.boxes.box import Lineage, Of, inputs_in
from model.core import Note, Site
from model.protocols.upstream_backup_acks.design import (
    Idle,
    InputNames,
    Maps,
    Repeats,
    StreamsMapped,
)
from model.protocols.upstream_backup_acks.journal import Label
from model.protocols.upstream_backup_acks.messages import MAPPED, Cause, UpstreamPrimary
from model.standbys.messages import Marks


def duplicate_rule(site: Site) -> Callable[[Marks, Marks], bool]:
    """By their marks, is an output a duplicate, given the last one?"""
    repeats = site.config.design.repeats

    def is_repeated(last: Marks, marks: Marks) -> bool:
        if repeats is Repeats.NEVER or not last:
            return False
        pairs = [*zip(marks, last, strict=True)]
        if repeats is Repeats.HIGH_LOWER:
            return all(new < old for new, old in pairs)
        if repeats is Repeats.COUNTED and marks[:-1] != last[:-1]:
            pairs = pairs[:-1]
        return all(new <= old for new, old in pairs)

    return is_repeated


def marks_of(site: Site, state: UpstreamPrimary, of: Lineage, cause: Cause, follow: int) -> Marks:
    """The indicators that travel with an output.  follow: how many more come of the same input."""
    design = site.config.design
    repeats = design.repeats
    if repeats is Repeats.NEVER:
        return ()
    if repeats is Repeats.LOW:
        return tuple(label.place for label in cause.oldest)
    marks = state.newest if design.names is InputNames.MARKS else _high(site, state, of)
    return (*marks, -follow) if repeats is Repeats.COUNTED else marks


def _high(site: Site, state: UpstreamPrimary, of: Lineage) -> Marks:
    """The place of the most recent tuple of each input in a lineage, or of the output before."""
    high = [0] * len(state.inlets)
    for edge, label in _labels(site, of):
        high[edge] = max(high[edge], label.place)
    before = state.queue.kept.last().marks if state.queue.kept else (0,) * len(high)
    return tuple(map(max, high, before))


def nexts(state: UpstreamPrimary) -> tuple[Label, ...]:
    """The tuples after the last ones that were processed."""
    return tuple(Label(connection, place + 1) for connection, place in state.last)


def _labels(site: Site, of: Iterable[Of]) -> Iterator[tuple[int, Label]]:
    """The input tuples of the node in a lineage: (input, label)."""
    for one in of:
        if one.edge < 0:
            connection, edge = divmod(-1 - one.edge, len(site.preds))
            yield edge, Label(connection, one.place)


def oldest_of(site: Site, of: Iterable[Of], otherwise: tuple[Label, ...]) -> tuple[Label, ...]:
    """The oldest tuple of each input in a lineage."""
    found: dict[int, Label] = {}
    for edge, label in _labels(site, of):
        found[edge] = min(label, found.get(edge, label))
    return tuple(found.get(edge, label) for edge, label in enumerate(otherwise))


def needed_by_restart(
    site: Site, state: UpstreamPrimary
) -> tuple[tuple[Cause, ...], tuple[Label, ...], tuple[Note, ...]]:
    """The causes that still count, and the oldest tuple of each input that a restart needs."""
    design, queue = site.config.design, state.queue
    if design.streams is StreamsMapped.ACKNOWLEDGED:
        queue = queue.of_acknowledged_streams()
    mapped = queue.received if design.maps is Maps.RECEIVED else queue.released
    causes = state.causes
    notes: tuple[Note, ...] = ()
    while len(causes) > 1 and causes[1].output <= mapped:
        causes = causes[1:]
    if design.idle is Idle.STATE and mapped == queue.place:
        needed = oldest_of(site, inputs_in(state.inner), nexts(state))
    elif causes and causes[0].output <= mapped:
        needed, notes = causes[0].oldest, (Note(MAPPED),)
    else:
        needed = (Label(),) * len(state.inlets)
    return causes, needed, notes
