"""One-line faults of uncoordinated checkpoints, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

LINES, MANAGER, OPERATORS, SINKS, SOURCES = (
    f"model.protocols.uncoordinated.{name}"
    for name in ("lines", "manager", "operators", "sinks", "sources")
)
BASED = "index-based: two relays"
MUTANTS = (
    Mutant(
        "a receiver with an orphan stays",
        LINES,
        "found.append(bond.receiver)",
        "pass",
        scope="a union",
    ),
    Mutant(
        "a sender with an orphan stays",
        LINES,
        "if sender.credited[bond.branch] > receiver.granted[bond.edge]:",
        "if False:",
        scope="two-way: two relays",
    ),
    Mutant(
        "the line of an index is one checkpoint too new",
        LINES,
        "next(place for place, one in enumerate(own) if one.level >= reached)",
        "len(own) - 1",
        scope="index-line: two relays",
    ),
    Mutant(
        "the manager deletes one checkpoint too many",
        MANAGER,
        "return tuple(tuple(own[place:]) for own, place in zip(stored, line, strict=True))",
        "return tuple(tuple(own[place:][-1:]) for own, place in zip(stored, line, strict=True))",
        scope="a union",
    ),
    Mutant(
        "a restart forgets no checkpoint beyond the line",
        MANAGER,
        "stored = tuple(own[: place + 1] for _, own, place in pairs)",
        "stored = tuple(own for _, own, _ in pairs)",
        scope="two relays and two crashes",
    ),
    Mutant(
        "outputs are let go of when one receiver has them",
        MANAGER,
        "return LineMoved(run, made, min(needed, default=0))",
        "return LineMoved(run, made, max(needed, default=0))",
        scope="a diamond",
    ),
    Mutant(
        "checkpoints from before a restart are stored",
        MANAGER,
        "if run != state.run:",
        "if run > state.run:",
        scope="two relays",
    ),
    Mutant(
        "messages from before a restart are taken",
        OPERATORS,
        "if message.run < state.run:",
        "if message.run < 0:",
        scope="a union",
    ),
    Mutant(
        "a restart forgets what has come early",
        OPERATORS,
        "early = [one for one in state.early if one[1].run >= order.run]",
        "early = []",
        scope="two relays",
    ),
    Mutant(
        "the log is no part of the restart",
        OPERATORS,
        "return (*downs, *ups)",
        "return ups",
        scope="two relays",
    ),
    Mutant(
        "credits are not sent again",
        OPERATORS,
        "return (*downs, *ups)",
        "return downs",
        scope="index-based: two events and a crash of the first",
    ),
    Mutant(
        "an operator lets go of one output too many",
        OPERATORS,
        "kept = state.part.kept.trim(lambda one: one[0] <= line.needed)",
        "kept = state.part.kept.trim(lambda one: one[0] <= line.needed + 1)",
        scope="two relays and two events",
    ),
    Mutant(
        "an operator lets go of nothing",
        OPERATORS,
        "kept = state.part.kept.trim(lambda one: one[0] <= line.needed)",
        "kept = state.part.kept",
        scope="no crash",
    ),
    Mutant(
        "a checkpoint has the index of the one before",
        OPERATORS,
        "step = 0 if site.config.design.induced is Induced.NEVER else 1",
        "step = 0",
        scope=BASED,
    ),
    Mutant(
        "an equal index forces no checkpoint, nor does the next one",
        OPERATORS,
        "if site.config.design.induced is not when or level <= state.part.level:",
        "if site.config.design.induced is not when or level <= state.part.level + 1:",
        scope=BASED,
    ),
    Mutant(
        "an induced checkpoint keeps its old index",
        OPERATORS,
        "state, effects = _checkpoint(state, level)",
        "state, effects = _checkpoint(state, state.part.level)",
        scope="index-line: two relays",
    ),
    Mutant(
        "an operator begins with the line of nobody",
        OPERATORS,
        "state = LoggingTask(order.run, part)",
        "state = LoggingTask(order.run, part._replace(received=state.part.received))",
        scope="two relays",
    ),
    Mutant(
        "a sink keeps what a restart undoes",
        SINKS,
        "kept = Log() if back else waiting.trim(lambda one: one.number <= made)",
        "kept = waiting.trim(lambda one: one.number <= made)",
        scope="a relay",
    ),
    Mutant(
        "a sink passes on one output too many",
        SINKS,
        "passed = [one for one in waiting if one.number <= made]",
        "passed = [one for one in waiting if one.number <= made + 1]",
        scope="a relay",
    ),
    Mutant(
        "the source sends nothing again",
        SOURCES,
        "return Step(state._replace(run=run), (note, *again))",
        "return Step(state._replace(run=run), (note,))",
        scope="a relay",
    ),
    Mutant(
        "the source lets go of one event too many",
        SOURCES,
        "return Step(state._replace(kept=state.kept.trim(lambda one: one[0] <= needed)))",
        "return Step(state._replace(kept=state.kept.trim(lambda one: one[0] <= needed + 1)))",
        scope="a relay",
    ),
)
