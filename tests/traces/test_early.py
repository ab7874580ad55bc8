"""A wrong column and a broken line are reported before Spark starts, with the line and the file."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from model.errors import Invalid
from spark_check.traces import early, lines, plain, verify
from spark_check.traces.lines import broken_line
from spark_check.traces.logs import find_log

ARRAYS = "".join(json.dumps({"n": n, "l": [n]}) + "\n" for n in range(3_000))
"""Spark reads this: lists are not plain."""


@pytest.fixture(autouse=True)
def _no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    def on_spark(*_: Any) -> Any:
        raise Invalid("Spark was asked")

    monkeypatch.setattr(verify, "_on_spark", on_spark)


def refused(said: str, path: Path, **asked: Any) -> None:
    with pytest.raises(Invalid, match=re.escape(said)):
        verify.verify(path, path, **asked)


def nested(path: Path) -> Path:
    object_ = pa.array([{"ts_ms": 1, "lsn": 2}])
    pq.write_table(pa.table({"n": [1], "source": object_, "l": [[1]]}), path)
    return path


def test_a_wrong_column_of_parquet_is_known_from_the_footer(tmp_path: Path) -> None:
    path = nested(tmp_path / "r.parquet")
    refused(f"REFERENCE {path}: has no column w (--key); it has n, source, l", path, key=["w"])
    refused("--ignore w: no such column; there are l, n, source", path, ignore=["w"])
    refused("--ignore source.w: no such column", path, ignore=["source.w"])
    refused("--key n: it is ignored as well", path, key=["n"], ignore=["n"])
    refused("Spark was asked", path, key=["n"], ignore=["source.ts_ms"])
    folder = tmp_path / "days"
    for day in "12":
        (folder / f"day={day}").mkdir(parents=True)
        nested(folder / f"day={day}" / "part.parquet")
    refused("has no column w (--id); it has n, source, l, day", folder, id=["w"])
    refused("Spark was asked", folder, key=["day"])


def test_logs_with_other_columns_are_known_from_the_footer(tmp_path: Path) -> None:
    path, other = nested(tmp_path / "r.parquet"), tmp_path / "a.csv"
    other.write_text('n,w\n1,"a ""b"""\n')
    with pytest.raises(Invalid, match="only REFERENCE has source, l; only ACTUAL has w"):
        verify.verify(path, other)


def test_a_column_of_json_may_come_late(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(ARRAYS + '{"n": 1, "late": 2}\n')
    said = f"REFERENCE {path}: has no column w (--order); it has l, n"
    refused(said, path, order=["w"])
    refused("--ignore w: no such column; there are l, n", path, ignore=["w"])
    refused("--ignore w.x: no such column", path, ignore=["w.x"])
    refused("Spark was asked", path, order=["late"], ignore=["n.x"])
    path.write_text(ARRAYS + '{"n": 1, "\\u0077": 2}\n')
    refused("Spark was asked", path, order=["w"])


def test_a_name_between_two_blocks_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(ARRAYS[: 21 * 10] + '{"n": 1, "late": 2}\n' + ARRAYS[:21])
    log = find_log("ACTUAL", path)
    for size in range(1, 40):
        monkeypatch.setattr(early, "BLOCK", size)
        assert early._may_hold(log, "late")
        assert not early._may_hold(log, "lat")


BROKEN = {
    "cut.jsonl": ('{"n": [1]}\n{"n": [2]}\n{"n": [', "line 3 is not whole (cut off"),
    "text.jsonl": ('{"n": "a"}\n\n{"n": "b\n{"n": "c"}\n', "line 3 is not whole (cut off"),
    "more.csv": ("n,v\n1,a\n2,b,c\n", "line 3 has 3 fields, and there are 2 columns"),
    "less.csv": ("n,v\n1,a\n2\n", "line 3 has 1 field, and there are 2 columns"),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("packed", ["", ".gz"])
def test_a_broken_line_is_named(name: str, packed: str, tmp_path: Path) -> None:
    text, said = BROKEN[name]
    path = tmp_path / f"{name}{packed}"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    refused(f"REFERENCE {path}: {said}", path)


SUSPECTS = {
    "word.jsonl": ("{'n': 1}\n{\"n\": tru}\n", "line 1 is not whole"),
    "list.jsonl": ('{"n": 1}\n[{"n": 1}]\n', "line 2 is no JSON object"),
    "quote.csv": ('n,v\n1,"a\n', "line 2 is not whole (cut off by a crash, perhaps): a quote is"),
    "comma.csv": ('n,v\n1,"a,b"\n1,"a",b\n', "line 3 has 3 fields, and there are 2 columns"),
}


@pytest.mark.parametrize("name", SUSPECTS)
def test_a_line_that_spark_might_read_is_named_only_after_it_failed(
    name: str, tmp_path: Path
) -> None:
    text, said = SUSPECTS[name]
    path = tmp_path / name
    path.write_text(text)
    log = find_log("ACTUAL", path)
    assert broken_line(log, by_line=True, surely=True) is None
    found = broken_line(log, by_line=True, surely=False)
    assert found is not None
    assert found.startswith(said)


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("size", [3, 1 << 20])
def test_bytes_that_are_no_text_are_named(
    small: bool, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a large log as well: Spark would read other characters."""
    monkeypatch.setattr(lines, "BLOCK", size)
    if not small:
        for module in (plain, early):
            monkeypatch.setattr(module, "SMALL_BYTES", 1)
    for name, start in (("a.jsonl", '{"n": 1}\n'), ("a.csv", "n\n")):
        path = tmp_path / name
        path.write_bytes(start.encode() + b'{"n": "\xc3\xa9"}\n{"n": "\xff"}\n{"n": 2}\n')
        refused(f"REFERENCE {path}: line 3 is not UTF-8", path)


def test_a_packed_file_that_was_cut_is_named_with_the_line(tmp_path: Path) -> None:
    folder = tmp_path / "log"
    folder.mkdir()
    (folder / "part-1.jsonl.gz").write_bytes(gzip.compress(ARRAYS.encode()))
    text = "".join(f'{{"n": {n * n % 997}}}\n' for n in range(9_000)).encode()
    whole = gzip.compress(text)
    cut = whole[: len(whole) // 2]
    (folder / "part-2.jsonl.gz").write_bytes(cut)
    number = zlib.decompressobj(31).decompress(cut).count(b"\n") + 1
    assert number > 300
    said = (
        f"line {number:,} of part-2.jsonl.gz is not whole (cut off by a crash, perhaps): the pack"
    )
    refused(f"REFERENCE {folder}: {said}", folder)
    (folder / "part-2.jsonl.gz").write_bytes(gzip.compress(text) + cut)
    refused(f"line {9_000 + number:,} of part-2.jsonl.gz is not whole", folder)


def test_what_is_whole_is_left_to_spark(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(ARRAYS)
    refused("Spark was asked", path)
    windows = tmp_path / "a.csv"
    windows.write_bytes(b'n,v\r\n1,"a,b"\r\n\r\n2," "x\r\n \r\n')
    refused("Spark was asked", windows)
