"""One-line faults of a two-phase-commit sink, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

JOB = "model.protocols.two_phase_sink.job"
BROKER = "model.protocols.two_phase_sink.broker"
MUTANTS = (
    Mutant(
        "the checkpoint has the place, and not the operator",
        JOB,
        "pending = JobCheckpoint(state.inlet.place, state.box, ended, ended.epoch)",
        "pending = JobCheckpoint(state.inlet.place, site.spec.begin(1), ended, ended.epoch)",
        "windows of two events",
    ),
    Mutant(
        "the next transaction has the number of the last one",
        JOB,
        "opened = SinkTransaction(ended.epoch, ended.number + 1)",
        "opened = ended",
    ),
    Mutant(
        "a checkpoint does not wait for a living transaction",
        JOB,
        "return _complete(site, state) if alive else Step(state, (Fail(),))",
        "return _complete(site, state)",
        "a time-out",
    ),
    Mutant(
        "the job forgets events that came during a checkpoint",
        JOB,
        "behind = state.inlet.place > pending.place or not state.saves",
        "behind = False",
        "two events",
    ),
    Mutant(
        "a restored job reads from the next place on",
        JOB,
        "replay = Replay(place)",
        "replay = Replay(place + 1)",
    ),
    Mutant(
        "a restored job goes on with the old transaction",
        JOB,
        "opened = SinkTransaction(epoch, transaction.number + 1)",
        "opened = SinkTransaction(1, transaction.number + 1)",
        scope="two events",
    ),
    Mutant(
        "the source never lets go",
        JOB,
        "effects = (*effects, Send(site.preds[0], Trim(pending.place)))",
        "effects = (*effects,)",
        "no crash",
    ),
    Mutant(
        "a transaction is prepared with one result too few",
        BROKER,
        "one = _find(state, edge, of)._replace(expected=count)",
        "one = _find(state, edge, of)._replace(expected=count + 1)",
    ),
    Mutant(
        "an aborted transaction counts as prepared",
        BROKER,
        "if of <= state.writers[edge].ended:",
        "if of < state.writers[edge].ended:",
        "a time-out",
    ),
    Mutant(
        "the time-out ends a prepared transaction",
        BROKER,
        "kept = one.committed or (one.prepared and rule is ExpiryRule.OPEN)",
        "kept = rule is not ExpiryRule.OPEN",
        "a time-out",
    ),
    Mutant(
        "readers skip open transactions",
        BROKER,
        "while state.transactions and state.transactions[0].committed:",
        "while state.transactions:",
    ),
    Mutant(
        "a restoration commits transactions after the checkpoint",
        BROKER,
        "kept = one.of <= committed and policy is not RestorePolicy.ABORT",
        "kept = one.of > committed and policy is not RestorePolicy.ABORT",
    ),
)
