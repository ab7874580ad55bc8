"""The look of a protocol in a plot: a colour and a marker of its family.

Rule of this file: no drawing; the plots draw with these looks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from model.registry import modules

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito: people with any colour vision can distinguish them."""
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""One more than colours, so that 56 looks differ."""


class PlotLook(NamedTuple):
    colour: str
    mark: str


def look_of(number: int) -> PlotLook:
    """The look of this number, from 0."""
    return PlotLook(COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)])


def protocol_looks(names: Sequence[str]) -> Callable[[str], PlotLook]:
    """A function that returns the look of each of these protocols.

    A family has a colour and a mark, in the order of the registry, and those of files after all;
    further designs of a family have its colour, and marks of their own.
    """
    order = [protocol.name for protocol in modules().values()]
    here = dict.fromkeys(family_of(name) for name in names)
    families = sorted(here, key=lambda one: order.index(one) if one in order else len(order))
    looks: dict[str, PlotLook] = {}
    for name in dict.fromkeys(names):
        family = family_of(name)
        before = sum(family_of(other) == family for other in looks)
        number = families.index(family)
        mark = MARKS[(number + before) % len(MARKS)]
        looks[name] = PlotLook(look_of(number).colour, mark)
    return looks.__getitem__


def family_of(name: str) -> str:
    """The name of the family of a protocol."""
    return name.partition(":")[0]
