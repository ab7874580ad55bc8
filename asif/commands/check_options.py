"""The options of `asif check`.

Rule of this file: types and help alone; check.py uses them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from asif.console import CONF_HELP, JSON_HELP, PROFILE_HELP, WAIT_HELP, Profile
from asif.early import result_folder, seldom_used_folder
from asif.json_output import json_file
from asif.limits import EXAMPLES, WALKS, WORKERS, WORLDS, at_most, finite
from asif.names import protocols, scopes

TRY, FAR, WRITE = "What to try", "How far", "What to write"
"""The groups of options in the help."""

NameArgument: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME|FILE.py[:VARIANT]]", help="A protocol.", autocompletion=protocols
    ),
]
AllOption: TypeAlias = Annotated[
    bool,
    typer.Option("--all", help="Check every registered protocol and variant.", rich_help_panel=TRY),
]
MutantsOption: TypeAlias = Annotated[
    bool, typer.Option("--mutants", help="Hunt the mutants as well.", rich_help_panel=TRY)
]
OperatorsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--operators",
        metavar="all|CLASS,...",
        help="Run a standard operator of each class as well.",
        rich_help_panel=TRY,
    ),
]
DutiesOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--duties", help="Check the rules that every protocol keeps, alone.", rich_help_panel=TRY
    ),
]
ScopeOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scope",
        metavar="SCOPE",
        help="Explore this scope alone; with --master, all of Spark explores it.",
        rich_help_panel=TRY,
        autocompletion=scopes,
    ),
]
RunOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--run",
        metavar="FILE",
        help="Replay a run that `asif explore` saved, and nothing else.",
        rich_help_panel=TRY,
    ),
]
CheckProfileOption: TypeAlias = Annotated[
    Profile, typer.Option(help=PROFILE_HELP, rich_help_panel=FAR)
]
WalksOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Set the number of random walks.",
        callback=at_most(WALKS),
        rich_help_panel=FAR,
    ),
]
ExamplesOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Set the number of random runs by Hypothesis.",
        callback=at_most(EXAMPLES),
        rich_help_panel=FAR,
    ),
]
WorkersOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Set the number of processes; default: one a core, if that pays.",
        callback=at_most(WORKERS),
        rich_help_panel=FAR,
    ),
]
SparkOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Check on Spark, as in spark://host:7077; default: here.", rich_help_panel=FAR
    ),
]
CheckConfOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help=CONF_HELP, rich_help_panel=FAR),
]
CheckWaitOption: TypeAlias = Annotated[
    float | None,
    typer.Option(min=0, metavar="SECONDS", help=WAIT_HELP, callback=finite, rich_help_panel=FAR),
]
LimitOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Explore a scope up to the level that passes so many worlds.",
        callback=at_most(WORLDS),
        rich_help_panel=FAR,
    ),
]
SecondsOption: TypeAlias = Annotated[
    float | None,
    typer.Option(
        min=0, help="Explore a scope no longer than that.", callback=finite, rich_help_panel=FAR
    ),
]
MemoryOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Explore a scope until its process has so much, as in 4GiB.", rich_help_panel=FAR
    ),
]
SpillOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="Keep the worlds of --scope on disk: go on there, whatever they need.",
        callback=result_folder,
        rich_help_panel=FAR,
    ),
]
SpillFreshOption: TypeAlias = Annotated[
    bool,
    typer.Option("--fresh", help="Forget the worlds in the folder.", rich_help_panel=FAR),
]
WholeOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--whole", help="Visit every world, also where fewer show the same.", rich_help_panel=FAR
    ),
]
UnfinishedOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--allow-unfinished", help="Exit 0 when such a budget is spent.", rich_help_panel=FAR
    ),
]
OutOption: TypeAlias = Annotated[
    Path,
    typer.Option(
        help="Write diagrams and replaying tests to this folder.",
        callback=seldom_used_folder,
        rich_help_panel=WRITE,
    ),
]
PinOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--pin", help="Write the numbers that are found into FILE.py.", rich_help_panel=WRITE
    ),
]
YesOption: TypeAlias = Annotated[
    bool, typer.Option("--yes", help="Let --pin write without a question.", rich_help_panel=WRITE)
]
LongOption: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--long",
        help="Print all: each scope, crash point and note, and a long run whole.",
        rich_help_panel=WRITE,
    ),
]
CheckJsonOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--json", metavar="FILE", help=JSON_HELP, callback=json_file, rich_help_panel=WRITE
    ),
]
