"""A producer: the output queue, its readers, and the tuples that are sent again.

Rule of this file: no choice when an output may leave; `send` sends what a family hands it.
Hwang et al., Sections 2 and 5.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from model.core import REPLAYED, Effect, NodeName, Note, Send, Site
from model.log import Log
from model.predicates import Predicate
from model.queues import TRIMMED
from model.standbys.choices import Again
from model.standbys.messages import Ack, Begin, Connect, Output


class QueueReader(NamedTuple):
    """A consumer of an output queue.  names: the replicas that count as this one.  target: the one
    that gets the tuples, "" while nobody knows which one that is.  received, released: as in Ack.
    has: the last tuple that it has from another producer and wants no more; None: it was asked, and
    has not answered.  stream: the outputs of its stream; None: all.
    """

    names: tuple[NodeName, ...]
    target: NodeName
    received: int = 0
    released: int = 0
    has: int | None = 0
    stream: Predicate | None = None

    def gets(self, output: Output) -> bool:
        """Is the output in its stream?"""
        return self.stream is None or self.stream.holds(output.body)


class OutputQueue(NamedTuple):
    """The output queue of a node: the number of the newest tuple, the tuples that are kept, the
    readers.  Its streams share the numbers."""

    readers: tuple[QueueReader, ...]
    place: int = 0
    kept: Log[Output] = Log()

    @property
    def received(self) -> int:
        """The last tuple that all readers have."""
        return min(self._before(reader, reader.received) for reader in self.readers)

    @property
    def released(self) -> int:
        """The last tuple that no reader needs."""
        return min(self._before(reader, reader.released) for reader in self.readers)

    def of_acknowledged_streams(self) -> OutputQueue:
        """The queue without readers that have acknowledged nothing; all of them, if none has."""
        readers = tuple(reader for reader in self.readers if reader.received)
        return self._replace(readers=readers or self.readers)

    def _before(self, reader: QueueReader, place: int) -> int:
        """The last tuple before the next one of the reader's stream."""
        if reader.stream is None:
            return place
        later = (one for one in self.kept if one.place > place and reader.gets(one))
        return next((one.place - 1 for one in later), max(place, self.place))


def open_queue(site: Site, *, both: bool = False) -> OutputQueue:
    """An empty queue.  both: each replica of a consumer is a reader of its own."""
    below = [*zip(site.config.below, site.config.streams, strict=True)]
    if both:
        below = [((name,), stream) for names, stream in below for name in names]
    return OutputQueue(tuple(QueueReader(names, names[0], stream=one) for names, one in below))


def put(queue: OutputQueue, output: Output) -> OutputQueue:
    """The queue with one more tuple, which has the next number."""
    return queue._replace(place=output.place, kept=queue.kept.append(output))


def send(queue: OutputQueue, outputs: Iterable[Output]) -> tuple[Send, ...]:
    """Send the outputs to all readers that are known and do not have them."""
    readers = [reader for reader in queue.readers if reader.target]
    return tuple(
        Send(reader.target, output)
        for output in outputs
        for reader in readers
        if output.place > (reader.has or 0) and reader.gets(output)
    )


def ask(queue: OutputQueue) -> OutputQueue:
    """The queue whose readers have been asked for the last tuple that they have."""
    return queue._replace(readers=tuple(reader._replace(has=None) for reader in queue.readers))


def answer(again: Again, queue: OutputQueue, sender: NodeName, place: int) -> OutputQueue:
    """The queue after the answer of a reader."""
    has = place - 1 if again is Again.FROM else place
    readers = (r._replace(has=has) if sender in r.names else r for r in queue.readers)
    return queue._replace(readers=tuple(readers))


def waits(queue: OutputQueue) -> bool:
    """Has a reader not answered yet?"""
    return any(reader.has is None for reader in queue.readers)


def hear(queue: OutputQueue, sender: NodeName, ack: Ack) -> tuple[OutputQueue, tuple[Note, ...]]:
    """The queue after an acknowledgement."""
    readers = tuple(
        reader._replace(
            received=max(reader.received, ack.received), released=max(reader.released, ack.released)
        )
        if sender in reader.names
        else reader
        for reader in queue.readers
    )
    return trim(queue._replace(readers=readers))


def trim(queue: OutputQueue) -> tuple[OutputQueue, tuple[Note, ...]]:
    kept = queue.kept.trim(lambda output: output.place <= queue.released)
    gone = len(queue.kept) - len(kept)
    return queue._replace(kept=kept), ((Note(TRIMMED, gone),) if gone else ())


def connect(
    queue: OutputQueue, sender: NodeName, request: Connect
) -> tuple[OutputQueue, tuple[Effect, ...]]:
    """Send the stream to this replica from now on, with what is kept if it asks for that.

    What it had acknowledged, it may have lost.
    """
    done = queue.released
    readers = tuple(
        reader._replace(target=sender, received=done, released=done, has=0)
        if sender in reader.names
        else reader
        for reader in queue.readers
    )
    again = [*queue.kept] if request.kept else []
    start = again[0].place - 1 if again else queue.place
    own = next(reader for reader in readers if sender in reader.names)
    again = [output for output in again if own.gets(output)]
    sends = (Send(sender, one) for one in (Begin(start), *again))
    return queue._replace(readers=readers), (Note(REPLAYED, len(again)), *sends)
