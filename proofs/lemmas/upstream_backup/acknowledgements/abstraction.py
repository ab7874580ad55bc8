"""The model, as acks sees it: who holds whose savepoints, and what they mean.

Rule of this file: what a savepoint will not give again is found by running it, not by reading it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import le
from typing import Any, NamedTuple

from model.cep.savepoint import Savepoint
from model.core import NodeName, Role
from model.events import NOTHING, SN
from model.protocols.upstream_backup.buffers import Ack, Replicas, Restore
from model.protocols.upstream_backup.nodes import OperatorNode, SinkState
from model.world import DOWN, Action, System, World
from proofs.lemmas.upstream_backup.acknowledgements.acknowledgements import system
from proofs.lemmas.upstream_backup.reference import Arrivals, Reference
from proofs.prove.conformance import Abstraction, Path
from proofs.prove.structure import Structure


class Saved(NamedTuple):
    """A savepoint as this file knows it: whose it is, and what tells it from others of that node.

    theta: the last of the node's events that it will not give again.
    """

    node: NodeName
    window: int
    trim: tuple[SN, ...]
    theta: SN


class Told(NamedTuple):
    """A message that carries savepoints; acks is NOTHING going downstream."""

    sender: NodeName
    receiver: NodeName
    acks: SN
    saved: frozenset[Saved]


class Seen(NamedTuple):
    """A world: for each node whether it is up, its savepoints and its own acknowledgements."""

    nodes: tuple[tuple[bool, frozenset[Saved], tuple[SN, ...]], ...]
    sent: frozenset[Told]


ORIGIN = Saved("", 0, (), NOTHING)


class _Sight:
    """A world system, and what has been seen of it."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.reference = Reference(system)
        self.thetas: dict[tuple[NodeName, Any, Any], SN] = {}
        self.known: set[tuple[Seen, Seen]] = set()
        self.last: tuple[World, Arrivals, Seen] | None = None

    def paths(self, before: World, _: Action, after: World) -> Iterator[Path]:
        pair = self.first(before, after.arrivals), self.seen(after, after.arrivals)
        if pair not in self.known:
            self.known.add(pair)
            first = not any(pair[0].sent) and all(up and not held for up, held, _ in pair[0].nodes)
            yield self.path(pair, initial=first and not any(map(_acked, pair[0].nodes)))

    def first(self, before: World, arrivals: Arrivals) -> Seen:
        """All edges that leave a world come one after the other."""
        if self.last is None or self.last[0] is not before or self.last[1] != arrivals:
            self.last = (before, arrivals, self.seen(before, arrivals))
        return self.last[-1]

    def seen(self, world: World, arrivals: Arrivals) -> Seen:
        names = [site.name for site in self.system.deployment.sites]
        nodes = tuple(
            self.node(name, node.state, arrivals)
            for name, node in zip(names, world.nodes, strict=True)
        )
        ends = self.system.deployment.channels
        sent = frozenset(
            self.told(u, v, message, arrivals)
            for (u, v), channel in zip(ends, world.channels, strict=True)
            for message in channel
            if isinstance(message, Ack | Restore)
        )
        return Seen(nodes, sent)

    def node(
        self, name: NodeName, state: Any, arrivals: Arrivals
    ) -> tuple[bool, frozenset[Saved], tuple[SN, ...]]:
        if state is DOWN:
            return False, frozenset(), ()
        if isinstance(state, SinkState):
            return True, frozenset(), ()
        held = dict(state.replicas)
        if isinstance(state, OperatorNode):
            held[name] = held[name].join(state.mine) if name in held else state.mine
        acked = tuple(outlet.acked for outlet in state.outlets)
        return True, self.saved(tuple(held.items()), arrivals), acked

    def told(self, u: NodeName, v: NodeName, message: Ack | Restore, arrivals: Arrivals) -> Told:
        acks_ = message.trim if isinstance(message, Ack) else NOTHING
        return Told(u, v, acks_, self.saved(message.replicas, arrivals))

    def saved(self, replicas: Replicas, arrivals: Arrivals) -> frozenset[Saved]:
        return frozenset(
            Saved(name, b.seed.window, b.trim, self.theta(name, b, arrivals))
            for name, b in replicas
            if b.seed.window > 1 or any(b.trim)
        )

    def theta(self, name: NodeName, savepoint: Savepoint, arrivals: Arrivals) -> SN:
        """By running it: which events of the failure-free run do not come again?"""
        key = (name, savepoint, arrivals)
        if key not in self.thetas:
            again = set(self.reference.replay(name, savepoint, arrivals))
            gone = [e.sn for e in self.reference.outputs(name, arrivals) if e not in again]
            self.thetas[key] = max(gone, default=NOTHING)
        return self.thetas[key]

    def path(self, pair: tuple[Seen, Seen], initial: bool) -> Path:
        sites = self.system.deployment.sites
        names = [site.name for site in sites]
        sent = pair[0].sent | pair[1].sent
        held = [saved for seen in pair for _, all_, _ in seen.nodes for saved in all_]
        saves = {ORIGIN, *held, *(saved for message in sent for saved in message.saved)}
        places = {
            (saved, u): saved.trim[self.system.sites[saved.node].preds.index(u)]
            if saved.node and u in self.system.sites[saved.node].preds
            else NOTHING
            for saved in saves
            for u in names
        }
        acked = [sn for seen in pair for _, _, all_ in seen.nodes for sn in all_]
        positions = {NOTHING, *places.values(), *acked, *(message.acks for message in sent)}
        positions |= {saved.theta for saved in saves}
        graph = self.system.scope.graph
        rigid = Structure(
            {"node": names, "savepoint": saves, "position": positions, "message": sent},
            {
                "feeds": {(u, v): (u, v) in graph.edges for u in names for v in names},
                "below": {(u, v): v in graph.descendants(u) for u in names for v in names},
                "operator": {site.name: site.role is Role.OPERATOR for site in sites},
                "le": le,
                "nothing": NOTHING,
                "origin": ORIGIN,
                "theta": {saved: saved.theta for saved in saves},
                "trim": places,
                "sender": {message: message.sender for message in sent},
                "receiver": {message: message.receiver for message in sent},
                "acks": {message: message.acks for message in sent},
                "carries": {
                    (message, name): _of(message.saved, name) for message in sent for name in names
                },
            },
        )
        return Path(rigid, tuple(self.state(seen, names, sent) for seen in pair), initial)

    def state(
        self, seen: Seen, names: Sequence[NodeName], sent: frozenset[Told]
    ) -> Mapping[str, Any]:
        acked = {(u, v): NOTHING for u in names for v in names}
        for u, (_, _, all_) in zip(names, seen.nodes, strict=True):
            acked |= {
                (u, v): sn for v, sn in zip(self.system.sites[u].succs, all_, strict=bool(all_))
            }
        return {
            "up": {u: up for u, (up, _, _) in zip(names, seen.nodes, strict=True)},
            "held": {
                (u, n): _of(held, n)
                for u, (_, held, _) in zip(names, seen.nodes, strict=True)
                for n in names
            },
            "acked": acked,
            "sent": {message: message in seen.sent for message in sent},
        }


def _of(held: frozenset[Saved], name: NodeName) -> Saved:
    return next((saved for saved in held if saved.node == name), ORIGIN)


def _acked(node: tuple[bool, frozenset[Saved], tuple[SN, ...]]) -> bool:
    return any(node[2])


ABSTRACTIONS = (
    Abstraction("acknowledgements and savepoints", system, lambda world: _Sight(world).paths),
)
