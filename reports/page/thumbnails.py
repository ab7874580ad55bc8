"""Thumbnails: a run as a small picture of lanes, messages, crashes and the wrong result.

Rule of this file: no text and no colour; the style sheet of the page has the colours.
"""

from __future__ import annotations

from model.results.culprit import Culprit
from model.results.story import Story
from reports.diagrams.timeline import CRASH, timeline

WIDTH, HEIGHT, EDGE = 120, 72, 8
"""The size of a picture, and its margin, in pixels."""


def thumbnail(story: Story, culprit: Culprit | None) -> str:
    """The picture as an <svg> element, upstream left and time downwards.

    Its paths have classes: `lane`, `sent` (messages), `crash` and `wrong`.
    """
    line = timeline(story, culprit)
    across = (WIDTH - 2 * EDGE) / max(1, len(line.lanes) - 1)
    down = (HEIGHT - 2 * EDGE) / max(1, len(line.moments) - 1)

    def at(lane: int, moment: int) -> tuple[float, float]:
        return EDGE + lane * across, EDGE + moment * down

    def place(point: tuple[float, float]) -> str:
        return f"{point[0]:.0f} {point[1]:.0f}"

    lanes, sent, crashes, wrong = "", "", "", ""
    for lane in range(len(line.lanes)):
        lanes += f"M{at(lane, 0)[0]:.0f} {EDGE // 2}V{HEIGHT - EDGE // 2}"
    for number, moment in enumerate(line.moments):
        here = at(moment.lane, number)
        if (arrow := moment.taken) is not None:
            sent += f"M{place(at(arrow.sender, arrow.sent_at))}L{place(here)}"
        if moment.mark == CRASH or moment.crash:
            crashes += _cross(*here)
        if moment.lost or any(one.wrong for one in moment.emits):
            wrong += f"M{here[0] - 3:.0f} {here[1]:.0f}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0"
    paths = {"lane": lanes, "sent": sent, "crash": crashes, "wrong": wrong}
    drawn = "".join(f'<path class="{name}" d="{path}"/>' for name, path in paths.items() if path)
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" class="thumbnail" {size}>{drawn}</svg>'


def _cross(x: float, y: float) -> str:
    return f"M{x - 3:.0f} {y - 3:.0f}l6 6m0-6l-6 6"
