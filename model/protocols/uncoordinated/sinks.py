"""The sinks of uncoordinated checkpoints, which hold outputs that a restart may undo.

Rule of this file: no step of another node.  A sink takes messages at once and does not crash: an
external system, which cannot be rolled back (the survey's outside world).
"""

from __future__ import annotations

from typing import Any

from model.core import Emit, Received, Site, Step
from model.log import Log
from model.protocols.uncoordinated.design import PassesOn
from model.protocols.uncoordinated.messages import HeldOutputs, Settled, WrittenRecord
from model.queues import STALE_NOTE


def hold(site: Site, state: HeldOutputs, input_: Received) -> Step:
    edge = site.preds.index(input_.sender)
    message = input_.message
    if isinstance(message, WrittenRecord) and site.config.design.outputs is PassesOn.AT_ONCE:
        if message.number <= state.passed[edge]:
            return Step(state, (STALE_NOTE,))
        return Step(_pass_on(state, edge, message.number), (_emit(edge, message),))
    waiting = state.waiting[edge]
    match message:
        case WrittenRecord():
            return Step(_wait(state, edge, waiting.append(message)))
        case Settled(made, back):
            passed = [one for one in waiting if one.number <= made]
            kept = Log() if back else waiting.trim(lambda one: one.number <= made)
            after = _wait(_pass_on(state, edge, made), edge, kept)
            return Step(after, tuple(_emit(edge, one) for one in passed))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {message}")


def _emit(edge: int, record: WrittenRecord) -> Emit:
    return Emit((edge, record.out.body), record.out.of)


def _pass_on(state: HeldOutputs, edge: int, number: int) -> HeldOutputs:
    passed = (*state.passed[:edge], number, *state.passed[edge + 1 :])
    return state._replace(passed=passed)


def _wait(state: HeldOutputs, edge: int, records: Log[Any]) -> HeldOutputs:
    return state._replace(waiting=(*state.waiting[:edge], records, *state.waiting[edge + 1 :]))
