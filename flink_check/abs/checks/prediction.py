"""Recovery time and replayed events of real kills, compared with the simulator's predictions.

Rule of this file: cases; series are run by kill_series, and predicted by sim.predictions.

The first kills of a series calibrate it, and the others are predicted.  For each of these there are
two scenario files: one has the usual outage of the calibration, the other the outage as it was
seen, so that the difference is the part of the error that the outage has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from engine_check.check import Check, CheckSetting, engine_case
from engine_check.machine import load
from flink_check.abs.kill_series import (
    RATE,
    MeasuredKill,
    MeasuredSeries,
    SeriesSettings,
    run_series,
)
from flink_check.abs.outage import explained_share, variance_shares
from model.results.engine import EngineCase, EngineOutage
from sim.predictions.abs.recovery import (
    PacedJob,
    RecoveryCosts,
    RecoveryPrediction,
    calibrate,
    predict,
    scenario,
)

SERIES = {
    "quick": (SeriesSettings(2.0, 0.002, 3),),
    "full": tuple(
        SeriesSettings(interval_s, busy_s, 6)
        for interval_s in (2.0, 5.0, 10.0)
        for busy_s in (0.002, 0.0035)
    ),
}
CALIBRATING = {"quick": 1, "full": 2}
"""Kills of a series that calibrate it."""
REPLAYED_SHARE, REPLAYED_LEAST = 0.03, 3
"""Replayed events are as predicted if they differ by so large a share at most, or so few events."""
CLOCK_S = 0.02
"""The moments of an outage are whole milliseconds, and a row is written some time after its task
began."""
RECOVERY_SHARE = 0.05
"""A recovery is as predicted, with its outage as it was seen, if it differs by at most this."""


class RecoveryErrors(NamedTuple):
    """The relative errors of a predicted recovery: with the outage of the calibration, and with the
    outage as it was seen."""

    error: float
    error_outage_seen: float


class PredictedKill(NamedTuple):
    """A kill with its predictions.  usual: with the outage of the calibration.  own: with the
    outage as it was seen."""

    kill: MeasuredKill
    costs: RecoveryCosts
    usual: RecoveryPrediction
    own: RecoveryPrediction

    def errors(self) -> RecoveryErrors:
        """The errors of both predictions."""
        seen_s = self.kill.parts.recovery_s
        return RecoveryErrors(self.usual.recovery_s / seen_s - 1, self.own.recovery_s / seen_s - 1)


def near_replayed(predicted: int, seen: int) -> bool:
    """Are these replayed events as predicted?"""
    return abs(predicted - seen) <= max(REPLAYED_LEAST, REPLAYED_SHARE * seen)


def near_recovery(predicted_s: float, seen_s: float) -> bool:
    """Is this recovery as predicted?"""
    return abs(predicted_s - seen_s) <= RECOVERY_SHARE * seen_s


def predict_series(work: Path, series: MeasuredSeries, calibrating: int) -> Iterator[PredictedKill]:
    """The predictions of all kills but the first ones, which calibrate.

    work: a folder, which receives the scenario files.
    """
    costs = calibrate([kill.parts for kill in series.kills[:calibrating]])
    job = PacedJob(RATE, series.settings.interval_s)
    for number, kill in enumerate(series.kills[calibrating:], calibrating + 1):
        found = []
        for name, outage_s in (("", costs.outage_s), ("-outage-as-seen", kill.parts.outage_s)):
            file = work / f"kill-{number}{name}.toml"
            about = (
                f"Kill {number} of a series on Flink ({series.settings.title}); costs: the median "
                f"of its first {calibrating}"
            )
            priced = costs._replace(outage_s=outage_s)
            file.write_text(scenario(job, priced, kill.parts.age_s, about), encoding="utf-8")
            found.append(predict(file))
        yield PredictedKill(kill, costs, *found)


# --- cases -------------------------------------------------------------------------------------
def series_case(series: MeasuredSeries, calibrating: int) -> EngineCase:
    """The rows of the sinks after all kills of a series, and the costs of its first kills."""
    kills = series.kills
    costs = calibrate([kill.parts for kill in kills[:calibrating]])
    replayed = sum(kill.parts.replayed for kill in kills)
    return engine_case(
        f"{series.settings.title}, all {len(kills)} kills",
        {"exact": True, "missing": 0, "repeated": replayed},
        {"exact": series.exact, "missing": series.missing, "repeated": series.repeated},
        details={**_rounded(costs._asdict()), "load": load()},
        crashed=(_outage(series.settings),) * calibrating,
    )


def kill_case(settings: SeriesSettings, number: int, predicted: PredictedKill) -> EngineCase:
    """A kill that was predicted."""
    kill, costs, usual, own = predicted
    seen = kill.parts
    since = round(RATE * seen.age_s)
    times = {
        "recovery": (usual.recovery_s, seen.recovery_s),
        "recovery, outage as seen": (own.recovery_s, seen.recovery_s),
        "outage": (costs.outage_s, seen.outage_s),
    }
    return engine_case(
        f"{settings.title}, kill {number}",
        {"same": True, "restored": kill.last, "replayed_near": True, "recovery_near": True},
        {
            "same": own.same,
            "restored": kill.restored,
            "replayed_near": near_replayed(own.replayed, seen.replayed),
            "recovery_near": near_recovery(own.recovery_s, seen.recovery_s),
        },
        details={
            **_rounded(seen._asdict()),
            "replayed, predicted": own.replayed,
            **_rounded(predicted.errors()._asdict()),
            **_rounded(kill.outage._asdict()),
            "restarts": kill.restarts,
        },
        crashed=(_outage(settings),),
        seconds=times,
        events=dict.fromkeys(times, since),
    )


def outage_case(series: Sequence[MeasuredSeries], predicted: Sequence[PredictedKill]) -> EngineCase:
    """The parts of all outages: their shares of the variance, and of the errors.

    The moments of an outage come from two clocks of one machine, the check's and Flink's: a part
    below none means that they were read wrongly.
    """
    outages = [[kill.outage for kill in one.kills] for one in series]
    errors = [one.errors() for one in predicted]
    usual, own = zip(*errors, strict=True)
    explained = explained_share(usual, own)
    case = engine_case(
        "parts of the outages",
        {"in_order": True},
        {"in_order": all(part > -CLOCK_S for one in outages for kill in one for part in kill)},
        details={"errors that the outage explains": explained and round(explained, 3)},
    )
    return replace(case, shares=variance_shares(outages))


def _outage(settings: SeriesSettings) -> EngineOutage:
    return EngineOutage(f"task manager, {settings.title}", "between two checkpoints")


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {key: round(value, 4) for key, value in values.items()}


def _run(setting: CheckSetting) -> tuple[EngineCase, ...]:
    return tuple(_cases(setting, SERIES[setting.profile], CALIBRATING[setting.profile]))


def _cases(
    setting: CheckSetting, wanted: Sequence[SeriesSettings], calibrating: int
) -> Iterator[EngineCase]:
    """All series are measured first: the simulator would take time from Flink."""
    kills = sum(one.kills for one in wanted)
    measured: list[MeasuredSeries] = []
    for number, one in enumerate(wanted, 1):
        before = sum(other.settings.kills for other in measured)

        def report(done: int, before: int = before) -> None:
            setting.report("kills", before + done, kills)

        measured.append(run_series(setting.work / f"series-{number}", one, report))
    predicted: list[PredictedKill] = []
    for number, series in enumerate(measured, 1):
        yield series_case(series, calibrating)
        of_series = predict_series(setting.work / f"series-{number}", series, calibrating)
        for at, one_kill in enumerate(of_series, calibrating + 1):
            setting.report("predictions", len(predicted), kills - calibrating * len(wanted))
            predicted.append(one_kill)
            yield kill_case(series.settings, at, one_kill)
    yield outage_case(measured, predicted)


CHECK = Check(
    "prediction",
    "How well the simulator predicts replayed events and recovery time",
    _run,
    notes=(
        "The first kills of each series calibrate it; the others are predicted.",
        "A prediction is near if replayed events differ by 3 % or 3 events at most, and the "
        "recovery by 5 % with the outage as it was seen.",
    ),
    campaign="full",
)
