"""The names that a command takes, for its help page and for the completion of words.

Rule of this file: names alone, and quickly: nothing is loaded that a name does not need.  An
exception of a user's file passes; at a completion, asif.completion answers with no names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from glob import escape, glob
from pathlib import Path
from typing import Any, NamedTuple

DOCS = Path(__file__).parents[1] / "docs"
"""The documents of the project, where it has not been installed as a package."""


def families() -> list[str]:
    """The families of protocols; none is imported."""
    from pkgutil import iter_modules

    home = Path(__file__).parents[1] / "model" / "protocols"
    return [family.name.replace("_", "-") for family in iter_modules([str(home)])]


def protocols(incomplete: str) -> list[str]:
    """The protocols that begin so: with a colon, the variants of a family; else families, and
    files and folders."""
    family, colon, _ = incomplete.partition(":")
    if not colon:
        return [*_beginning(families(), incomplete), *files(incomplete, ".py")]
    if family not in families() and not family.endswith(".py"):
        return []
    from model.registry import subject

    found = subject(family).protocol.variants
    return _beginning([f"{family}:{one.variant}" for one in found], incomplete)


def scopes(ctx: Any, incomplete: str) -> list[str]:
    """The scopes, that begin so, of the protocol that the line names before."""
    from model.registry import subject

    name = ctx.params.get("name") or next(iter(ctx.args))  # left there before an option's value
    protocol = subject(name).protocol
    return _beginning([one.name for one in protocol.evidence.scopes], incomplete)


def formats(incomplete: str) -> list[str]:
    """The lists of formats of pictures that begin so."""
    from reports.diagrams.picture import SUFFIXES

    before, comma, last = incomplete.rpartition(",")
    names = [one.removeprefix(".") for one in SUFFIXES]
    left = [one for one in names if one not in before.split(",")]
    return [before + comma + one for one in _beginning(left, last)]


def checks(engine: str) -> tuple[str, ...]:
    """The checks of an engine; none is imported."""
    from engine_check.names import check_names

    return check_names(f"{engine}_check")


def experiments() -> tuple[str, ...]:
    """The published experiments; none is imported."""
    from sim.experiments.names import experiment_names

    return experiment_names()


def boxes(incomplete: str) -> list[str]:
    """The boxes that `asif classify` knows, and files."""
    from proofs.classify.verdict import choose

    known = [one.name for one in choose(None)]
    return [*_beginning(known, incomplete), *files(incomplete, ".py")]


def files(incomplete: str, suffix: str, usual: str = "") -> list[str]:
    """The folders and the files with a suffix that begin so.

    usual: a folder of the documents, whose files are offered where nothing has been written yet.
    """
    folder = DOCS / usual
    shipped = sorted(folder.glob(f"*{suffix}")) if usual and not incomplete else []
    there = glob(f"{escape(incomplete)}*" if incomplete else f"*{suffix}")
    here = [
        f"{one}/" if os.path.isdir(one) else one
        for one in sorted(there)
        if os.path.isdir(one) or one.endswith(suffix)
    ]
    return [*here, *(os.path.relpath(one) for one in shipped)]


def _beginning(names: Sequence[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def of_command(ctx: Any, incomplete: str) -> list[str]:
    """The completion of a word that is one of the names on the help page of the command."""
    return _beginning(LISTED[ctx.info_name].names(), incomplete)


def toml(usual: str) -> Callable[[str], list[str]]:
    """The completion of a word that is a TOML file, as in a folder of the documents."""
    return lambda incomplete: files(incomplete, ".toml", usual)


def scenarios(ctx: Any, incomplete: str) -> list[str]:
    """Scenarios, or with --explain the protocols."""
    return protocols(incomplete) if ctx.params.get("explain") else toml("scenarios")(incomplete)


class NamedThings(NamedTuple):
    """The names that a help page lists, under a title."""

    title: str
    names: Callable[[], Sequence[str]]


LISTED: Mapping[str, NamedThings] = {
    "spark": NamedThings("Checks", lambda: checks("spark")),
    "flink": NamedThings("Checks", lambda: checks("flink")),
    "reproduce": NamedThings("Experiments", experiments),
    **dict.fromkeys(("list", "check", "witness", "explore"), NamedThings("Protocols", families)),
}
"""By command."""


def listed(command: str) -> Iterator[str]:
    """The line of a help page with the names that the command takes."""
    if (found := LISTED.get(command)) is not None:
        yield f"{found.title}: {', '.join(found.names())}"
