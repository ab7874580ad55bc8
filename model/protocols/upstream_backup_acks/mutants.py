"""One-line faults of upstream backup by acknowledgements, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

DETERMINANTS, INDICATORS, NODES, PROCESSING = (
    f"model.protocols.upstream_backup_acks.{name}"
    for name in ("determinants", "indicators", "nodes", "processing")
)
CONSUMERS, REPLICAS = "model.standbys.consumers", "model.standbys.replicas"
MUTANTS = (
    Mutant(
        "acknowledge one tuple too many",
        CONSUMERS,
        "return tuple(Send(inlet.producer, Ack(inlet.place, inlet.place)) for inlet in inlets)",
        "return tuple(Send(inlet.producer, Ack(*[inlet.place + 1] * 2)) for inlet in inlets)",
        "maps-received: a relay",
    ),
    Mutant(
        "forget the marks",
        CONSUMERS,
        "return inlet._replace(last=output.place, marks=output.marks), None",
        "return inlet._replace(last=output.place), None",
    ),
    Mutant(
        "number on from the old producer",
        CONSUMERS,
        "return StreamEnd(sender, inlet.connection + 1, place, inlet.last, inlet.marks)",
        "return StreamEnd(sender, inlet.connection + 1, inlet.place, inlet.last, inlet.marks)",
        "maps-received: a relay",
    ),
    Mutant(
        "acknowledge the cause itself",
        NODES,
        "released = max(0, label.place - 1) if known else 0",
        "released = label.place if known else 0",
    ),
    Mutant(
        "release what was received",
        NODES,
        "sends.append(Send(inlet.producer, Ack(inlet.place, released)))",
        "sends.append(Send(inlet.producer, Ack(inlet.place, inlet.place)))",
    ),
    Mutant(
        "the youngest tuple of an output",
        INDICATORS,
        "found[edge] = min(label, found.get(edge, label))",
        "found[edge] = max(label, found.get(edge, label))",
        scope="arbitrary: pairs",
    ),
    Mutant(
        "discard all but the last output of an input",
        INDICATORS,
        "return (*marks, -follow) if repeats is Repeats.COUNTED else marks",
        "return (*marks, 0) if repeats is Repeats.COUNTED else marks",
    ),
    Mutant(
        "count outputs of an input forward",
        INDICATORS,
        "return (*marks, -follow) if repeats is Repeats.COUNTED else marks",
        "return (*marks, follow) if repeats is Repeats.COUNTED else marks",
    ),
    Mutant(
        "discard nothing",
        INDICATORS,
        "return all(new <= old for new, old in pairs)",
        "return False",
    ),
    Mutant(
        "do not ask upstream",
        CONSUMERS,
        "return tuple(Send(name, Connect(kept)) for names in site.config.above for name in names)",
        "return ()",
    ),
    Mutant(
        "keep what is in the state out of the cause",
        PROCESSING,
        "held = [*inputs_in(state.inner), *of]",
        "held = [*of]",
        scope="arbitrary: pairs",
    ),
    Mutant(
        "let go of what waits in another stream",
        "model.standbys.producers",
        "return next((one.place - 1 for one in later), max(place, self.place))",
        "return max(place, self.place)",
        "two output streams",
    ),
    Mutant(
        "let go when one of two consumers is done",
        "model.standbys.producers",
        "return min(self._before(reader, reader.released) for reader in self.readers)",
        "return max(self._before(reader, reader.released) for reader in self.readers)",
        "two consumers",
    ),
    Mutant(
        "the secondary never takes over",
        REPLICAS,
        "return take_over(site, state)",
        "return Step(state)",
    ),
)
LOGGED = (
    Mutant(
        "forget what waits",
        DETERMINANTS,
        "journal = journal._replace(waiting=(*journal.waiting, *news))",
        "journal = journal._replace(waiting=news)",
    ),
    Mutant(
        "log nothing, and report it as logged",
        NODES,
        "return Step(Waiting(entries, cut), (Send(sender, Logged(outputs, cut)),))",
        "return Step(state, (Send(sender, Logged(outputs, cut)),))",
        "a union",
    ),
    Mutant(
        "take over in any order",
        NODES,
        "journal = Journal(spare=False, cut=state.cut, order=state.entries)",
        "journal = Journal(spare=False, cut=state.cut)",
        "a union",
    ),
    Mutant(
        "keep back for ever",
        DETERMINANTS,
        "free = [one for one in state.journal.waiting if one.place <= logged.output]",
        "free = [one for one in state.journal.waiting if one.place < logged.output]",
    ),
)
NAMED = (
    Mutant(
        "name an input by its number",
        PROCESSING,
        "name = output.marks or (output.place,)",
        "name = (output.place,)",
        "two relays",
    ),
)
