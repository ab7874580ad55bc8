"""Kept reports: the outcomes of earlier reports, a file each, to compare later ones with.

Rule of this file: files alone; reports.page.changes makes and compares outcomes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from model.errors import Invalid
from model.machine import files, folders
from model.results.plain import plain, read
from model.results.report import KeptReport, ReportOrigin

FOLDER = "kept"
"""The folder of the kept reports, beside the page."""
DIRTY = "-dirty"
"""The end of a commit whose files differ (asif.versions.commit)."""
MOST = 50
"""The number of reports that are kept; older ones are deleted."""


def keep(out: Path, report: KeptReport) -> Path | None:
    """Keep the outcomes of a report: the path of their file; None of a report without a date."""
    if report.origin is None:
        return None
    folder = folders.claimed(out / FOLDER)
    name = f"{report.origin.moment.replace(':', '')}-{report.profile}.json"
    files.write({folder / name: json.dumps(plain(report), indent=1)})
    for old in _files(out)[MOST:]:
        folders.delete_inside(old)
    return folder / name


def earlier(out: Path, profile: str, since: str | None) -> KeptReport | None:
    """The report to compare with: the newest of this profile; None if none is kept.

    since: the beginning of a date, in the form of the page or of the file, or of a commit, also in
    full; the newest report with it, of any profile.  Raises Invalid if there is none.
    """
    known = [*_kept(out)]
    if since is None:
        return next((one for one in known if one.profile == profile), None)
    for one in known:
        if one.origin is not None and _begins(one.origin, since):
            return one
    moments = ", ".join(one.origin.moment for one in known if one.origin) or "none"
    raise Invalid(f"--since {since}: no kept report begins so; kept in {out / FOLDER}: {moments}")


def _begins(origin: ReportOrigin, since: str) -> bool:
    """Is `since` the beginning of the date or of the commit?  A kept commit is cut itself."""
    commit = origin.commit or ""
    clean = commit.removesuffix(DIRTY)
    named = commit.startswith(since) or (bool(clean) and since.startswith(clean))
    moment = since.replace(" UTC", "Z").replace(" ", "T")
    return named or origin.moment.startswith(moment)


def _kept(out: Path) -> Iterator[KeptReport]:
    """The kept reports, the newest first; a file that holds none is passed over."""
    for path in _files(out):
        try:
            yield read(KeptReport, json.loads(path.read_text(encoding="utf-8")), str(path))
        except (OSError, ValueError, Invalid):
            continue


def _files(out: Path) -> list[Path]:
    return sorted((out / FOLDER).glob("*.json"), reverse=True)
