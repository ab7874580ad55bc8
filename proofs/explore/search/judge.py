"""The judge: the questions of a search about each observation that it has not met before.

Rule of this file: no search; it evaluates properties and remembers the weakest guarantee.
"""

from __future__ import annotations

from collections.abc import Iterator

from model.core import Guarantee, Observation, Property, When
from model.errors import Invalid, StepFailed, describe_error
from model.observations import looks_of
from model.properties import allowed_outputs, guarantee
from model.system import System, is_satisfied
from proofs.explore.search.samples import SeenSamples


class Judge:
    """The properties of a protocol in a scope.

    always_looks, rest_looks: the parts of the system at which the properties of every world, and
    those at rest, look.  seen, rested: samples of the observations of any worlds, and of those at
    rest.  expected: in some world at rest, do its inputs have a result?
    """

    def __init__(self, system: System) -> None:
        properties = system.properties
        self.system = system
        self.always = [p for p in properties if p.when is When.ALWAYS]
        self.at_rest = [p for p in properties if p.when is When.QUIESCENT]
        self.always_looks = looks_of(system, rest=False)
        self.rest_looks = looks_of(system, rest=True)
        self.guarantee = Guarantee.PRECISE
        self.seen, self.rested = SeenSamples(), SeenSamples()
        self.expected = False

    def broken(self, seen: Observation) -> Property | None:
        """The property that a world with this observation violates, at rest or not."""
        self.seen.add(seen)
        return self._first(self.always, seen)

    def broken_at_rest(self, seen: Observation) -> Property | None:
        """The property that a world at rest violates because it is at rest."""
        self.rested.add(seen)
        failed = self._first(self.at_rest, seen)
        self.guarantee = max(self.guarantee, self._guarantee(seen))
        if not self.expected:
            outs = allowed_outputs(self.system.scope, seen.arrivals)
            self.expected = any(any(edges) for edges in outs)
        return failed

    def _first(self, properties: list[Property], seen: Observation) -> Property | None:
        return next((p for p in properties if not is_satisfied(self.system, p, seen)), None)

    def _guarantee(self, seen: Observation) -> Guarantee:
        try:
            return guarantee(self.system.scope, seen)
        except Invalid:  # of a table's key
            raise
        except BaseException as error:  # of an operator, anybody's
            where = f"{self.system.protocol.name}: what its operators should emit"
            raise Invalid(f"{where}: {describe_error(error)}") from error

    def is_enough(self, until: Guarantee | None) -> bool:
        """Has so weak a guarantee been found?  None: no guarantee is weak enough."""
        return until is not None and self.guarantee >= until

    def missing(self, quiescent: int) -> Iterator[str]:
        """The conditions that were never evaluated in a whole search, a sentence each."""
        if not (self.always or self.at_rest):
            yield "the protocol has no properties"
        if not quiescent:
            yield "nothing came to rest, so no guarantee and no property at rest was evaluated"


class FailedIn(Exception):
    """A step failed in a world."""

    def __init__(self, world: int, error: StepFailed) -> None:
        super().__init__(error)
        self.world, self.error = world, error
