"""One run of any splitter: where an event opens, fills and expires windows.

Rule of this file: one event in one run; a window is named by the event that opened it.

A splitter is any relation between the event at hand, the openers of the newest window and of the
window concerned, and how many events have passed (model.cep.windows.Splitter).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import z3
from z3 import And, DeclareSort, ForAll, Function, If, Implies, Not, Or

from proofs.prove.orders import TotalOrder
from proofs.prove.symbols import AtTime, Symbol

EVENT, BOOL, INT = DeclareSort("event"), z3.BoolSort(), z3.IntSort()
events = TotalOrder(EVENT)
le, before = events.le, events.less
e, f, w, v = z3.Consts("e f w v", EVENT)

closer = Function("closer", EVENT, EVENT, BOOL)
"""Does a script say that the event fills the window?"""

RUN: dict[str, tuple[Any, ...]] = {
    "opened": (EVENT, BOOL),
    "open": (EVENT, BOOL),
    "held": (EVENT, INT),  # how many events; of closed windows anything
    "newest": (EVENT,),  # before one has opened, anything
    "begun": (BOOL,),
    "since": (INT,),  # events since then, its opener included
}
"""The state of a run: the name and the sorts of each symbol."""


class SymbolicSplitter:
    """fresh: the event opens a window if it is the first to do so.  The others read counts.

    suffix: of the names of its functions, and of the symbols of its run.
    """

    def __init__(self, suffix: str) -> None:
        self.suffix = suffix
        self.fresh = Function(f"fresh{suffix}", EVENT, BOOL)
        self.opens = Function(f"opens{suffix}", EVENT, EVENT, INT, BOOL)
        self.expires = Function(f"expires{suffix}", EVENT, EVENT, INT, BOOL)
        self.completes = Function(f"completes{suffix}", EVENT, EVENT, INT, BOOL)
        self.symbols = tuple(Symbol(f"{name}{suffix}", *sorts) for name, sorts in RUN.items())
        self.names = tuple(symbol.name for symbol in self.symbols)

    def state(self, s: AtTime) -> Any:
        """The symbols of the run, without the suffix."""
        return SimpleNamespace(**{name: getattr(s, f"{name}{self.suffix}") for name in RUN})


ORIGINAL, AGAIN = SymbolicSplitter(""), SymbolicSplitter("_again")


@dataclass(frozen=True)
class SplitIteration:
    """One event in one run.

    script: whether it replaces the counts of the splitter, and whether the event opens a window
    by it.
    """

    s: AtTime
    splitter: SymbolicSplitter
    event: Any
    script: tuple[Any, Any] | None = None

    @cached_property
    def was(self) -> Any:
        return self.splitter.state(self.s)

    @cached_property
    def opens(self) -> Any:
        counted = self.splitter.opens(self.event, self.was.newest, self.was.since)
        opens = If(self.was.begun, counted, self.splitter.fresh(self.event))
        return If(*self.script, opens) if self.script else opens

    def new(self, window: Any) -> Any:
        return And(window == self.event, self.opens)

    def expired(self, window: Any) -> Any:
        expires = self.splitter.expires(self.event, window, self.was.held(window))
        return And(self.was.open(window), expires)

    def holds(self, window: Any) -> Any:
        return Or(self.new(window), And(self.was.open(window), Not(self.expired(window))))

    def held(self, window: Any) -> Any:
        """The count with this event, if the window holds it."""
        return If(self.new(window), 1, self.was.held(window) + 1)

    def filled(self, window: Any) -> Any:
        full = self.splitter.completes(self.event, window, self.held(window))
        if self.script:
            full = If(self.script[0], closer(self.event, window), full)
        return And(self.holds(window), full)

    def answers(self, splitter: SymbolicSplitter, newest: Any) -> tuple[Any, Any, Any]:
        """The answers of a splitter about the event, with the counts of this run: does it open a
        window, let the window w expire, fill it?"""
        opens = splitter.opens(self.event, newest, self.was.since)
        expires = splitter.expires(self.event, w, self.was.held(w))
        return opens, expires, splitter.completes(self.event, w, self.held(w))

    def leads_to(self, t: AtTime) -> Any:
        was, is_ = self.was, self.splitter.state(t)
        return And(
            ForAll([w], is_.opened(w) == Or(was.opened(w), self.new(w))),
            ForAll([w], is_.open(w) == And(self.holds(w), Not(self.filled(w)))),
            ForAll([w], Implies(is_.open(w), is_.held(w) == self.held(w))),
            is_.newest == If(self.opens, self.event, was.newest),
            is_.begun == Or(was.begun, self.opens),
            Implies(is_.begun, is_.since == If(self.opens, 1, was.since + 1)),
        )
