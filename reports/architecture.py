"""docs/pictures/architecture.svg: which package imports which, drawn from the imports themselves.

Rule of this file: the layers are those of the import contract in pyproject.toml, and every arrow is
an import that the source has.  By hand are only the words in the boxes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

import grimp

from reports import palette
from reports.diagrams import shapes
from reports.diagrams.picture import Picture

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "pictures" / "architecture.svg"

ROLES: Mapping[str, str] = {
    "asif": "the command line",
    "reports": "what a person reads",
    "spark_check": "what Spark does",
    "flink_check": "what Flink does",
    "engine_check": "how it is checked",
    "proofs": "why it holds",
    "sim": "what it costs",
    "model": "what a protocol is",
    "protocols": "a folder each",
    "cep": "operators",
}
ROOMS = ("protocols", "cep")
"""The folders of the model, importers first; its files stand before, between and behind them."""

Imports: TypeAlias = frozenset[tuple[str, str]]
"""(importer, imported)."""

# All lengths in CSS pixels.
_MARGIN, _GAP, _LANE = 16, 24, 40
_BOX, _BOX_HEIGHT, _ROW = 156, 46, 90
_ROOM, _ROOM_GAP, _LINE = 112, 34, 15
_JUMP, _TOP = 12, 40


class PackageBox(NamedTuple):
    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height


def layers() -> tuple[tuple[str, ...], ...]:
    """The packages, importers first, as the import contract has them; one row each."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (rows,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    return tuple(tuple(name.strip() for name in row.split("|")) for row in rows)


def imports() -> Imports:
    """Which module imports which, of all packages; also imports inside of functions."""
    packages = [package for row in layers() for package in row]
    graph = grimp.build_graph(packages[0], *packages[1:], cache_dir=None)
    return frozenset(
        (importer, imported)
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
    )


def between_packages(found: Imports) -> Imports:
    """The same between packages."""
    return _joined(found, lambda module: module.split(".")[0])


def in_the_model(found: Imports) -> tuple[Mapping[str, tuple[str, ...]], Imports]:
    """The rooms of the model from left to right with the files in each, and their imports.

    A file that imports a room, also through others, stands left of it.  A room that is a folder
    has no files here.
    """
    parts = _joined(
        frozenset(pair for pair in found if all(name.startswith("model.") for name in pair)),
        lambda module: module.split(".")[1],
    )
    reached = {room: _importers(parts, room) for room in ROOMS}
    files = {name for pair in parts for name in pair} - set(ROOMS)
    rooms: dict[str, tuple[str, ...]] = {}
    for room in ROOMS:
        here = sorted(name for name in files if name in reached[room])
        files -= set(here)
        rooms[f"before {room}"] = tuple(here)
        rooms[room] = ()
    rooms["the rest"] = tuple(sorted(files))
    home = {name: room for room, names in rooms.items() for name in names}
    return rooms, _joined(parts, lambda name: home.get(name, name))


def _joined(found: Imports, place: Callable[[str], str]) -> Imports:
    pairs = ((place(importer), place(imported)) for importer, imported in found)
    return frozenset((one, other) for one, other in pairs if one != other)


def _importers(found: Imports, name: str) -> set[str]:
    """All that import `name`, also through others."""
    known: set[str] = set()
    new = {name}
    while new:
        new = {importer for importer, imported in found if imported in new} - known
        known |= new
    return known


def picture() -> Picture:
    """The packages as boxes, and their imports as arrows."""
    found = imports()
    (top,), *inner, (bottom,) = layers()
    columns = [package for row in reversed(inner) for package in row]
    wide = len(columns) * (_BOX + _GAP) - _GAP + _LANE
    boxes = {top: PackageBox(_MARGIN, _TOP, wide, _BOX_HEIGHT)}
    for place, row in enumerate(inner, 1):
        for package in row:
            x = _MARGIN + columns.index(package) * (_BOX + _GAP)
            boxes[package] = PackageBox(x, _TOP + place * _ROW, _BOX, _BOX_HEIGHT)
    below = _TOP + (len(inner) + 1) * _ROW
    rooms, within = in_the_model(found)
    jumps = sum(_jump(rooms, *pair) != 1 for pair in within)
    height = _BOX_HEIGHT + _tallest(rooms) + _JUMP * (jumps + 2)
    boxes[bottom] = PackageBox(_MARGIN, below, wide, height)
    pairs = sorted(between_packages(found))
    drawn = [
        *(part for name, box in boxes.items() for part in _package(name, box)),
        *(part for pair in pairs for part in _arrow(_way(boxes, *pair, top, bottom))),
        *_model(boxes[bottom], rooms, within),
    ]
    about = "Packages and their imports: " + "; ".join(f"{a} imports {b}" for a, b in pairs)
    title = shapes.text(_MARGIN, 26, f"{top}: which package imports which", size=14, bold=True)
    size = (wide + 2 * _MARGIN, boxes[bottom].bottom + _MARGIN)
    return Picture(shapes.sheet([title, *drawn], *size, about=about, mono=False))


Points: TypeAlias = tuple[tuple[float, float], ...]


def _way(boxes: Mapping[str, PackageBox], one: str, other: str, top: str, bottom: str) -> Points:
    """From the importer down to the imported: straight where one of them spans all columns."""
    start, end = boxes[one], boxes[other]
    if bottom == other:
        x = start.x + start.width - _LANE / 2 + _GAP / 2 if one == top else start.middle
        return ((x, start.bottom), (x, end.y))
    if one == top:
        return ((end.middle, start.bottom), (end.middle, end.y))
    side = 1 if start.x > end.x else -1
    x1, x2 = start.middle - side * _BOX / 4, end.middle + side * _BOX / 4
    level = end.y - _GAP
    return ((x1, start.bottom), (x1, level), (x2, level), (x2, end.y))


def _package(name: str, box: PackageBox) -> Iterator[str]:
    yield _rect(box)
    yield _text(box.middle, box.y + 20, name, "name")
    yield _text(box.middle, box.y + 36, ROLES[name])


def _model(box: PackageBox, rooms: Mapping[str, tuple[str, ...]], found: Imports) -> Iterator[str]:
    """The rooms side by side; imports of the next room go straight, others below the rooms."""
    height = _tallest(rooms)
    across = len(rooms) * (_ROOM + _ROOM_GAP) - _ROOM_GAP
    x = box.middle - across / 2
    places: dict[str, PackageBox] = {}
    for room, files in rooms.items():
        places[room] = PackageBox(x, box.y + _BOX_HEIGHT, _ROOM, height)
        x += _ROOM + _ROOM_GAP
        yield _rect(places[room], palette.BG)
        if room in ROLES:
            yield _text(places[room].middle, places[room].y + height / 2 - 2, room, "name")
            yield _text(places[room].middle, places[room].y + height / 2 + 14, ROLES[room])
        first = places[room].y + (height - _LINE * len(files)) / 2 + 11
        for line, file in enumerate(files):
            yield _text(places[room].middle, first + _LINE * line, _file(file), "file")
    jumps = 0
    for one, other in sorted(found, key=lambda pair: (_jump(rooms, *pair), pair)):
        start, end = places[one], places[other]
        if _jump(rooms, one, other) == 1:
            y = start.y + height / 2
            yield from _arrow(((start.x + _ROOM, y), (end.x, y)))
            continue
        jumps += 1
        level = start.bottom + 4 + _JUMP * jumps
        out, into = start.middle + 10 * jumps, end.middle - 40 + 14 * jumps
        yield from _arrow(((out, start.bottom), (out, level), (into, level), (into, end.bottom)))


def _tallest(rooms: Mapping[str, tuple[str, ...]]) -> float:
    return _LINE * max(map(len, rooms.values())) + 16


def _jump(rooms: Mapping[str, tuple[str, ...]], one: str, other: str) -> int:
    """How many rooms further right the imported one stands."""
    order = list(rooms)
    return order.index(other) - order.index(one)


def _rect(box: PackageBox, fill: str = palette.SOFT) -> str:
    place = (box.x, box.y, box.width, box.height)
    return shapes.rect(*place, fill=fill, colour=palette.DIM, radius=6)


def _file(name: str) -> str:
    """A file or a folder of the model, as it is called."""
    return f"{name}/" if (ROOT / "model" / name).is_dir() else f"{name}.py"


def _text(x: float, y: float, what: str, kind: str = "") -> str:
    """Words in a box: a name of a package, a name of a file, or its role."""
    return shapes.text(
        *(x, y, what),
        anchor="middle",
        size=13 if kind == "name" else 11,
        bold=kind == "name",
        mono=bool(kind),
        halo=False,
    )


def _arrow(points: Points) -> Iterable[str]:
    """A line with corners, and its head at the last point."""
    (x1, y1), (x2, y2) = points[-2:]
    dx, dy = _sign(x2 - x1), _sign(y2 - y1)
    line = (*points[:-1], (x2 - 6 * dx, y2 - 6 * dy))
    back = (x2 - 8 * dx, y2 - 8 * dy)
    wings = (back[0] + 4 * dy, back[1] + 4 * dx), (back[0] - 4 * dy, back[1] - 4 * dx)
    colour = palette.BLUE
    return shapes.path(line, colour, 1.5), shapes.polygon(((x2, y2), *wings), colour)


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(str(picture().content(".svg")), encoding="utf-8")
