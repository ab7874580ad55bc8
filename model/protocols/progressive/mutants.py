"""One-line faults of progressive recovery, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

HOME = "model.protocols.progressive"
SOURCE, PARTITION = f"{HOME}.source", f"{HOME}.partition"
APPLICATION, COORDINATOR = f"{HOME}.application", f"{HOME}.coordinator"
MUTANTS = (
    Mutant(
        "a progressive recovery waits for all partitions",
        COORDINATOR,
        "waiting = frozenset(up if progressive else members.partitions)",
        "waiting = frozenset(members.partitions)",
        scope="others-go-on: one share down",
    ),
    Mutant(
        "a source trims one item too many",
        SOURCE,
        "return kept.trim(lambda item: item.number <= place)",
        "return kept.trim(lambda item: item.number <= place + 1)",
    ),
    Mutant(
        "a source never trims",
        SOURCE,
        "state = state._replace(kept=trim(state.kept, k))",
        "state = state._replace(kept=trim(state.kept, k - 1))",
    ),
    Mutant(
        "a source goes on with the old epoch",
        SOURCE,
        "again = [item._replace(epoch=epoch) for item in kept]",
        "again = [*kept]",
        scope="a triangle, the side",
    ),
    Mutant(
        "a source does not punctuate when a recovery begins",
        SOURCE,
        "if punctuates and (epoch.progressive or several):",
        "if punctuates and several:",
        "always-progressive: a triangle, the side",
    ),
    Mutant(
        "a producer sends one item too few again",
        SOURCE,
        "again = [item._replace(epoch=state.epoch) for item in kept "
        "if item.number > request.after]",
        "again = [item._replace(epoch=state.epoch) for item in kept "
        "if item.number > request.after + 1]",
        "always-progressive: a triangle, the side",
    ),
    Mutant(
        "a restarted partition reports to nobody",
        PARTITION,
        "return Step(state, (Send(COORDINATOR, Back()),))",
        "return Step(state)",
    ),
    Mutant(
        "store the state before the batch ends",
        PARTITION,
        "part = LocalCheckpoint(first.k, state.box, places, sent.number, state.skipped)",
        "part = LocalCheckpoint(first.k, site.spec.begin(1), places, sent.number, state.skipped)",
        "a chain, three tuples",
    ),
    Mutant(
        "store the number of the last tuple, not that of the punctuation",
        PARTITION,
        "part = LocalCheckpoint(first.k, state.box, places, sent.number, state.skipped)",
        "part = LocalCheckpoint(first.k, state.box, places, state.number, state.skipped)",
        "a chain, three tuples",
    ),
    Mutant(
        "store a checkpoint after all others know of it",
        PARTITION,
        "return Step(state, (Save(stored), Note(CHECKPOINTED), acknowledge, *sends))",
        "return Step(state, (acknowledge, *sends, Save(stored), Note(CHECKPOINTED)))",
        scope="one partition",
    ),
    Mutant(
        "a rolled-back coordinator takes the number of an epoch that was in use",
        COORDINATOR,
        "state = CoordinatorState(known.epoch, known.complete)",
        "state = CoordinatorState(Epoch(), known.complete)",
        "one partition, the coordinator",
    ),
    Mutant(
        "acknowledge no checkpoint",
        PARTITION,
        "return Step(state, (Save(stored), Note(CHECKPOINTED), acknowledge, *sends))",
        "return Step(state, (Save(stored), Note(CHECKPOINTED), *sends))",
    ),
    Mutant(
        "keep only the newest checkpoint",
        PARTITION,
        "stored = (*_needed(site.config.design, older, first.k), part)",
        "stored = (part,)",
        "a chain, three tuples",
    ),
    Mutant(
        "go back to the newest checkpoint of one's own",
        PARTITION,
        "known = [part for part in stored if part.k <= epoch.start]",
        "known = [part for part in stored if part]",
        "a chain, three tuples",
    ),
    Mutant(
        "a partition forgets the later parts that its disk has",
        PARTITION,
        "kept = (at, *(part for part in stored if part.k > epoch.start))",
        "kept = (at,)",
        "always-progressive: one partition, three times",
    ),
    Mutant(
        "a producer counts the tuples that another partition gets",
        "model.protocols.progressive.routes",
        "missing -= counts",
        "missing -= 0",
        "always-progressive: two shares, one, two tuples",
    ),
    Mutant(
        "a partition ends no batch of its output",
        PARTITION,
        "return Step(state, fan_out(site, sent, state.skipped)[0])",
        "return Step(state)",
        "batches-marked: a diamond",
    ),
    Mutant(
        "who rejoins asks for nothing",
        PARTITION,
        "if order.rejoin:",
        "if order.rejoin and not state.epoch:",
        "always-progressive: a triangle, the side",
    ),
    Mutant(
        "buffers stay on",
        PARTITION,
        "state = state._replace(recovering=False)",
        "state = state._replace(recovering=state.recovering)",
        "always-progressive: a triangle, the side",
    ),
    Mutant(
        "buffers stay off",
        PARTITION,
        "design.buffering is Buffering.ADAPTIVE and state.recovering",
        "design.buffering is Buffering.ADAPTIVE and not state.recovering",
        "no crash",
    ),
    Mutant(
        "the application takes the last number again",
        APPLICATION,
        "case Outputs.NUMBERED if item.number <= state.passed[edge]:",
        "case Outputs.NUMBERED if item.number < state.passed[edge]:",
        scope="a triangle, the side",
    ),
    Mutant(
        "the application forgets which numbers it has seen",
        APPLICATION,
        "passed = replace_item(state.passed, edge, max(item.number, state.passed[edge]))",
        "passed = state.passed",
        scope="a triangle, the side",
    ),
    Mutant(
        "the application expects the old numbers in a new epoch",
        APPLICATION,
        "epoch=epoch, places=(None,) * edges, marks=(epoch.start,) * edges, held=()",
        "epoch=epoch, places=state.places, marks=(epoch.start,) * edges, held=()",
        scope="committed: one partition",
    ),
    Mutant(
        "a new epoch cancels no acknowledgement",
        COORDINATOR,
        "state = state._replace(epoch=epoch, phase=CoordinatorPhase.ROLLING, stored=frozenset())",
        "state = state._replace(epoch=epoch, phase=CoordinatorPhase.ROLLING)",
        scope="committed: a triangle, the union",
    ),
    Mutant(
        "the coordinator keeps its old epoch",
        COORDINATOR,
        "epoch = Epoch(state.epoch.number + 1, state.complete, progressive)",
        "epoch = Epoch(state.epoch.number, state.complete, progressive)",
    ),
    Mutant(
        "report a global checkpoint before it is stored",
        COORDINATOR,
        "return Step(state, (Save(Durable(state.epoch, k)), Note(GLOBAL), *announce))",
        "return Step(state, (*announce, Save(Durable(state.epoch, k)), Note(GLOBAL)))",
        "one partition, the coordinator",
    ),
    Mutant(
        "the restarted coordinator does not report the last global checkpoint",
        COORDINATOR,
        "return Step(state, (*effects, *again))",
        "return Step(state, effects)",
        "committed: one partition",
    ),
    Mutant(
        "complete a checkpoint without the application",
        COORDINATOR,
        "parts = (*parts, *members.sinks)",
        "parts = (*parts, *members.sinks[1:])",
        scope="committed: no crash",
    ),
    Mutant(
        "sources resume although a partition has failed again",
        COORDINATOR,
        "return Step(state._replace(waiting=state.waiting | {node}))",
        "return Step(state._replace(waiting=state.waiting - {node}))",
        "source-buffering: a chain",
    ),
    Mutant(
        "sources resume at once",
        COORDINATOR,
        "waiting = frozenset(up if progressive else members.partitions)",
        "waiting = frozenset[str]()",
        "a chain",
    ),
    Mutant(
        "a restarted partition that is waited for gets no order",
        COORDINATOR,
        "return Step(state, (Send(node, _order(state)),))",
        "return Step(state)",
    ),
    Mutant(
        "a partition that comes late does not rejoin",
        COORDINATOR,
        "return Rollback(epoch, rejoin=True)",
        "return Rollback(epoch)",
        "a chain",
    ),
    Mutant(
        "a partition that is taken for dead gets no order",
        COORDINATOR,
        "orders += [Send(name, Inquiry(Rollback(epoch))) for name in sorted(state.down)]",
        "orders += []",
        "suspicion: one partition",
    ),
    Mutant(
        "nobody asks a partition that is taken for dead in a recovery",
        COORDINATOR,
        "if design.suspicion is Suspicion.ASKED and begun and state.epoch == epoch:",
        "if design.suspicion is Suspicion.ASKED and not begun and state.epoch != epoch:",
        "suspicion-progressive: one partition, the coordinator",
    ),
    Mutant(
        "a partition that is up confirms no parts",
        PARTITION,
        "return (Send(COORDINATOR, RolledBack(epoch)), *stored)",
        "return (Send(COORDINATOR, RolledBack(epoch)),)",
        "suspicion-progressive: one partition, twice",
    ),
    Mutant(
        "a partition that was taken for dead asks for nothing that it missed",
        COORDINATOR,
        "if missed and state.phase is CoordinatorPhase.RUNNING:",
        "if missed and state.phase is CoordinatorPhase.WINDOW:",
        "suspicion-progressive: one partition",
    ),
    Mutant(
        "a partition that waits does not answer",
        PARTITION,
        "return Step(state, (Send(COORDINATOR, Back(asked=True)),))",
        "return Step(state, (STALE_NOTE,))",
        "suspicion: one partition, twice",
    ),
)
