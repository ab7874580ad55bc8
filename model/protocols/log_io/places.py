"""The names of LOG.io's own sites.

Rule of this file: names, which nobody takes apart; no node of a graph has one here.
"""

from __future__ import annotations

from model.core import NodeName
from model.protocols.log_io.design import SlowSystem

LOG, SERVICE = "log", "service"
CONTROLLER, ENGINE = "controller", "engine"
DEPLOYER = "deployer"


def second_process(operator: NodeName) -> NodeName:
    """The name of the second process of an operator."""
    return f"{operator}-2"


def connection(sender: NodeName, receiver: NodeName) -> NodeName:
    """The name of the lasting connection from one operator to another."""
    return f"{sender}>{receiver}"


def hands(slow: SlowSystem, sink: NodeName) -> tuple[NodeName, ...]:
    """The sites that do the work of an external system, each in the order of the requests.

    With two, the requests of before a restart and of after it have no order.
    """
    return tuple(f"{sink}-hand-{at}" for at in range(1 if slow.in_order else 2))
