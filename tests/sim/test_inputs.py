"""Event files: what was written is read, and bad files are refused with one line."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.cep.one_run import one_run
from model.cep.patterns import AfterMatch, Strategy, sequence
from model.core import Arrival
from model.errors import Invalid, nearest
from model.graph import SINK, SOURCE
from model.oracle import assign_times, oracle
from sim.inputs.files import load
from sim.inputs.streams import Search, arrivals, graph_for, parsed

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), min_size=1).map(str)
ROWS = st.lists(st.tuples(st.integers(-(10**6), 10**12), NAMES), min_size=1, max_size=20)


def written(path: Path, frame: pd.DataFrame) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", ["events.csv", "events.csv.gz", "events.parquet"])
def test_what_was_written_is_read(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("files")

    @settings(max_examples=40, deadline=None)
    @given(ROWS)
    def check(rows: list[tuple[int, str]]) -> None:
        rows = sorted(rows, key=lambda row: row[0])
        frame = pd.DataFrame(rows, columns=["t", "what"])
        stream = load(written(folder / name, frame), "what", "t")
        assert stream.name == name
        got = [(body.time + rows[0][0], body.type) for body in assign_times(stream.events)]
        assert got == rows

    check()


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab")), max_size=20))
def test_arrivals_add_up_to_their_times(rows: list[tuple[int, str]]) -> None:
    times = [sum(gap for gap, _ in rows[: at + 1]) for at in range(len(rows))]
    found = arrivals(times, [type_ for _, type_ in rows])
    assert found == tuple(Arrival(gap, type_) for gap, type_ in rows)
    assert len({id(arrival) for arrival in found}) == len(set(found))  # equal ones are shared


@pytest.mark.parametrize(
    ("times", "gaps", "step"),
    [
        (
            ["2024-01-01T00:00:00", "2024-01-01 00:01:00.9", "2024-01-02"],
            [0, 60_900, 86_339_100],
            "1 ms",
        ),
        (
            ["2024-01-01T01:00:00+01:00", "2024-01-01T00:00:02Z", "2024-01-01T00:00:02Z"],
            [0, 2, 0],
            "1 s",
        ),
        (["2024-01-01T00:00:00", "2024-01-01T00:00:00.000000007"], [0, 7], "1 ns"),
        ([-1.5, 0.25, 7.75], [0, 175, 750], "0.01 of 'time'"),
        ([3.0, 3.0, 9.0], [0, 0, 6], "1 of 'time'"),
        ([3, 3, 9], [0, 0, 6], "1 of 'time'"),
    ],
)
@pytest.mark.parametrize("name", ["events.csv", "events.parquet"])
def test_times_are_numbers_or_timestamps(
    times: list[object], gaps: list[int], step: str, name: str, tmp_path: Path
) -> None:
    frame = pd.DataFrame({"type": list("abc")[: len(times)], "time": times})
    stream = load(written(tmp_path / name, frame), "type", "time")
    assert [arrival.gap for arrival in stream.events] == gaps
    assert str(stream.clock) == step


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_typed_timestamps(unit: str, tmp_path: Path) -> None:
    time = pd.to_datetime(["2024-01-01 00:00:00", "2024-01-01 00:00:05"]).astype(
        f"datetime64[{unit}]"
    )
    path = written(tmp_path / "events.parquet", pd.DataFrame({"type": list("ab"), "time": time}))
    stream = load(path, "type", "time")
    assert [arrival.gap for arrival in stream.events] == [0, 5]
    assert str(stream.clock) == "1 s"


@pytest.mark.parametrize("stamps", [False, True])
def test_no_time_is_rounded(stamps: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Times with any number of digits are what the file says, in steps that divide them all."""
    path = tmp_path_factory.mktemp("files") / "events.csv"

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.integers(0, 10**9), min_size=1, max_size=8), st.integers(0, 9))
    def check(found: list[int], digits: int) -> None:
        times = [Fraction(value, 10**digits) for value in sorted(found)]
        texts = [
            str(np.datetime64("2024-01-01") + np.timedelta64(int(time * 10**9), "ns"))
            if stamps
            else format(Decimal(time.numerator) / Decimal(time.denominator), "f")
            for time in times
        ]
        pd.DataFrame({"type": "a", "time": texts}).to_csv(path, index=False)
        stream = load(path, "type", "time")
        got = [Fraction(one.time, stream.clock.steps) for one in assign_times(stream.events)]
        assert got == [time - times[0] for time in times]
        shown = [stream.clock.show(one.time) for one in assign_times(stream.events)]
        if stamps:
            assert [pd.Timestamp(one) for one in shown] == [
                pd.Timestamp(t, tz="UTC") for t in texts
            ]
        else:
            assert shown == [float(text) for text in texts]

    check()


def test_a_number_with_more_digits_than_a_float_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("type,time\na,1700000000.000000001\nb,1700000000.123456789\n")
    with pytest.raises(Invalid, match=r"row \d: 'time' is .*; times with more than 9 digits"):
        load(path, "type", "time")


def test_a_time_that_is_no_decimal_fraction_is_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame({"type": list("ab"), "time": [0.0, 1 / 3]})
    with pytest.raises(Invalid, match=r"row 2: 'time' is 0\.333.*; times with more than 9 digits"):
        load(written(tmp_path / "events.csv", frame), "type", "time")


def test_attributes_travel_and_missing_ones_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_text("type,time,price,who\na,1,2.5,\nNA,2,,ann\n")
    assert [(a.type, a.data) for a in load(path, "type", "time", ("price", "who")).events] == [
        ("a", (("price", 2.5),)),
        ("NA", (("who", "ann"),)),  # a missing value, but a fine name for a type
    ]


BAD = {
    "empty": ("", "events.csv: the file is empty; it needs a header and rows below it"),
    "no rows": ("type,time\n", "events.csv: no events; there is a header, but no row below it"),
    "misspelt": ("typ,time\na,1\n", "events.csv: no column 'type'; did you mean 'typ'?"),
    "other columns": ("x,time\na,1\n", "events.csv: no column 'type'; there are 'x', 'time'"),
    "no type": ("type,time\na,1\n,2\n", "events.csv: row 2: 'type' is empty; give an event type"),
    "no time": (
        "type,time\na,1\nb,\n",
        "events.csv: row 2: 'time' is empty; every event needs a time",
    ),
    "backwards": (
        "type,time\na,1\nb,10\nc,9\n",
        "events.csv: row 3: time goes backwards, from 10 to 9; sort the rows by 'time'",
    ),
    "days backwards": (
        "type,time\na,2024-01-02\nb,2024-01-01\n",
        "events.csv: row 2: time goes backwards, from 2024-01-02 to 2024-01-01; "
        "sort the rows by 'time'",
    ),
    "no number": (
        "type,time\na,1\nb,soon\n",
        "events.csv: row 2: 'time' is soon, which is neither a number nor an ISO 8601 timestamp",
    ),
    "infinite": (
        "type,time\na,1\nb,inf\n",
        "events.csv: row 2: 'time' is inf, which is neither a number nor an ISO 8601 timestamp",
    ),
    "too long a row": (
        "type,time\na,1\nb,2,3\n",
        "events.csv: cannot be read as CSV: Error tokenizing data. C error: "
        "Expected 2 fields in line 3, saw 3",
    ),
    "too long rows": (
        "type,time\na,1,2\nb,2,3\n",
        "events.csv: cannot be read as CSV: rows have more fields than the header",
    ),
}


@pytest.mark.parametrize(("content", "message"), BAD.values(), ids=BAD.keys())
def test_bad_files_are_refused_with_one_line(
    content: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("events.csv").write_text(content)
    with pytest.raises(Invalid) as error:
        load("events.csv", "type", "time")
    assert str(error.value) == message


@pytest.mark.parametrize(
    "name", ["a.csv", "a.parquet", "a.csv.gz", "a.csv.bz2", "a.csv.xz", "a.zip", "a.csv.tar"]
)
@pytest.mark.parametrize("content", [None, b"", b"nope", bytes(range(256)) * 9])
def test_no_file_is_a_traceback(name: str, content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(Invalid) as error:
        load(path, "type", "time")
    assert str(error.value).startswith(f"{path}: ")
    assert "\n" not in str(error.value)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="cannot be read: it is a folder; give a file"):
        load(tmp_path, "type", "time")


def test_truth_values_are_no_times(tmp_path: Path) -> None:
    frame = pd.DataFrame({"type": list("ab"), "time": [False, True]})
    with pytest.raises(Invalid, match="row 1: 'time' is False, which is neither a number"):
        load(written(tmp_path / "events.parquet", frame), "type", "time")


PARTS = ("type", "time", "x")


def of_parquet(folder: Path, part: str, values: list[Any], type_: pa.DataType) -> Path:
    """Two events, one part of them of that type of Parquet."""
    columns: dict[str, Any] = {"type": ["a", "b"], "time": [1, 2], "x": [0, 0]}
    path = folder / "events.parquet"
    pq.write_table(pa.table(columns | {part: pa.array(values, type_)}), path)
    return path


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("type_", [pa.binary(), pa.large_binary(), pa.binary(1)], ids=str)
def test_bytes_are_text_or_refused(part: str, type_: pa.DataType, tmp_path: Path) -> None:
    found = load(of_parquet(tmp_path, part, [b"1", b"2"], type_), "type", "time", ["x"])
    assert [one.type for one in found.events] == (["1", "2"] if part == "type" else ["a", "b"])
    assert [one.gap for one in found.events] == [0, 1]
    assert [str(dict(one.data)["x"]) for one in found.events] == (
        ["1", "2"] if part == "x" else ["0", "0"]
    )
    path = of_parquet(tmp_path, part, [b"\xff", b"2"], type_)
    with pytest.raises(Invalid, match="cannot be read as Parquet: Invalid UTF8"):
        load(path, "type", "time", ["x"])


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    ("values", "type_"),
    [
        ([[1], [2]], pa.list_(pa.int64())),
        ([{"a": 1}, {"a": 2}], pa.struct({"a": pa.int64()})),
        ([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
    ],
    ids=["list", "struct", "map"],
)
def test_a_nested_column_is_refused(
    part: str, values: list[Any], type_: pa.DataType, tmp_path: Path
) -> None:
    with pytest.raises(Invalid, match=rf"'{part}' is of type .*; give a column of single values"):
        load(of_parquet(tmp_path, part, values, type_), "type", "time", ["x"])


# --- patterns and graphs ---------------------------------------------------------------------
@given(st.lists(st.sampled_from(["a", "b+", "on time"]), min_size=1), st.sampled_from([0, 1, 2]))
def test_a_pattern_is_its_steps(steps: list[str], spaces: int) -> None:
    text = ("," + " " * spaces).join(steps)
    assert parsed(text) == sequence(*steps)
    assert parsed(text, Search("any")).strategy is Strategy.ANY
    skips = sequence(*steps, after_match=AfterMatch.PAST_LAST_EVENT, consumes=True)
    assert parsed(text, Search(skip="past-last", consumes=True)) == skips
    strict = one_run(*steps, strategy=Strategy.STRICT)
    assert parsed(text, Search("strict", one_run=True)) == strict


@pytest.mark.parametrize(
    ("text", "strategy", "message"),
    [
        (" ", "next", 'pattern: empty; give event types in order, such as "a, b+, !c, d"'),
        ("late,,gone", "next", "pattern: step '' names no event type"),
        ("!", "next", "pattern: step '!' names no event type"),
        ("!late", "next", "pattern: empty; give at least one step that is not negated"),
        ("late, lte", "next", "pattern: no event has the type 'lte'; did you mean 'late'?"),
        ("x", "next", "pattern: no event has the type 'x'; there are 'gone', 'late'"),
        ("late", "all", "strategy 'all': it must be one of next, any, strict"),
    ],
)
def test_bad_patterns(text: str, strategy: str, message: str) -> None:
    with pytest.raises(Invalid) as error:
        parsed(text, Search(strategy), frozenset({"late", "gone"}))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (Search(skip="some"), "skip 'some': it must be one of none, past-last"),
        (
            Search(skip="past-last", one_run=True),
            "one run: it knows no skip and no consumption; leave one of the two out",
        ),
        (
            Search(consumes=True, one_run=True),
            "one run: it knows no skip and no consumption; leave one of the two out",
        ),
        (
            Search("any", one_run=True),
            "one run: skip till any match follows every choice; use a Pattern",
        ),
    ],
)
def test_bad_searches(search: Search, message: str) -> None:
    with pytest.raises(Invalid) as error:
        parsed("late", search)
    assert str(error.value) == message


def test_bad_windows() -> None:
    with pytest.raises(Invalid, match="window slide 0: it must be at least 1"):
        graph_for("a", 5, 0)


def test_many_names_are_not_all_shown() -> None:
    names = [f"{letter}{letter}" for letter in "abcdefghi"]
    assert nearest("zzzz", names).endswith("there are 'aa', 'bb', 'cc' and 6 others")


def test_the_graph_for_any_file() -> None:
    graph = graph_for("a, b", 10, 10)
    assert graph.order() == ("source", "match", "recurrence", "summary", "sink")
    assert graph.specs["source"] is SOURCE
    assert graph.specs["sink"] is SINK
    (bodies,) = oracle(graph, {"source": (Arrival(0, "a"), Arrival(1, "b")) * 4})["sink"]
    # Four matches are three recurrences, which are one summary of the first and the last.
    assert [body.type for body in bodies] == ["summary"]
    assert [[match.time for match in recurrence.data] for recurrence in bodies[0].data] == [
        [1, 2],
        [3, 4],
    ]
