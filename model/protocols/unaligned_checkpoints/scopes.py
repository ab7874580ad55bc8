"""The scopes in which unaligned checkpoints are explored, by name.

Rule of this file: no verdict; variants.py and protocol.py have the verdicts.

A result names its records by their times, so a record that is lost, taken twice or taken at another
instance is seen.  With several instances the sink is a bag: no order holds between keys.
"""

from __future__ import annotations

from dataclasses import replace

from model.boxes.aggregate import Aggregate
from model.boxes.box import Box
from model.boxes.stateless import Relay, Union
from model.comparison import BAG, table
from model.core import Arrival, Inputs, OperatorClass, Scope
from model.evidence import Case
from model.graph import SINK, SOURCE, Graph, chain
from model.parts import over_words

REPEATABLE = OperatorClass.REPEATABLE
DETERMINISTIC = OperatorClass.DETERMINISTIC
ARBITRARY = OperatorClass.ARBITRARY
PAIRED = Aggregate("list", 2, 2, of="time")
BY_KEY = Aggregate("list", 2, 1, of="time", group="key")
EACH_BY_KEY = Aggregate("list", 1, 1, of="time", group="key")


def one(box: Box, length: int, crashes: int = 1) -> Scope:
    """A writer behind a source."""
    return over_words(chain(("writer", box)), length, "a", crashes=crashes)


def two(first: Box, writer: Box, length: int, crashes: int = 1) -> Scope:
    """An operator, then a writer."""
    return over_words(chain(("first", first), ("writer", writer)), length, "a", crashes=crashes)


def merged(length: int, crashes: int = 1) -> Scope:
    """A writer behind two sources."""
    nodes = (("left", SOURCE), ("right", SOURCE), ("writer", Union()), ("sink", SINK))
    edges = (("left", "writer"), ("right", "writer"), ("writer", "sink"))
    left, right = (Inputs((Arrival(1, type_),), length) for type_ in "ab")
    return Scope(Graph(nodes, edges), (("left", left), ("right", right)), crashes)


def keyed(graph: Graph, keys: tuple[int, ...], length: int, crashes: int = 1) -> Scope:
    """Records of these keys; key 2 moves to the second instance if there are two, key 1 stays."""
    alphabet = tuple(Arrival(1, "a", (("key", key),)) for key in keys)
    sinks = (("sink", BAG),)
    return Scope(graph, (("source", Inputs(alphabet, length)),), crashes, sinks=sinks)


def falls(scope: Scope, *victims: str) -> Scope:
    """The scope in which these nodes alone may crash."""
    return replace(scope, victims=frozenset(victims))


def half_silent(crashes: int = 1) -> Scope:
    """A writer behind two sources, one of which has barriers and no records."""
    scope = merged(1, crashes)
    inputs = tuple(
        (name, words._replace(length=0 if name == "right" else 1)) for name, words in scope.inputs
    )
    return replace(scope, inputs=inputs)


def upserts(scope: Scope) -> Scope:
    """The scope whose sink is a table by key, in which the last row wins."""
    return replace(scope, sinks=(("sink", table(lambda body: dict(body.data)["key"])),))


KEYED = chain(("writer", BY_KEY))
EACH = chain(("writer", EACH_BY_KEY))
EACH_TWICE = chain(("first", EACH_BY_KEY), ("writer", EACH_BY_KEY))
KEYED_TWICE = chain(("first", EACH_BY_KEY), ("writer", BY_KEY))
EACH_BEHIND_A_RELAY = chain(("first", Relay()), ("writer", EACH_BY_KEY))

A_RELAY = Case("a relay", one(Relay(), 1), REPEATABLE)
A_RELAY_AND_TWO_CRASHES = Case("a relay and two crashes", one(Relay(), 1, 2), REPEATABLE)
TWO_RECORDS = Case("two records", one(Relay(), 2), REPEATABLE)
TWO_RECORDS_AND_TWO_CRASHES = Case("two records and two crashes", one(Relay(), 2, 2), REPEATABLE)
TWO_RELAYS = Case("two relays", two(Relay(), Relay(), 1), REPEATABLE)
PAIRS = Case("pairs", one(PAIRED, 2), DETERMINISTIC)
PAIRS_BEHIND_A_RELAY = Case(
    "pairs behind a relay",
    falls(two(Relay(), PAIRED, 2), "writer"),
    DETERMINISTIC,
    quick=False,
)
A_SILENT_SOURCE = Case("a silent source", half_silent(), ARBITRARY)
A_SILENT_SOURCE_AND_TWO_CRASHES = Case(
    "a silent source and two crashes", half_silent(2), ARBITRARY, quick=False
)
A_UNION = Case("a union", merged(1), ARBITRARY, quick=False)
TWO_RECORDS_NO_CRASH = Case("two records, no crash", one(Relay(), 2, 0), REPEATABLE)
NO_CRASH = Case("no crash", one(PAIRED, 2, 0), DETERMINISTIC)
A_KEY_MOVES = Case("a key moves", falls(keyed(KEYED, (2,), 2), "writer"), REPEATABLE)
A_KEY_MOVES_AND_TWO_CRASHES = Case(
    "a key moves and two crashes",
    falls(keyed(KEYED, (2,), 2, 2), "writer"),
    REPEATABLE,
    quick=False,
)
A_KEY_MOVES_THERE_AND_BACK = Case(
    "a key moves there and back", falls(keyed(EACH, (2,), 1, 2), "writer"), REPEATABLE
)
TWO_KEYS = Case("two keys", falls(keyed(KEYED, (1, 2), 2), "writer"), REPEATABLE)
AN_IDLE_SLOT = Case("an idle slot", keyed(EACH, (2,), 1), REPEATABLE)
A_BAG = Case("a bag", falls(keyed(EACH, (2,), 2), "writer"), REPEATABLE, quick=False)
A_TABLE = Case("a table", upserts(A_BAG.scope), REPEATABLE)
A_RELAY_BEFORE_A_KEY = Case(
    "a relay before a key", falls(keyed(EACH_BEHIND_A_RELAY, (2,), 1), "writer"), REPEATABLE
)
TWO_MOVE = Case("two operators move", falls(keyed(KEYED_TWICE, (2,), 1), "first"), REPEATABLE)
THE_SECOND_FALLS = Case(
    "the second instance falls", falls(keyed(KEYED, (2,), 2), "writer.1"), REPEATABLE
)
A_RELAY_BEFORE_THE_SECOND = Case(
    "a relay before the second instance",
    falls(keyed(EACH_BEHIND_A_RELAY, (2,), 1), "writer.1"),
    REPEATABLE,
)
AN_INSTANCE_GOES = Case(
    "an instance before another one goes",
    falls(keyed(EACH_TWICE, (2,), 1), "first.1"),
    REPEATABLE,
    quick=False,
)
