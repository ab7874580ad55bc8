"""Watermarks of outputs, by which a secondary discards what downstream has.

Rule of this file: no message, and no step of a node.
Hwang et al., Section 5.3.
"""

from __future__ import annotations

from model.boxes.box import Lineage, inputs_in
from model.core import Site
from model.protocols.active_standby.design import Serves, Trims
from model.protocols.active_standby.messages import Replica
from model.standbys.messages import Marks


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
    held = processed.union(inputs_in(state.inner))
    return (*high, *(min(_places(held, edge), default=0) for edge in edges))


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
