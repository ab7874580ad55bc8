"""All checks of an engine, by name and by campaign.

Rule of this file: it finds the checks in the folders of the families, and runs none.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from engine_check.check import CAMPAIGNS, Check
from engine_check.engine import CheckedEngine
from engine_check.families import family_modules


def checks(engine: CheckedEngine, campaign: str = "full", /) -> dict[str, Check]:
    """All checks of a campaign by name: each module in a family's folder `checks` holds one as
    CHECK."""
    found = [
        import_module(f"{package.__name__}.{module.name}").CHECK
        for package in family_modules(engine, "checks")
        for module in iter_modules(package.__path__)
    ]
    until = CAMPAIGNS.index(campaign)
    wanted = [check for check in found if CAMPAIGNS.index(check.campaign) <= until]
    return {check.name: check for check in sorted(wanted, key=lambda check: check.name)}
