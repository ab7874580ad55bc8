"""The palette: people with any colour vision distinguish the series of a figure.

Rule of this file: colours and looks alone; tests/reports/test_pictures.py renders pictures.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from functools import cache
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from model.registry import modules, protocols
from reports import palette

ROOT = Path(__file__).parents[2]
CODE = ("asif", "reports", "sim", "benchmarks", "engine_check", "spark_check", "flink_check")
DEFICIENCIES = {
    "none": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
"""Machado, Oliveira and Fernandes 2009, severity 1, of linear RGB."""
LEAST = 0.07
"""The least distance in OKLab: brown and red of the former palette were 0.03 apart."""
TO_LMS = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
TO_LAB = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def linear(colour: str) -> np.ndarray:
    """The three linear parts of #rrggbb, from 0 to 1."""
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.asarray(np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4))


def seen(colour: str, deficiency: str) -> np.ndarray:
    """The colour as OKLab, as a person with this deficiency sees it."""
    light = np.clip(np.array(DEFICIENCIES[deficiency]) @ linear(colour), 0, 1)
    return np.asarray(np.array(TO_LAB) @ np.cbrt(np.array(TO_LMS) @ light))


@cache
def distance(one: str, other: str) -> float:
    """The least distance of two colours, over all deficiencies."""
    return min(float(np.linalg.norm(seen(one, name) - seen(other, name))) for name in DEFICIENCIES)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, as WCAG defines it."""
    light = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (light[1] + 0.05) / (light[0] + 0.05)


def of_theme(colour: str, theme: str) -> str:
    (tone,) = (tone for tone in palette.TONES if tone.light == colour)
    return tone.light if theme == "light" else tone.dark


def differ(one: palette.PlotLook, other: palette.PlotLook, theme: str) -> bool:
    """Do people distinguish two series, by their colours or by marks and dashes?"""
    apart = distance(of_theme(one.colour, theme), of_theme(other.colour, theme)) >= LEAST
    return apart or (one.mark, one.dashes) != (other.mark, other.dashes)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_two_colours_of_series_differ_for_all_eyes(theme: str) -> None:
    for one, other in combinations([*palette.SERIES, palette.GREY], 2):
        found = distance(of_theme(one, theme), of_theme(other, theme))
        assert found >= LEAST, (theme, one, other, found)


def test_the_distance_finds_the_brown_and_the_red_that_were_one_colour() -> None:
    assert distance("#a04a00", "#c01c28") < LEAST
    assert distance("#1d5fbf", "#7a3fb0") < LEAST


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_any_32_series_of_a_figure_differ(theme: str) -> None:
    for one, other in combinations([palette.look_of(number) for number in range(32)], 2):
        assert differ(one, other, theme)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_families_and_designs_of_a_family_differ_in_one_figure(theme: str) -> None:
    families = [protocol.name for protocol in modules().values()]
    for family in families:
        variants = [name for name in protocols() if name.partition(":")[0] == family]
        labels = [*families, *variants[:12], "formula", "published"]
        look = palette.looks(labels)
        for one, other in combinations(dict.fromkeys(labels), 2):
            assert differ(look(one), look(other), theme), (one, other)


@pytest.mark.parametrize(
    "compared",
    [
        ("active-standby", "passive-standby", "upstream-backup", "amnesia"),
        ("abs", "log-io", "upstream-backup", "crb"),
        ("abs", "unaligned-checkpoints", "uncoordinated"),
        ("kafka-transactions", "micro-batch", "two-phase-sink"),
        ("progressive", "upstream-backup", "passive-standby"),
    ],
)
def test_families_that_papers_compare_have_colours_of_their_own(compared: Sequence[str]) -> None:
    look = palette.looks(compared)
    assert len({look(name).colour for name in compared}) == len(compared)
    assert palette.FG not in {look(name).colour for name in compared}


def test_a_protocol_has_one_look_in_every_figure() -> None:
    families = [protocol.name for protocol in modules().values()]
    for one, other in combinations(families, 2):
        both = palette.looks([other, "formula", one])
        assert both(one) == palette.looks([one])(one)
        assert both(other) == palette.looks([other])(other)
        assert both("formula").colour not in (both(one).colour, both(other).colour)


def test_a_design_has_the_colour_of_its_family_and_so_have_its_names_in_words() -> None:
    family = next(iter(modules().values())).name
    design = next(name for name in protocols() if name.startswith(f"{family}:"))
    look = palette.looks([family, design])
    assert look(design).colour == look(family).colour
    assert (look(design).mark, look(design).dashes) != (look(family).mark, look(family).dashes)
    for name in (one.name for one in modules().values()):
        words = name.replace("-", " ").title()
        assert palette.looks([words])(words) == palette.looks([name])(name)


def test_the_families_are_those_of_the_registry() -> None:
    assert [protocol.name for protocol in modules().values()] == [*palette._families()]


def test_a_file_of_the_user_has_one_colour_too() -> None:
    alone = palette.looks(["mine.py"])("mine.py")
    look = palette.looks(["mine.py:other", "mine.py", "abs"])
    assert look("mine.py") == alone
    assert look("mine.py:other").colour == alone.colour


def test_arrows_of_two_kinds_differ_for_all_eyes() -> None:
    looks = dict.fromkeys(palette.MESSAGES.values())
    for (one, other), theme in product(combinations(looks, 2), ("light", "dark")):
        assert differ(one, other, theme)
        assert one.dashes != other.dashes


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_are_readable_on_the_ground(theme: str) -> None:
    texts = [palette.FG, palette.DIM, *map(palette.text_of, palette.SERIES)]
    for text in texts:
        assert contrast(of_theme(text, theme), of_theme(palette.BG, theme)) >= 4.5, text


def test_every_colour_of_light_ground_is_one_tone() -> None:
    lights = [tone.light for tone in palette.TONES]
    assert len({*lights}) == len(lights)
    assert all(re.fullmatch("#[0-9a-f]{6}", tone.light) for tone in palette.TONES)
    assert set(palette.SERIES) <= {*lights}


def test_the_sheet_of_a_page_defines_each_variable_that_it_uses_in_both_themes() -> None:
    light, dark = palette.css().split("@media", 1)
    for name in set(re.findall(r"var\((--[a-z-]+)\)", palette.css())):
        assert f"{name}: #" in light
        assert f"{name}: #" in dark
    assert "var(" not in palette.file_sheet()


COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b|(?<! )#[0-9a-fA-F]{3}\b(?!\d)|\btab:|\bxkcd:|\bC[0-9]$")


def _literals(path: Path) -> list[str]:
    """The texts of a file that are no docstrings; none of a file without a colour."""
    text = path.read_text(encoding="utf-8")
    if not COLOUR.search(text):
        return []
    tree = ast.parse(text)
    plain = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [
        node.value for node in constants if isinstance(node.value, str) and id(node) not in plain
    ]


def test_no_other_file_of_the_project_has_a_colour() -> None:
    found = {
        str(path.relative_to(ROOT))
        for folder in CODE
        for path in (ROOT / folder).rglob("*.py")
        for text in _literals(path)
        if COLOUR.search(text)
    }
    assert found == {"reports/palette.py"}
