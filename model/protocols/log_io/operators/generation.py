"""The generation of outputs.

Rule of this file: each step names its algorithm and step; effects stand in the paper's order.
LOG.io, Algorithm 3, and step 2 of Algorithm 4.
"""

from __future__ import annotations

from model.boxes.box import Lineage as Inputs
from model.boxes.box import Out
from model.core import Effect, NodeName, Send, Site
from model.protocols.log_io.design import Grouped, OneTransaction
from model.protocols.log_io.messages import (
    Commit,
    CommitAll,
    Lineage,
    StoreRead,
    parts_of,
    transaction,
)
from model.protocols.log_io.places import LOG, SERVICE
from model.protocols.log_io.replaying import generation as replays
from model.protocols.log_io.roles import may_fail, receives
from model.protocols.log_io.states import RunningOperator, Taken
from model.protocols.log_io.tables import ContextRow, LoggedEvent, SetState, SideRead, Used
from model.protocols.log_io.writing.writes import hand_on


def generate(
    site: Site,
    before: RunningOperator,
    state: RunningOperator,
    outs: tuple[Out, ...],
    taken: Taken,
    value: int | None = None,
) -> tuple[RunningOperator, tuple[Effect, ...]]:
    """Algorithm 3 for an Input Set, which is ready with the input that was taken.

    before: the operator before that input.  value: the answer to its side-effect read, if it has
    one (step 1).
    """
    inset = taken.inset
    state = state._replace(open=tuple(entry for entry in state.open if entry[0] != taken.key))
    state, commit = _commit(site, state, outs, inset, value)
    rows = commit.outputs
    if may_fail(site):
        asking = commit._replace(asks=_size(site, before, taken))
        return state._replace(committing=rows), (Send(LOG, asking),)
    state, effects = hand_on(site, state, rows)  # steps 5 and 6
    if site.spec.replays:
        made = _made(site, before, commit)
        return state, replays.log_a_part(site, (commit._replace(states=made),), effects)
    return state, (Send(LOG, commit), *effects)


def generate_all(site: Site, state: RunningOperator) -> tuple[RunningOperator, tuple[Effect, ...]]:
    """Algorithm 3 for all Input Sets that are complete, where these overlap: step 4 is one
    transaction for all of them.

    Section 3.5.1: "the generation phase can be triggered for more than one Input Set".  A restarted
    operator asks for none of them again on behalf of an input that has been seen.
    """
    logic = site.spec.logic
    commits: tuple[Commit, ...] = ()
    for key in logic.complete(state.box):
        (fed,) = logic.generate(state.box, key)
        (inset,) = logic.insets((key,))
        after, commit = _commit(site, state._replace(box=fed.state), fed.outs, inset)
        if site.spec.replays:
            commit = commit._replace(states=_made(site, state, commit))
        state, commits = after, (*commits, commit)
    rows = tuple(row for commit in commits for row in commit.outputs)
    state, effects = hand_on(site, state, rows)  # steps 5 and 6
    if site.spec.replays:
        return state, replays.log_a_part(site, commits, effects)
    return state, (Send(LOG, transaction(commits)), *effects)


BY_ALL = (-1, 0)
"""In a context: all functions have seen the newest input, whatever its edge."""


def in_one_transaction(
    site: Site, state: RunningOperator, effects: tuple[Effect, ...]
) -> tuple[Effect, ...]:
    """The effects of all functions on an input, with one transaction for all that they generate.

    state: the operator after the input; all functions have seen it.
    """
    if site.spec.design.together is OneTransaction.OF_FUNCTION:
        return effects
    sends = [one for one in effects if isinstance(one, Send)]
    logged = [one for one in sends if isinstance(one.message, Commit | CommitAll)]
    parts = [part for one in logged for part in parts_of(one.message)]
    if not parts:
        return effects
    context = context_of(site, state)._replace(newest=BY_ALL)
    parts[-1] = parts[-1]._replace(context=context)
    others = tuple(one for one in effects if one not in logged)
    return (Send(LOG, transaction(tuple(parts))), *others)


def _commit(
    site: Site,
    state: RunningOperator,
    outs: tuple[Out, ...],
    inset: int,
    value: int | None = None,
) -> tuple[RunningOperator, Commit]:
    """Algorithm 3, steps 2 to 4: the operator, the numbers of its outputs, the transaction."""
    rows, outputs = [], []
    for out in outs:  # step 3: numbers of the outputs
        for at, succ in enumerate(site.succs):
            if not receives(site, state, succ, out.body):
                continue
            sent = (*state.sent[:at], state.sent[at] + 1, *state.sent[at + 1 :])
            state = state._replace(sent=sent)
            group = inset if succ in site.spec.sinks and _has_groups(site) else 0
            rows.append(LoggedEvent(site.name, succ, sent[at], 0, out.body, group=group))
            outputs.append((succ, sent[at], out))
    # step 2: the context has the global state; with lineage, the log gives it a number (rows.py)
    lineage = _lineage(site, state, outputs, inset, value)
    commit = Commit(tuple(rows), context_of(site, state), inset, lineage)  # step 4
    return state, commit


def _size(site: Site, before: RunningOperator, taken: Taken) -> int:
    """How many events the Input Set has, with the one that was taken."""
    logic = site.spec.logic
    return int(logic.size(logic.gather(before.box, taken.item, taken.key), taken.key))


def _made(site: Site, before: RunningOperator, commit: Commit) -> tuple[SetState, ...]:
    """What a replay operator has to know of an Input Set (5.1; steps 2 and 4.5)."""
    box = site.spec.logic.global_state(before.box)
    return (SetState(site.name, commit.inset, box, tuple(row.key for row in commit.outputs)),)


def _has_groups(site: Site) -> bool:
    """Does the log have to know which writes are of one Output Set?"""
    groups = site.spec.design.groups
    return groups is not None and groups.grouped is Grouped.OUTPUT_SET


def _lineage(
    site: Site,
    state: RunningOperator,
    made: list[tuple[NodeName, int, Out]],
    inset: int,
    value: int | None,
) -> Lineage:
    """Step 4.5, of outputs (successor, number, output) on ports in OUT.

    There is one read for an Input Set, so the number of the set is its action_ID.
    """
    capture = site.spec.design.lineage
    if capture is None:
        return Lineage()
    read = None if value is None else SideRead(inset, inset, value)
    shown = frozenset() if read is None else frozenset({(SERVICE, read.number)})
    rows = tuple(
        Used(site.name, succ, number, inset, _inputs_of(site.preds, out.of) | shown)
        for succ, number, out in made
        if (site.name, succ) in capture.ports.outs
    )
    enabled = any(name == site.name for name, _ in capture.ports.outs)
    holds = enabled and site.spec.logic.has_inputs(state.box)
    return Lineage(rows, read if enabled else None, holds)


def store_read(site: Site, inset: int, value: int) -> tuple[Effect, ...]:
    """Algorithm 4, step 2: "if data lineage is enabled, store the effect".

    Step 3, of a read action that is replayable, stores it as well.
    """
    capture = site.spec.design.lineage
    if capture is None or all(name != site.name for name, _ in capture.ports.outs):
        return ()
    return (Send(LOG, StoreRead(inset, value)),)


def context_of(site: Site, state: RunningOperator) -> ContextRow:
    """The global state; the event states are made anew from the undone inputs."""
    box = site.spec.logic.global_state(state.box)
    return ContextRow(box, state.updated, state.sent, state.insets, state.newest, state.alone)


def _inputs_of(edge_names: tuple[NodeName, ...], of: Inputs) -> frozenset[tuple[NodeName, int]]:
    return frozenset((edge_names[edge], place) for edge, place in of)
