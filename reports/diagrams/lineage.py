"""A picture of the lineage of one event: inputs on the left, what was made of them on the right.

Rule of this file: it draws the graph that it receives, and asks no log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reports.diagrams.canvas import Colours, svg

if TYPE_CHECKING:
    import networkx
    from matplotlib.figure import Figure

ROWS = 24
"""A column has at most so many boxes; the last one stands for all that do not fit."""
WIDTH, HEIGHT = 2.6, 0.5
"""Of a box and the space around it, in inches."""
LETTERS = 30
Box = tuple[int, int]
"""A column and a row."""


def picture(graph: networkx.DiGraph) -> str:
    """The graph as an <svg> element.

    A node is (operator, output port, input port, number) and has a `body` in bytes; an edge goes
    from an input to an output.
    """
    places, texts = _place(graph)
    edges = {(places[one], places[other]) for one, other in graph.edges}
    columns = max(column for column, _ in texts) + 1
    rows = max(row for _, row in texts) + 1

    def draw(figure: Figure, colours: Colours) -> None:
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.set_xlim(-0.5, columns - 0.5)
        axes.set_ylim(rows - 0.4, -0.6)
        for (left, top), (right, bottom) in sorted(edges):
            arrow = {"arrowstyle": "->", "color": colours.ink, "alpha": 0.6}
            ends = (right - 0.35, bottom), (left + 0.35, top)
            axes.annotate("", *ends, arrowprops=arrow)
        for (column, row), text in sorted(texts.items()):
            colour = colours.with_ if column == columns - 1 else colours.ink
            box = {"boxstyle": "round", "facecolor": "none", "edgecolor": colour}
            axes.text(column, row, text, ha="center", va="center", fontsize=7, bbox=box)

    size = columns * WIDTH, max(2, rows) * HEIGHT
    about = f"The lineage of one event: {len(graph)} events, {graph.number_of_edges()} uses."
    return svg(draw, *size, name="lineage", about=about)


def _place(graph: networkx.DiGraph) -> tuple[dict[Any, Box], dict[Box, str]]:
    """Where each event stands, and what its box says."""
    import networkx

    places: dict[Any, Box] = {}
    texts: dict[Box, str] = {}
    for column, events in enumerate(networkx.topological_generations(graph)):
        ordered = sorted(events)
        for row, event in enumerate(ordered):
            places[event] = column, min(row, ROWS - 1)
            texts[places[event]] = _text(event, graph.nodes[event]["body"])
        if len(ordered) > ROWS:
            texts[column, ROWS - 1] = f"and {len(ordered) - ROWS + 1} more"
    return places, texts


def _text(event: tuple[str, str, str, int], body: bytes) -> str:
    sender, port, receiver_port, number = event
    text = body.decode(errors="replace").replace("$", r"\$")
    shown = text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"
    return f"{sender}.{port or receiver_port} {number}\n{shown}"
