"""What the lemmas say of an operator is so on the model's, in random runs with crashes."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from operator import le
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.core import Received, Send, Site, Step, TimerFired
from model.events import Body, Event
from model.protocols.crb.deployment import CrbConfig
from model.protocols.crb.design import Acknowledges, CrbDesign, Instant, Replays
from model.protocols.crb.messages import CrbOperator, OperatorCheckpoint
from model.protocols.crb.nodes import CHECKPOINT, STORE, boot, recover, step
from model.protocols.crb.protocol import PROTOCOL
from model.protocols.crb.scopes import one, windows
from model.queues import QueueState, Replayed, Stamp, Trim, serve, trim
from model.system import System
from proofs.lemmas.crb.replay import EARLY, LATE, system
from proofs.prove.conformance import Comparison, Coverage, Formulas, Mismatch, Path
from proofs.prove.lemma import all_given
from proofs.prove.structure import Structure

PLACES = range(5)
"""Of the origin and of four tuples; the first two have one time."""
STREAM = [Event((at,), Body(max(2, at), "a")) for at in PLACES[1:]]
OPEN = windows(len(PLACES), group=None)
"""Its first window never closes, so it has all tuples that were applied."""
ACTIONS = ("take", "capture", "store", "let go", "restart")
RIGID = Structure({"input": PLACES}, {"le#tuple": le, "origin": 0})
FORMULAS = Formulas(system(all_given, EARLY, LATE))


class Run(NamedTuple):
    """copy: the last checkpoint that was captured.  source: the output queue of upstream."""

    operator: CrbOperator
    copy: OperatorCheckpoint
    source: QueueState
    acknowledged: int = 0


def site_of(design: CrbDesign) -> Site:
    return (
        System(PROTOCOL, one(OPEN, len(STREAM)))
        .sites["agg"]
        ._replace(config=CrbConfig(design, ("source",)))
    )


def begin(site: Site) -> Run:
    state = boot(site)
    assert isinstance(state, CrbOperator)
    source = QueueState(len(STREAM), STREAM[-1].body.time, QueueState().kept.extend(STREAM))
    return Run(state, state.stable.whole, source)


def sent(done: Step, kind: type) -> list[Any]:
    return [e.message for e in done.effects if isinstance(e, Send) and isinstance(e.message, kind)]


def follow(site: Site, run: Run, action: str) -> Run:
    """The run after the action; the same if there is nothing to do."""
    state, source = run.operator, run.source
    coming = [event for event in source.kept if state.inlets[0].is_next(event)]
    match action:
        case "take" if coming:
            done = step(site, state, Received("source", coming[0]))
        case "capture" if (
            state.captured is None and state.inlets[0].place > state.stable.whole.place
        ):
            done = step(site, state, TimerFired(CHECKPOINT))
        case "store" if state.captured is not None:
            done = step(site, state, TimerFired(STORE))
        case "let go":
            return run._replace(source=trim(source, run.acknowledged).state)
        case "restart":
            loaded = recover(site, state.stable).state
            (answer,) = sent(serve(source, "agg", loaded.inlets[0].request), Replayed)
            done = step(site, loaded, Received("source", answer))
        case _:
            return run
    acknowledged = [run.acknowledged, *(message.place for message in sent(done, Trim))]
    return Run(done.state, done.state.captured or run.copy, source, acknowledged[-1])


def abstract(run: Run) -> dict[str, Any]:
    """The symbols of the lemma."""
    state, stored = run.operator, run.operator.stable.whole
    kept = {event.sn[0] for event in run.source.kept}

    def places(of: set[int]) -> dict[int, bool]:
        return {at: at in of for at in PLACES}

    def applied(box: Any) -> dict[int, bool]:
        return places({0, *(of.place + 1 for pane in box.open for of in pane.of)})

    return {
        "held": applied(state.box),
        "coming": places({at for at in kept if at > state.inlets[0].place}),
        "copied": applied(run.copy.box),
        "stored": applied(stored.box),
        "at": state.inlets[0].place,
        "copied_at": run.copy.place,
        "place": stored.place,
        "acknowledged": run.acknowledged,
        "released": len(STREAM) - len(kept),
        "storing": state.captured is not None,
    }


def mismatch(design: CrbDesign, actions: list[str], account: Coverage) -> Mismatch | None:
    site = site_of(design)
    runs = accumulate(actions, lambda run, act: follow(site, run, act), initial=begin(site))
    path = Path(RIGID, tuple(map(abstract, runs)), initial=True)
    return Comparison(FORMULAS).compare(path, account)


@given(st.sampled_from([EARLY, LATE]), st.lists(st.sampled_from(ACTIONS), max_size=30))
def test_checkpoints_and_restarts_are_as_the_lemma_has_them(
    design: CrbDesign, actions: list[str]
) -> None:
    found = mismatch(design, actions, Coverage())
    assert found is None, found.what


RUN = ["take", "capture", "take", "store", "restart", "take", "capture", "let go"]
WRONG = {
    "time": replace(EARLY, stamp=Stamp.TIME),
    "from": replace(EARLY, replays=Replays.FROM),
    "position": replace(EARLY, position=Instant.COMPLETION),
    "windows": replace(EARLY, windows=Instant.COMPLETION),
    "captured": replace(EARLY, acknowledges=Acknowledges.CAPTURED),
}


def test_one_run_takes_every_transition() -> None:
    account = Coverage()
    assert mismatch(EARLY, RUN, account) is None
    assert {*account.transitions} == {*ACTIONS}


@pytest.mark.parametrize("choice", WRONG)
def test_another_reading_does_not_conform(choice: str) -> None:
    assert mismatch(WRONG[choice], RUN, Coverage()) is not None
