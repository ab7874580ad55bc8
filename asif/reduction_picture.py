"""docs/pictures/reduction.svg: all worlds of a tiny scope, and those that a reduced search visits.

`python -m asif.reduction_picture` draws it.

Rule of this file: every world, step and colour comes from the two searches; by hand are only the
words of the legend.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from model.cep.operator import Operator
from model.cep.patterns import sequence
from model.cep.windows import CountWindows
from model.core import NodeName, Scope
from model.graph import chain
from model.parts import over_words
from model.protocol import Protocol
from model.registry import protocols
from model.system import System
from model.world import World
from proofs.explore.collapse import Collapsed
from proofs.explore.edges import edges
from proofs.explore.search import loops
from proofs.explore.search.judge import Judge
from proofs.explore.search.meter import UNLIMITED, Meter
from proofs.explore.search.reduced import ReducedSearch
from reports import palette
from reports.diagrams import shapes
from reports.diagrams.picture import Picture

PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "reduction.svg"
EVENTS = 2
NODES: Mapping[NodeName, tuple[str, str]] = {
    "source": ("s", "the source"),
    "A": ("a", "the operator"),
    "sink": ("k", "the sink"),
}
"""The letter of each node on its steps, and its words in the legend."""

# All lengths in CSS pixels.
_LEFT, _TOP, _COLUMN, _ROW, _RADIUS, _KEY, _TITLE = 26, 26, 50, 48, 7, 26, 24
_AWAY = 0.38
"""The place of a letter on its line, so that none stands where two lines cross."""

Step: TypeAlias = tuple[World, World]
Place: TypeAlias = tuple[float, float]


class DrawnSearches(NamedTuple):
    """The worlds by the number of steps that lead to them, and all steps with the node of each.

    visited, taken: of these, by the reduced search.
    """

    levels: tuple[tuple[World, ...], ...]
    steps: Mapping[Step, NodeName]
    visited: frozenset[World]
    taken: frozenset[Step]

    @property
    def worlds(self) -> int:
        return sum(map(len, self.levels))

    @property
    def at_rest(self) -> frozenset[World]:
        """The worlds in which no node does anything more by itself."""
        busy = {before for before, after in self.steps if before.arrivals == after.arrivals}
        return frozenset(world for level in self.levels for world in level if world not in busy)


class _WatchedSearch(ReducedSearch):
    """A reduced search that also names the steps which it takes."""

    def steps(self) -> Iterator[Step]:
        """The steps from every world that it visited; the search is over then."""
        at, visited = self.at, self.states
        self.ahead.fresh.fill(-1)
        for world in range(visited):
            self.tables.slots.fill(0)
            at[loops.COUNT], at[loops.VIEW] = visited, -1
            at[loops.WORLD] = at[loops.CHUNK] = world
            at[loops.END] = world + 1
            self._expand()
            for after in range(visited, self.states):
                yield self.world(world), self.world(after)


def example() -> tuple[Protocol, Scope]:
    """Upstream backup with one operator and two events: no crash."""
    operator = Operator(sequence("a"), CountWindows(2, 1))
    scope = over_words(chain(("A", operator)), EVENTS, "a", crashes=0)
    return protocols()["upstream-backup"], scope


def draw() -> DrawnSearches:
    """The two searches of the example."""
    protocol, scope = example()
    whole = {(before, after): action.node for before, action, after in edges(protocol, scope)}
    depths: dict[World, int] = {}
    for before, after in whole:  # breadth first
        depths.setdefault(after, depths.setdefault(before, 0) + 1)
    levels = [
        tuple(world for world, depth in depths.items() if depth == level)
        for level in range(max(depths.values()) + 1)
    ]
    collapsed = Collapsed(System(protocol, scope))
    judge = Judge(collapsed.system)
    search = _WatchedSearch(collapsed, judge)
    search.levels(None, Meter(UNLIMITED))
    taken = frozenset(search.steps())
    visited = frozenset(world for step in taken for world in step)
    return DrawnSearches(tuple(levels), whole, visited, taken)


def places(drawn: DrawnSearches) -> Mapping[World, Place]:
    """A column for each number of steps; in it, worlds stand where those beside them stand."""
    before: dict[World, list[World]] = {}
    after: dict[World, list[World]] = {}
    for one, other in drawn.steps:
        before.setdefault(other, []).append(one)
        after.setdefault(one, []).append(other)
    rows: dict[World, float] = {}

    def place(level: tuple[World, ...], order: Mapping[World, float]) -> None:
        for row, world in enumerate(sorted(level, key=order.__getitem__)):
            rows[world] = row - (len(level) - 1) / 2

    def mean(world: World, beside: Mapping[World, list[World]]) -> float:
        near = beside.get(world, [])
        return sum(rows[one] for one in near) / len(near) if near else rows[world]

    for level in drawn.levels:
        place(level, {world: at for at, world in enumerate(level)})
    for _ in range(8):
        for level in drawn.levels:
            place(level, {world: mean(world, before) for world in level})
        for level in reversed(drawn.levels):
            place(level, {world: mean(world, after) for world in level})
    top = min(rows.values())
    return {
        world: (_LEFT + column * _COLUMN, _TOP + (rows[world] - top) * _ROW)
        for column, level in enumerate(drawn.levels)
        for world in level
    }


def picture(drawn: DrawnSearches) -> Picture:
    """The picture, with a line for each step and a circle for each world."""
    at = {world: (x, y + _TITLE) for world, (x, y) in places(drawn).items()}
    width = 2 * _LEFT + _COLUMN * (len(drawn.levels) - 1)
    bottom = max(y for _, y in at.values()) + _TOP
    order = sorted(drawn.steps, key=drawn.taken.__contains__)
    parts = [
        shapes.text(_LEFT - 8, 22, _title(), size=13, bold=True),
        *(_line(at[one], at[other], (one, other) in drawn.taken) for one, other in order),
        *(_letter(at[a], at[b], drawn.steps[a, b], (a, b) in drawn.taken) for a, b in order),
        *(_circle(at[world], _RADIUS, world in drawn.visited) for world in at),
        *(_ring(at[world]) for world in at if world in drawn.at_rest),
        *_legend(bottom),
    ]
    about = (
        f"{drawn.worlds} worlds and {len(drawn.steps)} steps between them; the reduced search "
        f"visits {len(drawn.visited)} of the worlds by {len(drawn.taken)} steps, and all "
        f"{len(drawn.at_rest)} worlds at rest"
    )
    height = bottom + 2 * _KEY
    return Picture(shapes.sheet(parts, width, height, about=f"{_title()}: {about}", mono=False))


def _title() -> str:
    protocol, _ = example()
    return f"{protocol.name}, one operator and {EVENTS} events: all worlds, and those visited"


def _legend(y: float) -> Iterator[str]:
    """The words below the picture."""
    first, second = y + 4, y + 4 + _KEY
    nodes = ", ".join(f"{letter}: {node}" for letter, node in NODES.values())
    for x, taken, words in (
        (_LEFT, True, "visited, with the steps taken"),
        (_LEFT + 250, False, "left out"),
    ):
        yield _circle((x, first), _RADIUS, taken)
        yield _text(x + 16, first + 4, words)
    yield _circle((_LEFT + 370, first), _RADIUS, True)
    yield _ring((_LEFT + 370, first))
    yield _text(_LEFT + 388, first + 4, "at rest: no node does anything more by itself")
    yield _text(_LEFT - 8, second + 4, f"A letter names the node that takes the step: {nodes}.")


def _line(start: Place, end: Place, taken: bool) -> str:
    look = (palette.BLUE, 2.6) if taken else (palette.GREY, 1.2)
    return shapes.line(*start, *end, *look)


def _circle(at: Place, radius: float, taken: bool) -> str:
    fill, edge = (palette.BLUE, palette.BLUE) if taken else (palette.BG, palette.GREY)
    return shapes.circle(*at, radius, fill=fill, colour=edge, width=1.4)


def _ring(at: Place) -> str:
    return shapes.circle(*at, _RADIUS + 4, fill="none", colour=palette.BLUE, width=1.6)


def _letter(start: Place, end: Place, node: NodeName, taken: bool) -> str:
    x, y = (a + (b - a) * _AWAY for a, b in zip(start, end, strict=True))
    colour = palette.text_of(palette.BLUE) if taken else palette.DIM
    letter = NODES[node][0]
    return shapes.text(x, y + 4, letter, colour=colour, anchor="middle", bold=True, mono=True)


def _text(x: float, y: float, words: str) -> str:
    return shapes.text(x, y, words, size=12)


if __name__ == "__main__":
    PICTURE.write_text(str(picture(draw()).content(".svg")), encoding="utf-8")
