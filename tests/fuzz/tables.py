"""Tables as files: events and output logs, in CSV, JSON lines and Parquet.

Rule of this file: the formats' own writers write whole files; bytes are changed afterwards.
"""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.fuzz.toml_files import DOCS
from tests.fuzz.values import BIG, NUMBERS, TEXTS, Raw, broken, value

NAMES = ("time", "type", "key", "value", "number", "nth", "of", "", "a.b", "time", "x$y$", "a,b")


@cache
def seeds(suffix: str) -> tuple[bytes, ...]:
    """The logs of docs/."""
    return tuple(file.read_bytes() for file in sorted((DOCS / "examples/logs").glob(f"*{suffix}")))


def csv_file(pick: Random) -> bytes:
    kind = pick.randrange(6)
    if kind == 0:
        return broken(pick, pick.choice(seeds(".csv")))
    if kind == 1:
        return pick.choice(ODD_CSV)
    text = io.StringIO()
    rows = csv.writer(text, lineterminator=pick.choice(("\n", "\n", "\r\n")))
    rows.writerows([list(row) for row in _rows(pick)])
    content = text.getvalue().encode(errors="surrogatepass")
    return broken(pick, content) if kind == 2 else content


def _rows(pick: Random) -> list[list[Any]]:
    names = ["time", "type", *(pick.choice(NAMES) for _ in range(pick.randrange(4)))]
    return [names, *([_cell(pick, at, name) for name in names] for at in range(pick.randrange(9)))]


def _cell(pick: Random, at: int, name: str) -> Any:
    if pick.randrange(5):
        return at if name in ("time", "number", "value") else pick.choice("ab")
    odd = pick.choice((*NUMBERS, *TEXTS, *BIG, "2024-01-01T00:00:00Z", "2024-01-01", "1e5000"))
    return odd.text if isinstance(odd, Raw) else odd


ODD_CSV = (
    *(b"", b"\n", b"time,type\n", b"time,type", b"\xef\xbb\xbftime,type\n1,a\n", b",\n,\n"),
    *(b"time,time\n1,2\n", b"time,type\n1,a,b\n2,a\n", b'time,type\n1,"a\n2,b\n', b"\x00" * 100),
    *(b"time,type\n1," + b"a" * 200_000 + b"\n", b"time,type\n" + b"1" * 40_000 + b"a,b\n"),
    *(b"," * 100_000 + b"\n", b"time,type\n" + b"1,a\r" * 10, b"time,type\n-1e308,a\n1e308,b\n"),
    b"time,type\n0001-01-01T00:00:00Z,a\n9999-12-31T00:00:00Z,b\n",
)


def json_file(pick: Random) -> bytes:
    kind = pick.randrange(6)
    if kind == 0:
        return broken(pick, pick.choice(seeds(".jsonl")))
    if kind == 1:
        return pick.choice(ODD_JSON)
    lines = []
    for at in range(pick.randrange(1, 8)):
        row = {"number": at, "key": pick.choice("ab"), "type": "a", "time": at}
        if not pick.randrange(4):
            row[pick.choice((*NAMES, *TEXTS))] = value(pick)
        lines.append(_json(row))
    content = "\n".join(lines).encode(errors="surrogatepass") + b"\n"
    return broken(pick, content) if kind == 2 else content


def _json(one: Any) -> str:
    match one:
        case Raw():
            return one.text
        case dict():
            return "{" + ",".join(f"{json.dumps(n)}:{_json(v)}" for n, v in one.items()) + "}"
        case list():
            return "[" + ",".join(map(_json, one)) + "]"
        case _:
            return json.dumps(one, default=str)


ODD_JSON = (
    *(
        b"",
        b"\n\n",
        b"{}\n",
        b"[]\n",
        b"null\n",
        b"1\n",
        b"{}\n{}\n",
        b'{"a":1,"a":2}\n',
        b"{\n}\n",
    ),
    *(b'{"a":' * 2_000 + b"1" + b"}" * 2_000 + b"\n", b"[" * 100_000 + b"\n", b'{"a":1e999}\n'),
    *(b'{"a":' + b"1" * 5_000 + b"}\n", b'{"a":"' + b"x" * 200_000 + b'"}\n', b'{"a":NaN}\n'),
    *(b'{"\\ud800":1}\n', b'{"a":"\\ud800"}\n', b'\xef\xbb\xbf{"a":1}\n', b'{"a":"\\u0000"}\n'),
    *(b'{"a.b":1,"a":{"b":2}}\n', b'{"":1}\n', b'{"number":1,"key":"a","of":["x",null,1]}\n'),
)


def parquet_file(pick: Random) -> bytes:
    kind = pick.randrange(6)
    if kind == 0:
        return pick.choice((b"", b"PAR1", b"PAR1PAR1", b"PAR1" + b"\x00" * 100 + b"PAR1"))
    count = pick.randrange(5)
    names = ["time", "type", *(pick.choice(NAMES) for _ in range(pick.randrange(3)))]
    columns = [_column(pick, name, count) for name in names]
    file = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(columns, names=names), file)
    content = file.getvalue()
    return broken(pick, content) if kind < 3 else content


def _column(pick: Random, name: str, count: int) -> pa.Array:
    plain = {"time": pa.array(range(count), pa.int64()), "type": pa.array(["a"] * count)}
    if name in plain and pick.randrange(3):
        return plain[name]
    values, type_ = pick.choice(COLUMNS)
    return pa.array([pick.choice(values) for _ in range(count)], type_)


MOMENT = datetime(2024, 1, 1, tzinfo=UTC)
COLUMNS: tuple[tuple[tuple[Any, ...], pa.DataType], ...] = (
    ((1, None, -1, 127), pa.int8()),
    ((1, None, 2**63 - 1, -(2**63)), pa.int64()),
    ((1, 2**64 - 1), pa.uint64()),
    ((1.0, None, float("nan"), float("inf"), 1e308), pa.float64()),
    ((1.0, 2.0), pa.float32()),
    (("a", "", None, "x$y$", "\x00", "a" * 100_000), pa.string()),
    ((b"a", b"\xff", None), pa.binary()),
    ((True, None), pa.bool_()),
    ((None,), pa.null()),
    ((Decimal("1.5"), Decimal("1e20")), pa.decimal128(38, 4)),
    ((date(1, 1, 1), date(9999, 12, 31)), pa.date32()),
    ((MOMENT, None), pa.timestamp("ns", "UTC")),
    ((-(2**62), 2**62, 0), pa.timestamp("us")),
    ((MOMENT.replace(tzinfo=None),), pa.timestamp("ms")),
    ((1,), pa.duration("s")),
    ((1,), pa.time64("ns")),
    (([1, 2], [], None), pa.list_(pa.int64())),
    (({"a": 1, "b": "x"}, None), pa.struct([("a", pa.int64()), ("b", pa.string())])),
    (([("k", 1)], []), pa.map_(pa.string(), pa.int64())),
    (("a", "b"), pa.dictionary(pa.int8(), pa.string())),
)

FORMATS = {".csv": csv_file, ".jsonl": json_file, ".parquet": parquet_file}
