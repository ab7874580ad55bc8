"""Events that a replay must not lack: one that opens a window, one that closes it, one in use.

Rule of this file: rules of skipping that are wrong, each with a smallest run of the product in
which a match is lost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import z3
from z3 import ForAll, Not, Or

from model.evidence import Outcome
from proofs.lemmas.readings import shortest
from proofs.lemmas.upstream_backup.replay import product, skipping
from proofs.prove.grounding import Sizes
from proofs.prove.lemma import Given, Lemma, all_given, without
from proofs.prove.query import SolverQuery
from proofs.prove.transition import TransitionSystem

p = z3.Const("p", product.POSITION)
w = z3.Const("w", product.WINDOW)


class Wrong(NamedTuple):
    """A rule by which events are left out that loses matches.

    system: with that rule.  depth: steps of the shortest run, the restore among them.  sizes,
    simple: the world of the run that is drawn, and what else is so in it, to be easy to read.
    """

    system: TransitionSystem
    depth: int
    sizes: Sizes
    simple: Any

    def refute(self, _: Given) -> list[SolverQuery]:
        """No shorter run loses a match, whatever the engine and the windows; one of so many steps
        does, in which nothing matches before the last event."""
        quiet = [
            ForAll([w], self.system.moment(at).got(w) == product.none)
            for at in range(1, self.depth)
        ]
        assuming = [self.simple, *quiet]
        return [*shortest(self.system, skipping.MATCHES, self.depth, self.sizes, assuming)]


NEVER_CLOSE = ForAll(
    [p, w], Not(Or(product.ORIGINAL.expires(p, w), product.ORIGINAL.completes(p, w)))
)
NEVER_FULL = ForAll([p, w], Not(product.ORIGINAL.completes(p, w)))
TINY = {product.POSITION: 2, product.WINDOW: 1, product.STATE: 1, product.OUTPUT: 2}
TWO_WINDOWS = {product.POSITION: 3, product.WINDOW: 2, product.STATE: 2, product.OUTPUT: 2}

OPENER = Wrong(skipping.system(without(skipping.OPENERS)), 3, TINY, NEVER_CLOSE)
CLOSER = Wrong(skipping.system(without(skipping.CLOSERS)), 3, TINY, NEVER_FULL)
ONE = skipping.system(all_given, skipping.one_window_skipped)
ONE_WINDOW = Wrong(ONE, 4, TWO_WINDOWS, NEVER_CLOSE)


# --- lemmas ----------------------------------------------------------------------------------
def refuted(name: str, statement: str, wrong: Wrong) -> Lemma:
    return Lemma(
        name,
        statement,
        "Lima et al., III-A",
        Outcome.REFUTED,
        wrong.refute,
        f"runs of up to {wrong.depth} steps, any number of windows, any engine",
        skipping.STATES,
    )


LEMMAS = (
    refuted(
        "skipping-opener",
        "An event that all windows skipped, the one it opens included, may be left out though it "
        "opens a window: refuted, as the paper says; 2 events.",
        OPENER,
    ),
    refuted(
        "skipping-closer",
        "An event that all windows skipped may be left out though it closes a window: refuted, as "
        "the paper says, by a match that the end of the window completes; 2 events.",
        CLOSER,
    ),
    refuted(
        "skipping-one-window",
        "An event may be left out if some open window skipped it: refuted, as soon as two windows "
        "overlap; 3 events.  That all must have skipped it, the paper does not say.",
        ONE_WINDOW,
    ),
)
