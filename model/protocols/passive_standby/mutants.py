"""One-line faults of passive standby, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

CHECKPOINTS, NODES, STAGES = (
    f"model.protocols.passive_standby.{name}" for name in ("checkpoints", "nodes", "stages")
)
CONSUMERS, ENDS, PRODUCERS = (
    f"model.standbys.{name}" for name in ("consumers", "ends", "producers")
)
MUTANTS = (
    Mutant(
        "acknowledge one tuple too many",
        CONSUMERS,
        "return tuple(Send(inlet.producer, Ack(inlet.place, inlet.place)) for inlet in inlets)",
        "return tuple(Send(inlet.producer, Ack(*[inlet.place + 1] * 2)) for inlet in inlets)",
        scope="arbitrary: no crash",
    ),
    Mutant(
        "never acknowledge",
        CONSUMERS,
        "return tuple(Send(inlet.producer, Ack(inlet.place, inlet.place)) for inlet in inlets)",
        "return ()",
        "no crash",
    ),
    Mutant(
        "send nothing again",
        PRODUCERS,
        "again = [*queue.kept] if request.kept else []",
        "again = []",
    ),
    Mutant(
        "let go of what one reader needs no more",
        PRODUCERS,
        "return min(self._before(reader, reader.released) for reader in self.readers)",
        "return self.place",
    ),
    Mutant(
        "take the tuples of a dead producer",
        CONSUMERS,
        "if late is LateTuples.REFUSED:",
        "if late is not LateTuples.REFUSED:",
    ),
    Mutant(
        "send all streams to each reader",
        PRODUCERS,
        "if output.place > (reader.has or 0) and reader.gets(output)",
        "if output.place > (reader.has or 0)",
        "rollback: two output streams",
    ),
    Mutant(
        "let go of what waits in another stream",
        PRODUCERS,
        "return next((one.place - 1 for one in later), max(place, self.place))",
        "return max(place, self.place)",
        "rollback: two output streams",
    ),
    Mutant(
        "sources keep nothing",
        ENDS,
        "if site.config.design.sources is SourceLog.KEPT:",
        "if site.config.design.sources is SourceLog.NONE:",
        "rollback: a relay",
    ),
    Mutant(
        "the new producer knows nobody",
        PRODUCERS,
        "reader._replace(target=sender, received=done, released=done, has=0)",
        "reader._replace(received=done, released=done, has=0)",
    ),
    Mutant(
        "send too little",
        PRODUCERS,
        "has = place - 1 if again is Again.FROM else place",
        "has = place + 1",
    ),
    Mutant(
        "acknowledge what the primary has",
        NODES,
        "if design.releases is Releases.PROCESSED or not site.config.other:",
        "if True:",
        "rollback: a relay",
    ),
    Mutant(
        "a checkpoint without the outputs",
        CHECKPOINTS,
        "new = tuple(o for o in queue.kept if complete or o.place > number)",
        "new = ()",
    ),
    Mutant(
        "a checkpoint without the state",
        CHECKPOINTS,
        "changed = tuple(one if complete or one != old else None for one, old in pairs)",
        "changed = tuple(None for one, old in pairs)",
        "rollback: pairs",
    ),
    Mutant(
        "checkpoint only once",
        NODES,
        "if after.spare is not Spare.NONE and after != before:",
        "if after.spare is Spare.NEW and after != before:",
        "no crash",
    ),
    Mutant(
        "do not ask upstream",
        CONSUMERS,
        "return tuple(Send(name, Connect(kept)) for names in site.config.above for name in names)",
        "return ()",
    ),
    Mutant(
        "take over without the copy",
        NODES,
        "inlets, stages, queue = state.copy or empty(site)",
        "inlets, stages, queue = empty(site)",
    ),
    Mutant(
        "a delta for a new secondary",
        CHECKPOINTS,
        "complete = state.spare is Spare.NEW and design.renewal is not FirstCheckpoint.DELTA",
        "complete = False",
        "published-again: pairs, two crashes",
    ),
    Mutant(
        "forget a new secondary",
        CHECKPOINTS,
        "state, effects = stop_line(site, state._replace(spare=Spare.NEW))",
        "state, effects = stop_line(site, state)",
        "published-again: pairs, two crashes",
    ),
    Mutant(
        "the sweep line holds nothing back",
        STAGES,
        "if at and at == behind and site.config.design.line is Line.BARRED:",
        "if False:",
        "two operators in a node, two crashes",
    ),
    Mutant(
        "lose what waits before the line",
        CHECKPOINTS,
        "waiting = [stage.waiting for stage in state.stages]",
        "waiting = [() for stage in state.stages]",
        "two operators in a node, two crashes",
    ),
    Mutant(
        "the position at the end of a checkpoint",
        CHECKPOINTS,
        "behind = state.behind or begun",
        "behind = (state.behind or begun)._replace(inlets=state.inlets)",
        "rollback: two operators in a node",
    ),
    Mutant(
        "hold back outputs that wait once the secondary is lost",
        NODES,
        "return Step(*stop_line(site, state._replace(spare=Spare.NONE)))",
        "return Step(state._replace(spare=Spare.NONE))",
        "arbitrary-alone: a relay, the secondary",
    ),
)
STORED = (
    Mutant(
        "report a later output as stored",
        CHECKPOINTS,
        "effects.append(Send(site.config.other, Stored(checkpoint.number)))",
        "effects.append(Send(site.config.other, Stored(checkpoint.number + 1)))",
    ),
    Mutant(
        "forward what is not stored",
        STAGES,
        "number = queue.place if alone or design.forwards is Forwards.ALL else state.safe",
        "number = queue.place",
        "a union",
    ),
    Mutant(
        "alone for ever",
        STAGES,
        "alone = state.spare is Spare.NONE and free",
        "alone = True",
        "a union",
    ),
)
