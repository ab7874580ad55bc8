"""The steps that nodes took in a search: of each focus that some world had, those that it allowed.

Rule of this file: no shape and no size; it reads the tables of a search.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from model.actions import Action, Crash, Disturb
from proofs.explore.collapse import Collapsed
from proofs.explore.views import PATIENT, CachedEffect, NodeView


class FocusAction(NamedTuple):
    """An action at a node, in a focus of its view, and its effect."""

    view: NodeView
    focus: tuple[int, ...]
    action: Action
    effect: CachedEffect


def steps_of(collapsed: Collapsed, view: NodeView) -> Iterator[FocusAction]:
    """The steps of a node without a crash: its own, inputs from outside, timers."""
    for focus, known in view.focuses.items():
        disturbed = known.ends[2]
        for action, effect in zip(known.actions[:disturbed], known.cached, strict=False):
            if not isinstance(action, Disturb):
                yield FocusAction(view, focus, action, effect)
    for whose, focus, kind in collapsed.granted:
        if whose == view.whose and kind == PATIENT:
            yield from _of_kind(view, focus, kind)


def crashes_of(collapsed: Collapsed) -> Iterator[FocusAction]:
    """The crashes between two steps that some world granted."""
    views = {view.whose: view for view in collapsed.views}
    for whose, focus, kind in collapsed.granted:
        some = _of_kind(views[whose], focus, kind)
        yield from (one for one in some if isinstance(one.action, Crash))


def _of_kind(view: NodeView, focus: tuple[int, ...], kind: int) -> Iterator[FocusAction]:
    known = view.focuses[focus]
    places = range(known.ends[kind - 1], known.ends[kind])
    return (FocusAction(view, focus, known.actions[at], known.cached[at]) for at in places)
