"""Random walks: many runs a second through worlds too large to explore.

Rule of this file: no randomness but one random.Random(seed), on packed worlds
(proofs.explore.collapse); the same seed takes the same walks in every process.
"""

from __future__ import annotations

import random
from collections.abc import Hashable
from dataclasses import dataclass
from operator import itemgetter

from model.core import Property, Scope
from model.errors import StepFailed
from model.observations import first_violation, looks_of
from model.protocol import Protocol
from model.system import System
from proofs.explore.collapse import Collapsed
from proofs.explore.explorer import Trace, answer_property, append_failing_action, trace_through
from proofs.explore.views import Move

STEPS = 200
"""The largest number of actions in a walk: a walk that has not come to rest ends there."""
FAULTS = 1 / 16
"""The probability that a step is a fault where a fault may strike.  A node has more faults than
other actions: if all were as likely, nearly every walk would crash before anything is worth losing.
"""


@dataclass(frozen=True, slots=True)
class Walks:
    """The result of walks.  count: walks made.  steps: actions in all walks together.  rested:
    walks that came to rest.

    property, trace: those of the first walk that violates a property.
    """

    count: int
    steps: int
    rested: int
    property: Property | None = None
    trace: Trace | None = None


def walks(protocol: Protocol, scope: Scope, count: int, seed: int) -> Walks:
    """Walk `count` times from the initial world; of the actions that are no faults, each is as
    likely as any other."""
    system = System(protocol, scope)
    try:
        collapsed = Collapsed(system, bits=32)
    except StepFailed as error:  # at boot: there is no world yet
        return Walks(0, 0, 0, answer_property(error), Trace(system, (), ()))
    choose = random.Random(seed).random
    pick = {
        rest: itemgetter(*collapsed.looked_at(looks_of(collapsed.system, rest=rest)))
        for rest in (False, True)
    }
    judged: dict[Hashable, Property | None] = {}
    steps = rested = 0
    for walk in range(count):
        world = collapsed.initial
        path = [world]
        for _ in range(STEPS):
            numbers = collapsed.numbers(world)
            try:
                own, inputs, faults = _moves(collapsed, numbers)
                key = pick[not own](numbers), not own
                if key not in judged:
                    judged[key] = first_violation(collapsed.system, collapsed.world_of(numbers))
                if judged[key] is not None:
                    return Walks(walk + 1, steps, rested, judged[key], _trace(collapsed, path))
                choices = own + inputs
                if faults and (not choices or choose() < FAULTS):
                    choices = faults
                if not choices:
                    rested += 1
                    break
                move = choices[int(choose() * len(choices))]
                world = collapsed.successor(world, numbers, move)  # a prompt site may fail in it
            except StepFailed as error:
                trace = append_failing_action(_trace(collapsed, path), error)
                return Walks(walk + 1, steps, rested, answer_property(error), trace)
            path.append(world)
            steps += 1
    return Walks(count, steps, rested)


def _moves(
    collapsed: Collapsed, numbers: tuple[int, ...]
) -> tuple[list[Move], list[Move], list[Move]]:
    """The moves of nodes by themselves, those of the outside world, and the faults.

    Raises StepFailed for a step that breaks the contract.
    """
    own: list[Move] = []
    patient: list[Move] = []
    inputs: list[Move] = []
    faults: list[Move] = []
    late: list[Move] = []
    granted = collapsed.may_crash(numbers)
    for _, moves in collapsed.moves_in(numbers):
        own += moves.own
        patient += moves.patient
        inputs += moves.inputs
        faults += moves.disturbances
        if granted:
            faults += moves.faults
            late += moves.late
    return (own, inputs, faults) if own else (patient, inputs, faults + late)


def _trace(collapsed: Collapsed, path: list[int]) -> Trace:
    return trace_through(collapsed.system, [collapsed.world(packed) for packed in path])
