"""A picture of a lineage: the inputs before the outputs made of them, column by column.

Rule of this file: it draws the graph that it receives, and asks no log.

A column holds the events that are as many steps away from the one that was asked for.  An edge
that passes a column takes a place in it, as a box does, so that it crosses no box.  Each column is
sorted by the middle of its neighbours.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from html import escape
from itertools import pairwise
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from reports import palette
from reports.diagrams.canvas import plot
from reports.diagrams.picture import Picture
from reports.lines import spans
from reports.one_line import one_line

if TYPE_CHECKING:
    import networkx
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

ROWS = 24
"""The most boxes of a column; the last one stands for all that do not fit."""
WIDTH, MARGIN, LINE = 1.9, 0.1, 0.13
"""Inches: the width of a box, its height without letters, and the height of a line in it."""
CELLS, BODY = 30, 4
"""How long a line in a box may be, in cells of a terminal; the most lines of a body."""
LONG = 5
"""A lineage with more columns than this, and with more columns than rows, is drawn downward."""
SWEEPS = 4
TITLE, LETTER = 0.6, 0.085
"""Inches: the height of the title with the key, and the width of a letter of the title."""
Node: TypeAlias = tuple[Any, ...]
"""An event of the graph, the rest of a column, or the place in a column of edges that pass it."""
Edges: TypeAlias = set[tuple[Node, Node]]
Point: TypeAlias = tuple[float, float]


class LineageBox(NamedTuple):
    """label: its lines.  full: the same before they were cut."""

    label: str
    full: str
    is_source: bool
    is_asked: bool


KEY = (
    LineageBox("of a source", "", True, False),
    LineageBox("made of others", "", False, False),
    LineageBox("asked for", "", False, True),
)
"""A box of each kind, with its name."""


def picture(
    graph: networkx.DiGraph,
    *asked: Node,
    title: str = "",
    events: int | None = None,
    uses: int | None = None,
) -> Picture:
    """The graph as a picture.

    A node has a `name`, a `body` in bytes and `is_source`; an edge goes from an input to an output.
    asked: the nodes whose lineage it is.  events, uses: of the lineage, if the graph is a part.
    """
    columns, edges, boxes = _boxes(graph, asked)
    edges = _pass(columns, edges)
    _sort(columns, edges)
    events, uses = events or len(graph), graph.number_of_edges() if uses is None else uses
    about = f"The lineage of {title or 'one event'}: {events:,} events, {uses:,} uses."
    sheet = _LineageSheet(columns, edges, boxes, about)
    about += " Sources have sharp corners."
    drawn = plot(sheet.draw, *sheet.size, name="lineage", about=about)
    full = [f"<title>{escape(box.full)}</title>" for box in boxes.values()]
    group = r'<g id="lineage-box-(\d+)">'
    svg = re.sub(group, lambda found: found[0] + full[int(found[1])], drawn.svg)
    return replace(drawn, svg=svg)


class _LineageSheet:
    """The places of all nodes along the columns and across them, and the functions that draw."""

    def __init__(
        self,
        columns: list[list[Node]],
        edges: Edges,
        boxes: Mapping[Node, LineageBox],
        title: str,
    ) -> None:
        self.edges, self.boxes, self.title = edges, boxes, title
        rows = max(map(len, columns))
        self.down = len(columns) > max(LONG, rows)
        self.height = MARGIN + LINE * max(box.label.count("\n") + 1 for box in boxes.values())
        self.deep, high = (self.height, WIDTH) if self.down else (WIDTH, self.height)
        step, apart = self.deep + max(0.5, 0.08 * rows), high + 0.12
        along, across = len(columns) * step, max(2, rows) * apart
        wide, high = self._turn(along, across)
        self.size = max(wide, LETTER * len(title) + 0.2, 3), high + TITLE
        self.places = {
            node: ((column + 0.5) * step, across / 2 + (row - (len(nodes) - 1) / 2) * apart)
            for column, nodes in enumerate(columns)
            for row, node in enumerate(nodes)
        }

    def _turn(self, along: float, across: float) -> Point:
        return (across, along) if self.down else (along, across)

    def draw(self, figure: Figure) -> None:
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.set_xlim(0, self.size[0])
        axes.set_ylim(self.size[1] - TITLE, -TITLE)
        axes.text(0.08, -0.42, self.title, va="center", fontsize=9, fontweight="bold")
        self._draw_key(axes)
        self._draw_edges(axes)
        for at, (node, box) in enumerate(self.boxes.items()):
            x, y = self._turn(*self.places[node])
            axes.add_patch(_frame(x - WIDTH / 2, y - self.height / 2, WIDTH, self.height, box))
            text = axes.text(x, y, box.label, ha="center", va="center", fontsize=7)
            text.set(gid=f"box-{at}", parse_math=False)  # a $ is a $

    def _draw_key(self, axes: Axes) -> None:
        x = 0.08
        for box in KEY:
            axes.add_patch(_frame(x, -0.2, 0.16, 0.1, box))
            axes.text(x + 0.22, -0.15, box.label, va="center", fontsize=7, color=palette.DIM)
            x += 0.4 + 0.055 * len(box.label)

    def _draw_edges(self, axes: Axes) -> None:
        places, half = self.places, self.deep / 2
        for one, other in sorted(self.edges, key=lambda edge: (places[edge[0]], places[edge[1]])):
            (start, left), (end, right) = places[one], places[other]
            style = "->" if other in self.boxes else "-"
            self._draw_line(axes, (start + half, left), (end - half, right), style)
        for node, (along, across) in places.items():
            if node not in self.boxes:
                self._draw_line(axes, (along - half, across), (along + half, across), "-")

    def _draw_line(self, axes: Axes, one: Point, other: Point, style: str) -> None:
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path

        middle = (one[0] + other[0]) / 2
        ends = one, (middle, one[1]), (middle, other[1]), other
        path = Path(
            [self._turn(*end) for end in ends],
            [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
        )
        more: dict[str, Any] = {"linewidth": 0.6, "color": palette.DIM, "fill": False}
        axes.add_patch(FancyArrowPatch(path=path, arrowstyle=style, mutation_scale=7, **more))


def _frame(x: float, y: float, width: float, height: float, box: LineageBox) -> FancyBboxPatch:
    """The frame of a box, whose colours and corners are its kind."""
    from matplotlib.patches import FancyBboxPatch

    corner = min(0.1, height / 3)
    shape = "square,pad=0" if box.is_source else f"round,pad=0,rounding_size={corner}"
    fill = (palette.ORANGE, 0.2) if box.is_source else "none"
    colour = palette.BLUE if box.is_asked else palette.FG
    how: dict[str, Any] = {"boxstyle": shape, "facecolor": fill, "edgecolor": colour}
    return FancyBboxPatch((x, y), width, height, **how)


def _boxes(
    graph: networkx.DiGraph, asked: Collection[Node]
) -> tuple[list[list[Node]], Edges, dict[Node, LineageBox]]:
    """The nodes of each column, the edges between these, and the texts of their boxes."""
    import networkx

    ahead = any(graph.out_degree(node) for node in asked)
    steps = [*networkx.topological_generations(graph if ahead else graph.reverse(copy=False))]
    columns: list[list[Node]] = []
    shown: dict[Node, Node] = {}
    boxes: dict[Node, LineageBox] = {}
    for events in steps if ahead else reversed(steps):
        ordered = sorted(events)
        fit = len(ordered) if len(ordered) <= ROWS else ROWS - 1
        column, more = ordered[:fit], ordered[fit:]
        shown |= {node: node for node in column}
        boxes |= {node: _box(graph.nodes[node], node in asked) for node in column}
        if more:
            rest = "rest", len(columns)
            shown |= dict.fromkeys(more, rest)
            text = f"and {len(more)} more"
            is_source = all(graph.nodes[node]["is_source"] for node in more)
            boxes[rest] = LineageBox(text, text, is_source, False)
            column.append(rest)
        columns.append(column)
    return columns, {(shown[one], shown[other]) for one, other in graph.edges}, boxes


def _box(event: Any, is_asked: bool) -> LineageBox:
    port, hash_, number = event["name"].rpartition("#")
    body = event["body"].decode(errors="replace")
    name = one_line(port, CELLS - len(number) - 1) + hash_ + number
    full = f"{one_line(event['name'])}\n{one_line(body)}"
    label = "\n".join([name, *_body_lines(one_line(body))])
    return LineageBox(label, full, event["is_source"], is_asked)


def _body_lines(body: str) -> list[str]:
    """The lines of a body in a box; no number is cut."""
    lines = [body[begin:end] for begin, end in spans(body, CELLS)]
    shown = [_cut(one) for one in lines[:BODY]]
    if len(lines) > BODY:
        shown[-1] = f"{shown[-1].removesuffix('…')} …"
    return shown


def _cut(line: str) -> str:
    """The line, cut to the width of a box; a number that would be cut is left out."""
    short = one_line(line, CELLS)
    if short == line or not re.match(r"[\d.,]", line[len(short) - 1 :]):
        return short
    return re.sub(r"[\d.,]+…$", "…", short)


def _pass(columns: list[list[Node]], edges: Edges) -> Edges:
    """The edges from each column to the next one, after those that pass a column got a place there.

    Edges from one node share their places.
    """
    column_of = {node: column for column, nodes in enumerate(columns) for node in nodes}
    found: Edges = set()
    for one, other in edges:
        between = [("pass", one, at) for at in range(column_of[one] + 1, column_of[other])]
        found |= {*pairwise([one, *between, other])}
        for at, place in enumerate(between, column_of[one] + 1):
            if place not in columns[at]:
                columns[at].append(place)
    return found


def _sort(columns: list[list[Node]], edges: Edges) -> None:
    """Sort each column by the middle of its neighbours, those before and those after it in turn."""
    ahead: dict[Node, list[Node]] = {node: [] for column in columns for node in column}
    back: dict[Node, list[Node]] = {node: [] for node in ahead}
    for one, other in edges:
        ahead[one].append(other)
        back[other].append(one)
    heights = {node: row - len(column) / 2 for column in columns for row, node in enumerate(column)}
    for sweep in range(SWEEPS):
        neighbours = ahead if sweep % 2 else back
        for column in columns[::-1] if sweep % 2 else columns:
            middles = {
                node: fmean(heights[one] for one in neighbours[node] or [node]) for node in column
            }
            column.sort(key=middles.__getitem__)
            heights |= {node: row - len(column) / 2 for row, node in enumerate(column)}
