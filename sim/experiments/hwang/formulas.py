"""Table 3: the paper's formulas of recovery times and duplicates.

Rule of this file: the paper's words as formulas; nothing is simulated.
Hwang et al., Sections 5.1 to 5.3, Tables 1 and 3.
"""

from __future__ import annotations

from sim.experiments.hwang.setting import (
    BYTES_A_MS,
    DELAY_MS,
    FILTER_MS,
    ID_BYTES,
    RATE,
    REDIRECT_MS,
    TUPLE_BYTES,
    HwangSetting,
    StudiedProtocol,
)

K_MS = REDIRECT_MS + DELAY_MS
"""r + d: until the recovery node has its first tuple."""
RATE_MS = RATE / 1000


def work_ms(setting: HwangSetting) -> float:
    """p: the processing of an input tuple, on average."""
    network = setting.network
    if not network.aggregates:
        return FILTER_MS
    rate, work = 1.0, 0.0
    for at in range(network.aggregates):
        window, advance = network.windows(at)
        work += rate * window / advance * FILTER_MS
        rate /= advance
    return work


def reprocessed(setting: HwangSetting) -> float:
    """Q: how many input tuples are processed again."""
    network, interval = setting.network, setting.interval_ms
    match setting.protocol:
        case StudiedProtocol.PASSIVE:
            return interval * RATE_MS / 2
        case StudiedProtocol.UPSTREAM:
            state = network.aggregates * network.window
            return state + interval * RATE_MS + 2 * DELAY_MS * RATE_MS
        case _:
            return 0.0


def recovery_ms(setting: HwangSetting) -> float:
    """K + Q p; active standby: the time to send its duplicates, and r if it asks first."""
    if setting.protocol is StudiedProtocol.AMNESIA:
        return 0.0
    if setting.protocol is StudiedProtocol.ACTIVE:
        sent = duplicates(setting) * TUPLE_BYTES / BYTES_A_MS
        return REDIRECT_MS if setting.precise else sent
    return K_MS + reprocessed(setting) * work_ms(setting)


def selectivity(setting: HwangSetting) -> float:
    """Outputs of the node for each input."""
    share = 1.0
    for at in range(setting.network.aggregates):
        share /= setting.network.windows(at)[1]
    return share


def duplicates(setting: HwangSetting) -> float:
    """Delta: how many tuples downstream gets again."""
    if setting.precise:
        return 0.0
    out = RATE_MS * selectivity(setting)
    match setting.protocol:
        case StudiedProtocol.PASSIVE:
            return setting.interval_ms * out
        case StudiedProtocol.ACTIVE:
            return setting.interval_ms * out / 2 + 2 * DELAY_MS * out
        case StudiedProtocol.UPSTREAM:
            state = setting.network.aggregates * setting.network.window
            return (reprocessed(setting) - state) * selectivity(setting)
        case StudiedProtocol.AMNESIA:
            return 0.0


def overhead(setting: HwangSetting) -> float:
    """The bandwidth overhead that the text gives: identifiers an interval over tuples an interval,
    one for each input and level (5.2.1, 7.1); active standby sends every tuple twice."""
    ids = setting.network.inputs * ID_BYTES / (setting.interval_ms * RATE_MS * TUPLE_BYTES)
    match setting.protocol:
        case StudiedProtocol.UPSTREAM:
            return 2 * ids + (ID_BYTES / TUPLE_BYTES if setting.precise else 0.0)
        case StudiedProtocol.ACTIVE:
            return 1 + ids
        case _:
            return 0.0
