"""Events that a replay must not lack: one that opens a window, one that closes it, one in use.

Rule of this file: rules of skipping that are wrong, each with a smallest run of the product of
replay.py in which a match is lost, and how such a run reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import z3
from z3 import ForAll, Not, Or

from model.evidence import Outcome
from proofs.lemmas.upstream_backup.replay import product, skipping
from proofs.prove.grid import Cell, CellMark, Grid, GridRow
from proofs.prove.grounding import Sizes, element
from proofs.prove.kinds import QueryKind
from proofs.prove.lemma import Given, Lemma, all_given, without
from proofs.prove.query import Query, smallest
from proofs.prove.transition import TransitionSystem, bounded, transitions_taken


class FoundReplay(NamedTuple):
    """A run, as the operator of the model can be given it: events and windows counted from 0.

    opened: by event, the window that it opens.  rows: by state of the engine and event, the next
    state and how many matches are completed; state 0 is the first.  closing: by state, how many
    matches the end of a window completes.  first: the event that opens the first window kept.
    """

    opened: tuple[int | None, ...]
    expires: frozenset[tuple[int, int]]
    completes: frozenset[tuple[int, int]]
    rows: tuple[tuple[tuple[int, int], ...], ...]
    closing: tuple[int, ...]
    left_out: frozenset[int]
    first: int


p = z3.Const("p", product.POSITION)
w = z3.Const("w", product.WINDOW)


class ModelRun:
    """A run of a system that a model of Z3 describes."""

    def __init__(self, system: TransitionSystem, model: Any, depth: int, sizes: Sizes) -> None:
        self._model = model
        self._sizes = sizes
        steps = transitions_taken(system, model, depth)
        self.iterations = [
            (at, step.name, step.params[0]) for at, step in enumerate(steps) if step.params
        ]
        self.positions = [position for _, _, position in self.iterations]
        openers = [self.value(product.opener(window)) for window in self._all(product.WINDOW)]
        by_opener = dict(zip(map(str, openers), self._all(product.WINDOW), strict=True))
        self.windows = [by_opener[str(at)] for at in self.positions if str(at) in by_opener]
        self.moments = [system.moment(time) for time in range(depth + 1)]

    def value(self, term: Any) -> Any:
        return self._model.eval(term, model_completion=True)

    def true(self, formula: Any) -> bool:
        return bool(z3.is_true(self.value(formula)))

    def _all(self, sort: Any) -> list[Any]:
        return [self.value(element(sort, i)) for i in range(self._sizes[sort])]

    def found(self) -> FoundReplay:
        states = sorted(self._all(product.STATE), key=lambda e: not self.true(e == product.begin))
        outputs = sorted(self._all(product.OUTPUT), key=lambda e: not self.true(e == product.none))

        def at(elements: Sequence[Any], term: Any) -> int:
            return next(n for n, e in enumerate(elements) if self.true(e == term))

        def ends(relation: Any) -> frozenset[tuple[int, int]]:
            return frozenset(
                (event, window)
                for event, position in enumerate(self.positions)
                for window, term in enumerate(self.windows)
                if self.true(relation(position, term))
            )

        def window(position: Any) -> int | None:
            opened = (
                n for n, term in enumerate(self.windows) if self.true(product.opens(position, term))
            )
            return next(opened, None)

        names = [name for _, name, _ in self.iterations]
        return FoundReplay(
            tuple(map(window, self.positions)),
            ends(product.expires),
            ends(product.completes),
            tuple(
                tuple(
                    (
                        at(states, product.delta(state, position)),
                        at(outputs, product.gives(state, position)),
                    )
                    for position in self.positions
                )
                for state in states
            ),
            tuple(at(outputs, product.closing(state)) for state in states),
            frozenset(event for event, name in enumerate(names) if name == product.LEAVE_OUT),
            at(self.positions, product.opener(product.first)),
        )

    def cell(self, run: product.WindowRun, window: Any, at: int) -> Cell:
        """What the window makes of the event of the iteration from moment `at`."""
        _, name, position = next(entry for entry in self.iterations if entry[0] == at)
        s, t = self.moments[at], self.moments[at + 1]
        original, replay = (
            getattr(t, one.got)(window) for one in (product.ORIGINAL, product.REPLAY)
        )
        differs = run is product.REPLAY and not self.true(original == replay)
        mark = CellMark.BAD if differs else CellMark.PLAIN
        if run is product.REPLAY and name == product.LEAVE_OUT:
            return Cell("left out", mark if differs else CellMark.DIM)
        if not self.true(getattr(t, run.got)(window) == product.none):
            return Cell("match", mark if differs else CellMark.GOOD)
        if not self.true(Or(getattr(s, run.open)(window), run.opens(position, window))):
            return Cell("no window", mark) if differs else Cell()
        if not self.true(getattr(t, run.open)(window)):
            return Cell("no match" if differs else "closes", mark)
        fed = run.fed(s, position, window)
        used = not self.true(fed == getattr(t, run.inner)(window))
        words = ["opens"] if self.true(run.opens(position, window)) else []
        words.append("no match" if differs else "used" if used else "skipped")
        return Cell(", ".join(words), mark)

    def grid(self, caption: str) -> Grid:
        names = [f"window {number}" for number, _ in enumerate(self.windows, 1)]
        rows = []
        for heading, run in (("original run", product.ORIGINAL), ("replay", product.REPLAY)):
            rows.append(GridRow(heading, tuple(Cell() for _ in self.iterations), heading=True))
            for name, window in zip(names, self.windows, strict=True):
                cells = tuple(self.cell(run, window, at) for at, _, _ in self.iterations)
                rows.append(GridRow(name, cells))
        columns = tuple(f"event {number}" for number, _ in enumerate(self.iterations, 1))
        return Grid(caption, columns, tuple(rows))


NEVER_CLOSE = ForAll([p, w], Not(Or(product.expires(p, w), product.completes(p, w))))
TINY = {product.POSITION: 2, product.WINDOW: 1, product.STATE: 1, product.OUTPUT: 2}
NEVER_FULL = ForAll([p, w], Not(product.completes(p, w)))


class Wrong(NamedTuple):
    """A rule by which events are left out that loses matches.

    rule: in words.  system: with that rule.  depth: steps of the shortest run, the restore among
    them.  sizes, simple: the world of the run that is drawn, and what else is so in it, to be easy
    to read.
    """

    rule: str
    system: TransitionSystem
    depth: int
    sizes: Sizes
    simple: Any

    def question(self, depth: int, kind: QueryKind) -> Query:
        """Is a match lost in a run of so many steps?"""
        if kind is QueryKind.CLAIM:
            return bounded(self.system, skipping.MATCHES, depth)
        # Nothing matches before the last event.
        quiet = [
            ForAll([w], self.system.moment(at).got(w) == product.none)
            for at in range(1, self.depth)
        ]
        simple = [self.simple, *quiet]
        query = bounded(
            self.system, skipping.MATCHES, self.depth, QueryKind.COUNTEREXAMPLE, self.sizes, simple
        )
        caption = f"{self.rule}: a match is lost"
        return replace(query, show=lambda model: self.read(model).grid(caption))

    def read(self, model: Any) -> ModelRun:
        return ModelRun(self.system, model, self.depth, self.sizes)


def lose_opener() -> Wrong:
    system = skipping.system(without(skipping.OPENERS))
    return Wrong("an event that opens a window is left out", system, 3, TINY, NEVER_CLOSE)


def lose_closer() -> Wrong:
    system = skipping.system(without(skipping.CLOSERS))
    return Wrong("an event that closes a window is left out", system, 3, TINY, NEVER_FULL)


def lose_window() -> Wrong:
    system = skipping.system(all_given, skipping.one_window_skipped)
    sizes = {product.POSITION: 3, product.WINDOW: 2, product.STATE: 2, product.OUTPUT: 2}
    return Wrong("an event that one window skipped is left out", system, 4, sizes, NEVER_CLOSE)


def refute(rule: Callable[[], Wrong], _given: Given) -> Iterator[Query]:
    """No shorter run loses a match, whatever the engine and the windows; this one does."""
    wrong = rule()
    return smallest(wrong.question, range(wrong.depth + 1))


# --- lemmas ----------------------------------------------------------------------------------
RUNS = "runs of up to {} steps, any number of windows, any engine"

LEMMAS = (
    Lemma(
        name="skipping-opener",
        statement="An event that all windows skipped, the one it opens included, may be left out "
        "though it opens a window: refuted, as the paper says; 2 events.",
        section="Lima et al., III-A",
        expect=Outcome.REFUTED,
        build=partial(refute, lose_opener),
        scope=RUNS.format(3),
        fragment=skipping.STATES,
    ),
    Lemma(
        name="skipping-closer",
        statement="An event that all windows skipped may be left out though it closes a window: "
        "refuted, as the paper says, by a match that the end of the window completes; 2 events.",
        section="Lima et al., III-A",
        expect=Outcome.REFUTED,
        build=partial(refute, lose_closer),
        scope=RUNS.format(3),
        fragment=skipping.STATES,
    ),
    Lemma(
        name="skipping-one-window",
        statement="An event may be left out if some open window skipped it: refuted, as soon as "
        "two windows overlap; 3 events.  That all must have skipped it, the paper does not say.",
        section="Lima et al., III-A",
        expect=Outcome.REFUTED,
        build=partial(refute, lose_window),
        scope=RUNS.format(4),
        fragment=skipping.STATES,
    ),
)
