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
from spark_check.micro_batch.external_store import CountRow, ExternalStore, SinkKind


def judge(store: ExternalStore, sink: SinkKind) -> Guarantee:
    """The guarantee that the output of a sink satisfies."""
    return classify(expected_bodies(store.events()), bodies(store.output(sink)))


def bodies(rows: Sequence[CountRow]) -> tuple[Body, ...]:
    """Rows as values of the model."""
    emits = counting_operator(1).emits
    return tuple(
        Body(row.sn, emits, (Body(row.sn, row.type, (("count", row.running),)),)) for row in rows
    )


def expected_bodies(types: Sequence[str]) -> tuple[Body, ...]:
    """What a sink would have if nothing had failed."""
    stream = assign_times([Arrival(1, type_) for type_ in types])
    return tuple(evaluate(counting_operator(len(types)), stream))
