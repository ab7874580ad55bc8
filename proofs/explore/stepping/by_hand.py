"""A protocol that somebody walks by hand: the world at an address, and the choices there.

Rule of this file: no semantics; model.choices lists the actions, and model.world does them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

from model.actions import Action
from model.choices import enabled, quiescent
from model.core import Property, When
from model.errors import Invalid, StepFailed, describe_error, pass_ctrl_c, words_of
from model.evidence import PinnedScope
from model.graph import NO_GRAPH
from model.observations import first_violation, look_inside, looks_of, observe
from model.properties import guarantee
from model.protocol import Protocol
from model.recovery import WORDS
from model.results.culprit import Culprit
from model.results.explored import ExploredWorld, FaultsLeft, PropertyState
from model.system import System, is_satisfied
from model.world import World, apply, initial
from proofs.explore.culprit.find import find_culprit
from proofs.explore.explorer import Counterexample, Trace
from proofs.explore.stepping.choices import choices_of, refused_crash
from proofs.explore.stepping.run import stepped
from proofs.explore.stepping.violations import violation
from proofs.explore.story import story

Address: TypeAlias = tuple[int, ...]
MOST = 2_000
"""The actions of a run by hand."""
KEPT = 512
"""The worlds that a walker remembers."""


class Walker:
    """A protocol in a scope, to be walked by hand.  Raises Invalid if it cannot be deployed, and
    StepFailed if a node cannot boot."""

    def __init__(self, protocol: Protocol, pinned: PinnedScope) -> None:
        self.protocol, self.pinned = protocol, pinned
        self.system = System(protocol, pinned.scope)
        self._first = initial(self.system)
        self._after = lru_cache(KEPT)(self._take)
        self._judge = lru_cache(KEPT)(self._ask)
        self._culprit = lru_cache(KEPT)(self._find_culprit)

    def trace(self, address: Address) -> Trace:
        """The run with these choices; the step of its last action may fail.

        Raises Invalid if a choice is not among the possible ones.
        """
        if len(address) > MOST:
            raise Invalid(f"the run has {len(address):,} actions; at most {MOST:,} are shown")
        actions: list[Action] = []
        worlds = [self._first]
        for number, choice in enumerate(address, start=1):
            if len(worlds) < number:
                raise Invalid(f"choice {number}: the step before it fails, and ends the run")
            action, after = self._choose(worlds[-1], choice, number)
            actions.append(action)
            worlds += [] if after is None else [after]
        return Trace(self.system, tuple(actions), tuple(worlds))

    def look(self, address: Address) -> ExploredWorld:
        """The world at the address.  Raises Invalid for an illegal one, and if the protocol cannot
        show something."""
        trace = self.trace(address)
        world, failed = trace.worlds[-1], len(trace.actions) == len(trace.worlds)
        rests = not failed and quiescent(self.system, world)
        states = tuple(_properties(self.system, world, rests=rests))
        here, broken = violation(trace, self._judge), self._first_violation(trace)
        if here and (failed or here.circle):
            states = (PropertyState(here.property.name, failed, False), *states)
        name, step = (broken.property.name, len(broken.trace.actions)) if broken else ("", None)
        judged = rests and self.system.scope.graph != NO_GRAPH
        found = guarantee(self.system.scope, observe(world)) if judged else None
        return ExploredWorld(
            protocol=self.protocol.name,
            scope=self.pinned.name,
            address=address,
            run=stepped(
                trace,
                here.circle if here else 0,
                culprit=None if step is None else self._culprit(address[:step]),
                violates=name,
            ),
            choices=() if failed else tuple(choices_of(self.system, world)),
            properties=states,
            left=FaultsLeft(
                world.crashes, world.early, world.disturbances, refused_crash(self.system, world)
            ),
            rests=rests,
            guarantee=found.word if found else "",
            everyday=WORDS[found] if found else "",
            broken=name,
            broken_in=step,
        )

    def address_of(self, actions: Sequence[Action]) -> Address:
        """The address of the run with these actions.  Raises Invalid for one that the world does
        not offer then."""
        world: World | None = self._first
        found: list[int] = []
        for number, action in enumerate(actions, start=1):
            possible = () if world is None else enabled(self.system, world)
            if world is None or action not in possible:
                raise Invalid(f"action {number}: the world offers no {action!r} then")
            found.append(possible.index(action))
            _, world = self._choose(world, found[-1], number)
        return tuple(found)

    def _first_violation(self, trace: Trace) -> Counterexample | None:
        """The run up to the first step that violates something; None: no step does."""
        for steps in range(len(trace.actions) + 1):
            part = Trace(self.system, trace.actions[:steps], trace.worlds[: steps + 1])
            if found := violation(part, self._judge):
                return found
        return None

    def _find_culprit(self, address: Address) -> Culprit | None:
        found = self._first_violation(self.trace(address))
        return None if found is None else find_culprit(found, story(found.trace, found.circle))

    def _ask(self, world: World) -> Property | None:
        """The first property that the world violates; None if none, or if it does not answer."""
        try:
            return first_violation(self.system, world)
        except Invalid:
            return None

    def _choose(self, world: World, choice: int, number: int) -> tuple[Action, World | None]:
        try:
            return self._after(world, choice)
        except IndexError:
            count = len(enabled(self.system, world))
            raise Invalid(
                f"choice {number} is {choice}, and the world there offers {count} actions, from 0"
            ) from None

    def _take(self, world: World, choice: int) -> tuple[Action, World | None]:
        """The action, and the world after it; None: its step fails.  Raises IndexError."""
        action = enabled(self.system, world)[choice]
        try:
            return action, apply(self.system, world, action)
        except StepFailed:
            return action, None


def _properties(system: System, world: World, *, rests: bool) -> Iterator[PropertyState]:
    """The state of each property in the world."""
    seen = look_inside(system, world, looks_of(system, rest=True))
    for one in system.properties:
        always = one.when is When.ALWAYS
        holds, fails = None, ""
        if always or rests:
            try:
                holds = is_satisfied(system, one, seen)
            except Invalid as error:
                fails = words_of(error)
            except BaseException as error:  # of a protocol, which may be anybody's
                pass_ctrl_c(error)
                fails = describe_error(error)
        yield PropertyState(one.name, always, holds, fails)
