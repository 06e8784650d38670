"""Frameworks and campaigns as they were asked for on the command line.

What reads and builds them is imported where it is used: help does without it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.cli import messages
from plimsoll.errors import CampaignError, NotInstalled, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from plimsoll.campaign.campaign import Campaign
    from plimsoll.campaign.framework import Framework, Installable
    from plimsoll.campaign.load import Load
    from plimsoll.campaign.requests import Exchange
    from plimsoll.campaign.tool import Tool
    from plimsoll.plan import Refuses


def named(names: Sequence[str], root: Path | None) -> tuple[Framework, ...]:
    """Frameworks by name; every plain one when none is named.

    Raises:
        CampaignError: There is no such framework, or its file has mistakes.
    """
    from plimsoll.campaign import framework as frameworks  # noqa: PLC0415

    return frameworks.choose(frameworks.locate(root), names or ("all",))


def installable(names: Sequence[str], root: Path | None) -> tuple[Installable, ...]:
    """Frameworks and tools by name: the tools first.

    Raises:
        CampaignError: There is no such framework or tool, or its file has mistakes.
    """
    from plimsoll.campaign import tool  # noqa: PLC0415

    frameworks = [name for name in names if name not in tool.names()]
    return (*tools(names), *(named(frameworks, root) if frameworks else ()))


def of_campaign(asked: Campaign) -> tuple[Installable, ...]:
    """What a campaign needs installed: the tools that it names as drivers, and its frameworks."""
    return (*(() if asked.drivers_optional else tools(asked.drivers)), *asked.frameworks)


def tools(names: Sequence[str]) -> tuple[Tool, ...]:
    """Those of some names that are tools.

    Raises:
        CampaignError: The file of one has mistakes.
    """
    from plimsoll.campaign import tool  # noqa: PLC0415

    return tuple(found for name in names if (found := tool.named(name)))


def campaign(path: Path, settings: Sequence[str], root: Path | None) -> Campaign:
    """A campaign file with settings laid over it.

    Raises:
        CampaignError: The file, or a setting, is wrong.
    """
    from plimsoll.campaign import campaign as campaigns  # noqa: PLC0415
    from plimsoll.conduct.drivers import DRIVERS  # noqa: PLC0415

    drivers = [driver.NAME for driver in DRIVERS]
    return campaigns.read(path, settings, root, drivers=drivers, limits=known_limits())


def known_limits() -> dict[str, set[str]]:
    """Names of the limits that a campaign may change, by check."""
    from plimsoll.verdicts.limits import LIMITS  # noqa: PLC0415

    names: dict[str, set[str]] = {}
    for limit in LIMITS:
        names.setdefault(limit.check, set()).update(limit.setting_names)
    return names


def ready(chosen: Sequence[Framework]) -> tuple[Framework, ...]:
    """Those frameworks that can be started here; the others are named on stderr."""
    here: list[Framework] = []
    for framework in chosen:
        error = _absent(framework)
        if error is None:
            here.append(framework)
        else:
            messages.note(f"left out: {error.message}")
            messages.note(f"to have it: {error.hint}")
    return tuple(here)


def with_available(asked: Campaign) -> Campaign:
    """A campaign without the frameworks that cannot be started here, and without other drivers."""
    return replace(asked, frameworks=ready(asked.frameworks), drivers_optional=True)


def refusals(asked: Campaign) -> Refuses:
    """Why a driver of a campaign cannot put on a load.

    Where drivers are optional, one that is missing refuses everything.

    Raises:
        CampaignError: A driver that was asked for by its name cannot put on a load of the campaign.
    """
    from plimsoll.conduct.drivers import DRIVERS  # noqa: PLC0415

    drivers = {driver.NAME: driver for driver in DRIVERS if driver.NAME in asked.drivers}
    lacking = {name: driver.needs() for name, driver in drivers.items()}
    missing = {
        name: f"{error.message}; {error.hint}"
        for name, error in lacking.items()
        if error is not None and asked.drivers_optional
    }

    def refuses(driver: str, load: Load, exchanges: Sequence[Exchange]) -> str:
        return missing.get(driver) or drivers[driver].refuses(load, tuple(exchanges))

    if not asked.drivers_optional:
        _require_able(asked, refuses)
    return refuses


def _require_able(asked: Campaign, refuses: Refuses) -> None:
    """Does nothing when every driver can put on every load.

    Raises:
        CampaignError: One cannot; every load of it is named.
    """
    from plimsoll import plan  # noqa: PLC0415

    hint = "name another driver, or leave out what it cannot do with `--available`"
    problems = [Problem("", str(one), hint) for one in plan.refused(asked, refuses)]
    if problems:
        raise CampaignError(problems)


def published(asked: Campaign) -> str | None:
    """The published figures that a campaign names, as given; None when it names none.

    Raises:
        CampaignError: They cannot be read, or something in them is wrong.
    """
    from plimsoll.campaign import documents  # noqa: PLC0415
    from plimsoll.published import document  # noqa: PLC0415

    if asked.published is None:
        return None
    text = documents.read(asked.published).text
    document.read(text, asked.published.name)
    return text


def require_drivers(asked: Campaign) -> None:
    """Does nothing when every driver of a campaign is here, or may be left out.

    Raises:
        DriverMissing: One is not.
    """
    from plimsoll.conduct.drivers import DRIVERS  # noqa: PLC0415

    for driver in DRIVERS:
        if driver.NAME in asked.drivers and not asked.drivers_optional:
            error = driver.needs()
            if error is not None:
                raise error


def left_out(asked: Campaign, refuses: Refuses) -> list[str]:
    """What a campaign asks for and does not get, a line for each reason."""
    from plimsoll import plan  # noqa: PLC0415

    by_driver: dict[tuple[str, str], list[plan.Refused]] = {}
    for one in plan.refused(asked, refuses):
        by_driver.setdefault((one.driver, one.reason), []).append(one)
    most = len(asked.loads) * len(asked.endpoints)
    drivers = [
        f"{driver} puts on no load: {reason}" if len(found) == most else str(one)
        for (driver, reason), found in by_driver.items()
        for one in (found[:1] if len(found) == most else found)
    ]
    return [*(str(one) for one in plan.left_out(asked)), *drivers]


def _absent(framework: Framework) -> NotInstalled | None:
    """The error that says why a framework cannot be started; None when it can."""
    from plimsoll.conduct.install import is_built, not_installed  # noqa: PLC0415
    from plimsoll.conduct.requirements import missing  # noqa: PLC0415

    if needs := missing(framework):
        return not_installed(framework, needs)
    return None if is_built(framework) else _not_built([framework])


def require_installed(chosen: Sequence[Framework]) -> None:
    """Does nothing when every framework is ready to be started.

    Raises:
        NotInstalled: One is not; the message names all of them.
    """
    from plimsoll.conduct.install import is_built, not_installed  # noqa: PLC0415
    from plimsoll.conduct.requirements import missing  # noqa: PLC0415

    for framework in chosen:
        if needs := missing(framework):
            raise not_installed(framework, needs)
    unbuilt = [framework for framework in chosen if not is_built(framework)]
    if unbuilt:
        raise _not_built(unbuilt)


def _not_built(chosen: Sequence[Framework]) -> NotInstalled:
    """The error that names frameworks that are not built, and what builds them."""
    names = [framework.reference for framework in chosen]
    listed = ", ".join(f"`{name}`" for name in names)
    verb = "are" if names[1:] else "is"
    return NotInstalled(f"{listed} {verb} not built", f"`plimsoll install {' '.join(names)}`")
