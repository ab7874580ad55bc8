"""The output of a sink, compared with the output of a run without failures.

Rule of this file: the model defines both the expected output and the comparison.
"""

from __future__ import annotations

from collections.abc import Sequence

from model.cep.denotation import evaluate
from model.core import Arrival, Guarantee
from model.events import Body
from model.oracle import assign_times
from model.protocols.micro_batch.scopes import counting_operator
from model.recovery import classify
from sim.predictions.counts import Row, newer, text


def judge(types: Sequence[str], rows: Sequence[Row], window: int = 0) -> Guarantee:
    """The guarantee that the rows of a sink satisfy.  window: as that of JobSettings."""
    return classify(expected_bodies(types, window), bodies(rows))


def three_sinks(
    types: Sequence[str], append: Sequence[Row], by_batch: Sequence[Row], window: int = 0
) -> dict[str, str]:
    """The rows and the guarantee of each sink, with one that discards by high watermarks what the
    appending one has again (Hwang et al., Section 6)."""
    sinks = {"append sink": append, "idempotent sink": by_batch, "sink by event": newer(append)}
    guarantees = {sink: judge(types, rows, window) for sink, rows in sinks.items()}
    return {
        **{sink: text(rows) for sink, rows in sinks.items()},
        **{f"{sink}, guarantee": found.name.lower() for sink, found in guarantees.items()},
    }


def bodies(rows: Sequence[Row]) -> tuple[Body, ...]:
    """Rows as values of the model."""
    emits = counting_operator(1).emits
    return tuple(
        Body(number, emits, (Body(number, type_, (("count", running),)),))
        for number, type_, running in rows
    )


def expected_bodies(types: Sequence[str], window: int = 0) -> tuple[Body, ...]:
    """What a sink would have if nothing had failed."""
    stream = assign_times([Arrival(1, type_) for type_ in types])
    return tuple(evaluate(counting_operator(window or len(types)), stream))
