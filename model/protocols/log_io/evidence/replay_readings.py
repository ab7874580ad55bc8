"""Readings of Section 5 that the mended text does not have.

Rule of this file: quotations, and the lines that each of them means; no verdict.
"""

from __future__ import annotations

from model.patches import Change, Reading

ROOM = "model.protocols.log_io.replaying"
OPERATORS, DATABASE, ENGINE = f"{ROOM}.operators", f"{ROOM}.log", f"{ROOM}.engine"
MESSAGES, GENERATION = f"{ROOM}.messages", f"{ROOM}.generation"
OPERATOR = "model.protocols.log_io.operators.operator"
DISPLAY = "model.protocols.log_io.display"
FILTER = "if event.number <= last:  # step 1: filtering"

AT_FAILURE = Reading(
    '5.2: "when an operator OP fails", the replay operators before it are restarted; the engine '
    "has them look for marked outputs then",
    (
        Change(
            ENGINE,
            """
            case Lost():  # who restarts marks the inputs that it lacks, and asks then
                return None, ()
            """,
            """
            case Lost(node):
                operators = dict(site.config).get(node, ())
                return None, tuple(Send(name, Regenerate()) for name in operators)
            """,
        ),
        Change(
            OPERATORS,
            "return (*note(LACKED, len(keys)), Send(LOG, Mark(keys)), Send(ENGINE, asked))",
            "return (*note(LACKED, len(keys)), Send(LOG, Mark(keys)))",
        ),
    ),
)
BY_STATE = Reading(
    'Algorithm 10, step 2: "in state restarted (resp. in state replay)": the unassigned outputs, '
    "or the marked ones",
    (
        Change(
            DATABASE,
            "return tables, _sets(tables, node, unassigned=True, marked=True)",
            "return tables, _sets(tables, node, unassigned=True, marked=False)",
        ),
    ),
)
WHOLE_SETS = Reading(
    'Algorithm 10, step 4: "set all output events to recover to status replay", and 5.2: they '
    '"are marked as undone": all that were generated from the same Input Set',
    (
        Change(
            MESSAGES,
            "class LogData(NamedTuple):",
            '''
            class Reopen(NamedTuple):
                """These events are undone."""

                keys: tuple[Key, ...]


            class LogData(NamedTuple):
            ''',
        ),
        Change(
            DATABASE,
            "case LogData(outputs):",
            """
            case Reopen(keys):
                changed = {key: {"done": False} for key in keys}
            case LogData(outputs):
            """,
        ),
        Change(
            DATABASE,
            "RULES: Rules = {Mark: _mark, Recall: _recall, Reset: _change, LogData: _change}",
            """
            RULES: Rules = {
                Mark: _mark, Recall: _recall, Reset: _change, Reopen: _change, LogData: _change
            }
            """,
        ),
        Change(
            DATABASE,
            "from model.protocols.log_io.tables import (",
            """
            from model.protocols.log_io.replaying.messages import Reopen
            from model.protocols.log_io.tables import (
            """,
        ),
        Change(
            OPERATORS,
            "from model.protocols.log_io.states import RunningOperator",
            """
            from model.protocols.log_io.replaying.messages import Reopen
            from model.protocols.log_io.states import RunningOperator
            """,
        ),
        Change(
            OPERATORS,
            "effects += _generate_again(site, again.pop(0))",
            """
            effects.append(Send(LOG, Reopen(again[0].outputs)))
            effects += _generate_again(site, again.pop(0))
            """,
        ),
    ),
)
RESET_BY_SENDER = Reading(
    '5.2, of step 4 of Algorithm 3: "output events with status replay are marked as undone", by '
    "their sender",
    (
        Change(
            OPERATORS,
            "return state, (Send(LOG, Reset((key,))), *effects)",
            "return state, effects",
        ),
        Change(
            OPERATORS,
            "return (*note(REGENERATED, len(sends)), *sends)",
            """
            reset = Send(LOG, Reset(tuple(key for key, _ in one.wanted)))
            return (*note(REGENERATED, len(sends)), reset, *sends)
            """,
        ),
    ),
)
LATEST_STATE = Reading(
    'Algorithm 11, step 2: "restore the global state from STATE", which is the latest one',
    (Change(DATABASE, "box,", "dict(tables.contexts)[node].box,"),),
)
DISCARDS_OTHERS = Reading(
    'Algorithm 11, step 4.a: "non replay events received on a port connected to a replay operator '
    'are discarded"; the sender sends them again after the replayed ones',
    (
        Change(
            OPERATOR,
            FILTER,
            f"""
            replaying = site.spec.design.replaying
            waits = bool(replays.lacking(state)) and not event.replay
            if waits and pred in replaying.operators:
                return state, (Note(DISCARDED), *drops)
            {FILTER}
            """,
        ),
        Change(
            DATABASE,
            "if unassigned:",
            """
            first = min((row.number for row in mine if row.replay), default=0)
            if marked and first:
                waiting = [row for row in mine if not row.done and not row.inset]
                yield from ((row.key, False) for row in waiting if row.number > first)
            if unassigned:
            """,
        ),
    ),
)
RUNNING_DISCARDS = Reading(
    '5.2: "An operator in state running discards replay input events"',
    (
        Change(
            OPERATOR,
            FILTER,
            f"""
            if event.replay and not replays.lacking(state):
                return state, (Note(DISCARDED), *drops)
            {FILTER}
            """,
        ),
    ),
)
ACCEPTS_ANY = Reading(
    '5.2: "it accepts replay events without applying the filtering condition", also those that it '
    "does not wait for",
    (
        Change(
            OPERATOR,
            FILTER,
            f"""
            if event.replay and replays.lacking(state):
                return _accept(site, state, edge, event, drops)
            {FILTER}
            """,
        ),
    ),
)
ASSIGNS_AGAIN = Reading(
    'Algorithm 11, step 4.a: a replayed event is "processed through the State Update phase", which '
    "assigns it again",
    (
        Change(
            OPERATOR,
            "item = Item(edge, row.data, frozenset({Of(edge, row.number)}))  # step 2.a",
            """
            replaying = site.spec.design.replaying
            if replaying is not None and row.sender in replaying.operators:
                return _accept(site, state, edge, Put(row.number, row.data), ())
            item = Item(edge, row.data, frozenset({Of(edge, row.number)}))
            """,
        ),
    ),
)
_KEPT_WHILE_LOGGED = Change(DATABASE, "or row.replay", "")
KEEPS_NOTHING = Reading(
    'Section 3.6: events "can be removed as soon as they are done", without its exception',
    (
        _KEPT_WHILE_LOGGED,
        Change(
            "model.protocols.log_io.log",
            "return design.replaying is None or row.receiver not in design.replaying.operators",
            "return True",
        ),
    ),
)
KEEPS_WHILE_LOGGED = Reading(
    'Section 3.6 has "an exception" for replay operators: done inputs are kept while an output '
    "that was made of them is logged",
    (_KEPT_WHILE_LOGGED,),
)
OLD_MARKS = Reading(
    "Section 5 has no word on marks that a node made before it crashed: they stay",
    (
        Change(
            DATABASE,
            """
            keys = (row.key for row in tables.events if row.receiver == node and row.replay)
            tables = change(tables, Reset(tuple(keys)))
            """,
            "",
        ),
    ),
)
GONE_UNNOTICED = Reading(
    "Section 5 has no word on an input to mark that is no longer logged: nobody hears of it",
    (Change(DATABASE, "if absent:", "if False:"),),
)
ROWS_LATER = Reading(
    '5.2, at the end: "output events are sent before logging", the whole transaction of Algorithm '
    "3, step 4",
    (
        Change(
            GENERATION,
            "return (logged, *effects)",
            "return (*effects, Send(LOG, transaction(commits)))",
        ),
    ),
)
