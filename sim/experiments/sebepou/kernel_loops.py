"""The compiled part of the kernel: one operator with keyed tumbling count windows, tuple by tuple.

Rule of this file: what sim.experiments.compiled compiles.  sim.experiments.sebepou.kernel has the
tables and the results; tests/families/cec/test_kernel.py has the same in a few lines, with
dictionaries.

Open windows are a ring, oldest footprint first; entry K of `following` and `previous`, for K keys,
is its beginning and its end.  Times are whole picoseconds, so that sums are exact.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sim.experiments.compiled import compiled, inlined

Ints: TypeAlias = NDArray[np.int64]
Small: TypeAlias = NDArray[np.int32]
Floats: TypeAlias = NDArray[np.float64]

# --- entries of `totals` -------------------------------------------------------------------------
CLOCK, HEAD, OPENS, RESULTS, CHECKS = range(5)  # at the end; HEAD: records written
EXTENT, REPLAY, ESTIMATE, WINDOWS = 5, 6, 7, 8  # at the crash
MOST_EXTENT, MOST_REPLAY, MOST_WINDOWS = 9, 10, 11  # after the warm-up
SAVES, SAVED, COPIES = 12, 13, 14  # checkpoints complete, windows in them, windows copied
ESTIMATED_REPLAY = 15  # at the crash
TOTALS = 16
# --- entries of `areas`: integrals over time, in picoseconds, from the warm-up to the end --------
EXTENT_AREA, REPLAY_AREA, LOADED_AREA, WINDOWS_AREA, TIME = range(5)
AREAS = 5


class ExtentSettingCompiled(NamedTuple):
    """As sim.experiments.sebepou.kernel.Setting, in numbers: 0 stands for "none".

    control: write G_open records.  differences: go by the published estimate.  period: CP.
    busy: CI.  save_period: of instant checkpoints.  copies: copy on write.
    tuple_, check, write, copy, second: times.
    """

    size: int
    control: bool
    q_target: int
    u_target: int
    differences: bool
    period: int
    busy: int
    save_period: int
    copies: bool
    tuple_: int
    check: int
    write: int
    copy: int
    second: int
    warm: int
    crash: int


class ExtentTables(NamedTuple):
    """By key.  held: tuples in the open window, 0 if none.  record, input: the places of its
    footprint.  opened: when.  records, inputs: the published differences.  copied: the newest
    checkpoint that has the window already.
    By second of time.  sums, counts: of the times that the windows that closed then were open.
    """

    held: Small
    record: Ints
    input: Ints
    opened: Ints
    previous: Small
    following: Small
    records: Ints
    inputs: Ints
    copied: Small
    sums: Ints
    counts: Ints
    totals: Ints
    areas: Floats


@inlined
def _remove(previous: Small, following: Small, key: int) -> None:
    before, after = previous[key], following[key]
    following[before] = after
    previous[after] = before


@inlined
def _append(previous: Small, following: Small, key: int, ring: int) -> None:
    last = previous[ring]
    following[last] = key
    previous[key] = last
    following[key] = ring
    previous[ring] = key


@compiled
def simulate(rules: ExtentSettingCompiled, tables: ExtentTables, items: Small) -> None:
    """Process all items.

    This is one function of more than 60 lines: its thirty counters are locals of one compiled loop,
    and each stage that was a function of its own would take and return half of them.
    """
    size, control, q_target, u_target, differences, period, busy = rules[:7]
    save_period, copies, tuple_, check, write, copy, second, warm, crash = rules[7:]
    held, record, input_, opened, previous, following, records, inputs, copied = tables[:9]
    sums, counts, totals, areas = tables[9:]
    ring = len(held)
    previous[ring] = following[ring] = ring
    clock = head = opens = results = checks = windows = 0
    sum_records = sum_inputs = since_records = since_inputs = 0
    tick, save_tick = period, save_period
    saving, done, epoch, captured, pending = False, 0, 0, 0, 0
    loaded = pending_loaded = 0
    saves = saved = copied_windows = 0
    for place in range(len(items)):  # tuples processed so far
        begun, before = clock, windows
        # --- the cost of a crash now ---
        q = u = 0
        if control:
            oldest = following[ring]
            if windows > 0:
                q = head - record[oldest] + 1
                u = place - input_[oldest]
        elif save_period > 0:
            if saving and clock >= done:
                saving = False
                captured, loaded = pending, pending_loaded
                saves += 1
                saved += loaded
            u = place - captured
        if place == crash:
            totals[EXTENT], totals[REPLAY], totals[WINDOWS] = q, u, windows
            if windows > 0 and control:
                oldest = following[ring]
                totals[ESTIMATE] = 1 + sum_records - records[oldest] + since_records
                totals[ESTIMATED_REPLAY] = sum_inputs - inputs[oldest] + since_inputs
        if place >= warm:
            totals[MOST_EXTENT] = max(totals[MOST_EXTENT], q)
            totals[MOST_REPLAY] = max(totals[MOST_REPLAY], u)
            totals[MOST_WINDOWS] = max(totals[MOST_WINDOWS], windows)
        # --- background: G_checks ---
        if period > 0 and clock >= tick:
            tick = clock + period
            while windows > 0 and clock - begun < busy:
                oldest = following[ring]
                if differences:
                    estimate = 1 + sum_records - records[oldest] + since_records
                    behind = sum_inputs - inputs[oldest] + since_inputs
                else:
                    estimate = head - record[oldest] + 1
                    behind = place - input_[oldest]
                if not (
                    (q_target > 0 and estimate > q_target) or (u_target > 0 and behind > u_target)
                ):
                    break
                head += 1
                checks += 1
                clock += check
                _remove(previous, following, oldest)
                _append(previous, following, oldest, ring)
                record[oldest] = head
                input_[oldest] = place
                sum_records += since_records + 1 - records[oldest]
                sum_inputs += since_inputs - inputs[oldest]
                records[oldest] = since_records + 1
                inputs[oldest] = since_inputs
                since_records = since_inputs = 0
        # --- background: an instant checkpoint ---
        if save_period > 0 and not saving and clock >= save_tick:
            save_tick = clock + save_period
            saving = True
            epoch += 1
            pending, pending_loaded = place, windows
            done = clock + windows * write
            if not copies:
                clock = done
        # --- foreground ---
        clock += tuple_
        since_inputs += 1
        key = items[place]
        if held[key] == 0:
            windows += 1
            opens += 1
            if control:
                head += 1
                clock += check
                _append(previous, following, key, ring)
                record[key] = head
                input_[key] = place + 1
                records[key] = since_records + 1
                inputs[key] = since_inputs
                sum_records += records[key]
                sum_inputs += since_inputs
                since_records = since_inputs = 0
            opened[key] = clock
            copied[key] = epoch
        elif saving and copies and copied[key] != epoch:
            clock += copy
            copied_windows += 1
            copied[key] = epoch
        held[key] += 1
        if held[key] == size:
            held[key] = 0
            windows -= 1
            results += 1
            head += 1
            since_records += 1
            if control:
                _remove(previous, following, key)
                sum_records -= records[key]
                sum_inputs -= inputs[key]
            bucket = min(clock // second, len(sums) - 1)
            sums[bucket] += clock - opened[key]
            counts[bucket] += 1
        if place >= warm:
            passed = float(clock - begun)
            areas[EXTENT_AREA] += q * passed
            areas[REPLAY_AREA] += u * passed
            areas[LOADED_AREA] += loaded * passed
            areas[WINDOWS_AREA] += before * passed
            areas[TIME] += passed
    totals[CLOCK], totals[HEAD], totals[OPENS], totals[RESULTS] = clock, head, opens, results
    totals[CHECKS], totals[SAVES], totals[SAVED] = checks, saves, saved
    totals[COPIES] = copied_windows
