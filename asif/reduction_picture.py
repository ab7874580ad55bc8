"""docs/pictures/reduction.svg: all worlds of a tiny scope, and those that a reduced search visits.

`python -m asif.reduction_picture` draws it.

Rule of this file: every world, step and colour comes from the two searches; by hand are only the
words of the legend.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
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

PICTURE = Path(__file__).parent.parent / "docs" / "pictures" / "reduction.svg"
EVENTS = 2
NODES: Mapping[NodeName, tuple[str, str]] = {
    "source": ("s", "the source"),
    "A": ("a", "the operator"),
    "sink": ("k", "the sink"),
}
"""The letter of each node on its steps, and its words in the legend."""

# All lengths in CSS pixels.
_LEFT, _TOP, _COLUMN, _ROW, _RADIUS, _KEY = 26, 26, 50, 48, 7, 26
_AWAY = 0.38
"""The place of a letter on its line, so that none stands where two lines cross."""

STYLE = """
.rd{--bg:Canvas;--line:#1d5fbf;--grey:#8a929c;color:CanvasText;color-scheme:light dark;
background:var(--bg);font:12px system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
@media(prefers-color-scheme:dark){.rd{--line:#7db4ff;--grey:#78818c}}
.rd text{fill:currentColor}
.rd .by{font:600 11px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
text-anchor:middle;fill:var(--grey);stroke:var(--bg);stroke-width:4px;paint-order:stroke}
.rd .by.taken{fill:var(--line)}
.rd line{stroke:var(--grey);stroke-width:1.2}
.rd line.taken{stroke:var(--line);stroke-width:2.6}
.rd circle{fill:var(--bg);stroke:var(--grey);stroke-width:1.4}
.rd circle.taken{fill:var(--line);stroke:var(--line)}
.rd circle.ring{fill:none;stroke:var(--line);stroke-width:1.6}
""".strip()

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


def svg(drawn: DrawnSearches) -> str:
    """The picture: one self-contained <svg>, readable on light and dark ground."""
    at = places(drawn)
    width = 2 * _LEFT + _COLUMN * (len(drawn.levels) - 1)
    bottom = max(y for _, y in at.values()) + _TOP
    order = sorted(drawn.steps, key=drawn.taken.__contains__)
    parts = [
        *(_line(at[one], at[other], (one, other) in drawn.taken) for one, other in order),
        *(_letter(at[a], at[b], drawn.steps[a, b], (a, b) in drawn.taken) for a, b in order),
        *(_circle(at[world], _RADIUS, world in drawn.visited) for world in at),
        *(_circle(at[world], _RADIUS + 4, "ring") for world in at if world in drawn.at_rest),
        *_legend(bottom),
    ]
    about = (
        f"{drawn.worlds} worlds and {len(drawn.steps)} steps between them; the reduced search "
        f"visits {len(drawn.visited)} of the worlds by {len(drawn.taken)} steps, and all "
        f"{len(drawn.at_rest)} worlds at rest"
    )
    height = bottom + 2 * _KEY
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="rd" role="img" '
            f'viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}" '
            f'aria-label="{escape(about)}">',
            f"<style>{STYLE}</style>",
            *parts,
            "</svg>\n",
        ]
    )


def _legend(y: float) -> Iterator[str]:
    """The words below the picture."""
    first, second = y + 4, y + 4 + _KEY
    words = ", ".join(f"{letter}: {node}" for letter, node in NODES.values())
    for x, row, style, text in (
        (_LEFT, first, True, "visited, with the steps taken"),
        (_LEFT + 250, first, False, "left out"),
    ):
        yield _circle((x, row), _RADIUS, style)
        yield _text(x + 16, row + 4, text)
    yield _circle((_LEFT + 370, first), _RADIUS, True)
    yield _circle((_LEFT + 370, first), _RADIUS + 4, "ring")
    yield _text(_LEFT + 388, first + 4, "at rest: no node does anything more by itself")
    yield _text(_LEFT - 8, second + 4, f"A letter names the node that takes the step: {words}.")


def _style(kind: bool | str) -> str:
    return kind if isinstance(kind, str) else "taken" * kind


def _line(start: Place, end: Place, taken: bool) -> str:
    (x1, y1), (x2, y2) = start, end
    return f'<line class="{_style(taken)}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'


def _circle(at: Place, radius: float, kind: bool | str) -> str:
    return f'<circle class="{_style(kind)}" cx="{at[0]:g}" cy="{at[1]:g}" r="{radius:g}"/>'


def _letter(start: Place, end: Place, node: NodeName, taken: bool) -> str:
    x, y = (a + (b - a) * _AWAY for a, b in zip(start, end, strict=True))
    return f'<text class="by {_style(taken)}" x="{x:g}" y="{y + 4:g}">{NODES[node][0]}</text>'


def _text(x: float, y: float, words: str) -> str:
    return f'<text x="{x:g}" y="{y:g}">{escape(words)}</text>'


if __name__ == "__main__":
    PICTURE.write_text(svg(draw()), encoding="utf-8")
