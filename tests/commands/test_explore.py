"""`asif explore` without a browser: whom it answers, and how it ends; `asif check --run`."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

import pytest
from typer.main import get_command

from asif.cli import application, main
from asif.commands.check import GOES_WITH_RUN
from asif.explore.answers import PageAnswers
from asif.explore.server import FILES, WEB, listen
from model.errors import Invalid
from model.registry import protocols, subject

BROKEN = """
from model.core import Inputs
from docs.examples.forgetful import PROTOCOL as OTHER

def step(site, state, event):
    raise OSError("no disk")

PROTOCOL = OTHER.vary(family="broken", step=step, variants=())
"""
LARGE = """
from docs.examples.forgetful import PROTOCOL as OTHER

def boot(site):
    return tuple(range(200_000))

def step(site, state, event):
    return state, ()

PROTOCOL = OTHER.vary(family="large", boot=boot, step=step, recover=None, variants=())
"""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    protocol = protocols()["micro-batch:commit-first"]
    with listen(PageAnswers(protocol.name, protocol, protocol.evidence.scopes[0]), 0) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


class Given(NamedTuple):
    status: int
    policy: str
    text: str


def ask(
    port: int, path: str, method: str = "GET", host: str | None = None, site: str = "none"
) -> Given:
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.putrequest(method, path, skip_host=True)
        connection.putheader("Host", f"127.0.0.1:{port}" if host is None else host)
        connection.putheader("Sec-Fetch-Site", site)
        connection.endheaders()
        answer = connection.getresponse()
        policy = answer.headers["Content-Security-Policy"] or ""
        return Given(answer.status, policy, answer.read().decode())


def world(port: int, run: str, scope: str = "stateless") -> Given:
    return ask(port, f"/world?scope={quote(scope)}&run={run}")


def test_it_answers_its_own_page_alone(port: int) -> None:
    for host in ("", "example.org", f"example.org:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}"):
        for path in ("/", "/scopes", "/run.json?scope=stateless&run="):
            assert ask(port, path, host=host).status == 421, host
    assert ask(port, "/", host=f"localhost:{port}").status == 200
    assert ask(port, "/scopes", "POST").status == 501


@pytest.mark.parametrize(("site", "status"), [("cross-site", 403), ("same-origin", 200)])
def test_another_page_starts_no_search(port: int, site: str, status: int) -> None:
    """A browser says where a question comes from; a link to the page itself is nobody's harm."""
    assert ask(port, "/shortest?scope=stateless", site=site).status == status
    assert ask(port, "/", site=site).status == 200


def test_a_browser_that_ends_late_is_not_waited_for(tmp_path: Path) -> None:
    """As one of a terminal."""
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\nexec sleep 600\n")
    browser.chmod(0o755)
    command = [sys.executable, "-m", "asif", "explore", "micro-batch", "--port", "0"]
    environment = {**os.environ, "BROWSER": f"{browser} %s"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        page = urlsplit(process.stdout.readline())
        assert page.port is not None
        assert ask(page.port, "/scopes").status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130


def test_it_hands_out_its_files_and_no_others(port: int) -> None:
    for path in (*FILES, "/palette.css"):
        answer = ask(port, path)
        assert answer.status == 200
        assert "default-src 'none'" in answer.policy
    for path in ("/../palette.py", "/vendor/../../page.py", "/etc/passwd", "//etc/passwd"):
        assert ask(port, path).status == 404
    page = (WEB / "explore.html").read_text("utf-8")
    assert all(f'"{path}"' in page for path in FILES if path != "/")


@pytest.mark.parametrize(
    ("run", "scope", "says"),
    [
        ("x", "stateless", "'x' is no address of a state: write numbers, as in 3.0.12"),
        ("0.99", "stateless", "choice 2 is 99, and the world there offers 5 actions, from 0"),
        ("0." * 2_000 + "0", "stateless", "the run has 2,001 actions; at most 2,000 are shown"),
        ("", "nowhere", "unknown scope of micro-batch:commit-first 'nowhere'"),
        ("%00", "stateless", "is no address of a state"),
    ],
)
def test_an_illegal_address_is_one_line(port: int, run: str, scope: str, says: str) -> None:
    answer = world(port, run, scope)
    assert answer.status == 404
    found = json.loads(answer.text)["error"]
    assert says in found
    assert "\n" not in found


def answers_of(path: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> PageAnswers:
    path.write_text(text)
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2]))
    protocol = subject(str(path)).protocol
    return PageAnswers(str(path), protocol, protocol.evidence.scopes[0])


def test_a_step_that_raises_is_shown_and_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = answers_of(tmp_path / "explored_broken.py", BROKEN, monkeypatch)
    first = answers.world(answers.first.name, "")
    assert first.choices[0].fails.endswith("OSError: no disk (line 6 of explored_broken.py)")
    end = answers.world(answers.first.name, "0")
    assert end.choices == ()
    assert end.run.steps[-1].fails
    assert end.broken.startswith("every step answers (")
    assert end.broken_in == 1
    assert "It violates: every step answers" in answers.test(answers.first.name, "0")


def test_a_huge_state_is_shown_by_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = answers_of(tmp_path / "explored_large.py", LARGE, monkeypatch)
    seen = answers.world(answers.first.name, "0")
    changes = [one for step in seen.run.steps for one in step.nodes.values()]
    texts = [text for one in changes for text in one.fields.values()]
    assert max(map(len, texts)) <= 300
    assert any(text.startswith("(0 1 2 3") and text.endswith("…)") for text in texts)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[Any, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["asif", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
    return ended.value.code, capsys.readouterr().err


def test_what_cannot_be_explored_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "explored_bad.py"
    bad.write_text("1 / 0")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        used = str(taken.getsockname()[1])
        for arguments, says in (
            (["micro-bach"], "did you mean micro-batch"),
            (["micro-batch", "nowhere"], "unknown scope of micro-batch 'nowhere'"),
            ([str(bad)], "importing it raises ZeroDivisionError"),
            (["micro-batch", "--port", used], f"--port {used}: it is in use; give another one"),
        ):
            code, line = refused(capsys, "explore", *arguments, "--no-open")
            assert code == 2, line
            assert line.count("\n") == 1
            assert says in line


SEARCHES = (
    *("--all", "--mutants", "--operators all", "--duties", "--scope stateless"),
    *("--profile quick", "--walks 0", "--examples 1", "--workers 1", "--master local[1]"),
    *("--conf a=b", "--wait 1", "--limit 1", "--seconds 1", "--memory 1GiB", "--spill worlds"),
    *("--fresh", "--whole", "--allow-unfinished", "--pin", "--yes"),
)
"""The options of `asif check` that say something about a search."""


@pytest.mark.slow
def test_ctrl_c_ends_it() -> None:
    command = [sys.executable, "-m", "asif", "explore", "micro-batch", "--no-open", "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("http://127.0.0.1:")
        assert server.stdout.readline() == "Ctrl-C ends it\n"
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 130
        assert server.stderr is not None
        assert server.stderr.read().count("\n") == 1


def test_a_saved_run_is_replayed_with_an_exit_code(
    tmp_path: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = json.loads(ask(port, "/run.json?scope=stateless&run=0.0.0.0.6.0.0").text)
    assert saved["violates"].startswith("at rest, all failure-free outputs")
    file, out = tmp_path / "run.json", ("--out", str(tmp_path / "out"))
    for actions, name, wanted in (
        (saved["actions"], [], 1),
        (saved["actions"][:4], [], 0),
        (saved["actions"], ["micro-batch"], 2),
        ([{"action": "__import__('os')", "says": "no"}], [], 2),
        ([{"action": 3}], [], 2),
    ):
        file.write_text(json.dumps({**saved, "actions": actions}))
        code, line = refused(capsys, "check", *name, "--run", str(file), *out)
        assert (code, line.count("\n")) == (wanted, int(wanted == 2)), line
        assert wanted != 2 or line.startswith(f"asif: {file}"), line
    file.write_text(json.dumps({**saved, "actions": [{"action": "Nope()", "says": "yes"}]}))
    assert (
        "action 1: the protocol offers no Nope() there (“yes”)"
        in refused(capsys, "check", "--run", str(file))[1]
    )
    file.write_text("{")
    assert refused(capsys, "check", "--run", str(file))[0] == 2
    assert refused(capsys, "check", "--run", str(tmp_path / "none.json"))[0] == 2


def test_a_saved_run_is_drawn_and_takes_no_option_of_a_search(
    tmp_path: Path, port: int, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "run.json", tmp_path / "out"
    file.write_text(ask(port, "/run.json?scope=stateless&run=0.0.0.0.6.0.0").text)
    arguments = ("check", "--run", str(file), "--out", str(out))
    assert refused(capsys, *arguments, "--format", "pdf,svg")[0] == 1
    assert sorted(one.name for one in out.iterdir()) == [
        "micro-batch-commit-first.pdf",
        "micro-batch-commit-first.svg",
    ]
    for option in SEARCHES:
        code, line = refused(capsys, *arguments, *option.split())
        words = option.split()[0]
        assert (code, line) == (2, f"asif: {words} is not for one run: leave it out with --run\n")


def test_every_option_of_check_goes_with_a_run_or_is_refused() -> None:
    check = get_command(application(["check"])).commands["check"]  # type: ignore[attr-defined]
    names = {one.opts[0] for one in check.params if one.name not in GOES_WITH_RUN}
    assert names == {option.split()[0] for option in SEARCHES}


def test_an_unknown_name_is_answered_with_near_names_alone() -> None:
    with pytest.raises(Invalid, match=r"unknown protocol 'nosuchproto'; there are .* others$"):
        subject("nosuchproto")
    with pytest.raises(Invalid, match="unknown protocol 'micro-bacth'; did you mean micro-batch"):
        subject("micro-bacth")
