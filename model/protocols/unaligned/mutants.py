"""One-line faults of unaligned checkpoints, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

COORDINATOR, INSTANCES, OPERATORS, REDISTRIBUTION, SINKS, SNAPSHOTS, SOURCES = (
    f"model.protocols.unaligned.{name}"
    for name in (
        *("coordinator", "instances", "operators", "redistribution"),
        *("sinks", "snapshots", "sources"),
    )
)
MUTANTS = (
    Mutant(
        "the outputs on their way come before the inputs",
        REDISTRIBUTION,
        "return inputs + tuple(one for part in held for one in part.outputs)",
        "return tuple(one for part in held for one in part.outputs) + inputs",
        "two pairs behind a relay",
    ),
    Mutant(
        "the state of a key stays where it was",
        REDISTRIBUTION,
        "owned.setdefault(owner, []).append(one)",
        "owned.setdefault(name, []).append(one)",
        "scale-up: a key moves",
    ),
    Mutant(
        "a source sends by the keys of the run before",
        SOURCES,
        "effects += _sends(site, run, place, body)",
        "effects += [one._replace(to=job_owner) for one in ()] or _sends(site, run, place, body)",
    ),
)
