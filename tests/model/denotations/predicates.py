"""The events that satisfy a predicate.

Rule of this file: no call of a predicate's own methods.
"""

from __future__ import annotations

from typing import Any

from model.events import Body
from model.predicates import Either, Every, Not, Predicate, Type, Where


def satisfies(predicate: Predicate, body: Body) -> bool:
    match predicate:
        case Type(name):  # "The event has this type."
            return body.type == name
        case Where(attribute, comparison, value):
            # "The event has this attribute, and the comparison with the value is true."
            own = [item for name, item in body.data if name == attribute]
            return True in {_compare(item, comparison, value) for item in own}
        case Every(parts):  # "All parts hold; without parts, every event satisfies the predicate."
            return {satisfies(part, body) for part in parts} <= {True}
        case Either(parts):  # "At least one part holds."
            return True in {satisfies(part, body) for part in parts}
        case Not(part):
            return satisfies(part, body) is False
    raise AssertionError(predicate)


def _compare(left: Any, comparison: str, right: Any) -> bool:
    """A comparison by what is smaller and what is equal."""
    smaller, equal = left < right, left == right
    return (
        comparison
        in {
            (True, False): ("<", "<=", "!="),
            (False, True): ("<=", "==", ">="),
            (False, False): (">", ">=", "!="),
        }[smaller, equal]
    )
