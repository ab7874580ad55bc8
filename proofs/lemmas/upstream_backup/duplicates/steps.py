"""The abstract steps of one step of one end of an edge, in the symbols of the lemma.

Rule of this file: an event had an effect if the outputs of a sink or the state of an operator show
it, whatever number it has heard.

An operator keeps no list of the events that it has processed.  That it has processed all it has
heard, once and in order, is an invariant here; every edge of the explorer is asked to keep it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.events import NOTHING, SN, Event
from model.protocols.upstream_backup.buffers import Restore
from model.protocols.upstream_backup.states import SinkNode
from model.world import DOWN
from proofs.lemmas.upstream_backup.duplicates.ends import EdgeEnds, EdgeView
from proofs.lemmas.upstream_backup.reference import Arrivals
from proofs.prove.conformance import Path

Events = frozenset[int]
NONE: Events = frozenset()


class EdgeState(NamedTuple):
    """The state of the lemma.  Messages are numbered as they are sent, events as they occur in the
    failure-free run."""

    sent: int
    gone: int = 0
    running: bool = False
    base: SN = NOTHING
    cursor: SN = NOTHING
    listening: bool = False
    heard: SN = NOTHING
    farthest: SN = NOTHING
    done: Events = NONE
    ever: Events = NONE
    doubled: Events = NONE

    def forgotten(self) -> EdgeState:
        """The successor has lost its state, and what was sent to it is not taken."""
        return self._replace(listening=False, heard=NOTHING, done=NONE, gone=self.sent)


class AbstractSteps:
    """The abstract steps of one step of one end of an edge.  messages: those in the channel at
    first and those that enter it, in order."""

    def __init__(
        self, edge: EdgeView, arrivals: Arrivals, before: EdgeEnds, after: EdgeEnds
    ) -> None:
        self.edge, self.arrivals = edge, arrivals
        self.before, self.after = before, after
        self.unneeded = NONE
        heard = edge.answered(before.successor, before.down)
        self.messages = [m for m in heard or () if isinstance(m, Event)]
        self.now = self._first(heard)
        self.states = [self.now]

    def _first(self, heard: tuple[Any, ...] | None) -> EdgeState:
        trims = (*self.edge.trims(self.before), *self.edge.trims(self.after))
        state = EdgeState(len(self.messages), farthest=max(trims, default=NOTHING))
        running = self.edge.gives(self.before.producer, self.arrivals)
        if running is not None:
            base, cursor = running
            # If nobody listens, an answer begins at the base.
            cursor = base if heard is None else cursor
            state = state._replace(running=True, base=base, cursor=cursor)
        if heard is not None:
            state = self._listening(state, self.before, heard)
            state = state._replace(farthest=max(state.farthest, state.heard))
        return state._replace(ever=self._needed_up_to(state.farthest) | state.done)

    def _needed_up_to(self, place: SN) -> Events:
        return self.edge.up_to(place, self.arrivals) - self.unneeded

    def _listening(self, state: EdgeState, ends: EdgeEnds, heard: tuple[Any, ...]) -> EdgeState:
        """The events that the successor has heard, and those that have an effect."""
        node, edge = ends.successor, self.edge
        if isinstance(node, SinkNode):
            given = [body for at, body in ends.outputs if at == edge.at]
            done, doubled = edge.effects(given, self.arrivals)
            heard_ = node.heard[edge.at]
            return state._replace(listening=True, heard=heard_, done=done, doubled=doubled)
        savepoint = edge.savepoint(node, heard)
        if not state.listening and not self.unneeded:
            self.unneeded = edge.skipped(savepoint, self.arrivals)
        place = max(node.inlets[edge.at].heard, savepoint.trim[edge.at])
        return state._replace(listening=True, heard=place, done=self._needed_up_to(place))

    def path(self, initial: bool) -> Path:
        """All steps; the world after them, as its own first state would be: paths join.  What
        cannot be seen there, and does not matter to what follows, stays."""
        now, edge = self.now, self.edge
        heard = edge.answered(self.after.successor, self.after.down)
        running = edge.gives(self.after.producer, self.arrivals)
        if heard is not None:
            now = self._listening(now, self.after, heard)
        now = now._replace(
            running=running is not None,
            listening=heard is not None,
            gone=now.sent - _events(heard or ()),
        )
        if running is not None:
            base, cursor = running
            now = now._replace(base=base, cursor=now.cursor if heard is None else cursor)
        self.become(now)
        places = {place for s in self.states for place in (s.base, s.cursor, s.heard, s.farthest)}
        messages = tuple(self.messages)
        rigid = edge.structure(self.arrivals, self.unneeded, messages, frozenset(places))
        sets = [
            {name: {i: i in held for i in rigid.sorts["event"]} for name, held in _sets(state)}
            for state in self.states
        ]
        tables = zip(self.states, sets, strict=True)
        return Path(rigid, tuple(state._asdict() | held for state, held in tables), initial)

    def to(self, **changes: Any) -> None:
        self.become(self.now._replace(**changes))

    def become(self, state: EdgeState) -> None:
        if state != self.now:
            self.now = state
            self.states.append(state)

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
            unanswered = edge.answered(after.successor, after.down) is None
            now = self.now.forgotten() if lost and self.now.listening and unanswered else self.now
            self.become(now._replace(running=False, gone=now.sent if lost else now.gone))

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
        """Over the events that its last step has left out."""
        if len(self.states) > 1:
            self.now = self.states[-1] = self.now._replace(cursor=cursor)
        else:
            self.to(cursor=cursor)

    def answers(self, message: Restore) -> None:
        now = self.now
        if now.listening:
            self.to(cursor=now.base)
        elif self.edge.answered(self.after.successor, (message,)) is not None:
            state = self._listening(now, self.after, (message,))
            # Which events are unneeded is known only now.
            ever = self._needed_up_to(state.farthest)
            self.states[:] = [s._replace(ever=ever) for s in self.states]
            self.now = self.states[-1]
            self.become(state._replace(ever=ever, cursor=now.base, gone=now.sent))

    # --- the successor -----------------------------------------------------------------------
    def of_successor(self, message: Any) -> None:
        """message: that it takes from the producer."""
        if not self.now.listening:
            return
        heard = self.edge.answered(self.after.successor, self.after.down)
        if heard is None:
            self.become(self.now.forgotten())
        elif isinstance(message, Event) and _events(heard) < len(self.messages):
            self.takes(message, heard)
        else:
            state = self._listening(self.now, self.after, heard)
            self.to(heard=state.heard, done=state.done)

    def takes(self, message: Event, heard: tuple[Any, ...]) -> None:
        """The operator has changed, its queue has, or the sink has given something out."""
        now, event = self.now, self.edge.event(message, self.arrivals)
        place = self._listening(now, self.after, heard).heard
        effect = {event} if self.edge.changed(self.before, self.after) else NONE
        effect -= self.unneeded
        self.to(
            gone=len(self.messages) - _events(heard),
            heard=place,
            farthest=max(now.farthest, place),
            done=now.done | effect,
            ever=now.ever | effect,
            doubled=now.doubled | (effect & now.done),
        )


def _events(channel: tuple[Any, ...]) -> int:
    return sum(isinstance(message, Event) for message in channel)


def _sets(state: EdgeState) -> tuple[tuple[str, Events], ...]:
    return ("done", state.done), ("ever", state.ever), ("doubled", state.doubled)
