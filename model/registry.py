"""The protocols that come with the project: every file in model/protocols is one.

Rule of this file: dropping a file in registers it; it must hold PROTOCOL.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

import model.protocols
from model.core import Protocol


def protocols() -> Mapping[str, Protocol]:
    """By name, in the order of the file names."""
    found = {}
    for info in pkgutil.iter_modules(model.protocols.__path__):
        protocol = importlib.import_module(f"model.protocols.{info.name}").PROTOCOL
        found[protocol.name] = protocol
    return found
