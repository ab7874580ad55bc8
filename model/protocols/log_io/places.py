"""The names of LOG.io's own sites.

Rule of this file: names, which nobody takes apart; no node of a graph has one here.
"""

from __future__ import annotations

from model.core import NodeName

LOG, SERVICE = "log", "service"
CONTROLLER, ENGINE, DEPLOYER = "controller", "engine", "deployer"


def second_process(operator: NodeName) -> NodeName:
    """The name of the second process of an operator."""
    return f"{operator}-2"


def connection(sender: NodeName, receiver: NodeName) -> NodeName:
    """The name of the lasting connection from one operator to another."""
    return f"{sender}>{receiver}"
