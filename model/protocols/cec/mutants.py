"""One-line faults of continuous eventual checkpointing, which the checkers must find.

Rule of this file: no code but the lines of mutants; model.evidence.Mutant explains the fields.
"""

from __future__ import annotations

from model.evidence import Mutant

HOME = "model.protocols.cec"
CONSUMERS, DISK, NODES, OPERATOR, SCAN = (
    f"{HOME}.{name}" for name in ("consumers", "disk", "nodes", "operator", "scan")
)
QUEUES = "model.queues"
MUTANTS = (
    # --- the scan ---
    Mutant(
        "stop the scan one footprint early",
        SCAN,
        "if wanted is not None and footprints >= wanted:",
        "if wanted is not None and footprints >= wanted - 1:",
        "a join by time",
    ),
    Mutant(
        "replay from the newest footprint",
        SCAN,
        "return min((window.foot, window.places) for window in windows)",
        "return max((window.foot, window.places) for window in windows)",
        "sliding windows",
    ),
    Mutant(
        "take N from the oldest record",
        SCAN,
        "if wanted is None and (design.count is WindowCount.EVERY or record.kind is not "
        "Kind.RESULT):",
        "if design.count is WindowCount.EVERY or record.kind is not Kind.RESULT:",
        "sliding windows",
    ),
    Mutant(
        "a result does not exclude the window's older footprints",
        SCAN,
        "seen.add(window)",
        "_ = record.pane and seen.add(window)",
        "sliding windows",
    ),
    Mutant(
        "take the older of two footprints",
        SCAN,
        "if window in seen:",
        "if window in seen and record.kind is not Kind.OPEN:",
        "background",
    ),
    Mutant(
        "forget the floors of closed keys",
        SCAN,
        "floors += [Floor(key, None, record.stamp) for key, record in newest_of.items()]",
        "floors += []",
        "a join by time",
    ),
    Mutant(
        "a key between windows is no footprint",
        SCAN,
        "if record.pane is not None or (record.between and first):",
        "if record.pane is not None:",
        "gaps between windows",
    ),
    Mutant(
        "a result is a footprint although its key has open windows",
        SCAN,
        "if record.pane is not None or (record.between and first):",
        "if record.pane is not None or (record.next is not None and first):",
        "windows that overlap in part",
    ),
    Mutant(
        "take a torn segment as whole",
        SCAN,
        "if segment.torn or (design.damage is Damage.CUT and (missing or cut)):",
        "if design.damage is Damage.CUT and segment.place != expected:",
        "a join, outstanding writes",
    ),
    Mutant(
        "keep what comes after a hole",
        SCAN,
        "missing = segment.torn or segment.place != expected",
        "missing = segment.torn",
        "outstanding writes, queues let go",
    ),
    Mutant(
        "leave cut segments where they are",
        SCAN,
        "left = tuple(cut) if design.discard is CutRecords.OVERWRITTEN else ()",
        "left = tuple(cut)",
        "outstanding writes, background, two crashes",
    ),
    Mutant(
        "leave the index as it was stored",
        SCAN,
        "if indexed and design.index is not IndexRepair.STORED:",
        "if indexed and not good:",
        "an index",
    ),
    # --- the operator ---
    Mutant(
        "write N as it was before the change",
        OPERATOR,
        "n = len(windows)",
        "n = len(windows) - (kind is Kind.OPEN)",
        "sliding windows",
    ),
    Mutant(
        "a window takes replayed tuples again",
        OPERATOR,
        "if window.pane and window.opened not in ignoring(design, state, window.key, stamp)",
        "if window.pane",
        "replay-with: a filter upstream",
    ),
    Mutant(
        "a key opens windows again",
        OPERATOR,
        "if None not in below and not box.is_tick(item.body):",
        "if not box.is_tick(item.body):",
        "replay-with: a filter upstream",
    ),
    Mutant(
        "forget the floors too early",
        OPERATOR,
        "floors = state.floors if stamp <= state.until else ()",
        "floors = state.floors if stamp < state.until - 1 else ()",
        "a join by time",
    ),
    Mutant(
        "a window is forgotten with its G_check",
        OPERATOR,
        "if pane is not None or between:",
        "if between:",
        "background",
    ),
    Mutant(
        "a G_check keeps a closed window",
        OPERATOR,
        "if pane is not None or between:",
        "if True:",
        "closed-windows-checked: no crash, gaps between windows",
    ),
    Mutant(
        "checkpoint during the replay",
        OPERATOR,
        "if design.background is Background.CAUGHT_UP and state.stamp < state.until:",
        "if design.background is Background.CAUGHT_UP and state.stamp < state.until - 1:",
        "background, two crashes",
    ),
    Mutant(
        "number a key's windows alike",
        OPERATOR,
        "id_ = opening(pane, place)",
        "id_ = 0",
        "sliding windows",
    ),
    Mutant(
        "a tuple closes the windows of its own key alone",
        OPERATOR,
        "mine = [window for window in state.windows if box.any_closes or window.key == key]",
        "mine = [window for window in state.windows if window.key == key]",
        "windows that any key closes",
    ),
    Mutant(
        "a tick opens windows",
        OPERATOR,
        "if None not in below and not box.is_tick(item.body):",
        "if None not in below:",
        "windows that ticks close",
    ),
    # --- the disk ---
    Mutant(
        "send on before the write",
        DISK,
        "return min((segment.place for segment in state.waiting), default=state.segments + 1) - 1",
        "return state.segments",
        "catching up",
    ),
    Mutant(
        "let go of the oldest footprint",
        DISK,
        "return last.results <= acknowledged and segment.place < oldest",
        "return last.results <= acknowledged and segment.place <= oldest",
        "a join by time",
    ),
    Mutant(
        "let go of results that nobody has acknowledged",
        DISK,
        "return last.results <= acknowledged and segment.place < oldest",
        "return segment.place < oldest",
        "catching up",
    ),
    Mutant(
        "let go while a footprint is not stored",
        DISK,
        "if state.waiting or state.grouped:  # a footprint may not be stored yet",
        "if len(state.waiting) > 1:",
        "outstanding writes, queues let go",
    ),
    Mutant(
        "never let go",
        DISK,
        "kept = log.trim(is_old)",
        "kept = log",
        "no crash",
    ),
    Mutant(
        "do not note where the log begins",
        DISK,
        "begins += len(log) - len(kept)",
        "begins += 0",
        "background, windows of three",
    ),
    Mutant(
        "send all results again",
        DISK,
        "if record.out and request.wants(Event((record.results,), record.out.body))",
        "if record.out",
        "results alone",
    ),
    Mutant(
        "go on after the log, whatever is stored",
        DISK,
        "sent = (*state.sent[:output], end, *state.sent[output + 1 :])",
        "sent = (*state.sent[:output], state.segments, *state.sent[output + 1 :])",
        "catching up",
    ),
    Mutant(
        "a reader ends where the log ended",
        DISK,
        "state = state._replace(sent=(segment.place,))",
        "state = state._replace(sent=(state.segments,))",
        "catching up",
    ),
    Mutant(
        "let go of results that one output has acknowledged",
        DISK,
        "acknowledged, extent = min(state.acknowledged), site.config.design.log_trim is "
        "LogTrim.EXTENT",
        "acknowledged, extent = max(state.acknowledged), site.config.design.log_trim is "
        "LogTrim.EXTENT",
        "two outputs, queues let go",
    ),
    Mutant(
        "let go while a stream event has not ended",
        DISK,
        "if state.waiting or state.grouped:  # a footprint may not be stored yet",
        "if state.waiting:",
        "stream events of several tuples, queues let go",
    ),
    Mutant(
        "a log in memory answers as if nothing was sent",
        DISK,
        "start = max(start, request.after)",
        "start = max(start, 0)",
        "a stream in memory",
    ),
    # --- the nodes ---
    Mutant(
        "acknowledge what is not stored",
        NODES,
        "if state.waiting or state.grouped:  # a footprint may not be stored yet",
        "if not state.disk.log:",
        "outstanding writes, queues let go",
    ),
    Mutant(
        "acknowledge the newest footprint",
        NODES,
        "stamp, places = min(feet, default=(newest.stamp, newest.places))",
        "stamp, places = max(feet, default=(newest.stamp, newest.places))",
        "windows of three, queues let go",
    ),
    Mutant(
        "acknowledge one tuple too few",
        NODES,
        "after.append(Send(site.preds[edge], Trim(place)))",
        "after.append(Send(site.preds[edge], Trim(place - 1)))",
        "no crash",
    ),
    Mutant(
        "count results from the beginning after a restart",
        NODES,
        "results=found.results,",
        "results=0,",
        "results alone",
    ),
    Mutant(
        "number segments from the beginning after a restart",
        NODES,
        "segments=segments,",
        "segments=0,",
        "windows of two tuples",
    ),
    Mutant(
        "a consumer asks again for what it has",
        CONSUMERS,
        "request = Replay(inlet.place if by is Stamp.PLACE else inlet.time, by)",
        "request = Replay(inlet.place - 1 if by is Stamp.PLACE else inlet.time, by)",
        "results alone",
    ),
    Mutant(
        "acknowledge while a stream event has not ended",
        NODES,
        "if state.waiting or state.grouped:  # a footprint may not be stored yet",
        "if state.waiting:",
        "stream events of several tuples, queues let go",
    ),
    Mutant(
        "a log in memory is no reason to keep its inputs",
        NODES,
        "if not site.spec.persists:  # a restart begins with nothing",
        "if site.spec.groups:",
        "a stream in memory, two crashes",
    ),
    # --- several inputs ---
    Mutant(
        "take what the log does not cover before the rest",
        QUEUES,
        "if queue and (not any(behind) or behind[edge]):",
        "if queue:",
        "a join",
    ),
    Mutant(
        "take the latest tuple first",
        QUEUES,
        "return min(times)[1]",
        "return max(times)[1]",
        "a join by time",
    ),
    Mutant(
        "count what waits as taken",
        QUEUES,
        "return tuple(end.place - len(queue) for end, queue in pairs)",
        "return tuple(end.place for end, queue in pairs)",
        "a join by time",
    ),
    Mutant(
        "wait for what the footprint covers, not the newest record",
        SCAN,
        "until=() if newest is None else newest.places,",
        "until=places,",
        "a join",
    ),
    Mutant(
        "a result does not say how far the inputs are",
        OPERATOR,
        "records = [record._replace(places=places) for record in records]",
        "records = [one if one.out else one._replace(places=places) for one in records]",
        "a join",
    ),
    Mutant(
        "footprints move without a record",
        OPERATOR,
        "window if window.places else window._replace(places=places) for window in state.windows",
        "window._replace(places=places) for window in state.windows",
        "a join, queues let go",
    ),
    Mutant(
        "count the places of inputs from the beginning after a restart",
        CONSUMERS,
        "ends = tuple(Inlet(place, time, request) for place, request in asked)",
        "ends = tuple(Inlet(0, time, request) for place, request in asked)",
        "a join",
    ),
    Mutant(
        "acknowledge to all inputs what one may let go of",
        NODES,
        "return places or (stamp,) * len(site.preds)",
        "return (stamp,) * len(site.preds)",
        "a join, queues let go",
    ),
    # --- queues ---
    Mutant(
        "the source lets go of one event too many",
        QUEUES,
        "kept = state.kept.trim(lambda event: event.sn[0] <= place)",
        "kept = state.kept.trim(lambda event: event.sn[0] <= place + 1)",
        "catching up, queues let go",
    ),
    Mutant(
        "take what an older connection brings",
        QUEUES,
        "return self.request is None and event.sn[0] == self.place + 1",
        "return self.request is None",
        "adjacent crashes",
    ),
)
