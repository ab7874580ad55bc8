"""The nodes of a world as fields and texts, and the changes between two worlds.

Rule of this file: no run; it knows two worlds of a system at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from model.core import NodeName
from model.errors import describe_error
from model.results.steps import NodeChange
from model.system import System
from model.words import cut, in_full, own_words, record_of, type_words
from model.world import DOWN, Node, World

TEXT = 300
"""The length of a value's text."""
DEPTH = 2
"""How many records deep a field has a name of its own."""


class ShownNode(NamedTuple):
    """A node as fields.  kind, says: as in NodeChange."""

    up: bool
    kind: str
    says: str
    fields: Mapping[str, str]


def changed_nodes(system: System, before: World | None, after: World) -> dict[NodeName, NodeChange]:
    """The changes of the nodes that differ; of all nodes without a world before."""
    found = {}
    for name, at in system.node_at.items():
        old = None if before is None else before.nodes[at]
        if old != after.nodes[at]:
            shown = None if old is None else show_node(system, name, old)
            found[name] = _change(shown, show_node(system, name, after.nodes[at]))
    return found


def show_node(system: System, name: NodeName, node: Node) -> ShownNode:
    """The node: its state, its durable values, its timers and its place in the log.

    Raises Invalid if the protocol cannot show the state.
    """
    fields: dict[str, str] = {}
    up = node.state is not DOWN
    if up:
        fields |= _texts("", "state", node.state, DEPTH)
    files = [one.name for one in system.sites[name].files]
    for label, value in _durable(files, node.durable):
        fields |= _texts(f"{label}: ", label, value, DEPTH - 1)
    if node.timers:
        fields["timers that are set"] = ", ".join(node.timers)
    if node.behind:
        fields["arrivals to read again"] = str(node.behind)
    kind = type_words(node.state) if up and record_of(node.state) is not None else ""
    return ShownNode(up, kind, own_words(system.protocol, node.state) if up else "", fields)


def _durable(files: list[str], durable: Any) -> Iterator[tuple[str, Any]]:
    """The durable values, each with its label; none that was never saved."""
    if not files:
        if durable is not None:
            yield "saved", durable
        return
    for name, (kept, *later) in zip(files, durable, strict=True):
        if kept is not None:
            yield f"saved in {name}", kept
        for number, value in enumerate(later, start=1):
            yield f"written to {name}, not synced ({number})", value


def _texts(before: str, alone: str, value: object, depth: int) -> dict[str, str]:
    """The fields of a record as texts by name, and those of records within it; `alone` is the name
    of a value that is no record."""
    parts = record_of(value) if depth else None
    if not parts:
        return {alone: _text(value)}
    found: dict[str, str] = {}
    for field, inner in parts.items():
        name = f"{before}{field}"
        found |= _texts(f"{name}.", name, inner, depth - 1)
    return found


def _text(value: object) -> str:
    """The text of a value, which may be anybody's."""
    try:
        return cut(in_full(value), TEXT)
    except Exception as error:
        return f"no text: {describe_error(error)}"


def _change(old: ShownNode | None, new: ShownNode) -> NodeChange:
    whole = old is None or old.up is not new.up or old.kind != new.kind
    known: Mapping[str, str] = {} if whole or old is None else old.fields
    return NodeChange(
        up=new.up,
        kind=new.kind,
        says=new.says,
        whole=whole,
        fields={name: text for name, text in new.fields.items() if known.get(name) != text},
        gone=tuple(name for name in known if name not in new.fields),
    )
