"""One-line faults of asynchronous barrier snapshotting, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

COORDINATOR, EXTERNAL, OPERATORS, SOURCES = (
    f"model.protocols.abs.{name}" for name in ("coordinator", "external", "operators", "sources")
)
MUTANTS = (
    Mutant(
        "the source lets go of one record too many",
        SOURCES,
        "return Step(state._replace(kept=state.kept.trim(lambda one: one[0] <= state.cut)))",
        "return Step(state._replace(kept=state.kept.trim(lambda one: one[0] <= state.cut + 1)))",
    ),
    Mutant(
        "the source lets go of nothing",
        SOURCES,
        "return Step(state._replace(kept=state.kept.trim(lambda one: one[0] <= state.cut)))",
        "return Step(state)",
        "no crash",
    ),
    Mutant(
        "the source does not remember where its marker is",
        SOURCES,
        "return Step(state._replace(cut=state.place), (*markers, Send(OVERSEER, part)))",
        "return Step(state, (*markers, Send(OVERSEER, part)))",
    ),
    Mutant(
        "the source's snapshot is one record too far",
        SOURCES,
        "part = EpochPart(run, epoch, state.place)",
        "part = EpochPart(run, epoch, state.place + 1)",
    ),
    Mutant(
        "no epoch is due after a restart",
        SOURCES,
        "timer = (SetTimer(EPOCH),) if again else ()",
        "timer = ()",
    ),
    Mutant(
        "restart with an empty box",
        OPERATORS,
        "return TaskState(run, epoch, box, taken, made)",
        "return TaskState(run, epoch, site.spec.begin(len(site.preds)), taken, made)",
        "pairs",
    ),
    Mutant(
        "a restart forgets what has come early",
        OPERATORS,
        "held = tuple(one for one in state.held if one[1].run >= run)",
        "held = ()",
    ),
    Mutant(
        "the outputs of an epoch are pre-committed twice",
        OPERATORS,
        "return Step(state._replace(epoch=marker.epoch, open=part, outs=()), tuple(effects))",
        "return Step(state._replace(epoch=marker.epoch, open=part), tuple(effects))",
    ),
    Mutant(
        "a snapshot after the first marker alone",
        OPERATORS,
        "if first if early else last:",
        "if first:",
        "a union",
    ),
    Mutant(
        "a record of a marked input does not wait",
        OPERATORS,
        "if sender not in state.marked or design.alignment is not Alignment.STRICT:",
        "if design:",
        "a union",
    ),
    Mutant(
        "a commit commits the epochs before it alone",
        EXTERNAL,
        "if writer == sender and prepared.epoch <= epoch:",
        "if writer == sender and prepared.epoch < epoch:",
    ),
    Mutant(
        "a restart keeps what is prepared",
        EXTERNAL,
        "elif writer != sender or not drops:",
        "else:",
    ),
    Mutant(
        "a restart settles nothing",
        OPERATORS,
        "settle = _to_system(site, SettleEpoch(epoch))",
        "settle = ()",
        scope="two relays",
    ),
    Mutant(
        "a restart settles one epoch too many",
        OPERATORS,
        "settle = _to_system(site, SettleEpoch(epoch))",
        "settle = _to_system(site, SettleEpoch(epoch + 1))",
    ),
    Mutant(
        "nobody commits",
        OPERATORS,
        "return Step(state, _to_system(site, CommitEpoch(epoch)))",
        "return Step(state)",
    ),
    Mutant(
        "a writer commits one epoch too many",
        OPERATORS,
        "return Step(state, _to_system(site, CommitEpoch(epoch)))",
        "return Step(state, _to_system(site, CommitEpoch(epoch + 1)))",
        scope="coordinator: coordinator of a relay",
    ),
    Mutant(
        "an epoch is complete without the writers",
        COORDINATOR,
        "if not stored.issuperset(awaited):",
        "if not stored.issuperset(site.config.readers):",
    ),
    Mutant(
        "a second epoch begins before the first is complete",
        COORDINATOR,
        "if not state.due or state.begun or state.down:",
        "if not state.due or state.down:",
    ),
    Mutant(
        "a restart has the number of the one before",
        COORDINATOR,
        "state = state._replace(run=state.run + 1, begun=False, due=again, coming=())",
        "state = state._replace(begun=False, due=again, coming=())",
    ),
    Mutant(
        "a restart goes on with the snapshots of the epoch under way",
        COORDINATOR,
        "return Step(state._replace(begun=False, down=state.down | {node}, coming=()), notes)",
        "return Step(state._replace(begun=False, down=state.down | {node}, parts=state.coming or "
        "state.parts, coming=()), notes)",
    ),
    Mutant(
        "an epoch does not replace the snapshots",
        COORDINATOR,
        "parts = _with(site, parts, name, part)",
        "parts = _with(site, parts, name, dict(parts).get(name, part))",
        "coordinator: coordinator of a relay",
    ),
    Mutant(
        "records on their way make no epoch due",
        COORDINATOR,
        "return any(isinstance(part, TaskPart) and part.flight for _, part in parts)",
        "return False",
        "unaligned: a diamond",
    ),
    Mutant(
        "records on their way are in no snapshot",
        OPERATORS,
        "opened = state.open._replace(flight=(*state.open.flight, (sender, record)))",
        "opened = state.open._replace(flight=())",
        "unaligned: a diamond",
    ),
    Mutant(
        "the external system takes the last write again",
        EXTERNAL,
        "if design.writes is WriteMode.IDEMPOTENT and number <= last.get(sender, 0):",
        "if design.writes is WriteMode.IDEMPOTENT and number < last.get(sender, 0):",
        "idempotent: a relay",
    ),
    Mutant(
        "the external system writes a whole transaction again",
        EXTERNAL,
        "return Step(_numbered(site, state, sender, number), _emits(edge, outs[-new:]))",
        "return Step(_numbered(site, state, sender, number), _emits(edge, outs))",
        "counted: a relay",
    ),
    Mutant(
        "a transaction has the number of the output before its last one",
        OPERATORS,
        "prepared = Prepared(marker.epoch, state.outs, state.made)",
        "prepared = Prepared(marker.epoch, state.outs, state.made - 1)",
        "counted: a relay",
    ),
    Mutant(
        "a snapshot forgets how many outputs there were",
        OPERATORS,
        "part = TaskPart(state.box, state.taken, state.made)",
        "part = TaskPart(state.box, state.taken)",
        "idempotent: a relay",
    ),
    Mutant(
        "nodes know of the new run before its number is durable",
        COORDINATOR,
        "return Step(state, (*kept, *sends, *more))",
        "return Step(state, (*sends, *kept, *more))",
        "coordinator: coordinator of a relay twice",
    ),
    Mutant(
        "the number of the run that is durable is the one before",
        COORDINATOR,
        "run = state.run if keeps is CoordinatorStorage.EPOCHS_AND_RUNS else 0",
        "run = state.run - 1 if keeps is CoordinatorStorage.EPOCHS_AND_RUNS else 0",
        "coordinator: coordinator of a relay twice",
    ),
    Mutant(
        "the epoch that is durable is the one before",
        COORDINATOR,
        "return (Save(Kept(run, state.epoch, state.parts)),)",
        "return (Save(Kept(run, max(0, state.epoch - 1), state.parts)),)",
        "coordinator: coordinator of a relay",
    ),
    Mutant(
        "the snapshots are not durable",
        COORDINATOR,
        "return (Save(Kept(run, state.epoch, state.parts)),)",
        "return (Save(Kept(run, state.epoch, ())),)",
        "coordinator: coordinator of a relay",
    ),
    Mutant(
        "a restarted coordinator restarts no node",
        COORDINATOR,
        "state, effects = _roll_back(site, state)",
        "effects = ()",
        "coordinator: coordinator of a relay",
    ),
    Mutant(
        "a restarted coordinator restarts all nodes in the run before",
        COORDINATOR,
        "state = OverseerState(run, epoch, parts=parts)",
        "state = OverseerState(run - 1, epoch, parts=parts)",
        "coordinator: coordinator of a relay",
    ),
    Mutant(
        "the coordinator expects only nodes of which it knows that they are down",
        COORDINATOR,
        "return _restart(site, state, input_.sender)",
        "return _take_run(site, state, input_.sender, -1)",
        "coordinator: coordinator and a relay",
    ),
    Mutant(
        "an asking coordinator takes no notice of the answers",
        COORDINATOR,
        "return _restart(site, state._replace(run=max(state.run, run)), node)",
        "return _restart(site, state, node)",
        "coordinator-asks: coordinator of a relay twice",
    ),
    Mutant(
        "an asking coordinator waits for the writers alone",
        COORDINATOR,
        "state = state._replace(down=frozenset(site.succs))",
        "state = state._replace(down=frozenset(site.config.writers))",
        "coordinator-asks: coordinator of a relay twice",
    ),
)
