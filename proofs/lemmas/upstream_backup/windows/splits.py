"""One run of any splitter: where an event opens, fills and expires windows.

Rule of this file: one event in one run; a window is named by the event that opened it.

A splitter is any relation between the event at hand, the openers of the newest window and of the
window concerned, and how many events have passed (model.cep.windows.Splitter).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import z3
from z3 import And, DeclareSort, ForAll, Function, If, Implies, Not, Or

from proofs.prove.orders import TotalOrder
from proofs.prove.symbols import AtTime, Symbol

EVENT, BOOL, INT = DeclareSort("event"), z3.BoolSort(), z3.IntSort()
events = TotalOrder(EVENT)
le, before = events.le, events.less
e, f, w, v = z3.Consts("e f w v", EVENT)


class SymbolicSplitter:
    """fresh: the event opens a window if it is the first to do so.  The others read counts."""

    def __init__(self, suffix: str) -> None:
        asked = (EVENT, EVENT, INT, BOOL)
        self.fresh = Function(f"fresh{suffix}", EVENT, BOOL)
        self.opens = Function(f"opens{suffix}", *asked)
        self.expires = Function(f"expires{suffix}", *asked)
        self.completes = Function(f"completes{suffix}", *asked)


ORIGINAL, AGAIN = SymbolicSplitter(""), SymbolicSplitter("_again")

STATE = ("opened", "open", "held", "newest", "begun", "since")


def run_state(suffix: str) -> tuple[Symbol, ...]:
    return (
        Symbol(f"opened{suffix}", EVENT, BOOL),
        Symbol(f"open{suffix}", EVENT, BOOL),
        Symbol(f"held{suffix}", EVENT, INT),  # how many events; of closed windows anything
        Symbol(f"newest{suffix}", EVENT),  # before one has opened, anything
        Symbol(f"begun{suffix}", BOOL),
        Symbol(f"since{suffix}", INT),  # events since then, its opener included
    )


class SplitIteration:
    """One event in one run.

    opens: whether it opens a window, unless the splitter is to say so.  fills: which windows it is
    the last event of, from what the splitter says.
    """

    def __init__(
        self,
        s: AtTime,
        suffix: str,
        splitter: SymbolicSplitter,
        event: Any,
        opens: Any = None,
        fills: Callable[[Any, Any], Any] = lambda full, _window: full,
    ) -> None:
        self.was = {name: getattr(s, f"{name}{suffix}") for name in STATE}
        self.suffix, self.splitter, self.event, self._fills = suffix, splitter, event, fills
        newest, since = self.was["newest"], self.was["since"]
        counted = If(self.was["begun"], splitter.opens(event, newest, since), splitter.fresh(event))
        self.opens = counted if opens is None else opens

    def new(self, window: Any) -> Any:
        return And(window == self.event, self.opens)

    def expired(self, window: Any) -> Any:
        expires = self.splitter.expires(self.event, window, self.was["held"](window))
        return And(self.was["open"](window), expires)

    def holds(self, window: Any) -> Any:
        return Or(self.new(window), And(self.was["open"](window), Not(self.expired(window))))

    def held(self, window: Any) -> Any:
        """The count with this event, if the window holds it."""
        return If(self.new(window), 1, self.was["held"](window) + 1)

    def filled(self, window: Any) -> Any:
        full = self.splitter.completes(self.event, window, self.held(window))
        return And(self.holds(window), self._fills(full, window))

    def answers(self, splitter: SymbolicSplitter, newest: Any) -> tuple[Any, Any, Any]:
        """What a splitter says of the event, with the counts of this run: does it open a window,
        let the window w expire, fill it?"""
        opens = splitter.opens(self.event, newest, self.was["since"])
        expires = splitter.expires(self.event, w, self.was["held"](w))
        return opens, expires, splitter.completes(self.event, w, self.held(w))

    def leads_to(self, t: AtTime) -> Any:
        was, is_ = self.was, {name: getattr(t, f"{name}{self.suffix}") for name in STATE}
        held = Implies(is_["open"](w), is_["held"](w) == self.held(w))
        return And(
            ForAll([w], is_["opened"](w) == Or(was["opened"](w), self.new(w))),
            ForAll([w], is_["open"](w) == And(self.holds(w), Not(self.filled(w)))),
            ForAll([w], held),
            is_["newest"] == If(self.opens, self.event, was["newest"]),
            is_["begun"] == Or(was["begun"], self.opens),
            Implies(is_["begun"], is_["since"] == If(self.opens, 1, was["since"] + 1)),
        )
