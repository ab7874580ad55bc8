"""An operator with two input ports and two functions crashes at any statement: what it sends is
what it could have sent without a crash, in some order of arrival."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, count
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.examples.log_io.external import Sale
from spark_check.log_io.library import (
    Connection,
    Context,
    Event,
    Log,
    Made,
    Operator,
    Replay,
    recovery,
)
from spark_check.log_io.library.database import Database
from tests.families.log_io.library.tables import log_outputs

LEFT, RIGHT = (Connection(name, "out", "op", name) for name in ("left", "right"))
OUT, PAIRS = Connection("op", "out", "end", "in"), Connection("op", "pairs", "end", "pairs")


def batch(sales: Sequence[Sale]) -> Sale:
    return {"of": sorted(one["name"] for one in sales)}


class Function(NamedTuple):
    """Each of its Input Sets gathers sales of one letter.  limits: the n-th Output Set needs
    limits[n % len(limits)] of them.  out: where to."""

    limits: tuple[int, ...]
    out: Connection


FUNCTIONS = {"batch": Function((2, 1), OUT), "pair": Function((2,), PAIRS)}


class Batches(Operator):
    """Global state: how many Output Sets each function has made."""

    def new_state(self) -> dict[str, int]:
        return dict.fromkeys(FUNCTIONS, 0)

    def in_sets(self, event: Event) -> Iterable[str]:
        return [f"{name} {json.loads(event.body)['name'][0]}" for name in FUNCTIONS]

    def completed(self, event: Event) -> Iterable[str]:
        for key in self.in_sets(event):
            name = key.split()[0]
            limits = FUNCTIONS[name].limits
            if len(self.inputs[key]) >= limits[self.state[name] % len(limits)]:
                yield key

    def generate(self, key: str, inputs: Sequence[Event]) -> Iterable[Made]:
        name = key.split()[0]
        self.state[name] += 1
        body = json.dumps(batch([json.loads(one.body) for one in inputs]))
        return [(FUNCTIONS[name].out, body.encode())]


class Crash(Exception):
    """The operator is gone; its transaction has been rolled back."""


def sales(word: str, port: str) -> list[Sale]:
    return [{"name": f"{letter}{port}{at}"} for at, letter in enumerate(word, 1)]


@cache
def allowed(left: str, right: str) -> frozenset[str]:
    """The outputs by port, for each order of arrival."""
    found = set()
    whole = len(left) + len(right)
    for places in combinations(range(whole), len(left)):
        ports = {"l": iter(sales(left, "l")), "r": iter(sales(right, "r"))}
        order = [next(ports["l" if at in places else "r"]) for at in range(whole)]
        found.add(json.dumps([*outputs_of(order)]))
    return frozenset(found)


def outputs_of(order: Sequence[Sale]) -> Iterator[list[Sale]]:
    for function in FUNCTIONS.values():
        sets: dict[str, list[Sale]] = {}
        outputs: list[Sale] = []
        for one in order:
            letter = one["name"][0]
            gathered = sets.setdefault(letter, [])
            gathered.append(one)
            if len(gathered) >= function.limits[len(outputs) % len(function.limits)]:
                outputs.append(batch(sets.pop(letter)))
        yield outputs


def run(place: str, left: str, right: str, crashes: Sequence[int]) -> str:
    """The outputs by port, after crashes before these statements, each counted from a restart."""
    fatal, left_over = iter(crashes), count()
    at = -1

    def watch(_statement: str) -> None:
        if next(left_over) == at:
            raise Crash

    with Log(place, synchronous="OFF", watch=watch) as log:
        for out, word in ((LEFT, left), (RIGHT, right)):
            bodies = [json.dumps(one).encode() for one in sales(word, out.sender[0])]
            log_outputs(log, *(Event(*out, at, body) for at, body in enumerate(bodies, 1)))
        while True:
            left_over, at = count(), next(fatal, -1)
            try:
                work(log)
                break
            except Crash:
                continue
        at = -1
        rows = log.fetch_new_events("end", limit=1_000).events
    by_port = [
        [json.loads(row.body) for row in rows if row.sender_port == out.sender_port]
        for out in (OUT, PAIRS)
    ]
    return json.dumps(by_port)


def work(log: Log) -> None:
    operator = Batches(log, "op")
    while operator.step():
        pass


WORDS = st.text("ab", max_size=3)
SEEN_LAST = ("bba", "a")
"""After "b" left, "a" right, "b" left: a commit that has seen the "a"; then "a" left completes its
Input Set, and comes before the "a" of the right port if replays are in the order of ports."""


@given(WORDS, WORDS, st.lists(st.integers(1, 60), max_size=3))
def test_outputs_are_as_without_crashes(
    tmp_path_factory: pytest.TempPathFactory, left: str, right: str, crashes: list[int]
) -> None:
    place = str(tmp_path_factory.mktemp("log") / "log.db")
    assert run(place, left, right, crashes) in allowed(left, right)


def at_any_crash(folder: Path) -> list[bool]:
    """Is the output allowed, for each crash in the run that needs the order of replays?"""
    folder.mkdir()
    found = [run(str(folder / f"{at}.db"), *SEEN_LAST, [at]) for at in range(1, 60)]
    return [one in allowed(*SEEN_LAST) for one in found]


def test_inputs_that_were_seen_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of ports alone, an Input Set is complete and nothing triggers."""
    in_order = recovery.fetch_ack_events

    def by_port(database: Database, operator: str, context: Context) -> list[Replay]:
        found = in_order(database, operator, context)
        return sorted(found, key=lambda one: (one.event.receiver_port, one.event.number))

    assert all(at_any_crash(tmp_path / "right"))
    monkeypatch.setattr(recovery, "fetch_ack_events", by_port)
    assert not all(at_any_crash(tmp_path / "wrong"))


def test_the_order_of_assignment_has_to_be_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Context, "order_of", lambda *_: 0)
    assert not all(at_any_crash(tmp_path / "wrong"))
