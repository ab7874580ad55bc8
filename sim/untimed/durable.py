"""The durable things of an untimed run: the values that nodes save, and the logs of sources.

Rule of this file: no step and no crash (sim.untimed.driver).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from model.actions import Reread, Restart, StepAction
from model.core import Arrival, NodeName, Save
from model.system import System
from model.world import Node, survivors, synced, write


class Disks:
    """The durable value of each node; of a node with files, as model.world keeps their writes.

    filed: the nodes with files.  unfiled: those that save one value.
    """

    def __init__(self, system: System, booted: Mapping[NodeName, Node]) -> None:
        self.sites = system.sites
        self.filed = frozenset(name for name, site in system.sites.items() if site.files)
        self.unfiled = frozenset(system.sites) - self.filed - {*system.prompt}
        self.values = {name: node.durable for name, node in booted.items()}

    def write(self, name: NodeName, save: Save) -> None:
        self.values[name] = write(self.sites[name], self.values[name], save)

    def sync(self, name: NodeName) -> None:
        self.values[name] = synced(self.values[name])

    def restart(self, name: NodeName) -> Restart:
        """The restart of a node: all of its writes that were not synced are lost."""
        return Restart(name, kept=(0,) * len(self.sites[name].files))

    def read(self, action: StepAction) -> tuple[Any, ...]:
        """The values of the node's files in this step; a restart finds those that are left."""
        name = action.node
        if not isinstance(action, Restart):
            return tuple(writes[-1] for writes in self.values[name])
        left = survivors(self.values[name], action, self.sites[name])
        self.values[name] = tuple((value,) for value in left)
        return left


class SourceLogs:
    """The arrivals of each source, how many it has taken, and how many it has still to read again.

    behind: has no source that is up to date.
    """

    def __init__(self, arrivals: Mapping[NodeName, Sequence[Arrival]]) -> None:
        self.arrivals, self.taken = arrivals, dict.fromkeys(arrivals, 0)
        self.behind: dict[NodeName, int] = {}

    def rewind(self, name: NodeName, to: int) -> None:
        self.behind.pop(name, None)
        if to < self.taken[name]:
            self.behind[name] = self.taken[name] - to

    def rereads(self) -> Iterator[tuple[Reread, Arrival]]:
        """One reading after the other, until no source is behind."""
        while self.behind:
            name, behind = next(iter(self.behind.items()))
            self.behind[name] = behind - 1
            if behind == 1:
                del self.behind[name]
            yield Reread(name), self.arrivals[name][self.taken[name] - behind]

    def forget(self, name: NodeName) -> None:
        """The source crashes: it is behind no more."""
        self.behind.pop(name, None)
