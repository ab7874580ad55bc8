"""The examples of the help pages, by command.

Rule of this file: a test reads each line as the command does.  {protocol}, {check} and so on stand
for the first name that the command takes: no family is named here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from asif import names

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "init": ("init my_protocol                 # then: asif check my_protocol.py",),
    "list": (
        "list                             # all families",
        "list {protocol}                         # its variants and findings",
        "list --json - | head             # as JSON, for another program",
    ),
    "check": (
        "check {protocol}                        # explore, then attack at random",
        "check {protocol} --long                 # also scopes, points and notes",
        "check my_protocol.py --mutants   # of your own file",
        "check --all --json all.json      # every protocol and variant",
        "check --run run.json             # a run that was saved in asif explore",
    ),
    "witness": ("witness {protocol}                      # a shortest run of each scope",),
    "explore": (
        "explore {protocol}                      # in the browser, from the first scope",
        "explore my_protocol.py --no-open",
    ),
    "run": (
        "run --limit 2000                 # on the first flights of the year",
        'run --events mine.csv --pattern "a, b"',
        "run --crash EWR@300 --limit 2000 --out runs",
    ),
    "classify": (
        "classify                         # all boxes, a line each",
        "classify my_box.py               # of your own file, with witnesses",
    ),
    "prove": (
        "prove {protocol}                        # its lemmas",
        "prove {protocol} --long                 # with statements and counterexamples",
        "prove my_protocol.py --mutants --drift",
    ),
    "plan": (
        "plan docs/plans/figure1.toml",
        "plan mine.toml --out plans       # also a picture of the schedule",
    ),
    "lineage": (
        "lineage run.sqlite               # the ports of the log",
        "lineage run.sqlite ledger.book#3 # the origin of an event",
        "lineage run.sqlite ledger.book#3 --forward --json -",
        "lineage run.sqlite --verify",
    ),
    "simulate": (
        "simulate docs/scenarios/quickstart.toml",
        "simulate mine.toml --set seed=2 --plot mine.png",
        "simulate mine.toml --which       # which protocols can run it?",
        "simulate --explain {protocol}           # the knobs of a protocol",
    ),
    "calibrate": (
        "calibrate                        # print the costs of this machine",
        "calibrate --out costs.toml --folder /var/tmp",
    ),
    "sweep": (
        "sweep docs/sweeps/quickstart.toml --summary",
        "sweep mine.toml --master local[2] --plot mine.png",
    ),
    "choose": (
        "choose docs/workloads/sums.toml",
        "choose mine.toml --terms         # the closed form, at once",
    ),
    "reproduce": (
        "reproduce {experiment} --seeds 1      # a first look",
        "reproduce {experiment}                # as published",
        "reproduce --all",
    ),
    "spark": (
        "spark {check}                        # one check",
        "spark --all --profile full       # all of them, for hours",
    ),
    "flink": (
        "flink --setup                    # install Flink first, once",
        "flink {check}",
    ),
    "verify-trace": (
        "verify-trace good.csv crashed.csv --order at --ignore took",
        "verify-trace good.csv crashed.csv --sink bag --json -",
    ),
    "report": ("report --out page                # then open page/report.html",),
}
"""A line follows `asif`; # begins a comment."""


def examples(command: str) -> Iterator[str]:
    """The examples of a command, as they are typed."""
    for line in EXAMPLES.get(command, ()):
        for name, first in _FIRST.items():
            if name in line:
                line = line.replace(name, first(command))
        yield f"asif {line}"


_FIRST: Mapping[str, Callable[[str], str]] = {
    "{protocol}": lambda _: names.families()[0],
    "{check}": lambda command: names.checks(command)[0],
    "{experiment}": lambda _: names.experiments()[0],
}
