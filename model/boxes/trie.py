"""Trie: a persistent map; a change copies a few small nodes, and never the whole map.

Rule of this file: the order of its keys has no meaning, since hashes differ between processes.
Bagwell, "Ideal hash trees", 2001.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

BITS = 5
FAN = 1 << BITS
"""The children of a branch, by the next BITS of the hash."""
LEAF = 8
"""A leaf is a dict of at most this many keys, unless their hashes are equal."""
DEEPEST = 64
"""The bits of a hash."""
EMPTY: dict[Any, Any] = {}
"""The leaf of no key; many branches share it, and no leaf is ever changed."""


@dataclass(frozen=True, slots=True, eq=False)
class Trie(Generic[K, V]):
    """An immutable map from hashable keys.  root: a leaf or a branch, a tuple of FAN nodes."""

    root: Any = field(default_factory=lambda: EMPTY, repr=False)
    length: int = 0

    def get(self, key: K, default: V) -> V:
        node, rest = self.root, hash(key)
        while type(node) is tuple:
            node, rest = node[rest & FAN - 1], rest >> BITS
        found: V = node.get(key, default)
        return found

    def put(self, key: K, value: V) -> Trie[K, V]:
        root, more = _put(self.root, hash(key), 0, key, value)
        return Trie(root, self.length + more)

    def drop(self, key: K) -> Trie[K, V]:
        """Without the key, which is there."""
        return Trie(_drop(self.root, hash(key), key), self.length - 1)

    def items(self) -> Iterator[tuple[K, V]]:
        waiting = [self.root]
        while waiting:
            node = waiting.pop()
            if type(node) is tuple:
                waiting += node
            else:
                yield from node.items()

    def __len__(self) -> int:
        return self.length

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process may have other hashes, so it builds the trie anew."""
        return trie_of, (dict(self.items()),)


def trie_of(mapping: Mapping[K, V]) -> Trie[K, V]:
    trie: Trie[K, V] = Trie()
    for key, value in mapping.items():
        trie = trie.put(key, value)
    return trie


def _put(node: Any, rest: int, depth: int, key: Any, value: Any) -> tuple[Any, bool]:
    """The node with the key, and whether the key is new.  rest: the bits of the hash from here."""
    if type(node) is tuple:
        at = rest & FAN - 1
        child, new = _put(node[at], rest >> BITS, depth + BITS, key, value)
        return (*node[:at], child, *node[at + 1 :]), new
    leaf = {**node, key: value}
    new = len(leaf) > len(node)
    if len(leaf) <= LEAF or depth >= DEEPEST:
        return leaf, new
    parts: list[Any] = [EMPTY] * FAN
    for one, its in leaf.items():
        at = hash(one) >> depth & FAN - 1
        parts[at] = {**parts[at], one: its}
    return tuple(parts), new


def _drop(node: Any, rest: int, key: Any) -> Any:
    if type(node) is tuple:
        at = rest & FAN - 1
        return (*node[:at], _drop(node[at], rest >> BITS, key), *node[at + 1 :])
    return {one: its for one, its in node.items() if one != key}
