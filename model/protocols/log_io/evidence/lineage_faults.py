"""Faults of lineage: the protocol with one changed line.

Rule of this file: one-line faults; no design.
"""

from __future__ import annotations

from model.evidence import Mutant
from model.protocol import Protocol

VARIANTS: tuple[Protocol, ...] = ()
GENERATION = "model.protocols.log_io.operators.generation"
OPERATOR = "model.protocols.log_io.operators.operator"
ACTIONS = "model.protocols.log_io.sources.actions"
RETENTION = "model.protocols.log_io.lineage.retention"
ROWS = "model.protocols.log_io.lineage.rows"
MUTANTS = (
    Mutant(
        "an output has a row at its first port alone",
        GENERATION,
        "if (site.name, succ) in capture.ports.outs",
        "if (site.name, succ) in capture.ports.outs and succ == site.succs[0]",
        "lineage: two sinks",
    ),
    Mutant(
        "lineage names one event of an Input Set",
        ROWS,
        "assigned = [Assigned(*row[:4]) for row in gone if row[:2] in ports.ins]",
        "assigned = [Assigned(*row[:4]) for row in gone[:1] if row[:2] in ports.ins]",
        "lineage: batches",
    ),
    Mutant(
        "an input on any port makes a row",
        ROWS,
        "events = [(row.sender, row.number) for row in inputs if row[:2] in capture.ports.ins]",
        "events = [(row.sender, row.number) for row in inputs]",
        "lineage-scope: two ports and batches",
    ),
    Mutant(
        "lineage names the inputs of all Input Sets",
        ROWS,
        "inputs = [row for row in mine if message.inset and row.inset == message.inset]",
        "inputs = mine",
        "lineage-by-events: two functions by type",
    ),
    Mutant(
        "an output with a read action has no row",
        ROWS,
        "more.append(Assigned(SERVICE, node, read.number, read.inset))",
        "more.clear()",
        "lineage: a side effect read and two sinks",
    ),
    Mutant(
        "the effect of a read that is executed again is not stored",
        ROWS,
        "stored = _merged(after.effects, [ReadEffectRow(node, number, value)], 2)",
        "stored = _merged((ReadEffectRow(node, number, value),), after.effects, 2)",
        "lineage: a side effect read and two sinks",
    ),
    Mutant(
        "the effect of a read is stored after the outputs",
        OPERATOR,
        "return go_on(site, state, (*store_read(site, taken.inset, value), *effects))",
        "return go_on(site, state, (*effects, *store_read(site, taken.inset, value)))",
        "lineage: a side effect read and two sinks",
    ),
    Mutant(
        "an output of a source is of the read action before",
        ACTIONS,
        "used = (Used(*row[:3], number, really) for row in rows if row[:2] in capture.ports.outs)",
        "used = (Used(*row[:3], number - 1, really) for row in rows)",
        "lineage-of-reads: a read and three crashes",
    ),
    Mutant(
        "an output names the events that the one before was made of",
        ROWS,
        "for one in (_said(capture, row) if said else named)",
        "for one in (_said(capture, rows[0]) if said else named)",
        "lineage-by-function: batches apart",
    ),
    Mutant(
        "the body of the first event of a transaction is deleted",
        ROWS,
        "bodies = ((row[:3], row.body) for row in gone if row[:2] in kept)",
        "bodies = ((row[:3], row.body) for row in gone[1:] if row[:2] in kept)",
        "lineage: a relay",
    ),
    Mutant(
        "a state is made of its Input Set alone",
        ROWS,
        "more += [Assigned(node, node, number, commit.inset)] if number else []",
        "more += []",
        "lineage-of-state-by-sets: an aggregate that crashes once",
    ),
    Mutant(
        "an assignment goes with the first of several outputs",
        RETENTION,
        "sets = {(row.sender, row.inset) for row in used}",
        "sets = {(row.sender, row.inset) for row in used if row.number == 1}",
        "lineage-retained: two relays",
    ),
    Mutant(
        "what is on its way is older than the retention",
        RETENTION,
        "roots |= {row[:3] for row in tables.events if not row.done}  # they may still be used",
        "roots |= {row[:3] for row in tables.events if row.done}",
        "lineage-retained: two relays",
    ),
    Mutant(
        "the retention looks back one step",
        RETENTION,
        "waiting += new",
        "waiting += ()",
        "lineage-retained: batches and a relay",
    ),
)
