"""One-line faults of active standby, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

NODES, ORDER, WATERMARKS = (
    f"model.protocols.active_standby.{name}" for name in ("nodes", "order", "watermarks")
)
CONSUMERS, PRODUCERS, REPLICAS = (
    f"model.standbys.{name}" for name in ("consumers", "producers", "replicas")
)
MUTANTS = (
    Mutant(
        "acknowledge one tuple too many",
        CONSUMERS,
        "return tuple(Send(inlet.producer, Ack(inlet.place, inlet.place)) for inlet in inlets)",
        "return tuple(Send(inlet.producer, Ack(*[inlet.place + 1] * 2)) for inlet in inlets)",
        "arbitrary: a relay",
    ),
    Mutant(
        "take the tuples of a dead producer",
        CONSUMERS,
        "if late is LateTuples.REFUSED:",
        "if late is not LateTuples.REFUSED:",
    ),
    Mutant(
        "let go when one replica is done",
        PRODUCERS,
        "return min(self._before(reader, reader.released) for reader in self.readers)",
        "return max(self._before(reader, reader.released) for reader in self.readers)",
        "a relay, two crashes",
    ),
    Mutant(
        "forget what came before the copy",
        NODES,
        "for sender, message in state.came:",
        "for sender, message in ():",
        "a relay, two crashes",
    ),
    Mutant(
        "trim what downstream may not have",
        WATERMARKS,
        "return all(mark < bound for mark, bound in pairs)",
        "return True",
        scope="rollback: a relay",
    ),
    Mutant(
        "take over in silence",
        NODES,
        "state, more = advance(site, state, 0)",
        "return Step(state)",
        scope="rollback: a relay",
    ),
    Mutant(
        "report the newest output as served",
        NODES,
        "served = [output for output in before.queue.kept if output.place <= received]",
        "served = [*before.queue.kept]",
        by_chance=True,
    ),
    Mutant(
        "a copy without the state",
        NODES,
        "copied = Copied(state.inlets, state.inner, state.queue, state.pending)",
        "copied = Copied(state.inlets, site.spec.begin(1), state.queue, state.pending)",
        "pairs, two crashes",
    ),
    Mutant(
        "send nothing again",
        PRODUCERS,
        "again = [*queue.kept] if request.kept else []",
        "again = []",
    ),
    Mutant(
        "forget what is logged",
        NODES,
        "forwarded = start if asks else queue.place",
        "forwarded = queue.place",
    ),
    Mutant(
        "high watermarks that are too low",
        WATERMARKS,
        "return (*high, *(held.get(-1 - edge, 0) for edge in edges))",
        "return (*(m - 1 for m in high), *(held.get(-1 - edge, 0) for edge in edges))",
    ),
    Mutant(
        "send nothing when all have answered",
        REPLICAS,
        "state, sends = release(site, state._replace(queue=queue))",
        "sends = ()",
        scope="arbitrary: a relay",
    ),
    Mutant(
        "hold back outputs that wait once the secondary is lost",
        NODES,
        "return Step(*release(site, state._replace(spare=False)))",
        "return Step(state._replace(spare=False))",
        "arbitrary-alone: a relay, the secondary",
    ),
    Mutant(
        "follow determinants from before the copy",
        NODES,
        "case Received(sender, Output() | Trim() as message):",
        "case Received(sender, Output() | Trim() | Determinant() as message):",
        "arbitrary-again: one tuple of a union, any replica",
    ),
    Mutant(
        "a copy without the tuples that wait",
        NODES,
        "copied = Copied(state.inlets, state.inner, state.queue, state.pending)",
        "copied = Copied(state.inlets, state.inner, state.queue, ((),) * len(state.pending))",
        "arbitrary-again: a union",
    ),
    Mutant(
        "let go of nothing that downstream has",
        WATERMARKS,
        "kept = [one for one in queue.kept if not is_duplicate(rule, one.marks, served)]",
        "kept = [*queue.kept]",
        "overdue-dropped: no crash",
    ),
    Mutant(
        "drop overdue outputs, and report nothing",
        WATERMARKS,
        "return state._replace(queue=queue), (*notes, *report_served(site, state, overdue))",
        "return state._replace(queue=queue), notes",
        "overdue-dropped: a relay",
    ),
)
DETERMINANTS = (
    Mutant(
        "send before the determinants are safe",
        ORDER,
        "number = queue.place if free else state.safe",
        "number = queue.place",
        "a union",
    ),
    Mutant(
        "follow no determinants",
        NODES,
        "free = determinants is Determinants.NONE",
        "free = True",
        "a union",
    ),
    Mutant(
        "log the other input",
        ORDER,
        "effects = (*notes, Send(site.config.other, Determinant(edge, queue.place)))",
        "effects = (*notes, Send(site.config.other, Determinant(0, queue.place)))",
        "a union",
    ),
    Mutant(
        "report determinants that have not come",
        NODES,
        "return Step(state, (*effects, Send(sender, Logged(outputs))))",
        "return Step(state, (*effects, Send(sender, Logged(outputs + 1))))",
    ),
    Mutant(
        "forget the determinants at the takeover",
        ORDER,
        "while state.order and state.pending[state.order[0]]:",
        "while state.order and state.pending[state.order[0]] and not state.leads:",
    ),
)
