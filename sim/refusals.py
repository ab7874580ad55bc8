"""The words of the core that runs over whole streams do not know, each refused in one line.

Rule of this file: no change of a run; only errors.  The explorer and the attack know all words.
"""

from __future__ import annotations

from collections.abc import Iterable

from model.core import CancelTimer, Effect, Fail, NodeName, Rewind, Sync
from model.errors import Invalid
from model.system import System

UNKNOWN = (CancelTimer, Fail, Rewind, Sync)


def check_deployment(system: System) -> None:
    """Raise Invalid for a deployment with words that a run over a whole stream does not know."""
    deployment = system.deployment
    words = {
        "patient timers": deployment.patient,
        "links that are not perfect": deployment.links,
        "sites with files": [site.name for site in deployment.sites if site.files],
        "groups that only fall together": system.bound,
        "prompt sites that send to each other": [
            ends for ends in deployment.channels if deployment.prompt.issuperset(ends)
        ],
    }
    for word, found in words.items():
        if found:
            raise Invalid(
                f"{system.protocol.name} deploys {word}, which a run over a whole stream does "
                "not know; `asif check` does"
            )


def check_effects(system: System, node: NodeName, effects: Iterable[Effect]) -> None:
    """Raise Invalid for an effect that a run over a whole stream does not know."""
    for effect in effects:
        if isinstance(effect, UNKNOWN):
            raise Invalid(
                f"{system.protocol.name}: {node} has a {type(effect).__name__} among its effects, "
                "which a run over a whole stream does not know; `asif check` does"
            )
