"""A source: it numbers tuples, punctuates, keeps what no global checkpoint contains, sends again.

Rule of this file: no partition, but `trim` and `resend`, which both share.

A punctuation ends a batch, so the batches of a replay are those of the run before.  A source
punctuates at a timer, which is set while there is something new, or a recovery to end: the world
decides when it runs out, which covers every period.  Other periods without data are as many as the
design says.
Su and Zhou, Progressive Recovery, 2016, Section 4.
"""

from __future__ import annotations

from model.boxes.box import Of
from model.core import (
    REPLAYED,
    Arrival,
    Effect,
    Input,
    NodeName,
    Note,
    Received,
    Send,
    SetTimer,
    Site,
    Step,
    TimerFired,
)
from model.events import Body
from model.log import Log
from model.protocols.progressive.design import Batches, Punctuates
from model.protocols.progressive.messages import (
    COORDINATOR,
    BatchEnd,
    Completed,
    DataTuple,
    Due,
    Epoch,
    Item,
    PartitionState,
    Punctuate,
    PunctuatingSource,
    Punctuation,
    Resend,
    Resume,
)
from model.protocols.progressive.routes import again_to, fan_out
from model.queues import STALE_NOTE

PUNCTUATE = "punctuate"


def boot(site: Site) -> PunctuatingSource:
    return PunctuatingSource(skipped=(0,) * len(site.config.routes))


def step(site: Site, state: PunctuatingSource, input_: Input) -> Step:
    match input_:
        case Arrival(gap, type_, data):
            number, now = state.number + 1, state.now + gap
            of = frozenset([Of(site.config.source, _count(state))])
            item = DataTuple(state.epoch, number, Body(now, type_, data), of)
            state, effects = _send_new(site, state._replace(now=now), item)
            return Step(state, (*effects, *_timer(site, state)))
        case TimerFired():
            if _is_under_way(site, state):  # another source was first
                return _end_batch(site, state)
            if not _has_new(state):
                state = state._replace(idle=min(state.idle + 1, site.config.design.idle))
            state, effects = _punctuate(site, state)
            if len(site.config.members.sources) > 1:
                effects = (*effects, Send(COORDINATOR, Due(state.k)))
            return Step(state, effects)
        case Received(_, Punctuate(k)):
            every: list[Effect] = []
            while state.k < k:
                state, effects = _punctuate(site, state)
                every += effects
            return Step(state, tuple(every))
        case Received(_, Completed(_, k)):
            state = state._replace(kept=trim(state.kept, k))
            due = _has_new(state) or state.idle < site.config.design.idle
            return Step(state, _timer(site, state) if due else ())
        case Received(_, Resume(epoch)):
            return _resume(site, state, epoch)
        case Received(consumer, Resend() as request):
            return Step(state, resend(site, state, consumer, request))
        case _:
            raise TypeError(f"{site.name}: nothing to do with {input_}")


def _count(state: PunctuatingSource) -> int:
    """How many tuples the source has sent: its other items are punctuations and ends of batches."""
    return state.number - state.k - state.ends


def _has_new(state: PunctuatingSource) -> bool:
    """Came any data after the last punctuation?"""
    return bool(state.kept) and not isinstance(state.kept.last(), Punctuation)


def _send_new(site: Site, state: PunctuatingSource, item: Item) -> Step:
    sends, skipped = fan_out(site, item, state.skipped)
    kept = state.kept.append(item)
    return Step(state._replace(number=item.number, kept=kept, skipped=skipped), sends)


def _punctuate(site: Site, state: PunctuatingSource) -> Step:
    k = state.k + 1
    return _send_new(site, state._replace(k=k), Punctuation(state.epoch, state.number + 1, k))


def _end_batch(site: Site, state: PunctuatingSource) -> Step:
    """End a batch with data, where batches end apart from punctuations."""
    marked = site.config.design.batches is Batches.MARKED
    if not marked or not isinstance(state.kept.last(), DataTuple):
        return Step(state)
    state = state._replace(ends=state.ends + 1)
    return _send_new(site, state, BatchEnd(state.epoch, state.number + 1))


def _resume(site: Site, state: PunctuatingSource, epoch: Epoch) -> Step:
    """Send again what came after the start of the epoch."""
    kept = trim(state.kept, epoch.start)
    again = [item._replace(epoch=epoch) for item in kept]
    effects: list[Effect] = [Note(REPLAYED, sum(isinstance(item, DataTuple) for item in again))]
    if site.config.routes:
        for succ in site.succs:
            effects += (Send(succ, item) for item in again_to(site, succ, again, state.skipped))
    else:
        effects += (Send(succ, item) for item in again for succ in site.succs)
    several = len(site.config.members.sources) > 1
    punctuates = site.config.design.punctuates is Punctuates.PERIODIC
    state = state._replace(epoch=epoch, kept=kept)
    if punctuates and (epoch.progressive or several):
        effects += _timer(site, state)
    return Step(state, tuple(effects))


def _timer(site: Site, state: PunctuatingSource) -> tuple[SetTimer, ...]:
    """The timer of the next punctuation, which may wait until no checkpoint is under way."""
    marked = site.config.design.batches is Batches.MARKED
    return (SetTimer(PUNCTUATE),) if marked or not _is_under_way(site, state) else ()


def _is_under_way(site: Site, state: PunctuatingSource) -> bool:
    """Is a checkpoint under way, so that the next punctuation has to wait?"""
    overlap = site.config.design.overlap
    return not overlap and any(isinstance(item, Punctuation) for item in state.kept)


def trim(kept: Log[Item], k: int) -> Log[Item]:
    """The items after the k-th punctuation; all of them if it is not there."""
    punctuations = (item for item in kept if isinstance(item, Punctuation) and item.k == k)
    place = next((item.number for item in punctuations), 0)
    return kept.trim(lambda item: item.number <= place)


def resend(
    site: Site, state: PunctuatingSource | PartitionState, consumer: NodeName, request: Resend
) -> tuple[Effect, ...]:
    """Send again what the consumer asks for; nothing if one of the two is to be rolled back."""
    if state.epoch is None or state.epoch.number != request.epoch.number:
        return (STALE_NOTE,)
    kept = again_to(site, consumer, state.kept, state.skipped)
    again = [item._replace(epoch=state.epoch) for item in kept if item.number > request.after]
    tuples = sum(isinstance(item, DataTuple) for item in again)
    return (Note(REPLAYED, tuples), *(Send(consumer, item) for item in again))
