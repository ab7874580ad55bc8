"""Readings of Algorithms 1 to 9 that the mended text does not have.

Rule of this file: quotations, and the lines that each of them means; no verdict.
"""

from __future__ import annotations

from model.patches import Change, Reading

ACTIONS = "model.protocols.log_io.sources.actions"
GENERATION = "model.protocols.log_io.operators.generation"
OPERATOR = "model.protocols.log_io.operators.operator"
RECOVERY = "model.protocols.log_io.operators.recovery"
WRITES = "model.protocols.log_io.writing.writes"
SURROUNDINGS = "model.protocols.log_io.surroundings"

# --- Algorithm 2 -----------------------------------------------------------------------------
SMALLER = Reading(
    'Algorithm 2, step 1: discard an event if its number "is smaller than the greatest event_ID '
    'received"',
    (
        Change(
            OPERATOR,
            "if event.number <= last:  # step 1: filtering",
            "if event.number < last:  # step 1: filtering",
        ),
    ),
)
FILTER_IS_ARRAY = Reading(
    'Algorithm 2, step 2: "an array of the latest event_ID from each input port", read as the '
    "numbers of the filter (step 1)",
    (
        Change(
            OPERATOR,
            "array = none if spec.design.greatest is Known.EVENT_LOG else None",
            "array = None",
        ),
        Change(
            RECOVERY,
            "array=stored.last if design.greatest is Known.EVENT_LOG else None,",
            "array=None,",
        ),
    ),
)
OWN_ARRAY = Reading(
    'Algorithm 2, step 2: "an array of the latest event_ID from each input port", beside the '
    "numbers of the filter",
    (
        Change(
            RECOVERY,
            "last=stored.last if design.greatest is Known.CONTEXT else logged,",
            "last=stored.last,",
        ),
    ),
)
NO_ARRAY = Reading(
    'Algorithm 9, step 2.b, without its words "if not already done"',
    (Change(OPERATOR, "if not _has_updated(site, state, taken):", "if True:"),),
)

# --- Algorithm 9 -----------------------------------------------------------------------------
SENT_FROM_LOG = Reading(
    'Algorithm 9, step 1: "the latest event_ID sent on each output port is retrieved from '
    'EVENT_LOG"',
    (
        Change(
            RECOVERY,
            "sent=stored.sent,",
            "sent=tuple(dict(found.sent).get(name, 0) for name in site.succs),",
        ),
    ),
)
TRIGGERS_AGAIN = Reading(
    'Algorithm 9, step 2.c: "If a triggering condition evaluates to true, then the Generation '
    'phase is triggered", also for an input that a condition has seen',
    (
        Change(
            OPERATOR,
            "return _gather(site, state, taken), ()",
            "return _update(site, state, taken, again=True)",
        ),
        Change(
            OPERATOR,
            "site: Site, state: RunningOperator, taken: Taken, value: int | None = None",
            "site: Site, state: RunningOperator, taken: Taken, value: int | None = None, "
            "again=False",
        ),
        Change(
            OPERATOR,
            "box = logic.update(state.box, item, key)  # step 2",
            "box = (logic.gather if again else logic.update)(state.box, item, key)  # step 2",
        ),
    ),
)
INTO_ALL_SETS = Reading(
    'Algorithm 9, step 2.b, without "only": an undone input goes into all its Input Sets',
    (
        Change(
            OPERATOR,
            "return _update_again(site, state, Taken(item, row.number, key, row.inset))",
            """
            effects = ()
            for key in keys:
                taken = Taken(item, row.number, key, row.inset)
                state, more = _update_again(site, state, taken)
                effects += more
            return state, effects
            """,
        ),
    ),
)
BY_NUMBER = Reading(
    "Algorithm 9, step 2, which has no order for the Input Sets of one input: in that of their "
    "numbers",
    (
        Change(
            RECOVERY,
            "place = row.inset % site.spec.logic.functions",
            "place = row.inset",
        ),
    ),
)
_UNORDERED = Change(
    OPERATOR,
    "return len(site.preds) > 1 and bool(site.spec.logic.several)",
    "return False",
)
ROUND_ROBIN = Reading(
    'Algorithm 9, step 2: rows are replayed "in a round-robin fashion between port IDs"; "this '
    'processing order could occur"',
    (
        _UNORDERED,
        Change(
            RECOVERY,
            "return tuple(sorted(rows, key=lambda row: row.order))",
            """
            turns = {}
            for name in site.preds:
                numbers = sorted({row.number for row in rows if row.sender == name})
                turns |= {(name, number): turn for turn, number in enumerate(numbers)}
            return tuple(sorted(rows, key=lambda row: (turns[row.sender, row.number], row.sender)))
            """,
        ),
    ),
)
PORT_BY_PORT = Reading(
    "Algorithm 9, step 2: one port after the other",
    (_UNORDERED,),
)
INPUTS_LOST = Reading(
    'Algorithm 9, step 3: "An input event that was successfully sent to OP and not acknowledged is '
    'in the reliable communication channel"; nothing is read from the log',
    (
        Change(
            RECOVERY,
            """
            if design.connection is Delivery.LOSSY:
                lost = found.unassigned
                held += (Received(row.sender, Put(row.number, row.data)) for row in lost)
            """,
            "",
        ),
    ),
)

# --- several Input Sets of one function ------------------------------------------------------
SETS_ALONE = Reading(
    'Listing 2: "If more than one Input Set matches the triggering conditions, the block of code '
    'that follows ... is repeated": a transaction for each',
    (
        Change(
            GENERATION,
            """
            state, effects = hand_on(site, state, rows)  # steps 5 and 6
            if site.spec.replays:
                return state, replays.log_a_part(site, commits, effects)
            return state, (Send(LOG, transaction(commits)), *effects)
            """,
            """
            effects = ()
            for commit in commits:
                state, more = hand_on(site, state, commit.outputs)
                effects = (*effects, Send(LOG, commit), *more)
            return state, effects
            """,
        ),
    ),
)
ROWS_ALONE = Reading(
    'Algorithm 9, step 2: "Each event ... with InSet_ID ... is then processed": row by row',
    (
        Change(
            OPERATOR,
            "others = [*takewhile(lambda one: _is_of(one, row), state.held)]",
            "others = []",
        ),
    ),
)

# --- Algorithms 1, 3, 5 and 8 ----------------------------------------------------------------
REPEATED = Reading(
    "Algorithm 1, step 3, for a read action that is not replayable: it is executed again",
    (
        Change(
            ACTIONS,
            "return bool(site.spec.design.reads is not Reads.REPLAYABLE)",
            "return False",
        ),
    ),
)
STATE_OF_FUNCTION = Reading(
    'Algorithm 3, step 2: "If [the function] uses a global state"; one that the condition alone '
    "uses is not stored, the numbers of the context are",
    (
        Change(
            GENERATION,
            "box = site.spec.logic.global_state(state.box)",
            """
            logic = site.spec.logic
            unused = logic.gathers  # the function of a gathering operator takes its Input Set alone
            box = logic.global_state(logic.begin(len(site.preds)) if unused else state.box)
            """,
        ),
    ),
)
NEVER_ENDS = Reading(
    'Algorithm 1, step 2.c(3): "if [the output] is last event, set status" of the action "to '
    'done"; an empty effect has no last event',
    (
        Change(
            ACTIONS,
            "if not effect:  # step 2.c(3), where no event is the last one",
            "if False:",
        ),
    ),
)
FROM_STORE = Reading(
    "Algorithm 6, steps 3 and 4, changed: an effect that is in the store is not read again, though "
    "the action is not complete",
    (
        Change(
            ACTIONS,
            "elif action is not None and action.complete:  # step 3.b",
            "elif action is not None and (action.complete or action.effect is not None):",
        ),
    ),
)
OUTPUTS_FIRST = Reading(
    "Algorithm 3, steps 5 and 6: outputs are sent, and then writes are executed",
    (Change(WRITES, "if not back:", "if True:"),),
)
WRITES_FIRST = Reading(
    'Section 3.5.1: "Steps 5 and 6 can be reordered", in Algorithms 7 and 8 as well; no output '
    "waits for the success of a write",
    (
        Change(
            WRITES,
            "after = frozenset(write[:2] for write in state.pending if write.sink in back)",
            "after = frozenset()",
        ),
    ),
)
TOGETHER = Reading(
    'Algorithm 8, step 2: "For each returned write action": all that are pending at once',
    (
        Change(
            WRITES,
            """
            if not state.pending:  # one by one
                effects.append(_execute(write))
            """,
            "effects.append(_execute(write))",
        ),
        Change(WRITES, "more = (_execute(left[0]),)", "more = ()"),
    ),
)
STATUS_OF_GROUP = Reading(
    'Algorithm 8, step 2.a: "the status of" a write, which is that of its whole group',
    (
        Change(
            SURROUNDINGS,
            "answer = MissingGroup(missing) if missing else Success(writes[-1].number)",
            "answer = MissingGroup(writes) if missing else Success(writes[-1].number)",
        ),
    ),
)
