"""The recovery line: for each operator the checkpoint from which a restart goes on.

Rule of this file: counts of messages alone; no step of a node.
Survey, 3.1 (rollback propagation) and 3.3 (the first checkpoints of an index).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from model.protocols.uncoordinated.deployment import Bond
from model.protocols.uncoordinated.design import LineRule
from model.protocols.uncoordinated.messages import TaskCheckpoint

Chains: TypeAlias = Sequence[Sequence[TaskCheckpoint]]
"""The checkpoints of each operator, the oldest first."""


def recovery_line(rule: LineRule, bonds: Sequence[Bond], chains: Chains) -> tuple[int, ...]:
    """The place of each operator's checkpoint among its own."""
    newest = tuple(len(own) - 1 for own in chains)
    match rule:
        case LineRule.NEWEST:
            return newest
        case LineRule.BY_INDEX:
            reached = min(own[-1].level for own in chains)
            return tuple(
                next(place for place, one in enumerate(own) if one.level >= reached)
                for own in chains
            )
        case _:
            return go_back(bonds, chains, newest, matched=rule is LineRule.MATCHED)


def go_back(
    bonds: Sequence[Bond], chains: Chains, places: Sequence[int], *, matched: bool = False
) -> tuple[int, ...]:
    """The newest line at or before these places without orphans.

    matched: nor with a lost message.  Who has an orphan goes back to its checkpoint before, until
    nobody has one; whoever has no checkpoint before stays.
    """
    line = [*places]
    moved = True
    while moved:
        moved = False
        for bond in bonds:
            for one in _too_new(bond, chains, line, matched=matched):
                if line[one]:
                    line[one] -= 1
                    moved = True
    return tuple(line)


def has_orphans(bonds: Sequence[Bond], checkpoints: Sequence[TaskCheckpoint]) -> bool:
    """Has a checkpoint received a message that the checkpoint of its sender has not sent?"""
    for bond in bonds:
        if bond.sender is not None:
            sender, receiver = checkpoints[bond.sender], checkpoints[bond.receiver]
            of_outputs = receiver.received[bond.edge] > sender.made
            of_credits = sender.credited[bond.branch] > receiver.granted[bond.edge]
            if of_outputs or of_credits:
                return True
    return False


def _too_new(bond: Bond, chains: Chains, line: Sequence[int], *, matched: bool) -> list[int]:
    """The operators, of the two that a bond joins, whose checkpoint is too new for the other."""
    if bond.sender is None:  # a source sends again whatever is asked for
        return []
    sender = chains[bond.sender][line[bond.sender]]
    receiver = chains[bond.receiver][line[bond.receiver]]
    received = receiver.received[bond.edge]
    found = []
    if received > sender.made:
        found.append(bond.receiver)
    if sender.credited[bond.branch] > receiver.granted[bond.edge]:
        found.append(bond.sender)
    if matched and received < sender.made:
        found.append(bond.sender)
    return found
