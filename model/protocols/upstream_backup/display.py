"""Messages, states and results of upstream backup, for people and for price lists.

Rule of this file: nothing that changes the behaviour.
"""

from __future__ import annotations

from model.cep.skips import Ranges
from model.costs import EVENT, MessageKind, Size
from model.events import SN, Event, Mark
from model.protocols.upstream_backup.buffers import (
    Ack,
    Hello,
    Restore,
)
from model.protocols.upstream_backup.savepoints import (
    NumberedOperator,
)
from model.protocols.upstream_backup.states import OperatorNode, SourceNode, count_items

MARK, HELLO = Size(MessageKind.CONTROL, name="mark"), Size(MessageKind.RECOVERY, name="hello")


def size(message: object) -> Size:
    """The size of a message; items are skip ranges, savepoints and the windows of layouts."""
    if isinstance(message, Event):
        return EVENT
    if isinstance(message, Ack):
        items = len(message.skips) + count_items(message.replicas)
        return Size(MessageKind.ACKNOWLEDGEMENT, 0, items, "ack")
    if isinstance(message, Restore):
        return Size(MessageKind.RECOVERY, 0, count_items(message.replicas), "restore")
    return MARK if isinstance(message, Mark) else HELLO


def show(value: object) -> str:
    """A message or the windows of a node's state in a few words; see docs/reference/model.md."""
    match value:
        case Event(sn, body):
            return f"{body.type}{_sn(sn)}"
        case Mark(time):
            return f"mark {time}"
        case Ack(trim, skips, _):
            return f"ack {_sn(trim)}{_skips(skips)}"
        case Hello():
            return "hello"
        case Restore(replicas):
            return "restore " + (" ".join(f"{n}@{_sn(s.trim[0])}" for n, s in replicas) or "empty")
        case SourceNode() | OperatorNode(operator=None):
            return ""
        case OperatorNode(operator=NumberedOperator() as operator):
            windows = [f"w{w.number}" for w in operator.closed]
            windows += [f"w{w.number}+" for w in operator.open]
            return " ".join(windows)
        case _:
            return ""


def _sn(sn: SN) -> str:
    return ":".join(map(str, sn)) or "0"


def _skips(skips: Ranges) -> str:
    return " skip " + " ".join(f"{_sn(lo)}-{_sn(hi)}" for lo, hi in skips) if skips else ""
