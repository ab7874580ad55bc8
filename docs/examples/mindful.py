"""The forgetful relay, corrected: the sink passes on no number twice.

`asif check docs/examples/mindful.py` holds.
"""

from __future__ import annotations

from typing import Any

from asif.protocol import DISCARDED, Answer, Event, Input, Note, Received, Role, Site
from docs.examples import forgetful


def step(site: Site, state: Any, input_: Input) -> Answer:
    match site.role, input_:
        case Role.SINK, Received(_, Event((number,), _)) if number <= state:
            return state, (Note(DISCARDED),)
        case _:
            return forgetful.step(site, state, input_)


PROTOCOL = forgetful.PROTOCOL.vary(
    family="mindful",
    title="A relay with a mindful sink",
    step=step,
    scopes=(forgetful.TWO_CRASHES.holds(660),),
    must_occur=(*forgetful.PROTOCOL.evidence.must_occur, DISCARDED),
    finding="Numbers that a replay gives again make duplicates visible.",
)
