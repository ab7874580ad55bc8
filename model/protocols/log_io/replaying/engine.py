"""The pipeline engine: it asks replay operators for outputs.

Rule of this file: the engine never crashes, and remembers nothing.
LOG.io, Section 5.2.
"""

from __future__ import annotations

from typing import Any

from model.core import Answer, Lost, NodeName, Send, Site
from model.protocols.log_io.replaying.messages import Ask, Regenerate


def ask(site: Site, _state: None, _sender: NodeName, message: Any) -> Answer:
    """The step of the engine on the failure of an operator, or when an operator lacks inputs."""
    match message:
        case Lost():  # who restarts marks the inputs that it lacks, and asks then
            return None, ()
        case Ask(operators):
            return None, tuple(Send(name, Regenerate()) for name in operators)
    raise TypeError(f"{site.name}: nothing to do with {message}")
