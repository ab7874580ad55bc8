"""One-line faults of micro-batch recovery, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

NODES = "model.protocols.micro_batch.nodes"
MUTANTS = (
    Mutant(
        "run a batch again from the newest state",
        NODES,
        "return next(v for v in query.versions if v.batch == batch.id - 1)",
        "return query.versions[-1]",
        "first event of each window",
    ),
    Mutant(
        "keep only the newest state",
        NODES,
        "kept = (before, version) if design.versions is Versions.KEPT else (version,)",
        "kept = (version,)",
    ),
    Mutant(
        "write the state that the batch began with",
        NODES,
        "version = Version(batch.id, after, last)",
        "version = Version(batch.id, before.states, last)",
        "first event of each window",
    ),
    Mutant(
        "acknowledge the batch being planned",
        NODES,
        "effects.append(Send(source, Commit(part.start)))",
        "effects.append(Send(source, Commit(part.end)))",
    ),
    Mutant(
        "begin a batch where the last one began",
        NODES,
        "batch = next_batch(last, ends)",
        "batch = next_batch(last._replace(end=last.start), ends)",
    ),
    Mutant(
        "do not run a logged batch again",
        NODES,
        "if batch.id == query.committed:",
        "if batch.id >= query.committed:",
    ),
    Mutant(
        "ask for too little after a restart",
        NODES,
        "asks = _to_sources(site, lambda at: Ask(end_of(batch, at), at_once=True))",
        "asks = _to_sources(site, lambda at: Ask(end_of(batch, at) + 1, at_once=True))",
    ),
    Mutant(
        "forget what came during a batch",
        NODES,
        "return Step(state, (SetTimer(OVERDUE),) if state.latest > after else ())",
        "return Step(state)",
    ),
    Mutant(
        "a trigger without anybody who waits",
        NODES,
        "effects = (SetTimer(TRIGGER),) if state.asked == state.latest else ()",
        "effects = ()",
    ),
    Mutant(
        "the source forgets that a restarted query waits",
        NODES,
        "state = state._replace(asked=after)",
        "state = state if at_once else state._replace(asked=after)",
    ),
    Mutant(
        "the sink takes the last batch again",
        NODES,
        "if sink is SinkRule.BY_BATCH and batch.id <= state.batch.id:",
        "if sink is SinkRule.BY_BATCH and batch.id < state.batch.id:",
    ),
    Mutant(
        "the source trims one event too many",
        NODES,
        "kept = state.kept.trim(lambda event: event.sn[0] <= end)",
        "kept = state.kept.trim(lambda event: event.sn[0] <= end + 1)",
    ),
    Mutant(
        "the source never trims",
        NODES,
        "kept = state.kept.trim(lambda event: event.sn[0] <= end)",
        "kept = state.kept",
        "no crash",
    ),
    Mutant(
        "read the first source's part from every source",
        NODES,
        "effects.append(Send(source, Read(part, not edge)))",
        "effects.append(Send(source, Read(batch.part(0), not edge)))",
        "a join of two sources",
    ),
    Mutant(
        "a source that has nothing new does not answer",
        NODES,
        "if state.asked is None or (state.latest <= state.asked and not always):",
        "if state.asked is None or state.latest <= state.asked:",
        "a join of two sources",
    ),
    Mutant(
        "the query never acknowledges",
        NODES,
        "if design.acks is Acks.LAGGING and part.start:",
        "if design.acks is Acks.LAGGING and not batch:",
        "no crash",
    ),
    Mutant(
        "the source hands out one event too few",
        NODES,
        "events = tuple(e for e in state.kept if batch.start < e.sn[0] <= batch.end)",
        "events = tuple(e for e in state.kept if batch.start < e.sn[0] < batch.end)",
    ),
)
