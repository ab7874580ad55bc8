"""Faults written into two right protocols, and the bound that hides each of them.

Rule of this file: data.  The protocols are `hello` of `asif init` and docs/examples/relay.py.  A
fault that a scope reaches has no bound here: it is refuted.

Half of them are of the kinds that hide: a type of event that no scope has, equal times, numbers
that wrap, another restart, a late time, a source that trims nothing, a node that keeps everything,
results that name a wrong input.
"""

from __future__ import annotations

from typing import NamedTuple


class ReachFault(NamedTuple):
    """changes: (old, new) pieces of the source.  bound: the words by which `asif check` names the
    bound that hides the fault; empty: a scope refutes it.  silent: it holds, and no word names
    it."""

    name: str
    changes: tuple[tuple[str, str], ...]
    bound: str = ""
    silent: bool = False


PROCESS = "    operator, (*_, produced, _) = process(site.spec, state.operator, body)\n"
BODY = "Event((last + 1,), Body(now + gap, type_, data))"
KEPT = "(*state.kept, result)"
HISTORY = (
    (
        "    kept: tuple[Result, ...] = ()\n",
        "    kept: tuple[Result, ...] = ()\n    past: Any = ()\n",
    ),
    (
        f"Savepoint(number, operator, {KEPT})",
        f"Savepoint(number, operator, {KEPT}, (*state.past, body))",
    ),
)
LENGTH = "up to 2 of a source"
HELLO = (
    ReachFault(
        "an event of type c is taken for one of type a",
        (
            (
                PROCESS,
                "    body = body._replace(type='a' if body.type == 'c' else body.type)\n" + PROCESS,
            ),
        ),
        "types a, b,",
    ),
    ReachFault(
        "an operator asks for an event that never comes",
        (('sequence("a", "b")', 'sequence("a", "c")'),),
        "NONE of type c",
    ),
    ReachFault(
        "equal times become different",
        ((BODY, BODY.replace("now + gap", "now + max(gap, 1)")),),
        "no two at one time",
    ),
    ReachFault(
        "a long gap is cut",
        ((BODY, BODY.replace("now + gap", "now + min(gap, 3)")),),
        "gaps of 1,",
    ),
    ReachFault(
        "attributes are lost",
        ((BODY, BODY.replace("data", "()")),),
        "no attributes",
    ),
    ReachFault(
        "numbers are modulo 6",
        ((BODY, BODY.replace("(last + 1,)", "((last + 1) % 6,)")),),
        "numbers to 2",
    ),
    ReachFault(
        "an event at time 9 is dropped",
        ((PROCESS, "    body = body._replace(type='') if body.time == 9 else body\n" + PROCESS),),
        "times: up to 2",
    ),
    ReachFault(
        "the sixth event is dropped",
        ((PROCESS, "    body = body._replace(type='') if number == 6 else body\n" + PROCESS),),
        LENGTH,
    ),
    ReachFault(
        "the relay keeps five results at most",
        ((KEPT, f"{KEPT}[-5:]"),),
        "sizes to 2",
    ),
    ReachFault(
        "the fourth restart forgets the results",
        (
            (
                "    kept: tuple[Result, ...] = ()\n",
                "    kept: tuple[Result, ...] = ()\n    restarts: int = 0\n",
            ),
            (
                "    state = durable or boot(site)\n",
                "    state = durable or boot(site)\n"
                "    state = state._replace(restarts=state.restarts + 1)\n"
                "    state = state._replace(kept=()) if state.restarts > 3 else state\n",
            ),
            (
                "return state, (Send(site.preds[0], Saved(state",
                "return state, (Save(state), Send(site.preds[0], Saved(state",
            ),
            (
                f"Savepoint(number, operator, {KEPT})",
                f"Savepoint(number, operator, {KEPT}, state.restarts)",
            ),
        ),
        "crashes: up to 2 in a run, also of one node",
    ),
    ReachFault(
        "the relay saves its whole history",
        HISTORY,
        "relay: past grows to ",
    ),
    ReachFault(
        "the source trims nothing",
        (("if event.sn[0] > number)\n            sends", "if True)\n            sends"),),
        "source: [2] grows to ",
    ),
    ReachFault(
        "the source trims nothing after a restart",
        (
            ("return (0, 0, ()) if", "return (0, 0, (), False) if"),
            (
                "            last, now, kept = state\n            event",
                "            last, now, kept, late = state\n            event",
            ),
            ("(*kept, event)), (Send", "(*kept, event), late), (Send"),
            (
                "            last, now, kept = state\n            kept",
                "            last, now, kept, late = state\n"
                "            late |= again\n            kept",
            ),
            (
                "if event.sn[0] > number)\n            sends",
                "if late or event.sn[0] > number)\n            sends",
            ),
            ("return (last, now, kept), (Note", "return (last, now, kept, late), (Note"),
        ),
        "source: [2] grows to ",
    ),
    ReachFault(
        "the relay drops no acknowledged result",
        (("if result.number > number)", "if True)"),),
        "relay: kept grows to ",
    ),
    ReachFault(
        "results name a wrong input",
        (
            ("Emit((0, body)) for", "Emit((0, body), frozenset({Of(0, 0)})) for"),
            (
                "from asif.protocol import (",
                "from model.boxes.box import Of\nfrom asif.protocol import (",
            ),
        ),
        "not their inputs (a Property of your own)",
    ),
    ReachFault(
        "a relay with two successors sends to the first alone",
        (("if len(scope.graph.nodes) != 3:", "if len(scope.graph.nodes) < 3:"),),
        "no chain, merge, fork, diamond",
    ),
    ReachFault(
        "the source forgets all when it restarts",
        (
            (
                "    state = durable or boot(site)\n",
                "    if site.role is Role.SOURCE:\n        return (0, 0, ()), ()\n"
                "    state = durable or boot(site)\n",
            ),
        ),
        "never sink, source",
    ),
    ReachFault(
        "only the first match of an event is sent",
        (("for _, output in produced)", "for _, output in produced[:1])"),),
    ),
    ReachFault(
        "the results are sent before the save",
        (
            (
                "(Save(state), Send(site.succs[0], result), saved)",
                "(Send(site.succs[0], result), Save(state), saved)",
            ),
        ),
        "one operator (deterministic)",
    ),
    # found by the scopes
    ReachFault(
        "a restart sends no result again",
        (
            (
                "    results = tuple(Send(site.succs[0], result) for result in state.kept)\n",
                "    results = ()\n",
            ),
        ),
    ),
    ReachFault(
        "the relay saves after it says so",
        (
            (
                "(Save(state), Send(site.succs[0], result), saved)",
                "(Send(site.succs[0], result), saved, Save(state))",
            ),
        ),
    ),
    ReachFault("the relay saves nothing", (("(Save(state), Send(", "(Send("),)),
    ReachFault(
        "the sink takes duplicates",
        (("Result(number, bodies)) if number > state:", "Result(number, bodies)):"),),
    ),
    ReachFault(
        "the relay takes what comes early",
        (("if number != state.number + 1:", "if number <= state.number:"),),
    ),
    ReachFault(
        "the source sends nothing again",
        (("for event in kept if again)", "for event in kept if False)"),),
    ),
    ReachFault(
        "the source trims one too many",
        (
            (
                "if event.sn[0] > number)\n            sends",
                "if event.sn[0] > number + 1)\n            sends",
            ),
        ),
    ),
    ReachFault(
        "the relay drops one result too many",
        (("if result.number > number)", "if result.number > number + 1)"),),
        LENGTH,
    ),
)
R_BODY = "Event((state.number + 1,), Body(state.now + gap, type_, data))"
FOUND = "    found = engine.feed(engine.begin(), message.body).matches\n"
SINK = (
    "    return number, (*(Emit((0, body)) for body in bodies), Send(site.preds[0], Ack(number)))"
)
RELAY = (
    ReachFault(
        "an event of type c counts as a",
        (
            (
                FOUND,
                "    if message.body.type == 'c':\n"
                "        message = message._replace(body=message.body._replace(type='a'))\n"
                + FOUND,
            ),
        ),
        "types a, b,",
    ),
    ReachFault(
        "equal times become different",
        (
            (R_BODY, R_BODY.replace("state.now + gap", "state.now + max(gap, 1)")),
            ("event.body.time, state", "event.body.time, state"),
        ),
        "no two at one time",
    ),
    ReachFault(
        "a long gap is cut",
        ((R_BODY, R_BODY.replace("state.now + gap", "state.now + min(gap, 3)")),),
        "gaps of 1,",
    ),
    ReachFault("attributes are lost", ((R_BODY, R_BODY.replace("data", "()")),), "no attributes"),
    ReachFault(
        "numbers are modulo 6",
        ((R_BODY, R_BODY.replace("(state.number + 1,)", "((state.number + 1) % 6,)")),),
        "numbers to 2",
    ),
    ReachFault(
        "an event at time 9 is dropped",
        ((FOUND, FOUND + "    found = () if message.body.time == 9 else found\n"),),
        "times: up to 2",
    ),
    ReachFault(
        "the sixth event is dropped",
        ((FOUND, FOUND + "    found = () if number == 6 else found\n"),),
        LENGTH,
    ),
    ReachFault(
        "the source keeps five events at most",
        (("kept = state.kept.append(event)", "kept = Log().extend([*state.kept, event][-5:])"),),
        "sizes to 2",
    ),
    ReachFault(
        "the fourth restart gets no replay",
        (
            (
                "    kept: Log[Event] = Log()\n",
                "    kept: Log[Event] = Log()\n    hellos: int = 0\n",
            ),
            ("state.number + 1, kept), (Send", "state.number + 1, kept, state.hellos), (Send"),
            (
                "tuple(Send(relay, event) for event in state.kept)",
                "tuple(Send(relay, event) for event in state.kept if state.hellos < 3)",
            ),
            (
                "return state, (Note(REPLAYED, len(again)), *again)",
                "state = state._replace(hellos=state.hellos + 1)\n"
                "            return state, (Note(REPLAYED, len(again)), *again)",
            ),
        ),
        "crashes: up to 2 in a run, also of one node",
    ),
    ReachFault(
        "results name a wrong input",
        (
            (SINK, SINK.replace("Emit((0, body))", "Emit((0, body), frozenset({Of(0, 0)}))")),
            (
                "from asif.protocol import (",
                "from model.boxes.box import Of\nfrom asif.protocol import (",
            ),
        ),
        "their inputs by your own properties alone",
    ),
    ReachFault(
        "the source keeps its whole history",
        (
            (
                "    kept: Log[Event] = Log()\n",
                "    kept: Log[Event] = Log()\n    past: Any = ()\n",
            ),
            (
                "state.number + 1, kept), (Send",
                "state.number + 1, kept, (*state.past, event)), (Send",
            ),
        ),
        "source: past grows to ",
    ),
    ReachFault(
        "only the first match of an event is sent",
        (("for match in found)", "for match in found[:1])"),),
        silent=True,
    ),
    ReachFault(
        "a relay with two successors sends to the first alone",
        (("if len(scope.graph.nodes) != 3:", "if len(scope.graph.nodes) < 3:"),),
        "no chain, merge, fork, diamond",
    ),
    # found by the scopes
    ReachFault(
        "the source trims nothing",
        (("state.kept.trim(lambda event: event.sn[0] <= number)", "state.kept"),),
    ),
    ReachFault("the sink takes duplicates", (("if number <= last:", "if number < last:"),)),
    ReachFault("the sink takes early results", (("if number > last + 1:", "if False:"),)),
    ReachFault(
        "the sink acknowledges no duplicate",
        (
            (
                "return last, (Note(DISCARDED), Send(site.preds[0], Ack(last)))",
                "return last, (Note(DISCARDED),)",
            ),
        ),
    ),
    ReachFault(
        "the source trims one too many", (("event.sn[0] <= number)", "event.sn[0] <= number + 1)"),)
    ),
    ReachFault(
        "a restart says nothing",
        (("return None, (Send(site.preds[0], Hello()),)", "return None, ()"),),
    ),
)
