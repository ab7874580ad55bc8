"""The tuples of a primary: processed one after the other, each output with its cause and marks.

Rule of this file: no message is received; nodes.py hands over the tuples.
Hwang et al., Sections 5.2 and 6.
"""

from __future__ import annotations

from collections.abc import Iterable

from model.boxes.box import Item, Lineage, Of, Out, inputs_in
from model.core import Effect, Site
from model.protocols.upstream_backup_acks.design import AbsentInput, Oldest
from model.protocols.upstream_backup_acks.determinants import leave, log, places
from model.protocols.upstream_backup_acks.indicators import (
    marks_of,
    needed_by_restart,
    nexts,
    oldest_of,
)
from model.protocols.upstream_backup_acks.journal import Arrived, turn
from model.protocols.upstream_backup_acks.messages import Cause, UpstreamPrimary
from model.standbys.choices import Newest
from model.standbys.messages import Output


def go_on(site: Site, state: UpstreamPrimary) -> tuple[UpstreamPrimary, tuple[Effect, ...]]:
    """Process the tuples whose turn it is."""
    effects: list[Effect] = []
    while True:
        assert state.journal is not None
        journal, arrived = turn(state.journal)
        if arrived is None:
            return state, tuple(effects)
        state, more = process(site, state._replace(journal=journal), arrived)
        effects += more


def process(
    site: Site, state: UpstreamPrimary, arrived: Arrived
) -> tuple[UpstreamPrimary, tuple[Effect, ...]]:
    """Process a tuple.  Of several allowed answers the box gives the first."""
    (edge, label, output), edges = arrived, len(state.inlets)
    of = output.of | {Of(-1 - (label.connection * edges + edge), label.place)}
    fed, *_ = site.spec.feed(state.inner, Item(edge, output.body, of))
    name = output.marks or (output.place,)
    after = state._replace(
        last=(*state.last[:edge], label, *state.last[edge + 1 :]),
        newest=(*state.newest[:edge], name, *state.newest[edge + 1 :]),
    )
    held = [*inputs_in(state.inner), *of]
    news: list[Output] = []
    for number, out in enumerate(fed.outs, start=1):
        after, new = _make(site, after, out, of, held, len(fed.outs) - number, len(news))
        news.append(new)
    after = after._replace(inner=fed.state)
    if after.journal is None:
        return leave(after, news)
    cut = places(needed_by_restart(site, after)[1])
    return log(site, after, edge, label.place, tuple(news), cut)


def _make(
    site: Site,
    state: UpstreamPrimary,
    out: Out,
    by: Lineage,
    held: Iterable[Of],
    follow: int,
    before: int,
) -> tuple[UpstreamPrimary, Output]:
    """An output, numbered, with its indicators.

    by: of the input that made it come out.  held: in the state then.  follow, before: the number
    of outputs still to come, and that have come.
    """
    design = site.config.design
    made_of = design.oldest is Oldest.MADE_OF
    known = state.causes[-1].oldest if state.causes else state.last
    absent = state.last if design.absent is AbsentInput.PRECEDING else nexts(state)
    oldest = oldest_of(site, out.of, known) if made_of else oldest_of(site, held, absent)
    waiting = len(state.journal.waiting) if state.journal else 0
    cause = Cause(state.queue.place + waiting + before + 1, oldest)
    ghost = frozenset(one for one in out.of if one.edge >= 0)
    processed = design.newest is Newest.PROCESSED
    marks = marks_of(site, state, out.of | by if processed else out.of, cause, follow)
    new = Output(cause.output, out.body, ghost, marks)
    return state._replace(causes=(*state.causes, cause)), new
