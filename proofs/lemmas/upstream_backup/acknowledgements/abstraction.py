"""The model, as replicas sees it: the holders of savepoints, and the meaning of these.

Rule of this file: the events that a savepoint will not give again are found by running it, not by
reading it.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import le
from typing import Any, NamedTuple

from model.actions import Action
from model.core import NodeName, Role
from model.events import NOTHING, SN
from model.protocols.upstream_backup.buffers import Ack, Replicas, Restore
from model.protocols.upstream_backup.states import OperatorNode, SinkNode
from model.system import System
from model.world import DOWN, World
from proofs.lemmas.upstream_backup.acknowledgements import replicas
from proofs.lemmas.upstream_backup.observer import Observer
from proofs.lemmas.upstream_backup.reference import Arrivals
from proofs.prove.conformance import Abstraction, Path
from proofs.prove.structure import StateTable, Structure


class Saved(NamedTuple):
    """A savepoint: whose it is, and how it differs from others of that node.  theta: the last of
    the node's events that it will not give again."""

    node: NodeName
    window: int
    trim: tuple[SN, ...]
    theta: SN


ORIGIN = Saved("", 0, (), NOTHING)


class Carrier(NamedTuple):
    """A message that carries savepoints; acks is NOTHING going downstream."""

    sender: NodeName
    receiver: NodeName
    acks: SN
    saved: frozenset[Saved]


class Holding(NamedTuple):
    """A node: is it up, its replicas, and by outlet how far it has trimmed."""

    up: bool
    saved: frozenset[Saved] = frozenset()
    acked: tuple[SN, ...] = ()


class Holdings(NamedTuple):
    """All nodes and messages of a world."""

    nodes: tuple[Holding, ...]
    sent: frozenset[Carrier]

    @property
    def untouched(self) -> bool:
        """Nothing has been saved, acknowledged, sent or lost."""
        nodes = (node.up and not node.saved and not any(node.acked) for node in self.nodes)
        return not self.sent and all(nodes)


class HoldingObserver(Observer):
    """Who holds whose savepoints in a world system."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.sites = system.deployment.sites
        self.names = [site.name for site in self.sites]
        self.last: tuple[World, Arrivals, Holdings] | None = None

    def paths(self, before: World, _: Action, after: World) -> Iterator[Path]:
        pair = self.first(before, after.arrivals), self.holdings(after, after.arrivals)
        if self.is_new(pair):
            sent = pair[0].sent | pair[1].sent
            states = tuple(self.state(holdings, sent) for holdings in pair)
            yield Path(self.rigid(pair, sent), states, pair[0].untouched)

    # --- worlds ------------------------------------------------------------------------------
    def first(self, before: World, arrivals: Arrivals) -> Holdings:
        """All edges that leave a world come one after the other."""
        if self.last is None or self.last[0] is not before or self.last[1] != arrivals:
            self.last = (before, arrivals, self.holdings(before, arrivals))
        return self.last[-1]

    def holdings(self, world: World, arrivals: Arrivals) -> Holdings:
        nodes = zip(self.names, world.nodes, strict=True)
        channels = zip(self.system.deployment.channels, world.channels, strict=True)
        return Holdings(
            tuple(self.holding(name, node.state, arrivals) for name, node in nodes),
            frozenset(
                Carrier(
                    *ends,
                    message.trim if isinstance(message, Ack) else NOTHING,
                    self.saved(message.replicas, arrivals),
                )
                for ends, channel in channels
                for message in channel
                if isinstance(message, Ack | Restore)
            ),
        )

    def holding(self, name: NodeName, state: Any, arrivals: Arrivals) -> Holding:
        if state is DOWN or isinstance(state, SinkNode):
            return Holding(state is not DOWN)
        held = dict(state.replicas)
        if isinstance(state, OperatorNode):
            held[name] = held[name].join(state.mine) if name in held else state.mine
        acked = tuple(outlet.acked for outlet in state.outlets)
        return Holding(True, self.saved(tuple(held.items()), arrivals), acked)

    def saved(self, replicas: Replicas, arrivals: Arrivals) -> frozenset[Saved]:
        return frozenset(
            Saved(name, b.seed.window, b.trim, self.reference.theta(name, b, arrivals))
            for name, b in replicas
            if b.seed.window > 1 or any(b.trim)
        )

    # --- as the formulas have them -----------------------------------------------------------
    def rigid(self, pair: tuple[Holdings, Holdings], sent: frozenset[Carrier]) -> Structure:
        names, graph = self.names, self.system.scope.graph
        nodes = [node for holdings in pair for node in holdings.nodes]
        held = [*(node.saved for node in nodes), *(message.saved for message in sent)]
        saves = {ORIGIN}.union(*held)
        trims = {(saved, u): self.trim(saved, u) for saved in saves for u in names}
        positions = {NOTHING, *trims.values(), *(saved.theta for saved in saves)}
        positions |= {message.acks for message in sent}
        positions.update(*(node.acked for node in nodes))
        return Structure(
            {"node": names, "savepoint": saves, "position": positions, "message": sent},
            {
                "feeds": {(u, v): (u, v) in graph.edges for u in names for v in names},
                "below": {(u, v): v in graph.descendants(u) for u in names for v in names},
                "operator": {site.name: site.role is Role.OPERATOR for site in self.sites},
                "le": le,
                "nothing": NOTHING,
                "origin": ORIGIN,
                "theta": {saved: saved.theta for saved in saves},
                "trim": trims,
                "sender": {message: message.sender for message in sent},
                "receiver": {message: message.receiver for message in sent},
                "acks": {message: message.acks for message in sent},
                "carries": {(k, name): _of(k.saved, name) for k in sent for name in names},
            },
        )

    def trim(self, saved: Saved, u: NodeName) -> SN:
        preds = self.system.sites[saved.node].preds if saved.node else ()
        return saved.trim[preds.index(u)] if u in preds else NOTHING

    def state(self, holdings: Holdings, sent: frozenset[Carrier]) -> StateTable:
        names = self.names
        nodes = dict(zip(names, holdings.nodes, strict=True))
        acked = {(u, v): NOTHING for u in names for v in names}
        for site in self.sites:
            of = nodes[site.name].acked
            ends = zip(site.succs, of, strict=bool(of))
            acked |= {(site.name, v): sn for v, sn in ends}
        return {
            "up": {u: node.up for u, node in nodes.items()},
            "held": {(u, n): _of(node.saved, n) for u, node in nodes.items() for n in names},
            "acked": acked,
            "sent": {message: message in holdings.sent for message in sent},
        }


def _of(held: frozenset[Saved], name: NodeName) -> Saved:
    return next((saved for saved in held if saved.node == name), ORIGIN)


ABSTRACTIONS = (
    Abstraction(
        "acknowledgements and savepoints",
        replicas.system,
        lambda system: HoldingObserver(system).paths,
    ),
)
