"""The answer to a question of lineage: its events one by one, its JSON, and its picture.

Rule of this file: it asks the log about one lineage; questions are read in commands/lineage.py.

An answer may have a million events: they are read from the log as they are needed.
"""

from __future__ import annotations

import json
import typing
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from model.results.lineage import LineageEvent, LineageResult, LineageUse

if TYPE_CHECKING:
    import networkx

    from reports.diagrams.picture import Picture
    from spark_check.log_io.library import Log
    from spark_check.log_io.library.ancestry import Ancestry


class LineageAnswer(typing.Protocol):
    """count: of the events."""

    @property
    def count(self) -> int: ...

    def events(self) -> Iterator[LineageEvent]:
        """Each after those that it was made of."""

    def uses(self) -> Iterator[LineageUse]: ...

    def picture(self, event: str) -> Picture:
        """The lineage of this event."""


class AnswerOfEvents:
    """The lineage of an event."""

    def __init__(self, log: Log, ancestry: Ancestry, ahead: bool) -> None:
        self._log, self._ancestry, self._ahead = log, ancestry, ahead

    @property
    def count(self) -> int:
        return len(self._ancestry) - 1

    def events(self) -> Iterator[LineageEvent]:
        from spark_check.log_io.library.ancestry import bodies

        one = self._ancestry
        for at, body in bodies(self._log, one.found(), one.key):
            yield event_of(one.key(at), one.name(at), body, bool(one.sources[at]))

    def uses(self) -> Iterator[LineageUse]:
        name = self._ancestry.name
        return (LineageUse(name(one), name(other)) for one, other in self._ancestry.uses())

    def picture(self, event: str) -> Picture:
        from reports.diagrams.lineage import picture
        from reports.diagrams.lineage_sketch import sketch
        from spark_check.log_io.library.ancestry import bodies

        one, ahead = self._ancestry, self._ahead
        events, uses = len(one), sum(1 for _ in one.uses())
        graph, shown = sketch([0], one.away(ahead), one.key, ahead=ahead, events=events)
        for at, body in bodies(self._log, shown, one.key):
            graph.add_node(shown[at], name=one.name(at), body=body, is_source=bool(one.sources[at]))
        return picture(graph, one.key(0), title=event, events=events, uses=uses)


class AnswerOfRecords:
    """The records behind some records of an event, of which those of sources are the answer."""

    def __init__(self, graph: networkx.DiGraph, asked: Sequence[Any]) -> None:
        self._graph, self._asked = graph, asked

    @property
    def count(self) -> int:
        return sum(1 for _ in self._found())

    def _found(self) -> Iterator[Any]:
        import networkx

        asked = {*self._asked}
        for step in networkx.topological_generations(self._graph):
            nodes = (one for one in sorted(step) if one not in asked)
            yield from (one for one in nodes if self._graph.nodes[one]["is_source"])

    def events(self) -> Iterator[LineageEvent]:
        for node in self._found():
            found = self._graph.nodes[node]
            yield event_of(node[:4], found["name"], found["body"], True)

    def uses(self) -> Iterator[LineageUse]:
        names = self._graph.nodes(data="name")
        edges = dict.fromkeys(
            (names[one], names[other]) for one, other in sorted(self._graph.edges)
        )
        return (LineageUse(one, other) for one, other in edges)

    def picture(self, event: str) -> Picture:
        from reports.diagrams.lineage import picture
        from reports.diagrams.lineage_sketch import sketch

        whole = self._graph
        nodes = [*whole]
        numbers = {node: at for at, node in enumerate(nodes)}
        graph, shown = sketch(
            [numbers[one] for one in self._asked],
            lambda at: (numbers[one] for one in whole.predecessors(nodes[at])),
            nodes.__getitem__,
            ahead=False,
            events=len(nodes),
        )
        for node in shown.values():
            graph.add_node(node, **whole.nodes[node])
        uses = whole.number_of_edges()
        return picture(graph, *self._asked, title=event, events=len(nodes), uses=uses)


def event_of(key: Any, name: str, body: bytes, is_source: bool) -> LineageEvent:
    from spark_check.log_io.library.lineage import kind_of

    return LineageEvent(
        event=name,
        kind=kind_of(key).value,
        source=is_source,
        body=body.decode(errors="replace"),
        base64=_not_text(body),
    )


def _not_text(body: bytes) -> str | None:
    """The body in base64, if it is not UTF-8."""
    try:
        body.decode()
    except UnicodeDecodeError:
        return b64encode(body).decode()
    return None


def json_of(result: LineageResult, answer: LineageAnswer) -> str:
    """The result as JSON, with all events and uses of the answer, whatever the result has."""
    from model.results.plain import plain

    fields = plain(result)
    found, edges = _array(answer.events()), _array(answer.uses())
    kept = ((name, one) for name, one in fields.items() if name not in ("found", "edges"))
    parts = [_text({name: one}, indent=2)[2:-2] for name, one in kept]
    parts += [f'  "found": {found}', f'  "edges": {edges}']
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _array(items: Iterable[Any]) -> str:
    """An array of objects without objects in them."""
    from model.results.plain import plain

    texts = []
    for one in items:
        pairs = (f'      "{name}": {_text(value)}' for name, value in plain(one).items())
        texts.append("    {\n" + ",\n".join(pairs) + "\n    }")
    return "[\n" + ",\n".join(texts) + "\n  ]" if texts else "[]"


def _text(value: Any, indent: int | None = None) -> str:
    """JSON.  Half a character of UTF-16, which no file holds, is written as its number."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text
