"""The compiled loops of the search: worlds in words, and moves as operations on their fields.

Rule of this file: numbers only.  The meaning of a number, and every answer of the model, is known
to proofs.explore.search.compiled.  When a loop needs an answer that it does not have, it returns.
The caller adds the answer and calls it again.  The file and `expand` are long because numba
compiles them together: one cache, and no call between the loops.

A world is one row of `words`.  A field of it has its place in a word (`word`, `shift`, `mask`).
Nodes, arrivals and the crash budget are numbered elsewhere; the content of a channel or an output
is a node of a trie, so that appending and taking the first message are two looks into a table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numba
import numpy as np
from numpy.typing import NDArray

EMPTY, CLOSED = 0, 1
"""The first two numbers of every content; a head is one of these, or a message's number and 2."""

ADD, POP, SET, APPEND, CLEAR = range(5)
"""Operations on a field: add a number, take the first message, become a content, append a message,
lose the messages if not closed."""

WHOLE, HEAD, SIGN = range(3)
"""The part of a field that a focus looks at: its number, its first message, whether it is 0."""

# The places of the counters that the loops keep, and how a call ends.
WORLD, END, VIEW, COUNT, TRANSITIONS, QUIESCENT, VIOLATION, PROGRESSING, GRANTED = range(9)
FIELD, PAIRS, STOP, WIDEST, CHUNK, CHOSEN, COUNTERS = range(9, 16)
DONE, NO_FOCUS, NO_OBSERVATION, NO_REST, NO_ROOM, NO_VERDICT, STOPPED = range(7)

QUESTION = 6
"""The length of a question: whether a move commutes with all that may come before it."""

ALL, SOME, UNKNOWN = range(3)
"""The moves that are taken in a world: all, some; or a verdict is missing."""


class Choice(NamedTuple):
    """All that the loops need to take some moves in place of all (proofs.explore.reduction).

    A set of channels, or of kinds of messages, is a word with a bit for each.
    nodes: the number of nodes, whose views come first; 0: every move is always taken.
    channels, open: the first channel field, and the number of channels.
    By node: arrivals (the field; -1: no source), incoming and outgoing (its channels), heeds (the
    kinds of messages to it), grouped (may it crash with others?).
    only: by channel, the kinds of messages on it alone.  kinds: by channel and message, its kind;
    -1: not known, so any.
    of_victims: the channels from nodes that may crash.  at_risk: those to nodes that may crash and
    return.
    sends: by whether a crash may come, node and number of its value, all that it may still send: a
    word of channels and one of kinds.  lost: by node and number, the channels to it, if it is down
    and will return.
    By move: labels, takes, silent, heard, calm (proofs.explore.reduction.rules.MoveRule).
    all_silent, all_heard: by focus, those of all its moves; all_heard also by whether a crash may
    come.
    Verdicts: a hash table of keys (node, value, arrivals, label, two halves of the kinds).
    """

    nodes: int
    channels: int
    open: int
    arrivals: NDArray[np.int64]
    incoming: NDArray[np.uint64]
    outgoing: NDArray[np.uint64]
    heeds: NDArray[np.uint64]
    only: NDArray[np.uint64]
    grouped: NDArray[np.bool_]
    of_victims: np.uint64
    at_risk: np.uint64
    sends: NDArray[np.uint64]
    kinds: NDArray[np.int8]
    lost: NDArray[np.uint64]
    labels: NDArray[np.int32]
    takes: NDArray[np.int64]
    silent: NDArray[np.uint64]
    heard: NDArray[np.uint64]
    calm: NDArray[np.bool_]
    all_silent: NDArray[np.uint64]
    all_heard: NDArray[np.uint64]
    verdict_slots: NDArray[np.int32]
    verdict_keys: NDArray[np.int32]
    verdicts: NDArray[np.bool_]


class Tables(NamedTuple):
    """All that the loops read and write; arrays are replaced by larger ones between calls.

    Worlds: words (uint64, `per` a world), parents, slots (a hash table of index + 1).
    Fields: word, shift, mask.  Contents, by field and number: head, tail (-1: not known yet), last,
    prefix; counts; pairs (a hash table from field, content and message to the longer content).
    Views: looks, rows (view, field, part of it), from view_start on.  Focuses: a hash table of keys
    (focus_slots, focus_keys: the view, then numbers); move_start, own_end, always_end, fault_end,
    patient_end: their moves by condition (proofs.explore.views.Transitions); granted: did a world
    grant their crashes, their patient timers, and crashes within these (kept if by_world);
    op_ranges: from where to where the operations of a move stand in ops, rows (field, operation,
    argument).
    Observations and worlds at rest: hash tables of keys, and whether a property is broken there.
    budget: the field of the crash budget.  full: its number at first.  rationed: further faults
    than the first are granted at rest only.  patient: are there patient timers?  prompt: the views
    of the prompt sites.
    """

    per: int
    words: NDArray[np.uint64]
    parents: NDArray[np.uint32]
    slots: NDArray[np.uint32]
    word: NDArray[np.int64]
    shift: NDArray[np.uint64]
    mask: NDArray[np.uint64]
    head: NDArray[np.int32]
    tail: NDArray[np.int32]
    last: NDArray[np.int32]
    prefix: NDArray[np.int32]
    messages: NDArray[np.int64]
    counts: NDArray[np.int64]
    pair_keys: NDArray[np.uint64]
    pair_values: NDArray[np.int32]
    view_start: NDArray[np.int64]
    looks: NDArray[np.int64]
    focus_slots: NDArray[np.int32]
    focus_keys: NDArray[np.int32]
    move_start: NDArray[np.int64]
    own_end: NDArray[np.int64]
    always_end: NDArray[np.int64]
    fault_end: NDArray[np.int64]
    patient_end: NDArray[np.int64]
    granted: NDArray[np.bool_]
    op_ranges: NDArray[np.int64]
    ops: NDArray[np.int32]
    seen_fields: NDArray[np.int64]
    seen_slots: NDArray[np.int32]
    seen_keys: NDArray[np.int32]
    seen_broken: NDArray[np.bool_]
    rest_fields: NDArray[np.int64]
    rest_slots: NDArray[np.int32]
    rest_keys: NDArray[np.int32]
    rest_broken: NDArray[np.bool_]
    budget: int
    full: int
    rationed: bool
    by_world: bool
    patient: bool
    prompt: NDArray[np.int64]
    choice: Choice


F = TypeVar("F", bound=Callable[..., Any])

# Nothing is allocated here, so no references need counting, which would take half the time.
_OPTIONS: dict[str, Any] = {"cache": True, "_nrt": False}


def _compiled(function: F) -> F:
    jitted: F = numba.njit(**_OPTIONS)(function)
    return jitted


def _inlined(function: F) -> F:
    """Compile the function into its callers: a call would copy all tables' addresses."""
    jitted: F = numba.njit(inline="always", **_OPTIONS)(function)
    return jitted


def _parallel(function: F) -> F:
    """Compile the function so that other threads run meanwhile."""
    jitted: F = numba.njit(nogil=True, **_OPTIONS)(function)
    return jitted


@_inlined
def _mix(value: Any) -> Any:
    """Spread the bits of a word over it (xorshift and multiply, as in MurmurHash3)."""
    value ^= value >> np.uint64(32)
    value *= np.uint64(0xD6E8FEB86659FD93)
    value ^= value >> np.uint64(32)
    value *= np.uint64(0xD6E8FEB86659FD93)
    return value ^ (value >> np.uint64(32))


# --- tables of keys --------------------------------------------------------------------------
@_inlined
def find_slot(slots: Any, keys: Any, key: Any) -> Any:
    """The slot of a key: where it stands, or the free one where it belongs."""
    width = keys.shape[1]
    mixed = np.uint64(width)
    for i in range(width):
        mixed = _mix(mixed ^ np.uint64(key[i]))
    last = np.uint64(len(slots) - 1)
    slot = mixed & last
    while slots[slot] >= 0:
        number = slots[slot]
        same = True
        for i in range(width):
            if keys[number, i] != key[i]:
                same = False
                break
        if same:
            break
        slot = (slot + np.uint64(1)) & last
    return slot


@_compiled
def fill(slots: Any, keys: Any, first: int, end: int) -> None:
    """Enter the keys from `first` to `end` into the hash table."""
    for number in range(first, end):
        slots[find_slot(slots, keys, keys[number])] = number


# --- worlds ----------------------------------------------------------------------------------
@_inlined
def _hash(words: Any, start: Any, per: Any) -> Any:
    mixed = np.uint64(per)
    for i in range(per):
        mixed = _mix(mixed ^ words[start + i])
    return mixed


@_compiled
def fill_worlds(slots: Any, words: Any, per: int, count: int) -> None:
    """Enter all worlds into the hash table; they differ."""
    last = np.uint64(len(slots) - 1)
    for world in range(count):
        slot = _hash(words, world * per, per) & last
        while slots[slot] != 0:
            slot = (slot + np.uint64(1)) & last
        slots[slot] = world + 1


@_compiled
def repack(words: Any, count: int, old: Any, new: Any, numbers: Any) -> None:
    """Move all worlds from one layout of fields, (per, word, shift, mask), to another in place."""
    per, word, shift, mask = old
    now_per, now_word, now_shift, _ = new
    backward = now_per > per
    for i in range(count):
        world = count - 1 - i if backward else i
        for f in range(len(word)):
            numbers[f] = (words[world * per + word[f]] >> shift[f]) & mask[f]
        for k in range(now_per):
            words[world * now_per + k] = 0
        for f in range(len(word)):
            words[world * now_per + now_word[f]] |= np.uint64(numbers[f]) << now_shift[f]


@_inlined
def _world_slot(t: Any, world: Any) -> Any:
    """The slot of a world: where it stands, or the free one where it belongs."""
    last = np.uint64(len(t.slots) - 1)
    slot = _hash(world, 0, t.per) & last
    while t.slots[slot] != 0:
        start = (np.int64(t.slots[slot]) - 1) * t.per
        same = True
        for k in range(t.per):
            if t.words[start + k] != world[k]:
                same = False
                break
        if same:
            break
        slot = (slot + np.uint64(1)) & last
    return slot


@_inlined
def _add(t: Any, at: Any, world: Any, parent: Any) -> Any:
    """Add a world if it is new; False if there is no room for it."""
    slot = _world_slot(t, world)
    if t.slots[slot] == 0:
        index = at[COUNT]
        if 10 * index >= 7 * len(t.slots):
            at[FIELD] = -1
            return False
        for k in range(t.per):
            t.words[index * t.per + k] = world[k]
        t.parents[index] = parent
        t.slots[slot] = index + 1
        at[COUNT] = index + 1
    return True


# --- contents --------------------------------------------------------------------------------
@_inlined
def _append(t: Any, at: Any, field: Any, content: Any, message: Any, create: Any) -> Any:
    """The content with one more message; -1 if it is new and may not be created or has no room."""
    if content == CLOSED:
        return np.int64(CLOSED)
    key = np.uint64(field) << np.uint64(56) | np.uint64(content) << np.uint64(28)
    key |= np.uint64(message)
    last = np.uint64(len(t.pair_keys) - 1)
    slot = _mix(key) & last
    while t.pair_values[slot] >= 0:
        if t.pair_keys[slot] == key:
            return np.int64(t.pair_values[slot])
        slot = (slot + np.uint64(1)) & last
    if not create:
        return np.int64(-1)
    number = t.counts[field]
    no_bits = number > np.int64(t.mask[field])
    if no_bits or number >= t.head.shape[1] or 2 * at[PAIRS] >= len(t.pair_keys):
        at[FIELD] = field
        return np.int64(-1)
    t.head[field, number] = message + 2 if content == EMPTY else t.head[field, content]
    t.tail[field, number] = -1
    t.last[field, number] = message
    t.prefix[field, number] = content
    t.counts[field] = number + 1
    t.pair_keys[slot] = key
    t.pair_values[slot] = number
    at[PAIRS] += 1
    return number


@_inlined
def _pop(t: Any, at: Any, field: Any, content: Any, create: Any) -> Any:
    """The content without its first message; -1 as `_append`."""
    if t.tail[field, content] >= 0 or not create:
        return np.int64(t.tail[field, content])
    length = 0
    longer = content
    while longer != EMPTY:
        if length >= len(t.messages):
            at[FIELD] = field
            return np.int64(-1)
        t.messages[length] = t.last[field, longer]
        longer = np.int64(t.prefix[field, longer])
        length += 1
    tail = np.int64(EMPTY)
    for i in range(length - 2, -1, -1):
        tail = _append(t, at, field, tail, t.messages[i], True)
        if tail < 0:
            return np.int64(-1)
    t.tail[field, content] = tail
    return tail


@_compiled
def fill_pairs(pair_keys: Any, pair_values: Any, keys: Any, values: Any) -> None:
    """Enter all pairs into an empty hash table."""
    last = np.uint64(len(pair_keys) - 1)
    for i in range(len(keys)):
        slot = _mix(keys[i]) & last
        while pair_values[slot] >= 0:
            slot = (slot + np.uint64(1)) & last
        pair_keys[slot] = keys[i]
        pair_values[slot] = values[i]


# --- moves -----------------------------------------------------------------------------------
@_inlined
def _unpack(t: Any, world: Any, numbers: Any) -> None:
    for f in range(len(t.word)):
        numbers[f] = (t.words[world * t.per + t.word[f]] >> t.shift[f]) & t.mask[f]


@_inlined
def _focus(t: Any, numbers: Any, view: Any, key: Any) -> Any:
    """The focus of a view in a world, by its number; -1 if it was never seen."""
    key[:] = 0
    key[0] = view
    place = 1
    for i in range(t.view_start[view], t.view_start[view + 1]):
        field = t.looks[i, 0]
        part = t.looks[i, 1]
        number = numbers[field]
        if part == HEAD:
            number = t.head[field, number]
        elif part == SIGN:
            number = min(number, 1)
        key[place] = number
        place += 1
    return t.focus_slots[find_slot(t.focus_slots, t.focus_keys, key)]


@_inlined
def _change(t: Any, at: Any, move: Any, after: Any, create: Any) -> Any:
    """Let a move change the world `after`; False if there is no number for a content."""
    for i in range(t.op_ranges[move, 0], t.op_ranges[move, 1]):
        field = np.int64(t.ops[i, 0])
        op = t.ops[i, 1]
        argument = np.int64(t.ops[i, 2])
        word = t.word[field]
        shift = t.shift[field]
        if op == ADD:
            after[word] += np.uint64(argument) << shift
            continue
        content = np.int64((after[word] >> shift) & t.mask[field])
        if op == APPEND:
            next_ = _append(t, at, field, content, argument, create)
        elif op == POP:
            next_ = _pop(t, at, field, content, create)
        elif op == SET:
            next_ = argument
        else:
            next_ = np.int64(CLOSED if content == CLOSED else EMPTY)
        if next_ < 0:
            return False
        after[word] += np.uint64(next_ - content) << shift
    return True


@_inlined
def _move(t: Any, at: Any, from_: Any, move: Any, after: Any, create: Any) -> Any:
    """Write the world after a move to `after`; False if there is no number for a content."""
    for k in range(t.per):
        after[k] = t.words[from_ * t.per + k]
    return _change(t, at, move, after, create)


@_inlined
def _settle(t: Any, at: Any, after: Any, numbers: Any, key: Any, create: Any) -> Any:
    """Let the prompt sites of the world `after` take their messages, one after the other.

    Returns DONE, or what was never seen.  numbers, key: of the world `after`, while it changes.
    """
    for i in range(len(t.prompt)):
        while True:
            for f in range(len(t.word)):
                numbers[f] = (after[t.word[f]] >> t.shift[f]) & t.mask[f]
            focus = _focus(t, numbers, t.prompt[i], key)
            if focus < 0:
                return NO_FOCUS
            move = t.move_start[focus]
            if t.own_end[focus] == move:
                break
            if not _change(t, at, move, after, create):
                return NO_ROOM
    return DONE


# --- choosing --------------------------------------------------------------------------------
@_inlined
def _choose(t: Any, numbers: Any, focuses: Any, question: Any, taken: Any) -> Any:
    """Choose the moves of a world in which some node has an own move: ALL; SOME, which are rows
    (first, end) of `taken`, a row for each view; or UNKNOWN, if the verdict on `question` is
    missing.

    numbers: of the fields of the world.  focuses: of all its views.
    """
    c = t.choice
    left = numbers[t.budget]
    granted = np.int64(left > 0 and (not t.rationed or left == t.full))
    for field in range(t.budget + 1, len(numbers)):
        if numbers[field] != 0:
            return ALL
    live, full, coming = np.uint64(0), np.uint64(0), np.uint64(0)
    risky = c.at_risk if granted else np.uint64(0)
    for node in range(c.nodes):
        live |= c.sends[granted, node, numbers[node], 0]
        coming |= c.sends[granted, node, numbers[node], 1]
        risky |= c.lost[node, numbers[node]]
    for channel in range(c.open):
        field = c.channels + channel
        content = numbers[field]
        if content != CLOSED and content != EMPTY:
            full |= np.uint64(1) << np.uint64(channel)
            while content != EMPTY:
                kind = c.kinds[channel, t.last[field, content]]
                coming |= np.uint64(1) << np.uint64(kind) if kind >= 0 else ~np.uint64(0)
                content = np.int64(t.prefix[field, content])
    for view in range(len(focuses)):
        taken[view, 0] = taken[view, 1] = t.move_start[focuses[view]]
    for node in range(c.nodes - 1, -1, -1):  # results first: that leaves fewest worlds
        focus = focuses[node]
        for move in range(t.move_start[focus], t.own_end[focus]):
            if c.labels[move] < 0 or (granted and not c.calm[move]):
                continue
            if c.silent[move] & (live | full) or c.heard[move] & risky:
                continue
            came = c.heeds[node] & coming
            if c.takes[move] >= 0:
                came &= ~c.only[c.takes[move]]
            question[0] = node
            question[1] = numbers[node]
            question[2] = numbers[c.arrivals[node]] if c.arrivals[node] >= 0 else -1
            question[3] = c.labels[move]
            question[4] = np.int32(came & np.uint64(0x7FFFFFFF))
            question[5] = np.int32(came >> np.uint64(31))
            verdict = c.verdict_slots[find_slot(c.verdict_slots, c.verdict_keys, question)]
            if verdict < 0:
                return UNKNOWN
            if c.verdicts[verdict]:
                taken[node, 0] = move
                taken[node, 1] = move + 1
                return SOME
    return _choose_nodes(t, focuses, taken, granted, live, full, risky)


@_inlined
def _choose_nodes(
    t: Any, focuses: Any, taken: Any, granted: Any, live: Any, full: Any, risky: Any
) -> Any:
    """Choose all moves of a few nodes, as few moves as possible; ALL or SOME, as `_choose`.

    live: the channels on which something may yet be sent.  full: those that hold messages.  risky:
    those of nodes that are down or may crash, and return.
    """
    c = t.choice
    fewest = np.int64(0)
    for node in range(c.nodes):
        focus = focuses[node]
        end = t.fault_end[focus] if granted else t.always_end[focus]
        fewest += end - t.move_start[focus]
    best = np.uint64(0)
    for start in range(c.nodes):
        focus = focuses[start]
        if t.own_end[focus] == t.move_start[focus]:
            continue
        inside = np.uint64(1) << np.uint64(start)
        done = np.uint64(0)
        size = np.int64(0)
        while done != inside and size < fewest:
            for node in range(c.nodes):
                bit = np.uint64(1) << np.uint64(node)
                if not inside & bit or done & bit:
                    continue
                done |= bit
                focus = focuses[node]
                end = t.fault_end[focus] if granted else t.always_end[focus]
                size += end - t.move_start[focus]
                from_ = c.incoming[node] & live & ~full
                from_ |= c.all_silent[focus] & (live | full)
                to = c.all_heard[focus, granted] & risky
                if granted:
                    if c.grouped[node]:
                        size = fewest
                    from_ |= c.incoming[node] & full & c.of_victims
                    to |= c.outgoing[node] & full & c.of_victims
                for other in range(c.nodes):
                    if from_ & c.outgoing[other] or to & c.incoming[other]:
                        inside |= np.uint64(1) << np.uint64(other)
        if size < fewest:
            fewest = size
            best = inside
    if best == 0:
        return ALL
    for node in range(c.nodes):
        if best & (np.uint64(1) << np.uint64(node)):
            focus = focuses[node]
            taken[node, 1] = t.fault_end[focus] if granted else t.always_end[focus]
    return SOME


# --- looking ahead ---------------------------------------------------------------------------
class Ahead(NamedTuple):
    """The new worlds to which the worlds of a chunk lead, before any of these is added.

    For each world of the chunk: fresh, how many; -1 if something was met that was never seen;
    start: the first of them in `words`; transitions; the observation.  Some may be the same.
    """

    fresh: NDArray[np.int64]
    start: NDArray[np.int64]
    transitions: NDArray[np.int64]
    seen: NDArray[np.int64]
    words: NDArray[np.uint64]


class Scratch(NamedTuple):
    """The arrays that one thread needs to look ahead.

    numbers, settled, key, question, focuses, taken: as for `expand`.  words, slots: of the worlds
    to which some worlds lead, new or not.  ends: of each of those worlds, where its own end.
    """

    numbers: NDArray[np.int64]
    settled: NDArray[np.int64]
    key: NDArray[np.int32]
    question: NDArray[np.int32]
    focuses: NDArray[np.int64]
    taken: NDArray[np.int64]
    words: NDArray[np.uint64]
    slots: NDArray[np.uint64]
    ends: NDArray[np.int64]


@_inlined
def _successors(t: Any, at: Any, ahead: Any, world: Any, first: Any, scratch: Any) -> Any:
    """Write the worlds after all moves of a world to the scratch, from `first` on; returns where
    they end, or -1 if something was met that was never seen."""
    place = world - at[CHUNK]
    numbers, key, focuses = scratch.numbers, scratch.key, scratch.focuses
    views = len(t.view_start) - 1
    _unpack(t, world, numbers)
    progressing = False
    for view in range(views):
        focus = _focus(t, numbers, view, key)
        if focus < 0:
            return np.int64(-1)
        focuses[view] = focus
        progressing = progressing or t.own_end[focus] > t.move_start[focus]
    for i in range(len(t.seen_fields)):
        key[i] = numbers[t.seen_fields[i]]
    seen = t.seen_slots[find_slot(t.seen_slots, t.seen_keys, key)]
    if seen < 0 or not progressing:
        return np.int64(-1)
    granted = not t.rationed or numbers[t.budget] == 0 or numbers[t.budget] == t.full
    chosen = ALL
    if t.choice.nodes:
        chosen = _choose(t, numbers, focuses, scratch.question, scratch.taken)
        if chosen == UNKNOWN:
            return np.int64(-1)
    count = first
    for view in range(views):
        focus = focuses[view]
        if t.by_world and granted:
            t.granted[focus, 0] = True
        begin = t.move_start[focus]
        end = t.fault_end[focus] if granted else t.always_end[focus]
        if chosen == SOME:
            begin = scratch.taken[view, 0]
            end = scratch.taken[view, 1]
        for move in range(begin, end):
            after = scratch.words[count * t.per : (count + 1) * t.per]
            if not _move(t, at, world, move, after, False):
                return np.int64(-1)
            if _settle(t, at, after, scratch.settled, key, False) != DONE:
                return np.int64(-1)
            count += 1
    ahead.seen[place] = seen
    ahead.transitions[place] = count - first
    return count


@_parallel
def look_ahead(t: Any, at: Any, ahead: Any, first: Any, end: Any, room: Any, scratch: Any) -> None:
    """Fill `ahead` for the worlds from `first` to `end`.  It changes nothing else, so that several
    threads may look at once.

    room: from which row of the words on, and to which, new worlds may be kept.  Memory is read in
    rows of independent looks, so that the processor waits for many of them at once.
    """
    row, last_row = room
    last_slot = np.uint64(len(t.slots) - 1)
    world = first
    while world < end:
        begin = world
        count = 0
        most = min(end, begin + len(scratch.ends))  # a world that was never seen adds nothing
        while world < most and count + at[WIDEST] <= len(scratch.slots):
            after = _successors(t, at, ahead, world, count, scratch)
            ahead.fresh[world - at[CHUNK]] = -1 if after < 0 else 0
            count = max(count, after)
            scratch.ends[world - begin] = count
            world += 1
        for i in range(count):
            scratch.slots[i] = _hash(scratch.words, i * t.per, t.per) & last_slot
        for i in range(count):
            scratch.slots[i] |= np.uint64(t.slots[scratch.slots[i]]) << np.uint64(32)
        start = 0
        for from_ in range(begin, world):
            place = from_ - at[CHUNK]
            ahead.start[place] = row
            kept = row
            for i in range(start, scratch.ends[from_ - begin]):
                if scratch.slots[i] >> np.uint64(32) != 0:
                    found = scratch.words[i * t.per : (i + 1) * t.per]
                    if t.slots[_world_slot(t, found)] != 0:
                        continue
                if kept >= last_row:
                    ahead.fresh[place] = -1
                    break
                for k in range(t.per):
                    ahead.words[kept * t.per + k] = scratch.words[i * t.per + k]
                kept += 1
            if ahead.fresh[place] >= 0:
                ahead.fresh[place] = kept - row
                row = kept
            start = scratch.ends[from_ - begin]


# --- the search ------------------------------------------------------------------------------
@_compiled
def expand(
    t: Any,
    at: Any,
    ahead: Any,
    numbers: Any,
    settled: Any,
    key: Any,
    question: Any,
    focuses: Any,
    taken: Any,
    after: Any,
) -> Any:
    """Go on from world at[WORLD] to at[END]; returns why it ended.

    ahead: the findings of `look_ahead` about the worlds from at[CHUNK] on.  numbers: those of the
    fields of the world that it stands at.  settled: those of `after`, the world that it leads to.
    key: of the focus, observation or rest that was never seen.  question: the verdict that is
    missing.  focuses, taken: of the world, if it chooses (`_choose`).  A view is counted when it is
    done, so that it can be done anew.
    """
    views = len(t.view_start) - 1
    while at[WORLD] < at[END]:
        world = at[WORLD]
        if at[VIEW] < 0 and ahead.fresh[world - at[CHUNK]] >= 0:
            place = world - at[CHUNK]
            start = ahead.start[place]
            for i in range(start, start + ahead.fresh[place]):
                for k in range(t.per):
                    after[k] = ahead.words[i * t.per + k]
                if not _add(t, at, after, world):
                    return NO_ROOM
            at[TRANSITIONS] += ahead.transitions[place]
            at[WORLD] += 1
            if t.seen_broken[ahead.seen[place]] and at[VIOLATION] < 0:
                at[VIOLATION] = world
                if at[STOP]:
                    return STOPPED
            continue
        _unpack(t, world, numbers)
        if at[VIEW] < 0:
            granted = True
            if t.rationed and 0 < numbers[t.budget] < t.full:
                for view in range(views):
                    focus = _focus(t, numbers, view, key)
                    if focus < 0:
                        return NO_FOCUS
                    if t.own_end[focus] > t.move_start[focus] or (
                        t.patient and t.patient_end[focus] > t.fault_end[focus]
                    ):
                        granted = False
                        break
            at[CHOSEN] = ALL
            if t.choice.nodes:
                progressing = False
                for view in range(views):
                    focuses[view] = focus = _focus(t, numbers, view, key)
                    if focus < 0:
                        return NO_FOCUS
                    progressing = progressing or t.own_end[focus] > t.move_start[focus]
                if progressing:
                    at[CHOSEN] = _choose(t, numbers, focuses, question, taken)
                    if at[CHOSEN] == UNKNOWN:
                        return NO_VERDICT
            at[GRANTED] = granted
            at[PROGRESSING] = 0
            at[VIEW] = 0
        last = views
        if t.patient and (at[VIEW] > views or (at[VIEW] == views and not at[PROGRESSING])):
            last = 2 * views  # the call before ended among the patient timers
        while at[VIEW] < last:
            view = at[VIEW] if at[VIEW] < views else at[VIEW] - views
            focus = _focus(t, numbers, view, key)
            if focus < 0:
                return NO_FOCUS
            first = t.move_start[focus]
            own = t.own_end[focus]
            end = t.fault_end[focus] if at[GRANTED] else t.always_end[focus]
            if at[VIEW] >= views:  # nothing else is possible: patient timers
                first = t.fault_end[focus]
                own = t.patient_end[focus]
                end = t.move_start[focus + 1] if at[GRANTED] else own
            if t.by_world:
                idle = at[VIEW] >= views
                if idle:
                    t.granted[focus, 1] = True
                if at[GRANTED]:
                    t.granted[focus, 2 if idle else 0] = True
            if at[CHOSEN] == SOME:
                first = taken[view, 0]
                end = taken[view, 1]
                own = min(own, end)
            for move in range(first, end):
                if not _move(t, at, world, move, after, True):
                    return NO_ROOM
                ended = _settle(t, at, after, settled, key, True)
                if ended != DONE:
                    return ended
                if not _add(t, at, after, world):
                    return NO_ROOM
            if own > first:
                at[PROGRESSING] = 1
            at[TRANSITIONS] += end - first
            at[VIEW] += 1
            if at[VIEW] == views and t.patient and not at[PROGRESSING]:
                last = 2 * views
        for i in range(len(t.seen_fields)):
            key[i] = numbers[t.seen_fields[i]]
        seen = t.seen_slots[find_slot(t.seen_slots, t.seen_keys, key)]
        if seen < 0:
            return NO_OBSERVATION
        broken = t.seen_broken[seen]
        if not at[PROGRESSING]:
            for i in range(len(t.rest_fields)):
                key[i] = numbers[t.rest_fields[i]]
            rest = t.rest_slots[find_slot(t.rest_slots, t.rest_keys, key)]
            if rest < 0:
                return NO_REST
            broken = broken or t.rest_broken[rest]
            at[QUIESCENT] += 1
        at[WORLD] += 1
        at[VIEW] = -1
        if broken and at[VIOLATION] < 0:
            at[VIOLATION] = world
            if at[STOP]:
                return STOPPED
    return DONE


@_compiled
def follow(
    t: Any,
    at: Any,
    chosen: Any,
    end: Any,
    numbers: Any,
    settled: Any,
    key: Any,
    after: Any,
    edges: Any,
) -> Any:
    """Fill `edges` with rows (world, next world) of the chosen moves of the worlds from at[WORLD]
    to `end`, which have been expanded; returns how many rows there are."""
    count = 0
    while at[WORLD] < end and count + at[WIDEST] <= len(edges):
        _unpack(t, at[WORLD], numbers)
        idle = t.patient
        for view in range(len(t.view_start) - 1 if idle else 0):
            focus = _focus(t, numbers, view, key)
            idle = idle and t.own_end[focus] == t.move_start[focus]
        for view in range(len(t.view_start) - 1):
            focus = _focus(t, numbers, view, key)
            first = t.fault_end[focus] if idle else t.move_start[focus]
            own = t.patient_end[focus] if idle else t.own_end[focus]
            for move in range(first, own):
                if chosen[move]:
                    _move(t, at, at[WORLD], move, after, False)
                    _settle(t, at, after, settled, key, False)
                    edges[count, 0] = at[WORLD]
                    edges[count, 1] = np.int64(t.slots[_world_slot(t, after)]) - 1
                    count += 1
        at[WORLD] += 1
    return count
