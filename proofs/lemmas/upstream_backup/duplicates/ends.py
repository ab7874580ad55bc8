"""An edge of the graph in a world: its two ends, and its events in the failure-free run.

Rule of this file: the failure-free run defines the events; the events that a node gives, skips and
listens to are found by running it or read off its state.  Steps are another file's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import le
from typing import Any, NamedTuple

from model.cep.savepoint import Savepoint
from model.cep.skips import Ranges, covers
from model.core import Site
from model.events import NOTHING, SN, Body, Event
from model.graph import SINK
from model.protocols.upstream_backup.buffers import Ack, Replicas, Restore, join
from model.protocols.upstream_backup.savepoints import push, restore
from model.protocols.upstream_backup.states import OperatorNode, SinkNode, SourceNode
from model.world import DOWN, World
from proofs.lemmas.upstream_backup.observer import Observer
from proofs.lemmas.upstream_backup.reference import Arrivals, operator_of, scheme_of
from proofs.prove.structure import Structure


class EdgeEnds(NamedTuple):
    """All of a world that matters to an edge: its nodes, its channels, the outputs of the sink."""

    producer: Any
    successor: Any
    down: tuple[Any, ...]
    up: tuple[Any, ...]
    outputs: tuple[Any, ...]


class EdgeView:
    """An edge of the graph, from u to v, as the observer of a system sees it."""

    def __init__(self, observer: Observer, u: Site, v: Site) -> None:
        self._observer = observer
        self.reference = observer.reference
        self.u, self.v = u, v
        self.at = v.preds.index(u.name)
        self.outlet = u.succs.index(v.name)
        self._skipped: dict[tuple[Savepoint, Arrivals], frozenset[int]] = {}
        self._structures: dict[Any, Structure] = {}

    def ends(self, world: World) -> EdgeEnds:
        """The part of the world that matters to this edge."""
        observer, u, v = self._observer, self.u.name, self.v.name
        return EdgeEnds(
            observer.node(world, u),
            observer.node(world, v),
            observer.channel(world, u, v),
            observer.channel(world, v, u),
            world.outputs[observer.system.sink_at[v]] if self.v.spec is SINK else (),
        )

    # --- what the failure-free run says ------------------------------------------------------
    def events(self, arrivals: Arrivals) -> tuple[Event, ...]:
        return self.reference.outputs(self.u.name, arrivals)

    def event(self, message: Event, arrivals: Arrivals) -> int:
        """Which event it is: by number and body, else by body alone, else none (-1)."""
        all_ = self.events(arrivals)
        if message in all_:
            return all_.index(message)
        return next((i for i, event in enumerate(all_) if event.body == message.body), -1)

    def up_to(self, place: SN, arrivals: Arrivals) -> frozenset[int]:
        return frozenset(i for i, e in enumerate(self.events(arrivals)) if e.sn <= place)

    def skipped(self, savepoint: Savepoint, arrivals: Arrivals) -> frozenset[int]:
        """The events that the successor skips when it is restored and all come again."""
        key = savepoint, arrivals
        if key not in self._skipped:
            operator, scheme = operator_of(self.v), scheme_of(self.v)
            state = restore(scheme, savepoint)
            for edge, event in self.reference.inputs(self.v.name, arrivals):
                if event.sn > savepoint.trim[edge]:
                    state, _ = push(operator, scheme, state, edge, event)
            ranges: Ranges = state.skips[self.at].after(NOTHING) if state.skips else ()
            events = enumerate(self.events(arrivals))
            self._skipped[key] = frozenset(i for i, event in events if covers(ranges, event.sn))
        return self._skipped[key]

    # --- the two ends ------------------------------------------------------------------------
    def gives(self, node: Any, arrivals: Arrivals) -> tuple[SN, SN] | None:
        """base and cursor of the producer; None if it is not running."""
        if isinstance(node, SourceNode):
            return node.outlets[self.outlet].acked, (node.latest,) if node.latest else NOTHING
        if not isinstance(node, OperatorNode) or node.operator is None:
            return None
        pending = node.operator.pending
        base = max(
            node.outlets[self.outlet].acked, self.reference.theta(self.u.name, node.mine, arrivals)
        )
        return base, max(base, pending.last().sn if pending else NOTHING)

    def answered(self, node: Any, channel: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The messages that the successor will listen to; None before a hello is answered."""
        if node is DOWN:
            return None
        if not isinstance(node, OperatorNode) or self.u.name not in node.awaited:
            return channel
        first = next((i for i, m in enumerate(channel) if isinstance(m, Restore)), None)
        return None if first is None else channel[first:]

    def savepoint(self, node: OperatorNode, channel: tuple[Any, ...]) -> Savepoint:
        """The savepoint from which the operator was restored, or will be as far as is known."""
        if node.operator is not None:
            return node.mine
        copies = channel[0].replicas if self.u.name in node.awaited else ()
        return dict(join(node.replicas, copies)).get(self.v.name, node.mine)

    def trims(self, ends: EdgeEnds) -> Iterator[SN]:
        """The numbers up to which some savepoint of the successor reaches."""
        nodes = [n for n in (ends.producer, ends.successor) if n is not DOWN]
        held: list[Replicas] = [n.replicas for n in nodes if not isinstance(n, SinkNode)]
        messages = (*ends.down, *ends.up)
        held += [m.replicas for m in messages if isinstance(m, Ack | Restore)]
        for replicas in held:
            yield from (b.trim[self.at] for name, b in replicas if name == self.v.name)
        if isinstance(ends.successor, OperatorNode):
            yield ends.successor.mine.trim[self.at]

    def changed(self, before: EdgeEnds, after: EdgeEnds) -> bool:
        """Has the successor done anything with an event?"""
        one, other = before.successor, after.successor
        if isinstance(one, SinkNode):
            return before.outputs != after.outputs
        if not isinstance(one, OperatorNode) or not isinstance(other, OperatorNode):
            return False
        queues = one.inlets[self.at].queue, other.inlets[self.at].queue
        return one.operator != other.operator or queues[0] != queues[1]

    def effects(
        self, bodies: Iterable[Body], arrivals: Arrivals
    ) -> tuple[frozenset[int], frozenset[int]]:
        """Which events a sink has given out, and which twice; events may have equal bodies."""
        done: list[int] = []
        doubled: set[int] = set()
        for body in bodies:
            alike = [i for i, event in enumerate(self.events(arrivals)) if event.body == body]
            new = [i for i in alike if i not in done]
            done += new[:1]
            doubled |= {*alike} if not new else set()
        return frozenset(done), frozenset(doubled)

    # --- what never changes ------------------------------------------------------------------
    def structure(
        self,
        arrivals: Arrivals,
        unneeded: frozenset[int],
        messages: tuple[Event, ...],
        places: frozenset[SN],
    ) -> Structure:
        """The same structure for the same arguments, so that its axioms are looked at once."""
        key = arrivals, unneeded, messages, places
        if key not in self._structures:
            # Message 0 has left the channel before all others; it is no event's.
            sent = dict(enumerate(messages, 1))
            events = {message: self.event(event, arrivals) for message, event in sent.items()}
            numbers = {i: event.sn for i, event in enumerate(self.events(arrivals))}
            if -1 in events.values():
                numbers[-1] = NOTHING
            stamps = {0: NOTHING, **{message: event.sn for message, event in sent.items()}}
            self._structures[key] = Structure(
                {
                    "event": tuple(numbers),
                    "number": {NOTHING, *numbers.values(), *stamps.values(), *places},
                    "message": tuple(stamps),
                },
                {
                    "le": le,
                    "nothing": NOTHING,
                    "number": numbers,
                    "unneeded": {i: i in unneeded for i in numbers},
                    "event": {0: next(iter(numbers), -1), **events},
                    "stamp": stamps,
                    "message_le": le,
                    "then": lambda m, k: m + 1 == k,
                },
            )
        return self._structures[key]
