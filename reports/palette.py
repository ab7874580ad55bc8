"""The looks of all plots, drawings and pages: colours on light and dark ground, dashes and markers.

Rule of this file: no drawing, and no colour, dash or marker of a series stands elsewhere.

A drawing uses the colours of light ground, as values of attributes: so every program can show it.
A page, or the sheet inside of a file, replaces them on dark ground by the same values.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import count
from types import MappingProxyType
from typing import NamedTuple
from zlib import crc32

import model.protocols
from model.costs import MessageKind
from model.registry import file_of, is_file


class Tone(NamedTuple):
    """A colour.  name: of its variable on a page.  light, dark: on these grounds, as #rrggbb."""

    name: str
    light: str
    dark: str


BG = "#ffffff"
FG = "#1b1f24"
DIM = "#5a6472"
GREY = "#5a636e"
RULE = "#d9dde3"
SOFT = "#eef3fb"
BLUE, VERMILION, GREEN = "#0072b2", "#d55e00", "#009e73"
PURPLE, ORANGE, SKY = "#cc79a7", "#e69f00", "#56b4e9"

TONES = (
    Tone("bg", BG, "#14171b"),
    Tone("fg", FG, "#e3e7ec"),
    Tone("dim", DIM, "#9aa5b3"),
    Tone("grey", GREY, "#5d6672"),
    Tone("rule", RULE, "#343a43"),
    Tone("soft", SOFT, "#1b2431"),
    *(
        Tone(name, colour, colour)
        for name, colour in (
            ("blue", BLUE),
            ("vermilion", VERMILION),
            ("green", GREEN),
            ("purple", PURPLE),
            ("orange", ORANGE),
            ("sky", SKY),
        )
    ),
    Tone("blue-text", "#00629b", "#62b5ec"),
    Tone("vermilion-text", "#a84900", "#ff9350"),
    Tone("green-text", "#00704f", "#3ccaa0"),
    Tone("purple-text", "#8f3f6d", "#e39fc6"),
    Tone("orange-text", "#7d5600", "#f0b429"),
    Tone("sky-text", "#1f6a97", "#86cbf5"),
)
"""Every colour.  Those of series are of Okabe and Ito; as text they have more contrast."""

SERIES = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, FG)
"""People with any colour vision can distinguish each of these from each other."""
PROTOCOLS = SERIES[:-1]
"""The colours of families: that of text is of formulas and published numbers."""
BAD, GOOD = VERMILION, GREEN
"""Of faults and of right outputs: the sign beside them says the same."""

_DARK = MappingProxyType({tone.light: tone.dark for tone in TONES})
_TEXT = MappingProxyType(
    {one.light: other.light for one in TONES for other in TONES if other.name == f"{one.name}-text"}
)

MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.5, 1.5), (6, 2, 1.5, 2))
"""Lengths of strokes and gaps in widths of the line; () is solid."""


class PlotLook(NamedTuple):
    """The look of a series.  dashes: one of DASHES."""

    colour: str
    mark: str
    dashes: tuple[float, ...]

    @property
    def line(self) -> tuple[int, tuple[float, ...] | None]:
        """The style of a line, as matplotlib has it."""
        return 0, self.dashes or None

    @property
    def text(self) -> str:
        """The colour of text about the series."""
        return text_of(self.colour)


MESSAGES: Mapping[MessageKind, PlotLook] = MappingProxyType(
    {
        MessageKind.EVENT: PlotLook(BLUE, ">", ()),
        MessageKind.ACKNOWLEDGEMENT: PlotLook(ORANGE, ">", (5, 3)),
        MessageKind.RECOVERY: PlotLook(PURPLE, ">", (8, 3, 2, 3)),
        MessageKind.CONTROL: PlotLook(FG, ">", (2, 3)),
        MessageKind.CHECKPOINT: PlotLook(GREEN, ">", (11, 3)),
        MessageKind.UPLOAD: PlotLook(GREEN, ">", (11, 3)),
        MessageKind.COPY: PlotLook(GREEN, ">", (11, 3)),
        MessageKind.DETERMINANT: PlotLook(GREEN, ">", (11, 3)),
    }
)
"""The arrows of each kind of messages."""


def text_of(colour: str) -> str:
    """The tone in which a text about something of this colour is readable."""
    return _TEXT.get(colour, colour)


def look_of(number: int) -> PlotLook:
    """The look of the series of this number, from 0."""
    return PlotLook(SERIES[number % len(SERIES)], *_shape(number))


def _shape(number: int) -> tuple[str, tuple[float, ...]]:
    """A marker and dashes; 32 numbers after each other have different ones."""
    mark = MARKS[number % len(MARKS)]
    return mark, DASHES[(number + number // len(MARKS)) % len(DASHES)]


# --- protocols -----------------------------------------------------------------------------------
def looks(labels: Iterable[str]) -> Callable[[str], PlotLook]:
    """A function that returns the look of each of the series with these labels.

    A series of a protocol has the colour of its family, in every picture; further designs of a
    family have marks and dashes of their own.  Other series have the colours that are left.
    """
    once = [*dict.fromkeys(labels)]
    found: dict[str, PlotLook] = {}
    for label in sorted(once, key=lambda one: ":" in one):
        if (family := family_of(label)) is not None:
            number = _number(family)
            colour = PROTOCOLS[number * 5 // 7 % len(PROTOCOLS)]  # those often compared differ
            options = (PlotLook(colour, *_shape(number + at)) for at in count())
            found[label] = _first_free(options, found)
    others = [label for label in once if label not in found]
    used = {one.colour for one in found.values()}
    left = [colour for colour in SERIES if colour not in used] or [*SERIES]
    for at, label in enumerate(others):
        options = (PlotLook(left[at % len(left)], *_shape(at + further)) for further in count())
        found[label] = _first_free(options, found)
    return found.__getitem__


def _first_free(options: Iterable[PlotLook], found: Mapping[str, PlotLook]) -> PlotLook:
    """The first look that no other label has; of more than 32 designs, some share one."""
    tried: list[PlotLook] = []
    for option in options:
        if option not in found.values() or option in tried:
            return option
        tried.append(option)
    raise AssertionError("options are without end")


def family_of(label: str) -> str | None:
    """The family of a protocol that this label names, in its spelling or in words; else None.

    The file of a protocol of the user is a family, too.
    """
    if is_file(label):
        return str(file_of(label))
    name = re.sub(r"[^a-z0-9:]+", "-", label.lower()).partition(":")[0]
    return name if name in _families() else None


def _number(family: str) -> int:
    """The place of a family in the order of the registry; a file has one by its name."""
    known = _families()
    return known.index(family) if family in known else crc32(family.encode()) % 1024


@cache
def _families() -> Sequence[str]:
    """The names of all families, by their folders: an import of the protocols takes a second."""
    folders = pkgutil.iter_modules(model.protocols.__path__)
    return tuple(folder.name.replace("_", "-") for folder in folders)


# --- sheets --------------------------------------------------------------------------------------
def css() -> str:
    """The sheet of a page: a variable for each tone, light and dark, and drawings that follow."""
    light = " ".join(f"--{tone.name}: {tone.light};" for tone in TONES)
    dark = " ".join(f"--{tone.name}: {tone.dark};" for tone in TONES)
    changed = [tone for tone in TONES if tone.light != tone.dark]
    follow = "\n".join(_rules(tone.light, f"var(--{tone.name})", "svg ") for tone in changed)
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{follow}\n"
    )


def file_sheet() -> str:
    """The sheet of an SVG file: the tones of dark ground, where the viewer asks for them.

    A program that knows no such sheets shows the colours of the attributes.
    """
    rules = "".join(_rules(light, dark) for light, dark in _DARK.items() if light != dark)
    return f"<style>@media (prefers-color-scheme: dark) {{{rules}}}</style>"


def _rules(value: str, colour: str, within: str = "") -> str:
    return "".join(f'{within}[{name}="{value}"]{{{name}:{colour}}}' for name in ("fill", "stroke"))
