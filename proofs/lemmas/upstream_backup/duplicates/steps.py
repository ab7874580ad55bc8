"""The abstract steps of one step of one end of an edge, in the symbols of the lemma.

Rule of this file: what had an effect, the outputs of a sink or the change of an operator say, and
not the number that it has heard.

An operator keeps no list of what it has processed.  That it has processed all it has heard, once
and in order, is an invariant here; every edge of the explorer is asked to keep it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from model.events import NOTHING, SN, Body, Event
from model.protocols.upstream_backup.buffers import Restore
from model.protocols.upstream_backup.states import OperatorNode, SinkState
from model.world import DOWN
from proofs.lemmas.upstream_backup.duplicates.ends import EdgeEnds, EdgeView
from proofs.lemmas.upstream_backup.reference import Arrivals


class EdgeState(NamedTuple):
    """The state of the lemma.  Messages are numbered as they are sent, events as they occur in the
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


class EdgeRun(NamedTuple):
    """Messages: those in the channel at first and those that enter it, in order."""

    arrivals: Arrivals
    unneeded: frozenset[int]
    messages: tuple[Event, ...]
    states: tuple[EdgeState, ...]
    initial: bool


class AbstractSteps:
    """The abstract steps of one step of one end of an edge."""

    def __init__(
        self, edge: EdgeView, arrivals: Arrivals, before: EdgeEnds, after: EdgeEnds
    ) -> None:
        self.edge, self.arrivals = edge, arrivals
        self.before, self.after = before, after
        self.unneeded: frozenset[int] = frozenset()
        heard = edge.answered(before.successor, before.down)
        self.messages = [m for m in heard or () if isinstance(m, Event)]
        trims = [*edge.trims(before), *edge.trims(after)]
        self.now = self._first(heard, max(trims, default=NOTHING))
        self.states = [self.now]

    def _first(self, heard: tuple[Any, ...] | None, farthest: SN) -> EdgeState:
        empty: frozenset[int] = frozenset()
        state = EdgeState(
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

    def _listening(self, state: EdgeState, ends: EdgeEnds, heard: tuple[Any, ...]) -> EdgeState:
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

    def run(self, initial: bool) -> EdgeRun:
        self.become(self.after_state())
        messages = tuple(self.messages)
        return EdgeRun(self.arrivals, self.unneeded, messages, tuple(self.states), initial)

    def after_state(self) -> EdgeState:
        """The world after the step, as its own first state would be: paths join.  What cannot be
        seen there, and does not matter to what follows, stays."""
        after, edge, now = self.after, self.edge, self.now
        heard = edge.answered(after.successor, after.down)
        running = edge.gives(after.producer, self.arrivals)
        gone = now.sent - _events(heard or ())
        found = now if heard is None else self._listening(now, after, heard)
        found = found._replace(running=running is not None, listening=heard is not None, gone=gone)
        if running is not None:
            found = found._replace(base=running[0])
            if heard is not None:
                found = found._replace(cursor=running[1])
        return found

    def to(self, **changes: Any) -> None:
        self.become(self.now._replace(**changes))

    def become(self, state: EdgeState) -> None:
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


def _taken(edge: EdgeView, before: EdgeEnds, after: EdgeEnds) -> bool:
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
