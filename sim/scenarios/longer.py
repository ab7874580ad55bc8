"""A longer random stream, until every recovery of a scenario has ended.

Rule of this file: the scenario stays the same but for the number of its events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from model.errors import Invalid
from sim.scenarios.overrides import put
from sim.scenarios.run import Watch, simulate
from sim.scenarios.scenario import Draft, check_draft

DOUBLINGS = 10
"""So often the stream is doubled at most."""


def simulate_until_caught_up(
    draft: Draft, *, watch: Watch | None = None, traced: bool = False
) -> dict[str, Any]:
    """The result of `simulate` for the first of 1, 2, 4, ... times the events in which no recovery
    is cut off by the end of the input.  Another number of events draws another random stream.

    Raises Invalid if the input is no random stream, if a node that crashed cannot keep up, and
    after DOUBLINGS.
    """
    for longer in _doubled(draft):
        result = simulate(check_draft(longer), watch=watch, traced=traced)
        late = [one["node"] for one in result["failures"] if one["cut_off"]]
        if not late:
            return result
        for row in result["load"]:
            if row["name"] in late and row["busy_share"] >= 1:
                raise Invalid(
                    f"{draft.path}: {row['name']} never catches up: it is asked for "
                    f"{row['busy_share']:.0%} of its time; lower the rate or its costs"
                )
    raise Invalid(
        f"{draft.path}: {late[0]} has not caught up after {result['metrics']['events']:,} events; "
        "lower the rate or the costs"
    )


def _doubled(draft: Draft) -> Iterator[Draft]:
    scenario = check_draft(draft)
    stream = draft.content.get("stream")
    if not isinstance(stream, dict) or "events" not in stream:
        raise Invalid(
            f"{draft.path}: --until-caught-up draws a longer random stream; "
            f"{scenario.workload.name} ends where it ends: give a [stream] with events"
        )
    for doubling in range(DOUBLINGS + 1):
        events = stream["events"] * 2**doubling
        yield replace(draft, content=put(draft.content, ("stream", "events"), events))
