"""One-line faults of unaligned checkpoints, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

COORDINATOR, OPERATORS, REDISTRIBUTION, SINKS, SNAPSHOTS, SOURCES = (
    f"model.protocols.unaligned_checkpoints.{name}"
    for name in (
        *("coordinator", "operators", "redistribution"),
        *("sinks", "snapshots", "sources"),
    )
)
MUTANTS = (
    Mutant(
        "outputs on their way come before the inputs of the same channel",
        REDISTRIBUTION,
        "return inputs + tuple(one for part in held for one in part.outputs)",
        "return tuple(one for part in held for one in part.outputs) + inputs",
        "pairs behind a relay",
    ),
    Mutant(
        "the state of a key stays where it was",
        REDISTRIBUTION,
        "owned.setdefault(owner, []).append(one)",
        "owned.setdefault(name, []).append(one)",
        "scale-up: a key moves",
    ),
    Mutant(
        "a source sends by the instances of the first run",
        SOURCES,
        "return tuple(Send(job.owner(node, body, run), record) for node in succs)",
        "return tuple(Send(job.owner(node, body, 0), record) for node in succs)",
        "scale-up: a key moves",
    ),
    Mutant(
        "the source lets go of one record too many",
        SOURCES,
        "return Step(state._replace(kept=state.kept.trim(lambda one: one[0] <= state.cut)))",
        "return Step(state._replace(kept=state.kept.trim(lambda one: one[0] <= state.cut + 1)))",
        "two records",
    ),
    Mutant(
        "the source lets go of nothing",
        SOURCES,
        "return Step(state._replace(kept=state.kept.trim(lambda one: one[0] <= state.cut)))",
        "return Step(state)",
        "no crash",
    ),
    Mutant(
        "an instance drops the records that were faster than the restart",
        OPERATORS,
        "return Step(state._replace(early=(*state.early, (sender, message))), (Note(TOO_EARLY),))",
        "return Step(state, (Note(TOO_EARLY),))",
    ),
    Mutant(
        "records before the second barrier are in no snapshot",
        SNAPSHOTS,
        "opened = state.open._replace(inputs=(*state.open.inputs, late))",
        "opened = state.open",
        "a silent source",
    ),
    Mutant(
        "an aligned barrier overtakes the output buffer",
        SNAPSHOTS,
        "if not state.outbox:",
        "if sends:",
        "aligned: two relays",
    ),
    Mutant(
        "an aligned operator does not block an input after its barrier",
        SNAPSHOTS,
        "return state.marked if state.open is None else frozenset()",
        "return frozenset()",
        "aligned: a union",
    ),
    Mutant(
        "a restart has the number of the run before",
        COORDINATOR,
        "job, run = site.config, state.run + 1",
        "job, run = site.config, state.run",
    ),
    Mutant(
        "a checkpoint is complete without the operators",
        COORDINATOR,
        "late = {*job.sinks} if job.design.finishes is Finishes.WITHOUT_SINKS else set()",
        "late = {*job.tasks}",
        "a silent source",
    ),
    Mutant(
        "the outputs of records on their way make no checkpoint due",
        SINKS,
        "timer = () if known else (SetTimer(INTERVAL),)",
        "timer = ()",
    ),
    Mutant(
        "an output behind a barrier belongs to the checkpoint of the barrier",
        SINKS,
        "number = state.number + (2 if sender in state.marked else 1)",
        "number = state.number + 1",
        "scale-down: the second instance falls",
    ),
    Mutant(
        "a restart keeps the outputs that are not committed",
        SINKS,
        "early, state = state.early, CommitterState(run, number)",
        "early, state = state.early, CommitterState(run, number, prepared=state.prepared)",
    ),
    Mutant(
        "the job ends before its sinks commit the savepoint",
        COORDINATOR,
        "return Step(state, (*notes, *sends, Note(RESUMED), *restart))",
        "return Step(state, (*notes, *restart, *sends, Note(RESUMED)))",
        "savepoint-aligned: a relay",
    ),
    Mutant(
        "a savepoint overtakes as other barriers do",
        SNAPSHOTS,
        "if barrier.saves:",
        "if barrier.saves and job.design.overtaking is Overtaking.NONE:",
        "savepoint: a relay",
    ),
    Mutant(
        "a source of the next job does not read on",
        SOURCES,
        "state = state._replace(run=run, cut=cut, number=number, stopped=False)",
        "state = state._replace(run=run, cut=cut, number=number)",
        "savepoint-aligned: two records",
    ),
)
