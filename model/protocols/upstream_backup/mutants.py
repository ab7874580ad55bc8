"""One-line faults of upstream backup, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.core.Mutant explains the fields.
"""

from __future__ import annotations

from model.core import Mutant

OPERATOR, LAYOUTS, SAVEPOINTS, BACKUP, NODES = (
    "model.cep.operator",
    "model.protocols.upstream_backup.layouts",
    "model.protocols.upstream_backup.savepoints",
    "model.protocols.upstream_backup.buffers",
    "model.protocols.upstream_backup.nodes",
)
MUTANTS = (
    Mutant(
        "trim one event too many",
        SAVEPOINTS,
        "savepoint = Savepoint(seed, replay_start.before)",
        "savepoint = Savepoint(seed, (replay_start.opener[1],) * len(replay_start.before))",
    ),
    Mutant(
        "keep one window too few",
        SAVEPOINTS,
        "closed = state.closed.trim(lambda window: window.number < retained)",
        "closed = state.closed.trim(lambda window: window.number <= retained)",
    ),
    Mutant(
        "take every window for closed when a match is produced",
        SAVEPOINTS,
        "unclosed = cep.open[0].number if cep.open else cep.opened + 1",
        "unclosed = cep.opened + 1",
        "an engine that is not monotone",
    ),
    Mutant(
        "seed from the wrong window",
        SAVEPOINTS,
        "replay_start = windows[0]",
        "replay_start = windows[-1]",
    ),
    Mutant(
        "forget the number of the first window",
        SAVEPOINTS,
        "cep=CepState(opened=first - 1),",
        "cep=CepState(opened=0),",
        "any match, several in one iteration",
    ),
    Mutant(
        "forget the events that open windows",
        SAVEPOINTS,
        "return bool(happened.opened or happened.expired or happened.filled)",
        "return bool(happened.expired or happened.filled)",
        "match at the end of the window",
    ),
    Mutant(
        "forget the events that fill windows",
        SAVEPOINTS,
        "return bool(happened.opened or happened.expired or happened.filled)",
        "return bool(happened.opened or happened.expired)",
        "pattern-opened windows",
    ),
    Mutant(
        "ask only the newest window whether an event was used",
        OPERATOR,
        "used = used or touched",
        "used = touched",
        "an event used by one of two windows",
    ),
    Mutant(
        "in serial processing, take an event for used only if it completes a match",
        OPERATOR,
        "if touched:",
        "if found:",
    ),
    Mutant(
        "restore the windows but not their counts",
        LAYOUTS,
        "return window._replace(extent=window.extent._replace(events=events))",
        "return window",
        "match at the end of the window",
    ),
    Mutant(
        "skip range one too wide",
        "model.cep.skips",
        "return Skips(self.done, (self.run[0], sn) if self.run else (sn, sn))",
        "return Skips(self.done, (self.run[0] if self.run else sn, (*sn[:-1], sn[-1] + 1)))",
    ),
    Mutant(
        "a used event does not end the skip range",
        "model.cep.skips",
        "return Skips(self.done.append(self.run)) if self.run else self",
        "return Skips(self.done.append(self.run), self.run) if self.run else self",
        "match at the end of the window",
    ),
    Mutant(
        "replay out of order",
        BACKUP,
        "replay = tuple(Send(succ, event) for event in backup)",
        "replay = tuple(Send(succ, event) for event in reversed([*backup]))",
    ),
    Mutant(
        "replay the newest event only",
        BACKUP,
        "replay = tuple(Send(succ, event) for event in backup)",
        "replay = tuple(Send(succ, event) for event in [*backup][-1:])",
    ),
    Mutant(
        "keep the first savepoint for ever",
        BACKUP,
        "held[name] = held[name].join(savepoint) if name in held else savepoint",
        "held.setdefault(name, savepoint)",
        "any match, several in one iteration",
    ),
    Mutant(
        "lose the replicas of the nodes below",
        NODES,
        "below = node.replicas if site.config.design.ancestors else ()",
        "below: Replicas = ()",
        "adjacent operators, time windows",
    ),
    Mutant(
        "acknowledge what one of two successors has",
        NODES,
        "theta = min(outlet.acked for outlet in node.outlets)",
        "theta = max(outlet.acked for outlet in node.outlets)",
        "two output edges",
    ),
    Mutant(
        "acknowledge before the successor has it",
        NODES,
        "theta = min(outlet.acked for outlet in node.outlets)",
        "theta = node.operator.pending.last().sn if node.operator.pending else NOTHING",
        "any match, several in one iteration",
    ),
    Mutant(
        "a sink takes duplicates",
        NODES,
        "if message.sn <= heard:",
        "if message.sn < heard:",
    ),
    Mutant(
        "an operator takes duplicates",
        NODES,
        "elif message.sn <= inlet.heard:",
        "elif message.sn < inlet.heard:",
    ),
    Mutant(
        "restore from nothing",
        NODES,
        "mine = held.pop(site.name, node.mine)",
        "mine = (held.pop(site.name, None), node.mine)[1]",
    ),
    Mutant(
        "process what arrives before the answer",
        NODES,
        "if site.preds[edge] in node.awaited:",
        "if site.preds[edge] not in site.preds:",
    ),
    Mutant(
        "forget who greeted during recovery",
        NODES,
        "for name in greeted",
        "for name in node.greeted",
        "adjacent operators, two crashes",
    ),
    Mutant(
        "do not greet a restarted predecessor again",
        NODES,
        "if sender in node.awaited:  # our own hello may have been lost with its state",
        "if sender not in node.awaited:",
        "adjacent operators, two crashes",
    ),
    Mutant(
        "consume again what was consumed before the savepoint",
        NODES,
        "return Inlet(queue, max(inlet.heard, trim), inlet.mark)",
        "return Inlet(inlet.queue, inlet.heard, inlet.mark)",
        "adjacent operators, time windows",
    ),
    Mutant(
        "never trim",
        BACKUP,
        "backup = backup.trim(lambda event: event.sn <= ack.trim)",
        "backup = backup.trim(lambda event: False)",
        "no crash, every event matches",
    ),
    Mutant(
        "never delete what is skipped",
        BACKUP,
        "if ack.skips:",
        "if False:",
        "no crash, events skipped",
    ),
    Mutant(
        "never acknowledge",
        NODES,
        "return after, (Emit((edge, message.body)), Send(sender, Ack(heard, (), ())))",
        "return after, (Emit((edge, message.body)),)",
        "no crash, every event matches",
    ),
    Mutant(
        "never make a savepoint",
        NODES,
        "if saved is None:",
        "if saved is None or saved:",
        "no crash, every event matches",
    ),
    Mutant(
        "merge without waiting for the other edge",
        "model.cep.merge",
        "_, edge = min((inlet.low, edge) for edge, inlet in enumerate(inlets))",
        "edge = next((e for e, inlet in enumerate(inlets) if inlet.queue), 0)",
    ),
)
