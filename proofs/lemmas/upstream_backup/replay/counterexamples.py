"""Events that a replay must not lack: one that opens a window, one that closes it, one in use.

Rule of this file: rules of skipping that are wrong, each with a smallest run of the product in
which a match is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from z3 import And, BoolVal, ForAll, Not, Or

from model.evidence import Outcome
from model.results.grid import Cell, CellMark, Grid
from proofs.lemmas.readings import shortest
from proofs.lemmas.upstream_backup.replay import product, skipping
from proofs.lemmas.upstream_backup.replay.product import ORIGINAL, REPLAY, p, w
from proofs.prove.drawing import CellOptions, stream, true
from proofs.prove.grounding import Sizes, element
from proofs.prove.lemma import Given, Lemma, all_given, without
from proofs.prove.query import SolverQuery
from proofs.prove.transition import StepTaken, TransitionSystem, transitions_taken


class Wrong(NamedTuple):
    """A rule by which events are left out that loses matches.

    system: with that rule.  depth: steps of the shortest run, the restore among them.  sizes,
    simple: the world of the run that is drawn, and what else is so in it, to be easy to read.
    """

    system: TransitionSystem
    depth: int
    sizes: Sizes
    simple: Any

    def refute(self, _: Given) -> Iterator[SolverQuery]:
        """No shorter run loses a match, whatever the engine and the windows; one of `depth` steps
        does, in which nothing matches before the last event."""
        moments = map(self.system.moment, range(1, self.depth))
        quiet = (ForAll([w], s.got(w) == product.none) for s in moments)
        assuming = [self.simple, *quiet]
        return shortest(self.system, skipping.MATCHES, self.depth, self.sizes, assuming, self.draw)

    def draw(self, model: Any) -> Grid:
        """Columns are events, rows windows; first the original run, then the replay."""
        taken = transitions_taken(self.system, model, self.depth)
        steps = [(at, step) for at, step in enumerate(taken) if step.params]
        all_ = [element(product.WINDOW, i) for i in range(self.sizes[product.WINDOW])]
        windows = [
            window
            for _, step in steps
            for window in all_
            if true(model, ORIGINAL.opens(step.params[0], window))
        ]
        lanes: list[tuple[str, list[CellOptions]]] = []
        for heading, run in (("original run", ORIGINAL), ("replay", REPLAY)):
            lanes.append((heading, []))
            for number, window in enumerate(windows, 1):
                cells = [self.cell(run, window, at, step) for at, step in steps]
                lanes.append((f"window {number}", cells))
        columns = (f"event {number}" for number, _ in enumerate(steps, 1))
        return stream(model, "a match is lost in the replay", columns, lanes)

    def cell(self, run: product.ProductRun, window: Any, at: int, step: StepTaken) -> CellOptions:
        """The effect of an event on a window."""
        (position,) = step.params
        moment, after = self.system.moment(at), self.system.moment(at + 1)
        s, t = run.at(moment), run.at(after)
        lost = And(run is REPLAY, after.got(window) != after.got_again(window))
        left_out = BoolVal(run is REPLAY and step.name == product.LEAVE_OUT)
        used = t.inner(window) != run.fed(s, position, window)
        return (
            (And(lost, left_out), Cell("left out, match lost", CellMark.BAD)),
            (lost, Cell("match lost", CellMark.BAD)),
            (left_out, Cell("left out", CellMark.DIM)),
            (t.got(window) != product.none, Cell("match", CellMark.GOOD)),
            (Not(run.holds(s, position, window)), Cell()),
            (Not(t.open(window)), Cell("closes")),
            (And(run.opens(position, window), used), Cell("opens, used")),
            (run.opens(position, window), Cell("opens, skipped")),
            (used, Cell("used")),
            (BoolVal(True), Cell("skipped")),
        )


NEVER_FULL = ForAll([p, w], Not(ORIGINAL.completes(p, w)))
NEVER_CLOSE = ForAll([p, w], Not(Or(ORIGINAL.expires(p, w), ORIGINAL.completes(p, w))))
TINY = {product.POSITION: 2, product.WINDOW: 1, product.STATE: 1, product.OUTPUT: 2}
TWO_WINDOWS = {product.POSITION: 3, product.WINDOW: 2, product.STATE: 2, product.OUTPUT: 2}

OPENER = Wrong(skipping.system(without(skipping.OPENERS)), 3, TINY, NEVER_CLOSE)
CLOSER = Wrong(skipping.system(without(skipping.CLOSERS)), 3, TINY, NEVER_FULL)
ONE = skipping.system(all_given, skipping.one_window_skipped)
ONE_WINDOW = Wrong(ONE, 4, TWO_WINDOWS, NEVER_CLOSE)


# --- lemmas ----------------------------------------------------------------------------------
def refuted(name: str, statement: str, wrong: Wrong) -> Lemma:
    scope = f"runs of up to {wrong.depth} steps, any number of windows, any engine"
    section, expect = "Lima et al., III-A", Outcome.REFUTED
    return Lemma(name, statement, section, expect, wrong.refute, scope, skipping.STATES)


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
