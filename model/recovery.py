"""Recovery types: what an observed output is beside the outputs that a run without failures allows.

Rule of this file: no protocol and no operator; it compares finished outputs.
Hwang et al., Section 3.1, Fig. 2.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

from model.boxes.box import Lineage, Of, Out
from model.comparison import SEQUENCE, Compare, Shape
from model.core import Guarantee
from model.events import Body

WORDS = {
    Guarantee.PRECISE: "exactly once",
    Guarantee.REPEATING: "at least once: results come again as they were",
    Guarantee.CONVERGENT: "at least once: results come again, some with other content",
    Guarantee.DIVERGENT: "at least once, and results may stay others",
    Guarantee.GAP: "at most once at best: results are missing or have other content",
}
"""The recovery types in everyday words."""


def recovery_type(allowed: Iterable[Sequence[Out]], observed: Sequence[Out]) -> Guarantee:
    """The strongest recovery type that the observed output allows beside an allowed one."""
    return min(beside(expected, observed) for expected in allowed)


def beside(expected: Sequence[Out], observed: Sequence[Out], how: Compare = SEQUENCE) -> Guarantee:
    """The strongest recovery type that this pair of finished outputs allows.

    Precise: the outputs are identical.  Gap: an input that went into the expected output went into
    no observed one.  Otherwise the outputs are compared without duplicates; a duplicate is made of
    inputs whose outputs have already been forwarded.  Repeating: what is left is the expected
    output, and each duplicate is identical to an earlier output; convergent: it is the expected
    output; divergent: it is not.

    If an output does not say what it was made of, the values alone decide: see `classify`.  So they
    do where the sink is no sequence: see `classify_content`.
    """
    if how is not SEQUENCE:
        return classify_content(_bodies(expected), _bodies(observed), how)
    if not all(out.of for out in (*expected, *observed)):
        return classify(_bodies(expected), _bodies(observed))
    if _bodies(expected) == _bodies(observed):
        return Guarantee.PRECISE
    if not inputs_of(expected) <= inputs_of(observed):
        return Guarantee.GAP
    if _is_completed(expected, observed, identical=True):
        return Guarantee.REPEATING
    if _is_completed(expected, observed, identical=False):
        return Guarantee.CONVERGENT
    return Guarantee.DIVERGENT


def _is_completed(expected: Sequence[Out], observed: Sequence[Out], identical: bool) -> bool:
    """Is `observed` the expected output and duplicates?

    Of two equal outputs, which may differ in lineage, either may be the duplicate: all numbers of
    outputs that may have been forwarded so far are kept.  identical: do duplicates have to be?
    """
    firsts: dict[Of | Body, int] = {}  # after how many outputs an input or a body has come
    for number, out in enumerate(expected, start=1):
        firsts.setdefault(out.body, number)
        for of in out.of:
            firsts.setdefault(of, number)
    never = len(expected) + 1
    forwarded = {0}
    for out in observed:
        known: Iterable[Of | Body] = (out.body, *out.of) if identical else out.of
        earliest = max((firsts.get(one, never) for one in known), default=0)
        forwarded = {n for n in forwarded if n >= earliest} | {
            n + 1 for n in forwarded if n < len(expected) and expected[n].body == out.body
        }
    return len(expected) in forwarded


def inputs_of(outs: Iterable[Out]) -> Lineage:
    """All inputs that went into these outputs."""
    return frozenset().union(*(out.of for out in outs))


def classify(expected: Sequence[Body], observed: Sequence[Body]) -> Guarantee:
    """As `beside`, of values alone.

    Precise: the outputs are identical.  Gap: an expected output never came.  Otherwise all outputs
    came, and some came twice: repeating if all surplus outputs are identical copies and the first
    copies are in order; convergent if the output is the expected one from some point on; divergent
    if there is no such point.
    """
    if list(expected) == list(observed):
        return Guarantee.PRECISE
    if Counter(expected) - Counter(observed):
        return Guarantee.GAP
    surplus = Counter(observed) - Counter(expected)
    if surplus.keys() <= set(expected) and _rewinds(expected, observed):
        return Guarantee.REPEATING
    if observed and expected and observed[-1] == expected[-1]:
        return Guarantee.CONVERGENT
    return Guarantee.DIVERGENT


def classify_content(expected: Sequence[Body], observed: Sequence[Body], how: Compare) -> Guarantee:
    """The recovery type of a sink that is no sequence: the model's reading, no paper's.

    Precise: its content is the expected one.  Gap: an expected item of a bag or a set, or the key
    of an expected row, is not there.  Repeating: all is there, and the rest are copies of
    expected items.  Divergent: there is an unexpected item, or a row has another value.
    """
    if how.content(expected) == how.content(observed):
        return Guarantee.PRECISE
    if how.shape is Shape.TABLE:
        lost = {*map(how.key_of, expected)} - {*map(how.key_of, observed)}
        return Guarantee.GAP if lost else Guarantee.DIVERGENT
    if Counter(expected) - Counter(observed) and how.shape is Shape.BAG:
        return Guarantee.GAP
    if {*expected} - {*observed}:
        return Guarantee.GAP
    return Guarantee.DIVERGENT if {*observed} - {*expected} else Guarantee.REPEATING


def _bodies(outs: Iterable[Out]) -> list[Body]:
    return [out.body for out in outs]


def _rewinds(expected: Sequence[Body], observed: Sequence[Body]) -> bool:
    """Is `observed` the expected output with rewinds to earlier points, up to the end?

    From the furthest point reached, a rewind can reach every other point: only the furthest point
    counts.
    """
    places: dict[Body, list[int]] = {}
    for at, body in enumerate(expected):
        places.setdefault(body, []).append(at)
    furthest = 0
    for body in observed:
        reached = bisect_right(places.get(body, []), furthest)
        if not reached:
            return False
        furthest = places[body][reached - 1] + 1
    return furthest == len(expected)
