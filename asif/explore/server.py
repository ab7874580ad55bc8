"""The server of `asif explore`: it answers this machine alone, and writes nothing.

Rule of this file: no protocol; a path is a file of reports/web, or a question to asif.explore.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, urlsplit

from asif.explore.answers import PageAnswers
from model.errors import Invalid, StepFailed, describe_error, words_of
from model.results.plain import plain
from reports import palette

HOST = "127.0.0.1"
PORT = 8722
"""The port, if the user names none and it is free."""
WEB = Path(palette.__file__).parent / "web"
FILES: Mapping[str, str] = {
    "/": "explore.html",
    **{
        f"/{name}": name
        for name in (
            *("vendor/preact.js", "vendor/preact-hooks.js", "vendor/htm.js", "steps.js"),
            *("scrolls.js", "lanes.js", "step-parts.js", "stepper.js", "choices.js", "explore.js"),
            *("stepper.css", "explore.css"),
        )
    },
}
"""The files by path."""
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class PageAnswer(NamedTuple):
    """An answer.  name: of the file in which the browser saves it; "": it shows the answer."""

    status: HTTPStatus
    type: str
    content: str
    name: str = ""


class LocalServer(ThreadingHTTPServer):
    """The server.  Its threads end with the process."""

    daemon_threads = True
    allow_reuse_address = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a browser that goes away is no fault."""


def listen(answers: PageAnswers, port: int | None) -> LocalServer:
    """The server, which listens on a port of this machine.

    port: 0: any free one; None: PORT, or any free one.  Raises Invalid if it cannot be had.
    """
    handler = partial(_Handler, answers)
    try:
        return LocalServer((HOST, PORT if port is None else port), handler)
    except OSError as error:
        if port is None and error.errno == errno.EADDRINUSE:
            return LocalServer((HOST, 0), handler)
        why = "it is in use" if error.errno == errno.EADDRINUSE else error.strerror
        raise Invalid(f"--port {port}: {why}; give another one, or leave it out") from error


def address(server: LocalServer, scope: str) -> str:
    """The address of the page, at the beginning of a scope."""
    return f"http://{HOST}:{server.server_port}/#{quote(scope, safe='')}/"


class _Handler(BaseHTTPRequestHandler):
    server: LocalServer
    server_version, sys_version = "asif", ""
    protocol_version = "HTTP/1.1"
    timeout = 60

    def __init__(self, answers: PageAnswers, *connection: Any) -> None:
        self.answers = answers
        super().__init__(*connection)

    def do_GET(self) -> None:
        """PageAnswer a question, or hand out a file."""
        self._send(self._answer())

    def do_HEAD(self) -> None:
        """The same without the content."""
        self._send(self._answer(), whole=False)

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing: the page shows the faults."""

    def _answer(self) -> PageAnswer:
        if self.headers.get("Host", "") not in self._names():
            return _error(HTTPStatus.MISDIRECTED_REQUEST, "this server is for its own page alone")
        asked = urlsplit(self.path)
        if asked.path == "/palette.css":
            return PageAnswer(HTTPStatus.OK, "text/css", palette.css())
        if asked.path in FILES:
            file = WEB / FILES[asked.path]
            return PageAnswer(HTTPStatus.OK, TYPES[file.suffix], file.read_text(encoding="utf-8"))
        if self.headers.get("Sec-Fetch-Site", "none") not in ("same-origin", "none"):
            return _error(HTTPStatus.FORBIDDEN, "another page may ask nothing here")
        try:
            given = {name: texts[-1] for name, texts in parse_qs(asked.query).items()}
            return self._ask(asked.path, given.get("scope", ""), given.get("run", ""))
        except (Invalid, StepFailed) as error:
            return _error(HTTPStatus.NOT_FOUND, words_of(error))
        except Exception as error:
            return _error(HTTPStatus.INTERNAL_SERVER_ERROR, describe_error(error))

    def _names(self) -> tuple[str, ...]:
        """The names of this server: a page of another one, whose name leads here, has none."""
        port = self.server.server_port
        names = (HOST, "localhost")
        found = tuple(f"{name}:{port}" for name in names)
        return (*found, *names) if port == 80 else found  # a browser leaves that port out

    def _ask(self, path: str, scope: str, run: str) -> PageAnswer:
        questions: Mapping[str, Callable[[], PageAnswer]] = {
            "/scopes": lambda: _json(self.answers.scopes()),
            "/world": lambda: _json(self.answers.world(scope, run)),
            "/shortest": lambda: _json(self.answers.shortest(scope)),
            "/run.json": lambda: _json(
                self.answers.saved(scope, run), f"run-{self._stem()}.json", indent=2
            ),
            "/test.py": lambda: PageAnswer(
                HTTPStatus.OK,
                "text/x-python",
                self.answers.test(scope, run),
                f"test_run_{self._stem().replace('-', '_')}.py",
            ),
        }
        if path not in questions:
            return _error(HTTPStatus.NOT_FOUND, f"no such page: {path[:60]}")
        return questions[path]()

    def _stem(self) -> str:
        name = self.answers.protocol.name
        return "".join(one if one.isascii() and one.isalnum() else "-" for one in name)

    def _send(self, answer: PageAnswer, *, whole: bool = True) -> None:
        content = answer.content.encode("utf-8", "backslashreplace")
        self.send_response(answer.status)
        self.send_header("Content-Type", f"{answer.type}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        for name, value in HEADERS.items():
            self.send_header(name, value)
        if answer.name:
            self.send_header("Content-Disposition", f'attachment; filename="{answer.name}"')
        self.end_headers()
        if whole:
            self.wfile.write(content)


def _json(value: object, name: str = "", indent: int | None = None) -> PageAnswer:
    text = json.dumps(plain(value), ensure_ascii=False, indent=indent)
    return PageAnswer(HTTPStatus.OK, "application/json", f"{text}\n", name)


def _error(status: HTTPStatus, text: str) -> PageAnswer:
    return PageAnswer(status, "application/json", json.dumps({"error": text}))
