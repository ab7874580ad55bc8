"""What a primary does so that a secondary can follow it: log, keep back, let go.

Rule of this file: no tuple is processed; nodes.py does that, and asks here what leaves.
Hwang et al., Section 6.
"""

from __future__ import annotations

from collections.abc import Iterable

from model.core import STALE, Effect, NodeName, Note, Send, Site
from model.protocols.upstream_backup_acks.design import Renews
from model.protocols.upstream_backup_acks.journal import Cut, Label, Renewed, later, since
from model.protocols.upstream_backup_acks.messages import UpstreamPrimary
from model.standbys import producers
from model.standbys.choices import Determinants
from model.standbys.messages import WITHHELD, Determinant, Logged, Output


def places(labels: Iterable[Label]) -> Cut:
    return tuple(max(1, label.place) for label in labels)


def leave(
    state: UpstreamPrimary, outputs: Iterable[Output]
) -> tuple[UpstreamPrimary, tuple[Effect, ...]]:
    """Keep the outputs for the readers, and send them."""
    queue = state.queue
    sends: list[Effect] = []
    for output in outputs:
        queue = producers.put(queue, output)
        sends += producers.send(queue, (output,))
    return state._replace(queue=queue), tuple(sends)


def log(
    site: Site, state: UpstreamPrimary, edge: int, place: int, news: tuple[Output, ...], cut: Cut
) -> tuple[UpstreamPrimary, tuple[Effect, ...]]:
    """Log that the tuple was processed; its outputs leave, or wait.  cut: what a restart needs."""
    assert state.journal is not None
    journal = state.journal._replace(entries=(*state.journal.entries, (edge, place)))
    state = state._replace(journal=journal)
    if not journal.spare:
        return leave(state, news)
    made = state.queue.place + len(journal.waiting) + len(news)
    logs = Send(site.config.other, Determinant(edge, made, place, cut))
    if site.config.design.determinants is Determinants.SENT:
        state, sends = leave(state, news)
        return state, (logs, *sends)
    journal = journal._replace(waiting=(*journal.waiting, *news))
    return state._replace(journal=journal), (logs, *((Note(WITHHELD, len(news)),) if news else ()))


def release(state: UpstreamPrimary, logged: Logged) -> tuple[UpstreamPrimary, tuple[Effect, ...]]:
    """Send what waited for these determinants; the log begins where that of the secondary does."""
    if state.journal is None or not state.journal.spare:
        return state, (Note(STALE),)
    free = [one for one in state.journal.waiting if one.place <= logged.output]
    waiting = state.journal.waiting[len(free) :]
    cut = later(state.journal.cut, logged.cut)
    entries = since(state.journal.entries, cut)
    journal = state.journal._replace(waiting=waiting, cut=cut, entries=entries)
    return leave(state._replace(journal=journal), free)


def release_all(state: UpstreamPrimary) -> tuple[UpstreamPrimary, tuple[Effect, ...]]:
    """Send all that waits: there is no secondary any more."""
    if state.journal is None:
        return state, ()
    journal, waiting = state.journal, state.journal.waiting
    return leave(state._replace(journal=journal._replace(spare=False, waiting=())), waiting)


def renew(
    site: Site, state: UpstreamPrimary, sender: NodeName
) -> tuple[UpstreamPrimary, tuple[Effect, ...]]:
    """Log at the new secondary from now on; it gets what has been logged, too."""
    if state.journal is None:
        return state, (Note(STALE),)
    journal = state.journal._replace(spare=True)
    state = state._replace(journal=journal)
    if site.config.design.renews is Renews.NOTHING:
        return state, ()
    return state, (Send(sender, Renewed((*journal.entries, *journal.order), journal.cut)),)


def restrict(
    state: UpstreamPrimary, needed: tuple[Label, ...]
) -> tuple[UpstreamPrimary, tuple[Label, ...]]:
    """What a restart needs by the log: it begins with the log of the secondary, if there is one."""
    journal = state.journal
    assert journal is not None
    if not journal.spare:
        cut = later(journal.cut, places(needed))
        journal = journal._replace(cut=cut, entries=since(journal.entries, cut))
    labels = tuple(one._replace(place=at) for one, at in zip(needed, journal.cut, strict=True))
    return state._replace(journal=journal), labels
