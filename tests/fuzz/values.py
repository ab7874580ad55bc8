"""Values that are seldom tried: numbers at the edges, texts that some format gives a meaning.

Rule of this file: no file and no command; each function takes its choices from a Random.
"""

from __future__ import annotations

from datetime import date, datetime, time
from random import Random
from typing import Any, NamedTuple


class Raw(NamedTuple):
    """The text of a value, as it stands in a file."""

    text: str


NUMBERS: tuple[Any, ...] = (
    *(0, 1, -1, 2, 3, 7, 10, 100, 1_000, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**18, 10**30),
    *(0.0, -0.0, 0.1, 0.5, 1.5, 1e-3, 1e-9, 1e-12, 1e-300, 1e-320, 5e-324, 1e15, 1e300, 1e308),
    *(float("inf"), float("-inf"), float("nan"), 1 + 1e-16, 0.1 + 0.2),
)
BIG = (Raw("1e400"), Raw("-1e400"), Raw("1" * 5_000), Raw("9" * 400), Raw("1." + "1" * 4_000))
TEXTS = (
    *("", " ", "a", "match", "source", "output", "x$y$z", "$\\frac{", "a\nb", "a\r\nb", "\t", "\\"),
    *("'", '"', '"""', "'''", "\\N", "\\N{x}", "%s", "{}", "{0}", "<script>alert(1)</script>", "&"),
    *("a|b", "[red]x[/red]", "[/]", "[bold", "a,b", "a;b", "../../x", "/", "\x00", "\x1b[31mred"),
    *(
        "\x7f",
        "\u0085",
        "\u2028",
        "\ufeff",
        "\U0001f600",
        "é" * 3,
        "a" * 2_000,
        "NaN",
        "nan",
        "inf",
    ),
    *("null", "true", "0", "-1", "1e400", "local[0]", "local", "*", "a.b", "a:b", "a#1", "--all"),
    *("upstream-backup", "abs", "micro-batch", "no-such", "amnesia", "progressive", "own.py"),
    *("value > 5", "a, b+, !c", "a where", "a,", "!a", "key", "type", "time", "count", "sum"),
)
DATES = (date(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59), time(0, 0))


def value(pick: Random, depth: int = 2) -> Any:
    """A value of any type that TOML and JSON have, except null."""
    kind = pick.randrange(9 if depth else 7)
    if kind < 3:
        return pick.choice(NUMBERS)
    if kind < 5:
        return pick.choice(TEXTS)
    if kind == 5:
        return pick.choice((True, False))
    if kind == 6:
        return pick.choice((*BIG, *DATES))
    if kind == 7:
        return [value(pick, depth - 1) for _ in range(pick.randrange(4))]
    return {key(pick): value(pick, depth - 1) for _ in range(pick.randrange(3))}


def key(pick: Random) -> str:
    return pick.choice(TEXTS)


def number_near(pick: Random, old: int | float) -> Any:
    """A number that differs from one that is right."""
    change = pick.choice((0, -1, 1, 2, -2, 10, 0.5, 1e-9, 1e9))
    return pick.choice((old + change, old * change, -old, float(old), str(old), int(old)))


def broken(pick: Random, content: bytes) -> bytes:
    """The bytes with a few of them changed, lost or doubled."""
    found = bytearray(content)
    for _ in range(pick.choice((1, 1, 1, 2, 5))):
        at = pick.randrange(len(found) + 1)
        match pick.randrange(6):
            case 0:
                found[at : at + 1] = bytes([pick.randrange(256)])
            case 1:
                del found[at : at + pick.choice((1, 1, 2, 10, 100))]
            case 2:
                found[at:at] = found[max(0, at - pick.choice((1, 10, 100))) : at]
            case 3:
                found[at:at] = pick.choice(PIECES)
            case 4:
                del found[at:]
            case 5 if at < len(found):
                found[at] ^= 1 << pick.randrange(8)
    return bytes(found)


PIECES = (
    *(b"\xff", b"\x00", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b'"', b"'", b","),
    *(b"[" * 1_000, b"{" * 1_000, b'{"a":' * 1_000, b"[[", b"]]", b"=", b"\\", b"\\u0000", b'"""'),
    *(b"1" * 5_000, b"1e400", b"nan", b"-inf", b"a" * 200_000, b"\\ud800", b"#", b"x.y.z = 1\n"),
)
