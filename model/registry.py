"""The protocols that come with the project: every folder in model/protocols is a family.

Rule of this file: no list of families; every folder is registered, and its `protocol.py` holds
PROTOCOL.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

import model.protocols
from model.core import Protocol


def modules() -> Mapping[str, Protocol]:
    """Every registered protocol by the name of its module, in the order of the folders' names."""
    names = (
        f"model.protocols.{family.name}.protocol"
        for family in pkgutil.iter_modules(model.protocols.__path__)
    )
    return {name: importlib.import_module(name).PROTOCOL for name in names}


def protocols() -> Mapping[str, Protocol]:
    """Every protocol and variant by its own name."""
    return {
        variant.name: variant
        for protocol in modules().values()
        for variant in (protocol, *protocol.variants)
    }
