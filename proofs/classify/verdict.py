"""The class of a box, for the command and reports.

Rule of this file: no definition of a class.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from model.boxes.box import Box
from model.core import Arrival
from model.errors import Invalid, brief, describe_error, unknown
from model.registry import import_file, is_file
from model.results.classes import BoxResult, ClassWitness
from proofs.classify.classes import classify
from proofs.classify.figure3 import BOXES, BoxCase
from proofs.classify.pairs import LIMIT, Undecided
from proofs.classify.streams import Alphabet
from proofs.classify.witness import picture


def choose(name: str | None) -> tuple[BoxCase, ...]:
    """The box with this name, the one in a FILE.py, or all.  Raises Invalid."""
    if name is None:
        return BOXES
    if is_file(name):
        return (_from_file(Path(name)),)
    known = {one.name: one for one in BOXES}
    if name not in known:
        raise unknown("box", name, known)
    return (known[name],)


def _from_file(path: Path) -> BoxCase:
    module = import_file(path)
    for what, kind in (("BOX", Box), ("ALPHABET", Alphabet)):
        value = getattr(module, what, None)
        if not isinstance(value, kind):
            has = f"{what} is a {type(value).__name__}" if value is not None else f"has no {what}"
            raise Invalid(f"{path}: {has}; it must hold {what}, a {kind.__name__}")
    box, alphabet = module.BOX, module.ALPHABET
    if not alphabet.edges or not all(map(_is_right, alphabet.edges)):
        raise Invalid(
            f"{path}: ALPHABET has {brief(alphabet.edges)}; give a tuple of edges, each a tuple of "
            "one Arrival or more, with gaps of 0 or more"
        )
    if box.edges not in (None, len(alphabet.edges)):
        raise Invalid(f"{path}: ALPHABET has {len(alphabet.edges)} edges, and BOX has {box.edges}")
    return BoxCase(
        path.stem, (module.__doc__ or path.stem).strip().partition("\n")[0], box, alphabet
    )


def _is_right(edge: Any) -> bool:
    """Is this an edge of an alphabet?"""
    return (
        isinstance(edge, tuple)
        and bool(edge)
        and all(isinstance(one, Arrival) and one.gap >= 0 for one in edge)
    )


def verdict(named: BoxCase, limit: int = LIMIT) -> BoxResult:
    """The class of the box; none if there are more pairs of states than the limit.

    Raises Invalid if the box raises.
    """
    found = BoxResult(named.name, named.title, repr(named.box), named.paper)
    try:
        classified = classify(named.box, named.alphabet, limit)
    except Undecided as error:
        return replace(found, undecided=str(error))
    except Invalid:
        raise
    except BaseException as error:  # of a box, which may be anybody's
        raise Invalid(
            f"{named.name}: the box raises {describe_error(error)}; feed answers with a tuple of "
            "one Fed or more, expire with a tuple of Fed, and their states can be hashed"
        ) from error
    edges = len(named.alphabet.edges)
    witnesses = tuple(
        ClassWitness(
            one.not_of, one.why, one.circle, picture(named.box, edges, events, one.why, one.circle)
        )
        for one in classified.witnesses
        for events in [[taken.event for taken in one.steps]]
    )
    return replace(found, class_=classified.operators, pairs=classified.pairs, witnesses=witnesses)
