"""The crashes of an untimed run: those to come, as people write them, and those that happened.

Rule of this file: no step of a run (sim.untimed.driver).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from model.core import NodeName, Scope
from model.errors import Invalid, nearest
from model.protocol import Protocol
from model.system import System
from sim.inputs.streams import Workload


class UntimedCrash(NamedTuple):
    """A crash to come: `node` crashes after `effects` of its effects, counted from the moment when
    event `event` (from 1) is handed out; if `effects` is 0, before any message of this event
    arrives.

    others: the other members of a failure group, which goes down as a whole.
    """

    node: NodeName
    event: int
    effects: int = 0
    others: tuple[NodeName, ...] = ()

    def __str__(self) -> str:
        effects = f"+{self.effects}" if self.effects else ""
        return f"{','.join((self.node, *self.others))}@{self.event}{effects}"


class UntimedOutage(NamedTuple):
    """A crash that happened: the node, and the event that was handed out before the crash."""

    node: NodeName
    event: int


def crash_plans(
    texts: Sequence[str], names: Sequence[NodeName], events: int
) -> tuple[UntimedCrash, ...]:
    """The crashes that people write as NODE@EVENT or NODE@EVENT+EFFECTS, in order of their events.

    NODE,NODE,... is a failure group; the effects are those of the first one.  names: the nodes that
    may crash.  Raises Invalid for a text that names no crash of them.
    """
    if texts and not names:
        raise Invalid(f"crash {texts[0]!r}: no node of this deployment may crash")
    found = []
    for text in texts:
        parts = re.fullmatch(r"(.+)@(\d+)(?:\+(\d+))?", text.strip(), flags=re.ASCII)
        if parts is None:
            raise Invalid(
                f"crash {text!r}: write NODE@EVENT or NODE@EVENT+EFFECTS, as in {names[0]}@100"
            )
        nodes, event = parts[1].split(","), int(parts[2])
        for node in nodes:
            if node not in names:
                raise Invalid(f"crash {text!r}: no node {node!r} may crash{nearest(node, names)}")
        if not 1 <= event <= events:
            raise Invalid(f"crash {text!r}: there is no event {event}; there are 1 to {events}")
        found.append(UntimedCrash(nodes[0], event, int(parts[3] or 0), tuple(nodes[1:])))
    return tuple(sorted(found, key=lambda plan: plan.event))


def crashable(protocol: Protocol, workload: Workload) -> list[NodeName]:
    """The nodes that may crash when the protocol runs the workload, in the order of the sites."""
    deployment = protocol.deploy(Scope(workload.graph, (), 0))
    return [site.name for site in deployment.sites if site.name in deployment.crashable]


def group_of(system: System, plan: UntimedCrash) -> tuple[NodeName, ...]:
    """The failure group of a plan, as the system names it; () for a node alone.

    Raises Invalid if there is no such group, or if the node never crashes alone.
    """
    if not plan.others:
        if plan.node not in system.bound:
            return ()
        together = ",".join(system.bound[plan.node])
        raise Invalid(
            f"crash {plan}: {plan.node} never crashes alone; crash its group, as in "
            f"{together}@{plan.event}"
        )
    members = {plan.node, *plan.others}
    group = next((group for group in system.groups if {*group} == members), None)
    if group is None:
        raise Invalid(
            f"crash {plan}: {system.protocol.name} deploys no failure group of "
            f"{', '.join((plan.node, *plan.others))}"
        )
    return group
