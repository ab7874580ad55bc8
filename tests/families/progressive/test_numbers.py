"""What the lemma says of numbers is so on the model's partition, in random runs with crashes."""

from __future__ import annotations

from collections.abc import Iterator
from operator import le
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.core import Received, Send, Site
from model.events import Body
from model.protocols.progressive import scopes
from model.protocols.progressive.design import Order, ProgressiveDesign
from model.protocols.progressive.family import PROGRESSIVE_RECOVERY
from model.protocols.progressive.messages import (
    COORDINATOR,
    DataTuple,
    Epoch,
    Item,
    LocalCheckpoint,
    PartitionState,
    Punctuation,
    Rollback,
)
from model.protocols.progressive.partition import boot, recover, step
from model.system import System
from proofs.lemmas.progressive.numbers import system
from proofs.prove.conformance import Comparison, Coverage, Formulas, Mismatch, Path
from proofs.prove.lemma import all_given
from proofs.prove.structure import Structure

FORMULAS = Formulas(system(all_given, Order.ALWAYS))
BATCHES = ((("a1", "a2"), ("b1",)), (("a3",), ()), (("a4",), ("b2", "b3")))
"""By batch and input."""
IN_TURN = ("a1", "b1", "a2", "P1", "a3", "P2", "a4", "b2", "b3", "P3")
"""The fixed order, by hand; the union hands on each tuple, and punctuates as its inputs do."""
PLACES = range(len(IN_TURN) + 1)
ORIGIN = ""
VALUES = (ORIGIN, *IN_TURN)


def streams() -> tuple[tuple[Item, ...], ...]:
    """Each input, numbered, in the epoch in which it is sent first."""
    found = []
    for edge in range(2):
        items: list[Item] = []
        for k, batch in enumerate(BATCHES, 1):
            for name in batch[edge]:
                items.append(DataTuple(Epoch(), len(items) + 1, Body(k, name), frozenset()))
            items.append(Punctuation(Epoch(), len(items) + 1, k))
        found.append(tuple(items))
    return tuple(found)


STREAMS = streams()
RIGID = Structure(
    {"item": PLACES, "input": (0, 1), "value": VALUES, "state": VALUES, "number": PLACES},
    {
        "le#item": le,
        "le#number": le,
        "origin": 0,
        "adjacent": lambda one, other: other == one + 1,
        "succeeds": lambda one, other: other == one + 1,
        "edge": {at: int(value.startswith("b")) for at, value in enumerate(VALUES)},
        "content": dict(enumerate(VALUES)),
        "feeds": lambda _, value, state: state == value,
        "makes": {value: value != ORIGIN for value in VALUES},
        "made": {value: value for value in VALUES},
        "reached": dict(enumerate(VALUES)),
        "upto": {at: at for at in PLACES},
        "named": dict(enumerate(VALUES)),
    },
)
"""A union has no state but the tuple that it has made last."""


Action = int | str
"""An input of which the next item comes, or RESTART."""
RESTART = "restart"


class Run(NamedTuple):
    """last, stored_last: what was made last, now and at the checkpoint.  done: what is taken."""

    state: PartitionState
    last: str = ORIGIN
    done: frozenset[str] = frozenset([ORIGIN])
    number: int = 0
    stored: tuple[str, frozenset[str], int] = (ORIGIN, frozenset([ORIGIN]), 0)
    sent: frozenset[tuple[int, str]] = frozenset()
    stored_parts: tuple[LocalCheckpoint, ...] = ()
    recovering: bool = False
    epoch: int = 0


def name_of(item: Item) -> str:
    if isinstance(item, DataTuple):
        return str(item.body.type)
    assert isinstance(item, Punctuation), "the design ends batches at punctuations"
    return f"P{item.k}"


def table(run: Run) -> dict[str, Any]:
    """The symbols of the lemma."""
    last, done, number = run.stored
    return {
        "box": run.last,
        "stored": last,
        "at": VALUES.index(run.last),
        "stored_at": VALUES.index(last),
        "done": {at: VALUES[at] in run.done for at in PLACES},
        "stored_done": {at: VALUES[at] in done for at in PLACES},
        "number": run.number,
        "stored_number": number,
        "sent": {(n, value): (n, value) in run.sent for n in PLACES for value in VALUES},
        "recovering": run.recovering,
    }


def follow(site: Site, run: Run, action: Action) -> Iterator[Run]:
    """The runs after the action, tuple by tuple: none if there is nothing to do."""
    if not isinstance(action, int):
        parts, (last, done, _) = run.stored_parts, run.stored
        epoch = Epoch(run.epoch + 1, parts[-1].k if parts else 0)
        loaded = recover(site, parts).state
        state = step(site, loaded, Received(COORDINATOR, Rollback(epoch))).state
        yield run._replace(
            state=state,
            last=last,
            done=done,
            number=state.number,
            recovering=True,
            epoch=epoch.number,
        )
        return
    assert run.state.epoch is not None
    at = run.state.inboxes[action].place
    if at == len(STREAMS[action]):
        return
    item = STREAMS[action][at]._replace(epoch=run.state.epoch)
    after = step(site, run.state, Received(site.preds[action], item))
    sends = [e.message for e in after.effects if isinstance(e, Send) and e.to in site.succs]
    run = run._replace(state=after.state)
    for message in sends:
        name = name_of(message)
        sent = run.sent | {(message.number, name)}
        run = run._replace(last=name, done=run.done | {name}, number=message.number, sent=sent)
        yield run
        if isinstance(message, Punctuation):
            parts = after.state.stored
            stored = name, run.done, next(one.number for one in parts if one.k == message.k)
            run = run._replace(stored=stored, stored_parts=parts)
            yield run
    if not sends:
        yield run


def mismatch(
    design: ProgressiveDesign, actions: list[Action], account: Coverage
) -> Mismatch | None:
    protocol = PROGRESSIVE_RECOVERY.design("to compare", design)
    site = System(protocol, scopes.A_TRIANGLE_THE_UNION.scope).sites["union"]
    runs = [Run(boot(site))]
    for action in actions:
        runs += follow(site, runs[-1], action)
    return Comparison(FORMULAS).compare(Path(RIGID, tuple(map(table, runs)), initial=True), account)


@given(st.lists(st.sampled_from([0, 0, 1, 1, RESTART]), max_size=30))
def test_numbers_are_as_the_lemma_has_them(actions: list[Action]) -> None:
    found = mismatch(ProgressiveDesign(), actions, Coverage())
    assert found is None, found.what


RUN: list[Action] = [0, 1, 0, 1, 0, RESTART, 0, 0, 1, 0, 1, 1, 1]
LATE: list[Action] = [1, RESTART, 0, 0, 0, 1, 1]
"""The second input comes first, and after the restart in its turn."""


def test_one_run_takes_every_transition() -> None:
    account = Coverage()
    assert mismatch(ProgressiveDesign(), RUN, account) is None
    assert {*account.transitions} == {"take", "store", "restart"}


@pytest.mark.parametrize("order", [Order.NEVER, Order.RECOVERY])
def test_another_order_does_not_conform(order: Order) -> None:
    assert mismatch(ProgressiveDesign(), LATE, Coverage()) is None
    assert mismatch(ProgressiveDesign(order=order), LATE, Coverage()) is not None
