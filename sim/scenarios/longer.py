"""A longer random stream, until every recovery of a scenario has ended.

Rule of this file: the scenario stays the same but for the length of its streams.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from model.errors import Invalid
from model.progress import Progress, silent
from model.results.simulation import Simulation
from sim.scenarios.overrides import put
from sim.scenarios.run import simulate
from sim.scenarios.scenario import Draft, check_draft
from sim.scenarios.toml_lines import Path as Key
from sim.toml_values import TomlTable

DOUBLINGS = 10
"""So often the stream is doubled at most."""


def simulate_until_caught_up(
    draft: Draft, *, progress: Progress = silent, traced: bool = False
) -> Simulation:
    """The result of `simulate` for the first of 1, 2, 4, ... times the length in which no recovery
    is cut off by the end of the input.  Another length draws another random stream.

    Raises Invalid if the input is no random stream, if a node that crashed cannot keep up, and
    after DOUBLINGS.
    """
    for longer in _doubled(draft):
        result = simulate(check_draft(longer), progress=progress, traced=traced)
        late = [one.node for one in result.failures if one.cut_off]
        if not late:
            return result
        for row in result.load:
            if row.name in late and row.busy_share >= 1:
                raise Invalid(
                    f"{draft.path}: {row.name} never catches up: it is asked for "
                    f"{row.busy_share:.0%} of its time; lower the rate or its costs"
                )
    raise Invalid(
        f"{draft.path}: {late[0]} has not caught up after {result.metrics.events:,} events; "
        "lower the rate or the costs"
    )


def _doubled(draft: Draft) -> Iterator[Draft]:
    scenario = check_draft(draft)
    lengths = list(_lengths(draft.content))
    if not lengths:
        raise Invalid(
            f"{draft.path}: --until-caught-up draws longer random streams; "
            f"{scenario.workload.name} ends where it ends: give a [stream] or a random [[source]]"
        )
    for doubling in range(DOUBLINGS + 1):
        content = draft.content
        for key, length in lengths:
            content = put(content, key, length * 2**doubling)
        yield replace(draft, content=content)


def _lengths(content: TomlTable) -> Iterator[tuple[Key, Any]]:
    """The places and values of the keys that say how long a random stream is."""
    tables: dict[Key, Any] = {("stream",): content.get("stream", {})}
    tables |= {("source", at): table for at, table in enumerate(content.get("source", ()))}
    for place, table in tables.items():
        for name in ("events", "seconds"):
            if name in table:
                yield (*place, name), table[name]
