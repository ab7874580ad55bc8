"""`asif init`: the files that it writes work at once, and it never writes over a file."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from asif.cli import main
from model.registry import absolute

ROOT = Path(__file__).parents[2]


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> object:
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["asif", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        return (ended.value.code, *capsys.readouterr())

    return run


@pytest.mark.slow
def test_the_files_work_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    code = "from asif.cli import main; main()"

    def asif(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", code, *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    written = asif("init", "hello")
    assert written.returncode == 0, written.stderr
    assert written.stdout.splitlines()[:2] == ["hello.py", "test_hello.py"]
    commands = [line.strip() for line in written.stdout.splitlines()[3:]]
    assert commands == [
        "asif check hello.py",
        "asif check hello.py --duties",
        "asif check hello.py --pin",
        "pytest test_hello.py",
    ]
    checked = asif("check", "hello.py")
    assert checked.returncode == 0, checked.stdout
    assert "\nhello: holds\n" in checked.stdout
    assert asif("run", "--protocol", "hello.py", "--limit", "20000").returncode == 0
    scenario = tmp_path / "scenarios" / "one.toml"
    scenario.parent.mkdir()
    scenario.write_text(SCENARIO)
    timed = asif("simulate", str(scenario), "--set", "protocol=hello.py")
    assert "outputs, as if nothing had failed" in timed.stdout, timed.stderr + timed.stdout
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "test_hello.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert tested.returncode == 0, tested.stdout


SCENARIO = """
protocol = "upstream-backup"
unit_s = 0.001
[stream]
events = 400
rate_per_s = 500.0
types = { a = 1.0, b = 1.0 }
[[operators]]
name = "match"
pattern = "a, b"
window = 40
slide = 20
[[failures]]
nodes = ["match"]
at_event = 200
"""

REFUSED = {
    "my-relay": "write asif init my_relay",
    "my-relay.py": "write asif init my_relay",
    "class": "write asif init my_protocol",
    "2": "write asif init my_protocol",
    "json": "the module name 'json' is taken; write asif init my_json",
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_name_that_is_no_module_s_is_one_line(name: str, call: object, tmp_path: Path) -> None:
    assert callable(call)
    code, _, said = call("init", name)
    assert code == 2
    assert said.count("\n") == 1
    assert REFUSED[name] in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("there", ["hello.py", "test_hello.py"])
def test_a_file_that_is_there_stays(there: str, call: object, tmp_path: Path) -> None:
    assert callable(call)
    (tmp_path / there).write_text("mine")
    code, _, said = call("init", "hello")
    assert code == 2
    assert said == f"asif: init: {there} is there already; give another name, or --force\n"
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(there, "mine")]
    assert call("init", "hello", "--force")[0] in (0, None)
    written = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert written.keys() == {"hello.py", "test_hello.py"}
    assert "mine" not in written.values()


IMPORTS = {
    "a wrong name": (
        "import os\n\nfrom asif.protocol import Sed\n",
        3,
        "ImportError: cannot import",
    ),
    "a wrong word": ("x = 1\ndef f(:\n", 2, "SyntaxError: invalid syntax"),
    "an exception": ("def f():\n    return 1 / 0\n\n\nf()\n", 2, "ZeroDivisionError: division"),
    "an exit": ("import sys\nsys.exit(3)\n", 2, "SystemExit: 3"),
    "below": ("import json\njson.loads('')\n", 2, "JSONDecodeError: Expecting value"),
}


@pytest.mark.parametrize("name", IMPORTS)
def test_an_error_at_import_names_the_line(name: str, call: object, tmp_path: Path) -> None:
    assert callable(call)
    text, line, reason = IMPORTS[name]
    (tmp_path / "faulty.py").write_text(text)
    code, _, said = call("check", "faulty.py")
    assert code == 2
    assert said.count("\n") == 1
    assert f"faulty.py:{line}: importing it raises {reason}" in said


def test_the_path_of_a_variant_is_made_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute("mine.py:late") == f"{tmp_path / 'mine.py'}:late"
    assert absolute("micro-batch") == "micro-batch"


def test_the_options_of_check_stand_in_groups(
    call: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(call)
    printed, _, examples = call("check", "--help")[1].partition("Examples:")
    assert examples
    places = [printed.index(group) for group in ("What to try", "How far", "What to write")]
    assert places == sorted(places)
    assert places[0] < printed.index("--mutants") < places[1] < printed.index("--walks") < places[2]
    groups = [printed[start:end] for start, end in pairwise([*places, len(printed)])]
    for option, group in {
        "--mutants": 0,
        "--profile": 1,
        "--conf": 1,
        "--json": 2,
        "--pin": 2,
    }.items():
        assert [option in text for text in groups] == [at == group for at in range(3)]
    assert "--profile" not in printed[: places[0]]
