"""How to show and to size what LOG.io's nodes hold and send.

Rule of this file: texts and sizes; no step of a node.
"""

from __future__ import annotations

from typing import Any

from model.costs import NO_STATES, CarriedStates, Size
from model.costs import MessageKind as Kind
from model.protocols.log_io.messages import (
    Acknowledge,
    Assign,
    Begin,
    Check,
    CheckGroup,
    Commit,
    CommitAll,
    Complete,
    Discard,
    Drop,
    Executed,
    ExecutedGroup,
    GroupedWrite,
    Look,
    Missing,
    MissingGroup,
    Peek,
    Put,
    Query,
    Reply,
    Restore,
    Restored,
    Store,
    StoreRead,
    Success,
    Write,
    WriteGroup,
)
from model.protocols.log_io.processes import EpochProcess, Granted, Stamped, Start
from model.protocols.log_io.replaying.messages import (
    Absent,
    Ask,
    LogData,
    Mark,
    Recall,
    Recalled,
    Regenerate,
    Reset,
)
from model.protocols.log_io.scaling.messages import (
    Add,
    Added,
    Back,
    Chosen,
    Close,
    Deploy,
    Deployed,
    Move,
    Open,
    Remove,
    Removed,
    Resent,
    Watch,
)
from model.protocols.log_io.slow_systems import HandOver
from model.protocols.log_io.states import (
    Connected,
    Controller,
    Image,
    Recovering,
    RunningOperator,
    Source,
)
from model.protocols.log_io.tables import ContextRow, LogDatabase


def show(value: Any) -> str:
    match value:
        case Put(number, body, replay):
            return f"{'again ' if replay else ''}event {number} {body.type}"
        case Write(number, body) | GroupedWrite(number, body):
            return f"write {number} {body.type}"
        case Check(number) | Missing(number) | Drop(number) | Success(number) | Look(_, number):
            return f"{type(value).__name__.lower()} {number}"
        case WriteGroup(writes) | CheckGroup(writes) | MissingGroup(writes):
            return f"{type(value).__name__.lower()} {', '.join(str(one.number) for one in writes)}"
        case ExecutedGroup(sink, numbers):
            return f"writes {', '.join(map(str, numbers))} to {sink} done"
        case Assign(sender, number, insets):
            return f"{number} of {sender} into set {', '.join(map(str, insets))}"
        case Commit(outputs, _, inset):
            return f"{len(outputs)} logged" + (f", set {inset} done" if inset else "")
        case Executed(sink, number):
            return f"write {number} to {sink} done"
        case Restored(_, outputs, assigned):
            return f"{len(outputs)} undone outputs, {len(assigned)} inputs"
        case RunningOperator():
            return f"sets {[inset for _, inset in value.open]}, {len(value.pending)} writes"
        case Source():
            return "reading" if value.reading else ""
        case LogDatabase(events):
            return f"{sum(not event.done for event in events)} undone"
        case Connected(held):
            return f"{len(held)} held"
        case Recovering(held):
            return f"recovering, {len(held)} held"
        case Reply(value):
            return f"value {value}"
        case Restore() | Peek() | Query() | Ask() | Regenerate() | Recall() | Back() | Watch():
            return type(value).__name__.lower()
        case Add() | Added() | Deploy() | Deployed() | Open() | Remove() | Removed() | Close():
            return type(value).__name__.lower()
        case Mark(keys) | Reset(keys) | Absent(keys):
            named = ", ".join(f"{number} of {sender}" for sender, _, number in keys)
            return f"{type(value).__name__.lower()} {named}"
        case Recalled(sets):
            return f"{len(sets)} sets to replay"
        case LogData(outputs):
            return f"data of {len(outputs)}"
        case Controller(_, left):
            return f"{len(left)} tasks left"
        case Image():
            return value.name.lower()
        case Move(rows=rows) | Chosen(_, rows) | Resent(rows):
            return f"{type(value).__name__.lower()} {len(rows)}"
        case _:
            return _show_transaction(value)


def _show_transaction(value: Any) -> str:
    """A transaction of a read action, or of several Input Sets; "" for anything else."""
    match value:
        case CommitAll(parts):
            return ", ".join(map(show, parts))
        case Acknowledge(number):
            return f"acknowledge {number}"
        case Begin(number):
            return f"action {number} begun"
        case Store() | StoreRead():
            return "effect stored"
        case Complete():
            return "action complete"
        case Discard():
            return "effect discarded"
    return _show_process(value)


def _show_process(value: Any) -> str:
    match value:
        case Stamped(epoch, message):
            return f"epoch {epoch}: {show(message)}"
        case Granted(granted):
            return "granted" if granted else "refused"
        case EpochProcess(epoch, state):
            return f"epoch {epoch}, {show(state)}"
        case Start():
            return "start"
        case HandOver():
            return "handed over"
    return ""


def size(message: Any) -> Size:
    match message:
        case Stamped(_, inner):
            return size(inner)
        case Put() | Write() | GroupedWrite():
            return Size(Kind.EVENT, 1)
        case WriteGroup(writes):
            return Size(Kind.EVENT, len(writes))
        case Drop() | Success() | Acknowledge():
            return Size(Kind.ACKNOWLEDGEMENT)
        case Begin() | Store() | StoreRead() | Complete() | Discard() | Mark() | Reset():
            return Size(Kind.CHECKPOINT, name="transactions")
        case Assign() | Executed() | ExecutedGroup():
            return Size(Kind.CHECKPOINT, name="transactions")
        case Commit(outputs) | LogData(outputs):
            data = sum(row.body is not None for row in outputs)
            return Size(Kind.CHECKPOINT, data, 1, "transactions")
        case CommitAll(parts):
            return Size(Kind.CHECKPOINT, sum(size(one).events for one in parts), 1, "transactions")
        case Move(rows=rows):
            return Size(Kind.CHECKPOINT, len(rows), 1, "transactions")
        case Recalled(sets):
            return Size(Kind.RECOVERY, sum(len(one.inputs) for one in sets), 1)
        case Ask() | Regenerate() | Recall() | Absent():
            return Size(Kind.RECOVERY)
        case Restored(_, outputs, assigned, unassigned):
            return Size(Kind.RECOVERY, len(outputs) + len(assigned) + len(unassigned), 1)
        case Restore() | Peek() | Check() | Missing() | CheckGroup() | MissingGroup():
            return Size(Kind.RECOVERY)
        case _:
            events = 1 if hasattr(message, "body") else 0
            return Size(Kind.EVENT if events else Kind.CONTROL, events)


def states(value: Any) -> CarriedStates:
    """The operator's global state in a transaction or in an answer of the log, or its whole state
    in memory."""
    match value:
        case Stamped(_, inner) | EpochProcess(_, inner):
            return states(inner)
        case Commit(_, context) | Restored(ContextRow() as context):
            return CarriedStates((context.box,))
        case CommitAll(parts):
            return states(parts[-1])
        case RunningOperator(box):
            return CarriedStates((box,))
        case _:
            return NO_STATES
