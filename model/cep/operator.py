"""The CEP operator: splitter, matching engines, sequencer, savepoints.  Pure functions on values.

Rule of this file: everything that changes an operator's state lives here, in `push`, `save`,
`notice` and `restored`.  Buffers, channels and neighbours are somebody else's
(model.protocols); what windows and engines mean is model.cep.windows and model.cep.engines.
Lima et al., Sections II-A and III.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from model.cep.engines import Engine, Matches
from model.cep.numbering import TRIGGERED, Numbering, Opening, State, Trigger
from model.cep.savepoint import Drawn, Layout, Place, Savepoint
from model.cep.skips import Ranges, Skips
from model.cep.windows import Extent, Splitter
from model.events import NOTHING, SN, Body, Event
from model.log import Log


@dataclass(frozen=True, slots=True)
class Operator:
    """What the user writes: a matching engine, a splitter, the type of the complex events.

    parallel: feed each event to all open windows at once (data-parallel CEP, III-B); otherwise
    each window is processed whole when it closes, one after the other.
    """

    engine: Engine
    splitter: Splitter
    emits: str = "match"
    parallel: bool = True


class Skipping(Enum):
    """How skip ranges are kept."""

    OFF = "off"
    PER_EDGE = "per input edge"
    COALESCED = "one array for all input edges, as published"


class Drawing(Enum):
    """What of the window layout travels in a savepoint, if the splitter counts."""

    NOTHING = "nothing"
    OPENERS = "the events that opened windows, as published (III-B5)"
    LAYOUT = "openers, closers and counts"


@dataclass(frozen=True, slots=True)
class Scheme:
    """The choices that the paper leaves open or gets wrong, each as a value."""

    numbering: Numbering = TRIGGERED
    skipping: Skipping = Skipping.PER_EDGE
    drawing: Drawing = Drawing.LAYOUT


class Window(NamedTuple):
    """A window not yet dropped.  Extent as model.cep.windows has it; the rest is for savepoints.

    before: the last event consumed before the opener, an edge each.  sequencer: the state before
    the iteration of the opener.  first: the number of its first complex event.  at: the position
    of the opener in the queue (serial processing).
    """

    number: int
    start: int
    events: int
    opener: Place
    before: tuple[SN, ...]
    sequencer: State
    state: Any
    at: int
    first: SN | None = None
    closer: Place | None = None

    @property
    def extent(self) -> Extent:
        return Extent(self.start, self.events)


class Queued(NamedTuple):
    """An event that serial processing still needs."""

    place: Place
    body: Body
    kept: bool


class Produced(NamedTuple):
    """A complex event not yet acknowledged; retained: the first window that was not closed
    when it was generated."""

    sn: SN
    retained: int


class Script(NamedTuple):
    """The layout that a replay follows instead of counting; first: the number of its first
    window."""

    first: int
    layout: Layout


class OperatorState(NamedTuple):
    """closed and open: windows kept, oldest first.  opened: number of the newest window.
    newest: extent of all events since it opened.  last: consumed last, an edge each.
    skipped: how many events are in `skips`.  queue, base, used: serial processing only (events
    waiting, position of the first, positions used so far)."""

    closed: Log[Window]
    open: tuple[Window, ...]
    opened: int
    newest: Extent | None
    sequencer: State
    last: tuple[SN, ...]
    pending: Log[Produced]
    skips: tuple[Skips, ...]
    skipped: int
    script: Script | None
    queue: Log[Queued] = Log()
    base: int = 0
    used: frozenset[int] = frozenset()


def origin(scheme: Scheme, edges: int) -> Savepoint:
    """The savepoint of an operator that has done nothing yet."""
    return Savepoint(scheme.numbering.origin, (NOTHING,) * edges)


def restored(scheme: Scheme, savepoint: Savepoint) -> OperatorState:
    """`restore` of libgem: the state from which replay starts."""
    first = savepoint.seed.window
    return OperatorState(
        closed=Log(),
        open=(),
        opened=first - 1,
        newest=None,
        sequencer=scheme.numbering.resume(savepoint.seed),
        last=savepoint.trim,
        pending=Log(),
        skips=_no_skips(scheme, len(savepoint.trim)),
        skipped=0,
        script=Script(first, savepoint.layout) if savepoint.layout else None,
    )


def push(
    operator: Operator, scheme: Scheme, state: OperatorState, edge: int, event: Event
) -> tuple[OperatorState, tuple[Event, ...]]:
    """Process one input event; the complex events come numbered, in order (III-B1)."""
    splitter, engine, body = operator.splitter, operator.engine, event.body
    place = (edge, event.sn)
    if state.script and event.sn > state.script.layout.frontier[edge]:
        state = _left(state, state.script)
    script = state.script

    finished: list[tuple[Window, Matches]] = []
    waiting: list[Window] = []
    for window in state.open:
        if splitter.expires(window.extent, body):
            finished.append((window, ()))
        else:
            waiting.append(window)

    opened, newest = state.opened, state.newest
    if _opens(splitter, script, opened, newest, place, body):
        opened += 1
        start = splitter.start(body)
        at = state.base + len(state.queue)
        begin = engine.begin() if operator.parallel else None
        waiting.append(Window(opened, start, 0, place, state.last, state.sequencer, begin, at))
        newest = Extent(start, 0)
    if newest is not None:
        newest = Extent(newest.start, newest.events + 1)

    # Feed, and see which windows are full now.  `kept`: the layout depends on this event.
    kept = bool(finished) or opened > state.opened
    used = False
    open_: list[tuple[Window, Matches]] = []
    full: list[tuple[Window, Matches]] = []
    for window in waiting:
        matches: Matches = ()
        inner = window.state
        if operator.parallel:
            inner, matches, touched = engine.feed(inner, body)
            used = used or touched
        window = window._replace(events=window.events + 1, state=inner)
        if _completes(splitter, script, window, place, body):
            kept = True
            full.append((window._replace(closer=place), matches))
        else:
            open_.append((window, matches))

    queue, base, positions = state.queue, state.base, state.used
    if not operator.parallel:
        queue = queue.append(Queued(place, body, kept))
        at_once = []
        for window, _ in (*finished, *full):
            window, matches, now_used = _processed(engine, window, queue, base)
            positions |= now_used
            at_once.append((window, matches))
        finished, full = at_once[: len(finished)], at_once[len(finished) :]
    ended = [(w, (*matches, *engine.close(w.state))) for w, matches in (*finished, *full)]

    # Number what was produced, oldest window first.
    produced: list[tuple[int, int]] = []  # (window, first window not closed by then)
    payloads: Matches = ()
    unclosed = open_[0][0].number if open_ else opened + 1
    for window, matches in (*ended, *open_):
        produced += [(window.number, min(unclosed, window.number))] * len(matches)
        payloads += matches
    sequencer, numbers = scheme.numbering.number(
        state.sequencer,
        Trigger(body.time, edge, event.sn),
        tuple(number for number, _ in produced),
    )
    outputs = tuple(
        Event(sn, Body(body.time, operator.emits, match))
        for sn, match in zip(numbers, payloads, strict=True)
    )
    pending = state.pending
    first: dict[int, SN] = {}
    for sn, (number, retained) in zip(numbers, produced, strict=True):
        first.setdefault(number, sn)
        pending = pending.append(Produced(sn, retained))

    state = state._replace(
        closed=state.closed.extend(_stamped(window, first) for window, _ in ended),
        open=tuple(_stamped(window, first) for window, _ in open_),
        opened=opened,
        newest=newest,
        sequencer=sequencer,
        last=(*state.last[:edge], event.sn, *state.last[edge + 1 :]),
        pending=pending,
        queue=queue,
        base=base,
        used=positions,
    )
    if operator.parallel:
        return _resolved(scheme, state, place, used or kept), outputs
    return _drained(scheme, state), outputs


def save(
    scheme: Scheme, splitter: Splitter, state: OperatorState, acked: SN
) -> tuple[OperatorState, Savepoint, tuple[Ranges, ...]] | None:
    """`save` of libgem: the savepoint for the newest complex event up to `acked` (III-B2).

    None if no complex event waits for this acknowledgement.  The ranges are one an input edge.
    """
    theta: Produced | None = None
    for produced in state.pending:
        if produced.sn > acked:
            break
        theta = produced
    if theta is None:
        return None
    retained = theta.retained
    closed = state.closed.trim(lambda window: window.number < retained)
    windows = (*closed, *state.open)
    replay_start = windows[0]
    earliest = min(window.first for window in windows if window.first is not None)
    seed = scheme.numbering.seed(Opening(replay_start.number, replay_start.sequencer), earliest)
    savepoint = Savepoint(seed, replay_start.before)
    if state.script:
        state = state._replace(script=_rest(state.script, replay_start.number))
    state = state._replace(closed=closed, pending=state.pending.trim(lambda p: p.sn <= acked))
    return notice(scheme, splitter, state, savepoint)


def notice(
    scheme: Scheme, splitter: Splitter, state: OperatorState, savepoint: Savepoint
) -> tuple[OperatorState, Savepoint, tuple[Ranges, ...]]:
    """Report what was skipped since the last report, with the layout that then holds.

    Alone it is the skip notice of Section IV's end; `save` ends with it.
    """
    ranges = _ranges(scheme, state, savepoint.trim)
    layout = _layout(scheme, splitter, state)
    edges = len(savepoint.trim)
    state = state._replace(skips=_no_skips(scheme, edges), skipped=0)
    return state, savepoint._replace(layout=layout), ranges


# --- windows ---------------------------------------------------------------------------------
def _opens(
    splitter: Splitter,
    script: Script | None,
    opened: int,
    newest: Extent | None,
    place: Place,
    body: Body,
) -> bool:
    if script is None:
        return splitter.opens(newest, body)
    next_ = opened + 1 - script.first
    windows = script.layout.windows
    return next_ < len(windows) and windows[next_].opener == place


def _completes(
    splitter: Splitter, script: Script | None, window: Window, place: Place, body: Body
) -> bool:
    if script is not None:
        drawn = script.layout.windows[window.number - script.first]
        if drawn.events is not None:
            return drawn.closer == place
    return splitter.completes(window.extent, body)


def _left(state: OperatorState, script: Script) -> OperatorState:
    """The replay has passed the frontier: from here on the splitter counts again."""

    def counted(window: Window) -> Window:
        events = script.layout.windows[window.number - script.first].events
        return window if events is None else window._replace(events=events)

    newest = state.newest
    return state._replace(
        script=None,
        open=tuple(counted(window) for window in state.open),
        newest=newest and Extent(newest.start, script.layout.since),
    )


def _layout(scheme: Scheme, splitter: Splitter, state: OperatorState) -> Layout | None:
    if scheme.drawing is Drawing.NOTHING or not splitter.counts:
        return None
    if state.script is not None:
        return state.script.layout
    windows = (*state.closed, *state.open)
    if state.newest is None or not windows:
        return None
    if scheme.drawing is Drawing.LAYOUT:
        drawn = tuple(Drawn(w.opener, w.closer, w.events) for w in windows)
        return Layout(drawn, state.newest.events, state.last)
    # As published: all that is known is where windows opened, so counting restarts there.
    edge, sn = windows[-1].opener
    before = windows[-1].before
    return Layout(
        tuple(Drawn(w.opener, None, None) for w in windows),
        1,
        (*before[:edge], sn, *before[edge + 1 :]),
    )


def _rest(script: Script, number: int) -> Script:
    """The script without the windows before `number`, which have been dropped."""
    layout = script.layout
    return Script(number, layout._replace(windows=layout.windows[number - script.first :]))


def _stamped(window: Window, first: dict[int, SN]) -> Window:
    if window.first is None and window.number in first:
        return window._replace(first=first[window.number])
    return window


# --- serial processing -----------------------------------------------------------------------
def _processed(
    engine: Engine, window: Window, queue: Log[Queued], base: int
) -> tuple[Window, Matches, frozenset[int]]:
    """Feed the whole window at once; also the positions of the events it used."""
    inner = engine.begin()
    matches: Matches = ()
    used = set()
    for position, queued in enumerate(queue, base):
        if window.at <= position < window.at + window.events:
            inner, found, touched = engine.feed(inner, queued.body)
            matches += found
            if touched:
                used.add(position)
    return window._replace(state=inner), matches, frozenset(used)


def _drained(scheme: Scheme, state: OperatorState) -> OperatorState:
    """Give up the events that no open window holds; only now is it known who skipped them."""
    end = state.open[0].at if state.open else state.base + len(state.queue)
    queue, base, used = state.queue, state.base, state.used
    while base < end:
        queued = queue.first()
        state = _resolved(scheme, state, queued.place, queued.kept or base in used)
        queue = queue.rest()
        base += 1
    return state._replace(queue=queue, base=base, used=frozenset(p for p in used if p >= base))


# --- skip ranges -----------------------------------------------------------------------------
def _no_skips(scheme: Scheme, edges: int) -> tuple[Skips, ...]:
    arrays = {Skipping.OFF: 0, Skipping.COALESCED: 1, Skipping.PER_EDGE: edges}
    return (Skips(),) * arrays[scheme.skipping]


def _resolved(scheme: Scheme, state: OperatorState, place: Place, needed: bool) -> OperatorState:
    """Enter into the skip ranges whether the event at `place` is needed in a replay."""
    edge, sn = place
    if scheme.skipping is Skipping.OFF:
        return state
    if scheme.skipping is Skipping.COALESCED:
        edge = 0
    skips = state.skips
    entry = skips[edge].keep() if needed else skips[edge].skip(sn)
    return state._replace(
        skips=(*skips[:edge], entry, *skips[edge + 1 :]),
        skipped=state.skipped + (not needed),
    )


def _ranges(scheme: Scheme, state: OperatorState, trim: tuple[SN, ...]) -> tuple[Ranges, ...]:
    if scheme.skipping is Skipping.PER_EDGE:
        return tuple(skips.after(sn) for skips, sn in zip(state.skips, trim, strict=True))
    if scheme.skipping is Skipping.COALESCED:
        everywhere = tuple(sorted(state.skips[0].after(min(trim))))
        return (everywhere,) * len(trim)
    return ((),) * len(trim)
