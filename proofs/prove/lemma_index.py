"""Theories: all lemmas and abstractions of a protocol, found by its name or in a file.

Rule of this file: the meaning of a name on the command line.  The lemmas of a registered protocol
are in the package of its name in proofs.lemmas, those of a user's protocol in its own file.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import NamedTuple, TypeAlias

from model.errors import Invalid, unknown
from model.protocol import Protocol
from model.registry import protocols, subject
from proofs.prove.conformance import Abstraction
from proofs.prove.lemma import Lemma

HOME = "proofs.lemmas"
"""The package of all lemmas of registered protocols.  It is named and not imported, because lemmas
import this package."""


class Theory(NamedTuple):
    """The lemmas about a protocol; `of`: the protocol's name or the file where it is found."""

    of: str
    protocol: Protocol
    lemmas: tuple[Lemma, ...]
    abstractions: tuple[Abstraction, ...]

    def lemma(self, name: str) -> Lemma:
        return next(lemma for lemma in self.lemmas if lemma.name == name)


@cache
def theory(of: str) -> Theory:
    """The lemmas about the protocol named `of`, or of the file `of` if that ends in .py.

    They are sorted by section of the paper, those of one section as they are found.  Raises
    Invalid if there are none, or if two have one name.
    """
    found = subject(of)
    if of.endswith(".py"):
        modules = [sys.modules[found.home]]
    else:
        modules = list(_modules(f"{HOME}.{of.replace('-', '_')}"))
    lemmas = [lemma for module in modules for lemma in getattr(module, "LEMMAS", ())]
    abstractions = [a for module in modules for a in getattr(module, "ABSTRACTIONS", ())]
    if not lemmas:
        raise Invalid(f"{of}: no LEMMAS; give a tuple of proofs.prove.lemma.Lemma")
    names = [lemma.name for lemma in lemmas]
    for name in names:
        if names.count(name) > 1:
            raise Invalid(f"{of}: two lemmas are called {name!r}; names must differ")
    lemmas.sort(key=lambda lemma: lemma.section)
    return Theory(of, found.protocol, tuple(lemmas), tuple(abstractions))


def theories() -> dict[str, Theory]:
    """The theories of all registered protocols that have lemmas, by the protocol's name."""
    found = {
        info.name.replace("_", "-")
        for info in pkgutil.iter_modules(importlib.import_module(HOME).__path__)
    }
    return {name: theory(name) for name in protocols() if name in found}


def _modules(name: str) -> Iterator[ModuleType]:
    """The module and all below it: first those in the READING_ORDER of their package."""
    module = importlib.import_module(name)
    yield module
    found = [info.name for info in pkgutil.iter_modules(getattr(module, "__path__", ()))]
    order = [below for below in getattr(module, "READING_ORDER", ()) if below in found]
    for below in [*order, *(below for below in found if below not in order)]:
        yield from _modules(f"{name}.{below}")


Choice: TypeAlias = list[tuple[Theory, tuple[Lemma, ...]]]
"""Theories, each with those of its lemmas that are meant."""


def choose(name: str | None = None) -> Choice:
    """The theories of `asif prove NAME`: all theories, one protocol's, a file's, or one lemma.

    Raises Invalid, with the nearest known name, for a name that is not known.
    """
    if name is not None and name.endswith(".py"):
        one = theory(name)
        return [(one, one.lemmas)]
    known = theories()
    if name is None:
        return [(one, one.lemmas) for one in known.values()]
    if name in known:
        return [(known[name], known[name].lemmas)]
    for one in known.values():
        found = tuple(lemma for lemma in one.lemmas if lemma.name == name)
        if found:
            return [(one, found)]
    names = [*known, *(lemma.name for one in known.values() for lemma in one.lemmas)]
    raise unknown("protocol or lemma", name, names)
