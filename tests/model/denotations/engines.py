"""What an engine finds in a window, and which events it uses.

Rule of this file: an answer is about the whole window; nothing is fed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from model.cep.engines import Engine, Function, Matches, Mealy, Partitioned
from model.cep.one_run import OneRun
from model.cep.patterns import Pattern
from model.events import Body
from tests.model.denotations.one_run import follow_one_run
from tests.model.denotations.patterns import Choice, Found, events_of, find_matches
from tests.model.denotations.words import Word


class Findings(NamedTuple):
    """at: by place, the matches that the event there completes.  close: those that come at the end
    of the window.  used: by place, does the engine use the event?"""

    at: tuple[Matches, ...]
    close: Matches
    used: tuple[bool, ...]


def search(engine: Engine, word: Word) -> Findings:
    """The findings in the window that holds this word."""
    match engine:
        case Pattern():
            return _of_choices(find_matches(engine, word), word)
        case OneRun():
            return _of_choices(follow_one_run(engine, word), word)
        case Mealy(rows, at_close):
            return _search_states(rows, at_close, word)
        case Function(of):
            # "It uses every event, and all matches come at the end of the window."
            return Findings(((),) * len(word), of(word), (True,) * len(word))
        case Partitioned(inner, attribute):
            return _search_parts(inner, attribute, word)
    raise AssertionError(engine)


def _of_choices(found: Found, word: Word) -> Findings:
    def events(choices: list[Choice]) -> Matches:
        return tuple(events_of(choice, word) for choice in choices)

    # "The state is the runs, each with the steps done and the events taken."
    return Findings(
        tuple(map(events, found.at)),
        events(found.close),
        tuple(
            bool(found.at[place]) or found.states[place] != found.states[place + 1]
            for place in range(len(word))
        ),
    )


# "An event of a type that is in the row of the state leads to the next state and emits copies of a
# match; the machine ignores other types. The last state says how many empty matches come at the end
# of the window."
def _search_states(rows: Any, at_close: tuple[int, ...], word: Word) -> Findings:
    tables = [{type_: (target, copies) for type_, target, copies in reversed(row)} for row in rows]

    def state(place: int) -> int:
        """The state before the event at this place."""
        if not place:
            return 0
        before = state(place - 1)
        target, _ = tables[before].get(word[place - 1].type, (before, 0))
        return int(target)

    copies = [tables[state(p)].get(body.type, (0, 0))[1] for p, body in enumerate(word)]
    return Findings(
        tuple(((body,),) * number for body, number in zip(word, copies, strict=True)),
        ((),) * (at_close[state(len(word))] if at_close else 0),
        # "whether it *used* it: whether its state changed or a match came".
        tuple(copies[p] > 0 or state(p) != state(p + 1) for p in range(len(word))),
    )


# "`Partitioned` is one engine for each value of an attribute; events without the attribute have the
# value None. At the end of the window, the matches come in the order in which the values first had
# an event that was used."
def _search_parts(engine: Engine, attribute: str, word: Word) -> Findings:
    keys = [_value(body, attribute) for body in word]
    places = {key: [p for p, own in enumerate(keys) if own == key] for key in keys}
    parts = {key: search(engine, tuple(word[p] for p in own)) for key, own in places.items()}
    nth = [places[key].index(place) for place, key in enumerate(keys)]
    used = tuple(parts[key].used[n] for key, n in zip(keys, nth, strict=True))
    first_used = {
        key: min((p for p in own if used[p]), default=None) for key, own in places.items()
    }
    seen = sorted((first, key_at) for key_at, first in first_used.items() if first is not None)
    return Findings(
        tuple(parts[key].at[n] for key, n in zip(keys, nth, strict=True)),
        tuple(match for _, key in seen for match in parts[key].close),
        used,
    )


def _value(body: Body, attribute: str) -> Any:
    """The last value of the attribute; None for events without it."""
    return next((value for name, value in reversed(body.data) if name == attribute), None)
