"""Inputs that once ended in a traceback, in silence or not at all: each is one line, and exit 2.

Rule of this file: an example a kind; the fuzzer finds their neighbours.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from model.errors import Invalid
from model.registry import import_file
from tests.fuzz.case import Answered, Case, faults
from tests.fuzz.client import answering
from tests.fuzz.own_files import BOX, CLASSES
from tests.fuzz.toml_files import DOCS, seeds, toml
from tests.fuzz.values import Raw

RELAY = (DOCS / "examples/amnesia.py").read_text("utf-8")
SCENARIO = {
    "protocol": "upstream-backup",
    "stream": {"events": 60, "rate_per_s": 500.0, "types": {"a": 1.0, "b": 1.0}},
}
PATTERN = {"pattern": "a, b", "window": 40, "slide": 20}


@pytest.fixture(scope="module")
def answer() -> Iterator[Callable[[Case], Answered]]:
    with answering() as answered:
        yield answered


def refused(answer: Callable[[Case], Answered], case: Case, why: str) -> None:
    """Is the case refused in one line that says why, and is nothing written?"""
    found = answer(case)
    assert not [*faults(found)], found
    assert found.code == 2, found
    assert why in found.err
    assert len(found.err.splitlines()) == 1
    assert len(found.err) < 450


TOML = {
    "deep": (b"seed = " + b"[" * 1_000 + b"]" * 1_000, "more than 32 tables or lists"),
    "deep keys": (b"a" + b".a" * 1_000 + b" = 1", "more than 32 tables or lists"),
    "digits": (b"seed = " + b"1" * 5_000, "more than 64 bits"),
    "hexadecimal": (b"seed = 0x" + b"f" * 5_000, "more than 64 bits"),
    "not text": (b"\xff\xfe", "not UTF-8"),
    "empty": (b"", "protocol"),
    "mark": (b"\xef\xbb\xbfsid = 1", "sid: unknown key"),
    "large": (b"#" * 5_000_000, "at most 4,000,000"),
}


@pytest.mark.parametrize("what", TOML)
def test_toml(what: str, answer: Callable[[Case], Answered]) -> None:
    content, why = TOML[what]
    refused(answer, Case(("simulate", "s.toml"), {"s.toml": content}), why)


@pytest.mark.parametrize("priority", ["1e400", "nan", "-1", "0", "1" * 30, "'1'"])
def test_a_priority(priority: str, answer: Callable[[Case], Answered]) -> None:
    plan = {**seeds("plans")[-1]}
    plan["queries"] = [{**plan["queries"][0], "priority": Raw(priority)}]
    found = answer(Case(("plan", "p.toml"), {"p.toml": toml(plan)}))
    assert (found.code, [*faults(found)]) == (2, [])


@pytest.mark.parametrize("name", ["a$b$c", "$\\frac{", "[red]", "[/x]", "é", "a b", "&<>"])
def test_lawful_names_are_drawn(name: str, answer: Callable[[Case], Answered]) -> None:
    content = {**SCENARIO, "operators": [{**PATTERN, "name": name}]}
    case = Case(("simulate", "s.toml", "--plot", "p.png"), {"s.toml": toml(content)})
    found = answer(case)
    assert (found.code, [*faults(found)]) == (0, [])
    assert found.written == ("p.csv", "p.png")


ENDS = {
    "os._exit": "import os; os._exit(0)",
    "os.abort": "import os; os.abort()",
    "os.kill": "import os; os.kill(os.getpid(), 9)",
    "sys.exit": "import sys; sys.exit(0)",
    "SystemExit": "raise SystemExit",
    "GeneratorExit": "raise GeneratorExit",
    "an interrupt": "raise Own",
    "words that raise": "raise Odd",
    "recursion": "deep()",
    "memory": "raise MemoryError",
    "surrogates": "raise Exception('\\ud800')",
    "lines": "raise Exception('a\\nb\\nc')",
}


@pytest.mark.parametrize("how", ENDS)
def test_an_import_that_ends_the_process(how: str, answer: Callable[[Case], Answered]) -> None:
    text = f"{CLASSES}{ENDS[how]}\n".encode()
    for command in ("list", "classify", "check", "witness"):
        refused(answer, Case((command, "own.py"), {"own.py": text}), "own.py:")


@pytest.mark.parametrize("how", ENDS)
def test_a_step_that_ends_the_process(how: str, answer: Callable[[Case], Answered]) -> None:
    """Exit code 1: a protocol whose step fails is refuted, or its run ends there."""
    line = "def step(site: Site, state: Any, input_: Input) -> Answer:\n"
    assert line in RELAY
    text = RELAY.replace(line, f"{line}    {ENDS[how]}\n") + CLASSES
    run = ("--events", "e.csv", "--pattern", "a", "--window-size", "2", "--window-slide", "1")
    for words in (("witness", "own.py"), ("run", *run, "--protocol", "own.py")):
        found = answer(Case(words, {"own.py": text.encode(), "e.csv": b"time,type\n1,a\n2,a\n"}))
        assert not [*faults(found)], found
        assert found.code in (1, 2)


@pytest.mark.parametrize("how", ENDS)
def test_a_box_that_ends_the_process(how: str, answer: Callable[[Case], Answered]) -> None:
    alphabet = "Alphabet(((Arrival(1, 'a'), Arrival(1, 'b')),))"
    text = CLASSES + BOX.format(begin="pass", feed=ENDS[how], box="Own()", alphabet=alphabet)
    text = text.replace("class Own(Key", "class Stop(Key").replace("raise Own", "raise Stop")
    refused(answer, Case(("classify", "own.py"), {"own.py": text.encode()}), "own")


@pytest.mark.parametrize(
    ("line", "raised"),
    [
        ("os._exit(0)", "EndsProcess: os._exit would end"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt: no reason given"),
    ],
)
def test_what_ends_a_process_is_named_in_a_process_of_its_own(
    line: str, raised: str, tmp_path: Path
) -> None:
    """A command ignores Ctrl-C there, and its supervisor does not: so this is none."""
    (tmp_path / "own.py").write_text(f"import os\n{line}\n")
    command = [sys.executable, "-m", "asif", "check", "own.py"]
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False, env=path
    )
    assert ended.returncode == 2
    assert f"own.py:2: importing it raises {raised}" in ended.stderr


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/full", "pipe.toml", "folder.toml"])
@pytest.mark.parametrize("command", ["simulate", "plan", "sweep", "choose"])
def test_what_is_no_file(
    place: str, command: str, tmp_path: Path, answer: Callable[[Case], Answered]
) -> None:
    (tmp_path / "folder.toml").mkdir()
    os.mkfifo(tmp_path / "pipe.toml")
    path = place if place.startswith("/") else str(tmp_path / place)
    refused(answer, Case((command, path)), "cannot be read: it is a")


def test_a_pipe_is_no_log(tmp_path: Path, answer: Callable[[Case], Answered]) -> None:
    os.mkfifo(tmp_path / "a.csv")
    pipe = str(tmp_path / "a.csv")
    refused(answer, Case(("verify-trace", pipe, pipe)), "it is a pipe or a device")
    refused(answer, Case(("run", "--events", pipe, "--pattern", "a")), "it is a pipe or a device")


def test_a_bomb_of_parquet(tmp_path: Path, answer: Callable[[Case], Answered]) -> None:
    """A file of some kB with more than 100 rows a byte, or a GB of text."""
    rows, long = tmp_path / "rows.parquet", tmp_path / "long.parquet"
    zeros = pa.table({"v": pa.array([0] * 4_000_000, pa.int8())})
    pq.write_table(zeros, rows, compression="zstd", row_group_size=4_000_000)
    table = {"time": range(300), "type": ["x" * 5_000_000] * 300}
    pq.write_table(pa.table(table), long, compression="zstd")
    assert rows.stat().st_size < 30_000
    assert long.stat().st_size < 30_000
    refused(answer, Case(("verify-trace", str(rows), str(rows))), "unpacks to 4,000,000 rows")
    refused(answer, Case(("run", "--events", str(long), "--pattern", "a")), "1,000,000,000 bytes")


def test_code_of_a_file_may_end_a_program_that_it_has_started(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text(
        "import subprocess, sys\n"
        "try:\n"
        "    subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'], timeout=0.2)\n"
        "except subprocess.TimeoutExpired:\n"
        "    raise ValueError('it took too long')\n"
    )
    with pytest.raises(Invalid, match=r"own.py:5: importing it raises ValueError: it took too"):
        import_file(own)


def test_a_file_that_is_read_leaves_no_bytecode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside it, and beside what it imports; also if it is refused."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "beside_own.py").write_text("ANSWER = 42")
    for name, end in (("whole_own", ""), ("half_own", "raise ValueError")):
        (tmp_path / f"{name}.py").write_text(f"import beside_own\n{end}")
        with pytest.raises(Invalid) if end else nullcontext():
            import_file(tmp_path / f"{name}.py")
        assert not sys.dont_write_bytecode
    assert {one.suffix for one in tmp_path.iterdir()} == {".py"}
