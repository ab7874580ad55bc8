"""One-line faults of Kafka's transactions, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

WORKER = "model.protocols.kafka_transactions.worker"
COORDINATOR = "model.protocols.kafka_transactions.coordinator"
PARTITIONS = "model.protocols.kafka_transactions.partitions"
MUTANTS = (
    Mutant(
        "a worker commits although its place was refused",
        WORKER,
        "after = state._replace(phase=WorkerPhase.ENDING, commits=accepted)",
        "after = state._replace(phase=WorkerPhase.ENDING, commits=True)",
        "by-generation: two events",
    ),
    Mutant(
        "a worker does not ask again when the coordinator has restarted",
        WORKER,
        "return Step(state, _ask(site, state))",
        "return Step(state)",
        "one event",
    ),
    Mutant(
        "the place is one too high",
        WORKER,
        "at = InputPlace(state.place, state.box)",
        "at = InputPlace(state.inlet.place + 1, state.box)",
        "two events",
    ),
    Mutant(
        "a transaction has the place and an empty operator",
        WORKER,
        "at = InputPlace(state.place, state.box)",
        "at = InputPlace(state.place, site.spec.begin(1))",
        "windows of two events",
    ),
    Mutant(
        "after an abort the worker goes on behind it",
        WORKER,
        "if not end.committed:",
        "if False:",
        "a time-out",
    ),
    Mutant(
        "the events that waited are forgotten",
        WORKER,
        "return Step(state._replace(box=box, held=()), (*writes, SetTimer(COMMIT)))",
        "return Step(state._replace(box=box, held=()), (*writes[:1], SetTimer(COMMIT)))",
        "three events, nothing fails",
    ),
    Mutant(
        "the worker reads on from the next place",
        WORKER,
        "replay = Replay(at.place)",
        "replay = Replay(at.place + 1)",
        "one event",
    ),
    Mutant(
        "a takeover does not raise the epoch",
        COORDINATOR,
        "begun = ProducerEntry(worker, before.epoch + 1, last, committed=False, complete=False)",
        "begun = ProducerEntry(worker, before.epoch, last, committed=False, complete=False)",
        "one event",
    ),
    Mutant(
        "the coordinator ends the transaction of whoever asks",
        COORDINATOR,
        "if entry.owner != worker:",
        "if False:",
        "one event",
    ),
    Mutant(
        "a transaction that has ended is ended again",
        COORDINATOR,
        "if tag == _open(entry):",
        "if tag == _open(entry) or commits:",
        "a time-out",
    ),
    Mutant(
        "a restarted coordinator aborts the transaction that it had begun to commit",
        COORDINATOR,
        "state, more = _write(site, state, producer, entry)",
        "state, more = _write(site, state, producer, entry._replace(committed=False))",
        "two crashes",
    ),
    Mutant(
        "a restarted coordinator writes no markers",
        COORDINATOR,
        "if not entry.complete:",
        "if entry.complete:",
        "two crashes",
    ),
    Mutant(
        "one partition has no marker",
        COORDINATOR,
        "sends = tuple(Send(partition, marker) for partition in site.succs)",
        "sends = tuple(Send(partition, marker) for partition in site.succs[:1])",
        "one event",
    ),
    Mutant(
        "an abort marker takes the place over",
        PARTITIONS,
        "at=at if commits else state.at,",
        "at=at,",
        "one event",
    ),
    Mutant(
        "readers skip open transactions",
        PARTITIONS,
        "while records and records[0].committed:",
        "while records:",
        "by-generation: two crashes",
    ),
)
