"""`python -m benchmarks [PART ...]`: the costs of the drivers, each compared with a plain way to do
the same work, in one run.

Rule of this file: no measurement; a part is a file here with a function `tables`, which yields each
table when it is done.  No part has an absolute limit: only ratios count, since machines are shared
and noisy.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any, TypeAlias

import typer

from asif.console import print_all
from asif.progress import show_progress
from benchmarks.stages import each
from model.errors import Invalid, unknown

PARTS: Mapping[str, str] = {
    "explorer": "the explorer and its walks, beside a plain search",
    "reduction": "the reduced search beside the whole one, on a sample of the pinned scopes",
    "spilled": "a search on disk, beside the one in memory",
    "growth": "worlds by events, operators and crashes; renews a table in docs/",
    "attack": "mutants that walks and Hypothesis find without the explorer",
    "start": "how long commands take to start",
    "timed": "the timed driver, beside other ways to simulate a chain",
    "kernel": "the kernel with recovery, beside plain C",
    "sweep": "a sweep's calls on Spark, beside a process pool",
    "trace": "asif verify-trace, beside Spark's exceptAll",
    "log-io": "the LOG.io library, beside bare inserts; lineage queries",
    "faults": "faults that tests of shared modules find",
}
"""Each part that runs by default, in this order, with its subject."""
BY_NAME: Mapping[str, str] = {
    "prices": "the default prices of steps, measured",
    "log-io-fit": "numbers of the LOG.io paper, if all costs are fitted to them",
}
"""Parts that run only if they are asked for: nothing is compared there."""

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def _help() -> str:
    def lines(parts: Mapping[str, str]) -> str:
        return "\n".join(f"  {name:<11} {subject}" for name, subject in parts.items())

    return (
        "Measure what the drivers cost, compared with plain ways to do the same work.\n\n"
        f"\b\nParts, all by default:\n{lines(PARTS)}\n\n"
        f"\b\nParts that run only by name:\n{lines(BY_NAME)}"
    )


EveryOption: TypeAlias = Annotated[
    bool, typer.Option("--all", help="attack, reduction: all, in place of a sample.")
]
RowsOption: TypeAlias = Annotated[
    int, typer.Option(min=1_000, metavar="N", help="trace: rows of each log.")
]
EventsOption: TypeAlias = Annotated[
    int, typer.Option(min=100, metavar="N", help="log-io: source events for the queries.")
]


@app.command(help=_help())
def bench(
    parts: Annotated[list[str] | None, typer.Argument(metavar="[PART]...")] = None,
    every: EveryOption = False,
    rows: RowsOption = 1_000_000,
    events: EventsOption = 900_000,
) -> None:
    asked = _checked(parts or [*PARTS])
    options: Mapping[str, Mapping[str, Any]] = {
        "attack": {"every": every},
        "reduction": {"every": every},
        "trace": {"rows": rows},
        "log-io": {"events": events},
    }
    with show_progress() as progress:
        for number, name in enumerate(asked, 1):
            part = import_module(f"benchmarks.{name.replace('-', '_')}")
            # No stage of all parts: one may be 100 times as long as another, so the time left
            # would be far from true.
            for _ in each(progress, f"part {number} of {len(asked)}, {name}", [""]):
                print_all(part.tables(progress, **options.get(name, {})))


def _checked(names: Sequence[str]) -> Sequence[str]:
    """The names, each once.  Raises Invalid if there is no such part."""
    known = {**PARTS, **BY_NAME}
    for name in names:
        if name not in known:
            raise unknown("part", name, known)
    return tuple(dict.fromkeys(names))


def main() -> None:
    try:
        app(prog_name="python -m benchmarks")
    except Invalid as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
