"""The forgetful relay, corrected: the sink passes on no number twice.

`asif check docs/examples/mindful.py` holds.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from docs.examples import forgetful
from model.core import DISCARDED, Answer, Input, Note, Received, Role, Site
from model.events import Event
from model.evidence import PinnedScope


def step(site: Site, state: Any, input_: Input) -> Answer:
    match site.role, input_:
        case Role.SINK, Received(_, Event((number,), _)) if number <= state:
            return state, (Note(DISCARDED),)
        case _:
            return forgetful.step(site, state, input_)


PROTOCOL = replace(
    forgetful.PROTOCOL,
    name="mindful",
    title="A relay with a mindful sink",
    step=step,
    scopes=(PinnedScope("two crashes", forgetful.SMALL, forgetful.CLASS, states=660),),
    must_occur=(*forgetful.PROTOCOL.must_occur, DISCARDED),
    finding="Numbers that a replay gives again make duplicates visible.",
)
