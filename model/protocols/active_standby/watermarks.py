"""Watermarks of outputs, by which a secondary discards what downstream has.

Rule of this file: no message, and no step of a node.
Hwang et al., Section 5.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from model.boxes.box import Lineage, inputs_in
from model.core import Effect, Note, Send, Site
from model.log import Log
from model.protocols.active_standby.design import Overdue, Serves, Trims
from model.protocols.active_standby.messages import Replica, Trim
from model.queues import TRIMMED
from model.standbys import producers
from model.standbys.messages import Marks, Output
from model.standbys.producers import OutputQueue


def marks_of(site: Site, state: Replica, of: Lineage, processed: Lineage) -> Marks:
    """The watermarks of an output: the high ones, and those that are served.

    of: what the output was made of.  processed: the tuple that the box processed; `state` is that
    before it.  For an input that the output was not made of, the high one is that of the output
    before it.
    """
    edges = range(len(site.preds))
    before = state.queue.kept.last().marks if state.queue.kept else (0,) * len(edges)
    high = tuple(max(_places(of, edge), default=before[edge]) for edge in edges)
    if site.config.design.serves is Serves.HIGH:
        return (*high, *high)
    held: dict[int, int] = {}
    for one in chain(processed, inputs_in(state.inner)):
        held[one.edge] = min(one.place, held.get(one.edge, one.place))
    return (*high, *(held.get(-1 - edge, 0) for edge in edges))


def _places(of: Lineage, edge: int) -> list[int]:
    """The places of the tuples of an input in a lineage."""
    return [one.place for one in of if one.edge == -1 - edge]


def is_duplicate(rule: Trims, marks: Marks, served: Marks) -> bool:
    pairs = [*zip(marks, served, strict=False)]
    if rule is Trims.ANY_LOWER:
        return any(mark < bound for mark, bound in pairs)
    if rule is Trims.NONE_GREATER:
        return all(mark <= bound for mark, bound in pairs)
    return all(mark < bound for mark, bound in pairs)


def discard(rule: Trims, queue: OutputQueue, served: Marks) -> tuple[OutputQueue, tuple[Note, ...]]:
    """The queue of a secondary without the outputs that downstream has."""
    kept = [one for one in queue.kept if not is_duplicate(rule, one.marks, served)]
    gone = len(queue.kept) - len(kept)
    empty: Log[Output] = Log()
    return queue._replace(kept=empty.extend(kept)), ((Note(TRIMMED, gone),) if gone else ())


def report_served(site: Site, state: Replica, served: Iterable[Output]) -> tuple[Send, ...]:
    """The report to the secondary that all readers have these outputs."""
    newest = (*served,)[-1:]
    if not state.spare:
        return ()
    return tuple(Send(site.config.other, Trim(one.marks[len(site.preds) :])) for one in newest)


def drop_overdue(site: Site, state: Replica) -> tuple[Replica, tuple[Effect, ...]]:
    """The replica without outputs that were overdue when it made them; a primary reports them."""
    design = site.config.design
    if design.overdue is Overdue.LOGGED:
        return state, ()
    queue, notes = producers.trim(state.queue)
    overdue = [*state.queue.kept][: len(state.queue.kept) - len(queue.kept)]
    if state.served:
        queue, more = discard(design.trims, queue, state.served)
        notes += more
    return state._replace(queue=queue), (*notes, *report_served(site, state, overdue))
