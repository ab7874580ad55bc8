"""The model, as replicas sees it: who holds whose savepoints, and what they mean.

Rule of this file: what a savepoint will not give again is found by running it, not by reading it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import le
from typing import Any, NamedTuple

from model.actions import Action
from model.core import NodeName, Role
from model.events import NOTHING, SN
from model.protocols.upstream_backup.buffers import Ack, Replicas, Restore
from model.protocols.upstream_backup.states import OperatorNode, SinkState
from model.system import System
from model.world import DOWN, World
from proofs.lemmas.upstream_backup.acknowledgements import replicas
from proofs.lemmas.upstream_backup.observer import Observer
from proofs.lemmas.upstream_backup.reference import Arrivals
from proofs.prove.conformance import Abstraction, Path
from proofs.prove.structure import StateTable, Structure


class Saved(NamedTuple):
    """A savepoint as this file knows it: whose it is, and how it differs from others of
    that node.

    theta: the last of the node's events that it will not give again.
    """

    node: NodeName
    window: int
    trim: tuple[SN, ...]
    theta: SN


class Carrier(NamedTuple):
    """A message that carries savepoints; acks is NOTHING going downstream."""

    sender: NodeName
    receiver: NodeName
    acks: SN
    saved: frozenset[Saved]


class Holdings(NamedTuple):
    """A world: for each node whether it is up, its savepoints and its own acknowledgements."""

    nodes: tuple[tuple[bool, frozenset[Saved], tuple[SN, ...]], ...]
    sent: frozenset[Carrier]


ORIGIN = Saved("", 0, (), NOTHING)


class HoldingObserver(Observer):
    """Who holds whose savepoints in a world system."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.last: tuple[World, Arrivals, Holdings] | None = None

    def paths(self, before: World, _: Action, after: World) -> Iterator[Path]:
        pair = self.first(before, after.arrivals), self.holdings(after, after.arrivals)
        if self.is_new(pair):
            first = not any(pair[0].sent) and all(up and not held for up, held, _ in pair[0].nodes)
            yield self.path(pair, initial=first and not any(map(_acked, pair[0].nodes)))

    def first(self, before: World, arrivals: Arrivals) -> Holdings:
        """All edges that leave a world come one after the other."""
        if self.last is None or self.last[0] is not before or self.last[1] != arrivals:
            self.last = (before, arrivals, self.holdings(before, arrivals))
        return self.last[-1]

    def holdings(self, world: World, arrivals: Arrivals) -> Holdings:
        names = [site.name for site in self.system.deployment.sites]
        nodes = tuple(
            self.holding(name, node.state, arrivals)
            for name, node in zip(names, world.nodes, strict=True)
        )
        ends = self.system.deployment.channels
        sent = frozenset(
            self.carrier(u, v, message, arrivals)
            for (u, v), channel in zip(ends, world.channels, strict=True)
            for message in channel
            if isinstance(message, Ack | Restore)
        )
        return Holdings(nodes, sent)

    def holding(
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

    def carrier(
        self, u: NodeName, v: NodeName, message: Ack | Restore, arrivals: Arrivals
    ) -> Carrier:
        acks_ = message.trim if isinstance(message, Ack) else NOTHING
        return Carrier(u, v, acks_, self.saved(message.replicas, arrivals))

    def saved(self, replicas: Replicas, arrivals: Arrivals) -> frozenset[Saved]:
        return frozenset(
            Saved(name, b.seed.window, b.trim, self.reference.theta(name, b, arrivals))
            for name, b in replicas
            if b.seed.window > 1 or any(b.trim)
        )

    def path(self, pair: tuple[Holdings, Holdings], initial: bool) -> Path:
        sites = self.system.deployment.sites
        names = [site.name for site in sites]
        sent = pair[0].sent | pair[1].sent
        held = [saved for holdings in pair for _, all_, _ in holdings.nodes for saved in all_]
        saves = {ORIGIN, *held, *(saved for message in sent for saved in message.saved)}
        places = {
            (saved, u): saved.trim[self.system.sites[saved.node].preds.index(u)]
            if saved.node and u in self.system.sites[saved.node].preds
            else NOTHING
            for saved in saves
            for u in names
        }
        acked = [sn for holdings in pair for _, _, all_ in holdings.nodes for sn in all_]
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
                    (message, name): _savepoint_of(message.saved, name)
                    for message in sent
                    for name in names
                },
            },
        )
        return Path(rigid, tuple(self.state(holdings, names, sent) for holdings in pair), initial)

    def state(
        self, holdings: Holdings, names: Sequence[NodeName], sent: frozenset[Carrier]
    ) -> StateTable:
        acked = {(u, v): NOTHING for u in names for v in names}
        for u, (_, _, all_) in zip(names, holdings.nodes, strict=True):
            acked |= {
                (u, v): sn for v, sn in zip(self.system.sites[u].succs, all_, strict=bool(all_))
            }
        return {
            "up": {u: up for u, (up, _, _) in zip(names, holdings.nodes, strict=True)},
            "held": {
                (u, n): _savepoint_of(held, n)
                for u, (_, held, _) in zip(names, holdings.nodes, strict=True)
                for n in names
            },
            "acked": acked,
            "sent": {message: message in holdings.sent for message in sent},
        }


def _savepoint_of(held: frozenset[Saved], name: NodeName) -> Saved:
    return next((saved for saved in held if saved.node == name), ORIGIN)


def _acked(node: tuple[bool, frozenset[Saved], tuple[SN, ...]]) -> bool:
    return any(node[2])


ABSTRACTIONS = (
    Abstraction(
        "acknowledgements and savepoints",
        replicas.system,
        lambda system: HoldingObserver(system).paths,
    ),
)
