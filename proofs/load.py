"""What to check: a registered protocol by name, or the PROTOCOL of a user's own file.

Rule of this file: whatever the user got wrong is one line that says what, where and what would do.
"""

from __future__ import annotations

import difflib
import importlib.util
import sys
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from model.core import Protocol
from model.errors import Invalid
from model.registry import modules


class Subject(NamedTuple):
    """home: the name of the imported module whose PROTOCOL it is, or is a variant of."""

    protocol: Protocol
    home: str


def subject(name: str) -> Subject:
    """The protocol called `name`, or the one in the file `name` if that ends in .py."""
    if name.endswith(".py"):
        return _from_file(Path(name))
    known = {
        variant.name: Subject(variant, home)
        for home, protocol in modules().items()
        for variant in (protocol, *protocol.variants)
    }
    if name in known:
        return known[name]
    raise unknown("protocol", name, known)


def unknown(kind: str, name: str, known: Collection[str]) -> Invalid:
    """The error for a name that is not known, with the nearest one that is."""
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
    return Invalid(f"unknown {kind} {name!r}; {hint}")


def _from_file(path: Path) -> Subject:
    if not path.is_file():
        raise Invalid(f"{path}: no such file")
    home = path.stem
    if home in sys.modules:
        raise Invalid(f"{path}: the module name {home!r} is taken; rename the file")
    spec = importlib.util.spec_from_file_location(home, path)
    assert spec is not None  # the name ends in .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[home] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[home]
        reason = str(error).splitlines()[0] if str(error) else "no reason given"
        raise Invalid(f"{path}: importing it raises {type(error).__name__}: {reason}") from error
    protocol = getattr(module, "PROTOCOL", None)
    if not isinstance(protocol, Protocol):
        del sys.modules[home]
        kind = "has no PROTOCOL" if protocol is None else f"PROTOCOL is a {type(protocol).__name__}"
        raise Invalid(f"{path}: {kind}; it must hold PROTOCOL, a model.core.Protocol")
    if not protocol.scopes:
        raise Invalid(f"{path}: PROTOCOL has no scopes; give at least one PinnedScope to explore")
    return Subject(protocol, home)
