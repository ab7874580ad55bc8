"""What the operator of the model does, seen as the product of replay.py with numbers.

Rule of this file: no formula.  It runs the operator without failures, and tells every iteration of
every incarnation beside that.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from model.cep.engines import Matches
from model.cep.operator import Operator
from model.cep.savepoint import Place
from model.core import NodeName, Site
from model.events import NOTHING, Body, Event
from model.protocols.upstream_backup.layouts import Window
from model.protocols.upstream_backup.nodes import OperatorNode
from model.protocols.upstream_backup.savepoints import OperatorState, origin, push, restore
from model.world import Action, Deliver, System, World
from proofs.lemmas.upstream_backup.reference import Iteration, Reference, Taken, iterations
from proofs.lemmas.upstream_backup.replay.numbers import numbering
from proofs.prove.conformance import Abstraction, Path
from proofs.prove.structure import Structure


class Machine(NamedTuple):
    """The engine of an operator; serially processed, it holds its matches back until the close."""

    operator: Operator

    def begin(self) -> Any:
        state = self.operator.engine.begin()
        return state if self.operator.parallel else (state, ())

    def delta(self, state: Any, body: Body) -> Any:
        if self.operator.parallel:
            return self.operator.engine.feed(state, body).state
        inner, held = state
        fed = self.operator.engine.feed(inner, body)
        return fed.state, (*held, *fed.matches)

    def gives(self, state: Any, body: Body) -> Any:
        return self.operator.engine.feed(state, body).matches if self.operator.parallel else ()

    def closing(self, state: Any) -> Any:
        if self.operator.parallel:
            return self.operator.engine.close(state)
        inner, held = state
        return (*held, *self.operator.engine.close(inner))

    def inner(self, state: OperatorState, window: Window) -> Any:
        if self.operator.parallel:
            return window.state
        inner = self.begin()
        for at, body in enumerate(state.cep.queue, state.cep.base):
            if at >= window.inner.at:
                inner = self.delta(inner, body)
        return inner


class Original(NamedTuple):
    """The failure-free run up to an event.  states: before the first event, and after each.

    A window is known by the position of the event that opened it, and so is one yet to come, with
    the position after the last; got: by position and window, the matches.
    """

    inputs: tuple[Taken, ...]
    machine: Machine
    states: tuple[OperatorState, ...]
    at: Mapping[Place, int]
    got: Mapping[tuple[int, int], Matches]
    ends: Mapping[tuple[int, int], bool]
    numbers: Mapping[int, int]

    @property
    def coming(self) -> int:
        return len(self.inputs)

    @property
    def openers(self) -> tuple[int, ...]:
        return (*self.numbers, self.coming)


def _windows(state: OperatorState) -> tuple[Window, ...]:
    return (*state.closed, *state.open)


def original_run(site: Site, inputs: tuple[Taken, ...]) -> Original:
    scheme = site.config.design.scheme
    state = restore(scheme, origin(scheme, len(site.preds)))
    at = {(edge_, event.sn): position for position, (edge_, event) in enumerate(inputs)}
    states, got, ends = [state], {}, {}
    for position, (edge_, event) in enumerate(inputs):
        ended = len(state.closed)
        state, outputs = push(site.spec, scheme, state, edge_, event)
        states.append(state)
        for opened, matches in _by_window(outputs, state, at).items():
            got[position, opened] = matches
        for window in (*state.closed,)[ended:]:
            ends[position, at[window.opener]] = window.closer is not None
    numbers = {at[window.opener]: window.number for window in _windows(state)}
    return Original(inputs, Machine(site.spec), tuple(states), at, got, ends, numbers)


def _by_window(
    outputs: Iterable[Event], state: OperatorState, at: Mapping[Place, int]
) -> dict[int, Matches]:
    """The matches of an iteration by window, which is the last part but one of their numbers."""
    openers = {window.number: at[window.opener] for window in _windows(state)}
    got: dict[int, Matches] = {}
    for event in outputs:
        window = openers[event.sn[-2]]
        got[window] = (*got.get(window, ()), event.body.data)
    return got


class _Sight:
    """A world system, and what has been seen of it."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.reference = Reference(system)
        self.originals: dict[tuple[NodeName, tuple[Taken, ...]], Original] = {}
        self.rigids: dict[tuple[int, int, int, int], Structure] = {}
        self.known: set[tuple[Any, ...]] = set()

    def paths(self, world: World, action: Action, after: World) -> Iterator[Path]:
        if not isinstance(action, Deliver):
            return
        site = self.system.sites[action.node]
        node = world.nodes[self.system.node_at[action.node]].state
        if not isinstance(node, OperatorNode):
            return
        message = world.channels[self.system.channel_at[action.sender, action.node]][0]
        for iteration in iterations(site, node, action.sender, message):
            inputs = self.reference.inputs(site.name, after.arrivals)
            taken = (iteration.edge, iteration.event)
            inputs = inputs[: inputs.index(taken) + 1]
            key = (site.name, inputs, iteration.before)
            if key not in self.known:
                self.known.add(key)
                yield self.path(self.original(site, inputs), iteration)

    def original(self, site: Site, inputs: tuple[Taken, ...]) -> Original:
        key = (site.name, inputs)
        if key not in self.originals:
            self.originals[key] = original_run(site, inputs)
        return self.originals[key]

    def path(self, run: Original, iteration: Iteration) -> Path:
        """From where the operator is: events that it does not get, then what it does with this
        one.  An operator without a window has not reached the replay start."""
        last, here = _last(run, iteration.before), run.coming - 1
        before, after = _windows(iteration.before), _windows(iteration.after)
        replay = seen_again(run, iteration.before, last, {}, bool(before))
        states = [seen_originally(run, last, {}) | replay]
        states += [seen_originally(run, at, run.got) | replay for at in range(last + 1, here)]
        if after and not before:
            states.append(states[-1] | {"replaying": True})
        got = _by_window(iteration.outputs, iteration.after, run.at)
        replay = seen_again(run, iteration.after, here if after else last, got, bool(after))
        replay["done_again"] |= {here: bool(after)}
        states.append(seen_originally(run, here, run.got) | replay)
        first_ = run.at[before[0].opener] if before else here if after else run.coming
        seed_ = before[0].number if before else iteration.before.cep.opened + 1
        return Path(self.rigid(run, first_, seed_), tuple(states), initial=last < 0 and not before)

    def rigid(self, run: Original, first_: int, seed_: int) -> Structure:
        named_ = run.numbers.get(first_, run.states[-1].cep.opened + 1)
        key = (id(run), first_, seed_, named_)
        if key not in self.rigids:
            self.rigids[key] = seen_rigid(run, first_, seed_, named_)
        return self.rigids[key]


def _last(run: Original, state: OperatorState) -> int:
    """The position of the last event that the operator has consumed."""
    return max(run.at.get(place, -1) for place in enumerate(state.last))


@dataclass(frozen=True, eq=False)
class _Made:
    """The matches up to a position, as a relation; equal to itself alone."""

    got: Mapping[tuple[int, int], Matches]
    position: int

    def __call__(self, at: int, opened: int, index: int) -> bool:
        return at <= self.position and index < len(self.got.get((at, opened), ()))


def seen_originally(
    run: Original, position: int, got: Mapping[tuple[int, int], Matches]
) -> dict[str, Any]:
    """After the original run has processed `position`."""
    state = run.states[position + 1]
    mine = {run.at[window.opener]: window for window in state.open}
    numbers = {opened: run.numbers.get(opened, 0) for opened in run.openers}
    return {
        "done": {at: at <= position for at in range(run.coming + 1)},
        "open": {opened: opened in mine for opened in run.openers},
        "inner": {opened: run.machine.inner(state, window) for opened, window in mine.items()},
        "got": {opened: got.get((position, opened), ()) for opened in run.openers},
        "opened": state.cep.opened,
        "label": {opened: n if opened <= position else 0 for opened, n in numbers.items()},
        "now": position,
        "made": _Made(run.got, position),
    }


def seen_again(
    run: Original, state: OperatorState, last: int, got: Mapping[int, Matches], started: bool
) -> dict[str, Any]:
    """After the operator has processed `last` in its present incarnation."""
    theirs = {run.at[window.opener]: window for window in state.open}
    known = {run.at[window.opener]: window.number for window in _windows(state)}
    return {
        "replaying": started,
        "done_again": dict.fromkeys(range(run.coming + 1), False),
        "open_again": {opened: opened in theirs for opened in run.openers},
        "again": {opened: run.machine.inner(state, window) for opened, window in theirs.items()},
        "got_again": {opened: got.get(opened, ()) for opened in run.openers},
        "opened_again": state.cep.opened,
        "label_again": {opened: known.get(opened, 0) for opened in run.openers},
        "now_again": last,
    }


def seen_rigid(run: Original, first_: int, seed_: int, named_: int) -> Structure:
    bodies = [event.body for _, event in run.inputs]
    machine = run.machine
    # The event to come is later than all others.
    times = {at: body.time for at, body in enumerate(bodies)} | {run.coming: math.inf}
    edges = {at: edge_ for at, (edge_, _) in enumerate(run.inputs)} | {run.coming: 0}
    sns = {at: event.sn for at, (_, event) in enumerate(run.inputs)} | {run.coming: NOTHING}
    most = max(map(len, run.got.values()), default=1)
    placed: dict[str, Any] = {"opener": lambda opened: opened}
    for again_ in ("", "_again"):
        placed |= {
            f"opens{again_}": lambda at, opened: at == opened,
            f"expires{again_}": lambda at, opened: run.ends.get((at, opened)) is False,
            f"completes{again_}": lambda at, opened: run.ends.get((at, opened)) is True,
            f"time{again_}": times,
            f"sn{again_}": sns,
        }
    return Structure(
        {"position": range(run.coming + 1), "window": run.openers, "index": range(most)},
        {
            **placed,
            "edge": edges,
            "le": lambda a, b: a <= b,
            "index_le": lambda a, b: a <= b,
            "first": first_,
            "begin": machine.begin(),
            "delta": lambda state, at: machine.delta(state, bodies[at]),
            "gives": lambda state, at: machine.gives(state, bodies[at]),
            "closing": machine.closing,
            "joined": lambda a, b: (*a, *b),
            "none": (),
            "has": lambda output, index: index < len(output),
            "seed": seed_,
            "named": named_,
        },
    )


ABSTRACTIONS = (
    Abstraction("original run and replay", numbering, lambda world: _Sight(world).paths),
)
