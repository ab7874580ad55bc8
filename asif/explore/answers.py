"""The answers of `asif explore` to the questions of its page, as values.

Rule of this file: no HTTP; a question is a protocol's scope and an address, and an answer a frozen
value or a text.  Questions about worlds are answered one after the other; one search runs beside
them, which a protocol of pure functions bears.
"""

from __future__ import annotations

from functools import cache
from threading import Lock

from model.core import Guarantee
from model.errors import Invalid, StepFailed, words_of
from model.evidence import PinnedScope
from model.protocol import Protocol
from model.registry import absolute
from model.results.explored import (
    ExploredWorld,
    ListedScope,
    ListedScopes,
    SavedRun,
    ShortestRun,
)
from proofs.explore.explorer import explore
from proofs.explore.random_attack import pytest_of_run
from proofs.explore.stepping.by_hand import Address, Walker
from proofs.explore.stepping.saved_runs import saved_run, scope_of

SEARCHED = 400_000
"""The worlds that a search for a shortest counterexample sees."""
SECONDS = 30.0
"""The time that it takes at most."""


def read_address(text: str) -> Address:
    """The address in a text such as "3.0.12"; "" is the beginning.  Raises Invalid."""
    parts = text.split(".") if text else []
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise Invalid(f"{text[:60]!r} is no address of a state: write numbers, as in 3.0.12")
    return tuple(map(int, parts))


class PageAnswers:
    """The answers about a protocol.

    called: the protocol as `asif check` takes it.  first: the scope to begin with.  Raises Invalid
    if the protocol cannot be deployed there, or if a node cannot boot.
    """

    def __init__(self, called: str, protocol: Protocol, first: PinnedScope) -> None:
        self.called, self.protocol, self.first = called, protocol, first
        self._lock = Lock()
        self._searching = Lock()
        self._walker = cache(self._make_walker)
        self._shortest = cache(self._search)
        self._walker(first.name)

    def scopes(self) -> ListedScopes:
        """The protocol and its scopes."""
        scopes = (ListedScope(one.name, one.expect.value) for one in self.protocol.evidence.scopes)
        title = self.protocol.words.title
        return ListedScopes(self.protocol.name, title, tuple(scopes), self.first.name)

    def world(self, scope: str, run: str) -> ExploredWorld:
        """The world at an address.  Raises Invalid."""
        with self._lock:
            return self._walker(scope).look(read_address(run))

    def saved(self, scope: str, run: str) -> SavedRun:
        """The run as `asif check --run` replays it.  Raises Invalid."""
        with self._lock:
            walker = self._walker(scope)
            found = walker.look(read_address(run))
            called = absolute(self.called)
            return saved_run(called, scope, walker.trace(found.address), found.broken)

    def test(self, scope: str, run: str) -> str:
        """The text of a pytest module that replays the run.  Raises Invalid."""
        with self._lock:
            walker = self._walker(scope)
            found = walker.look(read_address(run))
            actions = walker.trace(found.address).actions
            return pytest_of_run(absolute(self.called), scope, actions, found.broken)

    def shortest(self, scope: str) -> ShortestRun:
        """The shortest counterexample of the scope.  Raises Invalid."""
        with self._searching:
            return self._shortest(scope)

    def _search(self, scope: str) -> ShortestRun:
        pinned = scope_of(self.protocol, scope)
        found = explore(
            self.protocol,
            pinned.scope,
            until=Guarantee.PRECISE,
            limit=SEARCHED,
            seconds=SECONDS,
        )
        shown = found.counterexample
        if shown is None and found.complete:
            return ShortestRun(
                f"In “{scope}” there is no counterexample: all {found.states:,} worlds are as they "
                "should be."
            )
        if shown is None:
            return ShortestRun(
                f"In “{scope}” none was found among the first {found.states:,} worlds."
            )
        with self._lock:
            address = self._walker(scope).address_of(shown.trace.actions)
        steps = len(address)
        says = f"The shortest counterexample in “{scope}” has {steps} step{'s' * (steps != 1)}."
        return ShortestRun(f"{says}  It violates: {shown.property.name}.", address)

    def _make_walker(self, scope: str) -> Walker:
        try:
            return Walker(self.protocol, scope_of(self.protocol, scope))
        except StepFailed as error:
            raise Invalid(f"a step fails: {words_of(error)}") from error
