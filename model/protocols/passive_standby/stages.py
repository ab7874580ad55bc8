"""The operators inside a node: items pass them one after the other, and outputs leave the queue.

Rule of this file: no message of another node; nodes.py and checkpoints.py have these.
Hwang et al., Sections 5.1 and 6.
"""

from __future__ import annotations

from typing import Any

from model.boxes.box import Box, Item
from model.boxes.network import INPUT, OUTPUT, Network
from model.core import Effect, Note, Site
from model.protocols.passive_standby.design import Forwards, Line
from model.protocols.passive_standby.messages import CROSSED, Copy, Primary, Spare, Stage
from model.standbys import consumers, producers
from model.standbys.choices import Alone
from model.standbys.messages import WITHHELD, Output


def boxes(spec: Any) -> tuple[Box, ...]:
    """The operators inside a node, which stand one after the other."""
    if isinstance(spec, Network):
        names = [name for name, _ in spec.boxes]
        ends = [(arc.source, arc.target) for arc in spec.arcs]
        if ends == [*zip([INPUT, *names], [*names, OUTPUT], strict=True)]:
            return tuple(box for _, box in spec.boxes)
    return (spec,)


def empty(site: Site) -> Copy:
    """The state before the first tuple."""
    edges = len(site.preds)
    stages = tuple(Stage(box.begin(1 if at else edges)) for at, box in enumerate(boxes(site.spec)))
    return Copy(consumers.open_ends(site), stages, producers.open_queue(site))


def run(site: Site, state: Primary, at: int, item: Item) -> tuple[Primary, tuple[Effect, ...]]:
    """Let the operator in place `at` process an item, and those after it what it makes.

    Of several allowed answers the box gives the first.
    """
    operators = boxes(site.spec)
    if at == len(operators):
        queue = state.queue
        output = Output(queue.place + 1, item.body, item.of)
        return state._replace(queue=producers.put(queue, output)), ()
    stage = state.stages[at]
    behind = len(state.behind.stages) if state.behind else 0
    if at and at == behind and site.config.design.line is Line.BARRED:
        stage = stage._replace(waiting=(*stage.waiting, item))
        return state._replace(stages=_with(state.stages, at, stage)), ()
    fed, *_ = operators[at].feed(stage.inner, item)
    state = state._replace(stages=_with(state.stages, at, stage._replace(inner=fed.state)))
    effects: tuple[Effect, ...] = (Note(CROSSED),) if at < behind else ()
    for out in fed.outs:
        state, more = run(site, state, at + 1, Item(0, *out))
        effects += more
    return state, effects


def release(site: Site, state: Primary) -> tuple[Primary, tuple[Effect, ...]]:
    """Send downstream what may leave and has not left."""
    if producers.waits(state.queue):
        return state, (Note(WITHHELD),)
    design, queue = site.config.design, state.queue
    free = design.alone is Alone.ALL or not site.config.other
    alone = state.spare is Spare.NONE and free
    number = queue.place if alone or design.forwards is Forwards.ALL else state.safe
    leaving = tuple(o for o in queue.kept if state.forwarded < o.place <= number)
    held = (Note(WITHHELD),) if number < queue.place else ()
    forwarded = max(state.forwarded, number)
    return state._replace(forwarded=forwarded), (*held, *producers.send(queue, leaving))


def _with(stages: tuple[Stage, ...], at: int, stage: Stage) -> tuple[Stage, ...]:
    return (*stages[:at], stage, *stages[at + 1 :])
