"""The files of a node in a timed run: the values that its steps read, and those that a sync stores.

Rule of this file: no time and no order of events; model.world says how a write changes a file.

A step reads the writes of the steps before it, also those that have not taken effect yet.  A write
without a sync is stored by the next sync, or by the next synced write to its file.  A crash loses
all writes that are not synced.
"""

from __future__ import annotations

from typing import Any

from model.core import Save, Sync
from model.costs import Size
from model.world import replace_item
from sim.timed.network import TimedNode
from sim.timed.state_sizes import StateSizes


def open_files(node: TimedNode) -> Any:
    """The durable value, or the values of the files, that a crash has left; fresh files are
    empty."""
    if not node.site.files:
        return node.durable
    node.durable = tuple(writes[:1] for writes in node.durable)
    node.site = node.site._replace(disk=tuple(synced for (synced,) in node.durable))
    node.unsynced = ((),) * len(node.durable)
    return node.site.disk


def take_write(sizes: StateSizes, node: TimedNode, effect: Save | Sync) -> tuple[Size, ...]:
    """The sizes of the values that the effect stores; the node's next step reads a saved value."""
    if isinstance(effect, Sync):
        stored = tuple(size for waiting in node.unsynced for size in waiting)
        node.unsynced = ((),) * len(node.unsynced)
        return stored
    size = sizes.saved(node.name, effect.value)
    if not node.unsynced:
        return (size,)
    at = [file.name for file in node.site.files].index(effect.name)
    node.site = node.site._replace(disk=replace_item(node.site.disk, at, effect.value))
    waiting = (*node.unsynced[at], size)
    node.unsynced = replace_item(node.unsynced, at, () if effect.synced else waiting)
    return waiting if effect.synced else ()
