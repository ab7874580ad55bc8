"""Interning: keys under which equal values of different types stay apart.

Rule of this file: it knows no world.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

_ANOTHER = object()
"""In the key of a value that equals one before and is of other types inside."""


def own_key(
    key: Hashable, value: Any, known: Mapping[Any, T], value_of: Callable[[T], Any]
) -> Hashable:
    """The key of a value, which is `key` unless that belongs to an equal value that is not alike.

    value_of: the value of an entry of `known`.
    """
    while (found := known.get(key)) is not None and not _alike(value_of(found), value):
        key = (_ANOTHER, key)
    return key


def _alike(one: Any, other: Any) -> bool:
    """Are equal values of the same types, inside of tuples too?  Named tuples of different types
    with the same items are equal, and so are 1 and True."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    return not isinstance(one, tuple) or all(map(_alike, one, other))
