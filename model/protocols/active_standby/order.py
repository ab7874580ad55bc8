"""The order in which a replica processes its tuples, and the outputs that leave.

Rule of this file: no message is received; nodes.py hands over the tuples and the determinants.
Hwang et al., Sections 5.3 and 6.
"""

from __future__ import annotations

from collections.abc import Iterable

from model.boxes.box import Item, Of
from model.core import Effect, Note, Send, Site
from model.protocols.active_standby.messages import Replica
from model.protocols.active_standby.watermarks import drop_overdue, marks_of
from model.standbys import producers
from model.standbys.choices import Alone, Determinants
from model.standbys.messages import WITHHELD, Determinant, Output


def advance(site: Site, state: Replica, edge: int | None) -> tuple[Replica, tuple[Effect, ...]]:
    """Process the tuples that wait: in the order of the determinants, then, if `edge` is an input,
    all the others, those of this input first."""
    effects: list[Effect] = []
    while state.order and state.pending[state.order[0]]:
        state, more = _run(site, state._replace(order=state.order[1:]), state.order[0])
        effects += more
    while edge is not None and not state.order and any(state.pending):
        at = edge if state.pending[edge] else next(i for i, p in enumerate(state.pending) if p)
        state, more = _run(site, state, at)
        effects += more
    return state, tuple(effects)


def _run(site: Site, state: Replica, edge: int) -> tuple[Replica, tuple[Effect, ...]]:
    """Process the next tuple of an input; a primary sends what it makes, or keeps it back.

    Of several allowed answers the box gives the first.
    """
    design = site.config.design
    first, *rest = state.pending[edge]
    pending = (*state.pending[:edge], (*rest,), *state.pending[edge + 1 :])
    of = first.of | {Of(-1 - edge, first.place)}
    fed, *_ = site.spec.feed(state.inner, Item(edge, first.body, of))
    queue = state.queue
    for out in fed.outs:
        ghost = frozenset(one for one in out.of if one.edge >= 0)
        marks = marks_of(site, state, out.of, of)
        queue = producers.put(queue, Output(queue.place + 1, out.body, ghost, marks))
        state = state._replace(queue=queue)
    state, notes = drop_overdue(site, state._replace(pending=pending, inner=fed.state))
    if not state.leads:
        return state, notes
    effects: tuple[Effect, ...] = notes
    if state.spare and design.determinants is not Determinants.NONE:
        effects = (*notes, Send(site.config.other, Determinant(edge, queue.place)))
        if design.determinants is Determinants.SENT:
            state = state._replace(safe=queue.place)
    state, sends = release(site, state)
    return state, (*effects, *sends)


def release(site: Site, state: Replica) -> tuple[Replica, tuple[Effect, ...]]:
    """Send downstream what may leave and has not left."""
    if producers.waits(state.queue):
        return state, (Note(WITHHELD),)
    queue = state.queue
    design = site.config.design
    alone = not state.spare and (design.alone is Alone.ALL or not site.config.other)
    free = design.determinants is Determinants.NONE or alone
    number = queue.place if free else state.safe
    leaving = [o for o in queue.kept if state.forwarded < o.place <= number]
    held = (Note(WITHHELD),) if number < queue.place else ()
    state = state._replace(forwarded=max(number, state.forwarded))
    return state, (*held, *producers.send(queue, bare(leaving)))


def bare(outputs: Iterable[Output]) -> list[Output]:
    """The outputs as they leave: watermarks stay between the replicas."""
    return [output._replace(marks=()) for output in outputs]
