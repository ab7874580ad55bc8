"""One-line faults of checkpoint roll-backward, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

NODES = "model.protocols.crb.nodes"
MUTANTS = (
    Mutant(
        "acknowledge what is in the state",
        NODES,
        "effects += _acknowledge(site, new.places)",
        "effects += _acknowledge(site, now.places)",
        scope="replay-by-time: one key",
    ),
    Mutant(
        "acknowledge the place in the last input to every producer",
        NODES,
        "return [Send(pred, Trim(place)) for pred, place in zip(site.preds, places, strict=True)]",
        "return [Send(pred, Trim(places[-1])) for pred in site.preds]",
        scope="a join in the order of time",
    ),
    Mutant(
        "connect the first input, whoever answers",
        NODES,
        "return _set_inlet(state, site.preds.index(sender), inlet)",
        "return _set_inlet(state, 0, inlet)",
        "a join in the order of time",
    ),
    Mutant(
        "acknowledge one tuple too many",
        NODES,
        "effects += _acknowledge(site, new.places)",
        "effects += _acknowledge(site, tuple(place + 1 for place in new.places))",
        scope="published-later: one key",
    ),
    Mutant(
        "never acknowledge",
        NODES,
        "if design.acknowledges is Acknowledges.STORED:",
        "if design.acknowledges is not Acknowledges.STORED:",
        "no crash",
    ),
    Mutant(
        "the sink never acknowledges",
        NODES,
        "return Step(CrbSink(inlet), (emit, Send(sender, Trim(inlet.place))))",
        "return Step(CrbSink(inlet), (emit,))",
        "no crash",
    ),
    Mutant(
        "the sink acknowledges one output too many",
        NODES,
        "return Step(CrbSink(inlet), (emit, Send(sender, Trim(inlet.place))))",
        "return Step(CrbSink(inlet), (emit, Send(sender, Trim(inlet.place + 1))))",
        "a filter",
    ),
    Mutant(
        "restart with an empty output queue",
        NODES,
        "return CrbOperator(inlets, box, queue, None, None, stable)",
        "return CrbOperator(inlets, box, QueueState(), None, None, stable)",
        scope="published-later: one key",
    ),
    Mutant(
        "restart with empty windows",
        NODES,
        "return CrbOperator(inlets, box, queue, None, None, stable)",
        "return CrbOperator(inlets, site.spec.begin(1), queue, None, None, stable)",
        scope="published-later: one key",
    ),
    Mutant(
        "ask for one tuple too few",
        NODES,
        "after = place if design.stamp is Stamp.PLACE else time",
        "after = place + 1 if design.stamp is Stamp.PLACE else time",
    ),
    Mutant(
        "ask for one tuple too many",
        NODES,
        "after = place if design.stamp is Stamp.PLACE else time",
        "after = place - 1 if design.stamp is Stamp.PLACE else time",
        scope="a filter",
    ),
    Mutant(
        "do not report a restart downstream",
        NODES,
        "asks.append(Send(site.succs[0], Restarted()))",
        "pass",
    ),
    Mutant(
        "count the half-written checkpoint as whole",
        NODES,
        "half, whole = Stable(old, new._replace(queue=QueueState())), Stable(new)",
        "half, whole = Stable(new._replace(queue=QueueState())), Stable(new)",
        "a filter",
    ),
    Mutant(
        "owe an answer although it was given",
        NODES,
        "return Step(state._replace(owed=None), serve(queue, site.succs[0], request).effects)",
        "return Step(state, serve(queue, site.succs[0], request).effects)",
        "a filter",
    ),
    Mutant(
        "answer before outputs are made again",
        NODES,
        "if _wants_next(queue, request):",
        "if request != NOT_ASKED:",
        "a filter",
    ),
    Mutant(
        "begin an answer one output late",
        NODES,
        "effects.append(Send(succ, Replayed(owed, queue.place)))",
        "effects.append(Send(succ, Replayed(owed, queue.place + 1)))",
        "a filter",
    ),
    Mutant(
        "begin no answer once the last output is made again",
        NODES,
        "if owed is not None and _is_made(site.config.design, queue, owed):",
        "if owed is None and _is_made(site.config.design, queue, NOT_ASKED):",
        "reconnects: a filter",
    ),
    Mutant(
        "remind a producer of nothing",
        NODES,
        "effects.append(Send(sender, Trim(_safe(site, state, sender))))",
        "effects.append(Send(sender, Trim(0)))",
        "reconnects: a filter",
    ),
    Mutant(
        "do not keep outputs",
        NODES,
        "queue = QueueState(queue.place + 1, body.time, queue.kept.append(output))",
        "queue = QueueState(queue.place + 1, body.time, queue.kept)",
        "a filter",
    ),
    Mutant(
        "no further checkpoint when one is stored",
        NODES,
        "return _end(state._replace(captured=None, stable=whole), effects)",
        "return Step(state._replace(captured=None, stable=whole), tuple(effects))",
        "no crash",
    ),
    Mutant(
        "a consumer asks for one output too few",
        NODES,
        "return Replay(inlet.place)",
        "return Replay(inlet.place + 1)",
        "a filter",
    ),
    Mutant(
        "the source lets go of one tuple too many",
        "model.queues",
        "kept = state.kept.trim(lambda event: event.sn[0] <= place)",
        "kept = state.kept.trim(lambda event: event.sn[0] <= place + 1)",
        "published-later: one key",
    ),
    Mutant(
        "a consumer begins any answer",
        "model.queues",
        "if answer.request != self.request:",
        "if not answer:",
        "two crashes",
    ),
    Mutant(
        "a consumer takes any tuple",
        "model.queues",
        "return self.request is None and event.sn[0] == self.place + 1",
        "return self.request is None",
        "two crashes",
    ),
)
