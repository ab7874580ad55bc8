"""Published numbers, and how near an experiment comes: `judge` compares, `score` counts.

Rule of this file: numbers are in each paper's published.toml, once; nothing here knows a paper.
A number is scored where it could have failed.  A mark says of every other one why it is not.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter, model_validator

from model.errors import Invalid
from model.results.experiment import OTHER_READING, ComparedNumber, Series
from model.results.interval import Interval

HOME = files("sim.experiments")
"""A folder, or, in a worker of a cluster, a place in the zip file that holds the code."""
NONE: Mapping[str, Interval] = MappingProxyType({})
VERDICTS = ("within 10 %", "within 25 %", "outside")
SCORED = "scored"
PUBLISHED: Literal["published"] = "published"
UNSCORED: Literal["unscored"] = "unscored"
Kind: TypeAlias = Literal["given", "calibrated", "fixed a reading", "repeated"]
"""Why a comparison is not scored.

given: ours follows from parameters or rules that the model takes from the paper.  calibrated: a
cost was set so that ours comes out.  fixed a reading: the paper leaves something open, and this
number decided it.  repeated: ours is a number that is scored, or marked, elsewhere.
"""


class Mark(BaseModel):
    """Why a comparison is not scored: its kind, and the parameter, rule or number behind it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind
    because: str


class PublishedNumber(BaseModel):
    """A number that a paper published.  ours: by way of finding it, the name of our value.  beside:
    the same in readings of the paper that were not chosen; they are shown, and not scored.  reason:
    by way, why our value differs; when: the sign of the difference that a reason explains, if it
    explains one alone.  marks: by way, why it is not scored, if it is not.  input: the
    part of the value that is a parameter of the model; both are compared without it.

    why_not: why it is compared with nothing, if it is not, and left_out, in a word; experiment: the
    one that says so.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    paper: str
    section: str
    what: str
    kind: Literal["value", "at most", "trend"]
    value: float
    unit: str
    ours: dict[str, str] = {}
    beside: dict[str, str] = {}
    reason: dict[str, str] = {}
    when: dict[str, Literal["less", "more"]] = {}
    marks: dict[str, Mark] = {}
    input: float = 0.0
    why_not: str = ""
    left_out: Literal["", "given", "calibrated", "not modelled"] = ""
    experiment: str = ""

    @model_validator(mode="after")
    def _compared_or_not(self) -> PublishedNumber:
        if bool(self.ours) == bool(self.why_not) or bool(self.why_not) != bool(self.experiment):
            raise ValueError(f"{self.id}: give `ours`, or `why_not` and `experiment`")
        if bool(self.why_not) != bool(self.left_out):
            raise ValueError(f"{self.id}: give `why_not` and `left_out`, or neither")
        if not {*self.marks} <= {*self.ours}:
            raise ValueError(f"{self.id}: `marks` has a way that `ours` has not")
        if not {*self.when} <= {*self.reason}:
            raise ValueError(f"{self.id}: `when` has a way that `reason` has not")
        if self.input and (self.kind != "value" or self.value <= self.input):
            raise ValueError(f"{self.id}: `input` is a part of a value")
        if (self.beside and not self.ours) or {*self.beside} & {*self.ours}:
            raise ValueError(f"{self.id}: `beside` has other readings than `ours`")
        return self


@cache
def numbers() -> tuple[PublishedNumber, ...]:
    """The numbers of all papers, in the order of their folders."""
    papers = sorted((one for one in HOME.iterdir() if one.is_dir()), key=lambda one: one.name)
    files_ = [paper / "published.toml" for paper in papers]
    entries = [
        entry
        for file in files_
        if file.is_file()
        for entry in tomllib.loads(file.read_text(encoding="utf-8"))["number"]
    ]
    return TypeAdapter(tuple[PublishedNumber, ...]).validate_python(entries)


def value(id_: str) -> float:
    """The published number with this id."""
    return next(number.value for number in numbers() if number.id == id_)


def is_scored(id_: str) -> bool:
    """Is a way of finding the number with this id scored?"""
    number = next(number for number in numbers() if number.id == id_)
    return bool({*number.ours} - {*number.marks})


def points(label: str, places: Mapping[float, str], scale: float = 1.0) -> list[Series]:
    """The published numbers at these places of a panel: those that are scored, and the others."""
    series = []
    for kind, name, wanted in ((PUBLISHED, label, True), (UNSCORED, f"{label}, not scored", False)):
        mine = {at: value(id_) / scale for at, id_ in places.items() if is_scored(id_) == wanted}
        if mine:
            series.append(Series(name, [*mine], [*mine.values()], kind))
    return series


def left_out(experiment: str) -> list[str]:
    """A line for each published number that the experiment compares with nothing."""
    return [
        f"not compared: {number.what}, {number.value:,.10g} {number.unit} ({number.section}): "
        f"{number.why_not}"
        for number in numbers()
        if number.experiment == experiment
    ]


def judge(
    values: Mapping[str, float], intervals: Mapping[str, Interval] = NONE
) -> tuple[ComparedNumber, ...]:
    """A comparison for each published number of which values are here, and each way of finding it;
    a way of `beside`, or with a mark, is not scored.  intervals: of values, where there are some.

    Raises Invalid if only some of its values are here.
    """
    rows = []
    for number in numbers():
        ways = {**number.ours, **number.beside}
        missing = [name for name in ways.values() if name not in values]
        if len(missing) == len(ways):
            continue
        if missing:
            raise Invalid(f"{number.id}: the experiment has no value {missing[0]!r}")
        for way, name in ways.items():
            mark, because = _mark(number, way)
            around = intervals.get(name)
            rows.append(
                ComparedNumber(
                    id=number.id,
                    paper=number.paper,
                    section=number.section,
                    what=number.what,
                    kind=number.kind,
                    unit=number.unit,
                    published=number.value,
                    way=way,
                    ours=values[name],
                    error=error(number, values[name]),
                    verdict=verdict(number, values[name]),
                    scored=mark == SCORED,
                    reason=reason(number, way, values[name]),
                    mark=mark,
                    because=because,
                    input=number.input,
                    low=around.low if around else None,
                    high=around.high if around else None,
                )
            )
    return tuple(rows)


def _mark(number: PublishedNumber, way: str) -> tuple[str, str]:
    """The mark of a comparison, and the reason."""
    if way in number.beside:
        return OTHER_READING, "a reading that was not chosen, or a formula"
    if (mark := number.marks.get(way)) is not None:
        return mark.kind, mark.because
    return SCORED, ""


def reason(number: PublishedNumber, way: str, ours: float) -> str:
    """Why our value differs; "" if there is no reason, or it explains the other sign."""
    sign = number.when.get(way)
    explains = sign is None or (ours < number.value if sign == "less" else ours > number.value)
    return number.reason.get(way, "") if explains else ""


def error(number: PublishedNumber, ours: float) -> float:
    """The relative error of the part that is no input; of a bound, the share that exceeds it."""
    if number.kind == "at most":
        return max(0.0, ours / number.value - 1)
    return (ours - number.input) / (number.value - number.input) - 1


def verdict(number: PublishedNumber, ours: float) -> str:
    """The verdict on our value: one of VERDICTS."""
    near, far, outside = VERDICTS
    off = abs(error(number, ours))
    return near if off <= 0.10 else far if off <= 0.25 else outside


def score(rows: Iterable[ComparedNumber]) -> dict[str, int]:
    """How many of the numbers that are scored have each verdict.  A number counts once, with the
    worst verdict of the ways of finding it."""
    worst: dict[str, str] = {}
    for row in rows:
        if row.scored:
            worst[row.id] = max(worst.get(row.id, row.verdict), row.verdict, key=VERDICTS.index)
    count = Counter(worst.values())
    return {verdict_: count[verdict_] for verdict_ in VERDICTS}
