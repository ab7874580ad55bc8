"""What the sinks have, beside what they would have if nothing had failed.

Rule of this file: the model says both.
"""

from __future__ import annotations

from collections.abc import Sequence

from model.core import Arrival, Guarantee
from model.events import Body
from model.oracle import assign_times, classify, evaluate
from model.protocols.micro_batch.scopes import counting_operator
from spark_check.micro_batch.external_store import Outside, Row, Sink


def judged(outside: Outside, sink: Sink) -> Guarantee:
    return classify(expected(outside.events()), bodies(outside.output(sink)))


def bodies(rows: Sequence[Row]) -> tuple[Body, ...]:
    """Rows as the model has them."""
    emits = counting_operator(1).emits
    return tuple(
        Body(row.sn, emits, (Body(row.sn, row.type, (("count", row.running),)),)) for row in rows
    )


def expected(types: Sequence[str]) -> tuple[Body, ...]:
    """What the sink would have if nothing had failed."""
    stream = assign_times([Arrival(1, type_) for type_ in types])
    return tuple(evaluate(counting_operator(len(types)), stream))
