"""Python files of users: the protocols of docs/ and a box, with parts of them broken.

Rule of this file: the text of a file is changed at places where any user may make a mistake.
"""

from __future__ import annotations

from functools import cache
from random import Random

from tests.fuzz.toml_files import DOCS
from tests.fuzz.values import broken

RAISES = (
    *("1 / 0", "raise SystemExit", "raise SystemExit(3)", "raise KeyboardInterrupt", "exit()"),
    *("raise GeneratorExit", "raise MemoryError", "raise RecursionError", "raise StopIteration"),
    *(
        "raise BaseException('x')",
        "raise Odd",
        "raise Own",
        "import os; os._exit(0)",
        "assert False",
    ),
    *("import os; os.abort()", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"),
    *(
        "deep()",
        "import os; os.chdir('/')",
        "import sys; sys.stdout.close()",
        "import sys; sys.exit(0)",
    ),
    *("import os; os.close(1)", "import sys; sys.argv.clear()", "import sys; sys.modules.clear()"),
    *(
        "print('\\x1b[31m')",
        "raise Exception('\\ud800')",
        "raise ValueError('a\\nb\\nc')",
        "raise E",
    ),
    *("return None", "return 1", "return ()", "return (1, 2, 3)", "return [], []", "return {}, ()"),
    *("yield", "return (lambda: 0), ()", "return float('nan'), ()", "return state", "..."),
)
"""Statements that no function of a protocol should have."""

CLASSES = """
class Odd(Exception):
    def __str__(self):
        raise ValueError("no words")
class Own(KeyboardInterrupt):
    pass
class E(Exception):
    __module__ = None
    def __init__(self): super().__init__("<b>$x$</b>", "\\N")
def deep():
    return deep()
"""

SHAPES = (
    *("None", "0", "3.5", "''", "'x'", "()", "(1,)", "(None,)", "[]", "{}", "{1: 2}", "object()"),
    *("lambda: 0", "lambda *_: 1 / 0", "lambda *_: None", "lambda *_: 3", "frozenset({1})", "type"),
    *(
        "float('nan')",
        "PROTOCOL",
        "(PROTOCOL,)",
        "print",
        "Exception",
        "iter(())",
        "b'x'",
        "range(3)",
    ),
    *(
        "lambda *_: exit()",
        "lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)",
        "'\\ud800'",
        "'$x$'",
    ),
    *(
        "'a\\nb'",
        '\'"""\'',
        "'<script>'",
        "'\\x1b[0m'",
        "'a' * 5_000",
        "'|'",
        "'[/x]'",
        "...",
        "1e400",
    ),
)
PLACES = (
    *("promise", "evidence", "words", "design", "variant", "variants", "family", "behaviour"),
    *("deploy", "boot", "step", "recover", "gauges", "show", "size", "memory", "states", "needed"),
    *(
        "timers",
        "background",
        "clocked",
        "quantities",
        "checkpoints",
        "knobs",
        "outage",
        "interval",
    ),
    *(
        "ends",
        "claims",
        "properties",
        "assumes",
        "protects",
        "title",
        "source",
        "finding",
        "scopes",
    ),
    *("expected", "mutants", "compare_with", "must_occur"),
)


@cache
def protocols() -> tuple[str, ...]:
    names = ("amnesia", "forgetful", "once", "standby", "passive_standby", "write_ahead")
    return tuple((DOCS / f"examples/{name}.py").read_text("utf-8") for name in names)


def protocol(pick: Random) -> bytes:
    """The text of the file of a protocol."""
    text = pick.choice(protocols())
    kind = pick.randrange(8)
    if kind == 0:
        return broken(pick, text.encode())
    if kind == 1:
        return f"{CLASSES}{pick.choice(RAISES[:30])}\n{text}".encode()
    if kind < 5:
        return _in_function(pick, text).encode()
    place, shape = pick.choice(PLACES), pick.choice(SHAPES)
    if kind == 5:
        return f"{text}\nimport dataclasses\nPROTOCOL = {shape}\n".encode()
    change = f"PROTOCOL = PROTOCOL.vary({place}={shape})"
    if kind == 6:
        part = pick.choice(("PROTOCOL", "PROTOCOL.promise", "PROTOCOL.evidence", "PROTOCOL.words"))
        change = f"object.__setattr__({part}, '{place}', {shape})"
    return f"{text}\n{change}\n".encode()


def _in_function(pick: Random, text: str) -> str:
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if line.endswith(":") and "def " in line]
    at = pick.choice(starts)
    indent = len(lines[at]) - len(lines[at].lstrip()) + 4
    lines.insert(at + 1, " " * indent + pick.choice(RAISES))
    return CLASSES.replace("\n", "\n", 1) + "\n".join(_without_future(lines))


def _without_future(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.startswith("from __future__")]


BOX = """
from model.boxes.box import Box, Fed, Out, answer
from model.core import Arrival
from proofs.classify.streams import Alphabet

class Own(Box):
    edges = None
    def begin(self, edges):
        {begin}
        return ()
    def feed(self, state, item):
        {feed}
        return answer(state, Out(item.body, item.of))

BOX = {box}
ALPHABET = {alphabet}
"""
ALPHABETS = (
    *(
        "Alphabet(((Arrival(1, 'a'), Arrival(1, 'b')),))",
        "Alphabet((Arrival(1, 'a'),))",
        "Alphabet(3)",
    ),
    *(
        "Alphabet(())",
        "Alphabet(None)",
        "Alphabet(((Arrival(1, {}),),))",
        "Alphabet(((Arrival('x', 1),),))",
    ),
    *("Alphabet(((Arrival(10**9, 'a', (('k', [1]),)),),))", "Alphabet(((Arrival(1, 'a'),),) * 3)"),
)


def box(pick: Random) -> bytes:
    """The text of the file of a box."""
    odd = pick.choice(RAISES)
    where = pick.randrange(4)
    return (
        CLASSES
        + (odd if where == 0 and odd in RAISES[:30] else "")
        + BOX.format(
            begin=odd if where == 1 else "pass",
            feed=odd if where == 2 else "pass",
            box="Own()" if where != 3 else pick.choice(SHAPES[:30]).replace("PROTOCOL", "Own"),
            alphabet=pick.choice(ALPHABETS) if where == 3 or odd == "..." else ALPHABETS[0],
        )
    ).encode()
