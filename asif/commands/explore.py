"""`asif explore`: walk a protocol by hand, on a page of this machine."""

from __future__ import annotations

import webbrowser
from threading import Thread
from typing import Annotated

import typer

from asif.names import protocols, scopes


def explore(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE.py", help="A protocol or variant.", autocompletion=protocols
        ),
    ],
    scope: Annotated[
        str | None,
        typer.Argument(help="One of its scopes; default: the first one.", autocompletion=scopes),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Listen on this port; 0: on any free one; default: 8722, or any free one.",
        ),
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address alone, and open no browser.")
    ] = False,
) -> None:
    """Walk a protocol by hand: choose each action, crash any node at any effect.

    The page is for this machine alone, and Ctrl-C ends it.

    Each state has an address, and a run can be saved as a test.
    """
    from asif.explore.answers import PageAnswers
    from asif.explore.server import address, listen
    from model.registry import subject
    from proofs.explore.stepping.saved_runs import scope_of

    protocol = subject(name).protocol
    first = protocol.evidence.scopes[0] if scope is None else scope_of(protocol, scope)
    with listen(PageAnswers(name, protocol, first), port) as server:
        page = address(server, first.name)
        print(f"{page}\nCtrl-C ends it", flush=True)
        if not no_open:
            # A browser of text ends only when its user ends it.
            Thread(target=webbrowser.open, args=(page,), daemon=True).start()
        server.serve_forever()
