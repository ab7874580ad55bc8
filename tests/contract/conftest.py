"""`asif` on a FILE.py of a test's own, in this process."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from asif import progress
from asif.cli import main

HEAD = """\
from dataclasses import replace

from asif.protocol import *
from docs.examples import amnesia, forgetful, mindful, relay
"""
NUMBERS = count(1)


class Ended(NamedTuple):
    """result: what --json wrote, if it did."""

    code: object
    out: str
    err: str
    result: Any

    @property
    def line(self) -> str:
        """The one line that bad input gets."""
        assert self.code == 2, self.out + self.err
        assert self.err.count("\n") == 1, self.err
        assert not self.out
        return self.err


@pytest.fixture
def asif(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Ended]]:
    """asif(text of a protocol's file, command, arguments with FILE for its name)."""
    loaded: list[str] = []
    # On a busy machine also what is short takes a second, and would say how far it is.
    monkeypatch.setattr(progress, "SHORT_S", 600.0)

    def call(text: str, *arguments: str) -> Ended:
        home = f"own_{next(NUMBERS)}"  # of files loaded in one process, names must differ
        loaded.append(home)
        (tmp_path / f"{home}.py").write_text(HEAD + text)
        monkeypatch.chdir(tmp_path)
        words = [word.replace("FILE", f"{home}.py") for word in arguments]
        monkeypatch.setattr(sys, "argv", ["asif", *words, "--json", "result.json"])
        Path("result.json").unlink(missing_ok=True)
        with pytest.raises(SystemExit) as ended:
            main()
        path = Path("result.json")
        result = json.loads(path.read_text()) if path.exists() else None
        printed = capsys.readouterr()
        assert "Traceback" not in printed.out + printed.err
        return Ended(ended.value.code, printed.out, printed.err, result)

    yield call
    for home in loaded:
        sys.modules.pop(home, None)
