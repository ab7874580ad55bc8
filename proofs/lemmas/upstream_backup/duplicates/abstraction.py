"""The model, as duplicates sees it: every edge of the graph, one at a time.

Rule of this file: what an event is, the failure-free run says; what had an effect, the outputs of a
sink or the change of an operator say, and not the number that it has heard.

An operator keeps no list of what it has processed.  That it has processed all it has heard, once
and in order, is an invariant here; every edge of the explorer is asked to keep it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from model.cep.operator import Operator
from model.cep.savepoint import Savepoint
from model.cep.skips import Ranges, covers
from model.core import Site
from model.events import NOTHING, SN, Body, Event
from model.graph import SINK
from model.protocols.upstream_backup.buffers import Ack, Replicas, Restore, join
from model.protocols.upstream_backup.nodes import OperatorNode, SinkState, SourceState
from model.protocols.upstream_backup.savepoints import push, restore
from model.world import DOWN, Action, Crash, Deliver, Inject, System, World, response
from proofs.lemmas.upstream_backup.duplicates.duplicates import system
from proofs.lemmas.upstream_backup.reference import Arrivals, Reference
from proofs.prove.conformance import Abstraction, Path, Paths
from proofs.prove.structure import Structure


class Ends(NamedTuple):
    """All of a world that matters to an edge: its nodes, its channels, what the sink gave out."""

    producer: Any
    successor: Any
    down: tuple[Any, ...]
    up: tuple[Any, ...]
    outputs: tuple[Any, ...]


class State(NamedTuple):
    """The state of duplicates.  Messages are numbered as they are sent, events as they occur in the
    failure-free run."""

    running: bool
    base: SN
    cursor: SN
    gone: int
    sent: int
    listening: bool
    heard: SN
    farthest: SN
    done: frozenset[int]
    ever: frozenset[int]
    doubled: frozenset[int]


class Run(NamedTuple):
    """Messages: those in the channel at first and those that enter it, in order."""

    arrivals: Arrivals
    unneeded: frozenset[int]
    messages: tuple[Event, ...]
    states: tuple[State, ...]
    initial: bool


class _Step(NamedTuple):
    """All that a path depends on."""

    action: Action
    arrivals: Arrivals
    before: Ends
    after: Ends
    whole: Any
    initial: bool


class _Edge:
    """An edge of the graph, and what has been seen of it."""

    def __init__(self, system: System, reference: Reference, u: Site, v: Site) -> None:
        self.system, self.reference = system, reference
        self.u, self.v = u, v
        self.at = v.preds.index(u.name)
        self.outlet = u.succs.index(v.name)
        self.thetas: dict[tuple[Savepoint, Arrivals], SN] = {}
        self.skips: dict[tuple[Savepoint, Arrivals], frozenset[int]] = {}
        self.asked: set[_Step] = set()
        self.known: set[Run] = set()
        self.rigids: dict[Any, Structure] = {}

    def paths(self, before: World, action: Action, after: World) -> Iterator[Path]:
        one, other = self.ends(before), self.ends(after)
        initial = not any(before.arrivals) and before.crashes == self.system.scope.crashes
        step = _Step(action, after.arrivals, one, other, self.whole(before, action, other), initial)
        if step not in self.asked:
            self.asked.add(step)
            run = self.run(step)
            if run not in self.known:
                self.known.add(run)
                yield self.path(run)

    def whole(self, before: World, action: Action, other: Ends) -> Any:
        """The producer's state after its whole step, of which a crash may leave out the last
        effects; None if it does none."""
        if action.node != self.u.name or isinstance(action, Crash):
            return None
        crashes = not isinstance(action, Inject) and action.crash_after is not None
        return response(self.system, before, action).state if crashes else other.producer

    def run(self, step: _Step) -> Run:
        steps = _Steps(self, step.arrivals, step.before, step.after)
        action = step.action
        if action.node == self.u.name:
            steps.of_producer(step.whole)
        else:
            heard = isinstance(action, Deliver) and action.sender == self.u.name
            steps.of_successor(step.before.down[0] if heard else None)
        return steps.run(step.initial)

    def ends(self, world: World) -> Ends:
        def node(site: Site) -> Any:
            return world.nodes[self.system.node_at[site.name]].state

        def channel(one: Site, other: Site) -> tuple[Any, ...]:
            return world.channels[self.system.channel_at[one.name, other.name]]

        u, v = self.u, self.v
        outputs = world.outputs[self.system.sink_at[v.name]] if v.spec is SINK else ()
        return Ends(node(u), node(v), channel(u, v), channel(v, u), outputs)

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

    def theta(self, savepoint: Savepoint, arrivals: Arrivals) -> SN:
        """The last of its events that the producer, restored from it, does not give again."""
        key = savepoint, arrivals
        if key not in self.thetas:
            again = set(self.reference.replay(self.u.name, savepoint, arrivals))
            gone = [e.sn for e in self.events(arrivals) if e not in again]
            self.thetas[key] = max(gone, default=NOTHING)
        return self.thetas[key]

    def skipped(self, savepoint: Savepoint, arrivals: Arrivals) -> frozenset[int]:
        """The events that the successor skips when it is restored and all come again."""
        key = savepoint, arrivals
        if key not in self.skips:
            spec, scheme = self.v.spec, self.v.config.design.scheme
            assert isinstance(spec, Operator)
            state = restore(scheme, savepoint)
            for edge, event in self.reference.inputs(self.v.name, arrivals):
                if event.sn > savepoint.trim[edge]:
                    state, _ = push(spec, scheme, state, edge, event)
            ranges: Ranges = state.skips[self.at].after(NOTHING) if state.skips else ()
            events = enumerate(self.events(arrivals))
            self.skips[key] = frozenset(i for i, event in events if covers(ranges, event.sn))
        return self.skips[key]

    # --- the two ends ------------------------------------------------------------------------
    def gives(self, node: Any, arrivals: Arrivals) -> tuple[SN, SN] | None:
        """base and cursor of the producer; None if it is not running."""
        if isinstance(node, SourceState):
            return node.outlets[self.outlet].acked, (node.latest,) if node.latest else NOTHING
        if not isinstance(node, OperatorNode) or node.operator is None:
            return None
        pending = node.operator.pending
        base = max(node.outlets[self.outlet].acked, self.theta(node.mine, arrivals))
        return base, max(base, pending.last().sn if pending else NOTHING)

    def answered(self, node: Any, channel: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """What will be listened to of the channel; None before the answer to a hello is sent."""
        if node is DOWN:
            return None
        if not isinstance(node, OperatorNode) or self.u.name not in node.awaited:
            return channel
        first = next((i for i, m in enumerate(channel) if isinstance(m, Restore)), None)
        return None if first is None else channel[first:]

    def savepoint(self, node: OperatorNode, channel: tuple[Any, ...]) -> Savepoint:
        """That from which the operator has been restored, or will be as far as is known."""
        if node.operator is not None:
            return node.mine
        told = channel[0].replicas if self.u.name in node.awaited else ()
        return dict(join(node.replicas, told)).get(self.v.name, node.mine)

    def trims(self, ends: Ends) -> Iterator[SN]:
        """Up to where some savepoint of the successor reaches."""
        nodes = [n for n in (ends.producer, ends.successor) if n is not DOWN]
        held: list[Replicas] = [n.replicas for n in nodes if not isinstance(n, SinkState)]
        messages = (*ends.down, *ends.up)
        held += [m.replicas for m in messages if isinstance(m, Ack | Restore)]
        for replicas in held:
            yield from (b.trim[self.at] for name, b in replicas if name == self.v.name)
        if isinstance(ends.successor, OperatorNode):
            yield ends.successor.mine.trim[self.at]

    # --- paths -------------------------------------------------------------------------------
    def path(self, run: Run) -> Path:
        places = {place for s in run.states for place in (s.base, s.cursor, s.heard, s.farthest)}
        rigid = self.rigid(run.arrivals, run.unneeded, run.messages, frozenset(places))
        events = rigid.sorts["event"]
        return Path(rigid, tuple(_tables(s, events) for s in run.states), run.initial)

    def rigid(
        self,
        arrivals: Arrivals,
        unneeded: frozenset[int],
        messages: tuple[Event, ...],
        places: frozenset[SN],
    ) -> Structure:
        """The same structure for the same arguments, so that its axioms are asked once."""
        key = arrivals, unneeded, messages, places
        if key not in self.rigids:
            # Message 0 has left the channel before all others; it is no event's.
            told = dict(enumerate(messages, 1))
            events = {message: self.event(said, arrivals) for message, said in told.items()}
            numbers = {i: event.sn for i, event in enumerate(self.events(arrivals))}
            if -1 in events.values():
                numbers[-1] = NOTHING
            stamps = {0: NOTHING, **{message: said.sn for message, said in told.items()}}
            self.rigids[key] = Structure(
                {
                    "event": tuple(numbers),
                    "number": {NOTHING, *numbers.values(), *stamps.values(), *places},
                    "message": tuple(stamps),
                },
                {
                    "le": lambda p, q: p <= q,
                    "nothing": NOTHING,
                    "number": numbers,
                    "unneeded": {i: i in unneeded for i in numbers},
                    "event": {0: next(iter(numbers), -1), **events},
                    "stamp": stamps,
                    "before": lambda m, k: m < k,
                    "then": lambda m, k: m + 1 == k,
                },
            )
        return self.rigids[key]


class _Steps:
    """The abstract steps of one step of one end of an edge."""

    def __init__(self, edge: _Edge, arrivals: Arrivals, before: Ends, after: Ends) -> None:
        self.edge, self.arrivals = edge, arrivals
        self.before, self.after = before, after
        self.unneeded: frozenset[int] = frozenset()
        heard = edge.answered(before.successor, before.down)
        self.messages = [m for m in heard or () if isinstance(m, Event)]
        trims = [*edge.trims(before), *edge.trims(after)]
        self.now = self._first(heard, max(trims, default=NOTHING))
        self.states = [self.now]

    def _first(self, heard: tuple[Any, ...] | None, farthest: SN) -> State:
        empty: frozenset[int] = frozenset()
        state = State(
            False, NOTHING, NOTHING, 0, len(self.messages), False, NOTHING, farthest, *[empty] * 3
        )
        running = self.edge.gives(self.before.producer, self.arrivals)
        if running is not None:
            state = state._replace(running=True, base=running[0], cursor=running[1])
        if heard is not None:
            state = self._listening(state, self.before, heard)
            state = state._replace(farthest=max(farthest, state.heard))
        elif running is not None:
            state = state._replace(cursor=state.base)  # nobody listens: an answer begins there
        ever = self.edge.up_to(state.farthest, self.arrivals) - self.unneeded
        return state._replace(ever=ever | state.done)

    def _listening(self, state: State, ends: Ends, heard: tuple[Any, ...]) -> State:
        """What the successor has heard, and what has an effect."""
        node, edge = ends.successor, self.edge
        if isinstance(node, SinkState):
            bodies = (body for at, body in ends.outputs if at == edge.at)
            done, doubled = _effects(bodies, edge.events(self.arrivals))
            return state._replace(
                listening=True, heard=node.heard[edge.at], done=done, doubled=doubled
            )
        savepoint = edge.savepoint(node, heard)
        if not state.listening and not self.unneeded:
            self.unneeded = edge.skipped(savepoint, self.arrivals)
        inlet = node.inlets[edge.at]
        place = max(inlet.heard, savepoint.trim[edge.at])
        done = edge.up_to(place, self.arrivals) - self.unneeded
        return state._replace(listening=True, heard=place, done=done)

    def run(self, initial: bool) -> Run:
        self.to(**self.seen_after())
        messages = tuple(self.messages)
        return Run(self.arrivals, self.unneeded, messages, tuple(self.states), initial)

    def seen_after(self) -> dict[str, Any]:
        """The world after the step, as its own first state would be: paths join.  What cannot be
        seen there, and does not matter to what follows, stays."""
        after, edge, now = self.after, self.edge, self.now
        heard = edge.answered(after.successor, after.down)
        running = edge.gives(after.producer, self.arrivals)
        seen: dict[str, Any] = {
            "running": running is not None,
            "listening": heard is not None,
            "gone": now.sent - _events(heard or ()),
        }
        if running is not None:
            seen["base"] = running[0]
        if heard is not None:
            state = self._listening(now, after, heard)
            seen |= {"heard": state.heard, "done": state.done, "doubled": state.doubled}
            if running is not None:
                seen["cursor"] = running[1]
        return seen

    def to(self, **changes: Any) -> None:
        state = self.now._replace(**changes)
        if state != self.now:
            self.now = state
            self.states.append(state)

    def forgotten(self) -> None:
        self.to(listening=False, heard=NOTHING, done=frozenset(), gone=self.now.sent)

    # --- the producer ------------------------------------------------------------------------
    def of_producer(self, whole: Any) -> None:
        """whole: its state after the whole step; None if it only crashes."""
        before, after, edge = self.before, self.after, self.edge
        if whole is not None:
            gives = edge.gives(whole, self.arrivals)
            if gives is not None:
                self.stands(gives[0])
            for message in after.down[len(before.down) :]:
                self.sends(message)
            if gives is not None and after.producer is not DOWN and self.now.listening:
                self.passes(gives[1])
        if after.producer is DOWN:
            lost = whole is None and before.down and not after.down
            forgotten = edge.answered(after.successor, after.down) is None
            if lost and self.now.listening and forgotten:
                self.to(
                    running=False,
                    listening=False,
                    heard=NOTHING,
                    done=frozenset(),
                    gone=self.now.sent,
                )
            else:
                self.to(running=False, gone=self.now.sent if lost else self.now.gone)

    def stands(self, base: SN) -> None:
        """Restored, or acknowledged."""
        if not self.now.running:
            self.to(running=True, base=base, cursor=base)
        elif base != self.now.base:
            self.to(base=base, cursor=max(self.now.cursor, base))

    def sends(self, message: Any) -> None:
        if isinstance(message, Restore):
            self.answers(message)
        elif isinstance(message, Event) and self.now.listening:
            self.messages.append(message)
            self.to(sent=self.now.sent + 1, cursor=max(self.now.cursor, message.sn))

    def passes(self, cursor: SN) -> None:
        """Over what its last step has left out."""
        if len(self.states) > 1:
            del self.states[-1]
            self.now = self.now._replace(cursor=cursor)
            self.states.append(self.now)
        else:
            self.to(cursor=cursor)

    def answers(self, message: Restore) -> None:
        node = self.after.successor
        if self.now.listening:
            self.to(cursor=self.now.base)
        elif self.edge.answered(node, (message,)) is not None:
            state = self._listening(self.now, self.after, (message,))
            ever = self.edge.up_to(state.farthest, self.arrivals) - self.unneeded
            if ever != self.now.ever:  # what is unneeded is known only now
                self.now = self.now._replace(ever=ever)
                self.states[:] = [s._replace(ever=ever) for s in self.states]
            self.to(
                listening=True,
                heard=state.heard,
                done=state.done,
                cursor=self.now.base,
                gone=self.now.sent,
            )

    # --- the successor -----------------------------------------------------------------------
    def of_successor(self, message: Any) -> None:
        """message: what it takes from the producer."""
        if not self.now.listening:
            return
        heard = self.edge.answered(self.after.successor, self.after.down)
        if heard is None:
            self.forgotten()
        elif isinstance(message, Event) and _events(heard) < len(self.messages):
            self.takes(message, heard)
        else:
            state = self._listening(self.now, self.after, heard)
            self.to(heard=state.heard, done=state.done)

    def takes(self, message: Event, heard: tuple[Any, ...]) -> None:
        """The operator has changed, its queue has, or the sink has given something out."""
        now, event = self.now, self.edge.event(message, self.arrivals)
        state = self._listening(now, self.after, heard)
        effect = frozenset({event} if _taken(self.edge, self.before, self.after) else ())
        effect -= self.unneeded
        self.to(
            gone=len(self.messages) - _events(heard),
            heard=state.heard,
            farthest=max(now.farthest, state.heard),
            done=now.done | effect,
            ever=now.ever | effect,
            doubled=now.doubled | (effect & now.done),
        )


def _events(channel: tuple[Any, ...]) -> int:
    return sum(isinstance(message, Event) for message in channel)


def _taken(edge: _Edge, before: Ends, after: Ends) -> bool:
    """Has the successor done anything with an event?"""
    one, other = before.successor, after.successor
    if isinstance(one, SinkState):
        return before.outputs != after.outputs
    if not isinstance(one, OperatorNode) or not isinstance(other, OperatorNode):
        return False
    queues = one.inlets[edge.at].queue, other.inlets[edge.at].queue
    return one.operator != other.operator or queues[0] != queues[1]


def _effects(
    bodies: Iterable[Body], events: tuple[Event, ...]
) -> tuple[frozenset[int], frozenset[int]]:
    """Which events a sink has given out, and which of them twice; events may have equal bodies."""
    done: list[int] = []
    doubled: set[int] = set()
    for body in bodies:
        alike = [i for i, event in enumerate(events) if event.body == body]
        new = [i for i in alike if i not in done]
        done += new[:1]
        doubled |= {*alike} if not new else set()
    return frozenset(done), frozenset(doubled)


def _tables(state: State, events: Iterable[int]) -> dict[str, Any]:
    sets = {
        name: {i: i in getattr(state, name) for i in events} for name in ("done", "ever", "doubled")
    }
    return {**state._asdict(), **sets}


def _paths(system: System) -> Paths:
    reference, sites = Reference(system), system.sites
    edges = [_Edge(system, reference, sites[u], sites[v]) for u, v in system.scope.graph.edges]

    def paths(before: World, action: Action, after: World) -> Iterator[Path]:
        for edge in edges:
            if action.node in (edge.u.name, edge.v.name):
                yield from edge.paths(before, action, after)

    return paths


ABSTRACTIONS = (Abstraction("every event has its effect once", system, _paths),)
