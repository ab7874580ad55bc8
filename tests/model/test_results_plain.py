"""Frozen results as JSON, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from typing import Literal, NamedTuple

import pytest

from model.errors import Invalid
from model.results.plain import key, plain, read


class Word(StrEnum):
    YES = "yes, it is"


class Rank(IntEnum):
    FIRST = 1
    SECOND = 2


class Shade(Enum):
    DARK = "dark"


class Point(NamedTuple):
    x: int
    y: float


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    class_: Rank | None = key("class")
    opinion: str | None = key(absent=True, default=None)


@dataclass(frozen=True, slots=True)
class Whole:
    parts: tuple[Part, ...]
    place: Point
    word: Word
    shade: Shade
    ranks: Mapping[Rank, int]
    names: frozenset[str]
    pair: tuple[str, int]
    kind: Literal["this", "that"]
    number: int | float | None = None


WHOLE = Whole(
    parts=(Part("a", Rank.SECOND), Part("b", None, "none")),
    place=Point(1, 2.0),
    word=Word.YES,
    shade=Shade.DARK,
    ranks={Rank.FIRST: 3},
    names=frozenset({"z", "a"}),
    pair=("one", 1),
    kind="this",
    number=4,
)
PLAIN = {
    "parts": [{"name": "a", "class": "SECOND"}, {"name": "b", "class": None, "opinion": "none"}],
    "place": {"x": 1, "y": 2.0},
    "word": "yes, it is",
    "shade": "dark",
    "ranks": {"FIRST": 3},
    "names": ["a", "z"],
    "pair": ["one", 1],
    "kind": "this",
    "number": 4,
}


def test_a_result_as_json_and_back() -> None:
    assert plain(WHOLE) == PLAIN
    assert list(plain(WHOLE)) == list(PLAIN), "in the order of the fields"
    assert read(Whole, json.loads(json.dumps(plain(WHOLE)))) == WHOLE


def test_an_enum_whose_value_is_a_string_is_that_string() -> None:
    assert type(plain(Word.YES)) is str
    assert type(plain(Rank.FIRST)) is str


def test_a_number_without_a_fraction_is_a_float_where_one_is_wanted() -> None:
    point = read(Point, {"x": 1, "y": 2})
    assert type(point.y) is float
    assert type(read(Whole, PLAIN).number) is int


@pytest.mark.parametrize("value", [object(), b"bytes", {1: "one"}, [{"a": 1j}]])
def test_what_json_does_not_have_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        plain(value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"names": None}, "the file, names: None is no list"),
        ({"place": {"x": 1}}, "the file, place: no field 'y'; a Point has one"),
        ({"place": {"x": True, "y": 1.0}}, "the file, place, x: True is no int"),
        ({"more": 1}, "the file: there is no field 'more' in a Whole"),
        ({"ranks": {"THIRD": 3}}, "the file, ranks: 'THIRD' is no Rank"),
        ({"ranks": []}, r"the file, ranks: \[\] is no object"),
        ({"parts": [{"name": "a"}]}, r"the file, parts\[0\]: no field 'class'; a Part has one"),
        ({"parts": [1]}, r"the file, parts\[0\]: 1 is no object"),
        ({"pair": ["one"]}, r"the file, pair: \['one'\] is no list of 2"),
        ({"kind": "other"}, "the file, kind: 'other' is no"),
        ({"number": "4"}, "the file, number: '4' is no float"),
    ],
)
def test_json_of_another_shape_is_refused(changed: dict[str, object], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        read(Whole, PLAIN | changed, "the file")
